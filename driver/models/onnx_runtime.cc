// Loads the library, finds the functions in its table by number, and runs models (onnx_runtime.h).
#include "driver/models/onnx_runtime.h"

#include <dlfcn.h>

#include <cstdint>

#include "onnx/model.h"

namespace rml {
namespace {

// Indices in the table. Functions that return a status return null on success.
enum Function : std::uint8_t {
  error_message = 2,
  create_env = 3,
  create_session_from_array = 8,
  create_session_options = 10,
  set_graph_optimization = 23,
  set_threads = 24,
  create_tensor = 49,
  create_memory_info = 69,
  release_env = 92,
  release_status = 93,
  release_memory_info = 94,
  release_session = 95,
  release_value = 96,
  release_session_options = 100,
  run_with_binding = 133,
  create_binding = 134,
  release_binding = 135,
  bind_input = 136,
  bind_output = 137,
};

// An object of the library, which is released at the end of its lifetime.
class Owned {
 public:
  Owned(void* const* api, Function release) : api_(api), release_(release) {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  Owned(Owned&& other) noexcept : api_(other.api_), release_(other.release_), object_(other.object_) {
    other.object_ = nullptr;
  }
  ~Owned() {
    if (object_ != nullptr) reinterpret_cast<void (*)(void*)>(api_[release_])(object_);
  }
  void** place() { return &object_; }
  void* get() const { return object_; }

 private:
  void* const* api_;
  Function release_;
  void* object_ = nullptr;
};

void* open_library(const std::string& library) {
  if (!library.empty()) return dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  for (const char* name : {"libonnxruntime.so", "libonnxruntime.so.1"})
    if (void* found = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return found;
  return nullptr;
}

}  // namespace

struct OnnxRuntime::State {
  void* const* api = nullptr;
  std::string version;

  template <class... Arguments>
  void call(Function f, Arguments... arguments) const {
    void* status = reinterpret_cast<void* (*)(Arguments...)>(api[f])(arguments...);
    if (status == nullptr) return;
    const std::string message = reinterpret_cast<const char* (*)(void*)>(api[error_message])(status);
    reinterpret_cast<void (*)(void*)>(api[release_status])(status);
    throw OnnxRuntimeError(message);
  }

  Owned tensor(const Owned& memory, const Tensor& t) const {
    Owned value(api, release_value);
    call(create_tensor, memory.get(), const_cast<void*>(t.data()), t.bytes(), t.shape().data(), t.shape().size(),
         onnx::element_type_of(t.dtype()), value.place());
    return value;
  }
};

OnnxRuntime::OnnxRuntime(const std::string& library) : state_(std::make_unique<State>()) {
  constexpr std::uint32_t interface_version = 5;
  void* const opened = open_library(library);
  if (opened == nullptr)
    throw OnnxRuntimeError("ONNX Runtime cannot be loaded" + (library.empty() ? std::string() : " from " + library) +
                           ": " + dlerror());
  using Base = void* const* (*)();
  const auto base = reinterpret_cast<Base>(dlsym(opened, "OrtGetApiBase"));
  if (base == nullptr) throw OnnxRuntimeError(library + " is not ONNX Runtime");
  void* const* entry = base();
  state_->api = reinterpret_cast<void* const* (*)(std::uint32_t)>(entry[0])(interface_version);
  state_->version = reinterpret_cast<const char* (*)()>(entry[1])();
  if (state_->api == nullptr) throw OnnxRuntimeError("ONNX Runtime " + state_->version + " is too old");
}

OnnxRuntime::~OnnxRuntime() = default;

std::string OnnxRuntime::version() const { return state_->version; }

void OnnxRuntime::run(const std::string& model, const std::vector<NamedTensor>& inputs,
                      std::vector<NamedTensor>& outputs) const {
  const State& s = *state_;
  constexpr int errors_only = 3, of_arena = 1, default_memory = 0, as_written = 0;
  Owned env(s.api, release_env), memory(s.api, release_memory_info), options(s.api, release_session_options),
      session(s.api, release_session), binding(s.api, release_binding);
  s.call(create_env, errors_only, "rmlc", env.place());
  s.call(create_memory_info, of_arena, default_memory, memory.place());
  s.call(create_session_options, options.place());
  s.call(set_threads, options.get(), 1);
  s.call(set_graph_optimization, options.get(), as_written);
  s.call(create_session_from_array, env.get(), static_cast<const void*>(model.data()), model.size(), options.get(),
         session.place());
  s.call(create_binding, session.get(), binding.place());
  std::vector<Owned> tensors;
  for (const NamedTensor& t : inputs) {
    tensors.push_back(s.tensor(memory, t.value));
    s.call(bind_input, binding.get(), t.name.c_str(), tensors.back().get());
  }
  for (NamedTensor& t : outputs) {
    t.value.data();  // the tensor object owns its elements, so the pointer stays valid
    tensors.push_back(s.tensor(memory, t.value));
    s.call(bind_output, binding.get(), t.name.c_str(), tensors.back().get());
  }
  s.call(run_with_binding, session.get(), static_cast<void*>(nullptr), binding.get());
}

}  // namespace rml

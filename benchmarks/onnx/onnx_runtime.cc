// Times one model in ONNX Runtime, step by step, on one thread:
//
//     onnx_runtime LIBRARY MODEL STEPS INPUT:EXTENTS OUTPUT:EXTENTS [STATE_IN=STATE_OUT:EXTENTS…]
//
// EXTENTS: 1x257. The program uses the C interface, a table of functions whose order never
// changes. Inputs and outputs are bound once, and states alternate between two sets of buffers.
#include <dlfcn.h>

#include <string>
#include <vector>

#include "steps.h"

namespace {

void** api = nullptr;
enum Function {
  error_message = 2,
  create_env = 3,
  create_session = 7,
  create_session_options = 10,
  set_graph_optimization = 23,
  set_threads = 24,
  set_threads_between = 25,
  create_tensor = 49,
  create_memory_info = 69,
  run_with_binding = 133,
  create_binding = 134,
  bind_input = 136,
  bind_output = 137
};

template <class... Arguments>
void call(Function f, Arguments... arguments) {
  void* status = reinterpret_cast<void* (*)(Arguments...)>(api[f])(arguments...);
  if (status == nullptr) return;
  std::fprintf(stderr, "%s\n", reinterpret_cast<const char* (*)(void*)>(api[error_message])(status));
  std::exit(1);
}

struct Named {
  std::string in, out;
  std::vector<std::int64_t> extents;
  std::vector<float> data[2];
  void* tensor[2];

  Named(const std::string& text, void* memory) {
    const std::size_t colon = text.rfind(':'), equals = text.find('=');
    in = text.substr(0, std::min(colon, equals));
    out = equals < colon ? text.substr(equals + 1, colon - equals - 1) : in;
    std::size_t count = 1;
    for (std::size_t at = colon + 1; at < text.size();) {
      extents.push_back(std::stoll(text.substr(at)));
      count *= static_cast<std::size_t>(extents.back());
      at = std::min(text.find('x', at), text.size() - 1) + 1;
    }
    for (int k = 0; k < 2; ++k) {
      data[k].resize(count);
      const int of_floats = 1;
      call(create_tensor, memory, static_cast<void*>(data[k].data()), 4 * count,
           static_cast<const std::int64_t*>(extents.data()), extents.size(), of_floats, &tensor[k]);
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) return 2;
  void* library = dlopen(argv[1], RTLD_NOW);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  auto* base = reinterpret_cast<void** (*)()>(dlsym(library, "OrtGetApiBase"))();
  api = reinterpret_cast<void** (*)(std::uint32_t)>(base[0])(5);
  void *env = nullptr, *memory = nullptr, *options = nullptr, *session = nullptr;
  call(create_env, 3, "steps", &env);
  call(create_memory_info, 1, 0, &memory);
  call(create_session_options, &options);
  call(set_threads, options, 1);
  call(set_threads_between, options, 1);
  call(set_graph_optimization, options, 99);
  call(create_session, env, static_cast<const char*>(argv[2]), options, &session);
  Named input(argv[4], memory), output(argv[5], memory);
  std::vector<Named> states;
  states.reserve(static_cast<std::size_t>(argc));
  for (int k = 6; k < argc; ++k) states.emplace_back(argv[k], memory);
  void* binding[2];
  for (int k = 0; k < 2; ++k) {
    call(create_binding, session, &binding[k]);
    call(bind_input, binding[k], input.in.c_str(), input.tensor[0]);
    call(bind_output, binding[k], output.in.c_str(), output.tensor[0]);
    for (Named& s : states) {
      call(bind_input, binding[k], s.in.c_str(), s.tensor[k]);
      call(bind_output, binding[k], s.out.c_str(), s.tensor[1 - k]);
    }
  }
  measure(std::stol(argv[3]), input.data[0], output.data[0],
          [&](long k) { call(run_with_binding, session, static_cast<void*>(nullptr), binding[k & 1]); });
}

// Two uses of external functions: `find_externals` finds their origins for compiled programs, and
// `load_externals` calls them for the reference engine.
//
// Finding reads the symbol tables of the files and does not open them as libraries, so none of
// their code runs. The reference engine opens shared libraries and calls functions through
// libffi, since their signatures are known only at run time. A call is prepared once per node,
// except for the pointers. It passes the elements of the tensors themselves, so nothing is
// copied.
#include "compiler/external_library.h"

#include <ffi.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "compiler/shared_library.h"

namespace rml {

namespace {

// Returns, for each file, the wanted names that it defines.
std::vector<std::set<std::string>> read_all(std::vector<FileOfLink>& files, const std::set<std::string>& wanted,
                                            std::vector<std::string>& problems) {
  std::vector<std::set<std::string>> defined;
  for (FileOfLink& file : files) {
    std::string error;
    auto content = read_linked_file(file.path, wanted, error);
    if (!content) problems.push_back(error);
    if (content) file.kind = content->kind;
    defined.push_back(content ? std::move(content->functions) : std::set<std::string>());
  }
  return defined;
}

void report(Session& session, const ExternalNode& node, const std::vector<std::string>& files, bool later,
            const std::vector<std::string>& problems) {
  auto& d = session.diagnostics.report(
      Code::E0805, node.span, "external function '" + node.symbol + "' is not linked",
      files.empty() ? "no file of --link was given" : "no file of --link defines a function of this name");
  d.note("give the file that defines it: --link FILE" +
         (later ? "; if you link it yourself: --external " + node.symbol : std::string()));
  for (const std::string& problem : problems) d.note(problem);
}

}  // namespace

std::optional<FoundExternals> find_externals(Session& session, const Core& core, const std::vector<std::string>& files,
                                             const LinkedLater& later) {
  std::map<std::string, const ExternalNode*> nodes;
  std::set<std::string> wanted;
  for (const ExternalNode& node : core.externals)
    if (node.in_c() && node.calling == Calling::plain && nodes.emplace(node.symbol, &node).second)
      wanted.insert(node.symbol);
  FoundExternals found;
  for (const std::string& path : files) found.files.push_back({path, std::nullopt});
  std::vector<std::string> problems;
  const auto defined = read_all(found.files, wanted, problems);
  bool all = true;
  for (const auto& [symbol, node] : nodes) {
    void* const given = session.foreign ? session.foreign(symbol) : nullptr;
    const auto file = std::ranges::find_if(defined, [&](const auto& names) { return names.contains(symbol); });
    if (given != nullptr) {
      found.functions.push_back({symbol, given, ""});
    } else if (file != defined.end()) {
      found.functions.push_back({symbol, nullptr, files[static_cast<std::size_t>(file - defined.begin())]});
    } else if (std::ranges::find(later.names, symbol) == later.names.end()) {
      report(session, *node, files, later.possible, problems);
      all = false;
    }
  }
  return all ? std::optional(std::move(found)) : std::nullopt;
}

namespace {

ffi_type* scalar_type(DType dtype) {
  switch (dtype) {
    case DType::boolean:
      return &ffi_type_uint8;
    case DType::i8:
      return &ffi_type_sint8;
    case DType::u8:
      return &ffi_type_uint8;
    case DType::i16:
      return &ffi_type_sint16;
    case DType::i32:
      return &ffi_type_sint32;
    case DType::i64:
      return &ffi_type_sint64;
    case DType::u32:
      return &ffi_type_uint32;
    case DType::u64:
      return &ffi_type_uint64;
    case DType::u16:
    case DType::f16:
      return &ffi_type_uint16;
    case DType::bf16:
      return &ffi_type_uint16;
    case DType::f32:
      return &ffi_type_float;
    case DType::f64:
      return &ffi_type_double;
  }
  return &ffi_type_pointer;
}

class Function {
 public:
  Function(const ExternalNode& node, void* address) : address_(address) {
    for (const auto& [dtype, shape] : node.inputs) {
      by_value_.push_back(shape.empty());
      types_.push_back(shape.empty() ? scalar_type(dtype) : &ffi_type_pointer);
    }
    types_.resize(types_.size() + node.outputs.size(), &ffi_type_pointer);
  }

  // Call this when the function has reached its final address, because the signature contains
  // pointers into it.
  bool prepare() {
    return ffi_prep_cif(&signature_, FFI_DEFAULT_ABI, static_cast<unsigned>(types_.size()), &ffi_type_void,
                        types_.data()) == FFI_OK;
  }

  void call(std::span<const Tensor* const> inputs, std::span<Tensor> outputs) {
    // libffi takes the address of each argument. For a pointer argument this is the address of
    // the pointer.
    std::vector<const void*> pointers(types_.size());
    std::vector<void*> arguments(types_.size());
    for (std::size_t i = 0; i < types_.size(); ++i) {
      const bool input = i < inputs.size();
      pointers[i] = input ? inputs[i]->data() : outputs[i - inputs.size()].data();
      arguments[i] = input && by_value_[i] ? const_cast<void*>(pointers[i]) : static_cast<void*>(&pointers[i]);
    }
    ffi_call(&signature_, reinterpret_cast<void (*)()>(address_), nullptr, arguments.data());
  }

 private:
  void* address_;
  std::vector<bool> by_value_;  // one per input: true if it is a scalar, which is passed by value
  std::vector<ffi_type*> types_;
  ffi_cif signature_{};
};

struct Externals {
  FindFunction given;
  std::vector<std::unique_ptr<SharedLibrary>> libraries;
  std::vector<std::unique_ptr<Function>> functions;  // by index of the external node; null if it is no C function
};

void* find(const Externals& externals, const std::string& symbol) {
  if (void* const address = externals.given ? externals.given(symbol) : nullptr) return address;
  for (const auto& library : externals.libraries) {
    if (void* const address = library->find(symbol)) return address;
  }
  return nullptr;
}

std::string searched(const std::vector<std::string>& libraries) {
  if (libraries.empty()) return "no library was given; name one with --link";
  std::string text = "searched ";
  for (std::size_t i = 0; i < libraries.size(); ++i) text += (i > 0 ? ", " : "") + libraries[i];
  return text;
}

}  // namespace

std::optional<CallExternal> load_externals(const Core& core, const FindFunction& given,
                                           const std::vector<std::string>& libraries, std::string& error) {
  auto externals = std::make_shared<Externals>();
  externals->given = given;
  for (const std::string& path : libraries) {
    externals->libraries.push_back(std::make_unique<SharedLibrary>(path));
    if (externals->libraries.back()->open()) continue;
    error = "cannot open library " + path + ": " + externals->libraries.back()->error();
    return std::nullopt;
  }
  for (const ExternalNode& node : core.externals) {
    if (!node.in_c()) {
      externals->functions.push_back(nullptr);
      continue;
    }
    void* const address = find(*externals, node.symbol);
    if (address == nullptr) {
      error = "external node '" + node.symbol + "' was not found: " + searched(libraries);
      return std::nullopt;
    }
    externals->functions.push_back(std::make_unique<Function>(node, address));
    if (!externals->functions.back()->prepare()) {
      error = "external node '" + node.symbol + "' has a signature that cannot be called";
      return std::nullopt;
    }
  }
  return [externals](std::uint32_t k, std::span<const Tensor* const> inputs, std::span<Tensor> outputs) {
    externals->functions[k]->call(inputs, outputs);
  };
}

}  // namespace rml

// The compiled engine emits LLVM IR and loads it with ORC. The reference engine wraps the
// interpreter in the same table. Each LoadedProgram owns everything to which its table points.
#include "compiler/engines.h"

#include <algorithm>
#include <map>

#include "compiler/external_library.h"
#include "compiler/internal_error.h"
#include "compiler/reference_program.h"
#include "compiler/shared_library.h"
#include "runtime/run/program_functions.h"

namespace rml {
namespace {

class CompiledProgram final : public LoadedProgram {
 public:
  CompiledProgram(std::unique_ptr<Jit> jit, const rml_program* table) : jit_(std::move(jit)), table_(table) {}
  const rml_program& table() const override { return *table_; }

 private:
  std::unique_ptr<Jit> jit_;
  const rml_program* table_;
};

class InterpretedProgram final : public LoadedProgram {
 public:
  InterpretedProgram(std::shared_ptr<const Core> core, const SourceMap& sources, const std::string& file,
                     CallExternal call, Failing failing)
      : core_(std::move(core)), sources_(sources), program_(*core_, sources_, file, std::move(call), failing) {}
  const rml_program& table() const override { return *program_.table(); }

 private:
  std::shared_ptr<const Core> core_;
  SourceMap sources_;
  ReferenceProgram program_;
};

std::string main_file(const Session& session, const Core& core) {
  for (const Instance& i : core.instances) {
    if (!i.parent.valid()) return session.sources.path(i.call.file);
  }
  return "";
}

}  // namespace

void report_unlinked(const Core& core, const std::string& error, Diagnostics& diagnostics) {
  bool named = false;
  for (const ExternalNode& e : core.externals) named = named || (e.in_c() && error.find(e.symbol) != std::string::npos);
  for (const ExternalNode& e : core.externals) {
    if (!e.in_c()) continue;
    if (named && error.find(e.symbol) == std::string::npos) continue;
    auto& d = diagnostics.report(Code::E0805, e.span, "external function '" + e.symbol + "' is not linked",
                                 "not found in the linked files");
    d.note("give the file that defines it: --link FILE");
    if (!error.empty()) d.note(error);
  }
}

namespace {

// Returns nothing and sets `error` if a library cannot be opened.
std::optional<LinkedExternals> link_externals(const FoundExternals& found, std::string& error) {
  LinkedExternals externals;
  if (found.functions.empty()) return externals;
  std::map<std::string, std::shared_ptr<SharedLibrary>> libraries;
  for (const FileOfLink& file : found.files) {
    if (file.kind == LinkedKind::object || file.kind == LinkedKind::archive) {
      externals.links.push_back({file.path});
      continue;
    }
    auto library = std::make_shared<SharedLibrary>(file.path);
    if (!library->open()) {
      error = library->error();
      return std::nullopt;
    }
    libraries[file.path] = library;
    externals.links.push_back({"", [library](const std::string& name) { return library->find(name); }});
  }
  // Functions of the runtime, which the linked files may call.
  externals.links.push_back({"", rt::find_program_function});
  for (const ExternalOrigin& origin : found.functions) {
    const auto library = libraries.find(origin.file);
    const bool shared = library != libraries.end();
    void* const address = shared ? library->second->find(origin.symbol) : origin.given;
    if (shared && address == nullptr) {
      error = origin.file + " does not give its function " + origin.symbol;
      return std::nullopt;
    }
    externals.functions.push_back({origin.symbol, address});
  }
  return externals;
}

}  // namespace

std::unique_ptr<LoadedProgram> load_compiled(Session& session, const steps::Program& program,
                                             const std::vector<std::string>& libraries, Extras extras) {
  const auto found = find_externals(session, *program.core, libraries);
  if (!found) return nullptr;
  EmitOptions options;
  options.with_run = extras.run;
  options.cells_apart = extras.cells_apart;
  options.externals_apart = true;
  auto module = emit_module(session, program, options);
  if (!module) return nullptr;
  const CurrentPhase phase("jit");
  std::string error;
  auto externals = link_externals(*found, error);
  auto jit = externals ? Jit::create(std::move(module), {{"", rt::find_program_function}}, error, std::move(*externals))
                       : nullptr;
  const void* table = jit ? jit->symbol(program.core->entry + "_program", error) : nullptr;
  if (table != nullptr)
    return std::make_unique<CompiledProgram>(std::move(jit), static_cast<const rml_program*>(table));
  if (std::ranges::none_of(program.core->externals, &ExternalNode::in_c)) throw InternalError(error);
  report_unlinked(*program.core, error, session.diagnostics);
  return nullptr;
}

std::optional<CallExternal> external_caller(Session& session, const Core& core,
                                            const std::vector<std::string>& libraries) {
  if (std::ranges::none_of(core.externals, &ExternalNode::in_c)) return CallExternal{};
  if (!find_externals(session, core, libraries)) return std::nullopt;
  std::string error;
  auto call = load_externals(core, session.foreign, libraries, error);
  if (!call) report_unlinked(core, error, session.diagnostics);
  return call;
}

std::unique_ptr<LoadedProgram> load_reference(Session& session, std::shared_ptr<const Core> core,
                                              const std::vector<std::string>& libraries, Failing failing) {
  auto call = external_caller(session, *core, libraries);
  if (!call) return nullptr;
  const std::string file = main_file(session, *core);
  return std::make_unique<InterpretedProgram>(std::move(core), session.sources, file, std::move(*call), failing);
}

}  // namespace rml

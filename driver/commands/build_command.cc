// Runs `rmlc build`, which writes a native program or any of the intermediate forms.
#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "compiler/external_library.h"
#include "compiler/internal_error.h"
#include "compiler/read_file.h"
#include "driver/base/installation.h"
#include "driver/base/output_file.h"
#include "driver/commands/commands.h"
#include "driver/programs/attach_program.h"
#include "driver/programs/link_executable.h"
#include "lowering/c/helpers.h"
#include "lowering/c/print_c.h"
#include "lowering/llvm/interface/c_header.h"
#include "lowering/llvm/toolchain/bind_shared.h"
#include "lowering/loops/make_loops.h"
#include "lowering/microcontroller.h"
#include "lowering/signature.h"
#include "lowering/steps/settings.h"
#include "runtime/run/program_functions.h"

namespace rml {
namespace {

namespace fs = std::filesystem;

// The path of the product. A library or C file also has a header beside it.
fs::path output_path(const BuildRequest& request, const std::string& node) {
  if (!request.output.empty()) return request.output;
  const std::string stem = request.file == "-" ? node : fs::path(request.file).stem().string();
  if (request.emit == "obj") return stem + ".o";
  if (request.emit == "asm") return stem + ".s";
  if (request.emit == "llvm") return stem + ".ll";
  if (request.emit == "bc") return stem + ".bc";
  if (request.emit == "lib") return node + ".o";
  if (request.emit == "header") return node + ".h";
  if (request.emit == "c") return node + ".c";
  return stem;
}

// True if callers in C get functions for the node.
bool has_interface(const BuildRequest& request) {
  return request.emit == "lib" || request.emit == "header" || request.emit == "c";
}

bool has_header_beside(const BuildRequest& request) { return request.emit == "lib" || request.emit == "c"; }

FileKind file_kind(const std::string& emit) {
  if (emit == "asm") return FileKind::assembly;
  if (emit == "llvm") return FileKind::llvm_text;
  if (emit == "bc") return FileKind::bitcode;
  return FileKind::object;
}

std::string machine_code(CompiledModule& module, FileKind kind) {
  const CurrentPhase phase("generate");
  return generate(module, kind);
}

// Makes a program without a linker, if possible: that takes a twentieth of the time.
bool attached(Session& session, const BuildRequest& request, const std::string& object, const fs::path& output,
              const Core& core) {
  if (!request.libraries.empty() || request.mqtt || !request.mpi.empty()) return false;
  const FileView runtime(runner());
  const auto program = attach_program(runtime.bytes(), object, core.entry + "_program");
  if (program) write_program(output, runner(), *program, session.diagnostics);
  return program.has_value();
}

void link_program(Session& session, const BuildRequest& request, const std::string& object, const fs::path& output,
                  const Core& core, const FoundExternals& externals) {
  const CurrentPhase phase("link");
  if (attached(session, request, object, output, core)) return;
  const FolderBeside folder(output);
  if (folder.path().empty()) return report_unwritable(output, folder.error(), session.diagnostics);
  const fs::path object_file = folder.path() / "program.o", linked = folder.path() / "program";
  if (write_file(object_file, object, session.diagnostics) &&
      link_executable(object_file, {externals, request.mqtt, request.mpi}, linked, core, session.diagnostics))
    move_into_place(linked, output, session.diagnostics);
}

bool can_link(Session& session, const BuildRequest& request) {
  if (request.emit != "exe" || session.options.target.triple.empty()) return true;
  session.diagnostics.report(Code::E0903, {}, "cannot link a program for '" + session.options.target.triple + "' here")
      .note("use --emit obj and link it with librmlrt.a built for that target");
  return false;
}

// Microcontrollers have no archive of the runtime, which every program and loops in several threads call. The
// operators that call one are refused by code generation.
bool needs_no_archive(Session& session, const BuildRequest& request) {
  const TargetOptions& target = session.options.target;
  if (!is_microcontroller(target.triple)) return true;
  const std::string missing = "librmlrt.a, which is not built for '" + target.triple + "'";
  if (request.emit == "obj" || request.emit == "bc") {
    session.diagnostics.report(Code::E0903, {}, "--emit " + request.emit + " makes a program, which calls " + missing)
        .note("use --emit lib, whose functions your own program calls");
    return false;
  }
  if (target.threads <= 1) return true;
  session.diagnostics.report(Code::E0903, {}, "--threads: loops in several threads call " + missing)
      .note("leave the option out");
  return false;
}

// The first option that only concerns machine code, which the C compiler decides; empty if none is given.
std::string decided_by_c_compiler(const TargetOptions& asked) {
  const TargetOptions ordinary;
  if (asked.triple != ordinary.triple) return "--target";
  if (asked.cpu != ordinary.cpu) return "--cpu";
  if (asked.small) return "-O s";
  if (asked.optimization != ordinary.optimization) return "-O" + std::to_string(asked.optimization);
  if (asked.threads != ordinary.threads) return "--threads";
  return asked.fast_math ? "--fast-math" : "";
}

// The problem with the name of the product; empty if there is none.
std::string misnamed(const BuildRequest& request) {
  if (!has_header_beside(request) || fs::path(request.output).extension() != ".h") return "";
  return std::string("-o names the ") + (request.emit == "c" ? "C source" : "object") +
         "; the header is written next to it";
}

// The message about options that exclude each other; empty if there is none.
std::string misused(const Session& session, const BuildRequest& request) {
  const bool network = session.options.grain != Grain::none;
  const std::string emitted = "not with --emit " + request.emit;
  if (request.emit != "exe") {
    if (!session.options.watches.empty()) return "--watch works with programs only, " + emitted;
    if (request.mqtt) return "--mqtt works with programs only, " + emitted;
    if (!request.mpi.empty()) return "--mpi works with programs only, " + emitted;
    if (request.ranks) return "--ranks works with programs only, " + emitted;
  } else if (!request.linked_later.empty()) {
    return "--external names functions that you link yourself, with --emit lib, obj or c; for a program, use --link "
           "FILE";
  }
  if (request.lanes && request.emit != "exe" && request.emit != "lib" && request.emit != "header")
    return "--lanes works with programs and libraries only, " + emitted;
  if (request.lanes && network) return "--lanes cannot be combined with --parallel, whose tasks share one state";
  if (request.ranks && !request.mpi.empty())
    return "--ranks is for threads and --mpi for processes, whose number mpirun sets: give only one of them";
  if (network && (request.emit == "lib" || request.emit == "header" || request.emit == "c"))
    return "--parallel works with programs only, " + emitted;
  if (request.emit == "c") {
    const std::string option = decided_by_c_compiler(session.options.target);
    if (!option.empty()) return option + " cannot be combined with --emit c: the C compiler decides it";
  }
  if (network && (request.ranks || !request.mpi.empty()))
    return std::string(request.ranks ? "--ranks" : "--mpi") +
           " cannot be combined with --parallel: ranks run the cycles of a program in their order";
  return misnamed(request);
}

// --ranks requires a program with dealt inputs, whose rows the ranks share.
bool has_rows_for_ranks(Session& session, const BuildRequest& request, const Core& core) {
  if (!request.ranks || core.deal) return true;
  session.diagnostics
      .report(Code::E0903, {},
              "--ranks: '" + core.entry + "' has no dealt inputs, so there are no rows for ranks to share")
      .note("write `dealt end by 4` after its inputs, where `end` ends a micro-batch");
  return false;
}

// Says which function, type or macro already has this name; empty if none has.
std::string taken_by(const BuildRequest& request, const Core& core, const std::string& symbol) {
  const bool in_c = request.emit == "c";
  if (has_interface(request) && c99::is_of_interface(core, symbol))
    return "the name that the interface of '" + core.entry + "' has for a function, a type or a macro";
  if (symbol == "main" || symbol == core.entry + "_program") return "the name of a function that every program has";
  if (rt::find_program_function(symbol) != nullptr) return "the name of a function of the C library or the runtime";
  if (in_c && !c99::can_declare_function(symbol))
    return "a name that C, its headers or the generated source use for something else";
  return "";
}

// Products other than programs call external functions by their own names. Such a name must not also be one of the
// product, the runtime or the C library, because one would replace the other.
bool names_are_apart(Session& session, const BuildRequest& request, const Core& core) {
  bool apart = true;
  for (const ExternalNode& external : core.externals) {
    if (!external.in_c() || external.calling != Calling::plain || request.emit == "exe") continue;
    const std::string what = taken_by(request, core, external.symbol);
    if (what.empty()) continue;
    session.diagnostics
        .report(Code::E0805, external.span, "external node '" + external.symbol + "' has " + what,
                "the two would conflict")
        .note("rename the node and the function that is linked for it");
    apart = false;
  }
  return apart;
}

// Each constant of --tunable needs its two functions in the header.
bool tunable_are_settings(Session& session, const BuildRequest& request, const steps::Program& program) {
  if (!has_interface(request)) return true;
  const std::vector<c99::Setting> list = c99::settings(program);
  bool all = true;
  for (const std::string& name : session.options.tunable) {
    const std::string last = name.substr(name.find('.') + 1);
    if (std::ranges::any_of(list, [&](const c99::Setting& s) { return s.path == last; })) continue;
    const bool waits = !program.straight;
    session.diagnostics
        .report(Code::E0903, {},
                "--tunable " + name + ": a caller in C cannot set it, because " +
                    (waits ? "rows wait for later inputs" : "'" + program.core->entry + "' does not use it"))
        .note(waits ? "a new value would also reach cycles that were passed before: make it an input of the node"
                    : "leave the option out");
    all = false;
  }
  return all;
}

// External functions of shared libraries, which the program opens.
std::vector<SharedFunction> shared_functions(const FoundExternals& externals) {
  std::vector<SharedFunction> shared;
  for (const ExternalOrigin& origin : externals.functions) {
    const auto file = std::ranges::find(externals.files, origin.file, &FileOfLink::path);
    if (file != externals.files.end() && file->kind == LinkedKind::shared)
      shared.push_back({origin.symbol, fs::absolute(origin.file).string()});
  }
  return shared;
}

// Writes the source, and the header beside it, or reports the parts that have no C.
int build_c(Session& session, const Lowered& lowered, const fs::path& output, const fs::path& header) {
  // A pointer without ownership: the program outlives everything that is made of it.
  const std::shared_ptr<const steps::Program> program(std::shared_ptr<void>(), &lowered.program);
  const loops::Made made = loops::make_loops(program);
  std::vector<loops::Refusal> refused = made.refused;
  if (refused.empty()) refused = c99::find_refused(made.program);
  for (const loops::Refusal& r : refused)
    session.diagnostics.report(Code::E0903, r.span, "--emit c does not support " + r.what)
        .note("use --emit lib, which makes an object file to link with the runtime");
  if (!refused.empty()) return exit_fault;
  const c99::Text text = c99::print_c(made.program, session.sources, header.filename());
  const bool written = write_together({{output, {text.source}}, {header, {text.header}}}, session.diagnostics);
  return written ? exit_success : exit_fault;
}

// True if the output files can be written. Called before anything that takes long. `header`
// equals `output` if there is only one file.
bool can_be_written(Session& session, const BuildRequest& request, const fs::path& output, const fs::path& header) {
  std::vector<std::string> read = session.files_read();
  read.insert(read.end(), request.libraries.begin(), request.libraries.end());
  if (!overwrites_none(output, read, session.diagnostics) || !overwrites_none(header, read, session.diagnostics))
    return false;
  return header == output || all_replaceable({output, header}, session.diagnostics);
}

EmitOptions emit_options(const Session& session, const BuildRequest& request, const std::string& node) {
  EmitOptions options;
  options.with_main = request.emit != "lib" && request.emit != "header";
  options.with_c_interface = !options.with_main;
  options.with_program = options.with_main;
  options.with_lanes = request.lanes;
  options.cells_apart = request.lanes && options.with_program;
  options.externals_apart = request.emit == "exe";
  options.program_name = node;
  options.target = session.options.target;
  return options;
}

}  // namespace

int build(Invocation& invocation, const BuildRequest& request) {
  Session& session = invocation.session;
  if (const std::string misuse = misused(session, request); !misuse.empty()) {
    std::cerr << "rmlc: " << misuse << "\n";
    return exit_usage;
  }
  // A product without the runtime needs a schedule.
  const bool in_c = request.emit == "c";
  if (has_interface(request)) session.options.on_demand = OnDemand::never;
  if (in_c) session.options.target.strict_math = true;  // the loops that are printed as C have the order of strict math
  session.options.settable = has_interface(request);
  session.options.for_ranks = request.ranks || !request.mpi.empty();
  const auto lowered = compile(session, request.file);
  if (!lowered || !can_link(session, request) || !needs_no_archive(session, request)) return exit_fault;
  if (!has_rows_for_ranks(session, request, *lowered->core)) return exit_fault;
  if (!names_are_apart(session, request, *lowered->core)) return exit_fault;
  if (!tunable_are_settings(session, request, lowered->program)) return exit_fault;
  const auto externals =
      find_externals(session, *lowered->core, request.libraries, {request.emit != "exe", request.linked_later});
  if (!externals) return exit_fault;
  const EmitOptions options = emit_options(session, request, lowered->core->entry);
  const std::string& node = lowered->core->entry;
  const fs::path output = output_path(request, node);
  const bool two_files = has_header_beside(request);
  const fs::path header = two_files ? fs::path(output).replace_extension(".h") : output;
  if (!can_be_written(session, request, output, header)) return exit_fault;
  if (in_c) return build_c(session, *lowered, output, header);
  const auto module = emit_module(session, lowered->program, options);
  if (!module) return exit_fault;
  if (request.emit == "header")
    return write_file(output, c_header(lowered->program, options), session.diagnostics) ? exit_success : exit_fault;
  // A library named NAME.bc is bitcode, for linkers that optimise across objects.
  const bool bitcode = request.emit == "lib" && output.extension() == ".bc";
  if (request.emit == "exe") bind_shared(*module, shared_functions(*externals));
  const std::string bytes = machine_code(*module, file_kind(bitcode ? "bc" : request.emit));
  if (request.emit == "exe") {
    link_program(session, request, bytes, output, *lowered->core, *externals);
    return exit_success;
  }
  if (!two_files) return write_file(output, bytes, session.diagnostics) ? exit_success : exit_fault;
  const std::string declared = c_header(lowered->program, options);
  return write_together({{output, {bytes}}, {header, {declared}}}, session.diagnostics) ? exit_success : exit_fault;
}

}  // namespace rml

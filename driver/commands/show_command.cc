// Runs `rmlc show PHASE`, which prints the program after a phase.
#include <algorithm>
#include <iostream>

#include "compiler/internal_error.h"
#include "compiler/passes.h"
#include "compiler/print_ast.h"
#include "driver/base/output_file.h"
#include "driver/commands/commands.h"
#include "driver/show/draw_graph.h"
#include "driver/show/show_ranks.h"
#include "driver/show/show_tasks.h"
#include "runtime/base/readable.h"
#include "runtime/base/subprocess.h"

namespace rml {
namespace {

std::optional<Elaborated> elaborate_entry(Session& session, const std::string& file, bool productivity) {
  const Front front = check(session, file);
  if (session.failed()) return std::nullopt;
  const auto entry = find_entry(session, front);
  if (!entry) return std::nullopt;
  return elaborate(session, front, *entry, {.keep_watches = !productivity, .productivity = productivity},
                   session.diagnostics);
}

// `name : type :: clock`, inputs and outputs first, then the variables in the order of the text.
std::string clocks_text(const Core& core) {
  std::string text;
  const auto line = [&](const char* kind, const Port& port) {
    const Value& v = core[port.value];
    text += std::string(kind) + port.name + " : " + type_string(v.dtype, v.shape) +
            " :: " + clock_string(core, v.clock) + "\n";
  };
  for (const Port& p : core.inputs) line("input  ", p);
  for (const Port& p : core.outputs) line("output ", p);
  for (const Port& p : core.watches) {
    const auto same_name = [&](const Port& q) { return q.name == p.name; };
    if (std::ranges::any_of(core.inputs, same_name) || std::ranges::any_of(core.outputs, same_name)) continue;
    line("       ", p);
  }
  return text;
}

bool is_svg(const ShowRequest& request) { return std::filesystem::path(request.output).extension() == ".svg"; }
// True if tasks are drawn; otherwise they are printed as text.
bool is_drawn(const ShowRequest& request) {
  return is_svg(request) || std::filesystem::path(request.output).extension() == ".dot";
}

// DOT to SVG by Graphviz; nothing, and an error, if that is not possible.
std::optional<std::string> drawn(Session& session, const std::string& dot, const std::string& output) {
  const auto program = find_on_path("dot");
  if (!program) {
    report_unwritable(output, "Graphviz is not installed (its program 'dot' draws SVG); write a .dot file instead",
                      session.diagnostics);
    return std::nullopt;
  }
  const FolderBeside folder(output);
  if (folder.path().empty()) {
    report_unwritable(output, folder.error(), session.diagnostics);
    return std::nullopt;
  }
  const std::filesystem::path source = folder.path() / "graph.dot";
  if (!write_file(source, dot, session.diagnostics)) return std::nullopt;
  const auto done = run_to_end({*program, "-Tsvg", source.string()});
  if (done && done->status == 0) return done->output;
  report_unwritable(output, "dot failed: " + (done ? done->errors : ""), session.diagnostics);
  return std::nullopt;
}

// Draws the most detail with readable letters that fits on a page. If nothing fits, the program is drawn as coarsely as
// possible, at its own size.
std::optional<std::string> page(Session& session, const Picture& picture, const std::string& output) {
  std::vector<Detail> choices;
  for (std::size_t depth = deepest(picture) + 1; depth-- > 0;) choices.push_back({.depth = depth, .parts = false});
  choices.push_back({.depth = 0, .parts = false, .grouped = true});
  std::size_t boxes = 0;  // number of boxes in the last drawing
  for (Detail choice : choices) {
    const std::size_t count = count_boxes(picture, choice);
    if (count > most_boxes || count == boxes) continue;
    boxes = count;
    choice.bounded = true;
    for (const bool across : {false, true}) {
      choice.across = across;
      const auto svg = drawn(session, dot_text(picture, choice), output);
      if (!svg || is_readable(*svg)) return svg;
    }
  }
  return drawn(session, dot_text(picture, choices.back()), output);
}

// Unless a depth is given, DOT has every equation and task.
std::optional<std::string> pictured(Session& session, const Picture& picture, const ShowRequest& request) {
  if (is_svg(request) && !request.depth) return page(session, picture, request.output);
  const std::string dot = dot_text(picture, request.depth ? Detail{.depth = *request.depth, .parts = false} : Detail{});
  return is_svg(request) ? drawn(session, dot, request.output) : std::optional(dot);
}

// `core` and `clocks` show every variable; the other phases show the variables that outputs need.
std::optional<std::string> core_text(Session& session, const ShowRequest& request) {
  const auto elaborated = elaborate_entry(session, request.file, false);
  if (!elaborated) return std::nullopt;
  if (request.phase == "core") return print_core(*elaborated->core);
  if (request.phase == "clocks") return clocks_text(*elaborated->core);
  return pictured(session, graph_picture(*elaborated->core), request);
}

std::optional<std::string> machine_text(Session& session, const ShowRequest& request) {
  if (request.phase == "tasks" && session.options.grain == Grain::none) session.options.grain = Grain::stage;
  const auto lowered = compile(session, request.file);
  if (!lowered) return std::nullopt;
  if (request.phase == "steps") return steps::print(lowered->program);
  if (request.phase == "loops") {
    const auto made = make_loops(session, lowered->program);
    return made ? std::optional(loops::print(*made)) : std::nullopt;
  }
  if (request.phase == "tasks")
    return is_drawn(request) ? pictured(session, tasks_picture(lowered->program), request)
                             : std::optional(tasks_text(lowered->program));
  const auto module = emit_module(session, lowered->program, {});
  if (!module) return std::nullopt;
  const CurrentPhase phase("generate");
  return generate(*module, request.phase == "llvm" ? FileKind::llvm_text : FileKind::assembly);
}

// The memory that is allocated: for an instance at its start, and for each instant of its segments.
std::optional<std::string> memory_text(Session& session, const steps::Program& program) {
  const auto module = emit_module(session, program, {});
  if (!module) return std::nullopt;
  const MemoryUse use = module->memory();
  std::string text = "memory: " + std::to_string(use.state) + " bytes of state: " + std::to_string(use.kept) +
                     " kept from cycle to cycle, " + std::to_string(use.scratch) + " for values of one cycle, " +
                     std::to_string(use.state - use.kept - use.scratch) + " for the runtime and alignment\n";
  for (std::size_t u = 0; u < program.units.size(); ++u) {
    std::size_t bytes = 0;
    for (const steps::ArrayInfo& array : program.arrays)
      if (array.unit == u) bytes += static_cast<std::size_t>(*element_count(array.shape)) * byte_size(array.dtype);
    if (program.units[u].segmented)
      text += "  unit " + std::to_string(u) + ": " + std::to_string(bytes) + " bytes for each instant of a segment\n";
  }
  return text;
}

// The text of the core, as ranks run it.
std::optional<std::string> ranks_text_of(Session& session, const ShowRequest& request) {
  session.options.for_ranks = true;
  const Front front = check(session, request.file);
  const auto entry = session.failed() ? std::nullopt : find_entry(session, front);
  if (!entry) return std::nullopt;
  const auto elaborated = elaborate(session, front, *entry, {}, session.diagnostics);
  if (!elaborated) return std::nullopt;
  const Core& core = *elaborated->core;
  if (core.deal) return ranks_text(session, *front.program, core, request.ranks.value_or(2));
  session.diagnostics
      .report(Code::E0903, {}, "'" + core.entry + "' has no dealt inputs, so there are no rows for ranks to share")
      .note("write `dealt end by 4` after its inputs, where `end` ends a micro-batch");
  return std::nullopt;
}

std::optional<std::string> text_of(Session& session, const ShowRequest& request) {
  if (request.phase == "ast") {
    const auto program = parse(session, request.file);
    if (session.failed()) return std::nullopt;
    return print_ast(*program);
  }
  if (request.phase == "core" || request.phase == "clocks" || request.phase == "graph")
    return core_text(session, request);
  if (request.phase == "ranks") return ranks_text_of(session, request);
  if (request.phase != "schedule") return machine_text(session, request);
  const auto elaborated = elaborate_entry(session, request.file, true);
  if (!elaborated) return std::nullopt;
  const auto arranged = arrange(session, *elaborated, session.diagnostics);
  if (!arranged) return std::nullopt;
  const steps::Program program = lower(session, *arranged);
  std::string text = print(arranged->schedule);
  if (arranged->on_demand)
    text = "on demand: " + arranged->on_demand->reason + " (" + session.sources.place(arranged->on_demand->span) +
           ")\n" + steps::print(program);
  const auto memory = memory_text(session, program);
  return memory ? std::optional(text + *memory) : std::nullopt;
}

// The text of the form after the last run of the pass `request.after`. The command line names
// this pass in place of a phase.
std::optional<std::string> text_after(Session& session, const ShowRequest& request) {
  const Pass& pass = *find_pass(request.after);
  std::optional<std::string> text;
  session.watch = [&](const Pass& ran, Translation& t) {
    // An attempt to share windows may end in this pass without an error.
    if (&ran == &pass && has_result(pass, t)) text = print(pass, t);
  };
  if (pass.makes == Form::text || pass.makes == Form::tree || pass.makes == Form::checked) {
    check(session, request.phase);
  } else if (const auto lowered = compile(session, request.phase); lowered && pass.makes == Form::llvm) {
    emit_module(session, lowered->program, {});
  } else if (lowered && pass.makes == Form::loops) {
    make_loops(session, lowered->program);
  }
  session.watch = nullptr;
  if (!text && !session.failed())
    std::cerr << "rmlc: the pass '" << request.after << "' does not run for this program with these options\n";
  return text;
}

}  // namespace

int show(Invocation& invocation, const ShowRequest& request) {
  Session& session = invocation.session;
  if (!request.after.empty() && (find_pass(request.after) == nullptr || !request.file.empty())) {
    std::cerr << "rmlc: "
              << (request.file.empty() ? readable_message(no_such_pass(request.after))
                                       : "show takes a phase or --after PASS, not both")
              << "\n";
    return exit_usage;
  }
  if (request.depth && request.phase != "graph" && !(request.phase == "tasks" && is_drawn(request))) {
    std::cerr << "rmlc: --depth applies to pictures only: show graph, and show tasks with -o FILE.dot or FILE.svg\n";
    return exit_usage;
  }
  if (request.ranks && request.phase != "ranks") {
    std::cerr << "rmlc: --ranks applies to show ranks only\n";
    return exit_usage;
  }
  const auto text = request.after.empty() ? text_of(session, request) : text_after(session, request);
  if (!text) return exit_fault;
  if (request.output.empty()) {
    std::cout << *text;
    return exit_success;
  }
  if (!overwrites_none(request.output, session.files_read(), session.diagnostics)) return exit_fault;
  write_file(request.output, *text, session.diagnostics);
  return exit_success;
}

}  // namespace rml

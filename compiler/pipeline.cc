// The whole compiler on one page. `phase` notes which phase is at work, for internal
// errors, and takes its time; `hold` turns a broken invariant into an InternalError.
#include "compiler/pipeline.h"

#include <utility>

#include "compiler/constant_definitions.h"
#include "compiler/import_model.h"
#include "compiler/imported_program.h"
#include "compiler/internal_error.h"
#include "compiler/read_file.h"
#include "compiler/watch_values.h"
#include "lowering/add_in_place.h"
#include "lowering/build_steps.h"
#include "lowering/drop_unused.h"
#include "lowering/find_watches.h"
#include "lowering/fuse.h"
#include "lowering/fuse_pools.h"
#include "lowering/schedule/validate_schedule.h"
#include "lowering/segment/assign_homes.h"
#include "lowering/segment/batch_in_time.h"
#include "lowering/segment/defer.h"
#include "lowering/segment/sink.h"
#include "runtime/program_functions.h"
#include "semantics/causality.h"
#include "semantics/differentiate.h"
#include "semantics/expand.h"
#include "semantics/stabilise.h"

namespace rml {
namespace {

template <class F>
auto phase(Session& session, const char* name, F&& work) {
  const CurrentPhase current(name);
  const auto begin = std::chrono::steady_clock::now();
  auto result = work();
  session.times.emplace_back(name, std::chrono::steady_clock::now() - begin);
  return result;
}

void hold(const std::string& violation) {
  if (!violation.empty()) throw InternalError(violation);
}

ParseOptions parse_options(const Session& session) {
  return {session.options.import_folders, session.resources.stdlib};
}

Front check_program(Session& session, Program parsed) {
  Front front;
  front.program = std::make_unique<Program>(std::move(parsed));
  Program& program = *front.program;
  program.files = session.files;
  Checked& checked = front.checked;
  checked.program = front.program.get();
  phase(session, "definitions", [&] {
    return define_constants(program, session.options.definitions, parse_options(session), session.sources,
                            session.diagnostics);
  });
  Diagnostics found;  // `diff` copies what is wrong
  checked.names = phase(session, "resolve_names", [&] {
    Resolved names = resolve_names(program, found);
    if (names.diff_calls.empty()) return names;
    found = {};
    differentiate(program, session.diagnostics);
    return resolve_names(program, found);
  });
  checked.types = phase(session, "infer_types", [&] { return infer_types(program, checked.names, found); });
  checked.clocks =
      phase(session, "infer_clocks", [&] { return infer_clocks(program, checked.names, checked.types, found); });
  session.diagnostics.append_new(found);
  return front;
}

Program parse_file(Session& session, const std::filesystem::path& file) {
  note_current_file(file.string());
  if (is_model(file)) {
    const std::string weights = file.stem().string() + ".safetensors";
    const auto imported = phase(session, "import", [&] { return import_model(session, file, weights); });
    if (imported) give_weights(*session.files, *imported);
    return phase(session, "parse", [&] {
      return parse_text(file.string(), imported ? imported->source : "", parse_options(session), session.sources,
                        session.diagnostics);
    });
  }
  return phase(session, "parse", [&] {
    if (file != "-") return parse_program(file, parse_options(session), session.sources, session.diagnostics);
    std::string error;
    const std::optional<std::string> text = read_file(file, error);
    if (!text) session.diagnostics.report(Code::E0801, {}, "cannot read standard input: " + error);
    return parse_text("<stdin>", text.value_or(""), parse_options(session), session.sources, session.diagnostics);
  });
}

}  // namespace

Front check(Session& session, const std::filesystem::path& file) {
  return check_program(session, parse_file(session, file));
}

Front check_text(Session& session, const std::string& name, const std::string& text) {
  note_current_file(name);
  return check_program(session, phase(session, "parse", [&] {
                         return parse_text(name, text, parse_options(session), session.sources, session.diagnostics);
                       }));
}

std::unique_ptr<Program> parse(Session& session, const std::filesystem::path& file) {
  auto program = std::make_unique<Program>(parse_file(session, file));
  define_constants(*program, session.options.definitions, parse_options(session), session.sources, session.diagnostics);
  return program;
}

std::optional<NodeId> find_node(const Front& front, const std::string& name) {
  const Program& program = *front.program;
  for (const NodeId node : program.modules[0].nodes) {
    if (program.text(program[node].name) == name) return node;
  }
  return std::nullopt;
}

namespace {

std::optional<NodeId> chosen_entry(Session& session, const Front& front) {
  const Program& program = *front.program;
  const std::string& path = session.sources.path(program.modules[0].file);
  const std::string wanted = session.options.node.empty() ? "main" : session.options.node;
  if (const auto node = find_node(front, wanted)) {
    if (!program[*node].external()) return node;
    session.diagnostics.report(Code::E0901, program[*node].name_span, "'" + wanted + "' is external, it cannot be run");
    return std::nullopt;
  }
  std::vector<std::string> names;
  std::optional<NodeId> only;
  for (const NodeId node : program.modules[0].nodes) {
    if (program[node].external()) continue;
    names.push_back(program.text(program[node].name));
    only = node;
  }
  if (session.options.node.empty() && names.size() == 1) return only;
  auto& d = session.diagnostics.report(Code::E0901, {}, "no node '" + wanted + "' in " + path);
  const std::string near = did_you_mean(wanted, names);
  if (!near.empty()) d.note("did you mean '" + near + "'?");
  if (names.empty()) d.note("the file has no node");
  if (session.options.node.empty() && !names.empty())
    d.note("choose one with --node: " + [&] {
      std::string list;
      for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
      return list;
    }());
  return std::nullopt;
}

}  // namespace

std::optional<NodeId> find_entry(Session& session, const Front& front) {
  const auto entry = chosen_entry(session, front);
  if (!entry) return std::nullopt;
  const std::size_t errors = session.diagnostics.error_count();
  check_entry_clocks(front.checked, *entry, session.diagnostics);
  return session.diagnostics.error_count() == errors ? entry : std::nullopt;
}

namespace {

// One core, whose iterations' bodies are improved already.
void improve_itself(Session& session, Core& core, const SimplifyOptions& options) {
  const auto simplified = [&] {
    core = phase(session, "simplify", [&] { return simplify(std::move(core), options); });
    hold(verify(core));
  };
  simplified();
  while (prune_iterations(core)) simplified();
  const bool stable = session.options.stabilise && phase(session, "stabilise", [&] { return stabilise(core); });
  hold(verify(core));
  const bool expanded = phase(session, "expand", [&] { return expand(core); });
  const bool flattened = phase(session, "flatten_convolutions", [&] { return flatten_convolutions(core); });
  if (stable || expanded || flattened) {
    hold(verify(core));
    simplified();
  }
}

}  // namespace

Core improve(Session& session, Core core, const SimplifyOptions& options) {
  const auto improved = [&](Core& part) { improve_itself(session, part, options); };
  change_bodies(core, improved);
  improved(core);
  return core;
}

namespace {

void check_bodies(const Core& core, Diagnostics& diagnostics) {
  for (const ExternalNode& external : core.externals) {
    if (external.iteration == nullptr) continue;
    check_bodies(external.iteration->body, diagnostics);
    check_productivity(external.iteration->body, diagnostics);
  }
}

// An external node's function comes from a file that the user names. One with the name of something that every program
// contains would be that (`system`, say), or take its place wherever the program itself calls it.
void check_externals(const Core& core, Diagnostics& diagnostics) {
  for (const ExternalNode& external : core.externals) {
    if (!external.in_c() || rt::find_program_function(external.symbol) == nullptr) continue;
    diagnostics
        .report(Code::E0805, external.span,
                "external node '" + external.symbol + "' has the name of a function of the C library or the runtime",
                "would be that function")
        .note("give the node, and the function that is linked for it, another name");
  }
}

std::optional<Elaborated> elaborate_into(Session& session, const Front& front, NodeId entry,
                                         const ElaborateOptions& options, Diagnostics& diagnostics) {
  Core core = phase(session, "instantiate",
                    [&] { return instantiate(front.checked, entry, {.limits = session.options.limits}, diagnostics); });
  check_externals(core, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  hold(verify(core));
  phase(session, "check_causality", [&] {
    check_causality(core, diagnostics);
    return true;
  });
  if (diagnostics.has_errors()) return std::nullopt;
  if (!session.options.watches.empty()) {
    watch_values(core, session.options.watches, diagnostics);
    hold(verify(core));
  }
  if (diagnostics.has_errors()) return std::nullopt;
  core = improve(session, std::move(core), {options.keep_watches});
  Elaborated result{std::make_shared<const Core>(std::move(core)), {}};
  if (!options.productivity) return result;
  check_bodies(*result.core, diagnostics);
  result.productivity =
      phase(session, "check_productivity", [&] { return check_productivity(*result.core, diagnostics); });
  if (diagnostics.has_errors()) return std::nullopt;
  return result;
}

}  // namespace

std::optional<Elaborated> elaborate(Session& session, const Front& front, NodeId entry, const ElaborateOptions& options,
                                    Diagnostics& diagnostics) {
  Diagnostics found;
  auto elaborated = elaborate_into(session, front, entry, options, found);
  diagnostics.append_new(found);
  return elaborated;
}

std::optional<Arranged> arrange(Session& session, const Elaborated& elaborated, Diagnostics& diagnostics) {
  auto found =
      phase(session, "schedule", [&] { return schedule(*elaborated.core, diagnostics, session.options.grain); });
  if (!found) return std::nullopt;
  return phase(session, "validate_schedule", [&]() -> std::optional<Arranged> {
    hold(verify(*found->core));
    hold(validate(*found));
    return Arranged{std::move(*found)};
  });
}

namespace {

void shift_sites(steps::Program& program, std::uint32_t by) {
  for (std::uint32_t& site : program.value_sites)
    if (site != UINT32_MAX) site += by;
  for (const auto& body : program.bodies)
    if (body != nullptr) shift_sites(*body, by);
}

// Those of what is iterated; their sites are the program's.
void lower_bodies(Session& session, steps::Program& program) {
  const std::vector<ExternalNode>& externals = program.core->externals;
  program.bodies.resize(externals.size());
  const Grain grain = std::exchange(session.options.grain, Grain::none);
  for (std::size_t k = 0; k < externals.size(); ++k) {
    if (externals[k].iteration == nullptr) continue;
    Diagnostics none;
    const Elaborated body{{externals[k].iteration, &externals[k].iteration->body}, {}};
    const auto arranged = arrange(session, body, none);
    hold(arranged && arranged->schedule.straight ? "" : "the body of an iteration has no schedule");
    auto lowered = std::make_shared<steps::Program>(lower(session, *arranged));
    const auto first = static_cast<std::uint32_t>(program.sites.size());
    program.sites.insert(program.sites.end(), lowered->sites.begin(), lowered->sites.end());
    shift_sites(*lowered, first);
    program.bodies[k] = std::move(lowered);
  }
  session.options.grain = grain;
}

}  // namespace

steps::Program lower(Session& session, const Arranged& arranged) {
  const bool batch = !session.options.target.strict_math;  // sums in another order
  Segments segments = phase(session, "plan_segments", [&] { return plan_segments(arranged.schedule); });
  const auto change = [&](const char* name, const auto& pass) {
    segments = phase(session, name, [&] { return pass(std::move(segments)); });
  };
  change("defer", [&](Segments s) { return defer(std::move(s), {batch, session.options.whole_segment}); });
  change("sink", [](Segments s) { return sink(std::move(s)); });
  if (batch) {
    change("batch_in_time", [](Segments s) { return batch_in_time(std::move(s)); });
    change("sink", [](Segments s) { return sink(std::move(s)); });
  }
  change("assign_homes", [](Segments s) { return assign_homes(std::move(s)); });
  hold(verify(segments));
  auto program =
      phase(session, "build_steps", [&] { return build_steps(segments, session.options.grain != Grain::none); });
  program = phase(session, "drop_unused", [&] {
    drop_unused(program);
    if (add_in_place(program)) drop_unused(program);
    return std::move(program);
  });
  program = phase(session, "fuse", [&] {
    fuse(program);
    fuse_pools(program);
    return std::move(program);
  });
  lower_bodies(session, program);
  return program;
}

std::unique_ptr<CompiledModule> emit_module(Session& session, const steps::Program& program, EmitOptions options) {
  options.target = session.options.target;
  options.program_name = program.core->entry;
  std::string error;
  auto module = phase(session, "emit", [&] { return emit(program, session.sources, options, error); });
  if (!error.empty()) {
    session.diagnostics.report(Code::E0903, {}, error);
    return nullptr;
  }
  return module;
}

namespace {

// Of a network: what can be looked at in the program that is none.
std::vector<steps::Watch> watches_without_network(Session& session, const Elaborated& elaborated) {
  return phase(session, "find_watches", [&] {
    const std::size_t phases = session.times.size();
    const Grain grain = std::exchange(session.options.grain, Grain::none);
    Diagnostics same;
    const auto arranged = arrange(session, elaborated, same);
    std::vector<steps::Watch> watches;
    if (arranged) watches = find_watches(lower(session, *arranged));
    session.options.grain = grain;
    session.times.resize(phases);
    return watches;
  });
}

}  // namespace

std::optional<Lowered> compile(Session& session, const std::filesystem::path& file) {
  Lowered result;
  result.front = check(session, file);
  if (session.failed()) return std::nullopt;
  const auto entry = find_entry(session, result.front);
  if (!entry) return std::nullopt;
  const auto elaborated = elaborate(session, result.front, *entry, {}, session.diagnostics);
  if (!elaborated) return std::nullopt;
  const auto arranged = arrange(session, *elaborated, session.diagnostics);
  if (!arranged) return std::nullopt;
  result.core = arranged->schedule.core;
  result.program = lower(session, *arranged);
  if (session.options.grain != Grain::none) result.program.watches = watches_without_network(session, *elaborated);
  return result;
}

}  // namespace rml

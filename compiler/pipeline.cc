// The whole compiler on one page: which passes of the list (passes.h) run, in which order and how often.
//
// A broken invariant is an InternalError that names the pass.
#include "compiler/pipeline.h"

#include <algorithm>
#include <utility>

#include "compiler/import_model.h"
#include "compiler/internal_error.h"
#include "compiler/lower_bodies.h"
#include "compiler/passes.h"
#include "compiler/read_file.h"
#include "compiler/translation.h"
#include "lowering/demand/on_demand.h"
#include "lowering/schedule/check/exactness.h"
#include "lowering/schedule/passes.h"
#include "lowering/steps/leader.h"
#include "lowering/steps/leading.h"
#include "semantics/instantiate/check_divisions.h"
#include "semantics/instantiate/warn_pitfalls.h"
#include "semantics/simplify/simplify.h"
#include "semantics/time/check_ranks.h"

namespace rml {
namespace {

bool run(const char* name, Translation& t) {
  const Pass* const pass = find_pass(name);
  if (pass == nullptr) throw InternalError(std::string("there is no pass ") + name);
  const bool changed = run(*pass, t);
  if (!t.violation.empty()) throw InternalError(t.violation);
  return changed;
}

void hold(const Core& core) {
  if (const std::string violation = verify(core); !violation.empty()) throw InternalError(violation);
}

void read_source(Translation& t, const std::filesystem::path& file) {
  note_current_file(file.string());
  t.file = file.string();
  if (is_model(file)) run("import", t);
  if (file != "-") return;
  const CurrentPhase phase("parse");
  std::string error;
  const std::optional<std::string> text = read_file(file, error);
  if (!text) t.diagnostics.report(Code::E0801, {}, "cannot read standard input: " + error);
  t.file = "<stdin>";
  t.text = text.value_or("");
}

// Reads the text and makes the tree.
void read_tree(Translation& t) {
  run("parse", t);
  run("define_constants", t);
}

}  // namespace

Front check_tree(Translation& t) {
  t.program->files = t.session.files;
  // The messages of the text, which tell which nodes could not be read in full.
  const Diagnostics& of_the_text = t.session.diagnostics;
  Diagnostics found = of_the_text;  // a new collection after `diff`, because its derivatives copy errors
  Translation checks(t.session, found);
  checks.program = std::move(t.program);
  run("resolve_names", checks);
  if (!checks.checked.names.diff_calls.empty()) {
    found = of_the_text;
    run("differentiate", checks);
    run("resolve_names", checks);
  }
  run("infer_types", checks);
  run("infer_clocks", checks);
  warn_of_pitfalls(checks.checked, found);
  t.session.diagnostics.append_new(found);
  return Front(std::move(checks.program), std::move(checks.checked), std::move(t.specialised));
}

Front check(Session& session, const std::filesystem::path& file) {
  Translation t(session, session.diagnostics);
  read_source(t, file);
  read_tree(t);
  return check_tree(t);
}

Front check_text(Session& session, const std::string& name, const std::string& text) {
  note_current_file(name);
  Translation t(session, session.diagnostics);
  t.file = name;
  t.text = text;
  read_tree(t);
  return check_tree(t);
}

std::unique_ptr<Program> parse(Session& session, const std::filesystem::path& file) {
  Translation t(session, session.diagnostics);
  read_source(t, file);
  read_tree(t);
  return std::move(t.program);
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
  if (const auto node = choose_entry(program, session.options.node)) {
    if (!program[*node].external()) return front.as_entry(*node);
    session.diagnostics.report(Code::E0901, program[*node].name_span,
                               "the external node '" + wanted + "' cannot be run");
    return std::nullopt;
  }
  std::vector<std::string> names;
  for (const NodeId node : program.modules[0].nodes)
    if (!program[node].external()) names.push_back(program.text(program[node].name));
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

// Improves one core, without the bodies of its iterations.
void improve_itself(Translation& t) {
  const auto simplified = [&] {
    run("simplify", t);
    hold(t.core());
  };
  simplified();
  if (run("join_updates", t)) simplified();
  while (run("prune_iterations", t)) simplified();
  const bool stable = t.session.options.stabilise && run("stabilise", t);
  hold(t.core());
  const bool expanded = run("expand", t);
  const bool flattened = run("flatten_convolutions", t);
  if (stable || expanded || flattened) {
    hold(t.core());
    simplified();
  }
}

// Improves the bodies of iterations first, then the core that iterates them.
void improve(Translation& t) {
  change_bodies(t.core(), [&](Core& body) {
    Translation part(t.session, t.diagnostics);
    part.of_part = true;
    part.keep_watches = t.keep_watches;
    part.form = std::move(body);
    improve_itself(part);
    body = std::move(part.core());
  });
  improve_itself(t);
}

}  // namespace

// Improves the core and, if requested, checks that it is productive.
std::optional<Elaborated> finish_core(Translation& t, const ElaborateOptions& options) {
  t.keep_watches = options.keep_watches;
  if (options.simplified) {
    improve(t);
  } else {
    for (const char* pass : {"drop_unneeded", "join_updates"}) run(pass, t);
    hold(t.core());
  }
  if (!t.session.options.parameters.file.empty()) {
    run("give_parameters", t);
    if (options.simplified) run("simplify", t);
    hold(t.core());
  }
  if (t.diagnostics.has_errors()) return std::nullopt;
  if (t.session.options.settable) run("begin_with_constants", t);
  if (options.productivity) {
    run("check_bodies", t);
    run("check_productivity", t);
    if (t.diagnostics.has_errors()) return std::nullopt;
  }
  return Elaborated(std::make_shared<const Core>(std::move(t.core())), std::move(t.productivity));
}

namespace {

std::optional<Elaborated> elaborate_into(Session& session, const Front& front, NodeId entry,
                                         const ElaborateOptions& options, Diagnostics& diagnostics) {
  Translation t(session, diagnostics);
  t.front = &front.checked;
  t.entry = entry;
  run("instantiate", t);
  if (diagnostics.has_errors()) return std::nullopt;
  check_ranks(*front.program, t.core(), diagnostics);
  if (session.options.for_ranks && !diagnostics.has_errors()) run("put_on_ranks", t);
  if (!session.options.frozen.empty()) run("freeze_parameters", t);
  if (!session.options.gathered.empty()) run("gather_gradients", t);
  if (diagnostics.has_errors()) return std::nullopt;
  hold(t.core());
  run("check_causality", t);
  if (diagnostics.has_errors()) return std::nullopt;
  if (run("watch_values", t)) hold(t.core());
  if (diagnostics.has_errors()) return std::nullopt;
  std::optional<Elaborated> finished = finish_core(t, options);
  if (finished && options.simplified) check_divisions(*front.program, *finished->core, diagnostics);
  return diagnostics.has_errors() ? std::nullopt : std::move(finished);
}

}  // namespace

std::optional<Elaborated> elaborate(Session& session, const Front& front, NodeId entry, const ElaborateOptions& options,
                                    Diagnostics& diagnostics) {
  Diagnostics found;
  auto elaborated = elaborate_into(session, front, entry, options, found);
  diagnostics.append_new(found);
  return elaborated;
}

std::optional<Elaborated> elaborate(Session& session, Core core, const ElaborateOptions& options,
                                    Diagnostics& diagnostics) {
  Translation t(session, diagnostics);
  t.form = std::move(core);
  return finish_core(t, options);
}

namespace {

// Prepares a core for scheduling. On failure it reports an error and leaves no form.
void prepare(Translation& t) {
  for (const char* pass : {"prune_undemanded", "undo_delays", "give_constants_streams", "check_order"}) run(pass, t);
  if (!t.has_form()) return;
  for (const char* pass : {"retime", "prune_undemanded"}) run(pass, t);
}

// Schedules a prepared core. On failure it reports an error and leaves no form.
void arrange_prepared(Translation& t) {
  const Grain grain = t.session.options.grain;
  run("group_units", t);
  if (!t.has_form()) return;
  for (const char* pass : {"absorb", "split_units", "sort_units", "complete_units", "order_values"}) run(pass, t);
  if (grain == Grain::op || grain == Grain::stage)
    for (const char* pass : {"partition", "complete_units"}) run(pass, t);
  run("look_back", t);
  if (grain == Grain::none) run("mark_straight", t);
  for (const char* pass : {"add_zeros", "add_cuts", "validate_schedule"}) run(pass, t);
}

void arrange(Translation& t) {
  prepare(t);
  if (t.has_form()) arrange_prepared(t);
}

// Makes steps from the schedule.
void lower(Translation& t) {
  for (const char* pass : {"plan_segments", "stand_still", "defer", "sink"}) run(pass, t);
  if (!t.session.options.target.strict_math)  // batch_in_time adds in another order
    for (const char* pass : {"batch_in_time", "sink"}) run(pass, t);
  for (const char* pass : {"assign_homes", "verify_segments", "build_steps", "drop_unused"}) run(pass, t);
  if (run("add_in_place", t)) run("drop_unused", t);
  for (const char* pass : {"fuse", "group_loops", "fuse_pools"}) run(pass, t);
  if (!t.of_part && t.session.options.early_rows != EarlyRows::never) run("find_lead", t);
  for (const char* pass : {"lower_bodies", "find_windows"}) run(pass, t);
  if (const TargetOptions& target = t.session.options.target; !target.strict_math && target.optimization > 0)
    run("find_packs", t);
}

void shift_sites(steps::Program& program, std::uint32_t by) {
  for (std::uint32_t& site : program.value_sites)
    if (site != UINT32_MAX) site += by;
  for (const auto& body : program.bodies)
    if (body != nullptr) shift_sites(*body, by);
}

// Lowers a core that is no network, without times and watch callbacks. Returns nothing if it has
// no schedule.
std::optional<steps::Program> lower_aside(Session& session, const Core& core) {
  const Grain grain = std::exchange(session.options.grain, Grain::none);
  Diagnostics none;
  Translation t(session, none);
  t.of_part = true;
  t.timed = false;
  t.form = core;
  arrange(t);
  if (t.has_form()) {
    lower(t);
    run("find_watches", t);
  }
  session.options.grain = grain;
  return t.has_form() ? std::optional(std::move(t.steps())) : std::nullopt;
}

}  // namespace

namespace {

// Lowers a core without memory to steps. Its sites are appended to those of the program that
// contains it.
std::shared_ptr<steps::Program> lower_body(Session& session, steps::Program& program, const Core& core) {
  auto body = lower_aside(session, core);
  if (!body || !body->straight) throw InternalError("a body has no schedule");
  const auto first = static_cast<std::uint32_t>(program.sites.size());
  program.sites.insert(program.sites.end(), body->sites.begin(), body->sites.end());
  shift_sites(*body, first);
  return std::make_shared<steps::Program>(std::move(*body));
}

}  // namespace

void make_leader(Session& session, steps::Program& program) {
  const auto part = leading_core(program);
  auto lowered = part ? lower_aside(session, part->core) : std::nullopt;
  program.leader = lowered ? make_leader(program, *part, std::move(*lowered)) : nullptr;
}

void lower_bodies(Session& session, steps::Program& program) {
  if (program.on_demand != nullptr) {
    auto whole = std::make_shared<steps::OnDemand>(*program.on_demand);
    for (steps::DemandBody& body : whole->bodies) body.steps = lower_body(session, program, *body.core);
    program.on_demand = std::move(whole);
    return;
  }
  const std::vector<ExternalNode>& externals = program.core->externals;
  program.bodies.resize(externals.size());
  for (std::size_t k = 0; k < externals.size(); ++k)
    if (externals[k].iteration != nullptr)
      program.bodies[k] = lower_body(session, program, externals[k].iteration->body);
}

namespace {

// Returns the reason if every error says that there is no static schedule and that evaluation on
// demand would work.
std::optional<Unscheduled> only_unscheduled(const Diagnostics& found) {
  std::optional<Unscheduled> first;
  for (const Diagnostic& d : found.all()) {
    if (severity(d.code) != Severity::error) continue;
    if (d.code != Code::E0701 || d.notes.empty() || d.notes.back() != runs_on_demand) return std::nullopt;
    if (!first) first = {d.message, d.primary.span};
  }
  return first;
}

// A schedule, and the errors found in it.
struct Attempt {
  Schedule schedule;
  bool found = false;
  Diagnostics diagnostics;  // errors, if there is no schedule or it is not exact
  std::optional<Inexact> inexact;

  bool exact() const { return found && !inexact; }
  bool assumes() const {
    return std::ranges::any_of(
        schedule.units, [](const ScheduledUnit& u) { return !u.plan.only_at_cut.empty() || !u.plan.awaiting.empty(); });
  }
  // True if rows are, or may be, written later than possible.
  bool late() const {
    return inexact && (inexact->kind == Inexact::withheld || (inexact->kind == Inexact::unknown && !assumes()));
  }
};

// `cuts` belongs to the core that was prepared from `core`.
Attempt attempt(Session& session, const Core& core, const std::shared_ptr<CutsOfCore>& cuts, Segmenting how) {
  Attempt a;
  Translation t(session, a.diagnostics);
  t.cuts = cuts;
  t.given = &core;
  t.segmenting = how;
  arrange_prepared(t);
  a.found = t.has_form();
  if (!a.found) return a;
  run("check_exactness", t);
  a.inexact = std::move(t.inexact);
  a.schedule = std::move(t.schedule());
  return a;
}

// Returns the first exact schedule, or else the first schedule of all. If no computed condition
// could end segments, by_need equals plain and is skipped.
Attempt first_exact(Session& session, const Core& core, const std::shared_ptr<CutsOfCore>& cuts,
                    std::initializer_list<Segmenting> ways) {
  Attempt first;
  for (const Segmenting how : ways) {
    if (how.ends == Ends::by_need && cuts->found(Ends::by_need).cuts.ends.empty()) continue;
    Attempt a = attempt(session, core, cuts, how);
    if (a.exact()) return a;
    if (!first.found) first = std::move(a);
  }
  return first;
}

}  // namespace

std::optional<Schedule> schedule_core(Session& session, const Core& core, Segmenting how, Diagnostics& diagnostics) {
  Translation t(session, diagnostics);
  t.form = core;
  t.segmenting = how;
  arrange(t);
  return t.has_form() ? std::optional(std::move(t.schedule())) : std::nullopt;
}

namespace {

// Returns an exact schedule if there is one, or else the best.
Attempt find_schedule(Session& session, const Core& core, bool rows_may_wait) {
  Attempt best;
  Translation t(session, best.diagnostics);
  t.form = core;
  prepare(t);
  if (!t.has_form()) return best;
  const auto cuts = std::make_shared<CutsOfCore>(std::make_shared<const Core>(std::move(t.core())));
  Attempt plain = attempt(session, core, cuts, {});
  if (!plain.found || plain.exact()) return plain;
  best = first_exact(session, core, cuts,
                     {{Ends::by_need, Windows::apart},
                      {Ends::plain, Windows::shared},
                      {Ends::plain, Windows::wide},
                      {Ends::by_need, Windows::shared},
                      {Ends::by_need, Windows::wide}});
  const bool better = best.exact() || (best.found && !(rows_may_wait && plain.late()));
  return std::move(better ? best : plain);
}

// True if rows may be known before the inputs of their cycle but the schedule cannot write them
// early. A straight schedule writes early the rows that are always known.
bool leads_unseen(const Schedule& schedule, const Core& core) {
  return !core.inputs.empty() && std::ranges::any_of(leading(core), [&](Leading l) {
    return l == Leading::sometimes || (l == Leading::always && !schedule.straight);
  });
}

void warn_of_late_rows(const Core& core, const Inexact& why, Diagnostics& diagnostics) {
  if (why.kind != Inexact::withheld) return;
  Diagnostic& d = diagnostics.report(Code::W0701, core[why.value].span, why.why);
  if (!why.where.empty()) d.note("an example, cycle by cycle: " + why.where);
  d.note("`rmlc run`, and a program of `rmlc build` without --parallel, write each row as soon as it is known");
}

}  // namespace

// Conditions of the program end segments if that withholds no row. Otherwise computed conditions
// may end them (find_cuts.h), and components may share a window (share_windows.h). Networks and
// libraries need a schedule, so their rows may be written later than they are known.
std::optional<Arranged> arrange(Session& session, const Elaborated& elaborated, Diagnostics& diagnostics) {
  const OnDemand allowed = session.options.grain == Grain::none ? session.options.on_demand : OnDemand::never;
  Schedule none;
  none.core = elaborated.core;
  if (allowed == OnDemand::always) return Arranged(std::move(none), Unscheduled{"it was requested", {}});
  const bool rows_may_wait = allowed == OnDemand::never;
  Attempt best = find_schedule(session, *elaborated.core, rows_may_wait);
  if (session.options.early_rows == EarlyRows::all && best.exact() && allowed == OnDemand::where_needed &&
      leads_unseen(best.schedule, *elaborated.core))
    return Arranged(std::move(none), Unscheduled{"rows leave before the inputs of their cycle are read", {}});
  const bool late = best.found && rows_may_wait && best.late();
  if (late) warn_of_late_rows(*best.schedule.core, *best.inexact, diagnostics);
  if (best.exact() || late) return Arranged(std::move(best.schedule));
  if (best.found) {
    Unscheduled reason{best.inexact->why, {}};
    if (best.inexact->value.valid()) reason.span = (*best.schedule.core)[best.inexact->value].span;
    if (allowed == OnDemand::where_needed) return Arranged(std::move(none), std::move(reason));
    diagnostics.append(best.diagnostics);
    return std::nullopt;
  }
  if (allowed == OnDemand::where_needed)
    if (auto reason = only_unscheduled(best.diagnostics)) {
      for (const Diagnostic& d : best.diagnostics.all())
        if (severity(d.code) == Severity::warning) diagnostics.append(d);
      return Arranged(std::move(none), std::move(reason));
    }
  diagnostics.append(best.diagnostics);
  return std::nullopt;
}

steps::Program lower(Session& session, const Arranged& arranged) {
  Translation t(session, session.diagnostics);
  if (arranged.on_demand) {
    t.form = *arranged.schedule.core;
    run("build_on_demand", t);
    run("lower_bodies", t);
  } else {
    t.form = arranged.schedule;
    lower(t);
    if (session.options.early_rows != EarlyRows::never) run("make_leader", t);
  }
  run("find_watches", t);
  return std::move(t.steps());
}

std::optional<loops::Program> make_loops(Session& session, const steps::Program& program) {
  Translation t(session, session.diagnostics);
  t.emitted = &program;
  run("make_loops", t);
  return t.has_form() ? std::optional(std::move(t.loops())) : std::nullopt;
}

std::unique_ptr<CompiledModule> emit_module(Session& session, const steps::Program& program, EmitOptions options) {
  Translation t(session, session.diagnostics);
  t.emitted = &program;
  t.emit = std::move(options);
  t.emit.target = session.options.target;
  t.emit.program_name = program.core->entry;
  run("emit", t);
  return std::move(t.module);
}

std::optional<Lowered> compile(Session& session, const std::filesystem::path& file) {
  Front front = check(session, file);
  const auto entry = session.failed() ? std::nullopt : find_entry(session, front);
  if (!entry) return std::nullopt;
  const auto elaborated = elaborate(session, front, *entry, {}, session.diagnostics);
  if (!elaborated) return std::nullopt;
  // On demand, a value could be computed and exchanged with other ranks while these are at
  // another row.
  if (elaborated->core->deal) session.options.on_demand = OnDemand::never;
  const auto arranged = arrange(session, *elaborated, session.diagnostics);
  if (!arranged) return std::nullopt;
  steps::Program program = lower(session, *arranged);
  // The watches of a network are found in the same program compiled without a network.
  if (session.options.grain != Grain::none) {
    if (const auto plain = lower_aside(session, *elaborated->core)) {
      program.watches = plain->watches;
      Translation placed(session, session.diagnostics);
      placed.form = std::move(program);
      run("find_watches", placed);
      program = std::move(placed.steps());
    }
  }
  return Lowered(std::move(front), arranged->schedule.core, std::move(program));
}

}  // namespace rml

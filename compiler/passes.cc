// The table of passes, and for each pass a function that takes its form from the translation and
// stores the result.
#include "compiler/passes.h"

#include <algorithm>
#include <utility>

#include "compiler/constant_definitions.h"
#include "compiler/import_model.h"
#include "compiler/internal_error.h"
#include "compiler/lower_bodies.h"
#include "compiler/set_parameters.h"
#include "compiler/translation.h"
#include "compiler/watch_values.h"
#include "frontend/parse.h"
#include "lowering/demand/on_demand.h"
#include "lowering/loops/make_loops.h"
#include "lowering/schedule/check/validate_schedule.h"
#include "lowering/segment/assign_homes.h"
#include "lowering/segment/batch_in_time.h"
#include "lowering/segment/build_steps.h"
#include "lowering/segment/defer.h"
#include "lowering/segment/sink.h"
#include "lowering/segment/stand_still.h"
#include "lowering/steps/add_in_place.h"
#include "lowering/steps/drop_unused.h"
#include "lowering/steps/find_lead.h"
#include "lowering/steps/find_packs.h"
#include "lowering/steps/find_watches.h"
#include "lowering/steps/find_windows.h"
#include "lowering/steps/fuse.h"
#include "lowering/steps/fuse_pools.h"
#include "lowering/steps/loop_group.h"
#include "lowering/steps/verify_steps.h"
#include "semantics/differentiate/differentiate.h"
#include "semantics/instantiate/instantiate.h"
#include "semantics/simplify/expand.h"
#include "semantics/simplify/join_updates.h"
#include "semantics/simplify/simplify.h"
#include "semantics/simplify/stabilise.h"
#include "semantics/time/causality.h"
#include "semantics/time/put_on_ranks.h"

namespace rml {

std::string_view name(Form form) {
  constexpr std::string_view names[] = {"text",     "tree",  "checked", "core", "schedule",
                                        "segments", "steps", "loops",   "llvm"};
  return names[static_cast<std::size_t>(form)];
}

namespace {

// ---- from text to tree

ParseOptions parse_options(const Session& s) {
  ParseOptions options{s.options.import_folders, s.resources.stdlib};
  const auto& further = s.resources.import_folders;
  options.import_dirs.insert(options.import_dirs.end(), further.begin(), further.end());
  return options;
}

void import_text(Translation& t) {
  const std::filesystem::path file = t.file;
  const auto imported = import_model(t.session, file, file.stem().string() + ".safetensors");
  if (imported) give_weights(*t.session.files, *imported);
  t.text = imported ? imported->source : "";
}

void parse(Translation& t) {
  Session& s = t.session;
  t.program = std::make_unique<Program>(t.text ? parse_text(t.file, *t.text, parse_options(s), s.sources, t.diagnostics)
                                               : parse_program(t.file, parse_options(s), s.sources, t.diagnostics));
}

void define_constants(Translation& t) {
  const CompileOptions& options = t.session.options;
  t.specialised = define_constants(*t.program, options.node, options.definitions, parse_options(t.session),
                                   t.session.sources, t.session.diagnostics)
                      .entry;
  t.changed = !t.session.options.definitions.empty();
}

void resolve_names(Translation& t) {
  t.checked.program = t.program.get();
  t.checked.names = resolve_names(*t.program, t.diagnostics);
}

void differentiate(Translation& t) { differentiate(*t.program, t.session.diagnostics); }
void infer_types(Translation& t) { t.checked.types = infer_types(*t.program, t.checked.names, t.diagnostics); }
void infer_clocks(Translation& t) {
  t.checked.clocks = infer_clocks(*t.program, t.checked.names, t.checked.types, t.diagnostics);
}

// ---- cores

void instantiate(Translation& t) {
  const Checked& checked = t.front != nullptr ? *t.front : t.checked;
  InstantiateOptions options{.limits = t.session.options.limits};
  options.tunable = find_constants(*checked.program, t.session.options.tunable, "tune", t.diagnostics);
  t.form = instantiate(checked, *t.entry, options, t.diagnostics);
}

void put_on_ranks(Translation& t) {
  t.form = put_on_ranks(std::move(t.core()), t.diagnostics);
  t.changed = t.core().deal.has_value();
}

void freeze_parameters(Translation& t) {
  const std::vector<std::string>& frozen = t.session.options.frozen;
  t.form = freeze_parameters(std::move(t.core()), frozen, t.diagnostics);
  t.changed = !frozen.empty();
}

void gather_gradients(Translation& t) {
  const std::vector<std::string>& gathered = t.session.options.gathered;
  t.form = gather_gradients(std::move(t.core()), gathered, t.diagnostics);
  t.changed = !gathered.empty();
}

void check_causality(Translation& t) { check_causality(t.core(), t.diagnostics); }

void watch_values(Translation& t) {
  watch_values(t.core(), t.session.options.watches, t.diagnostics);
  t.changed = !t.session.options.watches.empty();
}

void simplify(Translation& t) { t.form = simplify(std::move(t.core()), {t.keep_watches}); }
void join_updates(Translation& t) {
  t.changed = join_updates(t.core(), t.diagnostics);
  if (t.changed) check_causality(t.core(), t.diagnostics);
}
void prune_iterations(Translation& t) { t.changed = prune_iterations(t.core()); }
void stabilise(Translation& t) { t.changed = stabilise(t.core()); }
void expand(Translation& t) { t.changed = expand(t.core()); }
void flatten_convolutions(Translation& t) { t.changed = flatten_convolutions(t.core()); }

void give_parameters(Translation& t) {
  t.form = give_parameters(std::move(t.core()), t.session, t.diagnostics);
  t.changed = !t.session.options.parameters.file.empty();
}

void check_bodies(const Core& core, Diagnostics& diagnostics) {
  for (const ExternalNode& external : core.externals) {
    if (external.iteration == nullptr) continue;
    check_bodies(external.iteration->body, diagnostics);
    check_productivity(external.iteration->body, diagnostics);
  }
}
void check_bodies(Translation& t) { check_bodies(t.core(), t.diagnostics); }
void check_productivity(Translation& t) { t.productivity = check_productivity(t.core(), t.diagnostics); }

template <Core (*pass)(Core)>
void on_core(Translation& t) {
  t.form = pass(std::move(t.core()));
}

// The properties of the machine that passes before code generation may use.
Target target_of(const Translation& t) { return target_for(t.session.options.target); }

// ---- schedules

// Drops the core, so that no pass follows, if no single order of its values is right.
void check_order(Translation& t) {
  if (!check_order(t.core(), t.diagnostics)) t.form = std::monostate();
  t.changed = false;
}

void group_units(Translation& t) {
  if (t.cuts == nullptr) t.cuts = std::make_shared<CutsOfCore>(std::make_shared<const Core>(std::move(t.core())));
  std::optional<Schedule> grouped = group_units(*t.cuts, t.segmenting, target_of(t), t.diagnostics);
  if (grouped)
    t.form = std::move(*grouped);
  else
    t.form = std::monostate();
}

template <Schedule (*pass)(Schedule, const ScheduleFacts&)>
void with_facts(Translation& t) {
  const ScheduleFacts& facts = t.facts(t.schedule());
  t.form = pass(std::move(t.schedule()), facts);
}
template <Schedule (*pass)(Schedule)>
void on_schedule(Translation& t) {
  t.form = pass(std::move(t.schedule()));
}

void partition(Translation& t) {
  const ScheduleFacts& facts = t.facts(t.schedule());
  t.form = partition(std::move(t.schedule()), facts, t.session.options.grain, target_of(t));
}

void validate_schedule(Translation& t) {
  t.violation = verify(*t.schedule().core);
  if (t.violation.empty()) t.violation = validate(t.schedule());
  t.changed = false;
}

void check_exactness(Translation& t) {
  const Schedule& s = t.schedule();
  t.inexact = find_inexact(t.given != nullptr ? *t.given : *s.core, s);
  t.changed = false;
  if (!t.inexact) return;
  const Span span = t.inexact->value.valid() ? (*s.core)[t.inexact->value].span : Span();
  t.diagnostics.report(Code::E0701, span, "no static schedule is right: " + t.inexact->why).note(runs_on_demand);
}

// ---- segments and steps

void plan_segments(Translation& t) { t.form = plan_segments(std::move(t.schedule())); }

// Batching adds in another order, so strict_math, which demands the reference engine's results,
// turns it off.
bool batches(const Session& s) { return !s.options.target.strict_math; }

void defer(Translation& t) {
  // Ranks exchange sums within a segment, so a value for which another rank waits cannot be
  // deferred to the end of the segment. A single process must compute in the same order as the
  // ranks.
  const bool products = batches(t.session) && !t.segments().schedule.core->dealt;
  t.form = defer(std::move(t.segments()), {products, t.session.options.whole_segment}, target_of(t));
}
void batch_in_time(Translation& t) { t.form = batch_in_time(std::move(t.segments()), target_of(t)); }
template <Segments (*pass)(Segments)>
void on_segments(Translation& t) {
  t.form = pass(std::move(t.segments()));
}
void verify_segments(Translation& t) {
  t.violation = verify(t.segments());
  t.changed = false;
}

void build_steps(Translation& t) {
  t.form = build_steps(t.segments(), t.session.options.grain != Grain::none);
  t.violation = verify(t.steps());
}
template <void (*pass)(steps::Program&)>
void on_steps(Translation& t) {
  pass(t.steps());
}
template <void (*pass)(steps::Program&, const Target&)>
void for_target(Translation& t) {
  pass(t.steps(), target_of(t));
}
void add_in_place(Translation& t) { t.changed = rml::add_in_place(t.steps()); }
void group_loops(Translation& t) {
  group_loops(t.steps(), target_of(t));
  t.violation = verify(t.steps());
}
void find_lead(Translation& t) {
  const bool led = !t.steps().lead.statements.empty();
  rml::find_lead(t.steps());
  t.violation = verify(t.steps());
  t.changed = led || !t.steps().lead.statements.empty();
}
void find_windows(Translation& t) {
  const auto before = std::exchange(t.steps().windows, rml::find_windows(t.steps(), target_of(t)));
  t.changed = !before.empty() || !t.steps().windows.empty();
}
void find_packs(Translation& t) {
  const steps::Packs before = std::exchange(t.steps().packs, rml::find_packs(t.steps(), target_of(t)));
  t.changed = !before.list.empty() || !t.steps().packs.list.empty();
}
void find_watches(Translation& t) { t.steps().watches = rml::find_watches(t.steps()); }
void lower_bodies(Translation& t) {
  lower_bodies(t.session, t.steps());
  t.changed = t.steps().on_demand != nullptr ||
              std::ranges::any_of(t.steps().bodies, [](const auto& body) { return body != nullptr; });
}

void make_leader(Translation& t) {
  make_leader(t.session, t.steps());
  t.changed = t.steps().leader != nullptr;
}

void build_on_demand(Translation& t) {
  t.form = rml::build_on_demand(std::make_shared<const Core>(std::move(t.core())));
}

void make_loops(Translation& t) {
  // The deleter is empty if another owner keeps the steps; they must outlive the loops.
  auto steps = t.emitted != nullptr ? std::shared_ptr<const steps::Program>(std::shared_ptr<void>(), t.emitted)
                                    : std::make_shared<const steps::Program>(std::move(t.steps()));
  loops::Made made = loops::make_loops(std::move(steps));
  t.form = std::monostate();
  for (const loops::Refusal& r : made.refused)
    t.diagnostics.report(Code::E0903, r.span, "the loop level does not support " + r.what);
  if (!made.refused.empty()) return;
  t.violation = loops::verify(made.program);
  t.form = std::move(made.program);
}

void emit(Translation& t) {
  NotEmitted error;
  t.module = emit(t.emitted != nullptr ? *t.emitted : t.steps(), t.session.sources, t.emit, error);
  if (error.text.empty()) return;
  Diagnostic& d = t.diagnostics.report(Code::E0903, error.span, error.text);
  if (!error.note.empty()) d.note(error.note);
}

constexpr Pass list[] = {
    {"import", Form::text, Form::text, "an ONNX model is program text", "compiler/import_model.cc", import_text},
    {"parse", Form::text, Form::tree, "every tree node has a source position; a run reports several syntax errors",
     "frontend/parse.cc", parse},
    {"define_constants", Form::tree, Form::tree,
     "constants and inputs of the entry have the values given on the command line", "compiler/constant_definitions.cc",
     define_constants},
    {"resolve_names", Form::tree, Form::checked, "every name refers to one definition; no node calls itself",
     "semantics/check/resolve_names.cc", resolve_names},
    {"differentiate", Form::tree, Form::tree, "no `diff` is left: the derived nodes are written out",
     "semantics/differentiate/differentiate.cc", differentiate},
    {"infer_types", Form::checked, Form::checked, "every node has one principal type, possibly polymorphic",
     "semantics/check/infer_types.cc", infer_types},
    {"infer_clocks", Form::checked, Form::checked, "operands of an operator are present at the same cycles",
     "semantics/check/infer_clocks.cc", infer_clocks},
    {"instantiate", Form::checked, Form::core, "one flat graph of primitive operators; every shape is known",
     "semantics/instantiate/instantiate.cc", instantiate},
    {"put_on_ranks", Form::core, Form::core, "each rank computes its share of the dealt rows; ranks exchange sums",
     "semantics/time/put_on_ranks.cc", put_on_ranks},
    {"freeze_parameters", Form::core, Form::core, "the parameters of `--freeze` keep their first value",
     "compiler/set_parameters.cc", freeze_parameters},
    {"gather_gradients", Form::core, Form::core, "the steps of chosen parameters are summed in parameters of their own",
     "compiler/set_parameters.cc", gather_gradients},
    {"check_causality", Form::core, Form::core, "no value depends on itself within a cycle",
     "semantics/time/check_causality.cc", check_causality},
    {"watch_values", Form::core, Form::core, "every watched variable is an output", "compiler/watch_values.cc",
     watch_values},
    {"simplify", Form::core, Form::core, "constants folded, common subexpressions shared, dead code eliminated",
     "semantics/simplify/simplify.cc", simplify},
    {"drop_unneeded", Form::core, Form::core, "every value has a use", "semantics/simplify/simplify.cc",
     on_core<drop_unneeded>},
    {"join_updates", Form::core, Form::core, "sums that optimisers take over all parameters are one sum",
     "semantics/simplify/join_updates.cc", join_updates},
    {"prune_iterations", Form::core, Form::core, "iterations carry and yield only values that are used",
     "semantics/simplify/prune_iterations.cc", prune_iterations},
    {"stabilise", Form::core, Form::core,
     "formulas that overflow or cancel, such as `log(softmax(x))`, are replaced by stable ones",
     "semantics/simplify/stabilise.cc", stabilise},
    {"expand", Form::core, Form::core, "no operator is left that is defined by other operators",
     "semantics/simplify/expand.cc", expand},
    {"flatten_convolutions", Form::core, Form::core,
     "a convolution with one window as large as its input is a matrix product",
     "semantics/simplify/flatten_convolutions.cc", flatten_convolutions},
    {"give_parameters", Form::core, Form::core, "the parameters of `--load-params` begin with the values of the file",
     "compiler/set_parameters.cc", give_parameters},
    {"begin_with_constants", Form::core, Form::core, "a caller can set each parameter that begins with a constant",
     "compiler/set_parameters.cc", on_core<begin_with_constants>},
    {"check_bodies", Form::core, Form::core, "bodies of iterations are productive", "compiler/passes.cc", check_bodies},
    {"check_productivity", Form::core, Form::core, "no cycle in which `post` and `fby` cancel; no value waits forever",
     "semantics/time/check_productivity.cc", check_productivity},
    {"prune_undemanded", Form::core, Form::core, "every value is needed at some instant",
     "semantics/core/dependence.cc", on_core<prune_undemanded>},
    {"undo_delays", Form::core, Form::core, "a `post` whose effect a `fby` undoes is removed",
     "lowering/schedule/undo_delays.cc", on_core<undo_delays>},
    {"give_constants_streams", Form::core, Form::core, "constants that are outputs have a stream with a clock",
     "lowering/schedule/give_constants_streams.cc", on_core<give_constants_streams>},
    {"check_order", Form::core, Form::core,
     "one order of computation within an instant is valid for all outcomes of conditions",
     "lowering/schedule/check_order.cc", check_order},
    {"retime", Form::core, Form::core, "values that look ahead a bounded number of cycles are computed later instead",
     "lowering/schedule/retime.cc", on_core<retime>},
    {"group_units", Form::core, Form::schedule, "every value belongs to a unit; a unit with a cut has sweeps",
     "lowering/schedule/group_units.cc", group_units},
    {"absorb", Form::schedule, Form::schedule, "values that may wait for the end of a segment are computed with it",
     "lowering/schedule/absorb.cc", with_facts<absorb>},
    {"split_units", Form::schedule, Form::schedule,
     "values that may wait for the end of a segment are in another unit than those that may not",
     "lowering/schedule/split_units.cc", with_facts<split_units>},
    {"sort_units", Form::schedule, Form::schedule, "no unit is empty; each unit follows the units that it reads",
     "lowering/schedule/sort_units.cc", with_facts<sort_units>},
    {"complete_units", Form::schedule, Form::schedule,
     "units have clocks, operands, and the conditions under which operands are used",
     "lowering/schedule/complete_units.cc", with_facts<complete_units>},
    {"order_values", Form::schedule, Form::schedule, "every operand is computed before its use",
     "lowering/schedule/order_values.cc", with_facts<order_values>},
    {"look_back", Form::schedule, Form::schedule,
     "the leading sweep does not wait for inputs that only the end of the segment needs",
     "lowering/schedule/look_back.cc", on_schedule<look_back>},
    {"partition", Form::schedule, Form::schedule, "a task of a network is large enough to pay for its synchronisation",
     "lowering/schedule/partition.cc", partition},
    {"mark_straight", Form::schedule, Form::schedule, "a program that needs no queues between units is marked",
     "lowering/schedule/mark_straight.cc", on_schedule<mark_straight>},
    {"add_zeros", Form::schedule, Form::schedule, "readers of a value that is never needed get a zero",
     "lowering/schedule/add_zeros.cc", on_schedule<add_zeros>},
    {"add_cuts", Form::schedule, Form::schedule, "the condition that ends a segment is a value",
     "lowering/schedule/add_cuts.cc", on_schedule<add_cuts>},
    {"validate_schedule", Form::schedule, Form::schedule, "unchanged; an independent check of the schedule",
     "lowering/schedule/check/validate_schedule.cc", validate_schedule},
    {"check_exactness", Form::schedule, Form::schedule,
     "unchanged; rows are written when they are determined, and no row rests on an assumption",
     "lowering/schedule/check/exactness.cc", check_exactness},
    {"plan_segments", Form::schedule, Form::segments,
     "every segmented unit states which values each sweep computes or recomputes", "lowering/segment/plan_segments.cc",
     plan_segments},
    {"stand_still", Form::segments, Form::segments,
     "a memory that changes only between segments is constant within a segment", "lowering/segment/stand_still.cc",
     on_segments<stand_still>},
    {"defer", Form::segments, Form::segments, "products that can wait for the end of the segment are computed there",
     "lowering/segment/defer.cc", defer},
    {"sink", Form::segments, Form::segments, "values that only a later sweep uses are computed in that sweep",
     "lowering/segment/sink.cc", on_segments<sink>},
    {"batch_in_time", Form::segments, Form::segments, "the products of all instants of a segment are one product",
     "lowering/segment/batch_in_time.cc", batch_in_time},
    {"assign_homes", Form::segments, Form::segments, "values that several sweeps use have storage",
     "lowering/segment/assign_homes.cc", on_segments<assign_homes>},
    {"verify_segments", Form::segments, Form::segments, "unchanged; every sweep finds the values that it uses",
     "lowering/segment/verify_segments.cc", verify_segments},
    {"build_steps", Form::segments, Form::steps, "every value that outlives a cycle has storage",
     "lowering/segment/build_steps.cc", build_steps},
    {"drop_unused", Form::steps, Form::steps, "only values that an output, a state or a fault depends on are kept",
     "lowering/steps/drop_unused.cc", on_steps<drop_unused>},
    {"add_in_place", Form::steps, Form::steps, "sums over a segment are accumulated in place, in their parameter",
     "lowering/steps/add_in_place.cc", add_in_place},
    {"fuse", Form::steps, Form::steps, "chains of elementwise operators are one loop", "lowering/steps/fuse.cc",
     for_target<fuse>},
    {"group_loops", Form::steps, Form::steps, "loops of equal shape are merged; a memory is updated after its last use",
     "lowering/steps/loop_group.cc", group_loops},
    {"fuse_pools", Form::steps, Form::steps, "a pool that follows a convolution is computed in registers",
     "lowering/steps/fuse_pools.cc", on_steps<fuse_pools>},
    {"find_lead", Form::steps, Form::steps, "statements that need no input of their cycle are marked",
     "lowering/steps/find_lead.cc", find_lead},
    {"build_on_demand", Form::core, Form::steps, "a program without a schedule is a set of equations, each with a body",
     "lowering/demand/build_on_demand.cc", build_on_demand},
    {"lower_bodies", Form::steps, Form::steps, "bodies of iterations and equations are lowered to steps",
     "compiler/pipeline.cc", lower_bodies},
    {"find_windows", Form::steps, Form::steps, "memories that shift by one row are ring buffers",
     "lowering/steps/find_windows.cc", find_windows},
    {"find_packs", Form::steps, Form::steps, "matrices that many products read unchanged have a packed copy",
     "lowering/steps/find_packs.cc", find_packs},
    {"make_leader", Form::steps, Form::steps,
     "outputs that the memories of units determine are also computed by a straight program", "lowering/steps/leader.cc",
     make_leader},
    {"find_watches", Form::steps, Form::steps, "the values that debuggers and traces may read are listed",
     "lowering/steps/find_watches.cc", find_watches},
    {"make_loops", Form::steps, Form::loops, "operators are loops over elements", "lowering/loops/make_loops.cc",
     make_loops},
    {"emit", Form::steps, Form::llvm, "verified LLVM IR with source lines", "lowering/llvm/emit.cc", emit},
};

}  // namespace

std::span<const Pass> passes() { return list; }

const Pass* find_pass(std::string_view name) {
  const auto found = std::ranges::find(list, name, &Pass::name);
  return found == std::end(list) ? nullptr : &*found;
}

std::string no_such_pass(const std::string& name) {
  std::vector<std::string> known;
  for (const Pass& p : list) known.emplace_back(p.name);
  const std::string near = did_you_mean(name, known);
  return "unknown pass '" + name + "'" +
         (near.empty() ? "; rmlc opt --list lists the passes" : "; did you mean '" + near + "'?");
}

bool run(const Pass& pass, Translation& t) {
  const CurrentPhase current(pass.name.data());
  t.changed = true;
  t.violation.clear();
  const auto begin = std::chrono::steady_clock::now();
  pass.run(t);
  if (t.timed) t.session.times.emplace_back(pass.name, std::chrono::steady_clock::now() - begin);
  if (t.session.watch && !t.of_part) t.session.watch(pass, t);
  return t.changed;
}

bool has_result(const Pass& pass, const Translation& t) {
  return (t.has_form() || !reads_back(pass.makes)) && !t.diagnostics.has_errors();
}

}  // namespace rml

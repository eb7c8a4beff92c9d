// Compiles a program once for each way and compares the rows that it writes with the determined
// ones, input row by input row.
#include "rows/subject.h"

#include <algorithm>
#include <cmath>

#include "driver/base/installation.h"
#include "frontend/explain.h"
#include "frontend/render.h"
#include "lowering/steps/leading.h"

namespace rml::fuzz {

const char* name(Verdict v) {
  constexpr const char* names[verdicts] = {"wrong", "misled", "early", "stops", "assumes", "withheld", "agrees"};
  return names[static_cast<std::size_t>(v)];
}

Subject::Subject(Source source, const std::string& given, const std::string& node) : session_(own_resources()) {
  session_.options.node = node;
  session_.options.target.cpu = "native";
  session_.options.target.strict_math = true;
  const Front front = source == file ? check(session_, given) : check_text(session_, "program.rml", given);
  const auto entry = session_.failed() ? std::nullopt : find_entry(session_, front);
  if (entry) instantiate(front, *entry);
  if (core_) elaborated_ = elaborate(session_, front, *entry, {}, session_.diagnostics);
  if (elaborated_) arranged_ = arrange(session_, *elaborated_, session_.diagnostics);
  if (!arranged_) note_refusal();
}

void Subject::instantiate(const Front& front, NodeId entry) {
  Core core = rml::instantiate(front.checked, entry, {.limits = session_.options.limits}, session_.diagnostics);
  if (!session_.failed()) core_ = std::move(core);
}

void Subject::note_refusal() {
  for (const Diagnostic& d : session_.diagnostics.all())
    if (severity(d.code) == Severity::error && refusal_.empty()) refusal_ = code_name(d.code);
}

std::string Subject::messages() const { return render_human(session_.diagnostics, session_.sources, false); }

Chronogram Subject::read_inputs(const std::string& text, std::string& error) const {
  std::vector<ChronogramPort> ports;
  for (const Port& port : core_->inputs) {
    const Value& value = (*core_)[port.value];
    ports.push_back({port.name, value.dtype, value.shape});
  }
  return read_chronogram(text, ports, error).value_or(Chronogram{});
}

Due Subject::determine(const Chronogram& inputs, std::int64_t cycles) const {
  Due due{fuzz::determine(*core_, inputs, cycles), {}};
  due.at_most = elaborated_ ? fuzz::determine(*elaborated_->core, inputs, cycles) : due.rows;
  return due;
}

LoadedProgram& Subject::loaded(const Way& way) {
  auto& program = loaded_[way.name];
  if (program != nullptr) return *program;
  if (!way.compiled) {
    program = load_reference(session_, elaborated_->core, {});
    return *program;
  }
  session_.options.target.optimization = way.level;
  session_.options.target.part = way.part;
  session_.options.grain = way.grain;
  session_.options.on_demand = way.on_demand;
  std::optional<Arranged> other;  // the program as a network; none: a program that runs on demand cannot be one
  Diagnostics said;
  if (way.grain != Grain::none || way.on_demand == OnDemand::always) other = arrange(session_, *elaborated_, said);
  program = load_compiled(session_, lower(session_, other ? *other : *arranged_), {});
  session_.options.grain = Grain::none;
  session_.options.on_demand = OnDemand::where_needed;
  return *program;
}

namespace {

constexpr double tolerance = 1e-9;

double element(const Tensor& t, std::int64_t i) {
  return t.dtype() == DType::f64 ? t.as<double>()[i] : static_cast<double>(t.as<float>()[i]);
}

// Equal values up to NaN, because a formula may be replaced by one that is equal for numbers
// only.
bool same(const Cell& a, const Cell& b) {
  if (a.presence != b.presence) return false;
  if (a.presence != Presence::present || a.value == b.value) return true;
  const DType dtype = a.value.dtype();
  if (dtype != b.value.dtype() || a.value.shape() != b.value.shape()) return false;
  if (dtype != DType::f64 && dtype != DType::f32) return false;
  for (std::int64_t i = 0; i < a.value.elements(); ++i) {
    const double x = element(a.value, i), y = element(b.value, i);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    const double most = (dtype == DType::f64 ? tolerance : 1e-5) * std::max({1.0, std::fabs(x), std::fabs(y)});
    if (!(std::fabs(x - y) <= most)) return false;
  }
  return true;
}

std::string text(const Cell& cell) {
  return cell.presence == Presence::absent    ? "absent"
         : cell.presence == Presence::present ? to_string(cell.value)
                                              : "?";
}

// Compares the rows that both have.
std::string wrong_value(const Determined& want, const Driven& got) {
  const auto rows = static_cast<std::size_t>(want.after.empty() ? 0 : want.after.back());
  for (std::size_t o = 0; o < want.outputs.size(); ++o)
    for (std::size_t n = 0; n < std::min(rows, got.outputs[o].cells.size()); ++n) {
      const Cell &a = want.outputs[o].cells[n], &b = got.outputs[o].cells[n];
      if (b.presence == Presence::undetermined || same(a, b)) continue;
      return want.outputs[o].name + " in row " + std::to_string(n) + " is " + text(b) + ", not " + text(a);
    }
  return "";
}

// Before the inputs of a row are read, every known value must be determined and equal. With
// `all`, every determined value must also be known.
Finding judge_leads(const Due& due, const Driven& got, bool all) {
  for (std::size_t o = 0; o < got.leads.size(); ++o)
    for (std::size_t n = 0; n < std::min(got.leads[o].cells.size(), due.rows.leads[o].cells.size()); ++n) {
      const Cell& known = got.leads[o].cells[n];
      const Cell &least = due.rows.leads[o].cells[n], &most = due.at_most.leads[o].cells[n];
      const bool is_known = known.presence != Presence::undetermined;
      const std::string what = "before the inputs of row " + std::to_string(n) + " " + got.leads[o].name + " is ";
      if (is_known && most.presence == Presence::undetermined) return {Verdict::early, what + "known too early"};
      if (is_known && !same(most, known)) return {Verdict::wrong, what + text(known) + ", not " + text(most)};
      if (all && !is_known && least.presence != Presence::undetermined) return {Verdict::withheld, what + "not known"};
    }
  return {};
}

std::int64_t rows_of(const Driven& got) {
  if (got.outputs.empty()) return got.written.empty() ? 0 : got.written.back();
  return std::ranges::count_if(got.outputs[0].cells,
                               [](const Cell& c) { return c.presence != Presence::undetermined; });
}

// Compares the number of rows written after `after` rows of input.
Finding judge_count(const Due& due, std::size_t after, std::int64_t written) {
  const std::int64_t least = due.rows.after[after - 1], most = due.at_most.after[after - 1];
  const std::string text = "after " + std::to_string(after) + " rows of input " + std::to_string(written) +
                           " are written, " + std::to_string(least) + " determined";
  return written > most    ? Finding{Verdict::early, text}
         : written < least ? Finding{Verdict::withheld, text}
                           : Finding{};
}

// Returns the worst finding after any row of input, or at the end.
Finding judge_counts(const Due& due, const Driven& got) {
  const std::size_t cycles = due.rows.after.size();
  Finding worst;
  for (std::size_t k = 0; k <= std::min(got.written.size(), cycles) && cycles > 0; ++k) {
    const bool end = k == std::min(got.written.size(), cycles);
    Finding found = end ? judge_count(due, cycles, rows_of(got)) : judge_count(due, k + 1, got.written[k]);
    if (end) found.text = "in the end, " + found.text;
    if (found.verdict < worst.verdict) worst = std::move(found);
  }
  return worst;
}

}  // namespace

// Straight programs know early the values that are always known; on demand, all values that can
// be known are.
bool Subject::leads_exactly(const Way& way, const rml_program& table) const {
  if (!way.compiled || table.flow != nullptr || table.n_inputs == 0) return false;
  if (table.demand != nullptr) return true;
  return std::ranges::none_of(leading(*elaborated_->core), [](Leading l) { return l == Leading::sometimes; });
}

Finding Subject::compare(const Way& way, const Chronogram& inputs, std::int64_t cycles, const Due& due) {
  // A network of a program that runs on demand is refused, or writes rows later than they are
  // known.
  if (way.grain != Grain::none && arranged_->on_demand) return {};
  const rml_program& table = loaded(way).table();
  DriveOptions options{.cycles = cycles, .restarts = way.restart_every > 0};
  if (options.restarts) options.restart_every = way.restart_every;
  if (way.grain != Grain::none) options.workers = 2, options.capacity = 4;
  const Driven got = drive(table, inputs, options);
  const std::string at = std::string(way.name) + ": ";
  const bool knot = got.stop.find("needs itself") != std::string::npos;
  for (const Determined* want : {&due.rows, &due.at_most})
    if (std::string what = wrong_value(*want, got); !what.empty())
      return {knot ? Verdict::misled : Verdict::wrong, at + what};
  const Determined& want = due.rows;
  if (want.fault && got.stop.empty()) return {Verdict::withheld, at + "does not stop"};
  // If a value needs itself, a run may stop immediately: it has written all rows that can ever be
  // known.
  if (knot && want.knotted && !want.fault && rows_of(got) == want.after.back()) return {};
  if (!got.stop.empty()) {
    if (want.fault && !knot) return {};
    return {knot ? Verdict::assumes : Verdict::stops,
            at + "stops in cycle " + std::to_string(got.stop_cycle) + ": " + got.stop,
            knot && !want.fault && rows_of(got) == want.after.back()};
  }
  const Finding early = judge_leads(due, got, leads_exactly(way, table));
  if (early.verdict != Verdict::agrees) return {early.verdict, at + early.text};
  Finding counted = judge_counts(due, got);
  if (!counted.text.empty()) counted.text = at + counted.text;
  return counted;
}

}  // namespace rml::fuzz

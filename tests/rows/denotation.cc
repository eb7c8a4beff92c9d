// Computes the fixed point by visiting all cells repeatedly, towards the past and towards the
// future alternately.
//
// See denotation.h. Evaluating an unknown cell once more finds the cells that it lacks. A lack is
// hopeful if it is of an instant that has not been read, or only of hopeful cells; this is a
// fixed point as well. All other unknown cells are on a dependence cycle: they need themselves.
#include "rows/denotation.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "runtime/base/rmlrt.h"
#include "semantics/values/overloaded.h"

namespace rml::fuzz {

Denotation::Denotation(const Core& core, std::uint64_t seed) : core_(core), seed_(seed), constant_(core.values.size()) {
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t i = 0; i < core.values.size(); ++i)
      if (!constant_[i] && is_constant(ValueId{i})) moved = constant_[i] = true;
  }
}

bool Denotation::is_constant(ValueId v) const {
  const auto* apply = std::get_if<core::Apply>(&core_[v].rhs);
  const auto* post = std::get_if<core::Post>(&core_[v].rhs);
  if (post != nullptr) return constant_[post->operand.index];
  if (apply == nullptr) return core_.is_const(v);
  return !operators()[apply->op].random &&
         std::ranges::all_of(apply->operands, [&](ValueId operand) { return constant_[operand.index]; });
}

void Denotation::add(std::vector<Cell> row) {
  row.resize(core_.inputs.size());
  const std::size_t subjects = core_.values.size() + core_.clocks.size();
  Instant& instant = instants_.emplace_back(Instant{std::move(row), std::vector<State>(subjects), {}});
  for (std::size_t s = 0; s < subjects; ++s) instant.open.push_back(s);
  for (bool moved = true; moved;) {
    moved = false;
    for (std::int64_t n = pushed() - 1; n >= 0; --n) moved |= settle(n);
    for (std::int64_t n = 0; n < pushed(); ++n) moved |= settle(n);
  }
}

// Computes what is known before the inputs of the next row: these inputs are undetermined.
std::vector<Cell> Denotation::lead() const {
  Denotation next = *this;
  next.add(std::vector<Cell>(core_.inputs.size()));
  return next.row(pushed());
}

void Denotation::push(std::vector<Cell> row) {
  add(std::move(row));
  const auto known = [&](std::int64_t n) {
    return std::ranges::all_of(
        core_.outputs, [&](const Port& port) { return column(port.value, n).presence != Presence::undetermined; });
  };
  while (rows_ < pushed() && known(rows_)) ++rows_;
  for (std::int64_t n = 0; n < pushed(); ++n)
    for (const CoreAssert& check : core_.asserts) {
      const Cell cell = column(check.condition, n);
      const bool fails = cell.presence == Presence::present && !cell.value.truth();
      if (fails && (!fault_ || n < *fault_)) fault_ = n;
    }
}

// Evaluates the unknown subjects of an instant once. Returns true if one became known.
bool Denotation::settle(std::int64_t cycle) {
  Instant& instant = instants_[static_cast<std::size_t>(cycle)];
  const std::size_t before = instant.open.size();
  std::erase_if(instant.open, [&](std::size_t s) {
    Lack lack;
    State state = evaluate({s, cycle}, lack);
    if (lack.fault && (!fault_ || cycle < *fault_)) fault_ = cycle;
    if (state.presence == Presence::undetermined) return false;
    instant.states[s] = std::move(state);
    return true;
  });
  return instant.open.size() < before;
}

std::vector<Cell> Denotation::row(std::int64_t cycle) const {
  std::vector<Cell> cells;
  for (const Port& port : core_.outputs) cells.push_back(column(port.value, cycle));
  return cells;
}

// A constant is present at the ticks of its clock.
Cell Denotation::column(ValueId v, std::int64_t cycle) const {
  const State& clock = at(subject(core_[v].clock), cycle);
  if (clock.presence != Presence::present) return {clock.presence, {}};
  const State& state = at(v.index, cycle);
  if (state.presence != Presence::present) return {state.presence, {}};
  return {Presence::present, state.values->front()};
}

// ---- cells

Denotation::State Denotation::evaluate(Place place, Lack& lack) const {
  if (place.subject >= core_.values.size())
    return presence_of(ClockId{place.subject - core_.values.size()}, place.cycle, lack);
  const ValueId v{place.subject};
  if (!core_.is_const(v)) {
    const State& clock = at(subject(core_[v].clock), place.cycle);
    if (clock.presence == Presence::absent) return {Presence::absent, {}};
    if (clock.presence == Presence::undetermined) {
      lack.places.push_back({subject(core_[v].clock), place.cycle});
      return {};
    }
  }
  Tensors values = compute(v, place.cycle, lack);
  if (values == nullptr) return {};
  return {Presence::present, std::move(values)};
}

Denotation::State Denotation::presence_of(ClockId c, std::int64_t cycle, Lack& lack) const {
  if (c == base_clock) return {Presence::present, {}};
  if (c == never_clock) return {Presence::absent, {}};
  const Clock& clock = core_[c];
  const State& parent = at(subject(clock.parent), cycle);
  if (parent.presence == Presence::absent) return {Presence::absent, {}};
  if (parent.presence == Presence::undetermined) {
    lack.places.push_back({subject(clock.parent), cycle});
    return {};
  }
  const Tensors condition = look(clock.condition, cycle, lack);
  if (condition == nullptr) return {};
  return {condition->front().truth() == clock.positive ? Presence::present : Presence::absent, {}};
}

Denotation::Tensors Denotation::look(ValueId v, std::int64_t cycle, Lack& lack) const {
  const State& state = at(v.index, cycle);
  if (state.presence == Presence::absent) throw std::logic_error("an operand is absent where it is needed");
  if (state.presence == Presence::undetermined) lack.places.push_back({v.index, cycle});
  return state.values;
}

std::optional<std::int64_t> Denotation::neighbour(ClockId clock, std::int64_t cycle, int step, Lack& lack) const {
  for (cycle += step; cycle >= 0 && cycle < pushed(); cycle += step) {
    const State& state = at(subject(clock), cycle);
    if (state.presence == Presence::present) return cycle;
    if (state.presence == Presence::absent) continue;
    lack.places.push_back({subject(clock), cycle});
    return std::nullopt;
  }
  return cycle;
}

Denotation::Tensors Denotation::compute(ValueId v, std::int64_t cycle, Lack& lack) const {
  const auto constant = [](const Tensor& value) { return std::make_shared<const std::vector<Tensor>>(1, value); };
  return std::visit(Overloaded{
                        [&](const core::Const& rhs) -> Tensors { return constant(rhs.value); },
                        [&](const core::Input& rhs) -> Tensors {
                          const Cell& cell = instants_[static_cast<std::size_t>(cycle)].inputs[rhs.index];
                          if (cell.presence == Presence::undetermined) return nullptr;
                          if (cell.presence != Presence::present)
                            throw std::logic_error("an input does not keep to its clock");
                          return constant(cell.value);
                        },
                        [&](const core::Apply& rhs) -> Tensors { return apply(v, rhs, cycle, lack); },
                        [&](const core::Call& rhs) -> Tensors { return call(rhs, cycle, lack); },
                        [&](const core::Result& rhs) -> Tensors {
                          const Tensors results = look(rhs.call, cycle, lack);
                          return results ? constant((*results)[rhs.output]) : nullptr;
                        },
                        [&](const core::When& rhs) -> Tensors { return look(rhs.operand, cycle, lack); },
                        [&](const core::Merge& rhs) -> Tensors {
                          const Tensors condition = look(rhs.condition, cycle, lack);
                          if (condition == nullptr) return nullptr;
                          return look(condition->front().truth() ? rhs.on_true : rhs.on_false, cycle, lack);
                        },
                        [&](const core::Fby& rhs) -> Tensors {
                          const auto before = neighbour(core_[v].clock, cycle, -1, lack);
                          if (!before) return nullptr;
                          return *before < 0 ? look(rhs.init, cycle, lack) : look(rhs.next, *before, lack);
                        },
                        [&](const core::Post& rhs) -> Tensors {
                          if (constant_[rhs.operand.index]) return look(rhs.operand, cycle, lack);
                          const auto next = neighbour(core_[v].clock, cycle, 1, lack);
                          if (next && *next < pushed()) return look(rhs.operand, *next, lack);
                          lack.ahead |= next.has_value();
                          return nullptr;
                        },
                    },
                    core_[v].rhs);
}

std::optional<std::vector<Denotation::Tensors>> Denotation::operands(const std::vector<ValueId>& list,
                                                                     std::int64_t cycle, Lack& lack) const {
  std::vector<Tensors> found;
  // There is no early exit, since every operand that is missing is needed.
  for (const ValueId v : list) found.push_back(look(v, cycle, lack));
  if (std::ranges::find(found, nullptr) != found.end()) return std::nullopt;
  return found;
}

Denotation::Tensors Denotation::apply(ValueId v, const core::Apply& rhs, std::int64_t cycle, Lack& lack) const {
  const auto found = operands(rhs.operands, cycle, lack);
  if (!found) return nullptr;
  std::vector<DType> dtypes;
  std::vector<Shape> shapes;
  std::vector<const Tensor*> tensors;
  for (std::size_t k = 0; k < found->size(); ++k) {
    dtypes.push_back(core_[rhs.operands[k]].dtype);
    shapes.push_back(core_[rhs.operands[k]].shape);
    tensors.push_back(&(*found)[k]->front());
  }
  const Value& value = core_[v];
  std::vector<Tensor> result{Tensor(value.dtype, value.shape)};
  const Application application{dtypes, shapes, rhs.attributes, value.dtype};
  const Fault fault = operators()[rhs.op].evaluate(application, {seed_, rhs.key}, tensors, result[0]);
  if (fault.kind == RML_OK) return std::make_shared<const std::vector<Tensor>>(std::move(result));
  lack.fault = true;
  return nullptr;
}

namespace {

// Returns the byte offset and the length of element `at` within a sequence.
std::pair<std::size_t, std::size_t> part_of(const Tensor& element, std::int64_t at) {
  return {static_cast<std::size_t>(at) * element.bytes(), element.bytes()};
}

}  // namespace

// Evaluates an iteration. Its body has no memory, so its rounds are evaluated like instants of a program.
Denotation::Tensors Denotation::call(const core::Call& rhs, std::int64_t cycle, Lack& lack) const {
  const ExternalNode& node = core_.externals[rhs.external];
  if (node.iteration == nullptr) throw std::logic_error("the denotation of a C function is not known");
  const auto found = operands(rhs.operands, cycle, lack);
  if (!found) return nullptr;
  const Iteration& it = *node.iteration;
  std::vector<Tensor> carried, results;
  for (const auto& [dtype, shape] : node.outputs) results.emplace_back(dtype, shape);
  for (const Tensors& operand : *found) carried.push_back(operand->front());
  Denotation body(it.body, seed_);
  for (std::int64_t round = 0; round < it.length; ++round) {
    const std::int64_t at = it.reverse ? it.length - 1 - round : round;
    std::vector<Cell> row;
    for (std::size_t k = 0; k < carried.size(); ++k) {
      Cell& cell = row.emplace_back(Cell{Presence::present, carried[k]});
      if (k < it.states || k >= it.states + it.sequences) continue;
      const Value& input = it.body[it.body.inputs[k].value];
      cell.value = Tensor(input.dtype, input.shape);
      const auto [offset, bytes] = part_of(cell.value, at);
      if (bytes > 0) std::memcpy(cell.value.data(), carried[k].as<std::byte>() + offset, bytes);
    }
    body.push(std::move(row));
    if (body.fault_) {
      lack.fault = true;
      return nullptr;
    }
    const std::vector<Cell> outputs = body.row(round);
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      if (k < it.states) {
        carried[k] = outputs[k].value;
        continue;
      }
      const auto [offset, bytes] = part_of(outputs[k].value, at);
      if (bytes > 0) std::memcpy(results[k].as<std::byte>() + offset, outputs[k].value.data(), bytes);
    }
  }
  for (std::size_t k = 0; k < it.states; ++k) results[k] = carried[k];
  return std::make_shared<const std::vector<Tensor>>(std::move(results));
}

// ---- reasons for unknown cells

std::vector<std::vector<Denotation::Why>> Denotation::judge() const {
  std::vector<std::vector<Why>> why;
  for (const Instant& instant : instants_) {
    why.emplace_back(instant.states.size(), Why::known);
    for (const std::size_t s : instant.open) why.back()[s] = Why::needs_itself;
  }
  const auto of = [&](const Place& p) { return why[static_cast<std::size_t>(p.cycle)][p.subject]; };
  for (bool moved = true; moved;) {
    moved = false;
    for (std::int64_t n = pushed() - 1; n >= 0; --n)
      for (const std::size_t s : instants_[static_cast<std::size_t>(n)].open) {
        Why& here = why[static_cast<std::size_t>(n)][s];
        if (here != Why::needs_itself) continue;
        Lack lack;
        evaluate({s, n}, lack);
        const auto is = [&](Why w) { return [&, w](const Place& p) { return of(p) == w; }; };
        if (lack.fault || std::ranges::any_of(lack.places, is(Why::fails)))
          here = Why::fails;
        else if (std::ranges::all_of(lack.places, is(Why::looks_ahead)))
          here = Why::looks_ahead;
        moved |= here != Why::needs_itself;
      }
  }
  return why;
}

Denotation::Why Denotation::why(std::int64_t cycle) const {
  const auto all = judge();
  const auto& here = all[static_cast<std::size_t>(cycle)];
  Why worst = Why::known;
  for (const Port& port : core_.outputs) {
    if (column(port.value, cycle).presence != Presence::undetermined) continue;
    const std::size_t clock = subject(core_[port.value].clock);
    worst = std::max({worst, here[clock], here[clock] == Why::known ? here[port.value.index] : Why::known});
  }
  return worst;
}

bool Denotation::knotted() const {
  for (const auto& instant : judge())
    if (std::ranges::find(instant, Why::needs_itself) != instant.end()) return true;
  return false;
}

std::vector<std::string> Denotation::knot(std::int64_t cycle) const {
  const auto all = judge();
  const auto knotted = [&](const Place& p) {
    return all[static_cast<std::size_t>(p.cycle)][p.subject] == Why::needs_itself;
  };
  std::vector<Place> path;
  for (const Port& port : core_.outputs)
    for (const Place p : {Place{subject(core_[port.value].clock), cycle}, Place{port.value.index, cycle}})
      if (path.empty() && knotted(p)) path.push_back(p);
  if (path.empty()) return {};
  for (;;) {
    Lack lack;
    evaluate(path.back(), lack);
    const Place next = *std::ranges::find_if(lack.places, knotted);
    const auto again =
        std::ranges::find_if(path, [&](const Place& p) { return p.subject == next.subject && p.cycle == next.cycle; });
    if (again == path.end()) {
      path.push_back(next);
      continue;
    }
    std::vector<std::string> text;
    for (auto p = again; p != path.end(); ++p) {
      const bool clock = p->subject >= core_.values.size();
      text.push_back((clock ? clock_string(core_, ClockId{p->subject - core_.values.size()})
                            : describe(core_, ValueId{p->subject})) +
                     " at " + std::to_string(p->cycle));
    }
    return text;
  }
}

Determined determine(const Core& core, const Chronogram& inputs, std::int64_t cycles, std::uint64_t seed) {
  Denotation denotation(core, seed);
  Determined result;
  for (const Port& port : core.outputs) {
    result.outputs.push_back({port.name, {}});
    result.leads.push_back({port.name, {}});
  }
  for (std::int64_t n = 0; n < cycles; ++n) {
    std::vector<Cell> early(core.outputs.size()), row;
    if (denotation.rows() == n) early = denotation.lead();
    for (std::size_t k = 0; k < early.size(); ++k) result.leads[k].cells.push_back(std::move(early[k]));
    for (const ChronogramRow& input : inputs) row.push_back(input.cells[static_cast<std::size_t>(n)]);
    denotation.push(std::move(row));
    result.after.push_back(denotation.rows());
  }
  for (std::int64_t n = 0; n < cycles; ++n) {
    std::vector<Cell> row = denotation.row(n);
    for (std::size_t k = 0; k < row.size(); ++k)
      result.outputs[k].cells.push_back(n < denotation.rows() ? std::move(row[k]) : Cell{});
  }
  result.fault = denotation.fault();
  result.knotted = denotation.knotted();
  if (denotation.rows() == cycles) return result;
  result.next = denotation.why(denotation.rows());
  result.knot = denotation.knot(denotation.rows());
  return result;
}

}  // namespace rml::fuzz

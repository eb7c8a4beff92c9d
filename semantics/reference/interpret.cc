// The reference engine: demand in every cycle, rows, histories, memory.
//
// A cycle is run by demanding its roots from the evaluator: outputs, asserts, presence checks and
// operators with effects. The `next` of every live fby is demanded at each of its cycles as well.
// So a fby never has more than one unevaluated past cycle, chains of suspended cells cannot grow,
// and old cells can be dropped unless they are blocked. Rows leave in cycle order, when all their
// columns are determined.
#include "semantics/reference/interpret.h"

#include <cstring>
#include <deque>

#include "semantics/core/queries.h"
#include "semantics/reference/interpret_evaluator.h"

namespace rml {

namespace {

using reference::Evaluator;
using reference::SharedTensor;
using reference::Status;

// A value as seen from outside: constants are present at the instants of their clock.
struct Seen {
  Presence presence = Presence::undetermined;
  SharedTensor value;
  Cell cell() const { return {presence, value ? *value : Tensor()}; }
};

Seen look(const Core& core, const Evaluator& evaluator, ValueId v, std::int64_t cycle) {
  if (core.is_const(v)) {
    const auto* clock = evaluator.find(evaluator.of(core[v].clock), cycle);
    if (clock == nullptr) return {};
    if (clock->status == Status::absent) return {Presence::absent, nullptr};
  }
  const auto* state = evaluator.find(evaluator.of(v), cycle);
  if (state == nullptr) return {};
  if (state->status == Status::absent) return {Presence::absent, nullptr};
  return {Presence::present, state->value};
}

// Iterations by definition: runs the body once per element (see core.h). The body is a core
// without memory, so the rounds of an iteration are run as cycles of it.
template <Failing failing>
std::optional<RunFault> iterate(const Iteration& it, std::span<const Tensor* const> operands,
                                std::span<Tensor> outputs) {
  std::vector<Tensor> states;
  for (std::size_t k = 0; k < it.states; ++k) states.push_back(*operands[k]);
  Interpreter interpreter(it.body, 0, {}, failing);
  for (std::int64_t round = 0; round < it.length; ++round) {
    const std::int64_t at = it.reverse ? it.length - 1 - round : round;
    std::vector<Cell> cells;
    for (std::size_t k = 0; k < operands.size(); ++k) {
      Tensor value = k < it.states ? states[k] : *operands[k];
      if (k >= it.states && k < it.states + it.sequences) {
        const Value& input = it.body[it.body.inputs[k].value];
        value = Tensor(input.dtype, input.shape);
        const std::size_t bytes = value.bytes();
        if (bytes > 0)
          std::memcpy(value.data(),
                      static_cast<const std::byte*>(operands[k]->data()) + static_cast<std::size_t>(at) * bytes, bytes);
      }
      cells.push_back({Presence::present, std::move(value)});
    }
    if (auto fault = interpreter.push(std::move(cells))) return fault;
    std::vector<Cell> row = *interpreter.pop();
    for (std::size_t k = 0; k < row.size(); ++k) {
      if (k < it.states) {
        states[k] = std::move(row[k].value);
        continue;
      }
      const std::size_t bytes = row[k].value.bytes();
      if (bytes > 0)
        std::memcpy(static_cast<std::byte*>(outputs[k].data()) + static_cast<std::size_t>(at) * bytes,
                    row[k].value.data(), bytes);
    }
  }
  for (std::size_t k = 0; k < it.states; ++k) outputs[k] = std::move(states[k]);
  return std::nullopt;
}

}  // namespace

struct Interpreter::State {
  State(const Core& core, std::uint64_t seed, CallExternal call, Failing failing)
      : core(core),
        failing(failing),
        evaluator(core, seed, std::move(call),
                  failing == Failing::where_needed ? iterate<Failing::where_needed> : iterate<Failing::where_present>) {
    find_roots();
  }

  void demand_value(ValueId v) {
    if (core.is_const(v)) roots.push_back(evaluator.of(core[v].clock));
    roots.push_back(evaluator.of(v));
  }

  void find_roots() {
    roots.clear();
    std::vector<ValueId> values;
    for (std::size_t i = 0; i < core.inputs.size(); ++i) {
      roots.push_back(evaluator.presence_check(i));
      values.push_back(core.inputs[i].value);
    }
    for (std::size_t i = 0; i < core.asserts.size(); ++i) {
      roots.push_back(evaluator.assertion(i));
      values.push_back(core.asserts[i].condition);
    }
    for (std::size_t i = 0; i < core.values.size(); ++i) {
      const auto* call = std::get_if<core::Call>(&core.values[i].rhs);
      const bool effect = call != nullptr && core.externals[call->external].in_c();
      const bool fails = failing == Failing::where_present && (call != nullptr || can_fail(core, ValueId(i)));
      if (!effect && !fails) continue;
      values.push_back(ValueId{i});
      demand_value(ValueId{i});
    }
    for (const Port& output : core.outputs) {
      values.push_back(output.value);
      demand_value(output.value);
    }
    for (const ValueId v : watched) {
      values.push_back(v);
      demand_value(v);
    }
    keep_fbys(reachable(core, std::move(values)));
  }

  void keep_fbys(const std::vector<bool>& live) {
    std::vector<ValueId> fbys;
    for (std::size_t i = 0; i < core.values.size(); ++i) {
      const auto* fby = std::get_if<core::Fby>(&core.values[i].rhs);
      if (fby == nullptr || !live[i]) continue;
      fbys.push_back(ValueId{i});
      roots.push_back(evaluator.of(core.values[i].clock));
      roots.push_back(evaluator.of(fby->next));
    }
    evaluator.keep(std::move(fbys));
  }

  // Moves the complete rows from the evaluator to `rows`.
  void collect_rows() {
    for (; collected < evaluator.cycles(); ++collected) {
      std::vector<Cell> row;
      for (const Port& output : core.outputs) {
        const Seen seen = look(core, evaluator, output.value, collected);
        if (seen.presence == Presence::undetermined) return;
        row.push_back(seen.cell());
      }
      rows.push_back(std::move(row));
    }
  }

  // A fault at a cycle withdraws the rows from that cycle on.
  void withdraw_rows(std::int64_t cycle) {
    while (!rows.empty() && popped + static_cast<std::int64_t>(rows.size()) > cycle) rows.pop_back();
  }

  void drop_frames() {
    while (evaluator.settled()) {
      for (std::size_t i = 0; i < watched.size(); ++i) {
        past[i].push_back(look(core, evaluator, watched[i], evaluator.held_from()));
      }
      evaluator.drop_frame();
    }
  }

  const Core& core;
  const Failing failing;
  Evaluator evaluator;
  std::vector<Evaluator::Subject> roots;  // the subjects that are demanded in every cycle, in this order
  std::vector<ValueId> watched;
  std::vector<std::vector<Seen>> past;  // indexed by watched value: its cells in dropped cycles
  std::deque<std::vector<Cell>> rows;   // complete, but not yet popped
  std::int64_t collected = 0;
  std::int64_t popped = 0;
  bool finished = false;
};

Interpreter::Interpreter(const Core& core, std::uint64_t seed, CallExternal call, Failing failing)
    : state_(std::make_unique<State>(core, seed, std::move(call), failing)) {}

Interpreter::~Interpreter() = default;

void Interpreter::give(std::uint64_t key, Tensor value) { state_->evaluator.give(key, std::move(value)); }

std::optional<RunFault> Interpreter::push(std::vector<Cell> cells) {
  State& s = *state_;
  if (s.evaluator.fault() || s.finished) return s.evaluator.fault();
  cells.resize(s.core.inputs.size());
  s.evaluator.open_cycle(std::move(cells));
  const std::int64_t cycle = s.evaluator.cycles() - 1;
  for (const Evaluator::Subject root : s.roots) s.evaluator.demand(root, cycle);
  s.collect_rows();
  if (s.evaluator.fault()) {
    s.withdraw_rows(s.evaluator.fault()->cycle);
  } else {
    s.drop_frames();
  }
  return s.evaluator.fault();
}

void Interpreter::finish() { state_->finished = true; }

std::optional<std::vector<Cell>> Interpreter::pop() {
  State& s = *state_;
  if (s.rows.empty()) return std::nullopt;
  std::vector<Cell> row = std::move(s.rows.front());
  s.rows.pop_front();
  ++s.popped;
  return row;
}

void Interpreter::watch(std::vector<ValueId> values) {
  State& s = *state_;
  s.watched = std::move(values);
  // Cells that have already been dropped are unknown.
  s.past.assign(s.watched.size(), std::vector<Seen>(static_cast<std::size_t>(s.evaluator.held_from())));
  s.find_roots();
}

std::vector<Cell> Interpreter::history(ValueId v) const {
  const State& s = *state_;
  std::vector<Cell> cells;
  for (std::size_t i = 0; i < s.watched.size(); ++i) {
    if (s.watched[i] != v) continue;
    for (const Seen& seen : s.past[i]) cells.push_back(seen.cell());
    for (auto n = s.evaluator.held_from(); n < s.evaluator.cycles(); ++n) {
      cells.push_back(look(s.core, s.evaluator, v, n).cell());
    }
    break;
  }
  return cells;
}

Cell Interpreter::at(ValueId v, std::int64_t cycle) const {
  return look(state_->core, state_->evaluator, v, cycle).cell();
}

std::vector<ValueId> Interpreter::knot() {
  State& s = *state_;
  for (const Port& output : s.core.outputs) {
    if (s.popped >= s.evaluator.cycles() || s.popped < s.evaluator.held_from()) break;
    if (std::vector<ValueId> values = s.evaluator.knot(s.evaluator.of(output.value), s.popped); !values.empty())
      return values;
  }
  return {};
}

std::int64_t Interpreter::pushed() const { return state_->evaluator.cycles() - (state_->evaluator.fault() ? 1 : 0); }

std::int64_t Interpreter::popped() const { return state_->popped; }

}  // namespace rml

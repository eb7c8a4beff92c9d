// Cells: storage, demand, blocking and resumption, and the meaning of every primitive.
//
// interpret_evaluator.h describes the method. A step evaluates one cell and reads other cells by
// need(), which yields a determined cell or records the cell in wanted_. Then run() evaluates the
// wanted cell first, or blocks the current cell on it. Example: `x = post y` at the newest cycle
// n wants the base clock at n + 1, which has not been read. The cell joins next_cycle_, and
// open_cycle(n + 1) puts it on the stack again.
#include "semantics/reference/interpret_evaluator.h"

#include <algorithm>
#include <tuple>

#include "runtime/base/rmlrt.h"
#include "semantics/values/overloaded.h"

namespace rml::reference {

namespace {

// Orders faults. The smallest one is reported.
auto order(const RunFault& fault) {
  const int rank = fault.input != UINT32_MAX ? 0 : fault.assertion != UINT32_MAX ? 1 : 2;
  return std::tuple(fault.cycle, rank, fault.input, fault.assertion, fault.value.index);
}

}  // namespace

Evaluator::Evaluator(const Core& core, std::uint64_t seed, CallExternal call, Iterate iterate)
    : core_(core),
      seed_(seed),
      call_(std::move(call)),
      iterate_(iterate),
      clocks_begin_(static_cast<Subject>(core.values.size())),
      checks_begin_(static_cast<Subject>(clocks_begin_ + core.clocks.size())),
      asserts_begin_(static_cast<Subject>(checks_begin_ + core.inputs.size())),
      subjects_(static_cast<Subject>(asserts_begin_ + core.asserts.size())),
      applications_(core.values.size()),
      fixed_(subjects_),
      remembered_(core.values.size()) {
  for (std::size_t i = 0; i < core.values.size(); ++i) {
    const core::Rhs& rhs = core.values[i].rhs;
    if (const auto* constant = std::get_if<core::Const>(&rhs)) {
      // The core outlives the evaluator, so the pointer need not own the constant.
      fixed_states_.push_back({SharedTensor(SharedTensor(), &constant->value), {}, {}, 0, Status::present});
      fixed_[i] = &fixed_states_.back();
    } else if (const auto* apply = std::get_if<core::Apply>(&rhs)) {
      for (const ValueId operand : apply->operands) {
        applications_[i].dtypes.push_back(core[operand].dtype);
        applications_[i].shapes.push_back(core[operand].shape);
      }
    }
  }
  fixed_states_.push_back({nullptr, {}, {}, 0, Status::present});
  fixed_[of(base_clock)] = &fixed_states_.back();
  fixed_states_.push_back({nullptr, {}, {}, 0, Status::absent});
  fixed_[of(never_clock)] = &fixed_states_.back();
}

// ---- frames ----

void Evaluator::open_cycle(std::vector<Cell> inputs) {
  if (spare_.empty()) {
    frames_.emplace_back();
    frames_.back().states.resize(subjects_);
  } else {
    frames_.push_back(std::move(spare_.back()));
    spare_.pop_back();
  }
  for (Cell& cell : inputs) {
    const bool present = cell.presence == Presence::present;
    frames_.back().inputs.push_back(present ? std::make_shared<const Tensor>(std::move(cell.value)) : nullptr);
  }
  ++cycles_;
  wake(next_cycle_);
  run();
}

void Evaluator::drop_frame() {
  for (const ValueId v : kept_) {
    const State* clock = find(of(core_[v].clock), first_);
    if (clock == nullptr || clock->status != Status::present) continue;
    const State* next = find(of(std::get<core::Fby>(core_[v].rhs).next), first_);
    if (next != nullptr) remembered_[v.index] = next->value;
  }
  Frame frame = std::move(frames_.front());
  frames_.pop_front();
  ++first_;
  frame.inputs.clear();
  for (State& state : frame.states) state = State{};
  constexpr std::size_t enough = 64;
  if (spare_.size() < enough) spare_.push_back(std::move(frame));
}

const State* Evaluator::find(Subject subject, std::int64_t cycle) const {
  if (cycle >= cycles_) return nullptr;
  if (fixed_[subject] != nullptr) return fixed_[subject];
  if (cycle < first_) return nullptr;
  const State& state = frames_[static_cast<std::size_t>(cycle - first_)].states[subject];
  return state.determined() ? &state : nullptr;
}

// ---- demand ----

void Evaluator::demand(Subject subject, std::int64_t cycle) {
  if (fixed_[subject] != nullptr || cycle < first_ || cycle >= cycles_) return;
  const Place place{subject, static_cast<std::uint64_t>(cycle)};
  State& state = at(place);
  if (state.status != Status::unknown) return;
  push(place, state);
  run();
}

void Evaluator::push(Place place, State& state) {
  state.status = Status::active;
  stack_.push_back(place);
}

void Evaluator::run() {
  while (!stack_.empty()) {
    const Place place = stack_.back();
    State& state = at(place);
    wanted_ = Place{};
    if (step(place, state)) {
      stack_.pop_back();
      wake(state.waiters);
      continue;
    }
    if (wanted_.valid() && readable(wanted_)) {
      State& wanted = at(wanted_);
      if (wanted.status == Status::unknown) {
        push(wanted_, wanted);
        continue;
      }
    }
    stack_.pop_back();
    block(place, state);
  }
}

void Evaluator::block(Place place, State& state) {
  state.status = Status::blocked;
  ++frame(place.cycle).pending;
  if (!wanted_.valid()) return;
  Place& head = readable(wanted_) ? at(wanted_).waiters : next_cycle_;
  state.next_waiter = head;
  head = place;
}

void Evaluator::wake(Place& waiters) {
  Place place = waiters;
  waiters = Place{};
  while (place.valid()) {
    State& state = at(place);
    const Place next = state.next_waiter;
    state.next_waiter = Place{};
    --frame(place.cycle).pending;
    push(place, state);
    place = next;
  }
}

const State* Evaluator::need(Subject subject, std::int64_t cycle) {
  if (cycle < cycles_) {
    if (fixed_[subject] != nullptr) return fixed_[subject];
    const State& state = frame(cycle).states[subject];
    if (state.determined()) return &state;
  }
  wanted_ = Place{subject, static_cast<std::uint64_t>(cycle)};
  return nullptr;
}

SharedTensor Evaluator::need_value(ValueId v, std::int64_t cycle) {
  // An operand that is absent where its user is present means that the core does not verify.
  // There is no value and wanted_ does not change, so the user waits for ever.
  const State* state = need(of(v), cycle);
  return state != nullptr ? state->value : nullptr;
}

std::vector<ValueId> Evaluator::knot(Subject subject, std::int64_t cycle) {
  std::vector<Place> path;
  for (Place at{subject, static_cast<std::uint64_t>(cycle)}; at.valid() && readable(at); at = wanted_) {
    if (fixed_[at.subject] != nullptr || frame(at.cycle).states[at.subject].status != Status::blocked) return {};
    const auto again =
        std::ranges::find_if(path, [&](const Place& p) { return p.subject == at.subject && p.cycle == at.cycle; });
    if (again != path.end()) {
      std::vector<ValueId> values;
      for (auto p = again; p != path.end(); ++p)
        if (p->subject < clocks_begin_) values.push_back(ValueId{static_cast<std::uint32_t>(p->subject)});
      return values;
    }
    path.push_back(at);
    wanted_ = Place{};
    if (step(at, this->at(at))) return {};  // cannot happen: the cell waits for another one
  }
  return {};
}

// ---- subjects ----

bool Evaluator::step(Place place, State& state) {
  const auto subject = static_cast<Subject>(place.subject);
  const auto cycle = static_cast<std::int64_t>(place.cycle);
  if (subject < clocks_begin_) return step_value(ValueId{subject}, cycle, state);
  if (subject < checks_begin_) return step_clock(ClockId{subject - clocks_begin_}, cycle, state);
  if (subject < asserts_begin_) return step_check(subject - checks_begin_, cycle, state);
  return step_assert(subject - asserts_begin_, cycle, state);
}

bool Evaluator::step_value(ValueId v, std::int64_t cycle, State& state) {
  const State* clock = need(of(core_[v].clock), cycle);
  if (clock == nullptr) return false;
  if (clock->status == Status::absent) {
    state.status = Status::absent;
    return true;
  }
  state.value = compute(v, cycle, state);
  if (state.value == nullptr) return false;
  state.status = Status::present;
  return true;
}

bool Evaluator::step_clock(ClockId c, std::int64_t cycle, State& state) {
  const Clock& clock = core_[c];
  const State* parent = need(of(clock.parent), cycle);
  if (parent == nullptr) return false;
  if (parent->status == Status::absent) {
    state.status = Status::absent;
    return true;
  }
  const SharedTensor condition = need_value(clock.condition, cycle);
  if (condition == nullptr) return false;
  state.status = condition->truth() == clock.positive ? Status::present : Status::absent;
  return true;
}

bool Evaluator::step_check(std::uint32_t input, std::int64_t cycle, State& state) {
  const State* clock = need(of(core_[core_.inputs[input].value].clock), cycle);
  if (clock == nullptr) return false;
  const bool present = frame(cycle).inputs[input] != nullptr;
  if (present != (clock->status == Status::present)) {
    RunFault fault{{RML_FAULT_PRESENCE, input, present ? 1 : 0}, {}};
    fault.input = input;
    fault.cycle = cycle;
    record(fault);
    return false;
  }
  state.status = clock->status;
  return true;
}

bool Evaluator::step_assert(std::uint32_t i, std::int64_t cycle, State& state) {
  const ValueId condition = core_.asserts[i].condition;
  const State* clock = need(of(core_[condition].clock), cycle);
  if (clock == nullptr) return false;
  if (clock->status == Status::absent) {
    state.status = Status::absent;
    return true;
  }
  const SharedTensor holds = need_value(condition, cycle);
  if (holds == nullptr) return false;
  if (!holds->truth()) {
    RunFault fault{{RML_FAULT_ASSERT, 0, 0}, {}};
    fault.assertion = i;
    fault.cycle = cycle;
    record(fault);
    return false;
  }
  state.status = Status::present;
  return true;
}

// Called by a step that then returns false with no wanted cell, so that the cell is never
// determined.
void Evaluator::record(const RunFault& fault) {
  if (!fault_ || order(fault) < order(*fault_)) fault_ = fault;
  wanted_ = Place{};
}

// ---- primitives ----

SharedTensor Evaluator::compute(ValueId v, std::int64_t cycle, State& state) {
  return std::visit(Overloaded{
                        [&](const core::Const& rhs) { return SharedTensor(SharedTensor(), &rhs.value); },
                        [&](const core::Input& rhs) { return frame(cycle).inputs[rhs.index]; },
                        [&](const core::Apply& rhs) { return apply(v, rhs, cycle); },
                        [&](const core::Call& rhs) { return call(v, rhs, cycle); },
                        [&](const core::Result& rhs) {
                          SharedTensor outputs = need_value(rhs.call, cycle);
                          return outputs ? SharedTensor(outputs, outputs.get() + rhs.output) : nullptr;
                        },
                        [&](const core::When& rhs) { return need_value(rhs.operand, cycle); },
                        [&](const core::Merge& rhs) {
                          const SharedTensor condition = need_value(rhs.condition, cycle);
                          if (condition == nullptr) return SharedTensor();
                          return need_value(condition->truth() ? rhs.on_true : rhs.on_false, cycle);
                        },
                        [&](const core::Fby& rhs) { return fby(v, rhs, cycle, state); },
                        [&](const core::Post& rhs) { return post(v, rhs, cycle, state); },
                    },
                    core_[v].rhs);
}

bool Evaluator::operands(const std::vector<ValueId>& values, std::int64_t cycle) {
  operand_values_.clear();
  operand_pointers_.clear();
  for (const ValueId v : values) {
    operand_values_.push_back(need_value(v, cycle));
    if (operand_values_.back() == nullptr) return false;
    operand_pointers_.push_back(operand_values_.back().get());
  }
  return true;
}

SharedTensor Evaluator::apply(ValueId v, const core::Apply& rhs, std::int64_t cycle) {
  if (!operands(rhs.operands, cycle)) return nullptr;
  if (operators()[rhs.op].lowering == Lowering::parameter)
    if (const auto given = given_.find(rhs.key); given != given_.end()) return given->second;
  const Value& value = core_[v];
  const Application& application = applications_[v.index];
  auto result = std::make_shared<Tensor>(value.dtype, value.shape);
  const rml::Application passed{application.dtypes, application.shapes, rhs.attributes, value.dtype};
  const Fault fault = operators()[rhs.op].evaluate(passed, {seed_, rhs.key}, operand_pointers_, *result);
  if (fault.kind == RML_OK) return result;
  RunFault run_fault{fault, v};
  run_fault.cycle = cycle;
  run_fault.equation = &value;
  record(run_fault);
  return nullptr;
}

SharedTensor Evaluator::call(ValueId v, const core::Call& rhs, std::int64_t cycle) {
  const ExternalNode& node = core_.externals[rhs.external];
  if ((!call_ && node.iteration == nullptr) || !operands(rhs.operands, cycle)) return nullptr;
  auto outputs = std::make_shared<std::vector<Tensor>>();
  for (const auto& [dtype, shape] : node.outputs) outputs->emplace_back(dtype, shape);
  if (node.iteration != nullptr) {
    auto fault = iterate_(*node.iteration, operand_pointers_, *outputs);
    if (!fault) return SharedTensor(outputs, outputs->data());
    fault->value = v;
    fault->cycle = cycle;
    record(*fault);
    return nullptr;
  }
  if (outputs->empty()) outputs->emplace_back();  // the call needs one value to point to
  call_(rhs.external, operand_pointers_, std::span(*outputs).first(node.outputs.size()));
  return SharedTensor(outputs, outputs->data());
}

SharedTensor Evaluator::fby(ValueId v, const core::Fby& rhs, std::int64_t cycle, State& state) {
  const Subject clock = of(core_[v].clock);
  for (std::int64_t m = cycle - 1 - state.walked; m >= first_; --m) {
    const State* presence = need(clock, m);
    if (presence == nullptr) return nullptr;
    if (presence->status == Status::present) return need_value(rhs.next, m);
    ++state.walked;
  }
  if (remembered_[v.index] != nullptr) return remembered_[v.index];
  return need_value(rhs.init, cycle);
}

SharedTensor Evaluator::post(ValueId v, const core::Post& rhs, std::int64_t cycle, State& state) {
  const Subject clock = of(core_[v].clock);
  for (std::int64_t m = cycle + 1 + state.walked;; ++m) {
    const State* presence = need(clock, m);
    if (presence == nullptr) return nullptr;
    if (presence->status == Status::present) return need_value(rhs.operand, m);
    ++state.walked;
  }
}

}  // namespace rml::reference

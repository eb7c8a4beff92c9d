// Draws the letters cycle by cycle, then evaluates all Booleans in order. Truth has a third value, unknown. A Boolean
// that looks ahead is unknown at first; sweeps back and forth determine it once all cycles are drawn.
#include "lowering/schedule/check/boolean_world.h"

namespace rml {

namespace {

constexpr Cycles every_cycle = ~Cycles{0};

bool is_condition(const Core& core, ValueId v) { return core[v].dtype == DType::boolean && core[v].shape.empty(); }

std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// All words of six bits as overlapping words over an alphabet of 2^bits: each step appends the largest letter that
// gives a new word.
std::vector<std::uint8_t> all_sequences(std::size_t bits) {
  std::vector<std::uint8_t> sequence;
  const unsigned letters = 1u << bits;
  std::uint64_t seen = 0;
  unsigned word = 0;
  for (int t = 0; t < cycles_in_a_world; ++t)
    for (unsigned letter = letters; letter-- > 0;) {
      const unsigned next = (word * letters + letter) % 64;
      if ((seen >> next & 1) != 0) continue;
      seen |= std::uint64_t{1} << next;
      word = next;
      sequence.push_back(static_cast<std::uint8_t>(letter));
      break;
    }
  return sequence;
}

}  // namespace

BooleanOrder::BooleanOrder(const Core& core, const std::vector<ValueId>& asked)
    : core_(core), seen_values_(core.values.size()), seen_clocks_(core.clocks.size()) {
  for (std::uint32_t c = 0; c < core.clocks.size(); ++c) visit(node_of(ClockId{c}));
  for (const Value& v : core.values)
    if (const auto* m = std::get_if<core::Merge>(&v.rhs)) visit(node_of(m->condition));
  for (const ValueId v : asked) visit(node_of(v));
}

BooleanOrder::Node BooleanOrder::node_of(ClockId c) const {
  return {Meaning::clock, static_cast<std::uint32_t>(c.index), core_[c].condition, {}, {}};
}

BooleanOrder::Node BooleanOrder::node_of(ValueId v) const {
  static const OperatorId op_not = operators().require("logical_not"), op_and = operators().require("logical_and"),
                          op_or = operators().require("logical_or"), op_eq = operators().require("eq"),
                          op_ne = operators().require("ne");
  const auto index = static_cast<std::uint32_t>(v.index);
  const core::Rhs& rhs = core_[v].rhs;
  if (const auto* a = std::get_if<core::Apply>(&rhs)) {
    const auto operand = [&](std::size_t k) { return a->operands[k]; };
    if (a->op == op_not) return {Meaning::negation, index, operand(0), {}, {}};
    if (a->op == op_and) return {Meaning::both, index, operand(0), operand(1), {}};
    if (a->op == op_or) return {Meaning::either, index, operand(0), operand(1), {}};
    if ((a->op == op_eq || a->op == op_ne) && is_condition(core_, operand(0)) && is_condition(core_, operand(1)))
      return {a->op == op_eq ? Meaning::equal : Meaning::unequal, index, operand(0), operand(1), {}};
  }
  if (const auto* w = std::get_if<core::When>(&rhs)) return {Meaning::sample, index, w->operand, {}, {}};
  if (const auto* m = std::get_if<core::Merge>(&rhs))
    return {Meaning::merge, index, m->condition, m->on_true, m->on_false};
  if (const auto* f = std::get_if<core::Fby>(&rhs)) return {Meaning::fby, index, f->init, f->next, {}};
  if (const auto* p = std::get_if<core::Post>(&rhs)) return {Meaning::post, index, p->operand, {}, {}};
  return {Meaning::letter, index, {}, {}, {}};
}

// Uses no recursion, because chains of operands can be long. The operands that a delay reads in other cycles need not
// precede it.
void BooleanOrder::visit(Node root) {
  std::vector<Node> roots{root};
  while (!roots.empty()) {
    const Node next = roots.back();
    roots.pop_back();
    visit_instant(next, roots);
  }
}

void BooleanOrder::visit_instant(Node root, std::vector<Node>& others) {
  struct Open {
    Node node;
    int next = 0;
  };
  std::vector<Open> path;
  const auto enter = [&](Node n) {
    std::vector<bool>& seen = n.meaning == Meaning::clock ? seen_clocks_ : seen_values_;
    if (seen[n.index]) return;
    seen[n.index] = true;
    if (n.meaning != Meaning::clock && core_.is_const(ValueId{n.index})) return;
    path.push_back({n});
    if (n.meaning == Meaning::fby) others.push_back(node_of(n.b));
    if (n.meaning == Meaning::post) others.push_back(node_of(n.a));
  };
  const auto part = [](const Node& n, int k) {
    if (n.meaning == Meaning::post || (n.meaning == Meaning::fby && k > 1)) return ValueId{};
    return k == 1 ? n.a : k == 2 ? n.b : n.c;
  };
  enter(root);
  while (!path.empty()) {
    const Node n = path.back().node;
    const int k = path.back().next++;
    if (k == 0) {
      const ClockId on = n.meaning == Meaning::clock ? core_.clocks[n.index].parent : core_.values[n.index].clock;
      if (on.valid()) enter(node_of(on));
    } else if (k <= 3) {
      if (const ValueId v = part(n, k); v.valid()) enter(node_of(v));
    } else {
      path.pop_back();
      nodes_.push_back(n);
      if (n.meaning == Meaning::letter) letters_.push_back(ValueId{n.index});
      looks_ahead_ = looks_ahead_ || n.meaning == Meaning::post;
    }
  }
}

BooleanWorld::BooleanWorld(const BooleanOrder& order, std::uint32_t number, const Broken& broken)
    : order_(order),
      core_(order.core()),
      number_(number),
      yes_(core_.values.size()),
      no_(core_.values.size()),
      present_(core_.clocks.size()),
      absent_(core_.clocks.size()) {
  present_[base_clock.index] = every_cycle;
  absent_[never_clock.index] = every_cycle;
  for (std::size_t i = 0; i < core_.values.size(); ++i)
    if (const ValueId v{i}; core_.is_const(v) && is_condition(core_, v))
      (std::get<core::Const>(core_[v].rhs).value.truth() ? yes_ : no_)[i] = every_cycle;
  const std::size_t letters = order.letters().size();
  if (number == 0 && letters > 0 && letters <= 3) sequence_ = all_sequences(letters);
  constexpr std::uint32_t attempts = 8;
  for (int t = 0; t < cycles_in_a_world; ++t)
    for (std::uint32_t attempt = 0; attempt < attempts; ++attempt) {
      draw(attempt, t);
      evaluate(Cycles{1} << t);
      if (attempt + 1 == attempts || !broken(*this, t)) break;
      forget(t);
    }
  if (order.looks_ahead()) look_ahead();
}

void BooleanWorld::draw(std::uint32_t attempt, int cycle) {
  const Cycles bit = Cycles{1} << cycle;
  for (std::size_t k = 0; k < order_.letters().size(); ++k) {
    const std::uint64_t place = (static_cast<std::uint64_t>(k) * 64 + static_cast<std::uint64_t>(cycle)) * 64;
    const bool holds = attempt == 0 && !sequence_.empty()
                           ? (sequence_[static_cast<std::size_t>(cycle)] >> k & 1) != 0
                           : (mixed(place + attempt + (std::uint64_t{number_} << 48)) & 1) != 0;
    (holds ? yes_ : no_)[order_.letters()[k].index] |= bit;
  }
}

void BooleanWorld::forget(int cycle) {
  const Cycles others = ~(Cycles{1} << cycle);
  for (const BooleanOrder::Node& n : order_.nodes()) {
    if (n.meaning == BooleanOrder::Meaning::clock) {
      if (!core_.clocks[n.index].parent.valid()) continue;
      present_[n.index] &= others;
      absent_[n.index] &= others;
    } else {
      yes_[n.index] &= others;
      no_[n.index] &= others;
    }
  }
}

void BooleanWorld::evaluate(Cycles where) {
  for (const BooleanOrder::Node& n : order_.nodes()) evaluate(n, where);
}

void BooleanWorld::evaluate(const BooleanOrder::Node& n, Cycles where) {
  using Meaning = BooleanOrder::Meaning;
  if (n.meaning == Meaning::letter) return;
  if (n.meaning == Meaning::clock) {
    const Clock& c = core_.clocks[n.index];
    if (!c.parent.valid()) return;
    const Cycles there = present_[c.parent.index] & where;
    present_[n.index] |= there & (c.positive ? yes_ : no_)[c.condition.index];
    absent_[n.index] |= (absent_[c.parent.index] & where) | (there & (c.positive ? no_ : yes_)[c.condition.index]);
    return;
  }
  where &= present(core_.values[n.index].clock);
  if (n.meaning == Meaning::fby || n.meaning == Meaning::post) return evaluate_delay(n, where);
  const auto y = [&](ValueId v) { return yes_[v.index]; };
  const auto o = [&](ValueId v) { return no_[v.index]; };
  Cycles yes = 0, no = 0;
  switch (n.meaning) {
    case Meaning::negation:
      yes = o(n.a), no = y(n.a);
      break;
    case Meaning::both:
      yes = y(n.a) & y(n.b), no = o(n.a) | o(n.b);
      break;
    case Meaning::either:
      yes = y(n.a) | y(n.b), no = o(n.a) & o(n.b);
      break;
    case Meaning::equal:
      yes = (y(n.a) & y(n.b)) | (o(n.a) & o(n.b)), no = (y(n.a) & o(n.b)) | (o(n.a) & y(n.b));
      break;
    case Meaning::unequal:
      no = (y(n.a) & y(n.b)) | (o(n.a) & o(n.b)), yes = (y(n.a) & o(n.b)) | (o(n.a) & y(n.b));
      break;
    case Meaning::sample:
      yes = y(n.a), no = o(n.a);
      break;
    default:  // the last remaining kind is a merge
      yes = (y(n.a) & y(n.b)) | (o(n.a) & y(n.c)), no = (y(n.a) & o(n.b)) | (o(n.a) & o(n.c));
  }
  yes_[n.index] |= yes & where;
  no_[n.index] |= no & where;
}

void BooleanWorld::evaluate_delay(const BooleanOrder::Node& n, Cycles where) {
  const ClockId clock = core_.values[n.index].clock;
  for_each_cycle(where & ~(yes_[n.index] | no_[n.index]), [&](int t) {
    const bool ahead = n.meaning == BooleanOrder::Meaning::post;
    const Neighbour other = ahead ? after(clock, t) : before(clock, t);
    if (other.kind == Neighbour::unknown || (ahead && other.kind == Neighbour::none)) return;
    const bool first = other.kind == Neighbour::none;
    const ValueId from = ahead || first ? n.a : n.b;
    const Cycles at = Cycles{1} << (first ? t : other.cycle);
    const Cycles bit = Cycles{1} << t;
    if ((yes_[from.index] & at) != 0) yes_[n.index] |= bit;
    if ((no_[from.index] & at) != 0) no_[n.index] |= bit;
  });
}

std::uint64_t BooleanWorld::known() const {
  std::uint64_t count = 0;
  for (const BooleanOrder::Node& n : order_.nodes())
    count += static_cast<std::uint64_t>(n.meaning == BooleanOrder::Meaning::clock
                                            ? std::popcount(present_[n.index] | absent_[n.index])
                                            : std::popcount(yes_[n.index] | no_[n.index]));
  return count;
}

void BooleanWorld::look_ahead() {
  constexpr int sweeps = 3;
  std::uint64_t before = known();
  for (int k = 0; k < sweeps; ++k) {
    for (int t = cycles_in_a_world; t-- > 0;) evaluate(Cycles{1} << t);
    for (int t = 0; t < cycles_in_a_world; ++t) evaluate(Cycles{1} << t);
    const std::uint64_t now = known();
    if (now == before) return;
    before = now;
  }
}

Neighbour BooleanWorld::before(ClockId c, int cycle) const {
  const Cycles earlier = (Cycles{1} << cycle) - 1, there = present(c) & earlier;
  if (there == 0) return {(absent(c) & earlier) == earlier ? Neighbour::none : Neighbour::unknown, 0};
  const int last = cycles_in_a_world - 1 - std::countl_zero(there);
  const Cycles between = earlier & ~((Cycles{2} << last) - 1);
  return {(absent(c) & between) == between ? Neighbour::at : Neighbour::unknown, last};
}

Neighbour BooleanWorld::after(ClockId c, int cycle) const {
  const Cycles later = cycle + 1 == cycles_in_a_world ? 0 : every_cycle << (cycle + 1), there = present(c) & later;
  if (there == 0) return {(absent(c) & later) == later ? Neighbour::none : Neighbour::unknown, 0};
  const int first = std::countr_zero(there);
  const Cycles between = later & ((Cycles{1} << first) - 1);
  return {(absent(c) & between) == between ? Neighbour::at : Neighbour::unknown, first};
}

}  // namespace rml

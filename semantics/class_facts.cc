// What is known of a condition at the first, interior, last or single instant of a segment.
//
// At last and single instants the cut and its side conditions hold; at first and interior
// ones the cut does not, nor what holds only where the cut does. One instant before a first or single instant the cut
// held, or there was none; one instant before an interior or last one it did not hold. Everything else follows through
// not, and, or, when, merge, fby and post.
#include "semantics/segment.h"

#include <algorithm>

#include "semantics/queries.h"

namespace rml {

namespace {

std::uint64_t key_of(ValueId v, std::uint8_t c) { return (std::uint64_t{v.index} << 4) | c; }

}  // namespace

ClassFacts::ClassFacts(const DependenceGraph& graph, ClockId clock, Literal cut, std::vector<Literal> sides,
                       std::vector<Literal> only_at_cut)
    : graph_(graph), clock_(clock) {
  const std::vector<Literal> present = graph.presence(graph.core()[cut.condition].clock);
  for (Literal p : present) graph.add(ends_, p);
  graph.add(ends_, cut);
  for (Literal s : sides) suppose(ends_, s, present);
  const std::vector<Literal> always = graph.presence(clock);
  suppose(others_, {cut.condition, !cut.positive}, always);
  for (Literal o : only_at_cut) suppose(others_, {o.condition, !o.positive}, always);
  for (Literal p : present) graph.add(cut_present_, p);
  others_with_cut_ = others_;
  for (Literal p : present) graph.add(others_with_cut_, p);
  graph.add(others_with_cut_, {cut.condition, !cut.positive});
}

// The literal holds, unless its condition is absent. What follows from it follows only where the
// condition is present: where the literals of its clock are among those given.
void ClassFacts::suppose(Guard& g, Literal l, const std::vector<Literal>& given) const {
  const std::vector<Literal> presence = graph_.presence(graph_.core()[l.condition].clock);
  const bool certain =
      std::ranges::all_of(presence, [&](Literal p) { return std::ranges::find(given, p) != given.end(); });
  if (certain) return graph_.add(g, l);
  const auto at = std::ranges::lower_bound(g.literals, l);
  if (at == g.literals.end() || *at != l) g.literals.insert(at, l);
}

Truth ClassFacts::joined(ValueId v, std::uint8_t a, std::uint8_t b) const { return join(at(v, a), at(v, b)); }

// What is found so far, for the question that is being answered.
Truth ClassFacts::at(ValueId v, std::uint8_t c) const {
  const auto [known, fresh] = known_.try_emplace(key_of(v, c), Known{Truth::unseen, {}});
  if (fresh) {
    work_.push_back(key_of(v, c));
    asked_.push_back(key_of(v, c));
  }
  auto& users = known->second.users;
  if (users.empty() || users.back() != asking_) users.push_back(asking_);
  return known->second.truth;
}

Truth ClassFacts::truth(ValueId v, std::uint8_t c) const {
  const std::uint64_t key = key_of(v, c);
  if (const auto known = known_.find(key); known != known_.end()) return known->second.truth;
  known_.try_emplace(key, Known{Truth::unseen, {}});
  work_.assign(1, key);
  asked_.assign(1, key);
  settle();
  // What is never computed settles nothing.
  for (std::size_t k = 0; k < asked_.size(); ++k)
    if (known_.at(asked_[k]).truth == Truth::unseen) set(asked_[k], Truth::varies);
  settle();
  return known_.at(key).truth;
}

void ClassFacts::settle() const {
  while (!work_.empty()) {
    asking_ = work_.back();
    work_.pop_back();
    const Truth before = known_.at(asking_).truth;
    if (before == Truth::varies) continue;
    if (const Truth t = find_truth(ValueId{asking_ >> 4}, asking_ & 15); t != before) set(asking_, t);
  }
}

void ClassFacts::set(std::uint64_t key, Truth truth) const {
  Known& known = known_.at(key);
  known.truth = truth;
  work_.insert(work_.end(), known.users.begin(), known.users.end());
}

Truth ClassFacts::find_truth(ValueId v, std::uint8_t c) const {
  static const OperatorId op_and = operators().require("logical_and");
  static const OperatorId op_or = operators().require("logical_or");
  const Core& core = graph_.core();
  if (const auto truth = constant_truth(core, v)) return truth_of(*truth);
  const Literal l = graph_.strip({v, true});
  const bool ends = c == last_instant || c == single_instant;
  const Guard& given = ends ? ends_ : others_;
  for (const bool truth : {true, false})
    if (given.contains({v, truth})) return truth_of(truth);
  Truth t = Truth::varies;
  for (const bool truth : {true, false})
    if (given.contains({l.condition, truth})) t = truth_of(truth);
  const auto& rhs = core[l.condition].rhs;
  if (is_known(t)) {
  } else if (const auto truth = constant_truth(core, l.condition)) {
    t = truth_of(*truth);
  } else if (const auto* a = apply_of(core, l.condition); a != nullptr && (a->op == op_and || a->op == op_or)) {
    t = connective(at(a->operands[0], c), at(a->operands[1], c), truth_of(a->op == op_or));
  } else if (const auto* m = std::get_if<core::Merge>(&rhs)) {
    t = choice(at(m->condition, c), at(m->on_true, c), at(m->on_false, c));
  } else if (core[l.condition].clock != clock_) {
    t = Truth::varies;  // fby and post count other instants
  } else if (const auto* f = std::get_if<core::Fby>(&rhs)) {
    const bool leads = c == first_instant || c == single_instant;
    if (is_start(graph_.core(), l.condition)) {
      t = leads ? Truth::varies : Truth::no;
    } else if (!leads) {
      t = joined(f->next, first_instant, interior_instant);
    } else if (core.is_const(f->init)) {
      t = join(at(f->init, c), joined(f->next, last_instant, single_instant));
    }
  } else if (const auto* p = std::get_if<core::Post>(&rhs)) {
    t = ends ? joined(p->operand, first_instant, single_instant) : joined(p->operand, interior_instant, last_instant);
  }
  return l.positive ? t : negated(t);
}

bool ClassFacts::possible(const Guard& g, std::uint8_t c) const {
  if (g.never) return false;
  const bool ends = c == last_instant || c == single_instant;
  if (!ends && std::ranges::includes(g.literals, cut_present_.literals))
    for (const Literal& l : g.literals)
      if (others_with_cut_.contains({l.condition, !l.positive})) return false;
  for (const Literal& l : g.literals) {
    if (truth(l.condition, c) == truth_of(!l.positive)) return false;
  }
  return true;
}

}  // namespace rml

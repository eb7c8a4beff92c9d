// A work list: each question is answered from the answers so far, and again when one of them
// changes. An answer changes only from unseen to yes or no, and from there to varies, so the work
// list terminates.
#include "semantics/time/class_facts.h"

#include <algorithm>

#include "semantics/core/queries.h"

namespace rml {

ClassFacts::ClassFacts(const DependenceGraph& graph, ClockId clock, Literal cut,
                       const std::vector<Literal>& only_at_cut)
    : graph_(graph), clock_(clock) {
  const std::vector<Literal> present = graph.presence(graph.core()[cut.condition].clock);
  for (Literal p : present) graph.add(ends_, p);
  graph.add(ends_, cut);
  const std::vector<Literal> always = graph.presence(clock);
  suppose(others_, {cut.condition, !cut.positive}, always);
  broken_ = others_;
  for (Literal o : only_at_cut) suppose(others_, {o.condition, !o.positive}, always);
  for (Literal p : present) graph.add(cut_present_, p);
  others_with_cut_ = others_;
  for (Literal p : present) graph.add(others_with_cut_, p);
  graph.add(others_with_cut_, {cut.condition, !cut.positive});
  find_later();
}

// Facts from posts that count the instants of segments.
void ClassFacts::find_later() {
  const Core& core = graph_.core();
  for (const Literal& l : others_.literals) {
    const Literal plain = graph_.strip(l);
    const auto* p = std::get_if<core::Post>(&core[plain.condition].rhs);
    if (p != nullptr && core[plain.condition].clock == clock_) graph_.add(later_, {p->operand, plain.positive});
  }
}

// Adds a literal that holds unless its condition is absent. Its consequences are added only if
// the condition is surely present: if `given` has all literals of its clock.
void ClassFacts::suppose(Guard& g, Literal l, const std::vector<Literal>& given) const {
  const std::vector<Literal> presence = graph_.presence(graph_.core()[l.condition].clock);
  const bool certain =
      std::ranges::all_of(presence, [&](Literal p) { return std::ranges::find(given, p) != given.end(); });
  if (certain) return graph_.add(g, l);
  const auto at = std::ranges::lower_bound(g.literals, l);
  if (at == g.literals.end() || *at != l) g.literals.insert(at, l);
}

Truth ClassFacts::at(ValueId v, std::uint8_t c) {
  const Question asked = question(v, c);
  const auto [known, fresh] = known_.try_emplace(asked);
  if (fresh) {
    open_.push_back(asked);
    asked_.push_back(asked);
  }
  auto& users = known->second.users;
  if (users.empty() || users.back() != answering_) users.push_back(answering_);
  return known->second.truth;
}

Truth ClassFacts::joined(ValueId v, std::uint8_t a, std::uint8_t b) {
  const Truth first = at(v, a);
  return join(first, at(v, b));
}

Truth ClassFacts::truth(ValueId v, std::uint8_t c) {
  const Question asked = question(v, c);
  if (const auto known = known_.find(asked); known != known_.end()) return known->second.truth;
  known_.try_emplace(asked);
  open_.assign(1, asked);
  asked_.assign(1, asked);
  answer_open();
  // A question that is still unseen depends only on itself, so its truth varies.
  for (std::size_t k = 0; k < asked_.size(); ++k)
    if (known_.at(asked_[k]).truth == Truth::unseen) set(asked_[k], Truth::varies);
  answer_open();
  return known_.at(asked).truth;
}

void ClassFacts::answer_open() {
  while (!open_.empty()) {
    answering_ = open_.back();
    open_.pop_back();
    const Truth before = known_.at(answering_).truth;
    if (before == Truth::varies) continue;
    const Truth found = find_truth(ValueId{answering_ >> 6}, answering_ & 63);
    if (found != before) set(answering_, found);
  }
}

void ClassFacts::set(Question of, Truth truth) {
  Known& known = known_.at(of);
  known.truth = truth;
  open_.insert(open_.end(), known.users.begin(), known.users.end());
}

// The truth that the guard states for the value, or for its condition without negations and
// samplings.
Truth ClassFacts::said_by(const Guard& g, ValueId v) const {
  const Literal l = graph_.strip({v, true});
  for (const bool truth : {true, false}) {
    if (g.contains({v, truth})) return truth_of(truth);
    if (g.contains({l.condition, truth == l.positive})) return truth_of(truth);
  }
  return Truth::varies;
}

// The given literals take precedence over the value's equation.
Truth ClassFacts::find_truth(ValueId v, std::uint8_t c) {
  if (const auto truth = constant_truth(graph_.core(), v)) return truth_of(*truth);
  const Guard& given = c == last_instant || c == single_instant ? ends_ : c > any_instant ? broken_ : others_;
  const bool begins = c == first_instant || c == single_instant || c == broken_first;
  if (const Truth found = said_by(given, v); found != Truth::varies) return found;
  if (const Truth found = begins ? Truth::varies : said_by(later_, v); found != Truth::varies) return found;
  const Literal l = graph_.strip({v, true});
  const Truth found = follow(l, c);
  return l.positive ? found : negated(found);
}

// The truth of the condition according to its equation.
Truth ClassFacts::follow(Literal l, std::uint8_t c) {
  static const OperatorId op_and = operators().require("logical_and");
  static const OperatorId op_or = operators().require("logical_or");
  const Core& core = graph_.core();
  const core::Rhs& rhs = core[l.condition].rhs;
  if (const auto truth = constant_truth(core, l.condition)) return truth_of(*truth);
  if (const auto* a = apply_of(core, l.condition); a != nullptr && (a->op == op_and || a->op == op_or)) {
    const Truth first = at(a->operands[0], c), second = at(a->operands[1], c);
    return connective(first, second, truth_of(a->op == op_or));
  }
  if (const auto* m = std::get_if<core::Merge>(&rhs)) {
    const Truth condition = at(m->condition, c), on_true = at(m->on_true, c), on_false = at(m->on_false, c);
    return choice(condition, on_true, on_false);
  }
  // Fby and post on another clock count other instants, so nothing is known.
  if (core[l.condition].clock != clock_) return Truth::varies;
  if (const auto* f = std::get_if<core::Fby>(&rhs)) {
    const bool leads = c == first_instant || c == single_instant || c == broken_first;
    if (is_start(core, l.condition)) return leads ? Truth::varies : Truth::no;
    if (!leads) return joined(f->next, first_instant, interior_instant);
    if (!core.is_const(f->init)) return Truth::varies;
    const Truth init = at(f->init, c);
    return join(init, joined(f->next, last_instant, single_instant));
  }
  if (const auto* p = std::get_if<core::Post>(&rhs)) {
    const bool ends = c == last_instant || c == single_instant;
    if (c > any_instant) return Truth::varies;  // no next instant exists, because the run fails here
    return ends ? joined(p->operand, first_instant, single_instant)
                : joined(p->operand, interior_instant, last_instant);
  }
  return Truth::varies;
}

bool ClassFacts::possible(const Guard& g, std::uint8_t c) {
  if (g.never) return false;
  const bool ends = c == last_instant || c == single_instant;
  if (!ends && c <= any_instant && std::ranges::includes(g.literals, cut_present_.literals))
    for (const Literal& l : g.literals)
      if (others_with_cut_.contains({l.condition, !l.positive})) return false;
  for (const Literal& l : g.literals) {
    if (truth(l.condition, c) == truth_of(!l.positive)) return false;
  }
  return true;
}

}  // namespace rml

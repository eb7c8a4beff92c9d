// What is known of a condition at the first, interior, last or single instant of a segment.
//
// At last and single instants the cut and its side conditions hold; at first and interior
// ones the cut does not, nor what holds only where the cut does. One instant before a first or single instant the cut
// held, or there was none; one instant before an interior or last one it did not hold. Everything else follows through
// not, and, or, when, merge, fby and post.
#include "semantics/segment.h"

namespace rml {

namespace {

int negated(int t) { return t < 0 ? t : 1 - t; }

}  // namespace

ClassFacts::ClassFacts(const DependenceGraph& graph, ClockId clock, Literal cut, std::vector<Literal> sides,
                       std::vector<Literal> only_at_cut)
    : graph_(graph), clock_(clock), cut_(graph.strip(cut)) {
  for (Literal s : sides) sides_.push_back(graph.strip(s));
  for (Literal o : only_at_cut) only_.push_back(graph.strip(o));
}

int ClassFacts::joined(ValueId v, std::uint8_t a, std::uint8_t b) const {
  const int x = truth(v, a);
  return x >= 0 && x == truth(v, b) ? x : -1;
}

int ClassFacts::truth(ValueId v, std::uint8_t c) const {
  const std::uint64_t key = (std::uint64_t{v.index} << 4) | c;
  const auto [at, fresh] = known_.try_emplace(key, -1);
  if (!fresh) return at->second;
  const int t = find_truth(v, c);
  known_[key] = t;
  return t;
}

int ClassFacts::find_truth(ValueId v, std::uint8_t c) const {
  static const OperatorId op_and = operators().require("logical_and");
  static const OperatorId op_or = operators().require("logical_or");
  const Core& core = graph_.core();
  if (const auto* k = std::get_if<core::Const>(&core[v].rhs)) return k->value.truth() ? 1 : 0;
  const Literal l = graph_.strip({v, true});
  const bool ends = c == last_instant || c == single_instant;
  int t = -1;
  if (l.condition == cut_.condition) t = ends == cut_.positive ? 1 : 0;
  for (const Literal& s : sides_)
    if (ends && s.condition == l.condition) t = s.positive ? 1 : 0;
  for (const Literal& o : only_)
    if (!ends && o.condition == l.condition) t = o.positive ? 0 : 1;
  const auto& rhs = core[l.condition].rhs;
  if (t >= 0) {
  } else if (const auto* k = std::get_if<core::Const>(&rhs)) {
    t = k->value.truth() ? 1 : 0;
  } else if (const auto* a = std::get_if<core::Apply>(&rhs); a != nullptr && (a->op == op_and || a->op == op_or)) {
    const int x = truth(a->operands[0], c);
    const int y = truth(a->operands[1], c);
    const int deciding = a->op == op_and ? 0 : 1;
    t = x == deciding || y == deciding ? deciding : x >= 0 && y >= 0 ? 1 - deciding : -1;
  } else if (const auto* m = std::get_if<core::Merge>(&rhs)) {
    const int w = truth(m->condition, c);
    const int y = truth(m->on_true, c);
    const int z = truth(m->on_false, c);
    t = w == 1 ? y : w == 0 ? z : y == z ? y : -1;
  } else if (core[l.condition].clock != clock_) {
    t = -1;  // fby and post count other instants
  } else if (const auto* f = std::get_if<core::Fby>(&rhs)) {
    const bool leads = c == first_instant || c == single_instant;
    if (graph_.is_start(l.condition)) {
      t = leads ? -1 : 0;
    } else if (!leads) {
      t = joined(f->next, first_instant, interior_instant);
    } else if (core.is_const(f->init)) {
      const int at_start = truth(f->init, c);
      t = at_start == joined(f->next, last_instant, single_instant) ? at_start : -1;
    }
  } else if (const auto* p = std::get_if<core::Post>(&rhs)) {
    t = ends ? joined(p->operand, first_instant, single_instant) : joined(p->operand, interior_instant, last_instant);
  }
  return l.positive ? t : negated(t);
}

bool ClassFacts::possible(const Guard& g, std::uint8_t c) const {
  if (g.never) return false;
  for (const Literal& l : g.literals) {
    const int t = truth(l.condition, c);
    if (t >= 0 && (t == 1) != l.positive) return false;
  }
  return true;
}

}  // namespace rml

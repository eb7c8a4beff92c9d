// For each stream, keeps only the edges without a condition or with a condition of this stream.
// In a strongly connected part of these edges, a closed path of weight 0 exists if there is a
// cycle of weight <= 0 and a cycle of weight >= 0: each is repeated as often as the weight of the
// other demands.
#include "semantics/core/knots.h"

#include <algorithm>
#include <map>
#include <set>

namespace rml {

namespace {

struct Edge {
  std::uint32_t from, to;
  std::int64_t weight;
  ValueId stream;  // stream of the condition; invalid if the edge has none
};

// The stream from which the condition derives by sampling, negation, delay or look-ahead.
ValueId stream_of(const DependenceGraph& graph, ValueId v) {
  const Core& core = graph.core();
  std::set<ValueId> met;
  for (;;) {
    v = graph.strip({v, true}).condition;
    if (!met.insert(v).second) return v;
    if (const auto* f = std::get_if<core::Fby>(&core[v].rhs); f != nullptr && core.is_const(f->init))
      v = f->next;
    else if (const auto* p = std::get_if<core::Post>(&core[v].rhs))
      v = p->operand;
    else
      return v;
  }
}

class Ways {
 public:
  Ways(const DependenceGraph& graph, const Component& component) : count_(component.values.size()) {
    for (std::uint32_t k = 0; k < count_; ++k)
      for (const Dependence& e : graph.of(component.values[k])) {
        const auto at = std::ranges::lower_bound(component.values, e.on);
        if (at == component.values.end() || *at != e.on) continue;
        if (graph.guard_of(component.values[k], e).never) continue;
        const ValueId stream = e.guarded ? stream_of(graph, e.guard.condition) : ValueId();
        edges_.push_back({k, static_cast<std::uint32_t>(at - component.values.begin()), e.weight, stream});
        if (stream.valid()) streams_.insert(stream);
      }
    if (streams_.empty()) streams_.insert(ValueId());
  }

  bool meet_themselves() {
    return std::ranges::any_of(streams_, [&](ValueId stream) {
      std::vector<Edge> followed;
      std::ranges::copy_if(edges_, std::back_inserter(followed),
                           [&](const Edge& e) { return !e.stream.valid() || e.stream == stream; });
      std::map<std::uint32_t, std::vector<Edge>> parts;
      const std::vector<std::uint32_t> part = components_of(followed);
      for (const Edge& e : followed)
        if (part[e.from] == part[e.to]) parts[part[e.from]].push_back(e);
      return std::ranges::any_of(parts, [&](const auto& p) { return cycles(p.second, 1) && cycles(p.second, -1); });
    });
  }

 private:
  std::vector<std::uint32_t> components_of(const std::vector<Edge>& edges) const {
    std::vector<std::vector<std::uint32_t>> next(count_);
    for (const Edge& e : edges) next[e.from].push_back(e.to);
    std::uint32_t found = 0;
    return strong_components(
        count_,
        [&](std::uint32_t v, auto&& f) {
          for (const std::uint32_t w : next[v]) f(w);
        },
        found);
  }

  // True if some cycle has weight <= 0, with all weights multiplied by the sign. Each weight is
  // reduced by a small amount, by less than 1 over all edges together; then the cycles of weight
  // <= 0 are the negative cycles, which Bellman-Ford finds.
  bool cycles(const std::vector<Edge>& edges, std::int64_t sign) const {
    const auto unit = static_cast<std::int64_t>(count_) + 1;
    std::map<std::uint32_t, std::int64_t> least;
    for (const Edge& e : edges) least[e.from] = 0, least[e.to] = 0;
    for (std::size_t round = 0; round <= least.size(); ++round) {
      bool changed = false;
      for (const Edge& e : edges)
        if (const std::int64_t by = least.at(e.from) + sign * e.weight * unit - 1; by < least.at(e.to)) {
          least[e.to] = by;
          changed = true;
        }
      if (!changed) return false;
    }
    return true;
  }

  std::size_t count_;
  std::vector<Edge> edges_;
  std::set<ValueId> streams_;
};

}  // namespace

bool meets_itself_by_one_stream(const DependenceGraph& graph, const Component& component) {
  return Ways(graph, component).meet_themselves();
}

}  // namespace rml

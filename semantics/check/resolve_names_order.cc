// One topological sort serves both graphs; they differ in the message for a cycle.
#include "semantics/check/resolve_names_order.h"

#include <algorithm>

namespace rml {

namespace {

// The vertices 0, 1, …, each after the vertices that it needs. `needs(v)` lists the needs of v.
// `ring` is called for each cycle, with its path: pairs of a vertex and the index of its need
// that continues the path.
template <class Needs, class Ring>
std::vector<std::size_t> needs_first(std::size_t count, const Needs& needs, const Ring& ring) {
  enum class Mark : std::uint8_t { unseen, open, done };
  std::vector<Mark> marks(count, Mark::unseen);
  std::vector<std::size_t> order;
  using Path = std::vector<std::pair<std::size_t, std::size_t>>;
  Path stack;  // the path of the search: each vertex with the number of its needs already visited
  const auto open = [&](std::size_t v) {
    marks[v] = Mark::open;
    stack.emplace_back(v, 0);
  };
  for (std::size_t root = 0; root < count; ++root) {
    if (marks[root] == Mark::unseen) open(root);
    while (!stack.empty()) {
      auto& [v, next] = stack.back();
      if (next == needs(v).size()) {
        marks[v] = Mark::done;
        order.push_back(v);
        stack.pop_back();
        continue;
      }
      const std::size_t need = needs(v)[next++];
      if (marks[need] == Mark::unseen) {
        open(need);
      } else if (marks[need] == Mark::open) {
        Path path(std::ranges::find(stack, need, &Path::value_type::first), stack.end());
        for (auto& step : path) --step.second;
        ring(path);
      }
    }
  }
  return order;
}

using Ring = std::vector<std::pair<std::size_t, std::size_t>>;

void report_recursion(const Program& program, const std::vector<std::vector<CallSite>>& calls, const Ring& ring,
                      Diagnostics& diagnostics) {
  const auto name = [&](std::size_t i) {
    return "`" + program.text(program.nodes[ring[i % ring.size()].first].name) + "`";
  };
  const auto span = [&](std::size_t i) { return calls[ring[i].first][ring[i].second].span; };
  const auto hop = [&](std::size_t i) { return name(i) + " calls " + name(i + 1) + " here"; };
  std::string names;
  for (std::size_t i = 0; i < ring.size(); ++i) names += name(i) + " calls ";
  Diagnostic& d = diagnostics.report(Code::E0206, span(0), "recursion between nodes: " + names + name(0), hop(0));
  for (std::size_t i = 1; i < ring.size(); ++i) d.label(span(i), hop(i));
  d.note(
      "a node is instantiated at each call, so the recursion would never end; to keep a value for the next cycle, use "
      "`fby`");
}

void report_ring(const Program& program, const Ring& ring, Diagnostics& diagnostics) {
  const ast::Const& item = program.consts[ring[0].first];
  Diagnostic& d = diagnostics.report(Code::E0208, item.name_span,
                                     "constant `" + program.text(item.name) + "` is defined in terms of itself",
                                     "needs its own value");
  for (std::size_t i = 1; i < ring.size(); ++i) {
    const ast::Const& hop = program.consts[ring[i].first];
    d.label(hop.name_span, "through `" + program.text(hop.name) + "`");
  }
}

template <class T, class Index>
std::vector<std::vector<std::size_t>> indices(const std::vector<std::vector<T>>& lists, const Index& index) {
  std::vector<std::vector<std::size_t>> result;
  for (const std::vector<T>& list : lists) {
    result.emplace_back();
    for (const T& x : list) result.back().push_back(index(x));
  }
  return result;
}

}  // namespace

void order_nodes(const Program& program, const std::vector<std::vector<CallSite>>& calls, Resolved& result,
                 Diagnostics& diagnostics) {
  const auto callees = indices(calls, [](const CallSite& c) { return std::size_t{c.callee.index}; });
  const auto order = needs_first(
      callees.size(), [&](std::size_t n) -> const auto& { return callees[n]; },
      [&](const Ring& ring) {
        for (const auto& [n, call] : ring) result.nodes[n].has_errors = true;
        report_recursion(program, calls, ring, diagnostics);
      });
  for (const std::size_t n : order) {
    ResolvedNode& node = result.nodes[result.order.emplace_back(n).index];
    for (const std::size_t callee : callees[n])
      node.lives_in_time = node.lives_in_time || result.nodes[callee].lives_in_time;
  }
}

void order_consts(const Program& program, const std::vector<std::vector<ConstId>>& uses, Resolved& result,
                  Diagnostics& diagnostics) {
  const auto used = indices(uses, [](ConstId c) { return std::size_t{c.index}; });
  const auto order = needs_first(
      used.size(), [&](std::size_t c) -> const auto& { return used[c]; },
      [&](const Ring& ring) {
        for (const auto& [c, use] : ring) result.const_errors[c] = true;
        report_ring(program, ring, diagnostics);
      });
  for (const std::size_t c : order) result.const_order.emplace_back(c);
}

}  // namespace rml

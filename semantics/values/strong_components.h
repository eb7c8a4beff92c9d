// Finds the strongly connected components of a graph with numbered vertices.
#pragma once

#include <cstdint>
#include <vector>

namespace rml {

// Tarjan's algorithm without recursion. `successors(v, f)` calls f(w) for every edge v -> w.
// Components are numbered successors first. Returns the component of each vertex, and their
// number in `found`.
template <class Successors>
std::vector<std::uint32_t> strong_components(std::size_t count, Successors&& successors, std::uint32_t& found) {
  constexpr std::uint32_t unseen = UINT32_MAX;
  std::vector<std::uint32_t> order(count, unseen), low(count), component(count, unseen);
  // The vertices on the path, each with the number of its successors still to visit; the last one
  // is current.
  struct Entered {
    std::uint32_t vertex;
    std::size_t pending;
  };
  std::vector<std::uint32_t> stack, pending;
  std::vector<Entered> path;
  std::uint32_t next = 0;
  found = 0;
  auto enter = [&](std::uint32_t v) {
    order[v] = low[v] = next++;
    stack.push_back(v);
    path.push_back({v, pending.size()});
    successors(v, [&](std::uint32_t w) { pending.push_back(w); });
  };
  for (std::uint32_t root = 0; root < count; ++root) {
    if (order[root] != unseen) continue;
    enter(root);
    while (!path.empty()) {
      const std::uint32_t v = path.back().vertex;
      if (pending.size() > path.back().pending) {
        const std::uint32_t w = pending.back();
        pending.pop_back();
        if (order[w] == unseen)
          enter(w);
        else if (component[w] == unseen && order[w] < low[v])
          low[v] = order[w];
        continue;
      }
      path.pop_back();
      if (!path.empty() && low[v] < low[path.back().vertex]) low[path.back().vertex] = low[v];
      if (low[v] == order[v]) {
        for (;;) {
          const std::uint32_t w = stack.back();
          stack.pop_back();
          component[w] = found;
          if (w == v) break;
        }
        ++found;
      }
    }
  }
  return component;
}

}  // namespace rml

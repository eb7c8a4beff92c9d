// Module scopes, and the orders of nodes and constants (part of resolve_names).
//
// A module sees its own items, those of the files it imports by path, and the prelude's
// (modules[1]); the nearer ones hide the farther. `import nn as n` gives the qualifier `n`.
// Orders are postorders of depth-first walks with an explicit stack, since call chains may
// be long; an edge back into the stack is recursion (E0206, E0208).
// Example: with `f` calling `g`, and `g` calling `h`, the order is h, g, f.
#include <algorithm>

#include "semantics/resolve_names_resolver.h"

namespace rml {

namespace {
constexpr ModuleId prelude{1};
enum class Mark : std::uint8_t { unseen, open, done };
}  // namespace

void NameResolver::build_scopes() {
  walk_ = Walk{};
  scopes_.resize(program_.modules.size());
  for (std::size_t m = 0; m < program_.modules.size(); ++m) declare_items(ModuleId{m});
  // Own names first, for all modules: what an import brings must not depend on the order.
  std::vector<ModuleScope> own = scopes_;
  for (std::size_t m = 0; m < program_.modules.size(); ++m) {
    for (const ast::Import& import : program_.modules[m].imports) {
      if (!import.module.valid()) continue;
      if (import.is_path) {
        import_items(ModuleId{m}, import);
      } else if (import.alias.valid() && !scopes_[m].qualifiers.emplace(import.alias.index, import.module).second) {
        report(Code::E0202, import.span, "two modules are imported as `" + text(import.alias) + "`", "again here");
      }
    }
    if (m == prelude.index || program_.modules.size() <= prelude.index) continue;
    const ModuleScope& common = own[prelude.index];
    scopes_[m].nodes.insert(common.nodes.begin(), common.nodes.end());
    scopes_[m].consts.insert(common.consts.begin(), common.consts.end());
  }
}

void NameResolver::declare_items(ModuleId m) {
  ModuleScope& scope = scopes_[m.index];
  for (NodeId n : program_.modules[m.index].nodes) {
    const ast::Node& node = program_.nodes[n.index];
    auto [it, fresh] = scope.nodes.emplace(node.name.index, n);
    const std::string& name = text(node.name);
    if (!fresh) {
      report(Code::E0202, node.name_span, "node `" + name + "` is defined twice", "defined again here")
          .label(program_.nodes[it->second.index].name_span, "first defined here");
    } else if (m != prelude && (operators().find(name) || name == "param" || name == "stop_gradient")) {
      report(Code::W0202, node.name_span, "node `" + name + "` hides the operator of the same name",
             "calls of `" + name + "` mean this node");
    }
  }
  for (ConstId c : program_.modules[m.index].consts) {
    const ast::Const& constant = program_.consts[c.index];
    auto [it, fresh] = scope.consts.emplace(constant.name.index, c);
    if (!fresh)
      report(Code::E0202, constant.name_span, "constant `" + text(constant.name) + "` is defined twice",
             "defined again here")
          .label(program_.consts[it->second.index].name_span, "first defined here");
  }
}

// Enters the items of a file imported by path; the importing module's own items hide them,
// two imports that bring different items of one name are an error.
void NameResolver::import_items(ModuleId m, const ast::Import& import) {
  ModuleScope& scope = scopes_[m.index];
  const ast::Module& from = program_.modules[import.module.index];
  auto clash = [&](Symbol name, Span here, Span there) {
    report(Code::E0202, import.span, "`" + text(name) + "` is defined by two imported files", "imported here")
        .label(there, "defined here")
        .label(here, "and here");
  };
  for (NodeId n : from.nodes) {
    const ast::Node& node = program_.nodes[n.index];
    auto [it, fresh] = scope.nodes.emplace(node.name.index, n);
    const ast::Node& other = program_.nodes[it->second.index];
    if (!fresh && it->second != n && other.module != m && other.module != node.module)
      clash(node.name, node.name_span, other.name_span);
  }
  for (ConstId c : from.consts) {
    const ast::Const& constant = program_.consts[c.index];
    auto [it, fresh] = scope.consts.emplace(constant.name.index, c);
    const ast::Const& other = program_.consts[it->second.index];
    if (!fresh && it->second != c && other.module != m && other.module != constant.module)
      clash(constant.name, constant.name_span, other.name_span);
  }
}

bool NameResolver::item_named(Symbol name, NodeId& node) const {
  if (!walk_.module.valid()) return false;
  const auto& nodes = scopes_[walk_.module.index].nodes;
  auto it = nodes.find(name.index);
  if (it == nodes.end()) return false;
  node = it->second;
  return true;
}

bool NameResolver::const_named(Symbol name, ConstId& constant) const {
  if (!walk_.module.valid()) return false;
  const auto& consts = scopes_[walk_.module.index].consts;
  auto it = consts.find(name.index);
  if (it == consts.end()) return false;
  constant = it->second;
  return true;
}

void NameResolver::report_recursion(const std::vector<NodeId>& chain, const std::vector<Span>& calls) {
  std::string names;
  for (NodeId n : chain) {
    result_.nodes[n.index].has_errors = true;
    names += "`" + text(program_.nodes[n.index].name) + "` calls ";
  }
  names += "`" + text(program_.nodes[chain[0].index].name) + "`";
  walk_ = Walk{};
  auto hop = [&](std::size_t i) {
    return "`" + text(program_.nodes[chain[i].index].name) + "` calls `" +
           text(program_.nodes[chain[(i + 1) % chain.size()].index].name) + "` here";
  };
  Diagnostic& d = report(Code::E0206, calls[0], "recursion between nodes: " + names, hop(0));
  for (std::size_t i = 1; i < chain.size(); ++i) d.label(calls[i], hop(i));
  d.note("a node is instantiated at each call, so recursion would never end; state goes through `fby`");
}

void NameResolver::order_nodes() {
  std::vector<Mark> marks(program_.nodes.size(), Mark::unseen);
  struct Frame {
    NodeId node;
    std::size_t next = 0;
  };
  std::vector<Frame> stack;
  for (std::size_t root = 0; root < program_.nodes.size(); ++root) {
    if (marks[root] != Mark::unseen) continue;
    stack.push_back({NodeId{root}});
    marks[root] = Mark::open;
    while (!stack.empty()) {
      Frame& top = stack.back();
      if (top.next == calls_[top.node.index].size()) {
        marks[top.node.index] = Mark::done;
        result_.order.push_back(top.node);
        stack.pop_back();
        continue;
      }
      NodeId callee = calls_[top.node.index][top.next++].callee;
      if (marks[callee.index] == Mark::unseen) {
        marks[callee.index] = Mark::open;
        stack.push_back({callee});
      } else if (marks[callee.index] == Mark::open) {
        auto first = std::find_if(stack.begin(), stack.end(), [&](const Frame& f) { return f.node == callee; });
        std::vector<NodeId> chain;
        std::vector<Span> calls;
        for (auto f = first; f != stack.end(); ++f) {
          chain.push_back(f->node);
          calls.push_back(calls_[f->node.index][f->next - 1].span);
        }
        report_recursion(chain, calls);
      }
    }
  }
}

void NameResolver::order_consts() {
  std::vector<Mark> marks(program_.consts.size(), Mark::unseen);
  struct Frame {
    ConstId constant;
    std::size_t next = 0;
  };
  std::vector<Frame> stack;
  for (std::size_t root = 0; root < program_.consts.size(); ++root) {
    if (marks[root] != Mark::unseen) continue;
    stack.push_back({ConstId{root}});
    marks[root] = Mark::open;
    while (!stack.empty()) {
      Frame& top = stack.back();
      if (top.next == uses_[top.constant.index].size()) {
        marks[top.constant.index] = Mark::done;
        result_.const_order.push_back(top.constant);
        stack.pop_back();
        continue;
      }
      ConstId used = uses_[top.constant.index][top.next++];
      if (marks[used.index] == Mark::unseen) {
        marks[used.index] = Mark::open;
        stack.push_back({used});
      } else if (marks[used.index] == Mark::open) {
        auto first = std::find_if(stack.begin(), stack.end(), [&](const Frame& f) { return f.constant == used; });
        const ast::Const& item = program_.consts[used.index];
        walk_ = Walk{};
        Diagnostic& d = report(Code::E0208, item.name_span, "constant `" + text(item.name) + "` is defined by itself",
                               "needs its own value");
        for (auto f = first; f != stack.end(); ++f) {
          const ast::Const& hop = program_.consts[f->constant.index];
          result_.const_errors[f->constant.index] = true;
          if (f->constant != used) d.label(hop.name_span, "through `" + text(hop.name) + "`");
        }
      }
    }
  }
}

}  // namespace rml

// Values of one instance lie in one cluster; clusters nest as instances do. Constants are
// written into the boxes that use them rather than drawn.
#include "driver/draw_graph.h"

#include <map>

namespace rml {
namespace {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n') {
      result += "\\n";
    } else {
      result += c;
    }
  }
  return result + "\"";
}

struct Title {
  std::string operator()(const core::Const&) const { return "const"; }
  std::string operator()(const core::Input&) const { return "input"; }
  std::string operator()(const core::Apply& a) const { return std::string(operators()[a.op].name); }
  std::string operator()(const core::Call& c) const { return core.externals[c.external].symbol; }
  std::string operator()(const core::Result& r) const { return "result " + std::to_string(r.output); }
  std::string operator()(const core::When& w) const { return w.positive ? "when" : "when not"; }
  std::string operator()(const core::Merge&) const { return "merge"; }
  std::string operator()(const core::Fby&) const { return "fby"; }
  std::string operator()(const core::Post&) const { return "post"; }
  const Core& core;
};

class Graph {
 public:
  explicit Graph(const Core& core) : core_(core) {}

  std::string text() {
    for (std::size_t i = 0; i < core_.values.size(); ++i) {
      if (!core_.is_const(ValueId{i})) members_[core_.values[i].instance].push_back(ValueId{i});
    }
    for (std::size_t i = 0; i < core_.instances.size(); ++i)
      children_[core_.instances[i].parent].push_back(InstanceId{i});
    out_ = "digraph " + quoted(core_.entry) + " {\n  rankdir=TB;\n  node [shape=box, fontname=\"monospace\"];\n";
    for (const ValueId v : members_[InstanceId{}]) vertex(v);
    for (const InstanceId i : children_[InstanceId{}]) frame(i, false);
    for (const auto& [instance, values] : members_) {
      for (const ValueId v : values) edges(v);
    }
    for (const Port& p : core_.outputs) {
      out_ += "  " + quoted("out_" + p.name) + " [shape=ellipse, label=" + quoted(p.name) + "];\n";
      out_ += "  v" + std::to_string(p.value.index) + " -> " + quoted("out_" + p.name) + ";\n";
      if (core_.is_const(p.value)) vertex(p.value);
    }
    return out_ + "}\n";
  }

 private:
  void frame(InstanceId i, bool drawn) {
    const Instance& instance = core_.instances[i.index];
    if (drawn) {
      out_ += "  subgraph cluster_" + std::to_string(i.index) + " {\n  label=" + quoted(instance.path) + ";\n";
    }
    for (const ValueId v : members_[i]) vertex(v);
    for (const InstanceId child : children_[i]) frame(child, true);
    if (drawn) out_ += "  }\n";
  }

  void vertex(ValueId v) {
    const Value& value = core_[v];
    std::string label = value.name.empty() ? "" : value.name + " = ";
    label += std::visit(Title{core_}, value.rhs);
    for_each_operand(value.rhs, [&](ValueId operand) {
      if (const auto* c = std::get_if<core::Const>(&core_[operand].rhs))
        label += c->value.elements() <= 4 ? " " + to_string(c->value) : " const";
    });
    label += "\n" + type_string(value.dtype, value.shape) + " :: " + clock_string(core_, value.clock);
    const bool input = std::holds_alternative<core::Input>(value.rhs);
    out_ += "  v" + std::to_string(v.index) + " [label=" + quoted(label) + (input ? ", shape=ellipse" : "") + "];\n";
  }

  void edges(ValueId v) {
    const Value& value = core_[v];
    const auto* fby = std::get_if<core::Fby>(&value.rhs);
    const bool post = std::holds_alternative<core::Post>(value.rhs);
    std::size_t position = 0;
    for_each_operand(value.rhs, [&](ValueId operand) {
      const bool previous = fby && position++ == 1;
      if (core_.is_const(operand)) return;
      out_ += "  v" + std::to_string(operand.index) + " -> v" + std::to_string(v.index);
      if (previous) out_ += " [style=dashed, label=\"previous\"]";
      if (post) out_ += " [style=dashed, label=\"next\"]";
      out_ += ";\n";
    });
  }

  const Core& core_;
  std::map<InstanceId, std::vector<ValueId>> members_;
  std::map<InstanceId, std::vector<InstanceId>> children_;
  std::string out_;
};

}  // namespace

std::string graph_text(const Core& core) { return Graph(core).text(); }

}  // namespace rml

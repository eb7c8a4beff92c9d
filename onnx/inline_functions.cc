// A model's own functions replaced by their bodies.
//
// Values of a body get names of the call, `CALL/NAME`; attributes of the call, else the function's
// defaults, take the place of references to them. Calls within bodies are replaced in turn; a
// function that calls itself is refused, and so is a model that grows beyond all measure.
#include <algorithm>
#include <set>

#include "onnx/import.h"

namespace rml::onnx {

namespace {

constexpr std::size_t most_nodes = 1'000'000, deepest_call = 100;

using Names = std::map<std::string, std::string>;

class Inliner {
 public:
  explicit Inliner(const Model& model) : model_(model) {}

  Graph graph(const Graph& from, const Names& names, const std::vector<Attribute>* given, const std::string& prefix) {
    Graph to = from;
    to.nodes.clear();
    Names inner = names;  // what the graph defines itself keeps its name
    for (const ValueInfo& v : from.inputs) inner.erase(v.name);
    for (const Initializer& t : from.initializers) inner.erase(t.name);
    for (const Node& n : from.nodes)
      for (const std::string& output : n.outputs) inner.erase(output);
    for (const Node& n : from.nodes) add(n, inner, given, prefix, to.nodes);
    for (ValueInfo& v : to.outputs)
      if (const auto at = inner.find(v.name); at != inner.end()) v.name = at->second;
    return to;
  }

 private:
  const Function* function(const Node& n) const {
    for (const Function& f : model_.functions)
      if (f.domain == n.domain && f.name == n.op && f.overload == n.overload) return &f;
    return nullptr;
  }

  static std::string renamed(const Names& names, const std::string& name) {
    const auto at = names.find(name);
    return at == names.end() ? name : at->second;
  }

  // The node with a body's names and the call's attributes.
  Node resolved(const Node& from, const Names& names, const std::vector<Attribute>* given, const std::string& prefix) {
    Node to = from;
    for (std::string& input : to.inputs) input = renamed(names, input);
    for (std::string& output : to.outputs) output = renamed(names, output);
    to.attributes.clear();
    for (const Attribute& a : from.attributes) {
      Attribute own = a;
      if (!a.reference.empty()) {
        if (given == nullptr)
          throw ModelError{describe(from, 0), "attribute '" + a.name + "' refers to one of a function"};
        const auto at = std::ranges::find(*given, a.reference, &Attribute::name);
        if (at == given->end()) continue;
        own = {a.name, "", at->value};
      }
      if (const auto* body = std::get_if<std::shared_ptr<const Graph>>(&own.value))
        own.value = std::make_shared<const Graph>(graph(**body, names, given, prefix));
      to.attributes.push_back(std::move(own));
    }
    return to;
  }

  void add(const Node& from, const Names& names, const std::vector<Attribute>* given, const std::string& prefix,
           std::vector<Node>& to) {
    Node node = resolved(from, names, given, prefix);
    const Function* f = function(node);
    if (f == nullptr) {
      if (++count_ > most_nodes) throw ModelError{"", "over a million nodes once its functions are in their places"};
      to.push_back(std::move(node));
      return;
    }
    if (std::ranges::find(calls_, f) != calls_.end() || calls_.size() >= deepest_call)
      throw ModelError{"function '" + f->name + "'", "it calls itself"};
    const std::string place = "a call of function '" + f->name + "'";
    if (node.inputs.size() > f->inputs.size()) throw ModelError{place, "it has too many inputs"};
    if (node.outputs.size() > f->outputs.size()) throw ModelError{place, "it has too many outputs"};
    for (const auto& [domain, version] : f->opsets) {
      const auto own = model_.opsets.find(domain);
      if (domain.empty() && own != model_.opsets.end() && own->second != version)
        throw ModelError{"function '" + f->name + "'", "it is of another version of the operator set than the model (" +
                                                           std::to_string(version) + " and " +
                                                           std::to_string(own->second) + "), which is not supported"};
    }
    const std::string inner_prefix =
        prefix + (node.name.empty() ? f->name + std::to_string(++calls_made_) : node.name) + "/";
    Names inner;
    for (std::size_t k = 0; k < f->inputs.size(); ++k)
      inner[f->inputs[k]] = k < node.inputs.size() ? node.inputs[k] : "";
    for (const Node& n : f->nodes)
      for (const std::string& output : n.outputs)
        if (!output.empty() && !inner.contains(output)) inner[output] = inner_prefix + output;
    std::vector<std::pair<std::string, std::string>> copies;  // outputs that are inputs, or are named twice
    for (std::size_t k = 0; k < node.outputs.size(); ++k) {
      const std::string& formal = f->outputs[k];
      if (node.outputs[k].empty()) continue;
      const auto at = inner.find(formal);
      if (at != inner.end() && at->second == inner_prefix + formal)
        at->second = node.outputs[k];
      else
        copies.emplace_back(formal, node.outputs[k]);
    }
    std::vector<Attribute> values = node.attributes;
    for (const Attribute& a : f->with_default)
      if (std::ranges::find(values, a.name, &Attribute::name) == values.end()) values.push_back(a);
    calls_.push_back(f);
    for (const Node& n : f->nodes) add(n, inner, &values, inner_prefix, to);
    for (const auto& [formal, actual] : copies)
      to.push_back({"", "Identity", "", "", {renamed(inner, formal)}, {actual}, {}});
    calls_.pop_back();
  }

  const Model& model_;
  std::vector<const Function*> calls_;
  std::size_t count_ = 0, calls_made_ = 0;
};

}  // namespace

Graph inline_functions(const Model& model) { return Inliner(model).graph(model.graph, {}, nullptr, ""); }

}  // namespace rml::onnx

// What is wrong with a model before anything of it is written: all of it, in the order of its nodes.
//
// Every value has one definition and is defined before it is used (so there is no cycle), every
// operator is one that the importer has at the model's version, and every node fits its row.
#include <algorithm>
#include <set>

#include "onnx/call.h"
#include "onnx/import.h"

namespace rml::onnx {

namespace {

class Checker {
 public:
  explicit Checker(const Model& model) : model_(model) {}

  std::vector<ModelError> run() {
    versions(model_.opsets, "");
    for (const Function& f : model_.functions) {
      const std::string key = f.domain + "." + f.name + ":" + f.overload;
      if (!functions_.insert(key).second) fail("function '" + f.name + "'", "it is there twice");
    }
    for (const Function& f : model_.functions) function(f);
    interface(model_.graph);
    graph(model_.graph, {}, model_.opsets, "");
    return std::move(errors_);
  }

 private:
  void fail(const std::string& place, std::string message) { errors_.push_back({place, std::move(message)}); }

  void versions(const Opsets& opsets, const std::string& place) {
    const auto at = opsets.find("");
    if (at == opsets.end()) return;
    if (at->second < first_opset || at->second > last_opset)
      fail(place, "version " + std::to_string(at->second) + " of the operator set is not known: " +
                      std::to_string(first_opset) + " to " + std::to_string(last_opset) + " are");
  }

  // Of the outermost graph all types are said; before version 4 of the format initializers are inputs.
  void interface(const Graph& g) {
    const auto typed = [&](const ValueInfo& v, const char* what) {
      const std::string place = std::string(what) + " '" + v.name + "'";
      if (v.type.kind == "tensor" && v.type.element_type == 0)
        fail(place, "the model does not say its type");
      else if (v.type.kind == "tensor" && !v.type.shape)
        fail(place, "the model does not say its shape");
    };
    for (const ValueInfo& v : g.inputs) typed(v, "input");
    for (const ValueInfo& v : g.outputs) typed(v, "output");
    if (model_.ir_version > 3) return;
    for (const Initializer& t : g.initializers)
      if (std::ranges::find(g.inputs, t.name, &ValueInfo::name) == g.inputs.end())
        fail("initializer '" + t.name + "'", "it is no input of the graph, as models of this version must have it");
  }

  void define(std::set<std::string>& names, const std::string& name, const std::string& place) {
    if (!name.empty() && !names.insert(name).second) fail(place, "the value '" + name + "' is defined twice");
  }

  void function(const Function& f) {
    const std::string place = "function '" + f.name + "'";
    versions(f.opsets, place);
    std::set<std::string> names;
    for (const std::string& name : f.inputs) define(names, name, place);
    nodes(f.nodes, names, f.opsets, place + ", ");
    for (const std::string& name : f.outputs)
      if (!names.contains(name)) fail(place, "its output '" + name + "' is not defined");
  }

  void graph(const Graph& g, std::set<std::string> names, const Opsets& opsets, const std::string& within) {
    // Inputs of a graph within a node may have names of values outside, which they hide.
    std::set<std::string> inputs;
    for (const ValueInfo& input : g.inputs) define(inputs, input.name, within + "input '" + input.name + "'");
    names.insert(inputs.begin(), inputs.end());
    std::set<std::string> seen;
    for (const Initializer& tensor : g.initializers) {
      if (!seen.insert(tensor.name).second) fail(within + "initializer '" + tensor.name + "'", "it is there twice");
      if (!inputs.contains(tensor.name)) define(names, tensor.name, within + "initializer '" + tensor.name + "'");
    }
    nodes(g.nodes, names, opsets, within);
    if (g.name.empty()) fail(within.empty() ? "" : within + "graph", "the graph has no name");
    if (g.outputs.empty()) fail(within.empty() ? "" : within + "graph '" + g.name + "'", "the graph has no output");
    for (const ValueInfo& output : g.outputs)
      if (!names.contains(output.name)) fail(within + "output '" + output.name + "'", "nothing defines it");
  }

  void nodes(const std::vector<Node>& list, std::set<std::string>& names, const Opsets& opsets,
             const std::string& within) {
    std::set<std::string> later;
    for (const Node& n : list) later.insert(n.outputs.begin(), n.outputs.end());
    for (std::size_t k = 0; k < list.size(); ++k) {
      const Node& n = list[k];
      const std::string place = within + describe(n, k);
      for (const std::string& input : n.inputs) {
        if (input.empty() || names.contains(input)) continue;
        fail(place,
             later.contains(input)
                 ? "it uses '" + input + "' before it is defined: the graph has a cycle, or its nodes are not in order"
                 : "it uses '" + input + "', which is not defined");
      }
      operation(n, opsets, place);
      for (const Attribute& a : n.attributes)
        if (const auto* body = std::get_if<std::shared_ptr<const Graph>>(&a.value))
          graph(**body, names, opsets, place + ", ");
      for (const std::string& output : n.outputs) define(names, output, place);
    }
  }

  void operation(const Node& n, const Opsets& opsets, const std::string& place) {
    if (functions_.contains(n.domain + "." + n.op + ":" + n.overload)) return;
    const auto at = opsets.find(n.domain);
    if (at == opsets.end()) {
      fail(place, "the model names no version of the operator set '" + (n.domain.empty() ? "ai.onnx" : n.domain) + "'");
      return;
    }
    const Row* row = find_row(n.domain, n.op);
    if (row == nullptr) {
      fail(place, "operator " + n.op + " is not supported (operator set " +
                      (n.domain.empty() ? "" : "'" + n.domain + "', ") + "version " + std::to_string(at->second) + ")");
      return;
    }
    if (n.domain.empty() && at->second < row->since) {
      fail(place, "operator " + n.op + " is there from version " + std::to_string(row->since) +
                      " of the operator set on, the model has version " + std::to_string(at->second));
      return;
    }
    // References to a function's attributes have no value yet.
    if (std::ranges::any_of(n.attributes, [](const Attribute& a) { return !a.reference.empty(); })) return;
    if (const std::string what = mismatch(*row, n); !what.empty()) fail(place, what);
  }

  const Model& model_;
  std::set<std::string> functions_;
  std::vector<ModelError> errors_;
};

}  // namespace

std::vector<ModelError> check_model(const Model& model) { return Checker(model).run(); }

}  // namespace rml::onnx

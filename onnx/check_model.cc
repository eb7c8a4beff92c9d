// Checks a model before any of it is imported, and reports all errors in the order of the nodes.
//
// Every value must have one definition before its first use, so there is no cycle. Every operator
// must exist in the importer's table at the version of the model, and every node must match its
// row.
#include <algorithm>
#include <unordered_set>

#include "onnx/call.h"
#include "onnx/import.h"

namespace rml::onnx {

namespace {

using NameSet = std::unordered_set<std::string>;

class Checker {
 public:
  explicit Checker(const Model& model) : model_(model) {}

  std::vector<ModelError> run() {
    versions(model_.opsets, "");
    for (const Function& f : model_.functions) {
      const std::string key = f.domain + "." + f.name + ":" + f.overload;
      if (!functions_.insert(key).second) fail("function " + in_quotes(f.name), "it is defined twice");
    }
    for (const Function& f : model_.functions) function(f);
    interface(model_.graph);
    NameSet names;
    graph(model_.graph, names, model_.opsets, "");
    return std::move(errors_);
  }

 private:
  void fail(const std::string& place, std::string message) { errors_.push_back({place, std::move(message)}); }

  void versions(const Opsets& opsets, const std::string& place) {
    const auto at = opsets.find("");
    if (at == opsets.end()) return;
    if (at->second < first_opset || at->second > last_opset)
      fail(place, "version " + std::to_string(at->second) + " of the operator set is not supported: " +
                      std::to_string(first_opset) + " to " + std::to_string(last_opset) + " are");
  }

  // The outermost graph must declare all types. Before version 4 of the format, initializers are
  // inputs as well.
  void interface(const Graph& g) {
    const auto typed = [&](const ValueInfo& v, const char* what) {
      const std::string place = std::string(what) + " " + in_quotes(v.name);
      if (v.type.kind == "tensor" && v.type.element_type == 0)
        fail(place, "its type is missing in the model");
      else if (v.type.kind == "tensor" && !v.type.shape)
        fail(place, "the model does not declare its shape");
    };
    for (const ValueInfo& v : g.inputs) typed(v, "input");
    for (const ValueInfo& v : g.outputs) typed(v, "output");
    std::unordered_set<std::string_view> outputs, inputs;
    for (const ValueInfo& v : g.outputs)
      if (!outputs.insert(v.name).second) fail("output " + in_quotes(v.name), "it is listed twice");
    if (model_.ir_version > 3) return;
    for (const ValueInfo& v : g.inputs) inputs.insert(v.name);
    for (const Initializer& t : g.initializers)
      if (!inputs.contains(t.name))
        fail("initializer " + in_quotes(t.name),
             "it is not an input of the graph, but models of this version require it");
  }

  // Returns true if the name is new. `place` is a function, so that its text is made only for an
  // error.
  bool define(NameSet& names, const std::string& name, const auto& place) {
    const bool fresh = name.empty() || names.insert(name).second;
    if (!fresh) fail(place(), "the value " + in_quotes(name) + " is defined twice");
    return fresh;
  }

  void function(const Function& f) {
    const std::string place = "function " + in_quotes(f.name);
    versions(f.opsets, place);
    NameSet names;
    for (const std::string& name : f.inputs) define(names, name, [&] { return place; });
    std::vector<const std::string*> added;
    nodes(f.nodes, names, added, f.opsets, place + ", ");
    for (const std::string& name : f.outputs)
      if (!names.contains(name)) fail(place, "its output " + in_quotes(name) + " is not defined");
  }

  // `names` contains the names of the surrounding graphs, and contains them again on return.
  void graph(const Graph& g, NameSet& names, const Opsets& opsets, const std::string& within) {
    // An input of a graph within a node may have the name of an outer value, which it hides.
    NameSet inputs, initializers;
    std::vector<const std::string*> added;
    const auto place = [&](const char* what, const std::string& name) { return within + what + " " + in_quotes(name); };
    for (const ValueInfo& input : g.inputs) {
      define(inputs, input.name, [&] { return place("input", input.name); });
      if (names.insert(input.name).second) added.push_back(&input.name);
    }
    for (const Initializer& tensor : g.initializers) {
      const auto own = [&] { return place("initializer", tensor.name); };
      if (!initializers.insert(tensor.name).second)
        fail(own(), "it is listed twice");
      else if (!inputs.contains(tensor.name) && define(names, tensor.name, own))
        added.push_back(&tensor.name);
    }
    nodes(g.nodes, names, added, opsets, within);
    if (g.name.empty()) fail(within.empty() ? "" : within + "graph", "the graph has no name");
    if (g.outputs.empty()) fail(within.empty() ? "" : place("graph", g.name), "the graph has no output");
    for (const ValueInfo& output : g.outputs)
      if (!names.contains(output.name)) fail(place("output", output.name), "no node defines it");
    for (const std::string* name : added) names.erase(*name);
  }

  void nodes(const std::vector<Node>& list, NameSet& names, std::vector<const std::string*>& added,
             const Opsets& opsets, const std::string& within) {
    NameSet later;
    for (const Node& n : list) later.insert(n.outputs.begin(), n.outputs.end());
    for (std::size_t k = 0; k < list.size(); ++k) {
      const Node& n = list[k];
      const auto place = [&] { return within + describe(n, k); };
      for (const std::string& input : n.inputs) {
        if (input.empty() || names.contains(input)) continue;
        fail(place(), later.contains(input) ? "it uses " + in_quotes(input) +
                                                  " before it is defined: the graph has a cycle, or its nodes are "
                                                  "not in order"
                                            : "it uses " + in_quotes(input) + ", which is not defined");
      }
      operation(n, opsets, place);
      for (const NodeAttribute& a : n.attributes)
        if (const auto* body = std::get_if<std::shared_ptr<const Graph>>(&a.value))
          graph(**body, names, opsets, place() + ", ");
      for (const std::string& output : n.outputs)
        if (define(names, output, place)) added.push_back(&output);
    }
  }

  void operation(const Node& n, const Opsets& opsets, const auto& place) {
    if (functions_.contains(n.domain + "." + n.op + ":" + n.overload)) return;
    const auto at = opsets.find(n.domain);
    if (at == opsets.end()) {
      fail(place(), "the model does not name a version of the operator set " +
                        in_quotes(n.domain.empty() ? "ai.onnx" : n.domain));
      return;
    }
    const Row* row = find_row(n.domain, n.op);
    if (row == nullptr) {
      fail(place(), "operator " + shortened(n.op) + " is not supported (operator set " +
                        (n.domain.empty() ? "" : in_quotes(n.domain) + ", ") + "version " + std::to_string(at->second) +
                        ")");
      return;
    }
    if (n.domain.empty() && at->second < row->since) {
      fail(place(), "operator " + n.op + " exists since version " + std::to_string(row->since) +
                        " of the operator set, but the model has version " + std::to_string(at->second));
      return;
    }
    // A reference to an attribute of a function has no value before the function is inlined.
    if (std::ranges::any_of(n.attributes, [](const NodeAttribute& a) { return !a.reference.empty(); })) return;
    if (const std::string what = mismatch(*row, n); !what.empty()) fail(place(), what);
  }

  const Model& model_;
  std::unordered_set<std::string> functions_;
  std::vector<ModelError> errors_;
};

}  // namespace

std::vector<ModelError> check_model(const Model& model) { return Checker(model).run(); }

}  // namespace rml::onnx

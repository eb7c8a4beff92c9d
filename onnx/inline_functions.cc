// Replaces calls of a model's own functions by their bodies.
//
// Values of a body, and of the graphs in it, get names that are unique to the call, `CALL/NAME`.
// References to attributes are replaced by the attributes of the call, or else by the defaults of
// the function. Calls within bodies are replaced as well. A function that calls itself is
// refused, and so is a model that grows beyond the limit.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "onnx/import.h"

namespace rml::onnx {

namespace {

constexpr std::size_t deepest = 100;         // limit on the nesting depth of calls and graphs
constexpr std::size_t longest_prefix = 200;  // characters in a prefix of names

// Maps the names of a body to its names at the call.
struct Names {
  const Names* outer = nullptr;
  std::unordered_map<std::string, std::string> own;

  const std::string& operator[](const std::string& name) const {
    for (const Names* scope = this; scope != nullptr; scope = scope->outer)
      if (const auto at = scope->own.find(name); at != scope->own.end()) return at->second;
    return name;
  }
};

// A call while it is replaced by its body.
struct Expansion {
  Names names;
  std::unordered_map<std::string_view, const NodeAttribute*> attributes;
  std::string prefix;
};

std::string key(const std::string& domain, const std::string& name, const std::string& overload) {
  return domain + "." + name + ":" + overload;
}

// The cost of a copy, in nodes.
std::int64_t weight(const Node& n) {
  std::size_t parts = n.inputs.size() + n.outputs.size() + 4 * n.attributes.size();
  for (const NodeAttribute& a : n.attributes) {
    if (const auto* text = std::get_if<std::string>(&a.value)) parts += text->size() / 16;
    if (const auto* list = std::get_if<std::vector<float>>(&a.value)) parts += list->size() / 8;
    if (const auto* list = std::get_if<std::vector<std::int64_t>>(&a.value)) parts += list->size() / 4;
    if (const auto* list = std::get_if<std::vector<std::string>>(&a.value))
      for (const std::string& text : *list) parts += 1 + text.size() / 16;
    if (const auto* texts = std::get_if<Texts>(&a.value))
      for (const std::string& text : texts->texts) parts += 1 + text.size() / 16;
  }
  return 1 + static_cast<std::int64_t>(parts / 16);
}

class Inliner {
 public:
  Inliner(const Model& model, Growth& growth) : model_(model), growth_(growth) {
    for (const Function& f : model.functions) functions_.emplace(key(f.domain, f.name, f.overload), &f);
  }

  Graph run() {
    take_names(model_.graph);
    return graph(model_.graph, nullptr, nullptr);
  }

 private:
  // Copies a graph of the model, or a graph within a body, whose values then get new names.
  Graph graph(const Graph& from, const Expansion* place, const Names* outer) {
    if (++depth_ > deepest) throw ModelError{"graph " + in_quotes(from.name), too_deep()};
    Graph to{from.name, {}, from.initializers, from.inputs, from.outputs, {}};
    if (place == nullptr) {
      for (const Node& n : from.nodes) add(n, nullptr, nullptr, to.nodes);
    } else {
      growth_.add(1 + static_cast<std::int64_t>((from.inputs.size() + from.initializers.size()) / 8),
                  "graph " + in_quotes(from.name));
      Names names{outer, {}};
      for (ValueInfo& v : to.inputs) v.name = own_name(names, *place, v.name);
      for (Initializer& t : to.initializers) t.name = own_name(names, *place, t.name);
      for (const Node& n : from.nodes)
        for (const std::string& output : n.outputs) own_name(names, *place, output);
      for (const Node& n : from.nodes) add(n, place, &names, to.nodes);
      for (ValueInfo& v : to.outputs) v.name = names[v.name];
    }
    --depth_;
    return to;
  }

  // Copies the node with the names of the call and its attributes.
  Node resolved(const Node& from, const Expansion* place, const Names* names) {
    Node to = from;
    if (names != nullptr) {
      growth_.add(weight(from), describe(from, 0));
      for (std::string& input : to.inputs) input = (*names)[input];
      for (std::string& output : to.outputs) output = (*names)[output];
    }
    to.attributes.clear();
    for (const NodeAttribute& a : from.attributes) {
      NodeAttribute own = a;
      if (!a.reference.empty()) {
        if (place == nullptr)
          throw ModelError{describe(from, 0), "attribute " + in_quotes(a.name) + " refers to one of a function"};
        const auto at = place->attributes.find(a.reference);
        if (at == place->attributes.end()) continue;
        own = {a.name, "", at->second->value};
      } else if (const auto* body = std::get_if<std::shared_ptr<const Graph>>(&own.value)) {
        own.value = std::make_shared<const Graph>(graph(**body, place, names));
      }
      to.attributes.push_back(std::move(own));
    }
    return to;
  }

  void add(const Node& from, const Expansion* place, const Names* names, std::vector<Node>& to) {
    Node node = resolved(from, place, names);
    const auto f = functions_.find(key(node.domain, node.op, node.overload));
    if (f == functions_.end())
      to.push_back(std::move(node));
    else
      call(*f->second, node, place == nullptr ? "" : place->prefix, to);
  }

  void call(const Function& f, const Node& node, const std::string& outer_prefix, std::vector<Node>& to) {
    const std::string where = "a call of function " + in_quotes(f.name);
    check(f, node, where);
    growth_.add(1 + static_cast<std::int64_t>((f.inputs.size() + f.with_default.size()) / 8), where);
    Expansion place;
    place.prefix = outer_prefix + (node.name.empty() ? f.name + std::to_string(++calls_made_) : node.name) + "/";
    if (place.prefix.size() > longest_prefix) place.prefix.resize(longest_prefix);
    for (std::size_t k = 0; k < f.inputs.size(); ++k)
      place.names.own[f.inputs[k]] = k < node.inputs.size() ? node.inputs[k] : "";
    // name of the output at the call, by its name in the function
    std::unordered_map<std::string_view, std::string> results;
    // Outputs to copy, because they are inputs or are named twice.
    std::vector<std::pair<std::string, std::string>> copies;
    for (std::size_t k = 0; k < node.outputs.size(); ++k)
      if (!node.outputs[k].empty() &&
          (place.names.own.contains(f.outputs[k]) || !results.emplace(f.outputs[k], node.outputs[k]).second))
        copies.emplace_back(f.outputs[k], node.outputs[k]);
    for (const Node& n : f.nodes)
      for (const std::string& output : n.outputs)
        if (const auto at = results.find(output); at != results.end())
          place.names.own[output] = at->second;
        else
          own_name(place.names, place, output);
    for (const NodeAttribute& a : node.attributes) place.attributes.emplace(a.name, &a);
    for (const NodeAttribute& a : f.with_default) place.attributes.emplace(a.name, &a);
    calls_.push_back(&f);
    ++depth_;
    for (const Node& n : f.nodes) add(n, &place, &place.names, to);
    for (const auto& [formal, actual] : copies)
      to.push_back({"", "Identity", "", "", {place.names[formal]}, {actual}, {}});
    --depth_;
    calls_.pop_back();
  }

  void check(const Function& f, const Node& node, const std::string& where) const {
    if (std::ranges::find(calls_, &f) != calls_.end())
      throw ModelError{"function " + in_quotes(f.name), "it calls itself"};
    if (depth_ >= deepest) throw ModelError{"function " + in_quotes(f.name), too_deep()};
    if (node.inputs.size() > f.inputs.size()) throw ModelError{where, "it has too many inputs"};
    if (node.outputs.size() > f.outputs.size()) throw ModelError{where, "it has too many outputs"};
    for (const auto& [domain, version] : f.opsets) {
      const auto own = model_.opsets.find(domain);
      if (domain.empty() && own != model_.opsets.end() && own->second != version)
        throw ModelError{"function " + in_quotes(f.name),
                         "it uses another version of the operator set than the model (" + std::to_string(version) +
                             " and " + std::to_string(own->second) + "), which is not supported"};
    }
  }

  static std::string too_deep() { return "calls and graphs are nested more than " + std::to_string(deepest) + " deep"; }

  void take_names(const Graph& g) {
    for (const ValueInfo& v : g.inputs) taken_.insert(v.name);
    for (const Initializer& t : g.initializers) taken_.insert(t.name);
    for (const Node& n : g.nodes) {
      taken_.insert(n.outputs.begin(), n.outputs.end());
      for (const NodeAttribute& a : n.attributes)
        if (const auto* body = std::get_if<std::shared_ptr<const Graph>>(&a.value)) take_names(**body);
    }
  }

  // Returns a unique name for a value of a body.
  const std::string& own_name(Names& names, const Expansion& place, const std::string& name) {
    const auto [at, first] = names.own.try_emplace(name);
    if (!first || name.empty()) return at->second;
    std::string text = place.prefix + name;
    if (text.size() > 2 * longest_prefix) text.resize(2 * longest_prefix);
    at->second = text;
    while (!taken_.insert(at->second).second) at->second = text + "#" + std::to_string(++renamed_);
    return at->second;
  }

  const Model& model_;
  Growth& growth_;
  std::unordered_map<std::string, const Function*> functions_;
  std::unordered_set<std::string> taken_;
  std::vector<const Function*> calls_;
  std::size_t depth_ = 0, calls_made_ = 0, renamed_ = 0;
};

}  // namespace

Graph inline_functions(const Model& model, Growth& growth) { return Inliner(model, growth).run(); }

}  // namespace rml::onnx

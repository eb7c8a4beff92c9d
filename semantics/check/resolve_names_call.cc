// Finds callees and matches arguments. Messages show the callee's interface as it would be
// written.
#include "semantics/check/resolve_names_call.h"

#include <algorithm>

#include "semantics/check/foreign_names.h"
#include "semantics/values/tensor_files.h"

namespace rml {

namespace {

std::string count(std::size_t n, const char* noun) {
  return (n == 0 ? std::string("no") : std::to_string(n)) + " " + noun + (n == 1 ? "" : "s");
}

// One parameter of a callee, for the matching of arguments.
struct CalleeParameter {
  std::string name;
  bool required = true;
  bool variadic = false;
  ArgumentKind kind = ArgumentKind::value;
};

ArgumentKind kind_of(const OperatorParameter& p) {
  if (p.kind == ParameterKind::dtype) return ArgumentKind::dtype;
  return p.kind == ParameterKind::text ? ArgumentKind::text : ArgumentKind::value;
}

std::vector<CalleeParameter> parameters(const Program& program, const Reference& callee) {
  std::vector<CalleeParameter> list;
  if (const auto* node = std::get_if<NodeRef>(&callee)) {
    for (const ast::Parameter& p : program.nodes[node->node.index].inputs) list.push_back({program.text(p.name)});
  } else if (const auto* op = std::get_if<OperatorRef>(&callee)) {
    for (const OperatorParameter& p : operators()[op->op].parameters)
      list.push_back(
          {std::string(p.name), p.kind == ParameterKind::operand || p.default_value.empty(), p.variadic, kind_of(p)});
  } else if (std::holds_alternative<LoadRef>(callee)) {
    list.push_back({.name = "file", .kind = ArgumentKind::text});
    list.push_back({.name = "name", .kind = ArgumentKind::text});
  } else {
    list.push_back({"value"});
    if (std::holds_alternative<ParamRef>(callee)) {
      list.push_back({"act", false});
      list.push_back({"step", false});
    }
  }
  return list;
}

// The callee's interface for messages: `f(x, y) -> (o)`, `concat(x…, axis=0)`.
std::string callee_text(const Program& program, const Reference& callee, const ast::Call& call) {
  std::string out = program.text(call.callee.back()) + "(";
  const char* separator = "";
  for (const CalleeParameter& p : parameters(program, callee)) {
    out += separator + p.name + (p.variadic ? "…" : "");
    separator = ", ";
    if (p.required || !std::holds_alternative<OperatorRef>(callee)) continue;
    const auto& row = operators()[std::get<OperatorRef>(callee).op];
    for (const OperatorParameter& q : row.parameters)
      if (q.name == p.name) out += "=" + std::string(q.default_value);
  }
  out += ")";
  const auto* node = std::get_if<NodeRef>(&callee);
  if (!node) return out;
  out += " -> (";
  separator = "";
  for (const ast::Parameter& p : program.nodes[node->node.index].outputs) {
    out += separator + program.text(p.name);
    separator = ", ";
  }
  return out + ")";
}

Reference unqualified_callee(Symbol name, Span span, NameWalk& walk) {
  if (const auto node = walk.scope().node(name)) {
    if (!walk.program()[*node].broken_header) return NodeRef{*node};
    walk.fail();
    return {};
  }
  const std::string& word = walk.text(name);
  if (word == "param") return ParamRef{};
  if (auto op = operators().find(word)) return OperatorRef{*op};
  if (word == "stop_gradient") return StopGradientRef{};
  if (word == "load") return LoadRef{};
  if (const auto variable = walk.variable(name)) {
    walk.report(Code::E0207, span, "`" + word + "` is a variable, not a node", "cannot be called")
        .label(walk.variables()[*variable].span, "the variable is defined here");
    return {};
  }
  walk.unknown_callee(word, span);
  return {};
}

Reference qualified_callee(const ast::Call& call, NameWalk& walk) {
  const ModuleScope& scope = walk.scope();
  const std::string& qualifier = walk.text(call.callee[0]);
  const auto module = scope.qualified(call.callee[0]);
  if (!module && walk.lost_with_import(call.callee[0])) {
    walk.fail();
    return {};
  }
  if (!module || call.callee.size() > 2) {
    std::string path;
    for (const Symbol name : call.callee) path += (path.empty() ? "" : ".") + walk.text(name);
    if (walk.is_import_in_full(path, call.callee_span)) return {};
    std::vector<std::string> candidates;
    for (auto [symbol, m] : scope.qualifiers) candidates.push_back(walk.text(Symbol{symbol}));
    std::sort(candidates.begin(), candidates.end());
    std::string meant = did_you_mean(qualifier, candidates);
    Diagnostic& d = walk.report(Code::E0201, call.callee_span, "no module is imported as `" + qualifier + "`",
                                "not an imported module");
    const std::string& callee = walk.text(call.callee.back());
    if (!meant.empty())
      d.note("did you mean `" + meant + "`?");
    else if (operators().find(callee) && std::ranges::count(nodes_of_library(callee), qualifier + "." + callee) == 0)
      d.note("`" + callee + "` is an operator: write `" + callee + "(" +
             (walk.variable(call.callee[0]) ? qualifier : "…") + ")`");
    else
      d.note("write `import " + qualifier + ";` at the top of the file");
    return {};
  }
  const ast::Module& target = walk.program().modules[module->index];
  std::vector<std::string> candidates;
  for (NodeId n : target.nodes) {
    if (walk.program().nodes[n.index].name == call.callee[1]) return NodeRef{n};
    candidates.push_back(walk.text(walk.program().nodes[n.index].name));
  }
  std::string meant = did_you_mean(walk.text(call.callee[1]), candidates);
  Diagnostic& d =
      walk.report(Code::E0201, call.callee_span,
                  "module `" + qualifier + "` has no node `" + walk.text(call.callee[1]) + "`", "not found there");
  if (!meant.empty()) d.note("did you mean `" + qualifier + "." + meant + "`?");
  return {};
}

// The position of the parameter with this name, if it has no argument yet.
std::optional<std::size_t> named_place(const ast::Argument& argument, const std::vector<CalleeParameter>& parameters,
                                       const std::vector<OrderedArguments>& places, const std::string& signature,
                                       NameWalk& walk) {
  const std::string& name = walk.text(argument.name);
  auto at = std::find_if(parameters.begin(), parameters.end(), [&](const auto& p) { return p.name == name; });
  if (at == parameters.end()) {
    std::vector<std::string> candidates;
    for (const CalleeParameter& p : parameters) candidates.push_back(p.name);
    std::string meant = did_you_mean(name, candidates);
    Diagnostic& d =
        walk.report(Code::E0205, argument.name_span, "no parameter is called `" + name + "`", "in `" + signature + "`");
    if (!meant.empty()) d.note("did you mean `" + meant + "`?").fix(argument.name_span, meant, "write `" + meant + "`");
    return std::nullopt;
  }
  const auto p = static_cast<std::size_t>(at - parameters.begin());
  if (!places[p].empty()) {
    walk.report(Code::E0205, argument.name_span, "`" + name + "` is given twice", "again here")
        .label(walk.program().span(places[p][0]), "first given here");
    return std::nullopt;
  }
  return p;
}

}  // namespace

Reference callee_of(const ast::Call& call, NameWalk& walk) {
  if (call.target.valid()) return NodeRef{call.target};
  if (call.builtin) {
    const std::string& word = walk.text(call.callee[0]);
    if (auto op = operators().find(word)) return OperatorRef{*op};
    if (word == "param") return ParamRef{};
    return StopGradientRef{};
  }
  if (call.callee.empty()) {
    walk.fail();
    return {};
  }
  return call.callee.size() == 1 ? unqualified_callee(call.callee[0], call.callee_span, walk)
                                 : qualified_callee(call, walk);
}

NodeId differentiated(const ast::Call& call, NameWalk& walk) {
  if (call.iteration) return {};
  if (call.diff) {
    const Reference to = call.callee.empty()       ? Reference{}
                         : call.callee.size() == 1 ? unqualified_callee(call.callee[0], call.callee_span, walk)
                                                   : qualified_callee(call, walk);
    if (const auto* node = std::get_if<NodeRef>(&to)) return node->node;
    if (!std::holds_alternative<std::monostate>(to))
      walk.report(Code::E0604, call.callee_span, "`" + walk.text(call.callee.back()) + "` is not a node",
                  "only nodes are differentiated")
          .note("write a node that calls it, and differentiate that node");
    return {};
  }
  if (call.callee.empty() || call.callee.size() > 2 || call.target.valid()) return {};
  const std::string& word = walk.text(call.callee.back());
  if (!word.starts_with("diff_")) return {};
  const std::string_view of = std::string_view(word).substr(5);
  const ModuleScope& scope = walk.scope();
  NodeId written, found;
  const auto look = [&](NodeId n) {
    if (walk.program().nodes[n.index].name == call.callee.back()) written = n;
    if (walk.text(walk.program().nodes[n.index].name) == of) found = n;
  };
  if (call.callee.size() == 1) {
    for (auto [symbol, n] : scope.nodes) look(n);
  } else if (const auto m = scope.qualified(call.callee[0])) {
    for (NodeId n : walk.program().modules[m->index].nodes) look(n);
  }
  return written.valid() ? NodeId{} : found;
}

bool can_iterate(const ast::Call& call, const Reference& to, NameWalk& walk) {
  if (std::holds_alternative<std::monostate>(to)) return false;
  const ast::Iteration& how = *call.iteration;
  const std::string word(ast::iterator_name(how.kind));
  const std::string& name = walk.text(call.callee.back());
  const auto* node = std::get_if<NodeRef>(&to);
  if (node == nullptr) {
    walk.report(Code::E0209, call.callee_span, "`" + word + "` needs a node, but `" + name + "` is not a node",
                "not a node")
        .note("write a node that calls it: `node each(x) -> (y) y = " + name + "(x);`");
    return false;
  }
  const ast::Node& item = walk.program().nodes[node->node.index];
  const auto told = [&](std::string message, std::string label) {
    walk.report(Code::E0209, call.callee_span, std::move(message), std::move(label))
        .label(item.name_span, "`" + name + "` is defined here");
    return false;
  };
  if (item.external()) return told("an external node cannot be iterated", "its equations are in C");
  const std::size_t results = item.outputs.size();
  if (how.kind == ast::Iteration::fold && results != how.states)
    return told("`fold` with " + count(how.states, "state") + " needs a node with " + count(how.states, "result"),
                "it has " + count(results, "result"));
  if (how.kind == ast::Iteration::scan && results < how.states)
    return told("`scan` with " + count(how.states, "state") + " needs a node that yields at least as many results",
                "it has " + count(results, "result"));
  for (std::size_t k = 0; k < call.arguments.size() && k < how.states + how.sequences; ++k) {
    if (!call.arguments[k].name.valid()) continue;
    walk.report(Code::E0209, call.arguments[k].name_span, "states and sequences are passed by position",
                "only the fixed arguments after the `;` can be named");
    return false;
  }
  return true;
}

void check_results(const ast::Call& call, const Reference& callee, std::size_t targets, NameWalk& walk) {
  const auto* node = std::get_if<NodeRef>(&callee);
  std::size_t results = node ? walk.program().nodes[node->node.index].outputs.size() : 1;
  if (results == targets) return;
  const std::string& name = walk.text(call.callee.back());
  if (targets == 1 && results > 1) {
    walk.report(Code::E0207, call.callee_span,
                "`" + name + "` has " + count(results, "result") + ", but one value is needed",
                "`" + callee_text(walk.program(), callee, call) + "`")
        .note("name the results in an equation of their own; write `_` for a result that you do not use");
    return;
  }
  walk.report(Code::E0204, call.callee_span,
              count(targets, "variable") + " on the left, but `" + name + "` has " + count(results, "result"),
              "`" + callee_text(walk.program(), callee, call) + "`");
}

MatchedArguments matched_arguments(const ast::Call& call, const Reference& callee, NameWalk& walk) {
  const std::vector<CalleeParameter> list = parameters(walk.program(), callee);
  const std::string signature = callee_text(walk.program(), callee, call);
  std::vector<OrderedArguments> places(list.size());
  MatchedArguments matched;
  bool good = true;
  std::size_t next = 0, extra = 0;
  Span first_extra;
  for (const ast::Argument& a : call.arguments) {
    matched.kinds.push_back(ArgumentKind::value);
    if (!a.value.valid()) continue;
    std::optional<std::size_t> place;
    if (a.name.valid()) {
      place = named_place(a, list, places, signature, walk);
      good = good && place;
    } else if (next >= list.size()) {
      if (extra++ == 0) first_extra = walk.program().span(a.value);
    } else if (!list[next].variadic && !places[next].empty()) {
      walk.report(Code::E0205, walk.program().span(a.value), "`" + list[next].name + "` is given twice", "again here")
          .label(walk.program().span(places[next][0]), "first given here");
      good = false;
      ++next;
    } else {
      place = next;
      if (!list[next].variadic) ++next;
    }
    if (!place) continue;
    places[*place].push_back(a.value);
    matched.kinds.back() = list[*place].kind;
  }
  std::string missing;
  for (std::size_t p = 0; p < list.size(); ++p)
    if (list[p].required && places[p].empty()) missing += (missing.empty() ? "`" : ", `") + list[p].name + "`";
  const std::string& name = walk.text(call.callee.back());
  if (extra > 0)
    walk.report(
        Code::E0204, first_extra,
        "`" + name + "` takes " + count(list.size(), "argument") + ", not " + std::to_string(call.arguments.size()),
        "too many for `" + signature + "`");
  else if (good && !missing.empty())
    walk.report(Code::E0204, call.callee_span, "the call of `" + name + "` lacks " + missing, "`" + signature + "`");
  if (std::holds_alternative<ParamRef>(callee) && places[1].empty() != places[2].empty())
    walk.report(Code::E0204, call.callee_span, "`param` takes both `act` and `step`, or neither",
                "`" + signature + "`");
  for (OrderedArguments& place : places) {
    if (place.empty()) place.emplace_back();
    matched.ordered.insert(matched.ordered.end(), place.begin(), place.end());
  }
  return matched;
}

std::shared_ptr<const Tensor> loaded(ExprId e, const ast::Call& call, const OrderedArguments& arguments,
                                     NameWalk& walk) {
  std::vector<std::string> texts;
  for (ExprId a : arguments)
    if (const auto* t = a.valid() ? std::get_if<ast::TextLiteral>(&walk.program()[a]) : nullptr)
      texts.push_back(t->value);
  if (texts.size() != 2) return nullptr;  // a wrong number of texts was already reported
  if (walk.program().files == nullptr) {
    walk.report(Code::E0806, call.callee_span, "files cannot be loaded here", "this source is not in a folder");
    return nullptr;
  }
  const auto found = walk.program().files->find(walk.program().span(e), texts[0], texts[1]);
  if (const auto* error = std::get_if<LoadError>(&found)) {
    const std::size_t which = error->unreadable ? 0 : 1;
    walk.report(error->unreadable ? Code::E0801 : Code::E0806, walk.program().span(arguments[which]), error->message);
    return nullptr;
  }
  return std::get<std::shared_ptr<const Tensor>>(found);
}

}  // namespace rml

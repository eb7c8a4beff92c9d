// Calls: which callee, and which argument for which parameter (part of resolve_names).
//
// A callee is a node of the module's scope, else an operator by name or alias, else `param`
// or `stop_gradient`. Arguments come by position or by name; an operator's attributes with a
// default may be left out, and a variadic operand takes all positional arguments left.
// Example: `concat(a, b, axis=1)` against parameters (x…, axis) is ordered as [a, b, 1].
#include <algorithm>

#include "semantics/foreign_names.h"
#include "semantics/resolve_names_resolver.h"
#include "semantics/tensor_files.h"

namespace rml {

namespace {

std::string count(std::size_t n, const char* noun) {
  return (n == 0 ? std::string("no") : std::to_string(n)) + " " + noun + (n == 1 ? "" : "s");
}

template <class... F>
struct Cases : F... {
  using F::operator()...;
};
template <class... F>
Cases(F...) -> Cases<F...>;

}  // namespace

std::vector<CalleeParameter> NameResolver::parameters(const Reference& callee) const {
  std::vector<CalleeParameter> list;
  if (const auto* node = std::get_if<NodeRef>(&callee)) {
    for (const ast::Parameter& p : program_.nodes[node->node.index].inputs) list.push_back({text(p.name)});
  } else if (const auto* op = std::get_if<OperatorRef>(&callee)) {
    for (const OperatorParameter& p : operators()[op->op].parameters)
      list.push_back({std::string(p.name), p.kind == ParameterKind::operand || p.default_value.empty(), p.variadic,
                      p.kind == ParameterKind::dtype, p.kind == ParameterKind::text});
  } else if (std::holds_alternative<LoadRef>(callee)) {
    list.push_back({.name = "file", .text = true});
    list.push_back({.name = "name", .text = true});
  } else {
    list.push_back({"value"});
    if (std::holds_alternative<ParamRef>(callee)) {
      list.push_back({"act", false});
      list.push_back({"step", false});
    }
  }
  return list;
}

// The callee's interface, as messages show it: `f(x, y) -> (o)`, `concat(x…, axis=0)`.
std::string NameResolver::callee_text(const Reference& callee, const ast::Call& call) const {
  std::string out = text(call.callee.back()) + "(";
  const char* separator = "";
  for (const CalleeParameter& p : parameters(callee)) {
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
  for (const ast::Parameter& p : program_.nodes[node->node.index].outputs) {
    out += separator + text(p.name);
    separator = ", ";
  }
  return out + ")";
}

// ---- which callee ----------------------------------------------------------------------

void NameResolver::unknown_callee(const std::string& name, Span span) {
  if (lost_with_import({})) return has_error();
  Diagnostic& d = report(Code::E0201, span, "unknown node or operator `" + name + "`", "nothing of this name");
  if (suggestions_left_ == 0) return;
  --suggestions_left_;
  if (const std::string found = library_node(name); !found.empty()) {
    d.note("the standard library has `" + found + "`: write `import " + found.substr(0, found.find('.')) +
           ";` at the top of the file, and `" + found + "(…)`");
    return;
  }
  if (const std::string_view here = operator_meant(name); !here.empty()) {
    d.note("did you mean `" + std::string(here) + "`? `rmlc explain " + std::string(here) + "` says what it takes");
    return;
  }
  std::vector<std::string> candidates = operators().names();
  candidates.emplace_back("stop_gradient");
  for (auto [symbol, node] : scopes_[walk_.module.index].nodes) candidates.push_back(text(Symbol{symbol}));
  std::sort(candidates.begin(), candidates.end());
  const std::string meant = did_you_mean(name, candidates);
  if (!meant.empty()) d.note("did you mean `" + meant + "`?").fix(span, meant, "write `" + meant + "`");
}

Reference NameResolver::unqualified_callee(Symbol name, Span span) {
  NodeId node;
  if (item_named(name, node)) return NodeRef{node};
  const std::string& word = text(name);
  if (word == "param") return ParamRef{};
  if (auto op = operators().find(word)) return OperatorRef{*op};
  if (word == "stop_gradient") return StopGradientRef{};
  if (word == "load") return LoadRef{};
  if (walk_.variables.contains(name.index)) {
    const ResolvedNode& in = result_.nodes[walk_.node.index];
    report(Code::E0207, span, "`" + word + "` is a variable, not a node", "cannot be called")
        .label(in.variables[walk_.variables.at(name.index)].span, "the variable is defined here");
    return {};
  }
  unknown_callee(word, span);
  return {};
}

Reference NameResolver::qualified_callee(const ast::Call& call) {
  const ModuleScope& scope = scopes_[walk_.module.index];
  const std::string& qualifier = text(call.callee[0]);
  auto module = scope.qualifiers.find(call.callee[0].index);
  if (module == scope.qualifiers.end() && lost_with_import(call.callee[0])) {
    has_error();
    return {};
  }
  if (module == scope.qualifiers.end() || call.callee.size() > 2) {
    std::vector<std::string> candidates;
    for (auto [symbol, m] : scope.qualifiers) candidates.push_back(text(Symbol{symbol}));
    std::sort(candidates.begin(), candidates.end());
    std::string meant = did_you_mean(qualifier, candidates);
    Diagnostic& d =
        report(Code::E0201, call.callee_span, "no module is imported as `" + qualifier + "`", "not an imported module");
    const std::string& callee = text(call.callee.back());
    if (!meant.empty())
      d.note("did you mean `" + meant + "`?");
    else if (operators().find(callee) && library_node(callee).rfind(qualifier + ".", 0) != 0)
      d.note("`" + callee + "` is an operator: write `" + callee + "(" +
             (walk_.variables.contains(call.callee[0].index) ? qualifier : "…") + ")`");
    else
      d.note("write `import " + qualifier + ";` at the top of the file");
    return {};
  }
  const ast::Module& target = program_.modules[module->second.index];
  std::vector<std::string> candidates;
  for (NodeId n : target.nodes) {
    if (program_.nodes[n.index].name == call.callee[1]) return NodeRef{n};
    candidates.push_back(text(program_.nodes[n.index].name));
  }
  std::string meant = did_you_mean(text(call.callee[1]), candidates);
  Diagnostic& d = report(Code::E0201, call.callee_span,
                         "module `" + qualifier + "` has no node `" + text(call.callee[1]) + "`", "not found there");
  if (!meant.empty()) d.note("did you mean `" + qualifier + "." + meant + "`?");
  return {};
}

// The node that a call differentiates: `diff f(…)`, or `diff_f(…)` where no such node is written.
NodeId NameResolver::differentiated(const ast::Call& call) {
  if (call.iteration) return {};
  if (call.diff) {
    const Reference to = call.callee.empty()       ? Reference{}
                         : call.callee.size() == 1 ? unqualified_callee(call.callee[0], call.callee_span)
                                                   : qualified_callee(call);
    if (const auto* node = std::get_if<NodeRef>(&to)) return node->node;
    if (!std::holds_alternative<std::monostate>(to))
      report(Code::E0604, call.callee_span, "`" + text(call.callee.back()) + "` is not a node",
             "only nodes are differentiated")
          .note("write a node that uses it, and differentiate that");
    return {};
  }
  if (call.callee.empty() || call.callee.size() > 2 || call.target.valid()) return {};
  const std::string& word = text(call.callee.back());
  if (!word.starts_with("diff_")) return {};
  const std::string_view of = std::string_view(word).substr(5);
  const ModuleScope& scope = scopes_[walk_.module.index];
  NodeId written, found;
  const auto look = [&](NodeId n) {
    if (program_.nodes[n.index].name == call.callee.back()) written = n;
    if (text(program_.nodes[n.index].name) == of) found = n;
  };
  if (call.callee.size() == 1) {
    for (auto [symbol, n] : scope.nodes) look(n);
  } else if (const auto m = scope.qualifiers.find(call.callee[0].index); m != scope.qualifiers.end()) {
    for (NodeId n : program_.modules[m->second.index].nodes) look(n);
  }
  return written.valid() ? NodeId{} : found;
}

void NameResolver::diff_call(ExprId e, const ast::Call& call, NodeId of) {
  DiffCall found{e, walk_.node, of, {}};
  for (const ast::Argument& a : call.arguments) expr(a.value);
  if (walk_.node.valid()) result_.nodes[walk_.node.index].has_errors = true;
  if (walk_.constant.valid()) {
    report(Code::E0304, call.callee_span, "a constant cannot call a node", "not a compile-time constant");
    return;
  }
  if (call.diff && !call.diff->optimizer.empty()) {
    for (ExprId a : call.diff->optimizer_arguments) expr(a);
    ast::Call optimizer;
    optimizer.callee = call.diff->optimizer;
    optimizer.callee_span = call.diff->span;
    const Reference to = callee(optimizer);
    const auto* node = std::get_if<NodeRef>(&to);
    if (node == nullptr) {
      if (!std::holds_alternative<std::monostate>(to))
        report(Code::E0604, call.diff->span, "`" + text(optimizer.callee.back()) + "` is not a node",
               "an optimizer is a node");
      return;
    }
    found.optimizer = node->node;
  }
  if (of.valid()) {
    calls_[walk_.node.index].push_back({of, call.callee_span});
    result_.diff_calls.push_back(found);
  }
}

Reference NameResolver::callee(const ast::Call& call) {
  if (call.target.valid()) return NodeRef{call.target};
  if (call.builtin) {
    const std::string& word = text(call.callee[0]);
    if (auto op = operators().find(word)) return OperatorRef{*op};
    if (word == "param") return ParamRef{};
    return StopGradientRef{};
  }
  if (call.callee.empty()) {
    has_error();
    return {};
  }
  return call.callee.size() == 1 ? unqualified_callee(call.callee[0], call.callee_span) : qualified_callee(call);
}

// ---- the call --------------------------------------------------------------------------

// `targets` values are wanted of the call: the left-hand side's count, or 1 inside an
// expression.
void NameResolver::call(ExprId e, const ast::Call& call, std::size_t targets) {
  if (const NodeId of = differentiated(call); of.valid() || call.diff) {
    diff_call(e, call, of);
    return;
  }
  Reference to = callee(call);
  if (call.iteration && !can_iterate(call, to)) to = {};
  if (walk_.constant.valid() && std::holds_alternative<NodeRef>(to)) {
    report(Code::E0304, call.callee_span, "a constant cannot call a node", "not a compile-time constant");
    to = {};
  }
  result_.references[e.index] = to;
  std::visit(Cases{
                 [&](std::monostate) {
                   for (const ast::Argument& a : call.arguments) expr(a.value);
                 },
                 [&](VariableRef) {},
                 [&](ConstRef) {},
                 [&](DTypeRef) {},
                 [&](NodeRef node) {
                   if (seen_callee_[node.node.index] != walk_.node.index) {
                     seen_callee_[node.node.index] = walk_.node.index;
                     result_.nodes[walk_.node.index].callees.push_back(node.node);
                     calls_[walk_.node.index].push_back({node.node, call.callee_span});
                   }
                   check_results(call, to, targets);
                   match_arguments(e, call, to);
                 },
                 [&](OperatorRef op) {
                   if (operators()[op.op].random) not_in_constant(e, "a random operator");
                   check_results(call, to, targets);
                   match_arguments(e, call, to);
                 },
                 [&](ParamRef) {
                   not_in_constant(e, "`param`");
                   check_results(call, to, targets);
                   match_arguments(e, call, to);
                 },
                 [&](StopGradientRef) {
                   check_results(call, to, targets);
                   match_arguments(e, call, to);
                 },
                 [&](LoadRef) {
                   check_results(call, to, targets);
                   match_arguments(e, call, to);
                   result_.references[e.index] = loaded(e, call);
                 },
             },
             to);
}

// What an iterator needs of the node: as many results as states, and for `scan` those that are stacked behind them.
bool NameResolver::can_iterate(const ast::Call& call, const Reference& to) {
  if (std::holds_alternative<std::monostate>(to)) return false;
  const ast::Iteration& how = *call.iteration;
  const std::string word(ast::iterator_name(how.kind));
  const std::string& name = text(call.callee.back());
  const auto* node = std::get_if<NodeRef>(&to);
  if (node == nullptr) {
    report(Code::E0209, call.callee_span, "`" + word + "` needs a node, and `" + name + "` is none", "not a node")
        .note("write a node that does it: `node each(x) -> (y) y = " + name + "(x);`");
    return false;
  }
  const ast::Node& item = program_.nodes[node->node.index];
  const auto told = [&](std::string message, std::string label) {
    report(Code::E0209, call.callee_span, std::move(message), std::move(label))
        .label(item.name_span, "`" + name + "` is defined here");
    return false;
  };
  if (item.external()) return told("an external node cannot be iterated", "only C knows its equations");
  const std::size_t results = item.outputs.size();
  if (how.kind == ast::Iteration::fold && results != how.states)
    return told("`fold` with " + count(how.states, "state") + " needs a node with " + count(how.states, "result"),
                "it has " + count(results, "result"));
  if (how.kind == ast::Iteration::scan && results < how.states)
    return told("`scan` with " + count(how.states, "state") + " needs a node that yields at least as many results",
                "it has " + count(results, "result"));
  for (std::size_t k = 0; k < call.arguments.size() && k < how.states + how.sequences; ++k) {
    if (!call.arguments[k].name.valid()) continue;
    report(Code::E0209, call.arguments[k].name_span, "states and sequences go by position",
           "only what is fixed may be named");
    return false;
  }
  return true;
}

void NameResolver::check_results(const ast::Call& call, const Reference& callee, std::size_t targets) {
  const auto* node = std::get_if<NodeRef>(&callee);
  std::size_t results = node ? program_.nodes[node->node.index].outputs.size() : 1;
  if (results == targets) return;
  const std::string& name = text(call.callee.back());
  if (targets == 1 && results > 1) {
    report(Code::E0207, call.callee_span,
           "`" + name + "` has " + count(results, "result") + ", but one value is needed",
           "`" + callee_text(callee, call) + "`")
        .note("name the results in an equation of their own; `_` stands for one that is not needed");
    return;
  }
  report(Code::E0204, call.callee_span,
         count(targets, "variable") + " on the left, but `" + name + "` has " + count(results, "result"),
         "`" + callee_text(callee, call) + "`");
}

bool NameResolver::place_named(const ast::Argument& argument, const std::vector<CalleeParameter>& parameters,
                               std::vector<OrderedArguments>& places, const std::string& signature) {
  const std::string& name = text(argument.name);
  auto at = std::find_if(parameters.begin(), parameters.end(), [&](const auto& p) { return p.name == name; });
  if (at == parameters.end()) {
    std::vector<std::string> candidates;
    for (const CalleeParameter& p : parameters) candidates.push_back(p.name);
    std::string meant = did_you_mean(name, candidates);
    Diagnostic& d =
        report(Code::E0205, argument.name_span, "no parameter is called `" + name + "`", "in `" + signature + "`");
    if (!meant.empty()) d.note("did you mean `" + meant + "`?").fix(argument.name_span, meant, "write `" + meant + "`");
    return false;
  }
  OrderedArguments& place = places[static_cast<std::size_t>(at - parameters.begin())];
  if (!place.empty()) {
    report(Code::E0205, argument.name_span, "`" + name + "` is given twice", "again here")
        .label(program_.span(place[0]), "first given here");
    return false;
  }
  place.push_back(argument.value);
  return true;
}

void NameResolver::match_arguments(ExprId e, const ast::Call& call, const Reference& callee) {
  std::vector<CalleeParameter> list = parameters(callee);
  std::vector<OrderedArguments> places(list.size());
  bool good = true;
  std::size_t next = 0, extra = 0;
  Span first_extra;
  for (const ast::Argument& a : call.arguments) {
    if (!a.value.valid()) continue;
    if (a.name.valid()) {
      good &= place_named(a, list, places, callee_text(callee, call));
    } else if (next >= list.size()) {
      if (extra++ == 0) first_extra = program_.span(a.value);
    } else if (!list[next].variadic && !places[next].empty()) {
      report(Code::E0205, program_.span(a.value), "`" + list[next].name + "` is given twice", "again here")
          .label(program_.span(places[next][0]), "first given here");
      good = false;
      ++next;
    } else {
      places[next].push_back(a.value);
      if (!list[next].variadic) ++next;
    }
  }
  std::string missing;
  for (std::size_t p = 0; p < list.size(); ++p)
    if (list[p].required && places[p].empty()) missing += (missing.empty() ? "`" : ", `") + list[p].name + "`";
  const std::string& name = text(call.callee.back());
  if (extra > 0)
    report(Code::E0204, first_extra,
           "`" + name + "` takes " + count(list.size(), "argument") + ", not " + std::to_string(call.arguments.size()),
           "too many for `" + callee_text(callee, call) + "`");
  else if (good && !missing.empty())
    report(Code::E0204, call.callee_span, "`" + name + "` is not given " + missing,
           "`" + callee_text(callee, call) + "`");
  if (std::holds_alternative<ParamRef>(callee) && places[1].empty() != places[2].empty())
    report(Code::E0204, call.callee_span, "`param` takes `act` and `step` together or neither",
           "`" + callee_text(callee, call) + "`");
  OrderedArguments& ordered = result_.arguments[e.index];
  for (std::size_t p = 0; p < list.size(); ++p) {
    if (places[p].empty())
      ordered.push_back(ExprId{});
    else
      ordered.insert(ordered.end(), places[p].begin(), places[p].end());
  }
  resolve_arguments(call, callee, ordered);
}

void NameResolver::resolve_arguments(const ast::Call& call, const Reference& callee, const OrderedArguments& ordered) {
  std::vector<CalleeParameter> list = parameters(callee);
  std::unordered_set<std::uint32_t> dtype_positions, text_positions;
  std::size_t extra = ordered.size() - list.size();  // of a variadic operand
  for (std::size_t p = 0, k = 0; p < list.size(); ++p) {
    if (list[p].dtype && ordered[k].valid()) dtype_positions.insert(ordered[k].index);
    if (list[p].text && ordered[k].valid()) text_positions.insert(ordered[k].index);
    k += list[p].variadic ? 1 + extra : 1;
  }
  for (const ast::Argument& a : call.arguments) {
    if (!a.value.valid()) continue;
    if (dtype_positions.contains(a.value.index))
      dtype_argument(a.value);
    else if (text_positions.contains(a.value.index))
      text_argument(a.value);
    else
      expr(a.value);
  }
}

void NameResolver::text_argument(ExprId e) {
  if (std::holds_alternative<ast::TextLiteral>(program_[e])) return;
  if (std::holds_alternative<ast::Error>(program_[e])) return has_error();
  report(Code::E0207, program_.span(e), "a text is needed here", "not a text, such as `\"ij,jk->ik\"`");
}

LoadRef NameResolver::loaded(ExprId e, const ast::Call& call) {
  std::vector<std::string> texts;
  for (ExprId a : result_.arguments[e.index])
    if (const auto* t = a.valid() ? std::get_if<ast::TextLiteral>(&program_[a]) : nullptr) texts.push_back(t->value);
  if (texts.size() != 2) return {};  // told already
  if (program_.files == nullptr) {
    report(Code::E0806, call.callee_span, "files cannot be loaded here", "no folder to look in");
    return {};
  }
  const auto found = program_.files->find(program_.span(e), texts[0], texts[1]);
  if (const auto* error = std::get_if<LoadError>(&found)) {
    const std::size_t which = error->unreadable ? 0 : 1;
    report(error->unreadable ? Code::E0801 : Code::E0806, program_.span(result_.arguments[e.index][which]),
           error->message);
    return {};
  }
  result_.tensors.push_back(std::get<std::shared_ptr<const Tensor>>(found));
  return {static_cast<std::uint32_t>(result_.tensors.size() - 1)};
}

void NameResolver::dtype_argument(ExprId e) {
  const auto* name = std::get_if<ast::Name>(&program_[e]);
  if (!name) {
    report(Code::E0309, program_.span(e), "a type's name is needed here", "not a type, such as `f32`");
    return;
  }
  const std::string& word = text(name->symbol);
  auto dtype = dtype_named(word);
  if (!dtype) {
    const std::string meant = dtype_meant(word);
    Diagnostic& d = report(Code::E0309, program_.span(e), "unknown type `" + word + "`", "not a type");
    if (!meant.empty()) d.note("did you mean `" + meant + "`?").fix(program_.span(e), meant, "write `" + meant + "`");
    return;
  }
  result_.references[e.index] = DTypeRef{*dtype};
}

}  // namespace rml

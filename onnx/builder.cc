// Collects equations, and names the constants and variables that they need. Texts of operators are
// written by AppliedOperator.
#include "onnx/builder.h"

#include <algorithm>
#include <cctype>
#include <cstring>

#include "onnx/applied_operator.h"
#include "onnx/growth.h"
#include "onnx/literal.h"
#include "onnx/repeated_blocks.h"

namespace rml::onnx {

void Builder::spend(std::int64_t elements) {
  known_work -= elements;
  if (known_work < 0) throw TooLarge{"", "computing the constants takes too long: --limit nodes=N allows more"};
}

Term Builder::apply(std::string_view op, std::vector<Term> operands, const Arguments& arguments,
                    std::optional<DType> result) {
  const AppliedOperator applied(op, std::move(operands), arguments, result);
  if (auto known = applied.known([this](std::int64_t work) { spend(work); })) return *std::move(known);
  return applied.written([this](const Term& term, bool typed_by_context) { return text_of(term, typed_by_context); });
}

Term Builder::constant(std::shared_ptr<const Tensor> value, std::string hint) {
  Term term{"", Term::atom, value->dtype(), value->shape(), nullptr, std::move(hint)};
  term.value = std::move(value);
  return term;
}

Term Builder::constant(Tensor value, std::string hint) {
  return constant(std::make_shared<const Tensor>(std::move(value.freeze())), std::move(hint));
}

Term Builder::scalar(DType dtype, double value) {
  Tensor wide = Tensor::scalar(DType::f64, value);
  return apply("cast", {constant(std::move(wide))}, {{"dtype", dtype}});
}

Term Builder::integers(const std::vector<std::int64_t>& values) {
  Tensor t(DType::i64, {static_cast<std::int64_t>(values.size())});
  if (!values.empty()) std::memcpy(t.data(), values.data(), t.bytes());
  return constant(std::move(t));
}

Term Builder::written(std::string text, int precedence, DType dtype, Shape shape) {
  return {std::move(text), precedence, dtype, std::move(shape), nullptr, ""};
}

std::string Builder::type_text(DType dtype, const Shape& shape) { return type_string(dtype, shape); }

Term Builder::bind(const Term& term, const std::string& name) {
  if (term.known() || identifier(term.text) == term.text) return term;
  const std::string as = fresh(name);
  define(as, term);
  return written(as, Term::atom, term.dtype, term.shape);
}

Term Builder::shared(const Term& term) { return bind(term, "t"); }

void Builder::define(const std::string& name, const Term& term) {
  define({name + ": " + type_text(term.dtype, term.shape)}, text_of(term, true));
}

void Builder::define(const std::vector<std::string>& names, std::string text) {
  std::string left;
  for (const std::string& n : names) left += (left.empty() ? "" : ", ") + n;
  scope().equations.push_back({std::exchange(comment_, {}), left + " = " + std::move(text) + ";"});
}

void Builder::remember(const Term& held, const Term& init, const std::string& next) {
  define({held.text + ": " + type_text(held.dtype, held.shape)}, text_of(init, true) + " fby " + next);
}

Term Builder::part(const Term& x, std::int64_t axis, std::int64_t begin, std::int64_t end) {
  const auto at = static_cast<std::size_t>(axis);
  if (begin == 0 && end == x.shape[at]) return x;
  std::vector<std::int64_t> starts(x.shape.size(), 0), stops(x.shape);
  starts[at] = begin;
  stops[at] = end;
  return apply("slice", {x}, {{"starts", starts}, {"stops", stops}});
}

Term Builder::input(const std::string& wanted, DType dtype, const Shape& shape) {
  Term variable = written(fresh(wanted), Term::atom, dtype, shape);
  input(variable);
  return variable;
}

void Builder::input(const Term& variable) {
  scope().inputs.push_back(variable.text + ": " + type_text(variable.dtype, variable.shape));
}

void Builder::output(const std::string& name, DType dtype, const Shape& shape) {
  scope().outputs.push_back(name + ": " + type_text(dtype, shape));
}

std::string Builder::listed(const std::vector<Term>& arguments) {
  std::string text;
  for (const Term& a : arguments) text += (text.empty() ? "" : ", ") + text_of(a, false);
  return text;
}

std::string Builder::call_text(const std::string& node, const std::vector<Term>& arguments) {
  return node + "(" + listed(arguments) + ")";
}

std::string Builder::call_text(const std::string& node, const Iterated& over) {
  std::string text = over.states.empty() ? "map" : over.stacks ? "scan" : "fold";
  text += (over.reverse ? "[reverse] " : " ") + node + "(";
  if (!over.states.empty()) text += listed(over.states) + "; ";
  text += listed(over.sequences);
  if (!over.fixed.empty()) text += "; " + listed(over.fixed);
  return text + ")";
}

void Builder::comment(std::string text) { comment_ = std::move(text); }

std::string Builder::text_of(const Term& term, bool typed_by_context) {
  if (!term.known()) return term.text;
  const bool plain = term.dtype == DType::boolean || typed_by_context;
  if (plain && term.shape.empty())
    if (auto text = literal(*term.value)) return *text;
  return constant_name(term);
}

Term Builder::stored(const Term& term, const std::string& name) {
  auto text = literal(*term.value);
  if (!text) {
    text = load_text(name);
    weights_.push_back({name, term.value});
  }
  return written(*text, Term::atom, term.dtype, term.shape);
}

std::string Builder::load_text(const std::string& name) const {
  std::string file;
  for (const char c : weights_file) {
    if (c == '"' || c == '\\') file += '\\';
    file += c == '\n' ? std::string("\\n") : c == '\t' ? std::string("\\t") : std::string(1, c);
  }
  return "load(\"" + file + "\", \"" + name + "\")";
}

std::string Builder::constant_name(const Term& term) {
  const std::string type = type_text(term.dtype, term.shape);
  const std::pair<const void*, std::string> key{term.value->data(), type};
  const auto known = named_.find(key);
  if (known != named_.end()) return known->second.first;
  const auto text = literal(*term.value);
  if (text) {
    const auto same = small_.find(type + " = " + *text);
    if (same != small_.end()) return same->second;
  }
  std::string wanted = term.hint.empty() ? "c" : identifier(term.hint);
  std::string name = wanted;
  const auto is_taken = [&] {
    return program_names_.contains(name) ||
           std::ranges::any_of(scopes_, [&](const Scope& s) { return s.names.contains(name); });
  };
  int& k = counts_[wanted];
  if (term.hint.empty()) name = wanted + std::to_string(++k);
  while (is_taken()) name = wanted + std::to_string(++k);
  program_names_.insert(name);
  for (Scope& s : scopes_) s.names.insert(name);
  if (text) {
    small_[type + " = " + *text] = name;
    constants_.push_back("const " + name + ": " + type + " = " + *text + ";");
  } else {
    constants_.push_back("const " + name + ": " + type + " = " + load_text(name) + ";");
    weights_.push_back({name, term.value});
  }
  named_[key] = {name, term.value};
  return name;
}

std::string Builder::fresh(const std::string& wanted) {
  const std::string base = identifier(wanted);
  std::string name = base;
  int& k = scope().counts.try_emplace(base, 1).first->second;
  while (scope().names.contains(name) || program_names_.contains(name))
    name = base + (std::isdigit(static_cast<unsigned char>(base.back())) != 0 ? "_" : "") + std::to_string(++k);
  scope().names.insert(name);
  return name;
}

std::string Builder::fresh_node(const std::string& wanted) {
  const std::string base = identifier(wanted);
  std::string name = base;
  int& k =
      counts_.try_emplace(base + " ", 1).first->second;  // the blank keeps these counts apart from those of constants
  while (program_names_.contains(name)) name = base + "_" + std::to_string(++k);
  program_names_.insert(name);
  return name;
}

void Builder::take_out_repeated_blocks() {
  const auto name = [&](const std::string& wanted) { return fresh_node(wanted); };
  for (Scope& node : onnx::take_out_repeated_blocks(scope(), constants_, name)) nodes_.push_back(std::move(node));
}

void Builder::open(const std::string& node) { scopes_.push_back({node, {}, {}, {}, {}, {}}); }

std::string Builder::close() {
  Scope done = std::move(scopes_.back());
  scopes_.pop_back();
  std::string text;
  for (const std::string& port : done.inputs) text += port + ", ";
  text += "->";
  for (const std::string& port : done.outputs) text += port + ", ";
  for (const Equation& e : done.equations) text += e.text;
  const auto [before, first] = written_.try_emplace(std::move(text), done.name);
  if (!first) return before->second;
  nodes_.push_back(std::move(done));
  return nodes_.back().name;
}

}  // namespace rml::onnx

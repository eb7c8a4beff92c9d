// Applies rows of the operator table to terms (builder.h) and writes the text of the result.
#include "onnx/builder.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>

#include "onnx/growth.h"
#include "onnx/repeated_blocks.h"
#include "semantics/instantiate/literals.h"

namespace rml::onnx {

namespace {

constexpr int level_or = 10, level_and = 20, level_comparison = 30, level_sum = 40, level_product = 50,
              level_prefix = 70;

struct Infix {
  std::string_view op, sign;
  int level;
};
constexpr Infix infixes[] = {
    {"add", " + ", level_sum},        {"sub", " - ", level_sum},           {"mul", " * ", level_product},
    {"div", " / ", level_product},    {"eq", " == ", level_comparison},    {"ne", " != ", level_comparison},
    {"lt", " < ", level_comparison},  {"le", " <= ", level_comparison},    {"gt", " > ", level_comparison},
    {"ge", " >= ", level_comparison}, {"logical_and", " and ", level_and}, {"logical_or", " or ", level_or},
    {"mod", " % ", level_product},
};

std::string list(const std::vector<std::int64_t>& values) {
  std::string text = "[";
  for (const std::int64_t v : values) text += (text.size() > 1 ? ", " : "") + std::to_string(v);
  return text + "]";
}

std::string float_text(double value) {
  char digits[64];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  std::string text(digits, end);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

// Returns the element as written in a program. A NaN whose sign or payload differs from that of
// `nan` has no text.
template <class T>
std::optional<std::string> element_text(T value) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  const auto nan = std::bit_cast<Bits>(std::numeric_limits<T>::quiet_NaN());
  if (std::isnan(value) && std::bit_cast<Bits>(value) != nan) return std::nullopt;
  char digits[64];
  std::string text(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  if (std::isfinite(value) && text.find_first_of(".e") == std::string::npos) text += ".0";
  // The compiler first reads the literal as an f64, which must not change its value.
  if (std::isfinite(value) && static_cast<T>(std::strtod(text.c_str(), nullptr)) != value)
    return float_text(static_cast<double>(value));
  return text;
}

std::string argument_text(const Argument& a) {
  if (const auto* v = std::get_if<std::int64_t>(&a)) return std::to_string(*v);
  if (const auto* v = std::get_if<std::vector<std::int64_t>>(&a)) return list(*v);
  if (const auto* v = std::get_if<double>(&a)) return float_text(*v);
  if (const auto* v = std::get_if<DType>(&a)) return std::string(name(*v));
  return '"' + std::get<std::string>(a) + '"';
}

rml::Attribute attribute(const Argument& a, ParameterKind kind) {
  rml::Attribute to;
  to.given = true;
  if (const auto* v = std::get_if<std::int64_t>(&a)) {
    to.scalar = true;
    to.integers = {*v};
    to.number = static_cast<double>(*v);
  } else if (const auto* list = std::get_if<std::vector<std::int64_t>>(&a)) {
    to.integers = *list;
  } else if (const auto* number = std::get_if<double>(&a)) {
    to.number = *number;
  } else if (const auto* dtype = std::get_if<DType>(&a)) {
    to.dtype = *dtype;
  } else {
    to.text = std::get<std::string>(a);
  }
  if (kind == ParameterKind::number) to.integers.clear(), to.scalar = false;
  return to;
}

const Argument* given(const Arguments& arguments, std::string_view name) {
  for (const auto& [key, value] : arguments)
    if (key == name) return &value;
  return nullptr;
}

// The dtypes of the variables in an operator's row.
struct Solved {
  std::map<int, DType> variables;
  DType result = DType::f32;
};

Solved solve(const OperatorInfo& info, const std::vector<const OperatorParameter*>& slots,
             const std::vector<Term>& operands, const Arguments& arguments, std::optional<DType> result) {
  Solved solved;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const DTypeSlot& slot = slots[k]->dtype;
    const DType dtype = operands[k].dtype;
    if ((slot.allowed & bit(dtype)) == 0)
      throw ModelError{"", std::string(info.name) + " is not defined for " + std::string(name(dtype))};
    if (slot.variable < 0) continue;
    const auto [at, first] = solved.variables.emplace(slot.variable, dtype);
    if (!first && at->second != dtype)
      throw ModelError{
          "", std::string(info.name) + " of " + std::string(name(at->second)) + " and " + std::string(name(dtype))};
  }
  solved.result = result.value_or(info.result.fallback);
  if (info.result.variable >= 0 && solved.variables.contains(info.result.variable))
    solved.result = solved.variables[info.result.variable];
  else if (info.result.variable < 0)
    for (int d = 0; d < dtype_count; ++d)
      if (info.result.allowed == bit(static_cast<DType>(d))) solved.result = static_cast<DType>(d);
  for (const OperatorParameter& p : info.parameters)
    if (const Argument* a = p.kind == ParameterKind::dtype ? given(arguments, p.name) : nullptr)
      solved.result = std::get<DType>(*a);
  return solved;
}

}  // namespace

std::int64_t Term::elements() const { return element_count(shape).value_or(max_elements); }

std::optional<std::string> literal(const Tensor& t) {
  constexpr std::int64_t most = 16;
  if (t.elements() > most || t.elements() == 0 || t.shape().size() > 1) return std::nullopt;
  std::string text;
  for (std::int64_t i = 0; i < t.elements(); ++i) {
    if (i > 0) text += ", ";
    if (t.dtype() == DType::boolean) {
      text += t.as<std::uint8_t>()[i] != 0 ? "true" : "false";
    } else if (t.dtype() == DType::f32 || t.dtype() == DType::f64) {
      const auto number = t.dtype() == DType::f64 ? element_text(t.as<double>()[i]) : element_text(t.as<float>()[i]);
      if (!number) return std::nullopt;
      text += *number;
    } else if (is_integer(t.dtype())) {
      text += to_string([&] {
        Tensor one(t.dtype(), {});
        const std::size_t size = byte_size(t.dtype());
        std::memcpy(one.data(), static_cast<const char*>(t.data()) + static_cast<std::size_t>(i) * size, size);
        return one;
      }());
    } else {
      return std::nullopt;
    }
  }
  return t.shape().empty() ? text : "[" + text + "]";
}

namespace {

// Returns a range of an axis of extent n in the syntax of the language; bounds at the end of the
// axis are omitted.
std::string range_text(std::int64_t n, std::int64_t from, std::int64_t to, std::int64_t step) {
  const auto bound = [](std::int64_t at, std::int64_t end) { return at == end ? "" : std::to_string(at); };
  if (step < 0) return bound(from, n - 1) + ":" + bound(to, -n - 1) + ":" + std::to_string(step);
  return bound(from, 0) + ":" + bound(to, n) + (step == 1 ? "" : ":" + std::to_string(step));
}

// Returns the ranges of a slice in the syntax of the language, for example `:, 1:3`; "" selects
// everything. Returns nothing if the slice cannot be written so.
std::optional<std::string> subscript(const Shape& x, const Arguments& arguments) {
  using Integers = std::vector<std::int64_t>;
  const auto bounds = [&](const char* name) -> const Integers* {
    const Argument* a = given(arguments, name);
    const auto* list = a == nullptr ? nullptr : std::get_if<Integers>(a);
    return list != nullptr && list->size() == x.size() ? list : nullptr;
  };
  const Integers *from = bounds("starts"), *to = bounds("stops"), *by = bounds("steps");
  if (from == nullptr || to == nullptr || (by == nullptr && given(arguments, "steps") != nullptr)) return std::nullopt;
  std::string text, all;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const std::int64_t step = by == nullptr ? 1 : (*by)[k];
    const auto range = slice_range(x, k, (*from)[k], (*to)[k], step);
    if (!std::holds_alternative<SliceRange>(range)) return std::nullopt;
    all += (k == 0 ? "" : ", ") + range_text(x[k], (*from)[k], (*to)[k], step);
    const bool whole = std::get<SliceRange>(range).count == x[k] && step == 1;
    if (!whole) text = all;
  }
  return text;
}

// Estimates the work. A product of an m × n and an n × k matrix takes m n k steps, which is the
// square root of the product of its three sizes.
std::int64_t work_of(const OperatorInfo& info, const std::vector<Term>& operands, std::int64_t result,
                     std::int64_t read) {
  const bool of_each = operands.size() < 2 || info.lowering == Lowering::elementwise;
  if (of_each) return result + read;
  const auto size = [](std::int64_t n) { return static_cast<double>(n); };
  const double product = size(result) * size(operands[0].elements()) * size(operands[1].elements());
  return result + read + static_cast<std::int64_t>(std::sqrt(product));
}

}  // namespace

void Builder::spend(std::int64_t elements) {
  known_work -= elements;
  if (known_work < 0) throw TooLarge{"", "computing the constants takes too long: --limit nodes=N allows more"};
}

Term Builder::apply(std::string_view op, std::vector<Term> operands, const Arguments& arguments,
                    std::optional<DType> result) {
  const OperatorInfo& info = operators()[operators().require(op)];
  std::vector<const OperatorParameter*> slots;  // slots of the operands, in their order
  std::size_t fixed = 0;
  for (const OperatorParameter& p : info.parameters) fixed += p.kind == ParameterKind::operand && !p.variadic;
  std::vector<rml::Attribute> attributes;
  for (const OperatorParameter& p : info.parameters) {
    if (p.kind != ParameterKind::operand) {
      const Argument* a = given(arguments, p.name);
      attributes.push_back(a != nullptr ? attribute(*a, p.kind) : draft::default_attribute(p.default_value, p.kind));
      continue;
    }
    const std::size_t count = p.variadic ? operands.size() - fixed : 1;
    slots.insert(slots.end(), count, &p);
  }
  const Solved solved = solve(info, slots, operands, arguments, result);

  std::vector<DType> dtypes;
  std::vector<Shape> shapes;
  for (const Term& t : operands) dtypes.push_back(t.dtype), shapes.push_back(t.shape);
  const Application app{dtypes, shapes, attributes, solved.result};
  const ShapeResult shaped = info.shape(app);
  if (const auto* why = std::get_if<std::string>(&shaped)) throw ModelError{"", std::string(info.name) + ": " + *why};
  Term term{"", atom, solved.result, std::get<Shape>(shaped), nullptr, ""};

  bool all_known = !info.random;
  std::int64_t read = 0;
  for (const Term& t : operands) all_known = all_known && t.known(), read += t.elements();
  if (all_known && worth_folding(info.lowering, term.elements(), read)) {
    spend(work_of(info, operands, term.elements(), read));
    std::vector<const Tensor*> values;
    for (const Term& t : operands) values.push_back(t.value.get());
    Tensor value(term.dtype, term.shape);
    if (info.evaluate(app, {}, values, value).kind == 0) {
      term.value = std::make_shared<const Tensor>(std::move(value.freeze()));
      for (const Term& t : operands)
        if (term.hint.empty()) term.hint = t.hint;
      return term;
    }
  }

  // A literal gets its dtype from an operand with the same type variable that is not a literal.
  std::map<int, std::size_t> unknown;  // for each type variable: number of operands that are not literals
  for (std::size_t k = 0; k < operands.size(); ++k)
    if (!operands[k].known() && slots[k]->dtype.variable >= 0) ++unknown[slots[k]->dtype.variable];
  const auto text = [&](std::size_t k) {
    const auto of_variable = unknown.find(slots[k]->dtype.variable);
    const std::size_t own = operands[k].known() ? 0 : 1;
    return text_of(operands[k], of_variable != unknown.end() && of_variable->second > own);
  };
  for (const Infix& infix : infixes) {
    if (infix.op != op) continue;
    const auto side = [&](std::size_t k, int least) {
      const int level = operands[k].known() ? static_cast<int>(atom) : operands[k].precedence;
      return level < least ? "(" + text(k) + ")" : text(k);
    };
    term.text =
        side(0, infix.level + (infix.level == level_comparison)) + std::string(infix.sign) + side(1, infix.level + 1);
    term.precedence = infix.level;
    return term;
  }
  if (op == "negate" || op == "logical_not") {
    const bool low = !operands[0].known() && operands[0].precedence < atom;
    term.text = (op == "negate" ? "-" : "not ") + (low ? "(" + text(0) + ")" : text(0));
    term.precedence = level_prefix;
    return term;
  }
  if (op == "slice") {
    if (auto ranges = subscript(operands[0].shape, arguments)) {
      if (ranges->empty()) return operands[0];
      const bool low = !operands[0].known() && operands[0].precedence < atom;
      term.text = (low ? "(" + text(0) + ")" : text(0)) + "[" + *ranges + "]";
      return term;
    }
  }
  std::size_t k = 0;
  const auto add = [&](const std::string& part) { term.text += (term.text.ends_with('(') ? "" : ", ") + part; };
  term.text = std::string(op) + "(";
  for (const OperatorParameter& p : info.parameters) {
    if (p.kind == ParameterKind::operand) {
      for (const std::size_t end = p.variadic ? k + operands.size() - fixed : k + 1; k < end; ++k) add(text(k));
    } else if (const Argument* a = given(arguments, p.name)) {
      add((p.default_value.empty() ? "" : std::string(p.name) + "=") + argument_text(*a));
    }
  }
  term.text += ")";
  return term;
}

Term Builder::constant(std::shared_ptr<const Tensor> value, std::string hint) {
  Term term{"", atom, value->dtype(), value->shape(), nullptr, std::move(hint)};
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
  return written(as, atom, term.dtype, term.shape);
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
  Term variable = written(fresh(wanted), atom, dtype, shape);
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
  return written(*text, atom, term.dtype, term.shape);
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

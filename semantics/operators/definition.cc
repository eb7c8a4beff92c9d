// Evaluates definitions. A text is parsed at its first use, as a node or as the only equation of a
// node, and stored.
#include "semantics/operators/definition.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>

#include "frontend/parse_module.h"

namespace rml {

namespace {

using Operand = DefinitionTarget::Operand;

struct Parsed {
  Program program;
  const ast::Node& node() const { return program.nodes[0]; }
};

const Parsed& parsed(std::string_view text) {
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<Parsed>, std::less<>> all;
  const std::lock_guard lock(mutex);
  if (const auto known = all.find(text); known != all.end()) return *known->second;
  auto result = std::make_unique<Parsed>();
  SourceMap sources;
  Diagnostics diagnostics;
  const bool is_node = text.starts_with("node ");
  const std::uint32_t file = sources.add(
      "definition", is_node ? std::string(text) : "node definition() -> (d) d = " + std::string(text) + ";");
  Program& program = result->program;
  program.modules.resize(1);
  program.modules[0] = parse_module(file, ModuleId{0}, program, sources, diagnostics).module;
  if (diagnostics.has_errors() || program.nodes.size() != 1)
    throw std::logic_error("the definition does not parse: " + std::string(text));
  return *all.emplace(std::string(text), std::move(result)).first->second;
}

std::string_view operator_name(BinaryOp op) {
  constexpr std::string_view names[] = {"logical_or", "logical_and", "eq",  "ne",  "lt",  "le", "gt",
                                        "ge",         "add",         "sub", "mul", "div", "mod"};
  return names[static_cast<std::size_t>(op)];
}

double fold(std::string_view op, double a, double b) {
  if (op == "add") return a + b;
  if (op == "sub") return a - b;
  if (op == "mul") return a * b;
  if (op == "div") return a / b;
  if (op == "maximum") return std::max(a, b);
  throw std::logic_error("definitions have no " + std::string(op) + " of numbers");
}

class Definition {
 public:
  // `dtype`: the dtype of numbers that meet no operand.
  Definition(std::string_view text, DType dtype, DefinitionTarget& target)
      : dtype_(dtype), target_(target), of_(parsed(text)) {}

  void name(std::string_view name, Operand x) { operands_.insert_or_assign(std::string(name), std::move(x)); }
  void name(std::string_view name, Attribute a) { attributes_.insert_or_assign(std::string(name), std::move(a)); }
  void name_inputs(std::span<const Operand> inputs) {
    for (std::size_t k = 0; k < inputs.size(); ++k) name(text(of_.node().inputs.at(k).name), inputs[k]);
  }

  // Evaluates the equations in their order, and returns the value of the last one.
  Operand result() {
    Operand last;
    for (const ast::Equation& equation : of_.node().equations) {
      last = operand(value(equation.value), dtype_);
      name(text(equation.targets.at(0).name), last);
    }
    return last;
  }
  std::vector<Operand> outputs() {
    std::vector<Operand> all;
    for (const ast::Parameter& output : of_.node().outputs) all.push_back(operands_.at(text(output.name)));
    return all;
  }

 private:
  using Part = std::variant<Operand, double>;

  [[noreturn]] void fail(const std::string& why) const { throw std::logic_error("a definition: " + why); }
  const ast::Expr& at(ExprId e) const { return of_.program[e]; }
  const std::string& text(Symbol s) const { return of_.program.text(s); }

  Operand operand(const Part& x, DType like) {
    if (const auto* made = std::get_if<Operand>(&x)) return *made;
    return target_.constant(Tensor::number(like, std::get<double>(x)));
  }

  Part value(ExprId e) {
    if (const auto* i = std::get_if<ast::IntLiteral>(&at(e))) return static_cast<double>(i->value);
    if (const auto* f = std::get_if<ast::FloatLiteral>(&at(e))) return f->value;
    if (const auto* n = std::get_if<ast::Name>(&at(e))) return named(text(n->symbol));
    if (const auto* u = std::get_if<ast::Unary>(&at(e))) {
      const Part x = value(u->operand);
      if (const auto* number = std::get_if<double>(&x)) return -*number;
      return apply(u->op == UnaryOp::negate ? "negate" : "logical_not", {x}, {});
    }
    if (const auto* b = std::get_if<ast::Binary>(&at(e))) {
      const Part left = value(b->left);
      return apply(operator_name(b->op), {left, value(b->right)}, {});
    }
    if (const auto* c = std::get_if<ast::Call>(&at(e))) return call(*c);
    fail("an expression of an unexpected kind");
  }

  Part named(const std::string& name) {
    if (const auto known = operands_.find(name); known != operands_.end()) return known->second;
    const auto known = attributes_.find(name);
    if (known == attributes_.end()) fail("unknown name " + name);
    const Attribute& a = known->second;
    return a.integers.empty() ? a.number : static_cast<double>(a.integers[0]);
  }

  Part call(const ast::Call& c) {
    const OperatorInfo& row = operators()[operators().require(text(c.callee[0]))];
    std::vector<Part> parts;
    std::vector<Attribute> attributes;
    for (std::size_t k = 0; k < row.parameters.size(); ++k) {
      const OperatorParameter& p = row.parameters[k];
      ExprId argument;
      for (std::size_t j = 0; j < c.arguments.size(); ++j) {
        const Symbol name = c.arguments[j].name;
        if (name.valid() ? text(name) == p.name : j == k) argument = c.arguments[j].value;
      }
      if (p.variadic) {
        for (const ast::Argument& a : c.arguments)
          if (!a.name.valid()) parts.push_back(value(a.value));
      } else if (p.kind == ParameterKind::operand)
        parts.push_back(value(argument));
      else
        attributes.push_back(attribute(p, argument));
    }
    if (row.name == "size") return size(std::get<Operand>(parts[0]).shape, attributes[0]);
    return apply(row.name, parts, std::move(attributes));
  }

  static double size(const Shape& shape, const Attribute& axes) {
    const std::vector<bool> counted = *reduced_axes(axes, shape.size());
    double count = 1;
    for (std::size_t k = 0; k < shape.size(); ++k)
      if (counted[k]) count *= static_cast<double>(shape[k]);
    return count;
  }

  Attribute attribute(const OperatorParameter& p, ExprId e) {
    Attribute a;
    if (!e.valid()) {
      if (p.default_value == "all") return a;
      a.given = a.scalar = true;
      if (p.kind == ParameterKind::text) {
        a.text = p.default_value;
        return a;
      }
      const auto* end = p.default_value.data() + p.default_value.size();
      std::from_chars(p.default_value.data(), end, a.number);
      a.integers = {static_cast<std::int64_t>(a.number)};
      return a;
    }
    a.given = true;
    if (const auto* n = std::get_if<ast::Name>(&at(e))) {
      if (p.kind == ParameterKind::dtype) {
        a.dtype = dtype_named(text(n->symbol)).value();
        return a;
      }
      const auto known = attributes_.find(text(n->symbol));
      if (known == attributes_.end()) fail("unknown attribute " + text(n->symbol));
      return known->second;
    }
    if (const auto* c = std::get_if<ast::Call>(&at(e)); c != nullptr && text(c->callee[0]) == "shape") {
      a.integers = std::get<Operand>(value(c->arguments[0].value)).shape;
      return a;
    }
    if (const auto* written = std::get_if<ast::TextLiteral>(&at(e))) {
      a.text = written->value;
      return a;
    }
    if (const auto* list = std::get_if<ast::Array>(&at(e))) {
      for (const ExprId element : list->elements) a.integers.push_back(integer(element));
      return a;
    }
    a.scalar = true;
    a.number = std::get<double>(value(e));
    a.integers = {static_cast<std::int64_t>(a.number)};
    return a;
  }

  std::int64_t integer(ExprId e) { return static_cast<std::int64_t>(std::get<double>(value(e))); }

  Part apply(std::string_view name, const std::vector<Part>& parts, std::vector<Attribute> attributes) {
    const OperatorId id = operators().require(name);
    const OperatorInfo& row = operators()[id];
    DType like = dtype_;
    bool numbers = !parts.empty();
    for (std::size_t k = parts.size(); k-- > 0;) {
      const auto* made = std::get_if<Operand>(&parts[k]);
      if (made == nullptr) continue;
      numbers = false;
      if (name != "select" || k > 0) like = made->dtype;
    }
    if (numbers) return fold(name, std::get<double>(parts.at(0)), std::get<double>(parts.at(1)));
    std::vector<Operand> operands;
    std::vector<DType> dtypes;
    std::vector<Shape> shapes;
    for (const Part& part : parts) {
      operands.push_back(operand(part, like));
      dtypes.push_back(operands.back().dtype);
      shapes.push_back(operands.back().shape);
    }
    const DType dtype = result_dtype(row, dtypes, attributes);
    ShapeResult shape = row.shape({dtypes, shapes, attributes, dtype});
    if (const auto* error = std::get_if<std::string>(&shape)) fail(*error);
    return target_.apply(id, operands, std::move(attributes), dtype, std::get<Shape>(std::move(shape)));
  }

  DType result_dtype(const OperatorInfo& row, const std::vector<DType>& operands,
                     const std::vector<Attribute>& attributes) const {
    if (row.result.variable < 0) return static_cast<DType>(std::countr_zero(row.result.allowed));
    std::size_t operand = 0, attribute = 0;
    for (const OperatorParameter& p : row.parameters) {
      if (p.kind == ParameterKind::dtype) return attributes[attribute].dtype;
      if (p.kind != ParameterKind::operand) {
        ++attribute;
      } else if (p.dtype.variable == row.result.variable) {
        return operands[operand];
      } else {
        ++operand;
      }
    }
    fail("the dtype of " + std::string(row.name) + " is open");
  }

  const DType dtype_;
  std::map<std::string, Operand, std::less<>> operands_;
  std::map<std::string, Attribute, std::less<>> attributes_;
  DefinitionTarget& target_;
  const Parsed& of_;
};

// Evaluates into tensors, all of which live until the end.
class Tensors : public DefinitionTarget {
 public:
  Operand add(Tensor t) {
    tensors_.push_back(std::move(t));
    return {tensors_.size() - 1, tensors_.back().dtype(), tensors_.back().shape()};
  }
  Operand constant(Tensor t) override { return add(std::move(t)); }
  Operand apply(OperatorId op, const std::vector<Operand>& operands, std::vector<Attribute> attributes, DType dtype,
                Shape shape) override {
    std::vector<DType> dtypes;
    std::vector<Shape> shapes;
    std::vector<const Tensor*> pointers;
    for (const Operand& x : operands) {
      dtypes.push_back(x.dtype);
      shapes.push_back(x.shape);
      pointers.push_back(&tensors_[x.id]);
    }
    Tensor result(dtype, std::move(shape));
    const Fault fault = operators()[op].evaluate({dtypes, shapes, attributes, dtype}, {}, pointers, result);
    if (fault_.kind == 0) fault_ = fault;
    return add(std::move(result));
  }
  const Fault& fault() const { return fault_; }  // the fault of the first part that failed
  Tensor& operator[](const Operand& x) { return tensors_[x.id]; }

 private:
  std::vector<Tensor> tensors_;
  Fault fault_;
};

}  // namespace

Operand define(const OperatorInfo& row, const Application& app, const std::vector<Operand>& operands,
               DefinitionTarget& target) {
  Definition definition(row.definition(app), app.result_dtype, target);
  std::size_t operand = 0, attribute = 0;
  for (const OperatorParameter& p : row.parameters) {
    if (p.kind != ParameterKind::operand)
      definition.name(p.name, app.attributes[attribute++]);
    else if (operand < operands.size())
      definition.name(p.name, operands[operand++]);
  }
  return definition.result();
}

std::vector<Operand> define_node(std::string_view text, DType dtype, std::span<const Operand> inputs,
                                 const std::vector<std::pair<std::string_view, double>>& numbers,
                                 DefinitionTarget& target) {
  Definition definition(text, dtype, target);
  definition.name_inputs(inputs);
  for (const auto& [name, number] : numbers) {
    Attribute a;
    a.given = a.scalar = true;
    a.number = number;
    if (std::isfinite(number)) a.integers = {static_cast<std::int64_t>(number)};
    definition.name(name, std::move(a));
  }
  definition.result();
  return definition.outputs();
}

Fault evaluate_definition(const OperatorInfo& row, const Application& app, std::span<const Tensor* const> operands,
                          Tensor& result) {
  if (result.elements() == 0) return {};
  Tensors tensors;
  std::vector<Operand> places;
  for (const Tensor* x : operands) places.push_back(tensors.add(*x));
  const Operand last = define(row, app, places, tensors);
  std::memcpy(result.data(), tensors[last].data(), result.bytes());
  return tensors.fault();
}

std::string_view kept_definition(const std::string& text) {
  static std::mutex mutex;
  static std::set<std::string> texts;
  const std::lock_guard lock(mutex);
  return *texts.insert(text).first;
}

}  // namespace rml

// The rules of solve_shapes.h: shapes and static values of single values.
//
// Operators use the functions of their rows, on the known attributes. An operator that only reads
// shapes (`shape(x)`) is static as soon as they are known. Negative bounds of an index count from
// the end; they are checked here:
//
//   x: [4, 3]    x[-1, 0:2]    axis 0 fixed at 3, axis 1 range 0…2: shape [2]
//                x[::-2]       axis 0 range 3, 1: shape [2, 3]
#include <algorithm>
#include <array>
#include <optional>

#include "semantics/core/joint.h"
#include "semantics/instantiate/iteration.h"
#include "semantics/instantiate/solve_shapes.h"
#include "semantics/values/overloaded.h"
#include "semantics/values/strides.h"

namespace rml::draft {

std::string too_large(const Shape& shape) {
  return "shape " + to_string(shape) +
         (shape.size() > max_rank ? " has more than " + std::to_string(max_rank) + " axes" : " has too many elements");
}

namespace {

// The elements begin + Σ index·stride of `from`, in row-major order of `shape`.
Tensor gather(const Tensor& from, const Shape& shape, std::int64_t begin, const std::vector<std::int64_t>& strides) {
  Tensor result(from.dtype(), shape);
  const std::size_t size = byte_size(from.dtype());
  const auto* source = static_cast<const std::byte*>(from.data());
  auto* target = static_cast<std::byte*>(result.data());
  std::vector<std::int64_t> index(shape.size(), 0);
  std::int64_t at = begin;
  for (std::int64_t n = result.elements(); n > 0; --n, target += size) {
    std::memcpy(target, source + static_cast<std::size_t>(at) * size, size);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      at += strides[axis];
      if (++index[axis] < shape[axis]) break;
      at -= strides[axis] * shape[axis];
      index[axis] = 0;
    }
  }
  return result;
}

bool small(const Shape& shape) {
  const auto count = element_count(shape);
  return count && *count <= max_static_elements;
}

std::optional<double> number(const Tensor& t) {
  if (t.elements() != 1) return std::nullopt;
  if (t.dtype() == DType::f64) return *t.as<double>();
  if (t.dtype() == DType::f32) return static_cast<double>(*t.as<float>());
  if (is_integer(t.dtype())) return static_cast<double>(t.integers()[0]);
  return std::nullopt;
}

// The operator's symbol for the start of a message: "`+`: ".
std::string written(const OperatorInfo& row) {
  constexpr std::pair<std::string_view, std::string_view> symbols[] = {
      {"add", "+"}, {"sub", "-"},           {"mul", "*"},         {"div", "/"}, {"mod", "%"},
      {"eq", "=="}, {"ne", "!="},           {"lt", "<"},          {"le", "<="}, {"gt", ">"},
      {"ge", ">="}, {"logical_and", "and"}, {"logical_or", "or"}, {"array", ""}};
  std::string_view name = row.name;
  for (const auto& [operation, symbol] : symbols)
    if (operation == row.name) name = symbol;
  return name.empty() ? std::string() : "`" + std::string(name) + "`: ";
}

// True if the default is an integer, so that rules may always expect one.
bool has_one(const OperatorParameter& parameter) {
  const std::string_view text = parameter.default_value;
  return !text.empty() && text != "all" && text[0] != '[';
}

Problem problem(Code code, Span span, std::string message) { return {code, span, std::move(message), {}, {}, {}}; }

}  // namespace

Tensor broadcast_tensor(const Tensor& tensor, const Shape& shape) {
  const Strides dense = dense_strides(tensor.shape());
  std::vector<std::int64_t> strides(shape.size(), 0);
  for (std::size_t k = 1; k <= tensor.shape().size(); ++k) {
    const std::size_t axis = tensor.shape().size() - k;
    if (tensor.shape()[axis] != 1) strides[shape.size() - k] = dense[axis];
  }
  return gather(tensor, shape, 0, strides);
}

Outcome<Shape> ShapeRules::shape(DraftId d) const {
  const auto same_as = [&](DraftId of) { return state(of).known ? Outcome<Shape>(state(of).shape) : Outcome<Shape>(); };
  return std::visit(Overloaded{
                        [](const Alias&) { return Outcome<Shape>(); },
                        [](const Const& c) { return Outcome<Shape>(c.value->shape()); },
                        [&](const Input& i) {
                          if (i.is_open) return Outcome<Shape>();
                          return i.is_given ? Outcome<Shape>(i.given) : extents(i.shape, "the shape of an input");
                        },
                        [&](const Apply& a) { return apply_shape(d, a); },
                        [&](const Index&) { return index_shape(d); },
                        [&](const Declared& t) { return extents(t.shape, "a declared shape"); },
                        [](const Call&) { return Outcome<Shape>(Shape{}); },
                        [&](const Iterate& i) { return iterate_shape(d, i); },
                        [&](const Result& r) {
                          if (const auto* i = std::get_if<Iterate>(&draft_[r.call].rhs)) {
                            const IteratorBody* body = iterated(*i);
                            return body != nullptr && body->sound() ? Outcome<Shape>(body->outputs[r.output].second)
                                                                    : Outcome<Shape>();
                          }
                          const auto& call = std::get<Call>(draft_[r.call].rhs);
                          return extents(draft_.externals[call.external].output_shapes[r.output],
                                         "the shape of an external node's output");
                        },
                        [&](const When& w) { return same_as(w.operand); },
                        [](const Merge&) { return Outcome<Shape>(); },
                        [](const Fby&) { return Outcome<Shape>(); },
                        [&](const Post& p) { return same_as(p.operand); },
                    },
                    draft_[d].rhs);
}

const IteratorBody* ShapeRules::iterated(const Iterate& iterate) const {
  std::vector<IteratorOperand> operands;
  for (const DraftId d : iterate.operands) {
    if (!state(d).known) return nullptr;
    operands.push_back({draft_[d].dtype, state(d).shape, state(d).constant});
  }
  return &iterate.of->body(operands);
}

Outcome<Shape> ShapeRules::iterate_shape(DraftId d, const Iterate& iterate) const {
  const IteratorBody* body = iterated(iterate);
  if (body == nullptr) return {};
  if (body->problem.empty()) return Shape{};
  Problem p = problem(body->code, draft_[d].span, body->problem);
  for (std::size_t k = 0; k < iterate.operands.size() && body->about_operands; ++k)
    p.secondary.push_back({draft_[iterate.operands[k]].span, label_of(iterate.operands[k])});
  p.secondary.insert(p.secondary.end(), body->places.begin(), body->places.end());
  p.notes = body->notes;
  return p;
}

Outcome<Shape> ShapeRules::target(DraftId d) const {
  const auto* apply = std::get_if<Apply>(&draft_[d].rhs);
  if (apply == nullptr || operators()[apply->op].lowering != Lowering::sum_to) return {};
  const auto known = attributes(*apply);
  const auto* list = std::get_if<std::vector<Attribute>>(&known);
  if (list == nullptr) return {};
  const Shape shape = list->front().integers;
  const bool possible = std::ranges::all_of(shape, [](std::int64_t extent) { return extent >= 0; });
  return possible && shape.size() <= max_rank && element_count(shape) ? Outcome<Shape>(shape) : Outcome<Shape>();
}

Outcome<Shape> ShapeRules::extents(const std::vector<DraftId>& list, const std::string& what) const {
  Shape shape;
  for (const DraftId d : list) {
    const State& extent = state(d);
    if (!extent.known) return {};
    if (extent.constant == nullptr) return NotConstant{d, what};
    if (!extent.shape.empty() || !is_integer(extent.constant->dtype()))
      return problem(Code::E0305, draft_[d].span,
                     "an extent must be one integer, not " + type_string(draft_[d].dtype, extent.shape));
    shape.push_back(extent.constant->integers()[0]);
    if (shape.back() < 0)
      return problem(Code::E0305, draft_[d].span, "extent " + std::to_string(shape.back()) + " is negative");
  }
  if (shape.size() > max_rank || !element_count(shape))
    return problem(Code::E0305, draft_[list[0]].span, too_large(shape));
  return shape;
}

Outcome<std::vector<Attribute>> ShapeRules::attributes(const Apply& apply) const {
  std::vector<Attribute> known;
  const OperatorInfo& row = operators()[apply.op];
  std::size_t next = 0;
  for (const OperatorParameter& parameter : row.parameters) {
    if (parameter.kind == ParameterKind::operand) continue;
    const StaticArgument& argument = apply.attributes[next++];
    Attribute a = argument.known;
    if (argument.value.valid()) {
      const State& s = state(argument.value);
      const std::string what = "`" + std::string(parameter.name) + "` of `" + std::string(row.name) + "`";
      const Span span = draft_[argument.value].span;
      if (!s.known) return {};
      if (s.constant == nullptr) return NotConstant{argument.value, what};
      a.given = true;
      if (parameter.kind == ParameterKind::number) {
        const auto v = number(*s.constant);
        if (!v)
          return problem(Code::E0305, span,
                         what + " must be one number, not " + type_string(s.constant->dtype(), s.shape));
        a.number = *v;
      } else {
        if (s.shape.size() > 1 || !is_integer(s.constant->dtype()))
          return problem(
              Code::E0305, span,
              what + " must be an integer or a vector of integers, not " + type_string(s.constant->dtype(), s.shape));
        a.scalar = s.shape.empty();
        a.integers = s.constant->integers();
        if (a.integers.empty() && has_one(parameter))
          return problem(Code::E0305, span, what + " needs an integer, not an empty vector");
      }
    }
    known.push_back(std::move(a));
  }
  return known;
}

Outcome<Shape> ShapeRules::apply_shape(DraftId d, const Apply& apply) const {
  std::vector<DType> dtypes;
  std::vector<Shape> shapes;
  for (const DraftId operand : apply.operands) {
    if (!state(operand).known) return {};
    dtypes.push_back(draft_[operand].dtype);
    shapes.push_back(state(operand).shape);
  }
  auto known = attributes(apply);
  if (std::holds_alternative<std::monostate>(known)) return {};
  if (auto* p = std::get_if<Problem>(&known)) return std::move(*p);
  if (auto* n = std::get_if<NotConstant>(&known)) return std::move(*n);
  const OperatorInfo& row = operators()[apply.op];
  ShapeResult result = row.shape({dtypes, shapes, std::get<std::vector<Attribute>>(known), draft_[d].dtype});
  if (auto* shape = std::get_if<Shape>(&result)) {
    if (shape->size() <= max_rank && element_count(*shape)) return std::move(*shape);
    return problem(Code::E0305, draft_[d].span, too_large(*shape));
  }
  Problem wrong = problem(apply.operands.empty() ? Code::E0305 : Code::E0303, draft_[d].span,
                          written(row) + std::get<std::string>(result));
  for (std::size_t k = 0; k < apply.operands.size() && apply.operands.size() <= 6; ++k) {
    const auto before = apply.operands.begin() + static_cast<std::ptrdiff_t>(k);
    if (std::find(apply.operands.begin(), before, apply.operands[k]) == before)
      wrong.secondary.push_back({draft_[apply.operands[k]].span, label_of(apply.operands[k])});
  }
  return wrong;
}

std::string ShapeRules::label_of(DraftId d) const {
  const Value& value = draft_[d];
  return (value.name.empty() ? "this" : "`" + value.name + "`") + " is " + type_string(value.dtype, state(d).shape);
}

// A static bound or step of a range.
Outcome<std::int64_t> ShapeRules::bound(DraftId d, const char* what) const {
  const State& s = state(d);
  if (!s.known) return {};
  if (s.constant == nullptr) return NotConstant{d, what};
  if (!s.shape.empty() || !is_integer(s.constant->dtype()))
    return problem(Code::E0303, draft_[d].span,
                   std::string(what) + " must be one integer, not " + type_string(draft_[d].dtype, s.shape));
  return s.constant->integers()[0];
}

Outcome<IndexAxis> ShapeRules::index_axis(const Item& item, const Shape& shape, std::size_t axis) const {
  const std::int64_t extent = shape[axis];
  const auto out_of_range = [&](const std::string& written) {
    return problem(Code::E0310, item.span,
                   written + " is out of range for axis " + std::to_string(axis) + " of " + to_string(shape));
  };
  if (!item.is_range) {
    const State& at = state(item.at);
    if (!at.known) return {};
    if (!at.shape.empty())
      return problem(Code::E0303, item.span,
                     "an index must be one integer, not " + type_string(draft_[item.at].dtype, at.shape) +
                         ": `take(x, i, axis=0)` takes several");
    if (at.constant == nullptr) return IndexAxis{IndexAxis::dynamic, 0, 1, 1, item.at};
    const std::int64_t written = at.constant->integers()[0];
    const std::int64_t index = written < 0 ? written + extent : written;
    if (index < 0 || index >= extent) return out_of_range("index " + std::to_string(written));
    return IndexAxis{IndexAxis::fixed, index, 1, 1, {}};
  }
  return range_axis(item, shape, axis);
}

Outcome<IndexAxis> ShapeRules::range_axis(const Item& item, const Shape& shape, std::size_t axis) const {
  const std::array parts = {std::pair(item.lower, "the lower bound of a range"),
                            std::pair(item.upper, "the upper bound of a range"),
                            std::pair(item.step, "the step of a range")};
  std::array<std::optional<std::int64_t>, 3> values;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    if (!parts[k].first.valid()) continue;
    const auto value = bound(parts[k].first, parts[k].second);
    if (std::holds_alternative<std::monostate>(value)) return {};
    if (const auto* p = std::get_if<Problem>(&value)) return *p;
    if (const auto* n = std::get_if<NotConstant>(&value)) return *n;
    values[k] = std::get<std::int64_t>(value);
  }
  const auto range = slice_range(shape, axis, values[0], values[1], values[2].value_or(1));
  if (const auto* error = std::get_if<std::string>(&range)) return problem(Code::E0310, item.span, "range " + *error);
  const auto& [start, count, step] = std::get<SliceRange>(range);
  return IndexAxis{IndexAxis::range, start, count, step, {}};
}

Outcome<std::vector<IndexAxis>> ShapeRules::index_axes(DraftId d) const {
  const Index& index = std::get<Index>(draft_[d].rhs);
  const State& operand = state(index.operand);
  if (!operand.known) return {};
  if (index.items.size() > operand.shape.size())
    return problem(Code::E0303, draft_[d].span,
                   std::to_string(index.items.size()) + (index.items.size() == 1 ? " index" : " indices") + " for " +
                       (operand.shape.empty() ? "a scalar" : "a tensor of shape " + to_string(operand.shape)));
  std::vector<IndexAxis> axes;
  for (std::size_t axis = 0; axis < operand.shape.size(); ++axis) {
    if (axis >= index.items.size()) {
      axes.push_back({IndexAxis::range, 0, operand.shape[axis], 1, {}});
      continue;
    }
    Outcome<IndexAxis> found = index_axis(index.items[axis], operand.shape, axis);
    if (std::holds_alternative<std::monostate>(found)) return {};
    if (auto* p = std::get_if<Problem>(&found)) return std::move(*p);
    if (auto* n = std::get_if<NotConstant>(&found)) return std::move(*n);
    axes.push_back(std::get<IndexAxis>(found));
  }
  return axes;
}

Outcome<Shape> ShapeRules::index_shape(DraftId d) const {
  Outcome<std::vector<IndexAxis>> axes = index_axes(d);
  if (std::holds_alternative<std::monostate>(axes)) return {};
  if (auto* p = std::get_if<Problem>(&axes)) return std::move(*p);
  if (auto* n = std::get_if<NotConstant>(&axes)) return std::move(*n);
  Shape shape;
  for (const IndexAxis& axis : std::get<std::vector<IndexAxis>>(axes))
    if (axis.kind == IndexAxis::range) shape.push_back(axis.count);
  return shape;
}

std::shared_ptr<const Tensor> ShapeRules::constant(DraftId d) const {
  using Constant = std::shared_ptr<const Tensor>;
  const Shape& shape = state(d).shape;
  const auto reshaped = [&](const Constant& c) -> Constant {
    if (c == nullptr || c->shape() == shape) return c;
    if (!small(shape) || broadcast(c->shape(), shape) != shape) return nullptr;
    return std::make_shared<const Tensor>(broadcast_tensor(*c, shape));
  };
  return std::visit(Overloaded{
                        [](const Alias&) { return Constant(); },
                        [](const Const& c) { return c.value; },
                        [](const Input&) { return Constant(); },
                        [&](const Apply& a) { return evaluate(d, a); },
                        [&](const Index& i) { return evaluate_index(d, i); },
                        [&](const Declared& t) { return reshaped(state(t.operand).constant); },
                        [](const Call&) { return Constant(); },
                        [](const Iterate&) { return Constant(); },
                        [](const Result&) { return Constant(); },
                        [&](const When& w) { return state(w.operand).constant; },
                        [&](const Merge& m) {
                          const Constant& condition = state(m.condition).constant;
                          if (condition == nullptr || !condition->shape().empty()) return Constant();
                          return reshaped(state(condition->truth() ? m.on_true : m.on_false).constant);
                        },
                        [](const Fby&) { return Constant(); },
                        [](const Post&) { return Constant(); },
                    },
                    draft_[d].rhs);
}

std::shared_ptr<const Tensor> ShapeRules::evaluate(DraftId d, const Apply& apply) const {
  const OperatorInfo& row = operators()[apply.op];
  if (row.random || is_joint(apply.op) || mapped::is_over_elements(apply.op) || !small(state(d).shape)) return nullptr;
  const bool only_shapes = row.lowering == Lowering::folded;
  std::vector<DType> dtypes;
  std::vector<Shape> shapes;
  std::vector<const Tensor*> operands;
  const Tensor unread;
  for (const DraftId operand : apply.operands) {
    const State& s = state(operand);
    if (!s.known || (!only_shapes && s.constant == nullptr)) return nullptr;
    dtypes.push_back(draft_[operand].dtype);
    shapes.push_back(s.shape);
    operands.push_back(s.constant != nullptr ? s.constant.get() : &unread);
  }
  const auto known = attributes(apply);
  const auto* values = std::get_if<std::vector<Attribute>>(&known);
  if (values == nullptr) return nullptr;
  const Application application{dtypes, shapes, *values, draft_[d].dtype};
  const ShapeResult shape = row.shape(application);
  if (!std::holds_alternative<Shape>(shape) || std::get<Shape>(shape) != state(d).shape) return nullptr;
  Tensor result(draft_[d].dtype, state(d).shape);
  if (row.evaluate(application, {}, operands, result).kind != 0) return nullptr;
  return std::make_shared<const Tensor>(std::move(result));
}

std::shared_ptr<const Tensor> ShapeRules::evaluate_index(DraftId d, const Index& index) const {
  const auto& whole = state(index.operand).constant;
  if (whole == nullptr || !small(state(d).shape)) return nullptr;
  const auto found = index_axes(d);
  const auto* axes = std::get_if<std::vector<IndexAxis>>(&found);
  if (axes == nullptr) return nullptr;
  const Strides dense = dense_strides(whole->shape());
  std::vector<std::int64_t> strides;
  Shape shape;
  std::int64_t begin = 0;
  for (std::size_t axis = 0; axis < axes->size(); ++axis) {
    const IndexAxis& a = (*axes)[axis];
    if (a.kind == IndexAxis::dynamic) return nullptr;
    begin += a.begin * dense[axis];
    if (a.kind == IndexAxis::fixed) continue;
    shape.push_back(a.count);
    strides.push_back(dense[axis] * a.step);
  }
  return std::make_shared<const Tensor>(gather(*whole, shape, begin, strides));
}

}  // namespace rml::draft

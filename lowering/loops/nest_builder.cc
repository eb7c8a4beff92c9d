// Adds elements to a nest, and spells the bodies of scalar operations as elements.
//
// The bodies are the same as in all other code (semantics/operators/spelling.h). Two rules of
// semantics/operators/scalar.h are not part of the bodies and are added here: integer division by zero is checked, and
// 16-bit floats are compared as f32.
#include "lowering/loops/nest_builder.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <stdexcept>

#include "lowering/loops/operations.h"
#include "runtime/base/rmlrt.h"
#include "semantics/core/queries.h"
#include "semantics/operators/spelling.h"

namespace rml::loops {

bool is_half(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }

Tensor element_of(const Tensor& t, std::int64_t i) {
  Tensor element(t.dtype(), {});
  const std::size_t size = byte_size(t.dtype());
  std::memcpy(element.data(), static_cast<const char*>(t.data()) + static_cast<std::size_t>(i) * size, size);
  return element;
}

namespace {

class Elements final : public scalar::Spelling {
 public:
  using Term = scalar::Term;
  // Computes elements in the body of v, whose operands have this dtype.
  Elements(NestBuilder& nest, DType dtype, ValueId v) : nest_(nest), dtype_(dtype), value_(v) {}

  Term term(std::uint32_t element) { return {*this, &elements_.emplace_back(element)}; }
  static std::uint32_t element(Term x) { return *static_cast<const std::uint32_t*>(x.what()); }

  bool is_real() const override { return is_float(dtype_); }
  bool has_sign() const override { return is_real() || is_signed(dtype_); }
  Term number(double v) override { return term(nest_.number(dtype_, v)); }
  Term operation(ScalarOp op, std::span<const Term> operands) override {
    std::vector<std::uint32_t> x;
    for (const Term& o : operands) x.push_back(element(o));
    if ((op == ScalarOp::div || op == ScalarOp::mod) && is_integer(nest_.dtype(x[1]))) check_divisor(x[1]);
    if (compares(op) && is_half(nest_.dtype(x[0])))
      for (std::uint32_t& o : x) o = nest_.convert(DType::f32, o);
    return term(nest_.operation(op, std::move(x)));
  }
  Term call(std::string_view function, Term x) override { return term(nest_.call(function, {element(x)})); }
  Term is_nan(Term x) override { return term(nest_.is_nan(element(x))); }
  Term above_or_nan(Term x, Term bound) override {
    if (!is_real()) return scalar::spell(ScalarOp::gt, x, bound);
    return scalar::spell(ScalarOp::logical_not, scalar::spell(ScalarOp::le, x, bound));
  }
  void stop_if(Term bad) override { nest_.check({element(bad), RML_FAULT_NUMERIC, nest_.scope().site(value_)}); }

 private:
  void check_divisor(std::uint32_t divisor) {
    const std::uint32_t zero = nest_.number(nest_.dtype(divisor), 0);
    nest_.check({nest_.operation(ScalarOp::eq, {divisor, zero}), RML_FAULT_DIVISION, nest_.scope().site(value_)});
  }

  NestBuilder& nest_;
  DType dtype_;
  ValueId value_;
  std::deque<std::uint32_t> elements_;
};

}  // namespace

NestBuilder::NestBuilder(Scope& scope, ValueId of, const Shape& loops, const std::vector<bool>& sums) : scope_(scope) {
  nest_.of = of;
  for (std::size_t k = 0; k < loops.size(); ++k) {
    axis_.push_back(loops[k] == 1 ? SIZE_MAX : nest_.axes.size());
    if (loops[k] != 1) nest_.axes.push_back({loops[k], k < sums.size() && sums[k] ? Role::sum : Role::each});
  }
}

Access NestBuilder::at(BufferId buffer, std::int64_t start, const std::vector<std::int64_t>& strides) const {
  Access a{buffer, start, std::vector<std::int64_t>(nest_.axes.size(), 0), {}};
  for (std::size_t k = 0; k < axis_.size(); ++k)
    if (axis_[k] != SIZE_MAX) a.steps[axis_[k]] = strides[k];
  return a;
}

Access NestBuilder::at(BufferId buffer, const IndexMap& map) const { return at(buffer, scope_[buffer].shape, map); }
Access NestBuilder::at(BufferId buffer, const Shape& shape, const IndexMap& map) const {
  const std::vector<std::int64_t> dense = dense_strides(shape);
  std::vector<std::int64_t> strides(axis_.size(), 0);
  std::int64_t start = 0;
  for (std::size_t k = 0; k < map.size(); ++k) {
    start += dense[k] * map[k].start;
    if (map[k].loop != SIZE_MAX) strides[map[k].loop] += dense[k] * map[k].step;
  }
  return at(buffer, start, strides);
}

std::uint32_t NestBuilder::add(Element element, DType dtype) {
  nest_.body.push_back(std::move(element));
  dtypes_.push_back(dtype);
  return static_cast<std::uint32_t>(nest_.body.size() - 1);
}

std::uint32_t NestBuilder::number(Tensor t) {
  const DType dtype = t.dtype();
  return add(Number{std::move(t)}, dtype);
}
std::uint32_t NestBuilder::index(std::size_t axis) {
  if (axis_[axis] == SIZE_MAX) return number(DType::i64, 0);
  return add(Index{axis_[axis]}, DType::i64);
}
std::uint32_t NestBuilder::load(Access from) {
  const DType dtype = scope_[from.buffer].dtype;
  return add(Load{std::move(from)}, dtype);
}
std::uint32_t NestBuilder::operation(ScalarOp op, std::vector<std::uint32_t> operands) {
  const DType of = dtype(operands[op == ScalarOp::select ? 1 : 0]);
  return add(Operation{op, of, std::move(operands)}, dtype_of(op, of));
}
std::uint32_t NestBuilder::convert(DType to, std::uint32_t operand) {
  const DType from = dtype(operand);
  return to == from ? operand : add(Convert{to, from, operand}, to);
}
std::uint32_t NestBuilder::is_nan(std::uint32_t operand) { return add(IsNan{dtype(operand), operand}, DType::boolean); }
std::uint32_t NestBuilder::call(std::string_view function, std::vector<std::uint32_t> operands) {
  const DType of = dtype(operands[0]);
  return add(LibraryCall{std::string(function), of, std::move(operands)}, of);
}

std::uint32_t NestBuilder::apply(ValueId v, const std::vector<std::uint32_t>& operands) {
  const core::Apply& a = *apply_of(scope_.core, v);
  const OperatorInfo& row = operators()[a.op];
  if (row.lowering == Lowering::outer) return operation(ScalarOp::mul, operands);
  if (row.lowering != Lowering::elementwise) return operands[0];
  if (!row.function.empty()) return call(row.function, operands);
  if (row.scalar == ScalarOp::cast) return convert(scope_.core[v].dtype, operands[0]);
  return spell(a.op, v, operands);
}

std::uint32_t NestBuilder::spell(OperatorId op, const std::vector<std::uint32_t>& operands) {
  return spell(op, {}, operands);
}
std::uint32_t NestBuilder::spell(OperatorId op, ValueId v, const std::vector<std::uint32_t>& operands) {
  const OperatorInfo& row = operators()[op];
  if (row.body == nullptr) throw std::logic_error("loops: " + std::string(row.name) + " has no body");
  Elements spelling(*this, dtype(operands[0]), v);
  std::vector<scalar::Term> terms;
  for (const std::uint32_t o : operands) terms.push_back(spelling.term(o));
  return Elements::element(row.body(terms));
}

std::uint32_t NestBuilder::read(ValueId x, const IndexMap& map) {
  const auto known = std::ranges::find_if(seen_, [&](const Seen& s) { return s.value == x && s.map == map; });
  if (known != seen_.end()) return known->element;
  const std::uint32_t element = read_again(x, map);
  seen_.push_back({x, map, element});
  return element;
}

std::uint32_t NestBuilder::read_again(ValueId x, const IndexMap& map) {
  if (scope_.in_loops(x)) {
    std::vector<std::uint32_t> operands;
    const core::Apply& a = *apply_of(scope_.core, x);
    for (std::size_t k = 0; k < a.operands.size(); ++k)
      operands.push_back(read(a.operands[k], *operand_map(scope_.core, x, k, map)));
    return apply(x, operands);
  }
  Access from = at({}, scope_.core[x].shape, map);
  const auto* constant = std::get_if<core::Const>(&scope_.core[x].rhs);
  const bool still = std::ranges::all_of(from.steps, [](std::int64_t s) { return s == 0; });
  if (constant != nullptr && still) return number(element_of(constant->value, from.start));
  from.buffer = scope_.place(x);
  return load(std::move(from));
}

namespace {

std::vector<Access*> accesses(Nest& nest) {
  std::vector<Access*> all;
  for (Element& e : nest.body) {
    if (auto* load = std::get_if<Load>(&e)) all.push_back(&load->from);
    if (auto* store = std::get_if<Store>(&e)) all.push_back(&store->to);
    if (auto* sum = std::get_if<Sum>(&e)) all.push_back(&sum->onto);
  }
  return all;
}

// True if the axis and the next one can be merged.
bool are_one(const Nest& nest, const std::vector<Access*>& all, std::size_t axis) {
  if (nest.axes[axis].role != nest.axes[axis + 1].role) return false;
  for (const Element& e : nest.body) {
    const auto* index = std::get_if<Index>(&e);
    if (index != nullptr && (index->axis == axis || index->axis == axis + 1)) return false;
  }
  const std::int64_t inner = nest.axes[axis + 1].extent;
  return std::ranges::all_of(all, [&](const Access* a) { return a->steps[axis] == a->steps[axis + 1] * inner; });
}

}  // namespace

Nest NestBuilder::finish() {
  const std::vector<Access*> all = accesses(nest_);
  for (std::size_t axis = nest_.axes.size(); axis-- > 1;) {
    if (!are_one(nest_, all, axis - 1)) continue;
    const auto outer = static_cast<std::ptrdiff_t>(axis - 1);
    nest_.axes[axis].extent *= nest_.axes[axis - 1].extent;
    nest_.axes.erase(nest_.axes.begin() + outer);
    for (Access* a : all) a->steps.erase(a->steps.begin() + outer);
    for (Element& e : nest_.body)
      if (auto* index = std::get_if<Index>(&e); index != nullptr && index->axis > axis - 1) --index->axis;
  }
  return std::move(nest_);
}

}  // namespace rml::loops

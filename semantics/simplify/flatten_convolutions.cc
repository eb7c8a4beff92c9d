// A convolution with a single window, the whole input, is a product of a matrix and a vector, or
// of two matrices:
//
//   conv %x %w, x: [1, c, n], w: [o, c, n]      reshape (matmul (reshape %w {[o, c n]}) (reshape %x {[c n]}))
#include "semantics/core/attributes.h"
#include "semantics/core/queries.h"
#include "semantics/operators/windows.h"
#include "semantics/simplify/expand.h"
#include "semantics/simplify/passes.h"

namespace rml {

namespace {

class Flattening {
 public:
  explicit Flattening(Core& core) : core_(core) {}

  bool run() {
    const std::size_t count = core_.values.size();
    bool found = false;
    for (std::size_t v = 0; v < count; ++v) found = flatten(ValueId{v}) || found;
    if (found) renumber(core_, std::vector<bool>(core_.values.size(), true));
    return found;
  }

 private:
  bool sees_all(const core::Apply& a, const Shape& result) const {
    std::vector<Shape> shapes;
    for (const ValueId x : a.operands) shapes.push_back(core_[x].shape);
    Application app;
    app.operand_shapes = shapes;
    app.attributes = a.attributes;
    const Convolution c = convolution_of(WindowForm::convolution, app, result);
    const std::size_t axes = result.size() - 2;
    bool all = c.groups == 1 && c.batch > 0 && c.in > 0 && c.out > 0;
    for (std::size_t k = 0; k < std::size(c.windows.axis) && all; ++k) {
      const window::Axis& axis = c.windows.axis[k];
      all = axis.out == 1 && axis.begin == 0 && axis.size == axis.in;
    }
    return all && axes > 0;
  }

  bool flatten(ValueId v) {
    const core::Apply* const applied = apply_of(core_, v);
    if (applied == nullptr || operators()[applied->op].window != WindowForm::convolution) return false;
    const Value value = core_[v];
    const auto* a = &std::get<core::Apply>(value.rhs);
    if (!is_float(value.dtype) || !sees_all(*a, value.shape)) return false;
    const std::int64_t batch = value.shape[0], out = value.shape[1];
    const std::int64_t inner = *element_count(core_[a->operands[0]].shape) / batch;
    const ValueId w = reshape(v, a->operands[1], {out, inner});
    ValueId product;
    if (batch == 1) {
      product = add(v, "matmul", {w, reshape(v, a->operands[0], {inner})}, {}, {out});
    } else {
      Attribute all, none;
      none.given = none.scalar = true;
      none.integers = {0};
      const ValueId turned = add(v, "transpose", {w}, {all, none}, {inner, out});
      product = add(v, "matmul", {reshape(v, a->operands[0], {batch, inner}), turned}, {}, {batch, out});
    }
    core_[v].rhs = core_[reshape(v, product, value.shape)].rhs;
    return true;
  }

  ValueId reshape(ValueId at, ValueId x, const Shape& shape) {
    return add(at, "reshape", {x}, {integers_attribute(shape)}, shape);
  }

  ValueId add(ValueId at, const char* op, std::vector<ValueId> operands, std::vector<Attribute> attributes,
              Shape shape) {
    Value made = core_[at];
    made.rhs = core::Apply{operators().require(op), std::move(operands), std::move(attributes), 0};
    made.shape = std::move(shape);
    made.name.clear();
    core_.values.push_back(std::move(made));
    return ValueId{core_.values.size() - 1};
  }

  Core& core_;
};

}  // namespace

bool flatten_convolutions(Core& core) { return Flattening(core).run(); }

}  // namespace rml

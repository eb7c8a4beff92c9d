// The value of an application becomes the last operator of its definition; the other operators
// become new values on its clock.
//
//   %2 = softmax %1 {axis=-1}      %3 = max %1 {axis=-1, keepdims=1}    %4 = sub %1 %3    %5 = exp %4
//                                  %6 = sum %5 {axis=-1, keepdims=1}    %2 = div %5 %6
#include "semantics/simplify/expand.h"

#include "semantics/core/queries.h"
#include "semantics/operators/definition.h"
#include "semantics/simplify/passes.h"

namespace rml {

namespace {

class CoreTarget : public DefinitionTarget {
 public:
  CoreTarget(Core& core, ValueId of) : core_(core), of_(of) {}

  Operand constant(Tensor t) override {
    const DType dtype = t.dtype();
    const Shape shape = t.shape();
    return add(core::Const{std::move(t)}, dtype, shape, base_clock);
  }
  Operand apply(OperatorId op, const std::vector<Operand>& operands, std::vector<Attribute> attributes, DType dtype,
                Shape shape) override {
    core::Apply a{op, {}, std::move(attributes), 0};
    for (const Operand& x : operands) a.operands.push_back(ValueId{x.id});
    return add(std::move(a), dtype, std::move(shape), core_[of_].clock);
  }

 private:
  Operand add(core::Rhs rhs, DType dtype, Shape shape, ClockId clock) {
    const Span span = core_[of_].span;
    const InstanceId instance = core_[of_].instance;
    core_.values.push_back({std::move(rhs), dtype, shape, clock, span, instance, {}});
    return {core_.values.size() - 1, dtype, std::move(shape)};
  }

  Core& core_;
  ValueId of_;
};

void expand(Core& core, ValueId v) {
  const core::Apply a = std::get<core::Apply>(core[v].rhs);
  if (*element_count(core[v].shape) == 0) {
    core[v].rhs = core::Const{Tensor(core[v].dtype, core[v].shape)};
    return;
  }
  std::vector<DefinitionTarget::Operand> operands;
  std::vector<DType> dtypes;
  std::vector<Shape> shapes;
  for (const ValueId x : a.operands) {
    operands.push_back({x.index, core[x].dtype, core[x].shape});
    dtypes.push_back(core[x].dtype);
    shapes.push_back(core[x].shape);
  }
  CoreTarget target(core, v);
  const DType dtype = core[v].dtype;
  const auto last = define(operators()[a.op], {dtypes, shapes, a.attributes, dtype}, operands, target);
  core[v].rhs = core[ValueId{last.id}].rhs;
}

}  // namespace

bool expand(Core& core, const std::function<bool(OperatorId)>& stays) {
  const std::size_t count = core.values.size();
  bool found = false;
  for (std::size_t v = 0; v < count; ++v) {
    const auto* a = apply_of(core, ValueId{v});
    if (a == nullptr || operators()[a->op].lowering != Lowering::expanded) continue;
    if (stays && stays(a->op)) continue;
    found = true;
    expand(core, ValueId{v});
  }
  if (found) renumber(core, std::vector<bool>(core.values.size(), true));
  return found;
}

}  // namespace rml

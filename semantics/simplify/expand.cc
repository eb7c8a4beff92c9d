// The value of an application becomes the last operator of its definition; the other operators
// become new values on its clock.
//
//   %2 = softmax %1 {axis=-1}      %3 = max %1 {axis=-1, keepdims=1}    %4 = sub %1 %3    %5 = exp %4
//                                  %6 = sum %5 {axis=-1, keepdims=1}    %2 = div %5 %6
#include "semantics/simplify/expand.h"

#include "semantics/core/queries.h"
#include "semantics/operators/definition.h"
#include "semantics/simplify/core_target.h"
#include "semantics/simplify/passes.h"
#include "semantics/simplify/small_matrices.h"

namespace rml {

namespace {

Application application(const Core& core, ValueId v, std::vector<DType>& dtypes, std::vector<Shape>& shapes) {
  const core::Apply& a = *apply_of(core, v);
  for (const ValueId x : a.operands) {
    dtypes.push_back(core[x].dtype);
    shapes.push_back(core[x].shape);
  }
  return {dtypes, shapes, a.attributes, core[v].dtype};
}

// True if a definition replaces the application. Operators of kernels have one for small operands.
bool is_defined(const Core& core, ValueId v) {
  const OperatorInfo& row = operators()[apply_of(core, v)->op];
  if (row.lowering == Lowering::expanded || is_small_matrix(core, v)) return true;
  if (row.definition == nullptr) return false;
  std::vector<DType> dtypes;
  std::vector<Shape> shapes;
  return !row.definition(application(core, v, dtypes, shapes)).empty();
}

void expand(Core& core, ValueId v) {
  const core::Apply a = std::get<core::Apply>(core[v].rhs);
  if (*element_count(core[v].shape) == 0) {
    core[v].rhs = core::Const{Tensor(core[v].dtype, core[v].shape)};
    return;
  }
  if (is_small_matrix(core, v)) {
    const auto last = write_small_matrix(core, v);
    core[v].rhs = core[ValueId{last.id}].rhs;
    return;
  }
  std::vector<DefinitionTarget::Operand> operands;
  std::vector<DType> dtypes;
  std::vector<Shape> shapes;
  for (const ValueId x : a.operands) operands.push_back({x.index, core[x].dtype, core[x].shape});
  const DType dtype = core[v].dtype;
  application(core, v, dtypes, shapes);
  CoreTarget target(core, core[v].clock, core[v].span, core[v].instance);
  const auto last = define(operators()[a.op], {dtypes, shapes, a.attributes, dtype}, operands, target);
  core[v].rhs = core[ValueId{last.id}].rhs;
}

}  // namespace

bool expand(Core& core, const std::function<bool(OperatorId)>& stays) {
  const std::size_t count = core.values.size();
  bool found = false;
  for (std::size_t v = 0; v < count; ++v) {
    const auto* a = apply_of(core, ValueId{v});
    if (a == nullptr || (stays && stays(a->op)) || !is_defined(core, ValueId{v})) continue;
    found = true;
    expand(core, ValueId{v});
  }
  if (found) renumber(core, std::vector<bool>(core.values.size(), true));
  return found;
}

}  // namespace rml

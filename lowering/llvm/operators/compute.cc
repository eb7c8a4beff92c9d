// The table of generators, one for every row of the operator table.
#include "lowering/llvm/operators/compute.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "lowering/llvm/elements/extremum_place.h"
#include "lowering/llvm/elements/loops.h"
#include "lowering/llvm/operators/call.h"
#include "lowering/llvm/operators/moves.h"
#include "lowering/llvm/operators/places.h"
#include "lowering/llvm/operators/structure.h"
#include "lowering/llvm/products/matmul.h"
#include "lowering/llvm/windows/windows.h"

namespace rml::codegen {

namespace {

using Generator = void (*)(Function&, ValueId, const core::Apply&);

void emit_pointwise_of(Function& f, ValueId v, const core::Apply&) { emit_pointwise(f, v); }
void emit_product_of(Function& f, ValueId v, const core::Apply& a) { emit_matmul(f, v, a.operands[0], a.operands[1]); }
void emit_reduction_of(Function& f, ValueId v, const core::Apply&) { emit_loops(f, {v}); }
void emit_argmax(Function& f, ValueId v, const core::Apply& a) { emit_extremum_place(f, v, a, true); }
void emit_argmin(Function& f, ValueId v, const core::Apply& a) { emit_extremum_place(f, v, a, false); }
void emit_reshape_of(Function& f, ValueId v, const core::Apply& a) { emit_reshape(f, v, a.operands[0]); }
void emit_iota_of(Function& f, ValueId v, const core::Apply&) { emit_iota(f, v); }
void emit_one_hot_of(Function& f, ValueId v, const core::Apply& a) { emit_one_hot(f, v, a.operands[0]); }
void emit_windows_or_kernel(Function& f, ValueId v, const core::Apply& a) {
  if (!emit_windows(f, v, a) && !emit_places(f, v, a)) emit_kernel(f, v, a);
}
void emit_parameter_of(Function& f, ValueId v, const core::Apply& a) { emit_parameter(f, v, a.operands[0]); }

// Generators by form of lowering. Operators of other forms are folded before code generation.
constexpr std::pair<Lowering, Generator> generators[] = {
    {Lowering::elementwise, emit_pointwise_of},
    {Lowering::outer, emit_pointwise_of},
    {Lowering::transpose, emit_pointwise_of},
    {Lowering::slice, emit_pointwise_of},
    {Lowering::broadcast, emit_pointwise_of},
    {Lowering::fill, emit_pointwise_of},
    {Lowering::matmul, emit_product_of},
    {Lowering::dot, emit_product_of},
    {Lowering::reduce_sum, emit_reduction_of},
    {Lowering::reduce_mean, emit_reduction_of},
    {Lowering::reduce_min, emit_reduction_of},
    {Lowering::reduce_max, emit_reduction_of},
    {Lowering::reduce_prod, emit_reduction_of},
    {Lowering::reduce_all, emit_reduction_of},
    {Lowering::reduce_any, emit_reduction_of},
    {Lowering::sum_to, emit_reduction_of},
    {Lowering::argmax, emit_argmax},
    {Lowering::argmin, emit_argmin},
    {Lowering::reshape, emit_reshape_of},
    {Lowering::concat, emit_concat},
    {Lowering::array, emit_array},
    {Lowering::index, emit_index},
    {Lowering::place, emit_place},
    {Lowering::place_slice, emit_place_slice},
    {Lowering::move, emit_move},
    {Lowering::sum_moves, emit_sum_moves},
    {Lowering::iota, emit_iota_of},
    {Lowering::one_hot, emit_one_hot_of},
    {Lowering::random, emit_random},
    {Lowering::kernel, emit_windows_or_kernel},
    {Lowering::parameter, emit_parameter_of},
};

void apply(Function& f, ValueId v, const core::Apply& a) {
  const OperatorInfo& row = operators()[a.op];
  const auto* const found = std::ranges::find(generators, row.lowering, &std::pair<Lowering, Generator>::first);
  if (found == std::end(generators))
    throw std::logic_error("code generation: " + std::string(row.name) + " should have been folded");
  found->second(f, v, a);
}

}  // namespace

void compute(Function& f, ValueId v) {
  const core::Rhs& rhs = f.info(v).rhs;
  if (const auto* operation = std::get_if<core::Apply>(&rhs)) return apply(f, v, *operation);
  if (const auto* external = std::get_if<core::Call>(&rhs)) return emit_call(f, v, *external);
  // A constant is emitted at its uses, and a result is computed by its call.
  if (std::holds_alternative<core::Const>(rhs) || std::holds_alternative<core::Result>(rhs)) return;
  throw std::logic_error("code generation: %" + std::to_string(v.index) + " is not computed but loaded");
}

}  // namespace rml::codegen

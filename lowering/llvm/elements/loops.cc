// Emits pointwise operators and reductions, fused: one loop nest per stored value, or for several.
//
// Loads and stores carry alias scopes which say that a result overlaps with no leaf. The vectoriser needs that.
#include "lowering/llvm/elements/loops.h"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "lowering/llvm/elements/epilogue.h"
#include "lowering/llvm/elements/reduction.h"
#include "lowering/llvm/elements/small_vectors.h"
#include "lowering/llvm/elements/strips.h"
#include "lowering/llvm/elements/sums.h"
#include "lowering/llvm/function/vectors.h"
#include "lowering/llvm/scalars/operation.h"

namespace rml::codegen {

namespace {

// The values of one nest. They have the same loop shape, and each is a root of one expression.
struct Loop {
  const std::vector<ValueId>& members;
  Shape shape;
  Expression expression = {};
  std::vector<std::size_t> roots = {};  // node of each member, whose value is stored or combined
  std::vector<IrValue> to = {};         // address of each member's result
  std::vector<Strides> views = {};      // views of the members, then views of the leaves
  std::vector<Access> access = {};      // alias information of the members, then of the leaves
  bool unrolled = false;
  bool in_place = false;  // results may share memory with a leaf, element by element
};

Loop gather_members(const Function& f, const std::vector<ValueId>& members) {
  const auto operand = [&](ValueId v) { return std::get<core::Apply>(f.info(v).rhs).operands[0]; };
  const ValueId first = members[0];
  Loop loop{members, f.info(reduces(f.info(first)) ? operand(first) : first).shape};
  loop.expression.rank = loop.shape.size();
  for (const ValueId v : members) {
    const bool reduction = reduces(f.info(v));
    loop.roots.push_back(gather(f, loop.expression, reduction ? operand(v) : v, identity_map(loop.shape), !reduction));
  }
  for (const Expression::Leaf& leaf : loop.expression.leaves)
    if (std::ranges::find(members, leaf.value) != members.end())
      throw std::logic_error("code generation: a loop reads what it has not stored yet");
  return loop;
}

// Ensures that leaves are in memory and that results have an address.
void place_values(Function& f, Loop& loop) {
  for (const Expression::Leaf& leaf : loop.expression.leaves) f.prepare(leaf.value);
  loop.unrolled = f.small(loop.shape);
  for (const ValueId v : loop.members) {
    loop.to.push_back(f.result(v));
    loop.views.push_back(reduces(f.info(v)) ? reduced_view(f, v) : dense_strides(loop.shape));
    loop.unrolled = loop.unrolled && f.small(v);
    loop.in_place = loop.in_place || f.home(v).valid();
    if (reduces(f.info(v))) begin_reduction(f, v, loop.to.back());
  }
}

SmallVectors vectors_of(const Function& f, const Loop& loop) {
  const auto as_it_is = [&](ValueId v) { return !reduces(f.info(v)) && is_real(f.info(v).dtype); };
  if (!loop.unrolled || !std::ranges::all_of(loop.members, as_it_is)) return {};
  const SmallVectors found = find_vectors(f, loop.expression, loop.shape);
  return found.whole && loop.in_place ? SmallVectors{} : found;
}

void store_as_vectors(Function& f, const Loop& loop, SmallVectors vectors) {
  const std::int64_t all = elements(loop.shape);
  for (std::int64_t begin = 0; begin < all;) {
    const std::int64_t left = all - begin;
    const auto filled = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(left)));
    const std::int64_t lanes = vectors.whole ? vectors.widest : std::min(filled, vectors.widest);
    const std::int64_t count = std::min(left, lanes);
    const std::vector<IrValue> values = as_vectors(f, loop.expression, begin, count, lanes);
    for (std::size_t k = 0; k < loop.members.size(); ++k) {
      const DType dtype = f.info(loop.members[k]).dtype;
      IrValue to = begin == 0 ? loop.to[k] : f.offset(dtype, loop.to[k], f.constant(begin));
      store_elements(f, dtype, values[loop.roots[k]], count, to, {});
    }
    begin += count;
  }
  for (const ValueId v : loop.members) f.whole.lanes[v.index] = vectors.widest;
}

// Sets the alias information of members and leaves.
void set_accesses(Function& f, Loop& loop) {
  const std::size_t count = loop.members.size();
  for (const Strides& view : leaf_views(loop.expression)) loop.views.push_back(view);
  loop.access = separate(f.module.context, loop.views.size(), count);
  for (std::size_t k = 0; k < count; ++k)
    if (f.small(loop.members[k])) loop.access[k] = {};
  if (!loop.in_place) return;
  f.independent = llvm::MDNode::getDistinct(f.module.context, {});
  for (Access& a : loop.access) a.group = f.independent;
  for (std::size_t k = 0; k < loop.expression.leaves.size(); ++k)
    if (f.info(loop.expression.leaves[k].value).shape == loop.shape)
      loop.access[count + k] = {nullptr, nullptr, f.independent};
}

// The work of one element, if the nest may be shared by threads. Not if a sum is a variable of this function: in a
// piece LLVM could not know that the variable overlaps with no other access.
Work shared_work(const Function& f, const Loop& loop) {
  const auto stays = [&](ValueId v) { return reduces(f.info(v)) && (f.small(v) || loop.in_place); };
  return std::ranges::none_of(loop.members, stays) ? work(f, loop.expression, loop.members.size()) : Work{};
}

}  // namespace

void emit_loops(Function& f, const std::vector<ValueId>& members) {
  Loop loop = gather_members(f, members);
  place_values(f, loop);
  if (const SmallVectors vectors = vectors_of(f, loop); vectors.widest > 0) return store_as_vectors(f, loop, vectors);
  set_accesses(f, loop);
  const std::size_t count = members.size();
  const std::vector<IrValue> results = loop.to;
  std::vector<Sum> sums = sums_in_lanes(f, members);
  const std::vector<Sum> stored =
      loop.unrolled ? std::vector<Sum>{} : store_sums(f, sums, loop.shape, loop.views, loop.to);
  std::vector<Sum*> sum_of(count, nullptr);
  for (Sum& s : sums) sum_of[s.member] = &s;
  std::vector<bool> stores(count);
  for (std::size_t k = 0; k < count; ++k)
    stores[k] = !reduces(f.info(members[k])) || std::ranges::find(stored, k, &Sum::member) != stored.end();
  std::int64_t visited = 0;
  const LoopBody body = [&](const std::vector<IrValue>& places, const std::vector<IrValue>& offsets) {
    const std::vector<IrValue> values =
        evaluate(f, loop.expression, std::span(offsets).subspan(count), std::span(loop.access).subspan(count));
    for (std::size_t k = 0; k < count; ++k) {
      const DType dtype = f.info(members[k]).dtype;
      IrValue value = values[loop.roots[k]], place = f.offset(dtype, places[k], offsets[k]);
      if (stores[k])
        f.store(dtype, value, place, loop.access[k]);
      else if (sum_of[k] != nullptr && loop.unrolled)
        combine_written_out(f, *sum_of[k], visited, value, place);
      else if (sum_of[k] != nullptr)
        combine_in_lanes(f, *sum_of[k], value, place, offsets[k]);
      else
        combine(f, members[k], value, place, loop.access[k]);
    }
    ++visited;
  };
  const Work each = shared_work(f, loop);
  if (!loop.unrolled && !sums.empty())
    in_rows(f, nest(loop.shape, loop.views), sums, loop.to, each, body);
  else if (const Strips found = find_strips(f, members, loop.shape, loop.views); found.width > 0)
    in_strips(f, found, members, loop.shape, loop.views, loop.to, work(f, loop.expression, count), body);
  else
    walk(f, loop.shape, loop.views, loop.unrolled, each,
         [&](const std::vector<IrValue>& offsets) { body(loop.to, offsets); });
  f.independent = nullptr;
  for (const Sum& s : stored) stored_rows(f, s, loop.shape, loop.to[s.member], results[s.member], each);
  for (std::size_t k = 0; k < count; ++k)
    if (reduces(f.info(members[k]))) end_reduction(f, members[k], results[k]);
}

void emit_pointwise(Function& f, ValueId v) {
  const Shape& shape = f.info(v).shape;
  Expression e;
  e.rank = shape.size();
  gather(f, e, v, identity_map(shape), true);
  const Epilogue epilogue = find_epilogue(f, e, shape);
  if (epilogue.product == SIZE_MAX) return emit_loops(f, {v});
  for (std::size_t k = 0; k < e.leaves.size(); ++k)
    if (k != epilogue.product && k != epilogue.other) f.prepare(e.leaves[k].value);
  emit_epilogue(f, v, e, epilogue);
}

}  // namespace rml::codegen

// Pointwise operators, fused: one loop nest per value that is materialised.
//
// An inlined operand is not read but computed where it is used, down to tensors that are in
// memory (the leaves); slices, transpositions and broadcasts on the way are index arithmetic:
//
//   %7 = mul %4 %5 (inlined)          for i { %9[i] = %4[i] * %5[i % 3] + %6[2 + i] }
//   %8 = slice %6 (inlined)
//   %9 = add %7 %8
//
// Each leaf is a view with a base and a stride for each axis of the loop. Loads and the store carry scopes
// saying that the result overlaps with no leaf, which is what the vectoriser needs to know. An inlined
// product is computed by its own loops, and the expression from its elements as they leave the registers.
#include <llvm/IR/MDBuilder.h>

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "lowering/llvm/function/function.h"
#include "lowering/llvm/scalars/functions.h"

namespace rml::codegen {

namespace {

bool is_product(const Value& v) {
  const auto* a = std::get_if<core::Apply>(&v.rhs);
  return a != nullptr && operators()[a->op].lowering == Lowering::matmul;
}

bool works_on_vectors(const OperatorInfo& op, DType operand) {
  return op.vectors == Vectors::of_all || (op.vectors == Vectors::of_floats && is_float(operand));
}

}  // namespace

// The number in e.nodes of v seen through the map.
std::size_t Body::gather(Expression& e, ValueId v, const IndexMap& map, bool root) const {
  for (std::size_t k = 0; k < e.nodes.size(); ++k)
    if (e.nodes[k].value == v && e.nodes[k].map == map) return k;
  Expression::Node node{v, map, {}, SIZE_MAX};
  if ((root || module.inlined(v)) && is_pointwise(module.core, v)) {
    const auto& operands = std::get<core::Apply>(info(v).rhs).operands;
    for (std::size_t k = 0; k < operands.size(); ++k)
      node.operands.push_back(gather(e, operands[k], *operand_map(module.core, v, k, map), false));
  } else {
    const Strides dense = dense_strides(info(v).shape);
    Expression::Leaf leaf{v, Strides(e.rank, 0), 0};
    for (std::size_t axis = 0; axis < map.size(); ++axis) {
      leaf.base += dense[axis] * map[axis].start;
      if (map[axis].loop != SIZE_MAX) leaf.strides[map[axis].loop] += dense[axis] * map[axis].step;
    }
    node.leaf = e.leaves.size();
    e.leaves.push_back(std::move(leaf));
  }
  e.nodes.push_back(std::move(node));
  return e.nodes.size() - 1;
}

// Of a loop over v's shape. v is computed if `root`, even if it is not inlined. All leaves are in memory.
Expression Body::expression(ValueId v, bool root) {
  Expression e;
  e.rank = info(v).shape.size();
  gather(e, v, identity_map(info(v).shape), root);
  for (const Expression::Leaf& leaf : e.leaves) prepare(leaf.value);
  return e;
}

// The last leaf that is a product whose loops can compute the whole expression; SIZE_MAX: none.
std::size_t Body::epilogue(const Expression& e, const Shape& shape) const {
  for (std::size_t k = e.leaves.size(); k-- > 0;)
    if (module.inlined(e.leaves[k].value) && can_be_epilogue(e, k, shape)) return k;
  return SIZE_MAX;
}

namespace {
// The strides of a loop's axes, those of extent 1 left out, are those of the dense tensor.
bool runs_through(const Strides& strides, const Shape& shape) {
  const Strides dense = dense_strides(shape);
  for (std::size_t k = 0; k < shape.size(); ++k)
    if (shape[k] != 1 && strides[k] != dense[k]) return false;
  return true;
}
}  // namespace

// The product's loops can compute the whole expression: all operations work on vectors, and every other leaf is
// dense, uniform, or a row or column of the product's matrix.
bool Body::can_be_epilogue(const Expression& e, std::size_t leaf, const Shape& shape) const {
  const Value& product = info(e.leaves[leaf].value);
  if (!is_product(product) || small(product.shape) || e.leaves[leaf].base != 0 ||
      !runs_through(e.leaves[leaf].strides, shape) || elements(product.shape) != elements(shape))
    return false;
  for (const Expression::Node& node : e.nodes) {
    if (node.leaf != SIZE_MAX) {
      const Expression::Leaf& other = e.leaves[node.leaf];
      const bool uniform = std::ranges::all_of(other.strides, [](std::int64_t s) { return s == 0; });
      const bool matrix = product.shape.size() == 2 && shape == product.shape;
      const bool line = matrix && (other.strides[1] == 0 || other.strides[1] == 1);
      if (!(other.base == 0 && runs_through(other.strides, shape)) && !uniform && !line) return false;
      continue;
    }
    const auto& apply = std::get<core::Apply>(info(node.value).rhs);
    const OperatorInfo& op = operators()[apply.op];
    if (can_fail(module.core, node.value) || info(node.value).dtype == DType::i8) return false;
    if (op.lowering == Lowering::elementwise && !works_on_vectors(op, info(apply.operands[0]).dtype)) return false;
  }
  return info(e.nodes.back().value).dtype != DType::boolean;
}

std::vector<Strides> Body::leaf_views(const Expression& e) const {
  std::vector<Strides> views;
  for (const Expression::Leaf& leaf : e.leaves) views.push_back(leaf.strides);
  return views;
}

// The first `written` are written, each overlaps with no other; the rest are read.
std::vector<Access> Body::separate(std::size_t count, std::size_t written) {
  llvm::MDBuilder metadata(module.context);
  auto* domain = metadata.createAnonymousAliasScopeDomain("loop");
  std::vector<llvm::Metadata*> scopes;
  for (std::size_t k = 0; k < count; ++k) scopes.push_back(metadata.createAnonymousAliasScope(domain));
  std::vector<Access> access;
  for (std::size_t k = 0; k < count; ++k) {
    std::vector<llvm::Metadata*> others;
    for (std::size_t o = 0; o < (k < written ? count : written); ++o)
      if (o != k) others.push_back(scopes[o]);
    access.push_back({llvm::MDNode::get(module.context, {scopes[k]}), llvm::MDNode::get(module.context, others)});
  }
  return access;
}

// The values of all nodes, from those of the leaves.
std::vector<IrValue> Body::evaluate(const Expression& e, const std::function<IrValue(std::size_t)>& leaf) {
  std::vector<IrValue> values;
  for (const Expression::Node& node : e.nodes) {
    if (node.leaf != SIZE_MAX) {
      values.push_back(leaf(node.leaf));
      continue;
    }
    std::vector<IrValue> operands;
    for (const std::size_t k : node.operands) operands.push_back(values[k]);
    const Lowering lowering = operators()[std::get<core::Apply>(info(node.value).rhs).op].lowering;
    if (lowering == Lowering::elementwise)
      values.push_back(scalar_operation(node.value, operands));
    else
      values.push_back(lowering == Lowering::outer ? multiply(info(node.value).dtype, operands[0], operands[1])
                                                   : operands[0]);
  }
  return values;
}

// offsets and access: of the leaves.
std::vector<IrValue> Body::evaluate(const Expression& e, std::span<const IrValue> offsets,
                                    std::span<const Access> access) {
  return evaluate(e, [&](std::size_t k) {
    const Expression::Leaf& leaf = e.leaves[k];
    IrValue at = leaf.base == 0 ? offsets[k] : ir.CreateAdd(offsets[k], constant(leaf.base), "", true, true);
    return element(leaf.value, at, info(leaf.value).shape.empty() ? Access{} : access[k]);
  });
}

void Body::pointwise(ValueId v) {
  const Shape& shape = info(v).shape;
  Expression e;
  e.rank = shape.size();
  gather(e, v, identity_map(shape), true);
  const std::size_t product = epilogue(e, shape);
  if (product == SIZE_MAX) return loops({v});
  const std::size_t other = summed_leaf(e, product, shape);
  for (std::size_t k = 0; k < e.leaves.size(); ++k)
    if (k != product && k != other) prepare(e.leaves[k].value);
  product_pointwise(v, e, product, other);
}

namespace {
bool reduces(const Value& v) { return is_reduction(operators()[std::get<core::Apply>(v.rhs).op].lowering); }
}  // namespace

// Reductions that keep the last axis, which is not long, and some before those that they reduce, are computed for some
// columns at a time, so that their sums stay in registers.
Body::Strips Body::find_strips(const std::vector<ValueId>& members, const Shape& shape,
                               const std::vector<Strides>& views) const {
  if (shape.size() < 2 || small(shape)) return {};
  std::int64_t reductions = 0;
  std::size_t kept = 0;  // axes in front
  for (std::size_t k = 0; k < members.size(); ++k) {
    if (!reduces(info(members[k]))) continue;
    if (views[k].back() != 1 || !is_float(info(members[k]).dtype)) return {};
    std::size_t front = 0;
    while (front + 1 < shape.size() && views[k][front] != 0) ++front;
    for (std::size_t axis = front; axis + 1 < shape.size(); ++axis)
      if (views[k][axis] != 0) return {};
    if (front + 1 == shape.size() || (reductions++ > 0 && front != kept)) return {};
    kept = front;
  }
  const std::int64_t vector = lanes(info(members[0]).dtype), columns = shape.back();
  if (reductions == 0 || vector == 1 || columns > module.target.longest_strip) return {};
  std::int64_t width = module.target.strip_vectors(reductions) * vector;
  while (width > vector && columns % width != 0) width /= 2;
  return columns % width == 0 ? Strips{kept, width} : Strips{};
}

// The loops of one strip after another: body(places of the members, offsets of the views) for every element.
void Body::strips(Strips found, const std::vector<ValueId>& members, const Shape& shape,
                  const std::vector<Strides>& views, const std::vector<IrValue>& to, Work each,
                  const std::function<void(const std::vector<IrValue>&, const std::vector<IrValue>&)>& body) {
  const auto [kept, width] = found;
  const auto front = static_cast<std::ptrdiff_t>(kept);
  std::vector<Strides> across, along;
  for (const Strides& view : views) {
    across.emplace_back(view.begin(), view.begin() + front);
    across.back().push_back(view.back() * width);
    along.emplace_back(view.begin() + front, view.end());
  }
  Shape all(shape.begin(), shape.begin() + front), strip(shape.begin() + front, shape.end());
  all.push_back(shape.back() / width);
  strip.back() = width;
  const auto calls = static_cast<double>(elements(strip));
  each = {each.written, each.nanoseconds * calls, 1, each.least / calls};
  walk(all, across, false, each, [&](const std::vector<IrValue>& begin) {
    std::vector<IrValue> places = to;
    for (std::size_t k = 0; k < members.size(); ++k) {
      if (!reduces(info(members[k]))) continue;
      const auto size = static_cast<std::uint64_t>(width);
      places[k] = variable(llvm::ArrayType::get(memory_type(module.context, info(members[k]).dtype), size), "sums");
    }
    const auto each_sum = [&](bool out) {
      for (std::size_t k = 0; k < members.size(); ++k) {
        if (!reduces(info(members[k]))) continue;
        const DType dtype = info(members[k]).dtype;
        walk({width}, {{1}}, false, [&](const std::vector<IrValue>& j) {
          IrValue sum = offset(dtype, places[k], j[0]);
          IrValue result = offset(dtype, offset(dtype, to[k], begin[k]), j[0]);
          if (out)
            store(dtype, load(dtype, sum), result);
          else
            store(dtype, load(dtype, result), sum);
        });
      }
    };
    each_sum(false);
    walk(strip, along, false, [&](const std::vector<IrValue>& inside) {
      std::vector<IrValue> offsets = inside;
      for (std::size_t k = 0; k < offsets.size(); ++k)
        if (k >= members.size() || !reduces(info(members[k])))
          offsets[k] = ir.CreateAdd(begin[k], inside[k], "", true, true);
      body(places, offsets);
    });
    each_sum(true);
  });
}

namespace {
bool is_uniform(const Strides& strides) {
  return std::ranges::all_of(strides, [](std::int64_t s) { return s == 0; });
}
bool is_real(DType dtype) { return dtype == DType::f32 || dtype == DType::f64; }
}  // namespace

// Small tensors on which functions are computed are one vector each: unrolled, every element would have a function
// of its own. Without functions that would not pay: elements just stored one by one are slow to load together.
bool Body::fits_vector(const Expression& e, const Shape& shape) const {
  const Target& target = module.target;
  if (elements(shape) < target.fewest_in_vector || !target.has_vectors() || module.numeric.calls_libm) return false;
  bool functions = false;
  for (const Expression::Node& node : e.nodes) {
    if (node.leaf != SIZE_MAX) {
      const Strides& strides = e.leaves[node.leaf].strides;
      if (!is_real(info(node.value).dtype) || (!is_uniform(strides) && !runs_through(strides, shape))) return false;
      continue;
    }
    const auto& apply = std::get<core::Apply>(info(node.value).rhs);
    const OperatorInfo& op = operators()[apply.op];
    if (can_fail(module.core, node.value)) return false;
    if (op.lowering != Lowering::elementwise) continue;
    if (op.effort == Effort::elementary && is_real(info(node.value).dtype))
      functions = true;
    else if (!works_on_vectors(op, info(apply.operands[0]).dtype))
      return false;
  }
  return functions;
}

std::vector<IrValue> Body::as_vectors(const Expression& e, std::int64_t count) {
  const auto lanes = static_cast<unsigned>(std::bit_ceil(static_cast<std::uint64_t>(count)));
  return evaluate(e, [&](std::size_t k) -> IrValue {
    const Expression::Leaf& leaf = e.leaves[k];
    const DType dtype = info(leaf.value).dtype;
    if (is_uniform(leaf.strides)) return ir.CreateVectorSplat(lanes, element(leaf.value, constant(leaf.base)));
    return load_elements(dtype, lanes, count, offset(dtype, address(leaf.value), constant(leaf.base)));
  });
}

// One loop nest for values with the same loop shape (lowering/steps/loop_group.h), pointwise ones and reductions.
void Body::loops(const std::vector<ValueId>& members) {
  const ValueId first = members[0];
  const Shape shape =
      reduces(info(first)) ? info(std::get<core::Apply>(info(first).rhs).operands[0]).shape : info(first).shape;
  Expression e;
  e.rank = shape.size();
  std::vector<std::size_t> roots;
  for (const ValueId v : members) {
    const bool reduction = reduces(info(v));
    const ValueId x = reduction ? std::get<core::Apply>(info(v).rhs).operands[0] : v;
    roots.push_back(gather(e, x, identity_map(shape), !reduction));
  }
  for (const Expression::Leaf& leaf : e.leaves) {
    if (std::ranges::find(members, leaf.value) != members.end())
      throw std::logic_error("code generation: a loop reads what it has not stored yet");
    prepare(leaf.value);
  }
  const std::size_t count = members.size();
  std::vector<IrValue> to;
  std::vector<Strides> views;
  bool unrolled = small(shape), in_place = false;
  for (const ValueId v : members) {
    to.push_back(result(v));
    views.push_back(reduces(info(v)) ? reduced_view(v) : dense_strides(shape));
    unrolled = unrolled && small(v);
    in_place = in_place || home(v).valid();
    if (reduces(info(v))) begin_reduction(v, to.back());
  }
  const auto as_it_is = [&](ValueId v) { return !reduces(info(v)) && is_real(info(v).dtype); };
  if (unrolled && !in_place && std::ranges::all_of(members, as_it_is) && fits_vector(e, shape)) {
    const std::vector<IrValue> values = as_vectors(e, elements(shape));
    for (std::size_t k = 0; k < count; ++k)
      store_elements(info(members[k]).dtype, values[roots[k]], elements(shape), to[k], {});
    return;
  }
  for (const Strides& view : leaf_views(e)) views.push_back(view);
  std::vector<Access> access = separate(views.size(), count);
  for (std::size_t k = 0; k < count; ++k)
    if (small(members[k])) access[k] = {};
  if (in_place) {  // computed where a leaf may lie, each element over its own
    independent_ = llvm::MDNode::getDistinct(module.context, {});
    for (Access& a : access) a.group = independent_;
    for (std::size_t k = 0; k < e.leaves.size(); ++k)
      if (info(e.leaves[k].value).shape == shape) access[count + k] = {nullptr, nullptr, independent_};
  }
  const std::vector<IrValue> results = to;
  std::vector<Sum> sums = sums_in_lanes(members);
  const std::vector<Sum> stored = unrolled ? std::vector<Sum>{} : store_sums(sums, shape, views, to);
  std::vector<Sum*> sum_of(count, nullptr);
  for (Sum& s : sums) sum_of[s.member] = &s;
  std::vector<bool> stores(count);
  for (std::size_t k = 0; k < count; ++k)
    stores[k] = !reduces(info(members[k])) || std::ranges::find(stored, k, &Sum::member) != stored.end();
  std::int64_t visited = 0;
  const auto body = [&](const std::vector<IrValue>& places, const std::vector<IrValue>& offsets) {
    const std::vector<IrValue> values =
        evaluate(e, std::span(offsets).subspan(count), std::span(access).subspan(count));
    for (std::size_t k = 0; k < count; ++k) {
      const DType dtype = info(members[k]).dtype;
      IrValue place = offset(dtype, places[k], offsets[k]);
      if (stores[k])
        store(dtype, values[roots[k]], place, access[k]);
      else if (sum_of[k] != nullptr && unrolled)
        combine_written_out(*sum_of[k], visited, values[roots[k]], place);
      else
        combine(members[k], values[roots[k]], place, sum_of[k] != nullptr ? Access{} : access[k]);
    }
    ++visited;
  };
  // That these sums are apart from what has no scope LLVM knows only where their variable is, and not in a piece.
  const bool shared =
      std::ranges::none_of(members, [&](ValueId v) { return reduces(info(v)) && (small(v) || in_place); });
  const Work each = shared ? work(e, count) : Work{};
  if (!unrolled && !sums.empty())
    rows(nest(shape, views), sums, to, each, body);
  else if (const Strips found = find_strips(members, shape, views); found.width > 0)
    strips(found, members, shape, views, to, work(e, count), body);
  else
    walk(shape, views, unrolled, each, [&](const std::vector<IrValue>& offsets) { body(to, offsets); });
  independent_ = nullptr;
  for (const Sum& s : stored) stored_rows(s, shape, to[s.member], results[s.member], each);
  for (std::size_t k = 0; k < count; ++k)
    if (reduces(info(members[k]))) end_reduction(members[k], results[k]);
}

// The loops are those of the product that is leaf `product`, and of the `other`, if any, where both are packed.
void Body::product_pointwise(ValueId v, const Expression& e, std::size_t product, std::size_t other) {
  const ValueId p = e.leaves[product].value;
  const auto& apply = std::get<core::Apply>(info(p).rhs);
  const Shape& shape = info(v).shape;
  const DType dtype = info(v).dtype;
  IrValue to = result(v);
  bool together = false;
  const Sink sink = [&](const Spot& at, IrValue found, std::int64_t count) {
    auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(found->getType());
    IrValue value =
        evaluate(e, [&](std::size_t k) -> IrValue {
          if (k == product) return found;
          if (together && k == other) return no_terms(dtype, found->getType());
          const Expression::Leaf& leaf = e.leaves[k];
          const DType type = info(leaf.value).dtype;
          const bool dense = leaf.base == 0 && runs_through(leaf.strides, shape);
          IrValue from = dense ? at.offset : constant(leaf.base);
          std::int64_t along = dense ? 1 : 0;
          if (!dense && shape.size() == 2) {
            from = place(place(from, at.row, leaf.strides[0]), at.column, leaf.strides[1]);
            along = shape[1] == 1 ? leaf.strides[0] : leaf.strides[1];
          }
          if (vector == nullptr) return element(leaf.value, from);
          if (along == 0) return ir.CreateVectorSplat(vector->getElementCount(), element(leaf.value, from));
          return load_elements(type, vector->getNumElements(), count, offset(type, address(leaf.value), from));
        }).back();
    store_elements(dtype, value, count, offset(dtype, to, at.offset), {});
  };
  const auto apart = [&] {
    together = false;
    if (other != SIZE_MAX) prepare(e.leaves[other].value);
    products(p, apply.operands[0], apply.operands[1], false, sink);
  };
  if (other == SIZE_MAX) return apart();
  together = true;
  packed_sum({packed_term(e.leaves[other].value), packed_term(p)}, sink, apart);
}

// Axes along which all views advance evenly are merged, so that operands of one shape, or of
// one shape and a scalar, are one loop.
void Body::walk(const Shape& shape, const std::vector<Strides>& views, bool unrolled, const Visit& visit) {
  walk(shape, views, unrolled, {}, visit);
}

void Body::walk(const Shape& shape, const std::vector<Strides>& views, bool unrolled, Work work, const Visit& visit) {
  walk(nest(shape, views), unrolled, work, visit);
}

Body::Nest Body::nest(const Shape& shape, const std::vector<Strides>& views) {
  Nest all{{}, std::vector<Strides>(views.size())};
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 1) continue;
    bool even = !all.extents.empty();
    for (std::size_t k = 0; k < views.size() && even; ++k) even = all.strides[k].back() == views[k][axis] * shape[axis];
    if (even)
      all.extents.back() *= shape[axis];
    else
      all.extents.push_back(shape[axis]);
    for (std::size_t k = 0; k < views.size(); ++k) {
      if (even)
        all.strides[k].back() = views[k][axis];
      else
        all.strides[k].push_back(views[k][axis]);
    }
  }
  return all;
}

void Body::walk(const Nest& all, bool unrolled, Work work, const Visit& visit) {
  const Shape& extents = all.extents;
  const std::vector<Strides>& merged = all.strides;
  if (std::ranges::find(extents, 0) != extents.end()) return;
  std::size_t split = unrolled ? SIZE_MAX : split_axis(extents, merged, work);
  Rounds rounds;
  std::function<void(std::size_t, const std::vector<IrValue>&)> level = [&](std::size_t depth,
                                                                            const std::vector<IrValue>& offsets) {
    if (depth == extents.size()) return visit(offsets);
    const auto inside = [&](IrValue i) {
      std::vector<IrValue> inner = offsets;
      for (std::size_t k = 0; k < merged.size(); ++k) {
        const std::int64_t stride = merged[k][depth];
        if (stride == 0) continue;
        IrValue step = stride == 1 ? i : ir.CreateMul(i, constant(stride), "", true, true);
        auto* outer = llvm::dyn_cast<llvm::ConstantInt>(offsets[k]);
        inner[k] = outer != nullptr && outer->isZero() ? step : ir.CreateAdd(offsets[k], step, "", true, true);
      }
      level(depth + 1, inner);
    };
    if (unrolled) {
      for (std::int64_t i = 0; i < extents[depth]; ++i) inside(constant(i));
    } else {
      loop(depth == split ? rounds : Rounds{}, constant(extents[depth]), inside);
    }
  };
  const std::vector<IrValue> begin(merged.size(), constant(0));
  if (split == SIZE_MAX) return level(0, begin);
  double each = work.nanoseconds;
  for (const std::int64_t extent : extents) each *= static_cast<double>(extent);
  const std::int64_t unit = split + 1 == extents.size() ? work.together : 1;
  const std::int64_t count = (extents[split] + unit - 1) / unit;
  parallel(count, each / static_cast<double>(count), [&](const Rounds& some) {
    rounds = {place(constant(0), some.begin, unit), place(constant(0), some.end, unit)};
    level(0, begin);
  });
}

}  // namespace rml::codegen

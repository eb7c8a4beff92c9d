// Writes a contraction as diagonals, sums, transpositions and products.
//
// First each operand loses the axes that only it has: repeated indices become diagonals, and
// indices that neither the result nor another operand has are summed. Then two operands at a time
// become one, by a matrix product if an index is summed, else by a broadcast multiplication. Last
// the axes are ordered. An index of the result that no operand has any more is broadcast, and a
// repeated one is placed on a diagonal.
//
//   ij,jk->ki    matmul(transpose b, transpose a)    with a's and b's axes after the common ones
#include "semantics/instantiate/contraction.h"

#include <algorithm>

#include "semantics/core/attributes.h"

namespace rml::draft {

namespace {

using Indices = std::vector<int>;

Attribute one(std::int64_t integer) {
  Attribute a = integers_attribute({integer});
  a.scalar = true;
  return a;
}

bool contains(const Indices& indices, int index) { return std::ranges::find(indices, index) != indices.end(); }

Indices joined(std::initializer_list<Indices> lists) {
  Indices all;
  for (const Indices& part : lists) all.insert(all.end(), part.begin(), part.end());
  return all;
}

struct Factor {
  ValueId value;
  Indices indices;  // distinct, one for each axis
};

class Writer {
 public:
  Writer(const Contraction& c, const MakeValue& make) : c_(c), make_(make) {}

  ValueId write(const std::vector<ValueId>& operands) {
    const std::vector<Indices> wanted = wanted_indices(c_);
    std::vector<Factor> factors;
    for (std::size_t t = 0; t < c_.terms.size(); ++t)
      factors.push_back(c_.terms[t].read ? alone(operands[t], c_.terms[t], wanted[t]) : Factor{});
    for (const ContractionStep& step : contraction_order(c_, wanted))
      factors.push_back(product(factors[step.a], factors[step.b], step));
    if (factors.size() > c_.terms.size()) return placed(factors.back());
    const auto only = std::ranges::find_if(c_.terms, [](const Contraction::Term& t) { return t.read; });
    return placed(factors[static_cast<std::size_t>(only - c_.terms.begin())]);
  }

 private:
  // -1 - k stands for the index of axis k of the result.
  std::int64_t extent(int index) const {
    return c_.extents[std::size_t(index < 0 ? c_.result.indices[std::size_t(-1 - index)] : index)];
  }
  Shape shape(const Indices& indices) const {
    Shape s;
    for (const int index : indices) s.push_back(extent(index));
    return s;
  }
  std::int64_t elements(const Indices& indices) const {
    std::int64_t count = 1;
    for (const int index : indices) count *= extent(index);
    return count;
  }

  ValueId reshaped(ValueId v, const Shape& from, const Shape& to) {
    return from == to ? v : make_("reshape", {v}, {integers_attribute(to)}, to);
  }

  Factor alone(ValueId v, const Contraction::Term& term, const Indices& wanted) {
    Factor f{v, term.indices};
    f.value = make_("reshape", {v}, {integers_attribute(shape(term.indices))}, shape(term.indices));
    for (std::size_t k = 0; k < f.indices.size();) {
      const auto first = static_cast<std::size_t>(std::ranges::find(f.indices, f.indices[k]) - f.indices.begin());
      if (first == k) {
        ++k;
        continue;
      }
      Indices left = f.indices;
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(k));
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(first));
      left.push_back(f.indices[k]);
      const std::vector<Attribute> axes = {one(0), one(static_cast<std::int64_t>(first)),
                                           one(static_cast<std::int64_t>(k))};
      f = {make_("diagonal", {f.value}, axes, shape(left)), left};
      k = 0;
    }
    std::vector<std::int64_t> summed;
    Indices left;
    for (std::size_t k = 0; k < f.indices.size(); ++k) {
      if (contains(wanted, f.indices[k]))
        left.push_back(f.indices[k]);
      else
        summed.push_back(static_cast<std::int64_t>(k));
    }
    if (summed.empty()) return f;
    return {make_("sum", {f.value}, {integers_attribute(summed), one(0)}, shape(left)), left};
  }

  Factor ordered(const Factor& f, const Indices& order) {
    if (f.indices == order) return f;
    std::vector<std::int64_t> axes;
    for (const int index : order) axes.push_back(std::ranges::find(f.indices, index) - f.indices.begin());
    return {make_("transpose", {f.value}, {integers_attribute(axes), one(0)}, shape(order)), order};
  }

  Factor product(const Factor& a, const Factor& b, const ContractionStep& step) {
    if (!step.summed.empty()) return matrix_product(a, b, step);
    const Factor x = ordered(a, joined({step.common, step.only_a}));
    const Factor y = ordered(b, joined({step.common, step.only_b}));
    Shape left = shape(step.common), right = left;
    const Shape own_a = shape(step.only_a), own_b = shape(step.only_b);
    left.insert(left.end(), own_a.begin(), own_a.end());
    left.insert(left.end(), own_b.size(), 1);
    right.insert(right.end(), own_a.size(), 1);
    right.insert(right.end(), own_b.begin(), own_b.end());
    const ValueId u = reshaped(x.value, shape(x.indices), left), v = reshaped(y.value, shape(y.indices), right);
    return {make_("mul", {u, v}, {}, shape(step.kept)), step.kept};
  }

  // Multiplies [common, a, summed] by [common, summed, b], with each group as one axis, or none
  // if it is empty.
  Factor matrix_product(const Factor& a, const Factor& b, const ContractionStep& step) {
    const bool batched = !step.common.empty();
    const bool rows = batched || !step.only_a.empty(), columns = batched || !step.only_b.empty();
    const std::int64_t batch = elements(step.common), inner = elements(step.summed);
    Shape left, right, result;
    for (Shape* s : {&left, &right, &result})
      if (batched) s->push_back(batch);
    if (rows) left.push_back(elements(step.only_a)), result.push_back(left.back());
    left.push_back(inner);
    right.push_back(inner);
    if (columns) right.push_back(elements(step.only_b)), result.push_back(right.back());
    const Factor x = ordered(a, joined({step.common, step.only_a, step.summed}));
    const Factor y = ordered(b, joined({step.common, step.summed, step.only_b}));
    const ValueId u = reshaped(x.value, shape(x.indices), left), v = reshaped(y.value, shape(y.indices), right);
    const ValueId made = make_("matmul", {u, v}, {}, result);
    return {reshaped(made, result, shape(step.kept)), step.kept};
  }

  ValueId placed(const Factor& f) {
    Indices distinct, have;
    for (const int index : c_.result.indices)
      if (!contains(distinct, index)) distinct.push_back(index);
    Shape spread;
    for (const int index : distinct) {
      if (contains(f.indices, index)) have.push_back(index);
      spread.push_back(contains(f.indices, index) ? extent(index) : 1);
    }
    Factor g = ordered(f, have);
    g.value = reshaped(g.value, shape(have), spread);
    if (spread != shape(distinct))
      g.value = make_("broadcast_to", {g.value}, {integers_attribute(shape(distinct))}, shape(distinct));
    g.indices = distinct;
    // The k-th occurrence of an index becomes the label -1 - k. Its elements are on a diagonal
    // with those of the previous occurrence, which may be a label itself.
    Indices labels;
    for (std::size_t k = 0; k < c_.result.indices.size(); ++k) {
      const int index = c_.result.indices[k];
      const auto before =
          std::find(c_.result.indices.rend() - static_cast<std::ptrdiff_t>(k), c_.result.indices.rend(), index);
      labels.push_back(before == c_.result.indices.rend() ? index : -1 - static_cast<int>(k));
      if (before == c_.result.indices.rend()) continue;
      const auto previous = c_.result.indices.rend() - before - 1;
      const int diagonal = labels[static_cast<std::size_t>(previous)];
      // The order of axes in which those before the k-th are in place, and the others follow.
      Indices last = g.indices, whole = g.indices;
      std::erase(last, diagonal);
      last.push_back(diagonal);
      whole.insert(whole.begin() + static_cast<std::ptrdiff_t>(k), labels.back());
      g = ordered(g, last);
      g.value = make_("sum_diagonal", {g.value},
                      {integers_attribute(shape(whole)), one(0), one(previous), one(static_cast<std::int64_t>(k))},
                      shape(whole));
      g.indices = whole;
    }
    return reshaped(g.value, shape(g.indices), c_.result_shape);
  }

  const Contraction& c_;
  const MakeValue& make_;
};

}  // namespace

ValueId write_contraction(const Contraction& c, const std::vector<ValueId>& operands, ValueId zero,
                          const MakeValue& make) {
  if (c.zero) return make("broadcast_to", {zero}, {integers_attribute(c.result_shape)}, c.result_shape);
  return Writer(c, make).write(operands);
}

}  // namespace rml::draft

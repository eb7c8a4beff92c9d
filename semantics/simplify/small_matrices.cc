// Linear algebra of small matrices: iterations over the rows, in place of kernels that need LAPACK.
//
// The code of an iteration has loops with static bounds and no branches, so it is short, links
// without a library, and has lanes. The arithmetic is that of the kernels (runtime/lapack/small.h),
// operation by operation. Batches are one axis, the second one of a stack of rows:
//
//   solve      n rounds eliminate: the first row of [a | b], divided by its largest element, is
//              subtracted from the others, which move up. n rounds substitute, from the last row.
//   cholesky   n rounds, each of which yields a row of the transposed factor
//
// Columns are chosen as pivots, as LAPACK does with the rows of the transposed matrix: `order` has
// the position of each column. Of equal elements the one with the first position is the pivot.
#include "semantics/simplify/small_matrices.h"

#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>

#include "semantics/core/queries.h"
#include "semantics/simplify/core_target.h"
#include "semantics/simplify/simplify.h"

namespace rml {

namespace {

using Operand = DefinitionTarget::Operand;
using Numbers = std::vector<std::pair<std::string_view, double>>;

constexpr std::string_view join_sides = R"(node join(a, b) -> (w, finite)
  finite = all(isfinite(a), axis=[1, 2], keepdims=1);
  unit = reshape([1, n, 1], iota(n)) == reshape([1, 1, n], iota(n));
  w = transpose(concat(select(finite, a, select(unit, 1.0, 0.0)), b, axis=2), axes=[1, 0, 2]);
)";
constexpr std::string_view eliminate = R"(node eliminate(w, order, k) -> (next, moved, row, hot)
  first = slice(w, [0, 0, 0], [1, batch, c]);
  head = reshape([batch, c], first);
  left = slice(head, [0, 0], [batch, n]);
  waits = order >= k;
  size = select(waits, abs(left), -1.0);
  most = max(size, axis=1, keepdims=1);
  place = min(select(waits and (size == most or most != most), order, n), axis=1, keepdims=1);
  hot = order == place;
  pivot = nonzero_pivot(sum(select(hot, left, -0.0), axis=1, keepdims=1));
  row = head / pivot;
  below = slice(w, [1, 0, 0], [n, batch, c]);
  column = sum(select(hot, slice(below, [0, 0, 0], [n - 1, batch, n]), -0.0), axis=2, keepdims=1);
  next = concat(below - column * row, first, axis=0);
  moved = select(hot, k, select(order == k, place, order));
)";
constexpr std::string_view substitute = R"(node substitute(x, row, hot) -> (next)
  known = sum(reshape([batch, n, 1], slice(row, [0, 0], [batch, n])) * x, axis=1);
  value = slice(row, [0, n], [batch, c]) - known;
  next = select(reshape([batch, n, 1], hot), reshape([batch, 1, m], value), x);
)";
constexpr std::string_view only_row = R"(node only_row(w) -> (x)
  head = reshape([batch, c], w);
  x = reshape([batch, 1, m], slice(head, [0, 1], [batch, c]) / nonzero_pivot(slice(head, [0, 0], [batch, 1])));
)";
constexpr std::string_view triangular = R"(node triangular(x, row, k) -> (next)
  here = iota(n) == k;
  left = slice(row, [0, 0], [batch, n]);
  known = sum(reshape([batch, n, 1], left) * x, axis=1);
  value = slice(row, [0, n], [batch, c]) - known;
  pivot = nonzero_pivot(sum(select(here, left, -0.0), axis=1, keepdims=1));
  next = select(reshape([1, n, 1], here), reshape([batch, 1, m], value / pivot), x);
)";
constexpr std::string_view triangular_of_ones = R"(node triangular(x, row, k) -> (next)
  here = iota(n) == k;
  known = sum(reshape([batch, n, 1], slice(row, [0, 0], [batch, n])) * x, axis=1);
  value = slice(row, [0, n], [batch, c]) - known;
  next = select(reshape([1, n, 1], here), reshape([batch, 1, m], value), x);
)";
constexpr std::string_view symmetrise = R"(node symmetrise(a) -> (s, finite)
  finite = all(isfinite(a), axis=[1, 2], keepdims=1);
  unit = reshape([1, n, 1], iota(n)) == reshape([1, 1, n], iota(n));
  safe = select(finite, a, select(unit, 1.0, 0.0));
  s = transpose(0.5 * safe + 0.5 * transpose(safe, axes=[0, 2, 1]), axes=[1, 0, 2]);
)";
constexpr std::string_view factor = R"(node factor(s, k) -> (next, row)
  here = iota(n) == k;
  first = slice(s, [0, 0, 0], [1, batch, n]);
  head = reshape([batch, n], first);
  root = sqrt(positive_pivot(sum(select(here, head, -0.0), axis=1, keepdims=1)));
  row = select(here, root, select(iota(n) > k, head / root, 0.0));
  below = slice(s, [1, 0, 0], [n, batch, n]);
  column = sum(select(here, below, -0.0), axis=2, keepdims=1) / root;
  next = concat(below - column * row, first, axis=0);
)";
constexpr std::string_view square = R"(node square(a, k) -> (next)
  next = matmul(a, a);
)";
constexpr std::string_view square_and_multiply = R"(node square_and_multiply(a, power, bit) -> (next, product)
  next = matmul(a, a);
  product = select(bit, matmul(power, next), power);
)";

// An iteration: a node as text, and the numbers of its states and sequences.
struct Rounds {
  std::string_view name, text;
  std::uint32_t states = 0, sequences = 0;
  std::int64_t length = 0;
  bool reverse = false;
};

class Writer {
 public:
  Writer(Core& core, ValueId v)
      : core_(core), of_(v), dtype_(core[v].dtype), target_(core, core[v].clock, core[v].span, core[v].instance) {
    const core::Apply& a = *apply_of(core, v);
    const Shape shape = core[a.operands[0]].shape;
    n_ = shape.back();
  }

  Operand write() {
    const core::Apply a = *apply_of(core_, of_);
    switch (operators()[a.op].matrix) {
      case MatrixForm::cholesky:
        return in_shape(cholesky(stacked(a.operands[0])));
      case MatrixForm::power:
        return in_shape(power(stacked(a.operands[0]), a.attributes[0].integers[0]));
      case MatrixForm::inverse:
        return in_shape(inverse(stacked(a.operands[0])));
      case MatrixForm::solve: {
        const Operand b = right_side(a.operands[1]);
        return in_shape(solve(stacked(a.operands[0]), b));
      }
      case MatrixForm::triangular_solve: {
        const Operand b = right_side(a.operands[1]);
        return in_shape(solve_triangular(stacked(a.operands[0]), b, a.attributes[0].integers[0] != 0,
                                         a.attributes[1].integers[0] != 0));
      }
      case MatrixForm::none:
        break;
    }
    throw std::logic_error("no operator on matrices");
  }

 private:
  Operand operand(ValueId v) const { return {v.index, core_[v].dtype, core_[v].shape}; }
  Numbers numbers() const {
    return {{"batch", static_cast<double>(batch_)},
            {"n", static_cast<double>(n_)},
            {"m", static_cast<double>(m_)},
            {"c", static_cast<double>(n_ + m_)}};
  }
  std::vector<Operand> node(std::string_view text, const std::vector<Operand>& inputs) {
    return define_node(text, dtype_, inputs, numbers(), target_);
  }
  Operand reshaped_to(const Operand& x, const Shape& shape) {
    if (x.shape == shape) return x;
    return node(kept_definition("node shaped(x) -> (y)\n  y = reshape(" + to_string(shape) + ", x);\n"), {x})[0];
  }
  Operand broadcast_to(const Operand& x, const Shape& shape) {
    if (x.shape == shape) return x;
    return node(kept_definition("node whole(x) -> (y)\n  y = broadcast_to(x, " + to_string(shape) + ");\n"), {x})[0];
  }
  Operand in_shape(const Operand& x) { return reshaped_to(x, core_[of_].shape); }
  Operand constant(const Tensor& t) { return target_.constant(t); }
  Operand zeros(const Shape& shape) { return constant(Tensor(dtype_, shape)); }
  Operand count(std::int64_t length) {
    Tensor t(DType::i32, {length});
    std::iota(t.as<std::int32_t>(), t.as<std::int32_t>() + length, 0);
    return constant(t);
  }
  Operand or_nan(const Operand& finite, const Operand& x) {
    const std::string_view text = "node or_nan(finite, x) -> (y)\n  y = select(finite, x, nothing);\n";
    return define_node(text, dtype_, std::vector{finite, x}, {{"nothing", std::numeric_limits<double>::quiet_NaN()}},
                       target_)[0];
  }

  // The axes of the batch, which the result has before the axes of a matrix or vector.
  Shape batch_axes(std::size_t others) const {
    const Shape& shape = core_[of_].shape;
    return {shape.begin(), shape.end() - static_cast<std::ptrdiff_t>(others)};
  }
  // The matrices as [batch, rows, columns].
  Operand stacked(const Operand& x, Shape axes) {
    batch_ = std::accumulate(axes.begin(), axes.end(), std::int64_t{1}, std::multiplies<>());
    const std::int64_t rows = x.shape[x.shape.size() - 2], columns = x.shape.back();
    axes.push_back(rows), axes.push_back(columns);
    return reshaped_to(broadcast_to(x, axes), {batch_, rows, columns});
  }
  bool has_vector() const {
    const core::Apply& a = *apply_of(core_, of_);
    return a.operands.size() > 1 && core_[a.operands[1]].shape.size() == 1;
  }
  Operand stacked(ValueId a) { return stacked(operand(a), batch_axes(has_vector() ? 1 : 2)); }
  Operand right_side(ValueId b) {
    Operand x = operand(b);
    if (has_vector()) x = reshaped_to(x, {n_, 1});
    x = stacked(x, batch_axes(has_vector() ? 1 : 2));
    m_ = x.shape.back();
    return x;
  }

  Operand solve(const Operand& a, const Operand& b) {
    const std::vector<Operand> joined = node(join_sides, {a, b});
    if (n_ == 1) return or_nan(joined[1], node(only_row, {joined[0]})[0]);
    Tensor order(DType::i32, {batch_, n_});
    for (std::int64_t k = 0; k < batch_ * n_; ++k) order.as<std::int32_t>()[k] = static_cast<std::int32_t>(k % n_);
    const std::vector<Operand> rows =
        rounds({"eliminate", eliminate, 2, 1, n_, false}, {joined[0], constant(order), count(n_)});
    const Operand none = zeros({batch_, n_, m_});
    return or_nan(joined[1], rounds({"substitute", substitute, 1, 2, n_, true}, {none, rows[2], rows[3]})[0]);
  }
  Operand solve_triangular(const Operand& a, const Operand& b, bool lower, bool unit) {
    const std::vector<Operand> joined = node(join_sides, {a, b});
    const Rounds by_row{"triangular", unit ? triangular_of_ones : triangular, 1, 2, n_, !lower};
    return or_nan(joined[1], rounds(by_row, {zeros({batch_, n_, m_}), joined[0], count(n_)})[0]);
  }
  Operand inverse(const Operand& a) {
    m_ = n_;
    return solve(a, broadcast_to(unit_matrix(), {batch_, n_, n_}));
  }
  Operand unit_matrix() {
    const std::string_view text =
        "node unit() -> (y)\n  y = select(reshape([1, n, 1], iota(n)) == reshape([1, 1, n], iota(n)), 1.0, 0.0);\n";
    return node(text, {})[0];
  }
  Operand cholesky(const Operand& a) {
    const std::vector<Operand> symmetric = node(symmetrise, {a});
    const Operand rows = rounds({"factor", factor, 1, 1, n_, false}, {symmetric[0], count(n_)})[1];
    return or_nan(symmetric[1], node("node turned(rows) -> (y)\n  y = transpose(rows, axes=[1, 2, 0]);\n", {rows})[0]);
  }

  // Squares are computed for all bits of the exponent, and multiplied where a bit is set.
  Operand power(const Operand& a, std::int64_t exponent) {
    const std::string_view text = "node finite(a) -> (y)\n  y = all(isfinite(a), axis=[1, 2], keepdims=1);\n";
    const Operand finite = node(text, {a})[0];
    std::uint64_t left = exponent < 0 ? 0 - static_cast<std::uint64_t>(exponent) : static_cast<std::uint64_t>(exponent);
    if (left == 0) return or_nan(finite, broadcast_to(unit_matrix(), {batch_, n_, n_}));
    Operand x = exponent < 0 ? inverse(a) : a;
    const int squares = std::countr_zero(left);
    if (squares > 0) x = rounds({"square", square, 1, 1, squares, false}, {x, count(squares)})[0];
    left >>= squares;
    if (left == 1) return or_nan(finite, x);
    const std::int64_t length = std::bit_width(left) - 1;
    Tensor bits(DType::boolean, {length});
    for (std::int64_t k = 0; k < length; ++k) bits.as<bool>()[k] = (left >> (k + 1) & 1) != 0;
    return or_nan(finite,
                  rounds({"square_and_multiply", square_and_multiply, 2, 1, length, false}, {x, x, constant(bits)})[1]);
  }

  std::vector<Operand> rounds(const Rounds& how, const std::vector<Operand>& operands) {
    ExternalNode external{std::string(how.name), {}, {}, core_[of_].span};
    external.iteration = std::make_shared<const Iteration>(iteration(how, operands));
    const Core& body = external.iteration->body;
    for (const Operand& x : operands) external.inputs.emplace_back(x.dtype, x.shape);
    for (std::size_t k = 0; k < body.outputs.size(); ++k) {
      Shape shape = body[body.outputs[k].value].shape;
      if (k >= how.states) shape.insert(shape.begin(), how.length);
      external.outputs.emplace_back(body[body.outputs[k].value].dtype, std::move(shape));
    }
    core::Call call{static_cast<std::uint32_t>(core_.externals.size()), {}};
    for (const Operand& x : operands) call.operands.push_back(ValueId{x.id});
    const auto outputs = external.outputs;
    core_.externals.push_back(std::move(external));
    const ValueId called{target_.add(std::move(call), outputs[0].first, {}).id};
    std::vector<Operand> results;
    for (std::uint32_t k = 0; k < outputs.size(); ++k)
      results.push_back(target_.add(core::Result{called, k}, outputs[k].first, outputs[k].second));
    return results;
  }

  Iteration iteration(const Rounds& how, const std::vector<Operand>& operands) {
    Iteration it;
    it.states = how.states, it.sequences = how.sequences;
    it.length = how.length, it.reverse = how.reverse;
    Core body;
    body.entry = how.name;
    body.clocks.resize(2);
    body.instances = core_.instances;
    CoreTarget inside(body, base_clock, core_[of_].span, core_[of_].instance);
    std::vector<Operand> inputs;
    for (std::uint32_t k = 0; k < operands.size(); ++k) {
      Shape shape = operands[k].shape;
      if (k >= how.states) shape.erase(shape.begin());
      inputs.push_back(inside.add(core::Input{k}, operands[k].dtype, std::move(shape)));
      body.inputs.push_back({"x" + std::to_string(k), ValueId{inputs.back().id}, core_[of_].span});
    }
    for (const Operand& y : define_node(how.text, dtype_, inputs, numbers(), inside))
      body.outputs.push_back({"y" + std::to_string(body.outputs.size()), ValueId{y.id}, core_[of_].span});
    it.body = simplify(std::move(body), {});
    for (std::size_t k = 0; k < it.body.values.size(); ++k) it.can_fail = it.can_fail || can_fail(it.body, ValueId{k});
    return it;
  }

  Core& core_;
  const ValueId of_;
  const DType dtype_;
  CoreTarget target_;
  std::int64_t batch_ = 1, n_ = 0, m_ = 0;  // matrices of a batch, rows of a matrix, right-hand sides
};

}  // namespace

bool is_small_matrix(const Core& core, ValueId v) {
  const core::Apply* a = apply_of(core, v);
  if (a == nullptr || operators()[a->op].matrix == MatrixForm::none) return false;
  const Shape& shape = core[a->operands[0]].shape;
  // With [a | b] for each matrix of the result.
  const std::int64_t n = shape.back(), result = *element_count(core[v].shape);
  const bool has_vector = a->operands.size() > 1 && core[a->operands[1]].shape.size() == 1;
  const std::int64_t columns = has_vector ? 1 : core[v].shape.back();
  return n <= most_rows_in_code && (result == 0 || result / columns * (n + columns) <= most_elements_in_code);
}

Operand write_small_matrix(Core& core, ValueId v) { return Writer(core, v).write(); }

}  // namespace rml

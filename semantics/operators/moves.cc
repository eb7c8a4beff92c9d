// The strided copies of each moving operator, and its shape rule.
//
// Most operators treat axes alike: an axis is cut into pieces, each a nest of at most two counted
// steps in the result and the operand. The moves are all combinations of one piece per axis.
//
//   pad(x: [3], 2, 1, mode="reflect")    x2 x1 | x0 x1 x2 | x1: three pieces
#include "semantics/operators/moves.h"

#include <algorithm>
#include <cmath>

#include "semantics/operators/rules.h"

namespace rml {

namespace {

struct Steps {
  std::int64_t count, to, from;  // positions along the axis
};
struct Piece {
  std::int64_t to, from;
  std::vector<Steps> steps;
};
using Pieces = std::vector<Piece>;  // the pieces that make up one axis

constexpr std::size_t max_moves = 1024;

std::vector<std::int64_t> dense(const Shape& shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t k = shape.size(); k-- > 1;) strides[k - 1] = strides[k] * shape[k];
  return strides;
}

std::vector<Move> combined(const Shape& x, const Shape& y, const std::vector<Pieces>& axes) {
  const std::vector<std::int64_t> from = dense(x), to = dense(y);
  std::vector<Move> moves = {Move{}};
  for (std::size_t k = 0; k < axes.size(); ++k) {
    std::vector<Move> longer;
    for (const Move& before : moves) {
      for (const Piece& piece : axes[k]) {
        Move move = before;
        move.to += piece.to * to[k];
        move.from += piece.from * from[k];
        for (const Steps& s : piece.steps) {
          move.shape.push_back(s.count);
          move.to_strides.push_back(s.to * to[k]);
          move.from_strides.push_back(s.from * from[k]);
        }
        longer.push_back(std::move(move));
      }
    }
    moves = std::move(longer);
  }
  std::erase_if(moves, [](const Move& m) { return std::ranges::find(m.shape, 0) != m.shape.end(); });
  return moves;
}

Pieces whole(std::int64_t extent) { return {{0, 0, {{extent, 1, 1}}}}; }

// ---- pad -----------------------------------------------------------------------------------

enum class Mode { constant, edge, reflect, symmetric, wrap, unknown };

Mode mode_named(const std::string& name) {
  constexpr std::pair<std::string_view, Mode> modes[] = {{"constant", Mode::constant},
                                                         {"edge", Mode::edge},
                                                         {"reflect", Mode::reflect},
                                                         {"symmetric", Mode::symmetric},
                                                         {"wrap", Mode::wrap}};
  for (const auto& [text, mode] : modes)
    if (text == name) return mode;
  return Mode::unknown;
}

// Positions [begin, end) of x, continued periodically in both directions. A period goes through x
// forward and, if it is longer than the extent, back again.
class Continued {
 public:
  Continued(std::int64_t extent, std::int64_t period, std::int64_t mirror, std::int64_t shift)
      : extent_(extent), period_(period), mirror_(mirror), shift_(shift) {}

  Pieces pieces(std::int64_t begin, std::int64_t end) {
    std::int64_t at = begin;
    const std::int64_t into = ((begin % period_) + period_) % period_;
    if (into > 0) at = part(begin, into, std::min(period_, into + end - begin), 1);
    if (const std::int64_t rounds = (end - at) / period_; rounds > 0) {
      part(at, 0, period_, rounds);
      at += rounds * period_;
    }
    if (at < end) part(at, 0, end - at, 1);
    return std::move(found_);
  }

 private:
  // Positions [first, last) of the period that begins at `at`, repeated `rounds` times.
  std::int64_t part(std::int64_t at, std::int64_t first, std::int64_t last, std::int64_t rounds) {
    const auto add = [&](std::int64_t count, std::int64_t to, std::int64_t from, std::int64_t step) {
      if (count > 0) found_.push_back({to + shift_, from, {{rounds, period_, 0}, {count, 1, step}}});
    };
    const std::int64_t up = std::min(last, extent_), down = std::max(first, extent_);
    add(up - first, at, first, 1);
    add(last - down, at + down - first, mirror_ - down, -1);
    return at + last - first;
  }

  std::int64_t extent_, period_, mirror_, shift_;
  Pieces found_;
};

Pieces padded(std::int64_t n, std::int64_t before, std::int64_t after, Mode mode) {
  Pieces pieces;
  const std::int64_t end = n + after;
  const std::int64_t first = std::max<std::int64_t>(0, -before), last = std::min(n, end);
  if (first < last) pieces.push_back({first + before, first, {{last - first, 1, 1}}});
  if (mode == Mode::constant) return pieces;
  if (n == 1 && mode == Mode::reflect) mode = Mode::edge;
  const auto beside = [&](std::int64_t from, std::int64_t to, std::int64_t edge) {
    if (from >= to) return;
    if (mode == Mode::edge) {
      pieces.push_back({from + before, edge, {{to - from, 1, 0}}});
      return;
    }
    const std::int64_t period = mode == Mode::wrap ? n : mode == Mode::reflect ? 2 * n - 2 : 2 * n;
    const std::int64_t mirror = mode == Mode::reflect ? period : period - 1;
    for (Piece& piece : Continued(n, period, mirror, before).pieces(from, to)) pieces.push_back(std::move(piece));
  };
  beside(-before, std::min<std::int64_t>(0, end), 0);
  beside(std::max(n, -before), end, n - 1);
  return pieces;
}

// The width along an axis: a scalar holds for all axes, a vector for the leading ones.
std::int64_t width(const Attribute& a, std::size_t axis) {
  return a.scalar ? a.integers[0] : axis < a.integers.size() ? a.integers[axis] : 0;
}

std::vector<Pieces> pad_pieces(const Shape& x, std::span<const Attribute> attributes) {
  std::vector<Pieces> axes;
  for (std::size_t k = 0; k < x.size(); ++k)
    axes.push_back(padded(x[k], width(attributes[0], k), width(attributes[1], k), mode_named(attributes[2].text)));
  return axes;
}

Shape pad_extents(const Shape& x, std::span<const Attribute> attributes) {
  Shape y;
  for (std::size_t k = 0; k < x.size(); ++k) y.push_back(x[k] + width(attributes[0], k) + width(attributes[1], k));
  return y;
}

// True if the number is a value of the dtype.
bool holds(DType dtype, double value) {
  if (is_float(dtype)) return std::isfinite(rounded(dtype, value)) == std::isfinite(value);
  if (dtype == DType::boolean) return value == 0 || value == 1;
  const int bits = static_cast<int>(8 * byte_size(dtype)) - (is_signed(dtype) ? 1 : 0);
  return std::floor(value) == value && value < std::ldexp(1.0, bits) &&
         value >= (is_signed(dtype) ? -std::ldexp(1.0, bits) : 0);
}

std::string number_text(double value) { return to_string(Tensor::scalar(DType::f64, value)); }

}  // namespace

double move_fill(const OperatorInfo& row, std::span<const Attribute> attributes) {
  std::size_t next = 0;
  for (const OperatorParameter& p : row.parameters) {
    if (p.kind == ParameterKind::number && p.name == "value") return attributes[next].number;
    if (p.kind != ParameterKind::operand) ++next;
  }
  return 0;
}

std::vector<Move> pad_moves(const Shape& x, std::span<const Attribute> attributes) {
  return combined(x, pad_extents(x, attributes), pad_pieces(x, attributes));
}

ShapeResult pad_shape(const Application& app) {
  const Shape& x = app.operand_shapes[0];
  const Attribute& mode = app.attributes[2];
  if (mode_named(mode.text) == Mode::unknown)
    return "pad has no mode \"" + mode.text + "\": constant, edge, reflect, symmetric and wrap are known";
  for (const std::size_t side : {0, 1}) {
    const Attribute& widths = app.attributes[side];
    if (!widths.scalar && widths.integers.size() > x.size())
      return std::to_string(widths.integers.size()) + " widths for a tensor of rank " + std::to_string(x.size());
    for (const std::int64_t w : widths.integers)
      if (w > max_elements || w < -max_elements) return "a padding of " + std::to_string(w) + " elements is too wide";
  }
  if (!holds(app.result_dtype, app.attributes[3].number))
    return "value " + number_text(app.attributes[3].number) + " does not fit " + std::string(name(app.result_dtype));
  const Shape y = pad_extents(x, app.attributes);
  for (std::size_t k = 0; k < x.size(); ++k) {
    const std::int64_t before = width(app.attributes[0], k), after = width(app.attributes[1], k);
    const std::string axis = " of axis " + std::to_string(k) + " of " + to_string(x);
    if (y[k] < 0)
      return "padding by " + std::to_string(before) + " and " + std::to_string(after) + " leaves a negative extent" +
             axis;
    if (x[k] == 0 && y[k] > 0 && mode_named(mode.text) != Mode::constant)
      return "nothing to pad with by \"" + mode.text + "\": extent 0" + axis;
  }
  ShapeResult checked = checked_shape(y);
  if (std::holds_alternative<std::string>(checked)) return checked;
  std::size_t moves = 1;
  for (const Pieces& pieces : pad_pieces(x, app.attributes)) moves *= std::max<std::size_t>(1, pieces.size());
  if (moves > max_moves) return "too many axes padded by \"" + mode.text + "\" in one call: pad some of them first";
  return checked;
}

// ---- tile, repeat ----------------------------------------------------------------------------

namespace {
Shape aligned(const Shape& x, std::size_t rank) {
  Shape shape(rank > x.size() ? rank - x.size() : 0, 1);
  shape.insert(shape.end(), x.begin(), x.end());
  return shape;
}

// The product of extents and factors, which must have equal length.
std::variant<Shape, std::string> multiplied(const Shape& x, const Shape& by, const char* what) {
  Shape y(x.size());
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (by[k] < 0) return std::string(what) + " " + std::to_string(by[k]) + " is negative";
    if (__builtin_mul_overflow(x[k], by[k], &y[k]))
      return to_string(x) + " times " + to_string(by) + " has more than " + std::to_string(max_elements) + " elements";
  }
  return y;
}
}  // namespace

std::vector<Move> tile_moves(const Shape& x, std::span<const Attribute> attributes) {
  const std::size_t rank = std::max(x.size(), attributes[0].integers.size());
  const Shape from = aligned(x, rank), by = aligned(attributes[0].integers, rank);
  std::vector<Pieces> axes;
  for (std::size_t k = 0; k < rank; ++k) axes.push_back({{0, 0, {{by[k], from[k], 0}, {from[k], 1, 1}}}});
  return combined(from, std::get<Shape>(multiplied(from, by, "")), axes);
}

ShapeResult tile_shape(const Application& app) {
  const Shape &x = app.operand_shapes[0], &reps = app.attributes[0].integers;
  const std::size_t rank = std::max(x.size(), reps.size());
  auto y = multiplied(aligned(x, rank), aligned(reps, rank), "number of repetitions");
  if (auto* error = std::get_if<std::string>(&y)) return std::move(*error);
  return checked_shape(std::move(std::get<Shape>(y)));
}

std::vector<Move> repeat_moves(const Shape& x, std::span<const Attribute> attributes) {
  const std::int64_t by = attributes[0].integers[0];
  const Shape from = attributes[1].given ? x : Shape{*element_count(x)};
  const std::size_t axis = attributes[1].given ? *normalized_axis(attributes[1].integers[0], x.size()) : 0;
  std::vector<Pieces> axes;
  Shape to = from;
  to[axis] *= by;
  for (std::size_t k = 0; k < from.size(); ++k) axes.push_back(whole(from[k]));
  axes[axis] = {{0, 0, {{from[axis], by, 1}, {by, 1, 0}}}};
  return combined(from, to, axes);
}

ShapeResult repeat_shape(const Application& app) {
  const Attribute &by = app.attributes[0], &axis = app.attributes[1];
  if (by.integers.size() != 1) return "repeats must be one integer, not " + to_string(by.integers);
  if (axis.given && axis.integers.size() != 1) return "axis must be one integer, not " + to_string(axis.integers);
  const Shape x = axis.given ? app.operand_shapes[0] : Shape{*element_count(app.operand_shapes[0])};
  Shape factors(x.size(), 1);
  const auto k = axis.given ? normalized_axis(axis.integers[0], x.size()) : std::optional<std::size_t>(0);
  if (!k) return axis_error(axis.integers[0], x.size());
  factors[*k] = by.integers[0];
  auto y = multiplied(x, factors, "number of repetitions");
  if (auto* error = std::get_if<std::string>(&y)) return std::move(*error);
  return checked_shape(std::move(std::get<Shape>(y)));
}

// ---- roll, flip ------------------------------------------------------------------------------

std::vector<Move> roll_moves(const Shape& x, std::span<const Attribute> attributes) {
  const Attribute &shift = attributes[0], &axis = attributes[1];
  const Shape shape = axis.given ? x : Shape{*element_count(x)};
  Shape by(shape.size(), 0);
  for (std::size_t i = 0; i < (axis.given ? axis.integers.size() : 1); ++i) {
    const std::size_t k = axis.given ? *normalized_axis(axis.integers[i], x.size()) : 0;
    if (shape[k] == 0) return {};
    const std::int64_t s = shift.integers.size() == 1 ? shift.integers[0] : shift.integers[i];
    by[k] = ((by[k] + s % shape[k]) % shape[k] + shape[k]) % shape[k];
  }
  std::vector<Pieces> axes;
  for (std::size_t k = 0; k < shape.size(); ++k)
    axes.push_back(by[k] == 0 ? whole(shape[k])
                              : Pieces{{by[k], 0, {{shape[k] - by[k], 1, 1}}}, {0, shape[k] - by[k], {{by[k], 1, 1}}}});
  return combined(shape, shape, axes);
}

ShapeResult roll_shape(const Application& app) {
  const Shape& x = app.operand_shapes[0];
  const Attribute &shift = app.attributes[0], &axis = app.attributes[1];
  const std::size_t axes = axis.given ? axis.integers.size() : 1;
  if (shift.integers.size() != 1 && shift.integers.size() != axes)
    return std::to_string(shift.integers.size()) + " shifts for " + std::to_string(axes) +
           (axes == 1 ? " axis" : " axes");
  if (!axis.given) return x;
  for (const std::int64_t a : axis.integers)
    if (!normalized_axis(a, x.size())) return axis_error(a, x.size());
  return x;
}

std::vector<Move> flip_moves(const Shape& x, std::span<const Attribute> attributes) {
  const std::vector<bool> flipped = *reduced_axes(attributes[0], x.size());
  std::vector<Pieces> axes;
  for (std::size_t k = 0; k < x.size(); ++k)
    axes.push_back(flipped[k] ? Pieces{{0, x[k] - 1, {{x[k], 1, -1}}}} : whole(x[k]));
  return combined(x, x, axes);
}

ShapeResult flip_shape(const Application& app) {
  const Shape& x = app.operand_shapes[0];
  return reduced_axes(app.attributes[0], x.size()) ? ShapeResult(x) : axes_error(app.attributes[0], x.size());
}

// ---- diagonal, diag --------------------------------------------------------------------------

namespace {
// The length of a diagonal of a [rows, columns] matrix; `offset` counts upwards from the main
// diagonal.
std::int64_t diagonal_length(std::int64_t rows, std::int64_t columns, std::int64_t offset) {
  const std::int64_t r = offset < 0 ? rows + offset : rows;
  const std::int64_t c = offset > 0 ? columns - offset : columns;
  return std::max<std::int64_t>(0, std::min(r, c));
}

std::string diagonal_offset_error(const Attribute& k) {
  if (k.integers.size() != 1) return "a diagonal must be one integer, not " + to_string(k.integers);
  if (k.integers[0] < -max_elements || k.integers[0] > max_elements)
    return "diagonal " + std::to_string(k.integers[0]) + " is too far";
  return {};
}
}  // namespace

std::vector<Move> diagonal_moves(const Shape& x, std::span<const Attribute> attributes) {
  const std::int64_t offset = attributes[0].integers[0];
  const std::size_t row = *normalized_axis(attributes[1].integers[0], x.size());
  const std::size_t column = *normalized_axis(attributes[2].integers[0], x.size());
  const std::vector<std::int64_t> strides = dense(x);
  Move move;
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (k == row || k == column) continue;
    move.shape.push_back(x[k]);
    move.from_strides.push_back(strides[k]);
  }
  move.shape.push_back(diagonal_length(x[row], x[column], offset));
  move.from_strides.push_back(strides[row] + strides[column]);
  move.from = offset < 0 ? -offset * strides[row] : offset * strides[column];
  move.to_strides = dense(move.shape);
  if (std::ranges::find(move.shape, 0) != move.shape.end()) return {};
  return {std::move(move)};
}

ShapeResult diagonal_shape(const Application& app) {
  const Shape& x = app.operand_shapes[0];
  if (std::string error = diagonal_offset_error(app.attributes[0]); !error.empty()) return error;
  std::optional<std::size_t> axes[2];
  for (const std::size_t i : {0, 1}) {
    const Attribute& axis = app.attributes[i + 1];
    if (axis.integers.size() != 1) return "an axis must be one integer, not " + to_string(axis.integers);
    axes[i] = normalized_axis(axis.integers[0], x.size());
    if (!axes[i]) return axis_error(axis.integers[0], x.size());
  }
  if (axes[0] == axes[1]) return "a diagonal needs two axes, not axis " + std::to_string(*axes[0]) + " twice";
  Shape y;
  for (std::size_t k = 0; k < x.size(); ++k)
    if (k != *axes[0] && k != *axes[1]) y.push_back(x[k]);
  y.push_back(diagonal_length(x[*axes[0]], x[*axes[1]], app.attributes[0].integers[0]));
  return y;
}

std::vector<Move> diag_moves(const Shape& x, std::span<const Attribute> attributes) {
  const std::int64_t k = attributes[0].integers[0];
  const Attribute axes[] = {attributes[0], {.given = true, .integers = {0}}, {.given = true, .integers = {1}}};
  if (x.size() == 2) return diagonal_moves(x, axes);
  // The moves of `diagonal` with both sides exchanged.
  const std::int64_t n = x[0] + std::abs(k);
  std::vector<Move> moves = diagonal_moves({n, n}, axes);
  for (Move& move : moves) {
    std::swap(move.to, move.from);
    std::swap(move.to_strides, move.from_strides);
  }
  return moves;
}

ShapeResult diag_shape(const Application& app) {
  const Shape& x = app.operand_shapes[0];
  if (std::string error = diagonal_offset_error(app.attributes[0]); !error.empty()) return error;
  const std::int64_t k = app.attributes[0].integers[0];
  if (x.size() == 2) return Shape{diagonal_length(x[0], x[1], k)};
  if (x.size() != 1)
    return "diag takes a vector or a matrix, not " + to_string(x) +
           "; for the diagonal of other tensors use `diagonal`";
  return checked_shape({x[0] + std::abs(k), x[0] + std::abs(k)});
}

}  // namespace rml

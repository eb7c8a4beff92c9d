// Operators that copy elements between places that the shapes and attributes tell: padding,
// tiling, rolling, diagonals.
//
// A row's `moves` are strided copies from the operand to the result; no two of them write one
// element, and what none of them writes is the row's `value` attribute, or 0. The same list
// read backwards is the adjoint: zeros of the operand's shape to which every element of the
// result's adjoint is added where it came from.
#pragma once

#include "semantics/operators/operator.h"

namespace rml {

// A walk over `shape`, of any rank, without an extent 0. Offsets and strides are in elements.
struct Move {
  Shape shape;
  std::int64_t to = 0, from = 0;  // of the element at index 0
  std::vector<std::int64_t> to_strides{}, from_strides{};
};

// What the elements are that no move writes.
double move_fill(const OperatorInfo& row, std::span<const Attribute> attributes);

std::vector<Move> pad_moves(const Shape& x, std::span<const Attribute> before_after_mode_value);
std::vector<Move> tile_moves(const Shape& x, std::span<const Attribute> reps);
std::vector<Move> repeat_moves(const Shape& x, std::span<const Attribute> repeats_axis);
std::vector<Move> roll_moves(const Shape& x, std::span<const Attribute> shift_axis);
std::vector<Move> flip_moves(const Shape& x, std::span<const Attribute> axis);
std::vector<Move> diagonal_moves(const Shape& x, std::span<const Attribute> offset_axis1_axis2);
std::vector<Move> diag_moves(const Shape& x, std::span<const Attribute> k);

ShapeResult pad_shape(const Application&);
ShapeResult tile_shape(const Application&);
ShapeResult repeat_shape(const Application&);
ShapeResult roll_shape(const Application&);
ShapeResult flip_shape(const Application&);
ShapeResult diagonal_shape(const Application&);
ShapeResult diag_shape(const Application&);

}  // namespace rml

// Operators that copy elements between positions given by shapes and attributes: padding, tiling,
// rolling, diagonals.
//
// A row's `moves` are strided copies from the operand to the result. No two of them write the
// same element. Elements that no move writes equal the row's `value` attribute, or 0. The adjoint
// reads the same list in reverse: it starts with zeros of the operand's shape, and adds each
// element of the result's adjoint to the position from which it was copied.
#pragma once

#include "semantics/operators/operator.h"

namespace rml {

// A walk over `shape`, of any rank, without extents of 0. Offsets and strides are in elements.
struct Move {
  Shape shape;
  std::int64_t to = 0, from = 0;  // offsets of the element at index 0
  std::vector<std::int64_t> to_strides{}, from_strides{};
};

// The value of elements that no move writes.
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

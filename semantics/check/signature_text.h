// Source text of expressions, rebuilt from the tree for messages, fix-its and signatures.
//
// Analyses have the tree but not the files, so a message prints an operand anew, with parentheses
// only where the grammar needs them. Example: the tree of `do*2.0*(i when bp)` prints as `do *
// 2.0 * i when bp`.
#pragma once

#include <string>

#include "frontend/ast.h"

namespace rml {

// The text of an expression, without abbreviations.
std::string expression_text(const Program& program, ExprId e);
// The text of the expression, cut with an ellipsis after `limit` bytes; for messages.
std::string short_text(const Program& program, ExprId e, std::size_t limit = 40);
// The text of the expression, in parentheses unless it is an atom; for example after `merge` or `post`.
std::string atom_text(const Program& program, ExprId e);
// The text of the expression, in parentheses if `when` could not follow it otherwise.
std::string sampled_text(const Program& program, ExprId e);
std::string_view symbol_text(UnaryOp op);   // "-", "not"
std::string_view symbol_text(BinaryOp op);  // "+", "and"
// An annotation such as "f32[4, n] when not c".
std::string annotation_text(const Program& program, const ast::TypeAnnotation& type);

}  // namespace rml

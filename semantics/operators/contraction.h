// Sums of products over named indices: what einsum and tensordot say, and in which order
// their operands are best multiplied.
//
// An index is a number here; each axis of an operand and of the result has one. The adjoint
// of a contraction with respect to one operand is again a contraction: the operand's values
// are not read any more, the adjoint of the result is a new operand with the result's
// indices, and the new result has the operand's.
//
//   ij,jk->ik    by operand 0:  (ij),jk,ik->ij    by operand 1 of that:  (ij),(jk),ik,ij->jk
//
// So an application of `…_adjoint` has the operands of the contraction, and then one adjoint
// for each entry of `parts`, the operands it was differentiated by one after the other.
#pragma once

#include "semantics/operators/operator.h"

namespace rml {

struct Contraction {
  struct Term {
    bool read = true;               // else only its extents count, and those are known
    std::vector<std::size_t> axes;  // of the operand: those kept; others of extent 1 are broadcast
    std::vector<int> indices;       // of the axes kept; one may occur twice: the diagonal
  };
  std::vector<Term> terms;  // one for each operand
  Term result;
  Shape result_shape;
  std::vector<std::int64_t> extents;  // by index
  bool zero = false;                  // an operand that is not read changes nothing
};

// Of a row with Lowering::contraction; an error is in the user's words.
std::variant<Contraction, std::string> contraction_of(const OperatorInfo& row, const Application&);

// An order in which to multiply: terms `a` and `b` give a new term, which counts behind all so far.
struct ContractionStep {
  std::size_t a, b;
  std::vector<int> kept;  // the new term's indices: common ones, then a's, then b's
  std::vector<int> common, only_a, only_b, summed;
};
// For terms whose indices are distinct, and each of which is in the result or another term.
// Greedy: the pair whose product takes the fewest multiplications comes first.
std::vector<ContractionStep> contraction_order(const Contraction&, std::vector<std::vector<int>> terms);

// The distinct indices of a term that the result or another term that is read has.
std::vector<std::vector<int>> wanted_indices(const Contraction&);

}  // namespace rml

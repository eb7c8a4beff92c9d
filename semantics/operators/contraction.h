// Contractions: sums of products over named indices, as in einsum and tensordot, and a good order
// for their products.
//
// An index is a number here; each axis of an operand and of the result has one. The adjoint of a
// contraction with respect to one operand is again a contraction: the operand's values are no
// longer read, the adjoint of the result is a new operand with the result's indices, and the new
// result has the operand's indices.
//
//   ij,jk->ik    by operand 0:  (ij),jk,ik->ij    by operand 1 of that:  (ij),(jk),ik,ij->jk
//
// So an application of `…_adjoint` has the operands of the contraction, and then one adjoint for
// each entry of `parts`. The entries are the operands by which it was differentiated, in this
// order.
#pragma once

#include "semantics/operators/operator.h"

namespace rml {

struct Contraction {
  struct Term {
    bool read = true;  // false: the operand's elements do not matter, only its extents
    // The kept axes of the operand; others have extent 1 and broadcast.
    std::vector<std::size_t> axes;
    std::vector<int> indices;  // indices of the kept axes; equal ones mean the diagonal
  };
  std::vector<Term> terms;  // the factors of the product, one per operand
  Term result;
  Shape result_shape;
  std::vector<std::int64_t> extents;  // extent of each index
  bool zero = false;                  // true: the result is 0 because it does not depend on the operand
};

// The contraction of a row with Lowering::contraction, or an error in the user's words.
std::variant<Contraction, std::string> contraction_of(const OperatorInfo& row, const Application&);

// One step of the order: the product of terms `a` and `b` is a new term, numbered after all
// earlier ones.
struct ContractionStep {
  std::size_t a, b;
  std::vector<int> kept;  // indices of the new term: common ones, then a's, then b's
  std::vector<int> common, only_a, only_b, summed;
};
// The indices of each term must be distinct, and each must occur in the result or another term.
// Greedy: the pair whose product needs the fewest multiplications comes first.
std::vector<ContractionStep> contraction_order(const Contraction&, std::vector<std::vector<int>> terms);

// By term: its distinct indices that occur in the result or in another term that is read.
std::vector<std::vector<int>> wanted_indices(const Contraction&);

}  // namespace rml

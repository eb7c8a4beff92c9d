// Scalar operations as code spells them.
//
// The body of an operation is written once, over numbers (scalar.h, scalar_functions.h). The host's numbers compute. A
// Term is a number, or a truth, of code that is being written: whatever is done with terms, independent of the back end
// spells. A body of more than one operation names the values on its way, so that code has them in that order.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "semantics/operators/operator.h"

namespace rml::scalar {

class Spelling;

class Term {
 public:
  Term(Spelling& by, void* what) : by_(&by), what_(what) {}
  Spelling& by() const { return *by_; }
  void* what() const { return what_; }  // known to the back end

 private:
  Spelling* by_;
  void* what_;
};

// Of one type of operands.
class Spelling {
 public:
  Spelling() = default;
  Spelling(const Spelling&) = delete;
  Spelling& operator=(const Spelling&) = delete;
  virtual ~Spelling() = default;

  virtual bool is_real() const = 0;
  virtual bool has_sign() const = 0;
  virtual Term number(double) = 0;
  // One that is not made of others.
  virtual Term operation(ScalarOp, std::span<const Term> operands) = 0;
  virtual Term call(std::string_view function, Term) = 0;  // of the C library, by its name for doubles
  virtual Term is_nan(Term) = 0;
  virtual Term above_or_nan(Term x, Term bound) = 0;
};

template <class... Terms>
Term spell(ScalarOp op, Term first, Terms... rest) {
  const std::array operands = {first, rest...};
  return first.by().operation(op, operands);
}

// What the bodies of scalar.h need of numbers beside their operations.
inline Term number_like(Term x, double value) { return x.by().number(value); }
inline Term select(Term condition, Term a, Term b) { return spell(ScalarOp::select, condition, a, b); }
inline Term is_nan(Term x) { return x.by().is_nan(x); }
inline Term above_or_nan(Term x, Term bound) { return x.by().above_or_nan(x, bound); }
inline bool is_real(Term x) { return x.by().is_real(); }
inline bool has_sign(Term x) { return x.by().has_sign(); }
inline Term or_nan(Term truth, Term x) { return is_real(x) ? spell(ScalarOp::logical_or, truth, is_nan(x)) : truth; }

}  // namespace rml::scalar

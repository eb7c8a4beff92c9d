// Scalar operations as generated code.
//
// The body of an operation is written once, as a template over numbers (scalar.h,
// scalar_functions.h). With numbers of the host it computes. With a Term, a number or truth value
// of generated code, it writes code: each operation on terms emits an instruction of the back
// end. A body of several operations names its intermediate values, so that the code has them in a
// defined order.
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
  void* what() const { return what_; }  // the back end's own value for this term

 private:
  Spelling* by_;
  void* what_;
};

// Emits operations for one type of operands.
class Spelling {
 public:
  Spelling() = default;
  Spelling(const Spelling&) = delete;
  Spelling& operator=(const Spelling&) = delete;
  virtual ~Spelling() = default;

  virtual bool is_real() const = 0;
  virtual bool has_sign() const = 0;
  virtual Term number(double) = 0;
  // Emits an operation that is not composed of others.
  virtual Term operation(ScalarOp, std::span<const Term> operands) = 0;
  // Emits a call of a function of the C library, which is given by its name for doubles.
  virtual Term call(std::string_view function, Term) = 0;
  virtual Term is_nan(Term) = 0;
  virtual Term above_or_nan(Term x, Term bound) = 0;
  // Stops the run where `bad` is true, because the computation has no result.
  virtual void stop_if(Term bad) = 0;
};

template <class... Terms>
Term spell(ScalarOp op, Term first, Terms... rest) {
  const std::array operands = {first, rest...};
  return first.by().operation(op, operands);
}

// Further functions that the bodies in scalar.h need.
inline Term number_like(Term x, double value) { return x.by().number(value); }
inline Term select(Term condition, Term a, Term b) { return spell(ScalarOp::select, condition, a, b); }
inline Term is_nan(Term x) { return x.by().is_nan(x); }
inline Term above_or_nan(Term x, Term bound) { return x.by().above_or_nan(x, bound); }
inline bool is_real(Term x) { return x.by().is_real(); }
inline bool has_sign(Term x) { return x.by().has_sign(); }
inline Term or_nan(Term truth, Term x) { return is_real(x) ? spell(ScalarOp::logical_or, truth, is_nan(x)) : truth; }

}  // namespace rml::scalar

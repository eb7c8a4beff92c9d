// What dtype errors say.
//
// A message names both types in the user's words; its primary place is the expression that
// does not fit, and a label says what made each side the type it is (an annotation, a
// literal, a use). Where an integer meets a float a cast is offered.
// Example: `o = n + x`, n: i32, x: f32: "the operands of `+` differ in type: `n` is i32,
// `x` is f32", at `x`, with labels at both annotations and the fix `cast(f32, n)`.
#pragma once

#include <string>

#include "semantics/check/checked.h"
#include "semantics/check/infer_types_solver.h"

namespace rml {

class TypeMessages {
 public:
  TypeMessages(const Program& program, TypeSolver& solver, Diagnostics& diagnostics)
      : program_(program), solver_(solver), diagnostics_(diagnostics) {}

  // Whether anything was reported.
  bool any() const { return any_; }

  // "i32", "a float", "any type"
  std::string describe(TypeId t);

  Diagnostic& mismatch(ExprId at, TypeId found, TypeId wanted, const std::string& message, ExprId other = {},
                       const std::string& wanted_name = "what is needed");
  // f16 and bf16 are refused with the way out, whatever it is that does not take them; false if it is not that.
  bool stored_only(ExprId at, TypeId found, DTypeSet allowed, const std::string& who);
  // `stream`: what is found may be cast into place.
  // `x when x > 0.0`, which is `(x when x) > 0.0`: `whole` is all that was meant to be the condition, and what is
  // sampled.
  void condition_too_short(ExprId sampled, TypeId found, ExprId whole);
  // What is defined has this type: a float that nothing decides is to be cast to becomes one of it.
  void defines(DTypeSet type) { defined_ = type; }
  void not_accepted(ExprId at, TypeId found, DTypeSet allowed, const std::string& who, bool stream);
  // `call`: of the operator whose attribute it is, if of one.
  void no_static_integer(ExprId at, TypeId found, const std::string& who, ExprId call, const std::string& of);
  // Where the first argument of a call is of the wrong type because it is NumPy's, which has what is computed on first
  // and numbers behind it, the mend is to have it last.
  void suggest_order(Diagnostic& d, ExprId call, ExprId at, TypeId found, TypeId wanted);
  void unknown_dtype(const ast::TypeAnnotation& type);
  void declared_twice(const Variable& variable, const ast::TypeAnnotation& again);
  // The condition of a declared clock is no Boolean.
  void clock_condition(const ast::TypeAnnotation& type, TypeId found);

 private:
  Diagnostic& report(Code code, Span span, std::string message, std::string label = {});
  // What was reported, unless it was told elsewhere.
  Diagnostic* refuse(ExprId at, TypeId found, DTypeSet allowed, const std::string& who, bool stream);
  void suggest_cast(Diagnostic& d, ExprId a, TypeId type_a, ExprId b, TypeId type_b, bool stream = true);
  void explain(Diagnostic& d, TypeId t, const std::string& subject, Span shown);
  // Whether the type is that of a value of `-D`, which was told to be the wrong one already: all its uses are wrong.
  bool told_of_option(TypeId t);

  const Program& program_;
  TypeSolver& solver_;
  Diagnostics& diagnostics_;
  bool any_ = false;
  Diagnostic unsaid_{};
  DTypeSet defined_ = dtypes::element;
};

}  // namespace rml

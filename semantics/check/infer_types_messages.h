// Messages about dtypes.
//
// A message names both types in the user's words. Its primary place is the expression that does
// not fit; labels show the annotation, literal or use that determined each type. If an integer
// meets a float, the fix-it is a cast. Example: `o = n + x`, n: i32, x: f32: "the operands of `+`
// differ in type: `n` is i32, `x` is f32", at `x`, with labels at both annotations and the fix
// `cast(f32, n)`.
#pragma once

#include <string>

#include "semantics/check/checked.h"
#include "semantics/check/infer_types_solver.h"

namespace rml {

class TypeMessages {
 public:
  TypeMessages(const Program& program, const Resolved& names, TypeSolver& solver, Diagnostics& diagnostics)
      : program_(program), names_(names), solver_(solver), diagnostics_(diagnostics) {}

  // True if a message was reported.
  bool any() const { return any_; }

  // A type as text: "i32", "a float", "any type".
  std::string describe(TypeId t);

  Diagnostic& mismatch(ExprId at, TypeId found, TypeId wanted, const std::string& message, ExprId other = {},
                       const std::string& wanted_name = "the expected type");
  // Reports f16 and bf16 where they are not accepted, with the remedy. False if the type is
  // another.
  bool stored_only(ExprId at, TypeId found, DTypeSet allowed, const std::string& who);
  // `x when x > 0.0` means `(x when x) > 0.0`. The message suggests parentheses: `whole` was
  // meant to be the condition, and to sample x.
  void condition_too_short(ExprId sampled, TypeId found, ExprId whole);
  // The type of the defined variable. The cast of a float whose type is open becomes a cast to
  // this type.
  void defines(DTypeSet type) { defined_ = type; }
  // Reports a type that an operator does not accept. `stream`: a cast can be inserted around the
  // expression. `condition_of`: the `and` or `or` of which a sampled expression is the first operand, so that it was
  // probably meant to be the condition: `x when c and d`.
  void not_accepted(ExprId at, TypeId found, DTypeSet allowed, const std::string& who, bool stream,
                    ExprId condition_of = {});
  // Reports an expression that is not a static integer. `call` is the operator whose attribute it
  // is, if any.
  void no_static_integer(ExprId at, TypeId found, const std::string& who, ExprId call, const std::string& of);
  // The first argument of a call has the wrong type because the user wrote NumPy's order (the
  // tensor first, then numbers). Suggests the order with the tensor last.
  void suggest_order(Diagnostic& d, ExprId call, ExprId at, TypeId found, TypeId wanted);
  // Names the node of the library that takes the argument, if another node does.
  void advise(Diagnostic& d, ExprId call, NodeId callee, const std::string& parameter);
  void unknown_dtype(const ast::TypeAnnotation& type);
  void declared_twice(const Variable& variable, const ast::TypeAnnotation& again);
  // The condition of a declared clock is not Boolean.
  void clock_condition(const ast::TypeAnnotation& type, TypeId found);

 private:
  Diagnostic& report(Code code, Span span, std::string message, std::string label = {});
  // The diagnostic, or null if the cause has been reported elsewhere.
  Diagnostic* refuse(ExprId at, TypeId found, DTypeSet allowed, const std::string& who, bool stream);
  // Suggests that `whole`, whose first operand is the sampled expression, was meant to be the condition.
  void suggest_condition(Diagnostic& d, ExprId sampled, ExprId whole, bool certain);
  void suggest_cast(Diagnostic& d, ExprId a, TypeId type_a, ExprId b, TypeId type_b, bool stream = true);
  void explain(Diagnostic& d, TypeId t, const std::string& subject, Span shown);
  // True if the expression uses a constant whose value of `-D` was already reported as wrong: all
  // its uses are wrong.
  bool told_of_option(ExprId e);
  // Adds the place of the `-D` that defines a constant in the expression.
  void show_option(Diagnostic& d, ExprId e);

  const Program& program_;
  const Resolved& names_;
  TypeSolver& solver_;
  Diagnostics& diagnostics_;
  bool any_ = false;
  Diagnostic unsaid_{};
  DTypeSet defined_ = dtypes::element;
};

}  // namespace rml

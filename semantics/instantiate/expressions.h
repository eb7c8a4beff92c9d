// Elaborates the expressions of one instance: one draft value per expression.
//
// A literal gets its inferred dtype in this instance, so a literal that does not fit is reported
// here; a minus sign belongs to the literal after it. An `if` is the merge of its sampled
// branches. A random draw gets its key from the path of the instance and the number of the draw
// in it.
//
//   if c then a else b    merge c (when c a) (when not c b)
#pragma once

#include "semantics/instantiate/literals.h"
#include "semantics/instantiate/writer.h"

namespace rml::draft {

// The scope of a new instance: aliases for its variables, on the clocks of its interface.
Scope open_scope(DraftWriter&, InstanceId, NodeId, std::vector<DType> dtypes, std::vector<DraftClockId> clocks);

class Expressions {
 public:
  Expressions(DraftWriter& write, Scope& scope) : write_(write), draft_(write.draft), scope_(scope) {}

  DraftId value(ExprId e);
  // All results of an equation's right-hand side.
  std::vector<DraftId> values(ExprId e, std::size_t count);
  // The value with the shape that a type declares.
  DraftId declared(const ast::TypeAnnotation& type, DraftId value, DType dtype, DraftClockId clock, Span span);
  // An expression in a static position. `[]` is the shape of a scalar.
  DraftId static_value(ExprId e);
  std::vector<DraftId> static_values(const std::vector<ExprId>& list);

  // The clock of a term of the current node, in this instance.
  DraftClockId clock(ClockTermId term);
  DraftClockId clock_of(ExprId e);
  DType dtype(TypeTerm term) const;

  DraftId add(Rhs rhs, DType dtype, DraftClockId clock, Span span);
  std::string qualified(const std::string& name) const { return write_.qualified(scope_.instance, name); }

 private:
  DType dtype_of(ExprId e) const;
  DraftId add_as(ExprId e, Rhs rhs) { return add(std::move(rhs), dtype_of(e), clock_of(e), program().span(e)); }

  DraftId build(ExprId e);
  DraftId constant_item(ConstId id, DraftClockId clock, DType dtype);
  DraftId first_tuned(ConstId id, DraftId value, DType dtype);
  DraftId tuned(ConstId id, DraftClockId clock, DType dtype);
  DraftId literal(ExprId e, Literal made);
  DraftId unary(ExprId e, const ast::Unary& u);
  DraftId array(ExprId e, const ast::Array& a);
  DraftId reference(ExprId e);
  DraftId conditional(ExprId e, const ast::If& i);
  DraftId sample(ExprId of, bool positive, DraftId condition, Span written, DraftClockId sampled);
  DraftId subscript(ExprId e, const ast::Index& i);
  DraftId operation(ExprId e, OperatorId op, const std::vector<ExprId>& arguments);
  StaticArgument attribute(const OperatorParameter& parameter, ExprId argument);
  std::vector<DraftId> call(ExprId e, const ast::Call& c);
  std::vector<DraftId> instance(ExprId e, const ast::Call& call, NodeId node);
  std::vector<DraftId> iteration(ExprId e, const ast::Call& call, NodeId node);
  CalledAt called_at(ExprId e, NodeId node);
  std::vector<DraftId> arguments(ExprId call);
  std::vector<DType> callee_dtypes(ExprId call) const;
  std::uint64_t joint_key(ExprId e) const;
  DraftId parameter(ExprId e, DraftId v, const OrderedArguments& arguments);
  DraftId moved(ExprId e, DraftId held, const OrderedArguments& arguments);
  DraftId stopped(ExprId e, DraftId v);
  DraftId missing(ExprId e);

  const Checked& checked() const { return write_.checked; }
  const Program& program() const { return write_.program(); }

  DraftWriter& write_;
  Draft& draft_;
  Scope& scope_;
  bool is_static_ = false;  // true while a static argument is written
};

}  // namespace rml::draft

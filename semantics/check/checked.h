// The checked program: its names, dtypes and clocks are known and correct, node by node.
//
// resolve_names, infer_types and infer_clocks make it, in this order; instantiate reads it. The
// tables are indexed by ExprId (every expression of every reachable module), by position among a
// node's variables, or by NodeId.
//
// Dtypes are inferred per node by Hindley-Milner unification and generalised: a node has a scheme
// over its own dtype variables, and each call records the dtype terms of the caller for these
// variables. Clocks are inferred likewise, with dependent interfaces: a clock may refer to a
// parameter or output of the node by position.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "frontend/ast.h"
#include "frontend/diagnostic.h"
#include "semantics/operators/operator.h"
#include "semantics/values/type.h"

namespace rml {

// ---- names -----------------------------------------------------------------------------

// A variable of a node: inputs first, then outputs, then locals in order of appearance.
struct Variable {
  Symbol name;
  Span span;
  enum Kind : std::uint8_t { input, output, local } kind = local;
  // Index of the defining equation, and position of the variable among its targets.
  std::uint32_t equation = UINT32_MAX;
  std::uint32_t target = 0;
  const ast::TypeAnnotation* type = nullptr;  // annotation in the interface or at the target
};

// The referent of a Name, or of the callee of a Call.
// An index into ResolvedNode::variables.
struct VariableRef {
  std::uint32_t variable;
};
struct ConstRef {
  ConstId constant;
};
// A dtype. Only a `dtype` attribute may refer to one.
struct DTypeRef {
  DType dtype;
};
struct NodeRef {
  NodeId node;
};
struct OperatorRef {
  OperatorId op;
};
struct ParamRef {};         // stands for a call of param(e)
struct StopGradientRef {};  // stands for a call of stop_gradient(e)
// load("file", "name"): an index into Resolved::tensors.
struct LoadRef {
  std::uint32_t tensor = UINT32_MAX;
};
using Reference = std::variant<std::monostate, VariableRef, ConstRef, DTypeRef, NodeRef, OperatorRef, ParamRef,
                               StopGradientRef, LoadRef>;

// The arguments of a call in the order of the callee's parameters; invalid if left out (an
// attribute with a default). A variadic operand occupies several places, so a later parameter k
// is at index k + (size of this) - (number of parameters).
using OrderedArguments = std::vector<ExprId>;

struct ResolvedNode {
  std::vector<Variable> variables;
  std::vector<NodeId> callees;  // nodes that this node calls, without duplicates
  bool has_errors = false;      // later passes skip this node
  // True if this node, or a node that it calls, has memory, look-ahead, a parameter, a random
  // draw, an assertion or a sum over elements.
  bool lives_in_time = false;
};

// A call `diff f(…)`, or `diff_f(…)` if only f is written. Differentiation replaces it by a call
// of the node that it generates. Until then the node that contains the call counts as erroneous,
// without a message.
struct DiffCall {
  ExprId call;
  NodeId in, of;
  NodeId optimizer;  // the optimiser in `diff[optimizer(…)] f`
};

struct Resolved {
  // Indexed by ExprId. It has entries for names, calls, and syntax that stands for operators.
  std::vector<Reference> references;
  // Indexed by the ExprId of a call: its arguments in the order of the parameters.
  std::vector<OrderedArguments> arguments;
  std::vector<ResolvedNode> nodes;   // results for each node, indexed by NodeId
  std::vector<NodeId> order;         // all nodes; a callee precedes its callers
  std::vector<ConstId> const_order;  // a constant comes before the constants that use it
  // Indexed by ConstId: true if the constant has an error, and later passes skip it.
  std::vector<bool> const_errors;
  std::vector<DiffCall> diff_calls;
  std::vector<std::shared_ptr<const Tensor>> tensors;  // the tensors that `load` has read
};

// ---- dtypes ----------------------------------------------------------------------------

// A dtype, or a variable of the node's scheme.
struct TypeTerm {
  std::int32_t variable = -1;  // at least 0: index of a variable of the scheme; -1: `dtype` holds
  DType dtype = DType::f32;    // the dtype, if `variable` is -1
};

struct TypeScheme {
  std::vector<DTypeSet> variables;  // by variable: the dtypes that it may become
  std::vector<DType> defaults;      // by variable: its dtype if the call does not determine one
};

struct TypedNode {
  TypeScheme scheme;
  std::vector<TypeTerm> variable_types;  // one per variable of the node, by its index
  bool has_errors = false;
};

// A constant is generalised over its own dtype: in the terms of its value, scheme variable 0 is
// the dtype at the current use, that is, of the Name that refers to the constant.
struct TypedConst {
  TypeScheme scheme;  // one variable, or none if the type is fixed
  TypeTerm type;
};

struct Typed {
  // One per ExprId; for calls with several results see `instantiations`.
  std::vector<TypeTerm> expr_types;
  std::vector<std::vector<TypeTerm>> instantiations;  // by ExprId of a node call: terms for the callee's variables
  std::vector<TypedNode> nodes;                       // types of each node, indexed by NodeId
  std::vector<TypedConst> consts;                     // types of each constant, indexed by ConstId
};

// ---- clocks ----------------------------------------------------------------------------

// The condition of a sampled clock: a variable of the node, or the value of an expression.
struct ConditionTerm {
  std::int32_t variable = -1;  // at least 0: index of a variable of the node; -1: `expr` holds
  ExprId expr;                 // the condition, if `variable` is -1
};

using ClockTermId = Id<struct ClockTermTag>;
struct ClockTerm {
  enum Kind : std::uint8_t { variable, on, never } kind = variable;
  std::uint32_t index = 0;  // for a clock variable: its index in the node's clock scheme
  ClockTermId parent;       // on
  ConditionTerm condition;  // on
  bool positive = true;     // on
};

struct ClockedNode {
  std::uint32_t variable_count = 0;          // number of variables of the clock scheme
  std::vector<ClockTerm> terms;              // all terms of the scheme; a ClockTermId is an index into them
  std::vector<ClockTermId> variable_clocks;  // one per variable of the node, by its index
  bool has_errors = false;
};

struct Clocked {
  std::vector<ClockTermId> expr_clocks;  // one per ExprId, as terms of the node that contains the expression
  // By ExprId of a node call: the caller's clocks for the callee's variables.
  std::vector<std::vector<ClockTermId>> instantiations;
  std::vector<ClockedNode> nodes;  // clocks of each node, indexed by NodeId
};

struct Checked {
  const Program* program = nullptr;
  Resolved names;
  Typed types;
  Clocked clocks;
};

// Each pass reports all errors that it finds. Its tables are safe to use even after errors. Later
// passes skip a node with errors, and its callers' uses of it, so that one error causes no
// others.
Resolved resolve_names(Program&, Diagnostics&);
Typed infer_types(const Program&, const Resolved&, Diagnostics&);
Clocked infer_clocks(const Program&, const Resolved&, const Typed&, Diagnostics&);

// Reports ports of the entry that are declared without a clock and are not present at every
// cycle.
void check_entry_clocks(const Checked&, NodeId entry, Diagnostics&);

// The types and clocks of a node as `rmlc check --signatures` prints them: `node f(x: f32, c:
// bool, y: f32 when c) -> (o: 'a)`.
std::string signature(const Checked&, NodeId);

}  // namespace rml

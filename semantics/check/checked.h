// Checked: a Program whose names, dtypes and clocks are known to be right, node by node.
//
// Made by resolve_names, infer_types and infer_clocks, in this order; instantiate consumes
// it. All side tables are indexed by ExprId (every expression of every reachable module),
// by position among a node's variables, or by NodeId.
//
// Dtypes are inferred per node by Hindley-Milner unification and generalised: a node has a
// scheme over its own dtype variables, and every call of it says which dtype terms of the
// caller stand for them. Clocks are inferred likewise, with dependent interfaces: a clock
// may mention a parameter or output of the node by position.
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
  std::uint32_t equation = UINT32_MAX;  // which equation defines it, and which of its targets
  std::uint32_t target = 0;
  const ast::TypeAnnotation* type = nullptr;  // of the interface or of the target
};

// What a Name or the callee of a Call refers to.
struct VariableRef {
  std::uint32_t variable;
};  // index into ResolvedNode::variables
struct ConstRef {
  ConstId constant;
};
struct DTypeRef {
  DType dtype;
};  // only as a `dtype` attribute
struct NodeRef {
  NodeId node;
};
struct OperatorRef {
  OperatorId op;
};
struct ParamRef {};         // param(e)
struct StopGradientRef {};  // stop_gradient(e)
struct LoadRef {
  std::uint32_t tensor = UINT32_MAX;
};  // load("file", "name"): index into Resolved::tensors
using Reference = std::variant<std::monostate, VariableRef, ConstRef, DTypeRef, NodeRef, OperatorRef, ParamRef,
                               StopGradientRef, LoadRef>;

// Arguments of a call in the order of the callee's parameters; invalid where left out
// (an attribute with a default). A variadic operand is expanded where it stands, so parameter
// k after it is found at k + size of this - number of parameters.
using OrderedArguments = std::vector<ExprId>;

struct ResolvedNode {
  std::vector<Variable> variables;
  std::vector<NodeId> callees;  // without repetition
  bool has_errors = false;      // later passes pass over this node
  // There is memory, look-ahead, a parameter, a random draw, an assertion or a sum over elements in it, or in a node
  // that it calls.
  bool lives_in_time = false;
};

// A call `diff f(…)`, or `diff_f(…)` where only f is written. Differentiation replaces it by a call
// of the node it makes; until then the node that holds it has errors, silently.
struct DiffCall {
  ExprId call;
  NodeId in, of;
  NodeId optimizer;  // of `diff[optimizer(…)] f`
};

struct Resolved {
  std::vector<Reference> references;        // by ExprId: Names and Calls; also the operators behind
                                            // Unary, Binary, Array and Index syntax
  std::vector<OrderedArguments> arguments;  // by ExprId: Calls
  std::vector<ResolvedNode> nodes;          // by NodeId
  std::vector<NodeId> order;                // callees before callers
  std::vector<ConstId> const_order;         // constants used before those that use them
  std::vector<bool> const_errors;           // by ConstId: later passes pass over these
  std::vector<DiffCall> diff_calls;
  std::vector<std::shared_ptr<const Tensor>> tensors;  // of loads
};

// ---- dtypes ----------------------------------------------------------------------------

// A dtype, or a variable of the node's scheme.
struct TypeTerm {
  std::int32_t variable = -1;  // ≥ 0: scheme variable
  DType dtype = DType::f32;    // when variable < 0
};

struct TypeScheme {
  std::vector<DTypeSet> variables;  // what each variable may become
  std::vector<DType> defaults;      // what it becomes when nothing decides
};

struct TypedNode {
  TypeScheme scheme;
  std::vector<TypeTerm> variable_types;  // by variable index
  bool has_errors = false;
};

// A constant is generalised over its own dtype: in the terms of its value, scheme variable 0
// is the dtype of the use at hand (that of the Name that refers to it).
struct TypedConst {
  TypeScheme scheme;  // no variable (the type is decided) or one
  TypeTerm type;
};

struct Typed {
  std::vector<TypeTerm> expr_types;                   // by ExprId; multi-result calls: see instantiations
  std::vector<std::vector<TypeTerm>> instantiations;  // by ExprId of a node call: terms for the callee's variables
  std::vector<TypedNode> nodes;                       // by NodeId
  std::vector<TypedConst> consts;                     // by ConstId
};

// ---- clocks ----------------------------------------------------------------------------

// What a clock samples by: a variable of the node, or the value of a condition expression.
struct ConditionTerm {
  std::int32_t variable = -1;  // ≥ 0: variable index of the node
  ExprId expr;                 // otherwise this expression's value
};

using ClockTermId = Id<struct ClockTermTag>;
struct ClockTerm {
  enum Kind : std::uint8_t { variable, on, never } kind = variable;
  std::uint32_t index = 0;  // variable: of the node's clock scheme
  ClockTermId parent;       // on
  ConditionTerm condition;  // on
  bool positive = true;     // on
};

struct ClockedNode {
  std::uint32_t variable_count = 0;          // of the clock scheme
  std::vector<ClockTerm> terms;              // arena
  std::vector<ClockTermId> variable_clocks;  // by variable index
  bool has_errors = false;
};

struct Clocked {
  std::vector<ClockTermId> expr_clocks;                  // by ExprId, in the arena of the node that holds it
  std::vector<std::vector<ClockTermId>> instantiations;  // by ExprId of a node call: clocks (of the caller)
                                                         // for the callee's clock variables
  std::vector<ClockedNode> nodes;                        // by NodeId
};

struct Checked {
  const Program* program = nullptr;
  Resolved names;
  Typed types;
  Clocked clocks;
};

// Each reports all it finds and returns tables that are safe to use even then; a node with
// errors is left out of the later passes and so are its callers' uses of it (no cascades).
Resolved resolve_names(Program&, Diagnostics&);
Typed infer_types(const Program&, const Resolved&, Diagnostics&);
Clocked infer_clocks(const Program&, const Resolved&, const Typed&, Diagnostics&);

// Reports ports of the node that is run which are declared without a clock and are not present at every cycle.
void check_entry_clocks(const Checked&, NodeId entry, Diagnostics&);

// `node f(x: f32, c: bool, y: f32 when c) -> (o: 'a)`: types and clocks of a node as
// `rmlc check --signatures` prints them.
std::string signature(const Checked&, NodeId);

}  // namespace rml

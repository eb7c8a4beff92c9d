// Elaboration: the first half of instantiate. Inlines every node reached from the entry
// and writes one draft per expression (draft.h); shapes and static values come later.
//
// Instances wait in a queue rather than on the stack, so a chain of 100,000 of them is no
// deeper than one. While an instance is elaborated its scope holds what stands for the
// node's dtype variables, clock variables and variables.
#pragma once

#include <unordered_map>

#include "semantics/call_identities.h"
#include "semantics/draft.h"
#include "semantics/instantiate.h"
#include "semantics/instantiate_iteration.h"

namespace rml::draft {

// What has been elaborated of a program, bodies of iterations included, which are elaborated one by one.
struct Elaboration {
  std::uint64_t instances = 0, equations = 0;
  std::optional<Diagnostic> excess;  // the limit that is exceeded: nothing more is elaborated
};

class Elaborator {
 public:
  // depth: of the entry.
  Elaborator(const Checked& checked, const InstantiateOptions& options, Elaboration& whole, Depth depth,
             Diagnostics& diagnostics);
  // Not whole, with a diagnostic, when a limit is exceeded.
  Draft run(NodeId entry);
  // The same of a node that is iterated, whose operands are known.
  struct Given {
    std::vector<DType> dtypes;  // by variable of its dtype scheme
    struct Operand {
      Shape shape;
      std::shared_ptr<const Tensor> constant;  // null: an input
    };
    std::vector<Operand> operands;
    Span call;
  };
  Draft run(NodeId entry, const Given& given);

 private:
  // An instance that waits for its equations, and the scope while they are elaborated.
  // Constants are elaborated in a scope without a node.
  struct Scope {
    InstanceId instance;
    NodeId node;
    std::uint64_t calls = 0;                                // that lead here
    std::vector<DType> dtypes;                              // by dtype variable of the node's scheme
    std::vector<DraftClockId> clocks;                       // by clock variable
    std::vector<DraftId> variables;                         // by variable index: aliases
    std::vector<DraftId> arguments;                         // by input, of callees
    DraftClockId constant_clock = base;                     // of every expression, without a node
    std::unordered_map<std::uint32_t, DraftId> values;      // by ExprId, as met
    std::unordered_map<std::uint32_t, DraftClockId> terms;  // by ClockTermId, as met
    bool untyped = false;                                   // an override: every expression has this dtype
    DType untyped_dtype = DType::f32;
  };

  // instantiate_elaborate.cc: instances, equations, clocks
  void elaborate_entry(NodeId entry, const Given* given);
  void elaborate_pending();
  bool within_limits();
  void exceed(const std::string& limit, std::uint64_t bound, const std::string& what);
  void elaborate_body();
  void elaborate_external();
  void bind_arguments();
  void add_asserts(const ast::Node& node);
  Scope make_scope(InstanceId instance, NodeId node, std::vector<DType> dtypes, std::vector<DraftClockId> clocks);
  void assign(std::uint32_t variable, DraftId value);
  DraftId declared(const ast::TypeAnnotation* type, std::uint32_t variable, DraftId value);
  std::vector<DraftId> instantiate_node(ExprId e, const ast::Call& call, NodeId node);
  std::vector<DraftId> iterate_node(ExprId e, const ast::Call& call, NodeId node);
  const std::string& identity(ExprId e);
  std::string qualified(const std::string& name) const;
  DraftClockId clock(ClockTermId term);
  DraftClockId clock_of(ExprId e);
  DraftClockId on(DraftClockId parent, DraftId condition, bool positive);
  DType dtype(TypeTerm term) const;
  DType dtype_of(ExprId e) const;
  DraftId add(Rhs rhs, DType dtype, DraftClockId clock, Span span);

  // instantiate_expressions.cc: expressions
  DraftId value(ExprId e);
  std::vector<DraftId> values(ExprId e, std::size_t count);
  DraftId build(ExprId e);
  DraftId constant_item(ConstId id, DraftClockId clock, DType dtype);
  DraftId unary(ExprId e, const ast::Unary& u);
  DraftId integer(ExprId e, std::uint64_t magnitude, bool negative);
  DraftId floating(ExprId e, double v);
  DraftId array(ExprId e, const ast::Array& a);
  DraftId boolean(ExprId e, bool v);
  DraftId reference(ExprId e);
  DraftId binary(ExprId e, const ast::Binary& b);
  DraftId conditional(ExprId e, const ast::If& i);
  DraftId subscript(ExprId e, const ast::Index& i);
  DraftId operation(ExprId e, OperatorId op, const std::vector<ExprId>& arguments);
  DraftId sample(ExprId of, bool positive, DraftId condition, DraftClockId sampled);
  DraftId static_value(ExprId e);
  StaticArgument attribute(const OperatorParameter& parameter, ExprId argument);
  std::vector<DraftId> call(ExprId e, const ast::Call& c);
  DraftId loaded(ExprId e, LoadRef load);
  DraftId parameter(ExprId e, DraftId v, const OrderedArguments& arguments);
  DraftId moved(ExprId e, DraftId held, const OrderedArguments& arguments);
  DraftId stopped(ExprId e, DraftId v);
  DraftId missing(ExprId e);

  const Program& program() const { return *checked_.program; }
  const ResolvedNode& names() const { return checked_.names.nodes[scope_.node.index]; }
  Diagnostic& report(Code code, Span span, std::string message, std::string label = {});

  const Checked& checked_;
  const InstantiateOptions& options_;
  Elaboration& whole_;
  const Depth depth_;
  Diagnostics& diagnostics_;
  std::unordered_map<std::uint32_t, ExprId> overrides_;  // by ConstId
  Draft draft_;
  std::size_t counted_instances_ = 0, counted_equations_ = 0;  // of the draft, in `whole_`
  std::vector<Scope> pending_;
  Scope scope_;
  std::optional<InstanceId> static_in_;                           // the instance whose static argument is being read
  std::unordered_map<std::uint64_t, DraftId> constants_;          // by ConstId, dtype and clock
  std::unordered_map<std::uint32_t, std::uint32_t> externals_;    // by NodeId
  std::unordered_map<std::uint32_t, CallIdentities> identities_;  // by NodeId, as met
  struct ClockKey {
    std::uint32_t parent, condition;
    bool positive;
    friend bool operator==(const ClockKey&, const ClockKey&) = default;
  };
  struct ClockKeyHash {
    std::size_t operator()(const ClockKey& k) const {
      return (std::uint64_t{k.parent} << 32 | k.condition) * 0x9e3779b97f4a7c15u + k.positive;
    }
  };
  std::unordered_map<ClockKey, DraftClockId, ClockKeyHash> clocks_;
};

// The attribute that a row's default stands for: "0", "[1, 1]", "all", "f32", "0.5".
Attribute default_attribute(std::string_view text, ParameterKind kind);

}  // namespace rml::draft

// Core: the program after instantiation and normalisation (docs/design/1-pipeline.md §4).
//
// A flat graph of values. Each value is defined by one primitive, and has a dtype, a static
// shape, a clock and a source span. There are only the primitives of the language. A `fby` that
// restarts and a `post` that ends at a condition are expressed by a merge with fby and post; the
// merge needs each of its branches only under a guard:
//
//   v = const                     a constant tensor, present at any clock
//   v = input k                   the k-th input of the entry node
//   v = op(x…)                    pointwise; operands share v's clock (constants: any)
//   v = call k (x…)               external node k, or iteration k of a node; results by `result`
//   v = result j of w             the j-th output of the call w
//   v = when [not] c x            clock(v) = clock(x) on [not] c
//   v = merge c y z               clock(v) = clock(c); y on c, z on not c (constants: any)
//   v = fby init x                init: a constant, or a value on `clock(v) on start`
//   v = post x
//
// For each clock, `start` is the value `fby true false` on it. Equal values are shared
// (hash-consed) while they are built, unless their identity matters: fby, post, calls, random
// draws.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "frontend/ast.h"
#include "frontend/source.h"
#include "semantics/operators/operator.h"
#include "semantics/values/type.h"

namespace rml {

using ValueId = Id<struct ValueTag>;
using ClockId = Id<struct ClockTag>;
using InstanceId = Id<struct InstanceTag>;

struct Clock {
  ClockId parent;  // the clock that is sampled; invalid for base and never
  ValueId condition;
  bool positive = true;
};
inline constexpr ClockId base_clock{0};   // the clock of every cycle
inline constexpr ClockId never_clock{1};  // the clock without a cycle

namespace core {
struct Const {
  Tensor value;
};
struct Input {
  std::uint32_t index;
};
struct Apply {
  OperatorId op;
  std::vector<ValueId> operands;
  std::vector<Attribute> attributes;
  std::uint64_t key = 0;  // random operators and param: path_key; sums over parameters: joint_key (joint.h)
};
struct Call {
  std::uint32_t external;
  std::vector<ValueId> operands;
};
struct Result {
  ValueId call;
  std::uint32_t output;
};
struct When {
  ValueId operand;
  ValueId condition;
  bool positive;
};
struct Merge {
  ValueId condition, on_true, on_false;
};
struct Fby {
  ValueId init, next;
};
struct Post {
  ValueId operand;
};
using Rhs = std::variant<Const, Input, Apply, Call, Result, When, Merge, Fby, Post>;
}  // namespace core

struct Value {
  core::Rhs rhs;
  DType dtype{};
  Shape shape;
  ClockId clock;
  Span span;
  InstanceId instance;  // the instance of the node that the equation comes from
  std::string name;     // name of the user's variable, such as "lstm.cell.h"; empty if it has none
};

// The node of the library `steps` (stdlib/steps.rml) that an instance is of. none: a node of another module; other: a
// node that `diff` made in the library.
enum class StepsNode : std::uint8_t {
  none,
  all_sum,
  all_mean,
  gathered,
  ends,
  gradient,
  rank,
  ranks,
  broadcast,
  other
};
std::string_view name(StepsNode);
// Returns none if the library has no node of this name.
StepsNode steps_node_named(std::string_view name);

// One instantiation of a node. Instances form a tree; the entry node is its root.
struct Instance {
  InstanceId parent;  // the calling instance; invalid for the entry
  NodeId node;
  Span call;             // place of the call in the source of the parent
  std::string path;      // names on the way from the entry, such as "lstm.cell"; "" for the entry
  bool derived = false;  // true if `diff` made the node
  StepsNode steps = StepsNode::none;
};

struct Port {
  std::string name;
  ValueId value;
  Span span;
};

struct CoreAssert {
  ValueId condition;
  std::string message;
  Span span;
};

struct Iteration;

// The calling convention of a C function.
enum class Calling : std::uint8_t {
  plain,  // called as void f(inputs…, outputs…)
  asks,   // called as T f(rml_ranks*, inputs…); returns a scalar
  joins,  // void f(rml_ranks*, inputs…, outputs…); a collective call: all ranks take part
};

// The target of a call: a C function, or the iteration of a node.
struct ExternalNode {
  std::string symbol;  // name of the C function, or the name of the node
  std::vector<std::pair<DType, Shape>> inputs, outputs;
  Span span;
  std::shared_ptr<const Iteration> iteration = nullptr;
  Calling calling = Calling::plain;
  bool in_c() const { return iteration == nullptr; }
};

// The rows of dealt inputs, as the source describes them.
struct DealtRows {
  std::uint32_t end = 0;              // the input that ends micro-batches
  std::optional<std::int64_t> count;  // micro-batches in a step, if the source has a number or a constant
  Span span;                          // place of `dealt … by …`
};

// For a program on ranks: the input that ends micro-batches, and the number of micro-batches a
// step.
struct Deal {
  std::uint32_t end = 0, per_step = 1;
};
inline constexpr std::uint32_t most_per_step = 65535;

// A `param`, which `diff` trains and the saved state stores under its path (see also
// InstantiateOptions::keep_stops). Its value is `param(init) fby …`: the operator `param` yields
// the loaded value of this path, or `init` if none was loaded.
struct Parameter {
  std::string path;
  ValueId value;
  bool is_stopped() const { return path.empty(); }  // true for a result of `stop_gradient`, which is no parameter
};

struct Core {
  std::string entry;  // name of the entry node
  std::vector<Value> values;
  std::vector<Clock> clocks;  // all clocks; [0] is base, [1] never
  std::vector<Instance> instances;
  std::vector<ExternalNode> externals;
  std::vector<Port> inputs;  // the inputs of the program; the `value` of each is its core::Input
  std::vector<Port> outputs;
  std::size_t watched = 0;  // number of outputs at the end of `outputs` that are variables shown during the run
  std::vector<CoreAssert> asserts;
  std::vector<Parameter> parameters;
  std::vector<Port> watches;  // all named variables of the source that still have a value
  // If the rows are dealt, outputs have the same bits on any number of ranks, or without ranks.
  std::optional<DealtRows> dealt;
  std::optional<Deal> deal;  // how ranks share the rows of the inputs

  const Value& operator[](ValueId v) const { return values[v.index]; }
  Value& operator[](ValueId v) { return values[v.index]; }
  const Clock& operator[](ClockId c) const { return clocks[c.index]; }
  bool is_const(ValueId v) const { return std::holds_alternative<core::Const>(values[v.index].rhs); }
};

// `map`, `fold` and `scan`: a body without memory, computed for each element along the first axis
// of the sequences. Inputs of the body: the states, one element of each sequence, the fixed
// arguments. Outputs of the body: the new states, then the results, which are stacked.
struct Iteration {
  Core body;
  std::uint32_t states = 0, sequences = 0;
  std::int64_t length = 0;
  bool reverse = false;  // true: from the last element to the first; each result keeps its element's position
  bool can_fail = false;
};

// Replaces the bodies of all iterations, inner ones first. `change` need not descend into
// iterations.
void change_bodies(Core&, const std::function<void(Core&)>& change);

// Parameters that training changes. A run saves them at its end, so they are needed even if
// nothing reads them.
std::vector<ValueId> moving_parameters(const Core&);

// True if computing v may stop the run. A division can fail only by an integer divisor of zero.
bool can_fail(const Core&, ValueId);
// True if v is the result of an operator without side effects, failures or randomness, so that
// passes may remove or move the computation.
bool only_computes(const Core&, ValueId);

// The key (Apply::key) of the random operator or parameter at this path: 64-bit FNV-1a.
std::uint64_t path_key(const std::string& path);

// Calls f(ValueId&) for every operand of a right-hand side, conditions included.
template <class Rhs, class F>
void for_each_operand(Rhs& rhs, F&& f) {
  std::visit(
      [&](auto& r) {
        using T = std::remove_cvref_t<decltype(r)>;
        if constexpr (std::is_same_v<T, core::Const> || std::is_same_v<T, core::Input>) {
        } else if constexpr (std::is_same_v<T, core::Apply> || std::is_same_v<T, core::Call>) {
          for (auto& o : r.operands) f(o);
        } else if constexpr (std::is_same_v<T, core::Result>) {
          f(r.call);
        } else if constexpr (std::is_same_v<T, core::When>) {
          f(r.operand);
          f(r.condition);
        } else if constexpr (std::is_same_v<T, core::Merge>) {
          f(r.condition);
          f(r.on_true);
          f(r.on_false);
        } else if constexpr (std::is_same_v<T, core::Fby>) {
          f(r.init);
          f(r.next);
        } else {
          static_assert(std::is_same_v<T, core::Post>);
          f(r.operand);
        }
      },
      rhs);
}

// The clock with the user's names, like "base on c on not d".
std::string clock_string(const Core&, ClockId);
// A value as messages show it: the user's name, or its source text shortened.
std::string describe(const Core&, ValueId);

// The text form (`rmlc show core`). Tests of passes write cores as text.
std::string print_core(const Core&);
// Reads the text that print_core writes. If the text has an error, returns nothing and sets
// `error` to a message with a line number.
std::optional<Core> read_core(const std::string& text, std::string& error);

// Checks the invariants above. Returns the first violation as text, or an empty string.
std::string verify(const Core&);

}  // namespace rml

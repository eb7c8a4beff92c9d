// Core: the program after instantiation and normalisation (docs/design/1-pipeline.md §4).
//
// A flat graph of single-primitive equations over value ids. Every value has a dtype, a
// static shape, a clock and a source span. The primitives are those of the language and no
// more; a `fby` that begins anew and a `post` that ends at a condition are merges around fby and
// post whose branches are demanded under a guard:
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
// `start` is, for each clock, the value `fby true false` on it. Values are hash-consed while
// they are built, except where identity matters (fby, post, calls, random draws).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
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
  ClockId parent;  // invalid for base and never
  ValueId condition;
  bool positive = true;
};
inline constexpr ClockId base_clock{0};   // every cycle
inline constexpr ClockId never_clock{1};  // no cycle

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
  InstanceId instance;  // where it was instantiated
  std::string name;     // the user's variable, where there is one: "lstm.cell.h"
};

// One instantiation of a node; instances form the tree whose root is the entry node.
struct Instance {
  InstanceId parent;  // invalid for the entry
  NodeId node;
  Span call;             // the call in the parent
  std::string path;      // "lstm.cell", "" for the entry
  bool derived = false;  // of a node that `diff` made
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

// How a C function takes what it is called with.
enum class Calling : std::uint8_t {
  plain,  // void f(inputs…, outputs…)
  asks,   // T f(rml_ranks*, inputs…), a scalar
  joins,  // void f(rml_ranks*, inputs…, outputs…): the ranks meet in it
};

// What is called: a C function, or the iteration of a node.
struct ExternalNode {
  std::string symbol;  // C name, or the node's
  std::vector<std::pair<DType, Shape>> inputs, outputs;
  Span span;
  std::shared_ptr<const Iteration> iteration = nullptr;
  Calling calling = Calling::plain;
  bool in_c() const { return iteration == nullptr; }
};

// Of a program for ranks: the input that ends micro-batches, and how many are a step.
struct Deal {
  std::uint32_t end = 0, per_step = 1;
};
inline constexpr std::uint32_t most_per_step = 65535;

// A `param`: trained under diff, stored by name (see also InstantiateOptions::keep_stops). It is
// `param(init) fby …`: the operator of that name yields what was loaded under the key of the path,
// where something was.
struct Parameter {
  std::string path;
  ValueId value;
  bool is_stopped() const { return path.empty(); }  // what `stop_gradient` yields
};

struct Core {
  std::string entry;  // the node's name
  std::vector<Value> values;
  std::vector<Clock> clocks;  // [0] base, [1] never
  std::vector<Instance> instances;
  std::vector<ExternalNode> externals;
  std::vector<Port> inputs;  // value: the Input
  std::vector<Port> outputs;
  std::size_t watched = 0;  // the last so many outputs: variables that are looked at while it runs
  std::vector<CoreAssert> asserts;
  std::vector<Parameter> parameters;
  std::vector<Port> watches;  // every named variable of the source that survived
  bool dealt = false;         // the rows of its inputs: on any number of ranks, and on none, it has the same bits
  std::optional<Deal> deal;   // ranks share the rows of the inputs

  const Value& operator[](ValueId v) const { return values[v.index]; }
  Value& operator[](ValueId v) { return values[v.index]; }
  const Clock& operator[](ClockId c) const { return clocks[c.index]; }
  bool is_const(ValueId v) const { return std::holds_alternative<core::Const>(values[v.index].rhs); }
};

// `map`, `fold` and `scan`: a body without memory, computed for each element along the first axis of the
// sequences. Its inputs: the states, an element of each sequence, what is fixed; its outputs: the states, then
// what is stacked.
struct Iteration {
  Core body;
  std::uint32_t states = 0, sequences = 0;
  std::int64_t length = 0;
  bool reverse = false;  // the last element comes first; what is stacked stays where its element is
  bool can_fail = false;
};

// Replaces the bodies of all iterations, those within others first: `change` leaves alone what is in its own.
void change_bodies(Core&, const std::function<void(Core&)>& change);

// Parameters that training moves. They are saved when a run ends: so they are needed even without a reader.
std::vector<ValueId> moving_parameters(const Core&);

// Whether computing v may stop the run. Division does by an integer zero only.
bool can_fail(const Core&, ValueId);
// v is an operator's result, and computing it does nothing but yield it: it may be left out, or done at another time.
bool only_computes(const Core&, ValueId);

// What Apply::key holds for the thing that has this path.
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

// "base on c on not d", with the user's names.
std::string clock_string(const Core&, ClockId);
// What the user calls a value: its name, or its source text shortened.
std::string describe(const Core&, ValueId);

// Text form (`rmlc show core`) and its inverse, so that a pass is tested from text.
std::string print_core(const Core&);
// Reads what print_core writes; nothing and a message with a line number if it is not that.
std::optional<Core> read_core(const std::string& text, std::string& error);

// The invariants above, checked; the first violation as text, or empty.
std::string verify(const Core&);

}  // namespace rml

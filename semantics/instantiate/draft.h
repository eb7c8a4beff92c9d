// The draft: core equations whose shapes and static values are not known yet.
//
// Elaboration inlines every node and writes one draft value per expression. A variable is an
// alias, whose target its equation sets, so neither the order of equations nor cycles through fby
// matter. Then aliases are resolved, shapes and static values are solved (solve_shapes.h), and
// the rest is emitted as core.
//
//   y = x[i, 1:3] + 1      %4 alias y -> %8
//                          %8 apply add %6 %7;  %6 syntactic index of x;  %7 const 1
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "frontend/ast.h"
#include "frontend/diagnostic.h"
#include "semantics/core/core.h"
#include "semantics/values/limits.h"

namespace rml::draft {

using DraftId = Id<struct DraftTag>;
using DraftClockId = Id<struct DraftClockTag>;

inline constexpr DraftClockId base{0};
inline constexpr DraftClockId never{1};

struct DraftClock {
  DraftClockId parent;  // the clock that is sampled; invalid for base and never
  DraftId condition;
  bool positive = true;
};

// An attribute argument: a static expression, or a known value.
struct StaticArgument {
  DraftId value;  // invalid: `known` has the value
  Attribute known;
  ParameterKind kind = ParameterKind::integers;
};

struct Item {  // an item of x[i, a:b:c]; omitted bounds and steps are invalid
  bool is_range = false;
  DraftId at, lower, upper, step;
  Span span;
};

struct Alias {
  DraftId target;
};
struct Const {
  std::shared_ptr<const Tensor> value;
};
struct Input {
  std::uint32_t index;
  std::vector<DraftId> shape;
  bool is_given = false;  // true for an input in the body of an iteration, whose shape is given
  Shape given = {};
  bool is_open = false;  // true in a node that is never called: it may have any shape
};
struct Apply {
  OperatorId op;
  std::vector<DraftId> operands;
  std::vector<StaticArgument> attributes;
  std::uint64_t key = 0;
};
struct Index {
  DraftId operand;
  std::vector<Item> items;
};
// A variable whose declared type has a shape.
struct Declared {
  DraftId operand;
  std::vector<DraftId> shape;
  Span type;
};
struct Call {
  std::uint32_t external;
  std::vector<DraftId> operands;
};
class Iterator;
struct Iterate {
  std::shared_ptr<Iterator> of;
  std::vector<DraftId> operands;
};
struct Result {  // a result of a Call or an Iterate
  DraftId call;
  std::uint32_t output;
};
struct When {
  DraftId operand, condition;
  bool positive;
  bool from_if = false;
  Span written;  // place of the condition in the source
};
struct Merge {
  DraftId condition, on_true, on_false;
  bool from_if;
  Span written;  // place of the condition in the source
};
struct Fby {
  DraftId init, next;
};
struct Post {
  DraftId operand;
};
using Rhs = std::variant<Alias, Const, Input, Apply, Index, Declared, Call, Iterate, Result, When, Merge, Fby, Post>;

struct Value {
  Rhs rhs;
  DType dtype{};
  DraftClockId clock = base;
  Span span;
  InstanceId instance;
  std::string name;
  bool is_static = false;  // part of a static argument: its clock has no meaning
};

struct External {
  std::string symbol;
  Span span;
  std::vector<DType> inputs, outputs;
  std::vector<std::vector<DraftId>> input_shapes, output_shapes;
  std::vector<std::string> input_names;
};

struct NamedValue {
  std::string name;
  DraftId value;
  DraftClockId clock;
  Span span;
};

struct Assertion {
  DraftId condition;
  DraftClockId clock;
  std::string message;
  Span span;
  InstanceId instance;
};

// The arguments of an instance in the order of its node's inputs, and the call.
struct CallSite {
  ExprId call;  // the call in the source; invalid for the entry
  std::vector<DraftId> arguments;
};

struct Draft {
  std::vector<Value> values;
  std::vector<DraftClock> clocks;
  std::vector<Instance> instances;
  std::vector<CallSite> calls;  // all instances, indexed by InstanceId
  std::vector<External> externals;
  std::vector<NamedValue> inputs, outputs, parameters, watches;
  std::vector<Assertion> asserts;
  // True for a node that is never called: checks skip values that depend on its inputs.
  bool open = false;
  std::uint64_t most_elements = Limits{}.elements;

  Value& operator[](DraftId d) { return values[d.index]; }
  const Value& operator[](DraftId d) const { return values[d.index]; }
};

// The solver's knowledge of a value.
struct State {
  bool known = false;  // true if the shape is known
  Shape shape;
  std::shared_ptr<const Tensor> constant;  // set for static values
  bool begun = false;                      // true while the shape is only assumed, to begin the evaluation of a cycle
};
using States = std::vector<State>;  // the state of each value, indexed by DraftId

// True if a value depends on itself within a cycle or through later cycles. `end`: by draft, the
// draft for which it stands.
bool comes_back(const Draft& draft, const std::vector<DraftId>& end, DraftId d);

// Calls f(DraftId&) for every draft that a right-hand side mentions, including static arguments
// and conditions, but not bounds and attributes that were left out.
template <class AnyRhs, class F>
void for_each_mention(AnyRhs& rhs, F&& f) {
  const auto all = [&](auto& list) {
    for (auto& d : list) f(d);
  };
  std::visit(
      [&](auto& r) {
        using T = std::remove_cvref_t<decltype(r)>;
        if constexpr (std::is_same_v<T, Alias>) {
          if (r.target.valid()) f(r.target);
        } else if constexpr (std::is_same_v<T, Const>) {
        } else if constexpr (std::is_same_v<T, Input>) {
          all(r.shape);
        } else if constexpr (std::is_same_v<T, Apply>) {
          all(r.operands);
          for (auto& a : r.attributes)
            if (a.value.valid()) f(a.value);
        } else if constexpr (std::is_same_v<T, Index>) {
          f(r.operand);
          for (auto& item : r.items)
            for (auto* d : {&item.at, &item.lower, &item.upper, &item.step})
              if (d->valid()) f(*d);
        } else if constexpr (std::is_same_v<T, Declared>) {
          f(r.operand);
          all(r.shape);
        } else if constexpr (std::is_same_v<T, Call> || std::is_same_v<T, Iterate>) {
          all(r.operands);
        } else if constexpr (std::is_same_v<T, Result>) {
          f(r.call);
        } else if constexpr (std::is_same_v<T, When>) {
          f(r.operand);
          f(r.condition);
        } else if constexpr (std::is_same_v<T, Merge>) {
          f(r.condition);
          f(r.on_true);
          f(r.on_false);
        } else if constexpr (std::is_same_v<T, Fby>) {
          f(r.init);
          f(r.next);
        } else {
          static_assert(std::is_same_v<T, Post>);
          f(r.operand);
        }
      },
      rhs);
}

// Adds the chain of calls that leads to `instance` to a diagnostic.
void add_instance_chain(Diagnostic&, const Draft&, const Program&, InstanceId instance);

}  // namespace rml::draft

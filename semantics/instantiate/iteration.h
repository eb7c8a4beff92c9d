// Bodies of `map`, `fold` and `scan`. A body is instantiated as a program of its own when the
// shapes of its operands are known (solve_shapes.h calls this), and again for each other list of
// shapes.
//
//   h, ys = scan cell(h0; xs; w);     xs: f32[10, 3]     a body with inputs h, x: f32[3], w
#pragma once

#include <functional>
#include <map>

#include "semantics/instantiate/draft.h"
#include "semantics/spread/spread.h"

namespace rml::draft {

// The place of a call of a node that lives in time; it identifies the node's parameters and
// draws.
struct CalledAt {
  std::string path;
  std::string derived = {};  // path of the outermost of the nested derived nodes
};

struct Depth {
  std::uint64_t calls = 0, loops = 0;  // nesting depth
};

struct IteratorOperand {
  DType dtype{};
  Shape shape;
  std::shared_ptr<const Tensor> constant;
};

// The arguments of a node in each round of an iteration.
struct Given {
  std::vector<DType> dtypes;  // one per variable of the node's dtype scheme
  struct Operand {
    Shape shape;
    // The value of a constant operand; null: the operand varies, and is an input.
    std::shared_ptr<const Tensor> constant;
  };
  std::vector<Operand> operands;
  Span call;
  CalledAt at = {};
};

// The core of a node with these operands; nothing if there are errors, which are reported, or if
// the program exceeds a limit.
using InstantiateBody = std::function<std::optional<Core>(NodeId, const Given&, Depth, Diagnostics&)>;

struct IteratorBody {
  ExternalNode external;
  // For a `map` of a node that has memory (lives_in_time); then `external` is not called.
  std::optional<mapped::Spreading> spreading;
  // The operands that are passed to `external`. Small constants are part of the body instead.
  std::vector<std::uint32_t> passed;
  std::vector<std::pair<DType, Shape>> outputs;
  Diagnostics diagnostics;  // errors in the body itself
  // Text of another error; empty if there is none.
  std::string problem;
  Code code = Code::E0209;
  bool about_operands = false;
  std::vector<Label> places;
  std::vector<std::string> notes;

  bool sound() const { return problem.empty() && !diagnostics.has_errors(); }
};

// Instantiates one call of an iterator.
class Iterator {
 public:
  // depth: nesting depth of the body. dtypes: those for the variables of the node's scheme.
  Iterator(const Program&, const InstantiateBody&, Depth depth, NodeId, const ast::Iteration&, Span call,
           std::vector<DType> dtypes, CalledAt at);

  const IteratorBody& body(const std::vector<IteratorOperand>& operands);

 private:
  void make(const std::vector<IteratorOperand>& operands, IteratorBody& out) const;
  bool find_length(const std::vector<IteratorOperand>& operands, std::int64_t& length, IteratorBody& out) const;
  Given given_in_a_round(const std::vector<IteratorOperand>& operands, IteratorBody& out) const;
  std::optional<Core> with_states_that_hold(const std::vector<IteratorOperand>& operands, Given& given,
                                            IteratorBody& out) const;
  bool stays_inside(const Core& body, IteratorBody& out) const;
  bool stands_outside_time(const Core& body, IteratorBody& out) const;
  bool spreads(const Core& body, IteratorBody& out) const;
  bool find_interface(const Iteration& it, IteratorBody& out) const;
  std::uint32_t leading() const { return how_.states + how_.sequences; }  // operands that are not fixed
  const std::string& name() const;
  std::string described() const;  // the iteration as a text for messages

  const Program& program_;
  const InstantiateBody& instantiate_body_;
  const Depth depth_;
  const NodeId node_;
  const ast::Iteration how_;
  const Span call_;
  const std::vector<DType> dtypes_;
  const CalledAt at_;
  std::map<std::string, IteratorBody> bodies_;  // instantiated bodies, by the shapes and constants of the operands
};

}  // namespace rml::draft

// `map`, `fold` and `scan` on the way to core: a body is a program of its own, instantiated once the shapes of
// what it is given are known (solve_shapes.h asks), and anew for every other shape.
//
//   h, ys = scan cell(h0; xs; w);     xs: f32[10, 3]     a body with inputs h, x: f32[3], w
#pragma once

#include <map>

#include "semantics/draft.h"
#include "semantics/instantiate.h"

namespace rml::draft {

struct Elaboration;

struct Depth {
  std::uint64_t calls = 0, loops = 0;  // within which something stands
};

struct IteratorOperand {
  DType dtype{};
  Shape shape;
  std::shared_ptr<const Tensor> constant;
};

struct IteratorBody {
  ExternalNode external;
  std::vector<std::uint32_t> passed;  // the operands that the external takes: small constants stand in the body
  std::vector<std::pair<DType, Shape>> outputs;
  Diagnostics diagnostics;  // of the body itself
  // What else is wrong; empty: nothing.
  std::string problem;
  Code code = Code::E0209;
  bool about_operands = false;
  std::vector<Label> places;
  std::vector<std::string> notes;

  bool sound() const { return problem.empty() && !diagnostics.has_errors(); }
};

// One call of an iterator.
class Iterator {
 public:
  // whole, depth: as an Elaborator's. dtypes: what stands for the variables of the node's scheme.
  Iterator(const Checked&, InstantiateOptions, Elaboration& whole, Depth depth, NodeId, const ast::Iteration&,
           Span call, std::vector<DType> dtypes);

  const IteratorBody& body(const std::vector<IteratorOperand>& operands);

 private:
  void make(const std::vector<IteratorOperand>& operands, IteratorBody& out) const;
  bool find_length(const std::vector<IteratorOperand>& operands, std::int64_t& length, IteratorBody& out) const;
  bool has_no_memory(const Core& body, IteratorBody& out) const;
  const std::string& name() const;

  const Checked& checked_;
  const InstantiateOptions options_;
  Elaboration& whole_;
  const Depth depth_;
  const NodeId node_;
  const ast::Iteration how_;
  const Span call_;
  const std::vector<DType> dtypes_;
  std::map<std::string, IteratorBody> bodies_;  // by shapes and constants
};

}  // namespace rml::draft

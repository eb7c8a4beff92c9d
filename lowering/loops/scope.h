// The buffers of the values of a program, or of an iteration's body.
//
// A value gets a buffer at its first request; a constant has its buffer from the start. A value that is computed in its
// users' loops (steps::Program::inlined) has no buffer, unless a user needs it in memory.
#pragma once

#include <map>

#include "lowering/loops/loops.h"
#include "semantics/core/queries.h"
#include "semantics/values/strides.h"

namespace rml::loops {

class Scope {
 public:
  Scope(Program& out, std::shared_ptr<const steps::Program> steps, std::uint32_t body);

  const Core& core;
  const steps::Program& steps() const { return *steps_; }
  bool is_body() const { return body_ != UINT32_MAX; }
  Program& out() { return out_; }

  BufferId place(ValueId);
  void put(ValueId v, BufferId place) { places_[v] = place; }  // the value already has this buffer
  BufferId scratch(DType, const Shape&);
  BufferId cell(CellId c) { return kept(cells_, Space::cell, c.index, of(steps().cells[c.index])); }
  BufferId array(ArrayId a) { return kept(arrays_, Space::array, a.index, of(steps().arrays[a.index])); }
  BufferId output(std::uint32_t k) { return kept(outputs_, Space::output, k, of(core[core.outputs[k].value])); }
  BufferId input(std::uint32_t k) { return kept(inputs_, Space::input, k, of(core[core.inputs[k].value])); }
  BufferId initial(CellId c) { return kept(initial_, Space::constant, c.index, of(steps().cells[c.index])); }
  // Sets where an iteration's body finds the arguments and results of a round, and its cells.
  void put_cell(CellId c, BufferId b) { cells_[c.index] = b; }
  void put_input(std::uint32_t k, BufferId b) { inputs_[k] = b; }
  void put_output(std::uint32_t k, BufferId b) { outputs_[k] = b; }

  // The values of the outputs of a call, by output; invalid for an unused output.
  std::vector<ValueId> results(ValueId call, std::size_t count) const;

  const Buffer& operator[](BufferId b) const { return out_.buffers[b.index]; }

  // True if the value is computed in its users' loops.
  bool in_loops(ValueId) const;
  std::uint32_t site(ValueId v) const {
    return v.index < steps().value_sites.size() ? steps().value_sites[v.index] : UINT32_MAX;
  }

 private:
  using Type = std::pair<DType, Shape>;
  template <class Info>
  static Type of(const Info& info) {
    return {info.dtype, info.shape};
  }
  BufferId add(Buffer);
  BufferId kept(std::map<std::uint32_t, BufferId>&, Space, std::size_t index, Type);

  std::map<ValueId, std::vector<ValueId>> results_;  // indexed by call: its results
  Program& out_;
  std::shared_ptr<const steps::Program> steps_;
  std::uint32_t body_;
  std::map<ValueId, BufferId> places_;
  std::map<std::uint32_t, BufferId> cells_, initial_, arrays_, outputs_, inputs_;
};

inline const Shape& shape_of(const Scope& s, ValueId v) { return s.core[v].shape; }
inline const core::Apply& apply(const Scope& s, ValueId v) { return *apply_of(s.core, v); }

}  // namespace rml::loops

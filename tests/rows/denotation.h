// The denotation of a core for a finite input, as a fixed point. It decides which rows are
// determined, and when.
//
// The core is used as instantiated, before anything is folded or judged. A cell is a value, or
// the presence of a clock, at an instant. Initially nothing is known. A cell becomes known, or
// absent, once everything that it needs is known, and then stays so. A value after the last
// pushed row is not known yet. The evaluation repeats in any order until nothing changes, without
// schedule, causality check or demand. It shares only the evaluation of single operators with the
// compiler.
//
// A merge needs its condition and the branch taken. A `fby` needs its first operand at the first
// present instant only. An operator needs all of its operands, and a value on a clock needs the
// conditions of the clock, outer ones first. The next value of a constant is known at every
// instant.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "semantics/core/core.h"
#include "semantics/reference/chronogram.h"

namespace rml::fuzz {

class Denotation {
 public:
  // `core` must outlive this object and must not call external nodes.
  explicit Denotation(const Core& core, std::uint64_t seed = 0);

  // Adds a row of inputs; inputs off their clock are absent.
  void push(std::vector<Cell> row);
  std::int64_t pushed() const { return static_cast<std::int64_t>(instants_.size()); }

  // The number of rows that the input so far determines: 0 … rows() - 1. Rows are written in
  // order.
  std::int64_t rows() const { return rows_; }
  // The part of the next row that is known before its inputs are; the rest is undetermined.
  std::vector<Cell> lead() const;
  // Any row; unknown cells are undetermined.
  std::vector<Cell> row(std::int64_t cycle) const;

  // The presence of any value.
  Presence presence(ValueId v, std::int64_t cycle) const { return column(v, cycle).presence; }

  // The reason why a cell is unknown: more input can determine it, it needs itself, or it stops
  // the run.
  enum class Why : std::uint8_t { known, looks_ahead, needs_itself, fails };
  // The worst reason among the columns of the row.
  Why why(std::int64_t cycle) const;
  // True if any value needs itself, whichever values are requested.
  bool knotted() const;
  // A cycle of values that need each other, for a row that needs itself, as texts like "v at 3".
  std::vector<std::string> knot(std::int64_t cycle) const;
  // The first cycle at which an operator fails or an assertion is false, where a run stops.
  std::optional<std::int64_t> fault() const { return fault_; }

 private:
  using Tensors = std::shared_ptr<const std::vector<Tensor>>;  // tensors of a cell: one, or the results of a call
  struct State {
    Presence presence = Presence::undetermined;
    Tensors values;
  };
  struct Place {
    std::size_t subject;  // number of the value; clocks are numbered after all values
    std::int64_t cycle;
  };
  // The cells that an unknown cell needs and lacks.
  struct Lack {
    std::vector<Place> places;
    bool ahead = false;  // true if it needs an instant that has not been read
    bool fault = false;
  };

  std::size_t subject(ClockId c) const { return core_.values.size() + c.index; }
  const State& at(std::size_t subject, std::int64_t cycle) const {
    return instants_[static_cast<std::size_t>(cycle)].states[subject];
  }
  bool is_constant(ValueId) const;
  void add(std::vector<Cell> row);
  bool settle(std::int64_t cycle);
  State evaluate(Place, Lack&) const;
  State presence_of(ClockId, std::int64_t cycle, Lack&) const;
  Tensors compute(ValueId, std::int64_t cycle, Lack&) const;
  Tensors apply(ValueId, const core::Apply&, std::int64_t cycle, Lack&) const;
  Tensors call(const core::Call&, std::int64_t cycle, Lack&) const;
  Tensors look(ValueId, std::int64_t cycle, Lack&) const;
  // The next present instant of the clock in one direction; pushed() or -1 if there is none.
  std::optional<std::int64_t> neighbour(ClockId, std::int64_t cycle, int step, Lack&) const;
  std::optional<std::vector<Tensors>> operands(const std::vector<ValueId>&, std::int64_t cycle, Lack&) const;
  Cell column(ValueId, std::int64_t cycle) const;
  std::vector<std::vector<Why>> judge() const;

  struct Instant {
    std::vector<Cell> inputs;
    std::vector<State> states;
    std::vector<std::size_t> open;  // subjects that are not known
  };
  const Core& core_;
  std::uint64_t seed_;
  std::vector<bool> constant_;  // true for literals, and for results of operators on literals
  std::vector<Instant> instants_;
  std::int64_t rows_ = 0;
  std::optional<std::int64_t> fault_;
};

// The results for a whole input, which has a row of cells for each port.
struct Determined {
  std::vector<std::int64_t> after;  // number of determined rows after each input row
  // Expected outputs; in rows that are not determined, every cell is `?`.
  Chronogram outputs;
  Denotation::Why next = Denotation::Why::known;  // reason of the first row that is not determined
  std::vector<std::string> knot;
  bool knotted = false;
  std::optional<std::int64_t> fault;
  Chronogram leads;  // known part of each row before its inputs, if all rows before it are known
};
Determined determine(const Core&, const Chronogram& inputs, std::int64_t cycles, std::uint64_t seed = 0);

}  // namespace rml::fuzz

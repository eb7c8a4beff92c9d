// The denotation of a core, for a finite input, as a fixed point: the judge of what is written and when.
//
// The core is taken as instantiated, before anything is folded or judged. A cell is a value, or the presence of a
// clock, at an instant. In the beginning nothing is known; a cell becomes known, or absent, once all that it needs is
// known, and stays so. What looks behind the last row that was pushed is not known yet. This is done over and over, in
// no order that matters, until nothing changes: no schedule, no causality check, no demand. It shares with the rest of
// the compiler what a single operator computes.
//
// A merge needs its condition and the branch taken, a `fby` its first operand at the first present instant only, an
// operator all of its operands, and a value on a clock the conditions of the clock, outer ones first. The next value of
// a constant is known: it is present whenever one asks for it.
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
  // `core` must outlive this; it calls no external nodes.
  explicit Denotation(const Core& core, std::uint64_t seed = 0);

  // One more row of inputs; those off their clock are absent.
  void push(std::vector<Cell> row);
  std::int64_t pushed() const { return static_cast<std::int64_t>(instants_.size()); }

  // The rows that all so far determine: 0 … rows() - 1. They leave in order.
  std::int64_t rows() const { return rows_; }
  // Of the next row, what is known before its inputs are there; the rest is undetermined.
  std::vector<Cell> lead() const;
  // Any row; what is not known is undetermined.
  std::vector<Cell> row(std::int64_t cycle) const;

  // Of any value.
  Presence presence(ValueId v, std::int64_t cycle) const { return column(v, cycle).presence; }

  // Of a cell that is not known: whether more input can make it so, or it needs itself, or it stops the run.
  enum class Why : std::uint8_t { known, looks_ahead, needs_itself, fails };
  // Of the row: the worst of its columns.
  Why why(std::int64_t cycle) const;
  // Whether anything needs itself, for any request.
  bool knotted() const;
  // The values that need each other, each the next, of a row that needs itself: "v at 3".
  std::vector<std::string> knot(std::int64_t cycle) const;
  // The first cycle at which an operator fails or an assertion does not hold: what runs stop at.
  std::optional<std::int64_t> fault() const { return fault_; }

 private:
  using Tensors = std::shared_ptr<const std::vector<Tensor>>;  // one, or a call's results
  struct State {
    Presence presence = Presence::undetermined;
    Tensors values;
  };
  struct Place {
    std::size_t subject;  // a value, or behind all values a clock
    std::int64_t cycle;
  };
  // What a cell that is not known was found to need and lack.
  struct Lack {
    std::vector<Place> places;
    bool ahead = false;  // an instant that has not been read
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
  // The next present instant of the clock in a direction; pushed() or -1 where there is none.
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
  std::vector<bool> constant_;  // literals, and what operators make of them
  std::vector<Instant> instants_;
  std::int64_t rows_ = 0;
  std::optional<std::int64_t> fault_;
};

// Of whole inputs, a row of cells for each input.
struct Determined {
  std::vector<std::int64_t> after;                // how many rows are determined after each input row
  Chronogram outputs;                             // rows that are not determined are `?` throughout
  Denotation::Why next = Denotation::Why::known;  // of the first row that is not
  std::vector<std::string> knot;
  bool knotted = false;
  std::optional<std::int64_t> fault;
  Chronogram leads;  // what is known of each row before its inputs are there, if all rows before it are
};
Determined determine(const Core&, const Chronogram& inputs, std::int64_t cycles, std::uint64_t seed = 0);

}  // namespace rml::fuzz

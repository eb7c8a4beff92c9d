// The reference engine: an independent, demand-driven evaluator of core
// (docs/design/1-pipeline.md §10). It shares the front end with the compiler and nothing after
// the core, and serves as the oracle for compiled code.
//
// Cells (value, cycle) are computed on demand and kept until no later cycle can need them. A
// value that depends on a future cycle is undetermined and is evaluated again later. The roots of
// demand are the outputs, the asserts, and operators that can fail, at each cycle of their clock.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "semantics/core/core.h"
#include "semantics/reference/chronogram.h"
#include "semantics/reference/run_fault.h"

namespace rml {

// Which operators that can fail are evaluated, and so may stop the run: all, wherever they are
// present, or only those that a value needs. Simplification moves operators to where they are
// needed and keeps those whose result became unused, so simplified cores need the former and
// other cores the latter.
enum class Failing : std::uint8_t { where_present, where_needed };

class Interpreter {
 public:
  Interpreter(const Core& core, std::uint64_t seed, CallExternal call = {}, Failing = Failing::where_present);
  ~Interpreter();

  // Sets the initial value of the param with this path_key. Call before the first cycle.
  void give(std::uint64_t key, Tensor value);
  // Runs one cycle; cells[i] is input i, present or absent. Returns nothing, or the fault that
  // ends the run.
  std::optional<RunFault> push(std::vector<Cell> cells);
  // Declares that no more input will come.
  void finish();
  // The next row of outputs in cycle order, once all its columns are determined.
  std::optional<std::vector<Cell>> pop();
  // watch: records the cells of these values (rmlc trace). history: the recorded cells so far, by
  // cycle.
  void watch(std::vector<ValueId> values);
  std::vector<Cell> history(ValueId) const;
  // One cell of any value; undetermined if it is unknown, was never demanded, or has been
  // dropped.
  Cell at(ValueId, std::int64_t cycle) const;
  // The values that keep the next row incomplete for ever because they need themselves through
  // other cycles; else empty.
  std::vector<ValueId> knot();
  std::int64_t pushed() const;
  std::int64_t popped() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rml

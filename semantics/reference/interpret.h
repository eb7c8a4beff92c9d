// The reference engine: an independent, demand-driven evaluator of core
// (docs/design/1-pipeline.md §10). It shares the front end with the compiler and nothing after the core, and is
// the oracle the compiled code is held to.
//
// Cells (value, cycle) are computed on demand and kept until no later cycle can need them;
// a value that depends on a cycle not read yet is undetermined and is asked again later.
// Roots of demand: the outputs, the asserts, and operators that can fail, at each cycle of
// their clock.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "semantics/core/core.h"
#include "semantics/reference/chronogram.h"
#include "semantics/reference/run_fault.h"

namespace rml {

// Which operators that can fail are evaluated, and may so stop the run: all, wherever they are present, or those that
// something needs. Simplification moves operators to where they are needed and keeps those whose result became unused,
// so its cores take the former; a core that it has not seen takes the latter.
enum class Failing : std::uint8_t { where_present, where_needed };

class Interpreter {
 public:
  Interpreter(const Core& core, std::uint64_t seed, CallExternal call = {}, Failing = Failing::where_present);
  ~Interpreter();

  // The param of this path_key takes this value instead of its operand's; before the first cycle.
  void give(std::uint64_t key, Tensor value);
  // One cycle; cells[i] is input i, present or absent. Nothing, or the fault that ends the run.
  std::optional<RunFault> push(std::vector<Cell> cells);
  // No more input will come.
  void finish();
  // The next row of outputs in cycle order, when all its columns are determined.
  std::optional<std::vector<Cell>> pop();
  // The cells of any value so far, cycle by cycle (rmlc trace); only of values in `watched`.
  void watch(std::vector<ValueId> values);
  std::vector<Cell> history(ValueId) const;
  // One cell of any value; undetermined where it is not known, was never demanded, or has been dropped.
  Cell at(ValueId, std::int64_t cycle) const;
  // What keeps the next row from ever being complete: values that need themselves, through other cycles; else empty.
  std::vector<ValueId> knot();
  std::int64_t pushed() const;
  std::int64_t popped() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rml

// Writes Boolean functions as equations of a core.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "semantics/core/core.h"
#include "semantics/time/need_functions.h"

namespace rml {

// Adds equations to a core; writes equal functions on one clock only once.
class FunctionWriter {
 public:
  FunctionWriter(Core& core, NeedFunctions& need) : core_(core), need_(need) { find_known(); }

  // A value on the clock that is true where the function is. It gets the source place and
  // instance of `like`.
  ValueId write(BooleanFunctions::Function, ClockId clock, ValueId like);

 private:
  ValueId function(BooleanFunctions::Function);
  ValueId letter(std::uint32_t number);
  ValueId on_clock(ValueId);
  ValueId constant(bool);
  ValueId apply(const char* op, std::vector<ValueId> operands);
  void find_known();
  ValueId add(core::Rhs, ClockId);

  Core& core_;
  NeedFunctions& need_;
  ClockId clock_;
  Value like_;
  using Key = std::pair<std::uint32_t, std::uint32_t>;  // a clock, and the number of a function or letter on it
  std::map<Key, ValueId> functions_, letters_;
  // Connectives that the core already has, by clock, operator and operands; they are reused.
  std::map<std::tuple<std::uint32_t, OperatorId, std::vector<ValueId>>, ValueId> known_;
};

}  // namespace rml

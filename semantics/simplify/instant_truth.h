// The Booleans of a core at one instant, as formulas over free letters.
//
// The formulas follow `not`, `and`, `or`, equality of Booleans, choices, samplings and delays,
// also to neighbouring instants, and the presence and first instants of clocks. Everything else
// (inputs, comparisons, values at distant instants) is a letter; equal computations have the same
// letter. The formulas know that an integer equals one constant only, that some values never
// change, and how numbers compare at the first instant. They ignore that operators are strict: `c
// and false` is false for any c.
//
//   e = true fby c; f = false fby c      e: start or c'     f: not start and c'     c': c one instant before
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "semantics/core/core.h"
#include "semantics/values/formulas.h"

namespace rml {

class InstantTruth {
 public:
  using Formula = Formulas::Formula;

  explicit InstantTruth(const Core&);

  // The value of a scalar Boolean where it is present.
  Formula holds(ValueId v) { return holds(v, {}); }
  // ticks: true if the clock is present at this instant. starts: true if it is the clock's first
  // instant.
  Formula ticks(ClockId);
  Formula starts(ClockId clock) { return starts(clock, {}); }
  Formulas& formulas() { return formulas_; }

 private:
  // An instant: `shift` instants of the clock after the current one.
  struct When {
    ClockId clock{};
    int shift = 0;
  };
  struct Known {
    Formula formula;
    bool complete = false;  // false: the value depends on itself
    bool variable = false;
  };
  using Key = std::pair<std::uint64_t, std::uint64_t>;
  struct Hash {
    std::size_t operator()(const Key& k) const { return k.first * 0x9e3779b97f4a7c15u ^ k.second; }
  };

  static Key key(std::uint32_t subject, const When& at) {
    const std::uint64_t clock = at.shift == 0 ? 0 : at.clock.index;
    return {subject, clock << 8 | static_cast<std::uint8_t>(at.shift)};
  }
  bool boolean(ValueId v) const { return core_[v].dtype == DType::boolean && core_[v].shape.empty(); }
  Formula holds(ValueId v, const When& at);
  Formula define(ValueId v, const When& at);
  Formula apply(ValueId v, const core::Apply&, const When& at);
  Formula compare(ValueId v, const core::Apply&, const When& at);
  Formula equals(ValueId a, ValueId b, const When& at);
  Formula ordered(ValueId v, const core::Apply&, const When& at);
  std::optional<bool> at_start(ValueId v, const core::Apply&) const;
  Formula fby(ValueId v, const core::Fby&, const When& at);
  Formula post(ValueId v, const core::Post&, const When& at);
  Formula starts(ClockId, const When& at);
  Formula letter(const std::string& name, const When& at);
  // Numbers of computations: values with equal numbers are equal wherever both are present.
  std::uint32_t number(ValueId);
  std::uint32_t number(ClockId);
  std::string written(ValueId);
  std::uint32_t intern(const std::string& text);

  const Core& core_;
  const std::vector<Truth> steady_;  // truth that each value has at all instants, if any
  Formulas formulas_;
  std::unordered_map<Key, Known, Hash> known_;
  std::unordered_map<std::uint32_t, Formula> ticks_;
  std::unordered_map<std::string, Formula> letters_;
  // True if an integer equals none of the constants met.
  std::unordered_map<std::string, Formula> other_;
  std::unordered_map<std::uint32_t, std::uint32_t> numbers_, clock_numbers_;
  std::unordered_map<std::string, std::uint32_t> interned_;
  int depth_ = 0;
};

}  // namespace rml

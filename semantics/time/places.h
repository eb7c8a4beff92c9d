// Places: names by which an instance, a parameter or a memory is found in the source, independent
// of the order of equations.
//
// Problem: paths number equal names in source order: `total`, `total2`. If two equations are
// exchanged, or a third is inserted before them, the same path means another instance. Method: a
// place names the variable that the equation with the call defines, read from the source text at
// the span of the call. Several calls of one node in one equation are numbered, and a checksum of
// the equation's text shows whether the numbers are still valid.
//
//   a = net.total(x);                    total@a
//   y = total(x) - total(2.0 * x);       total@y#1~5f1c22a0, total@y#2~5f1c22a0
//   l, _ = diff loss(x, true, 1.0);      loss'@l
//
// A place with `#` or `'` may result from a rule; it is weaker evidence than the contents of a
// memory.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "semantics/core/core.h"

namespace rml {

class Places {
 public:
  Places(const Core&, const SourceMap&);
  // The place of an instance: like its path, one part for each instance from the root.
  const std::string& of(InstanceId i) const { return instances_[i.index]; }
  // The place of a memory or parameter within its instance.
  std::string within(ValueId v) const;

 private:
  struct Equation {
    std::string variable;
    std::uint32_t begin = 0, sum = 0;
  };
  const Equation& equation(Span at);
  const std::string& code(std::uint32_t file);
  void find_instances();
  void find_memories();
  std::string local_name(ValueId v, const std::string& name) const;

  const Core& core_;
  const SourceMap& sources_;
  // Source text of each file, without comments and string contents.
  std::map<std::uint32_t, std::string> code_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Equation> equations_;
  std::vector<std::string> instances_;
  std::map<ValueId, std::string> memories_;
};

// Whether inputs are distinguished by their names, or only by their types.
enum class InputNames : std::uint8_t { count, do_not };

// For each memory, a number for the function that it computes, independent of names and of the
// order of equations. Memories with equal numbers have equal values at all cycles, if their
// random draws and initial values are equal. For a parameter that never changes, the number
// depends on its initial value.
std::map<ValueId, std::uint64_t> contents(const Core&, const std::vector<ValueId>& memories, InputNames);

}  // namespace rml

// By what a user finds an instance, a parameter or a memory in the source, whatever the order of the equations is.
//
// Problem: paths number what has one name, in the order of the source: `total`, `total2`. When two equations are
// exchanged, or a third one is written before them, the same path is another instance. Method: a place names the
// variable that the equation with the call defines, read from the source at the span of the call. Several calls of one
// node in one equation are numbered, and a checksum of the equation's text says whether the numbers still hold.
//
//   a = net.total(x);                    total@a
//   y = total(x) - total(2.0 * x);       total@y#1~5f1c22a0, total@y#2~5f1c22a0
//   l, _ = diff loss(x, true, 1.0);      loss'@l
//
// A place that has `#` or `'` may have been made by a rule, and is weaker evidence than what an equation computes.
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
  // Of an instance: a part for each instance on the way, like its path.
  const std::string& of(InstanceId i) const { return instances_[i.index]; }
  // Of a memory or parameter within its instance.
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
  std::map<std::uint32_t, std::string> code_;  // by file: without comments and texts
  std::map<std::pair<std::uint32_t, std::uint32_t>, Equation> equations_;
  std::vector<std::string> instances_;
  std::map<ValueId, std::string> memories_;
};

// Whether the inputs of a program are told apart by their names, or only by their types.
enum class InputNames : std::uint8_t { count, do_not };

// What each memory computes, as a number that neither names nor the order of equations change: memories of one number
// have the same values at all cycles, if their random draws and what they begin with are the same. Of a parameter that
// never moves it says how it begins.
std::map<ValueId, std::uint64_t> contents(const Core&, const std::vector<ValueId>& memories, InputNames);

}  // namespace rml

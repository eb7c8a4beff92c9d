// Functions for states that begin at a cycle, whether the program has a schedule or runs on
// demand: names of tensors, the inputs since that cycle, and parameters.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "runtime/checkpoint/state_file.h"
#include "runtime/checkpoint/state_tensors.h"

namespace rml::rt {

inline constexpr const char* cycles_name = "cycles";
std::string input_name(const rml_port& input);
// The name of the tensor with the cycles of a stream's elements.
std::string cycles_of(const std::string& stream);
// The name of a parameter's value at the beginning of the state, if the parameter has changed
// since.
std::string earlier_name(const std::string& path);

// Adds one true Boolean per cycle. A damaged file can therefore not request more cycles than it
// has bytes.
void add_cycles(StateTensors& into, std::int64_t count);
// Adds the latest value of a parameter under its name.
void add_latest(StateTensors& into, const rml_parameter& p, std::string_view latest);

// Checks the number of cycles in a state. Call it after compare().
void expect_cycles(StateFile& from, const CyclesOfState& run, std::int64_t begins);
void expect_stream(StateFile& from, const std::string& name, std::uint8_t dtype, std::vector<std::uint64_t> shape);
void expect_memory(StateFile& from, const std::string& name, std::uint8_t dtype, std::vector<std::uint64_t> shape,
                   bool has_value);
// The elements that a memory has at the cycle at which the state begins.
const TensorIn& memory_in(const StateFile& from, const std::string& name);
// The cycles of a stream, after checks: they ascend, from `begins` to below `cycles`; if `dense`,
// there is one for each cycle.
std::vector<std::int64_t> stream_cycles(const StateFile& from, const std::string& name, std::int64_t begins,
                                        std::int64_t cycles, bool dense);

}  // namespace rml::rt

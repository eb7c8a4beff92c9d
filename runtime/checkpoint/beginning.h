// What all states have in common that say how a program goes on from a cycle: names, inputs since, parameters.
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
// The cycles of the elements of a stream.
std::string cycles_of(const std::string& stream);
// What a parameter was where the state begins, if it has moved since.
std::string earlier_name(const std::string& path);

// One true Boolean for each cycle, so that no file asks for more work than it is long.
void add_cycles(StateTensors& into, std::int64_t count);
// Numbers that `into` keeps.
void add_counts(StateTensors& into, const std::string& name, std::vector<std::int64_t> counts);
// The value of a parameter that is known last, under its name.
void add_latest(StateTensors& into, const rml_parameter& p, std::string_view latest);

void expect_cycles(StateFile& from, const CyclesOfState& run, std::int64_t begins);  // once compared
void expect_stream(StateFile& from, const std::string& name, std::uint8_t dtype, std::vector<std::uint64_t> shape);
void expect_memory(StateFile& from, const std::string& name, std::uint8_t dtype, std::vector<std::uint64_t> shape,
                   bool has_value);
// Its elements as of the beginning.
const TensorIn& memory_in(const StateFile& from, const std::string& name);
// Checked: ascending, from `begins` to before `cycles`; one for each if `dense`.
std::vector<std::int64_t> stream_cycles(const StateFile& from, const std::string& name, std::int64_t begins,
                                        std::int64_t cycles, bool dense);

}  // namespace rml::rt

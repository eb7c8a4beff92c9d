// Checks a segmented unit in a world: whether each sweep finds the values that it reads.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "lowering/schedule/check/needs.h"
#include "lowering/schedule/schedule.h"

namespace rml {

// Whether a literal holds at a cycle. Absent: its condition is not present there.
enum class Holds : std::uint8_t { unknown, absent, no, yes };
Holds holds(const Core&, const BooleanWorld&, const Literal&, int cycle);

// True if an assumption of the schedule about an instant is known to be false. `present`: posts that wait for their
// clock are taken to wait at every end.
bool breaks_assumption(const Core&, const BooleanWorld&, const ScheduledUnit&, int cycle, bool present);

// The first violation in words, or empty. Segments of up to four instants are checked. The check ends at a segment that
// breaks an assumption of the schedule (a run stops there) or depends on unknown cycles.
std::string validate_segments(const Schedule&, std::uint32_t unit, const BooleanWorld&, const Needs&);

// The class of instant k of a segment.
std::uint8_t class_of(int k, int length);

}  // namespace rml

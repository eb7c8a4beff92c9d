// A segment as a value: which values each sweep computes, and where they are kept.
//
// A segmented unit (schedule.h) divides its time into segments. `plan_segments` makes a Segment of each unit. The
// passes beside this file change it, each a function from a value to a value. `write_segment` turns the result into
// statements:
//
//   plan_segments   the sweeps of the schedule's plan, and the memories that they replay
//   stand_still     a memory that changes only at the segment's end has its next value computed only there
//   defer           values that may wait for the segment's end leave the leading sweep
//   sink            values that only one later sweep reads are computed there
//   batch_in_time   products of all instants become one product, in sweeps of their own
//   assign_homes    values that several sweeps read get a place: an array, a cell, a memory
//
// A sweep visits the instants of a segment one after the other, forward or backward. The first sweep leads: it takes an
// instant when its operands arrive. The others run at the segment's end.
//
// All facts about what holds at which instants of a segment come from segment_facts.h.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lowering/schedule/schedule.h"
#include "lowering/steps/streams.h"

namespace rml {

struct Sweep {
  bool backward = false;
  std::vector<SweepItem> items;  // values in the order of computation within an instant
};

// A matrix of a product over a segment. Strides are in elements.
struct BatchOperand {
  ValueId value;
  bool held = false;                 // the value is the same at all instants of a segment
  std::int64_t row = 0, column = 0;  // if not held: strides in the array of the elements of all instants
};

// A product of all instants at once.
//   rows: [length * m, n] = a [length * m, inner] times b [inner, n]
//   sum:  [m, n] = a [m, length * inner] times b [length * inner, n]
struct Batch {
  bool sum = false;
  std::int64_t m = 0, inner = 0, n = 0;
  BatchOperand a, b;
};

// A fby of the unit: an element that is kept from segment to segment, in a cell.
struct Memory {
  // The sweep that updates the cell in place, because no reader needs the old value any more. None: a sweep that
  // replays the memory has a register of its own.
  std::optional<std::size_t> in_place;
  bool begins = false;  // the value at the segment's start is copied, because a later sweep begins with it
  ValueId shares;       // the memory whose cell it shares; invalid: it has its own cell
};

// The place where sweeps that do not compute a value find it.
struct Home {
  enum Kind : std::uint8_t {
    array,    // an array with one element per instant
    cell,     // a cell of its own: a segment has one element of the value
    memory,   // the cell of `owner` holds it throughout the segment
    next,     // in the cell of `owner`, whose next value it is, as soon as it is computed
    settled,  // the cell of another unit's memory, which never changes, holds it
  } kind = array;
  ValueId owner;  // for the kinds `memory` and `next`: the memory in whose cell the value is found
};

struct Segment {
  std::uint32_t unit = 0;
  std::vector<Sweep> sweeps;           // all sweeps; [0] is the leading one
  std::map<ValueId, Batch> products;   // items that are computed for all instants at once, before their sweep's loop
  std::map<ValueId, Memory> memories;  // memories of the unit, by their fby
  std::map<ValueId, Home> homes;       // homes of values that a sweep reads without computing them; set by assign_homes
};

// The form between a schedule and its steps.
struct Segments {
  Schedule schedule;
  std::vector<Segment> list;  // one for each segmented unit, in the order of units
};

Segments plan_segments(Schedule);

// Makes a pass over all segments from a pass over one segment.
Segments change_each(Segments, const std::function<Segment(const Schedule&, const Streams&, const Segment&)>&);

// Checks what must hold of segments after any of the passes; returns the first violation as text, or empty.
std::string verify(const Segments&);

}  // namespace rml

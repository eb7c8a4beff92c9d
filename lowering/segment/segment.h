// A segment as a value: what each walk over its instants computes, and where that is kept.
//
// A segmented unit (schedule.h) divides its time into segments. `plan_segments` makes a Segment of each, the passes
// beside this file change it, each a function from a value to a value, and `write_segment` turns what they leave into
// statements:
//
//   plan_segments   the sweeps of the schedule's plan, and the memories that they replay
//   stand_still     what a memory becomes that moves at the segment's end alone is computed there alone
//   defer           what may wait for the segment's end leaves the leading sweep
//   sink            what only one later sweep looks at is computed there
//   batch_in_time   products of all instants become one product, in sweeps of their own
//   assign_homes    what several sweeps look at gets a place: an array, a cell, a memory
//
// A sweep visits the instants of a segment one after the other, forward or backward. The first one leads: it takes an
// instant when its operands arrive. The others follow at the segment's end.
//
// What holds where in a segment is asked of segment_facts.h alone.
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
  std::vector<PassItem> items;  // in the order of computation within an instant
};

// A matrix of a product over a segment. Strides are in elements.
struct BatchOperand {
  ValueId value;
  bool held = false;                 // it is the same at all instants of a segment
  std::int64_t row = 0, column = 0;  // of one that is not: of the array of all instants' elements
};

// A product of all instants at once.
//   rows: [length * m, n] = a [length * m, inner] times b [inner, n]
//   sum:  [m, n] = a [m, length * inner] times b [length * inner, n]
struct Batch {
  bool sum = false;
  std::int64_t m = 0, inner = 0, n = 0;
  BatchOperand a, b;
};

// A fby of the unit: an element that goes from segment to segment, in a cell.
struct Memory {
  // The sweep that carries it in its cell, which nobody needs as it was any more. None: a sweep that replays it has a
  // register of its own.
  std::optional<std::size_t> in_place;
  bool begins = false;  // what the cell holds at the segment's start is copied: some later sweep begins with it
  ValueId shares;       // the memory in whose cell it lies instead; invalid: it has its own
};

// Where a value is found by sweeps that do not compute it.
struct Home {
  enum Kind : std::uint8_t {
    array,    // one element per instant
    cell,     // a cell of its own: a segment has one element of it
    memory,   // in the cell of `owner`, where it stands all the segment through
    next,     // in the cell of `owner`, whose next value it is, from where it is computed on
    settled,  // in the cell of another unit's memory, which keeps what it has
  } kind = array;
  ValueId owner;  // memory, next
};

struct Segment {
  std::uint32_t unit = 0;
  std::vector<Sweep> sweeps;           // [0] leads
  std::map<ValueId, Batch> products;   // items that are computed for all instants at once, before their sweep's loop
  std::map<ValueId, Memory> memories;  // by fby
  std::map<ValueId, Home> homes;       // of what more sweeps look at than compute it; made by assign_homes
};

// The form between a schedule and its steps.
struct Segments {
  Schedule schedule;
  std::vector<Segment> list;  // one for each segmented unit, in the order of units
};

Segments plan_segments(Schedule);

// A pass over all segments from one over one of them.
Segments change_each(Segments, const std::function<Segment(const Schedule&, const Streams&, const Segment&)>&);

// What a segment must be, after any of the passes; the first violation as text, or empty.
std::string verify(const Segments&);

}  // namespace rml

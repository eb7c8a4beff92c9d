// Finds the cycle at which a saved state begins, so that every schedule of the program can read
// it: the state holds the memories as of that cycle, and the inputs since.
//
// Problem: units are at different instants, and within an open segment some values are known and
// others are not. Their contents at one moment therefore depend on the schedule. But all units
// pass the same instants. If the memories of each unit are copied when it is between the instants
// before a cycle and those from that cycle on, the copies together are the memories as of that
// cycle. The inputs from that cycle on complete the state.
//
// Method: after each cycle, when everything that can run has run, the host calls look(). A
// *candidate* is a cycle at which a state might begin. The memories of a unit are copied when the
// unit has reached that cycle and has no open segment. For a unit that is fed by a backward
// sweep, this happens when the segment that feeds it is complete. Once the memories of all units
// are copied, and every earlier row has been handed out, the candidate becomes the anchor, and
// older inputs are dropped. A candidate is given up if a segment extends across it, so that a
// unit has passed it.
//
// A candidate starts after each cycle at which no unit has an open segment; then a state begins
// at most one segment before its end. Some programs have no such cycle, because the end of a
// segment is known a cycle later only, or because two kinds of segments overlap. There every
// cycle may be a candidate, and the few at which most segments have ended are followed. The
// copied bytes per cycle are limited to a constant, or to the size of the inputs of a cycle if
// that is more, so larger memories are copied less often. A network must come to rest for each
// look, so the search pauses after each success.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/base/rmlrt.h"

namespace rml::rt {

class Anchor {
 public:
  explicit Anchor(const rml_program& program);

  // Makes the current cycle the anchor. All units of the state must be at the next cycle: fresh
  // from init, or just restored.
  void begin(const void* state);
  // Drops the anchor. There is none until a candidate is complete.
  void drop();
  // Records the inputs of a cycle that was read.
  void add(const void* const* in, const std::uint8_t* present);
  bool wants_look() const { return recording() && (program_.network == nullptr || next_ >= not_before_); }
  // Call it after the cycle given to `add`, when everything that can run has run and known rows have been handed out.
  void look(const void* state);

  // The elements of an input since the anchor, with their cycles.
  struct Stream {
    std::vector<char> elements;
    std::vector<std::int64_t> cycles;
  };
  bool holds() const { return current_.has_value(); }
  std::int64_t cycle() const { return current_->cycle; }
  std::int64_t cycles() const { return next_; }
  // True if the origin is not saved: an earlier one has the same name, or its value is a constant
  // of the program.
  bool repeated(std::uint32_t origin) const { return memories_[origin].repeated; }
  // The copied value; null for a parameter whose first value has not been read.
  const char* memory(std::uint32_t origin) const;
  // True if the parameter with this index in `parameters` has been read.
  bool looked_at(std::uint32_t parameter) const { return current_->parameters[parameter].looked_at; }
  const char* given(std::uint32_t parameter) const { return current_->parameters[parameter].given; }
  const std::vector<Stream>& inputs() const { return inputs_; }

 private:
  struct Parameter {
    bool looked_at = false;
    const char* given = nullptr;
  };
  struct Snapshot {
    std::int64_t cycle = 0;
    std::vector<char> elements;       // elements of all origins, concatenated
    std::vector<std::uint8_t> begun;  // one per origin: true if it has a value
    std::vector<Parameter> parameters;
  };
  enum Place : std::uint8_t { before, there, past };
  struct Candidate {
    Snapshot snapshot;
    std::vector<Place> places;  // one per unit: its position relative to the cycle
    // One per clock: number of instants before the cycle; -1: not known yet.
    std::vector<std::int64_t> instants;
    int ended = 0;  // number of units with or behind segments that have reached the cycle
    bool complete = false;
  };
  struct Memory {
    std::uint64_t place = 0;                // offset of the memory's elements in a snapshot
    bool repeated = false;                  // true if the memory repeats a value; see Anchor::repeated
    std::vector<std::uint32_t> parameters;  // parameters whose first value initialises it
  };
  struct Unit {
    std::vector<std::uint32_t> origins;  // origins that are memories of the unit
    std::vector<std::uint32_t> queues;   // queues into which it puts elements on a known clock
    bool concerned = false;              // true if the unit has a memory or an assertion
    bool jumps = false;                  // true if the unit has segments, or reads from a unit with segments
    std::uint32_t clock = 0;
  };

  // False for a program of one unit, which is always at its next cycle, and for programs that
  // cannot repeat inputs.
  bool recording() const { return program_.flow != nullptr && program_.repeatable != 0; }
  void add_unit(std::uint32_t unit);
  void find_jumps();
  bool no_segment_is_open(const void* state);
  bool may_begin(const void* state);
  void begin_candidate(const void* state);
  // Returns false if a unit has passed the candidate.
  bool follow(Candidate& candidate, const void* state);
  Place place_of(const Candidate& candidate, const void* state, std::uint32_t unit) const;
  void find_instants(Candidate& candidate, const void* state, const std::vector<std::uint32_t>& queues) const;
  void remove_least();
  void remove(std::size_t candidate);
  void accept(std::int64_t rows);
  void pause_search();
  void take_unit(Snapshot& into, const void* state, std::uint32_t unit);
  void take(Snapshot& into, const void* state, std::uint32_t origin) const;
  void take_parameter(Snapshot& into, const void* state, std::uint32_t parameter) const;
  void forget_before(std::int64_t cycle);
  void forget_all();

  const rml_program& program_;
  std::vector<Memory> memories_;  // memories of the program, one per origin
  std::vector<Unit> units_;       // one per unit; the last one is the host
  std::uint32_t clocks_ = 1;      // number of clocks
  bool segmented_ = false;        // true if some unit has segments
  // bytes of all memories, and of the inputs of a cycle
  std::uint64_t bytes_ = 0, row_bytes_ = 0;
  std::uint64_t much_ = 0, too_much_ = 0;  // limits for the bytes of inputs kept
  std::optional<Snapshot> current_;
  // candidates in the order of their cycles; candidates whose memory is reused
  std::vector<Candidate> candidates_, spare_;
  std::vector<Stream> inputs_;
  std::int64_t next_ = 0;
  std::int64_t since_ = 0;    // cycle at which the search for the next anchor began
  std::int64_t latest_ = -1;  // cycle of the last candidate
  std::int64_t not_before_ = 0, patience_ = 1;
  std::int64_t longest_ = 1;  // longest segment seen, in cycles
  bool restless_ = false;     // the search has given up waiting for a cycle at which no segment is open
  std::uint64_t debt_ = 0;    // bytes copied beyond the allowance of the cycles so far
  std::uint64_t held_ = 0;    // bytes of inputs kept
};

}  // namespace rml::rt

// Where a state begins that any schedule of the program can read: the memories as of one cycle, and the inputs since.
//
// Problem: units are at different instants, and where a segment is open some values of it are known and others are not.
// What each has in hand then says more of the schedule than of the program. But units pass the same instants: if the
// memories of each are copied when it is between the instants before a cycle and those from it on, they are together
// the memories as of that cycle, and inputs from there on say the rest.
//
// Method: after each cycle, when all has run that can, the host calls look(). A *candidate* is a cycle at which a state
// might begin. The memories of a unit are copied when the unit stands before that cycle, between two segments: of a
// unit that a backward sweep feeds, this is when the segment that feeds it is complete. Once the memories of all units
// are copied, and every earlier row has been handed out, the candidate takes the place of the anchor, and older inputs
// are dropped. A candidate that a unit has passed, because a segment lies across it, is given up.
//
// A candidate begins after each cycle at which no unit has an open segment: then a state begins at most a segment
// before its end. In some programs there is no such cycle: the end of a segment is known a cycle later only, or two
// kinds of segments overlap. There every cycle may be one, and a few candidates are kept, those first at which segments
// have ended. Copies are limited to some bytes per cycle, or as many as a cycle has inputs, so larger memories are
// copied more rarely. A network has to come to rest for each look, so the search pauses after each success.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/base/rmlrt.h"

namespace rml::rt {

class Anchor {
 public:
  explicit Anchor(const rml_program& program);

  // Of a state whose units are all at the cycle that comes next: fresh from init, or just put there.
  void begin(const void* state);
  // There is none until a candidate has come through.
  void drop();
  // A cycle has been read.
  void add(const void* const* in, const std::uint8_t* present);
  bool wants_look() const { return recording() && (program_.network == nullptr || next_ >= not_before_); }
  // After that cycle all has run that can, and known rows have been handed out.
  void look(const void* state);

  // The elements of an input, with their cycles.
  struct Stream {
    std::vector<char> elements;
    std::vector<std::int64_t> cycles;
  };
  bool holds() const { return current_.has_value(); }
  std::int64_t cycle() const { return current_->cycle; }
  std::int64_t cycles() const { return next_; }
  // A row of the same name came before, or it is known.
  bool repeated(std::uint32_t origin) const { return memories_[origin].repeated; }
  // Null: it is a parameter's whose first value has not been looked at.
  const char* memory(std::uint32_t origin) const;
  // By row of parameters.
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
    std::vector<char> elements;       // of all origins
    std::vector<std::uint8_t> begun;  // by origin
    std::vector<Parameter> parameters;
  };
  enum Place : std::uint8_t { before, there, past };
  struct Candidate {
    Snapshot snapshot;
    std::vector<Place> places;           // by unit
    std::vector<std::int64_t> instants;  // by clock: how many there are before the cycle; -1: not known yet
    int ended = 0;                       // units with segments, or behind such, that are there
    bool complete = false;
  };
  struct Memory {
    std::uint64_t place = 0;                // of its elements in a snapshot
    bool repeated = false;                  // a row of the same name came before, or it is known
    std::vector<std::uint32_t> parameters;  // whose first value it begins with
  };
  struct Unit {
    std::vector<std::uint32_t> origins;  // its memories
    std::vector<std::uint32_t> queues;   // into which it puts elements on a known clock
    bool concerned = false;              // it has a memory, or asserts
    bool jumps = false;                  // it has segments, or reads what comes from segments
    std::uint32_t clock = 0;
  };

  // A program of one unit is at its next cycle whenever it is looked at.
  bool recording() const { return program_.flow != nullptr && program_.repeatable != 0; }
  void add_unit(std::uint32_t unit);
  void find_jumps();
  bool no_segment_is_open(const void* state);
  bool may_begin(const void* state);
  void begin_candidate(const void* state);
  // False: it has been passed.
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
  std::vector<Memory> memories_;             // by origin
  std::vector<Unit> units_;                  // and the host, last
  std::uint32_t clocks_ = 1;                 // numbers of clocks are below
  bool segmented_ = false;                   // some unit is
  std::uint64_t bytes_ = 0, row_bytes_ = 0;  // of all memories, and of the inputs of a cycle
  std::uint64_t much_ = 0, too_much_ = 0;    // of inputs
  std::optional<Snapshot> current_;
  std::vector<Candidate> candidates_, spare_;  // in the order of their cycles; those whose room is used again
  std::vector<Stream> inputs_;
  std::int64_t next_ = 0;
  std::int64_t since_ = 0;    // where the search for the next anchor began
  std::int64_t latest_ = -1;  // candidate
  std::int64_t not_before_ = 0, patience_ = 1;
  std::int64_t longest_ = 1;  // segment that was seen
  bool restless_ = false;     // a state has begun at a cycle with an open segment
  std::uint64_t debt_ = 0;    // bytes that were copied and that no cycle has paid for
  std::uint64_t held_ = 0;    // bytes of inputs
};

}  // namespace rml::rt

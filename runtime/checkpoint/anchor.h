// Where a state begins that any schedule of the program can read: the memories as of one cycle, and the inputs since.
//
// Problem: units are at different instants, and where a segment is open some values of it are known and others are not.
// What each has in hand then says more of the schedule than of the program. But units pass the same instants: if the
// memories of each are copied when it is between the instants before a cycle and those from it on, they are together
// the memories as of that cycle, and inputs from there on say the rest.
//
// Method: the host has it look at the state after a cycle, when all that can run has run. A *candidate* is a cycle that
// begins then. Memories of units that are there are copied at once, those of others when they get there; when all are,
// and every row before it has been handed out, it takes the place of the anchor, and older inputs are dropped. One that
// a unit has passed by, a segment lying across it, is given up. A new one is begun when inputs take more room than
// memories, so that both are copied a few times at most, and where cuts keep coming the room stays what it is. A
// network has to come to rest for every look, so it is looked at seldom.
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
  bool wants_look() const {
    return recording() && (candidate_ || ((!current_ || held_ > enough_) && next_ >= not_before_));
  }
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
  bool repeated(std::uint32_t origin) const { return repeated_[origin]; }
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
    std::vector<Place> places;          // by unit
    std::vector<std::int64_t> targets;  // … how many instants it has before that cycle; -1: not known yet
    int looks = 0;
  };

  // A program of one unit is at its next cycle whenever it is looked at.
  bool recording() const { return program_.flow != nullptr && program_.repeatable != 0; }
  bool may_begin(const void* state) const;
  void begin_candidate(const void* state);
  void follow(const void* state);
  Place place_of(const void* state, std::uint32_t unit) const;
  void find_targets(const void* state, std::uint32_t writer);
  void give_up();
  void wait_for_next();
  void take(Snapshot& into, const void* state, std::uint32_t origin) const;
  void take_parameters(Snapshot& into, const void* state) const;
  void forget_before(std::int64_t cycle);

  const rml_program& program_;
  std::vector<std::uint64_t> places_;    // by origin: in elements
  std::vector<bool> repeated_;           // … a row of the same name came before
  std::vector<bool> concerned_;          // by unit: it has a memory, or asserts
  std::vector<std::uint32_t> paced_by_;  // … a queue that has an element for each instant; UINT32_MAX: none
  std::uint64_t bytes_ = 0, enough_ = 0, too_much_ = 0;
  std::optional<Snapshot> current_;
  std::optional<Candidate> candidate_;
  std::vector<Stream> inputs_;
  std::int64_t next_ = 0, not_before_ = 0, patience_ = 1;
  std::uint64_t held_ = 0;  // bytes of inputs
};

}  // namespace rml::rt

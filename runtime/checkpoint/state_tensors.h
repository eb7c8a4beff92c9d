// Converts a program's state to named tensors, and back, in the form of units and queues. Used
// for states that do not begin at a cycle (anchor.h).
//
//   cell      NAME           its value; NAME is the path for a parameter, whose tensor is absent
//                            until its first value has been read
//   queue     NAME           the elements in use, oldest first
//             NAME counts    number of elements pushed, then the position of each reader
//   unit      NAME           its cycle; if it has segments, also length and first cycle
//   array     NAME           one element for each instant of the open segment
//   parameter given PATH     a first value that was given and not read yet
//
//   a picture "curve NAME"   not part of the state: see monitor/series.h
//
// Capacities are not saved: buffers get the size that their contents need. For programs on demand
// see demand_tensors.h.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/rmlrt.h"
#include "runtime/checkpoint/check_counts.h"
#include "runtime/checkpoint/safetensors.h"
#include "runtime/checkpoint/state_file.h"

namespace rml::rt {

// The pieces of the tensors point into the state and into `owned`.
struct StateTensors {
  std::vector<TensorOut> tensors;
  std::deque<std::vector<std::int64_t>> owned;
  std::vector<std::string> unbegun;  // parameters without a value yet
  std::int64_t begins = -1;          // cycle at which the state begins; -1: a state of units
  std::vector<std::string> open;     // in a state that begins at a cycle: memories with an unknown value
};

// Adds a tensor whose elements `into` owns: the first `bytes` bytes of the words.
void add_owned(StateTensors& into, TensorOut tensor, std::vector<std::int64_t> words, std::size_t bytes);
// Adds a tensor of counts, which `into` owns.
void add_counts(StateTensors& into, const std::string& name, std::vector<std::int64_t> counts);

// The metadata of a state that begins at a cycle. `unbegun` lists the parameters without a first
// value, `open` the memories whose value is unknown.
struct BeginningOfState {
  std::int64_t begins = 0;
  std::vector<std::string> unbegun, open;
  bool all_rows = false;  // all known rows were handed out before saving
};

// Requires that every complete row has been popped and that the state has no fault.
StateTensors state_tensors(const rml_program& program, const void* state);

// Owns elements to which the slots of parameters point. It must outlive the state.
class GivenParameters {
 public:
  // Copies the elements and lets every slot with this path point to the copy.
  void give(const rml_program& program, void* state, const std::string& path, const void* elements);
  // Memory for the elements of a parameter that the caller gives later, aligned for any dtype.
  void* room(std::uint64_t bytes);

 private:
  struct Free {
    void operator()(void* block) const;
  };
  std::vector<std::unique_ptr<void, Free>> blocks_;
};

// A hash over the names, types and kinds of everything in the state.
std::uint64_t state_identity(const rml_program& program);

// Restores into a state fresh from init. unbegun: as returned by state_tensors. Throws Failure
// that names the differences or contradictions.
void restore_state(const rml_program& program, void* state, StateFile& from, const std::vector<std::string>& unbegun,
                   const CyclesOfState& cycles, GivenParameters& given);

// Adds a first value that was given and not read yet. Rows of one path must be adjacent.
void add_given(StateTensors& into, const rml_parameter& p, const char* given);
// Gives the first values in the file to the parameters.
void give_again(const rml_program& program, void* state, const StateFile& from, GivenParameters& given);

}  // namespace rml::rt

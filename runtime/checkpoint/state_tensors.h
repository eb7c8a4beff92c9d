// A program's state as named tensors, and back, as units and queues have it: for what has no beginning (anchor.h).
//
//   cell      NAME           its value; of a parameter, NAME is its path, and there is none as long as
//                            its first value has not been looked at
//   queue     NAME           the elements in use, oldest first
//             NAME counts    elements pushed so far, then how far each reader is
//   unit      NAME           its cycle; of a segment also length and the cycle at which it began
//   array     NAME           one element per instant of the segment so far
//   parameter given PATH     what was given and has not been looked at
//
//   a picture "curve NAME"   (not of the state: see monitor/series.h)
//
// Capacities are not part of it: buffers are as large as what they hold needs. Of a program that runs on demand a state
// is something else (demand_tensors.h).
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

// Tensors whose pieces point into the state and into `owned`.
struct StateTensors {
  std::vector<TensorOut> tensors;
  std::deque<std::vector<std::int64_t>> owned;
  std::vector<std::string> unbegun;  // parameters without a value yet
  std::int64_t begins = -1;          // where it goes on from a cycle: that one
  std::vector<std::string> open;     // … memories whose value then is not known
};

// What the metadata of a state says that goes on from a cycle: of which memories it does not tell the first value, or
// the value.
struct BeginningOfState {
  std::int64_t begins = 0;
  std::vector<std::string> unbegun, open;
  bool all_rows = false;  // all that were known have been handed out
};

// Every complete row has been popped, and the state is not faulted.
StateTensors state_tensors(const rml_program& program, const void* state);

// Elements that lie behind parameter slots; they must outlive the state.
class GivenParameters {
 public:
  // A copy of the elements, into every slot of the path. rows: those of the program with this path.
  void give(const rml_program& program, void* state, const std::string& path, const void* elements);
  // Room for the elements of a parameter that is given then, aligned for any dtype.
  void* room(std::uint64_t bytes);

 private:
  struct Free {
    void operator()(void* block) const;
  };
  std::vector<std::unique_ptr<void, Free>> blocks_;
};

// Names, types and kinds of everything in the state, as one number.
std::uint64_t state_identity(const rml_program& program);

// Into a state fresh from init; unbegun as state_tensors gave it. Throws Failure that names what differs or cannot be.
void restore_state(const rml_program& program, void* state, StateFile& from, const std::vector<std::string>& unbegun,
                   const CyclesOfState& cycles, GivenParameters& given);

// What was given to a parameter and has not been looked at; rows of one path are adjacent.
void add_given(StateTensors& into, const rml_parameter& p, const char* given);
// What the file has been given for parameters.
void give_again(const rml_program& program, void* state, const StateFile& from, GivenParameters& given);

}  // namespace rml::rt

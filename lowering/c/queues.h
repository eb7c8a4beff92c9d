// Queues between units: rings of NODE_SEGMENT elements in the state. Each has a count of the elements pushed so far,
// and for each reader a count of the elements that it has taken.
//
//   state->queue_x[state->queue_x_taken[0] % NODE_SEGMENT]
#pragma once

#include <set>
#include <string>
#include <vector>

#include "lowering/c/scope.h"

namespace rml::c99 {

class Queues {
 public:
  explicit Queues(File&);

  // The name of the function that pushes an element; empty if the queue has no reader.
  std::string push(QueueId);
  Source front(QueueId, std::uint32_t reader) const;
  std::string waiting(QueueId, std::uint32_t reader) const;
  // Sets the counts of readers that skip their first elements.
  void set_initial(Code&) const;
  // The parameter with the element that the caller gave in this cycle.
  const std::string& passed(QueueId q) const { return names_[q.index].passed; }
  // The name that the queue has in NODE_push.
  const std::string& given(QueueId q) const { return names_[q.index].given; }
  bool passes(QueueId q) const { return file_.steps.queues[q.index].passing; }
  const std::string& functions() const { return functions_.text(); }

 private:
  struct Ring {
    std::string elements, pushed, taken, passed, given, function;
  };
  std::string slowest(const steps::QueueInfo&, const Ring&) const;
  void write_function(const steps::QueueInfo&, const Ring&);

  File& file_;
  std::vector<Ring> names_;
  Code functions_;
  bool has_least_ = false;
};

}  // namespace rml::c99

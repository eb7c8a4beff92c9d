// What is known of a condition at the first, interior, last or single instant of a segment.
//
// At last and single instants the cut holds; at first and interior
// ones the cut does not, nor what holds only where the cut does. One instant before a first or single instant the cut
// held, or there was none; one instant before an interior or last one it did not hold: where the cut is `post r`, `r`
// holds at no interior and no last instant. Everything else follows through not, and, or, when, merge, fby and post.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "semantics/core/dependence.h"
#include "semantics/values/truth.h"

namespace rml {

// Classes of instants in a segment, as a bit set.
enum : std::uint8_t { first_instant = 1, interior_instant = 2, last_instant = 4, single_instant = 8, any_instant = 15 };
// A first or interior one at which, for the first time, what holds only where the cut does holds without it.
enum : std::uint8_t { broken_first = 16, broken_interior = 32 };

// Truth of a Boolean value in a class of instants, given a cut: yes, no, or varies. What
// depends on itself is first taken for true and false alike, then for whatever else it is
// found to be: the answer does not depend on the order of the questions. Each question is
// worked out when it is first asked, and remembered.
class ClassFacts {
 public:
  ClassFacts(const DependenceGraph& graph, ClockId clock, Literal cut, const std::vector<Literal>& only_at_cut);
  Truth truth(ValueId condition, std::uint8_t instant_class);
  // What is assumed and what it implies exclude each other.
  bool contradictory() const { return ends_.never || others_.never; }
  // False if some literal is known to be false there.
  bool possible(const Guard&, std::uint8_t instant_class);

 private:
  // A value in a class of instants. What is found of it is found anew when what was found of another, of which it made
  // use, changes.
  using Question = std::uint64_t;
  struct Known {
    Truth truth = Truth::unseen;
    std::vector<Question> users;
  };
  static Question question(ValueId v, std::uint8_t c) { return (std::uint64_t{v.index} << 6) | c; }
  void suppose(Guard&, Literal, const std::vector<Literal>& given) const;
  // For the question that is being answered: what is found so far of another.
  Truth at(ValueId condition, std::uint8_t instant_class);
  Truth joined(ValueId condition, std::uint8_t a, std::uint8_t b);
  void answer_open();
  void set(Question, Truth);
  Truth find_truth(ValueId condition, std::uint8_t instant_class);
  Truth follow(Literal condition, std::uint8_t instant_class);
  void find_later();
  Truth said_by(const Guard&, ValueId) const;

  const DependenceGraph& graph_;
  ClockId clock_;
  Guard ends_;    // holds at last and single instants, with what follows
  Guard others_;  // holds at first and interior ones
  Guard broken_;  // the same where what is assumed is not so
  Guard later_;   // holds at interior and last ones, for it was so of the next instant before
  // The same where the cut, which may be on a slower clock, is present; and what says that it is.
  Guard others_with_cut_, cut_present_;
  std::unordered_map<Question, Known> known_;
  std::vector<Question> open_;   // to be found, or found again
  std::vector<Question> asked_;  // since the last one from outside
  Question answering_ = 0;
};

}  // namespace rml

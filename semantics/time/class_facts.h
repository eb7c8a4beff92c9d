// Truth of conditions at the first, interior, last or single instant of a segment.
//
// At last and single instants the cut holds. At first and interior instants neither the cut
// holds, nor a condition that holds only where the cut does. One instant before a first or single
// instant the cut held, or there was no instant. One instant before an interior or last instant
// it did not hold; so if the cut is `post r`, `r` holds at no interior and no last instant. All
// other facts follow through not, and, or, when, merge, fby and post.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "semantics/core/dependence.h"
#include "semantics/values/truth.h"

namespace rml {

// Classes of instants in a segment, as a bit set.
enum : std::uint8_t { first_instant = 1, interior_instant = 2, last_instant = 4, single_instant = 8, any_instant = 15 };
// The first or interior instant at which an assumption (a condition holds only where the cut
// does) fails for the first time.
enum : std::uint8_t { broken_first = 16, broken_interior = 32 };

// Truth of a Boolean value in a class of instants, given a cut: yes, no, or varies. A value that
// depends on itself first counts as both true and false, then as the truth found for it, so the
// result does not depend on the order of queries. Results are computed at the first query and
// stored.
class ClassFacts {
 public:
  ClassFacts(const DependenceGraph& graph, ClockId clock, Literal cut, const std::vector<Literal>& only_at_cut);
  Truth truth(ValueId condition, std::uint8_t instant_class);
  // True if the assumptions and their consequences contradict each other.
  bool contradictory() const { return ends_.never || others_.never; }
  // False if some literal of the guard is known to be false in the class.
  bool possible(const Guard&, std::uint8_t instant_class);

 private:
  // A value in a class of instants. Its truth is recomputed when the truth of another question
  // that it depends on changes.
  using Question = std::uint64_t;
  struct Known {
    Truth truth = Truth::unseen;
    std::vector<Question> users;
  };
  static Question question(ValueId v, std::uint8_t c) { return (std::uint64_t{v.index} << 6) | c; }
  void suppose(Guard&, Literal, const std::vector<Literal>& given) const;
  // The truth found so far; records the current question as a user.
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
  Guard ends_;    // literals that hold at last and single instants, with their consequences
  Guard others_;  // literals that hold at first and interior instants, with their consequences
  Guard broken_;  // literals that hold at instants where an assumption fails
  Guard later_;   // literals at interior and last instants, known from look-ahead one instant earlier
  // others_ where the cut is present (its clock may be slower), and the literals of its clock.
  Guard others_with_cut_, cut_present_;
  std::unordered_map<Question, Known> known_;
  std::vector<Question> open_;   // questions whose answers are to be computed (again)
  std::vector<Question> asked_;  // questions since the last query from outside
  Question answering_ = 0;
};

}  // namespace rml

// Boolean functions as binary decision diagrams; equal functions are shared. Their variables are
// called letters, and are numbered.
//
// A diagram tests letters in the order of their numbers. Its size is limited. Once the limit is
// exceeded (spent()), results are meaningless and the caller must do without them.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace rml {

class BooleanFunctions {
 public:
  struct Function {
    std::uint32_t node = 0;
    friend bool operator==(Function, Function) = default;
    friend auto operator<=>(Function, Function) = default;
  };
  static constexpr Function no{0}, yes{1};

  // The first letter that a function tests, unless it is a constant, and the remaining function
  // for each value.
  struct Question {
    std::uint32_t letter;
    Function if_yes, if_no;
    friend bool operator==(const Question&, const Question&) = default;
  };

  BooleanFunctions() : questions_(2, {UINT32_MAX, no, no}) {}

  Function letter(std::uint32_t number) { return make({number, yes, no}); }
  Function choice(Function condition, Function if_yes, Function if_no);
  Function negation(Function f) { return choice(f, no, yes); }
  Function both(Function a, Function b) { return choice(a, b, no); }
  Function either(Function a, Function b) { return choice(a, yes, b); }
  Function differ(Function a, Function b) { return choice(a, negation(b), b); }

  // The function with the letter replaced by another function.
  Function with(Function f, std::uint32_t letter, Function by);
  // True where f is true for some value of the letter.
  Function for_either(Function f, std::uint32_t letter) { return either(with(f, letter, yes), with(f, letter, no)); }

  // A function, as simple as possible, that equals f where `care` is true.
  Function where(Function f, Function care);

  const Question& operator[](Function f) const { return questions_[f.node]; }
  // The letters that f depends on, sorted.
  std::vector<std::uint32_t> letters(Function f) const;
  bool spent() const { return questions_.size() > max_nodes; }

 private:
  static constexpr std::size_t max_nodes = 20'000;
  struct Hash {
    std::size_t operator()(const Question& q) const {
      return (q.letter * 0x9e3779b97f4a7c15u ^ q.if_yes.node) * 0x9e3779b97f4a7c15u ^ q.if_no.node;
    }
  };
  Function make(const Question&);
  Function where(Function f, Function care, std::unordered_map<std::uint64_t, Function>& known);
  Function part(Function f, std::uint32_t letter, bool answer) const;

  std::vector<Question> questions_;  // question of each node; the first two nodes are the constants
  std::unordered_map<Question, std::uint32_t, Hash> nodes_;
  std::unordered_map<Question, Function, Hash> choices_;  // nodes, found by their condition and branches
};

}  // namespace rml

// Each equation applies one operator to variables and the input p. The output divides under
// conditions of these variables. The division can fail, so it is moved into branches, and its
// guards are built from the variables.
//
//   a: bool = merge p (b when p) (a when not p);   b: bool = if a then post b else p;
//   o = if a then (if b then k / n else 1) else 0;
//
// Other programs are on a clock that never ticks, which only a search can prove. There every
// value may need itself through any operator, and some dependence cycles are broken by no choice
// of branches. Some of these cycles contain numbers.
//
//   c = (p or q) and (not p and not q);   a: bool when c = if u then not b else not b;   r: f64[2] when c = r + w;
#include "fuzz/generate_booleans.h"

#include <iterator>
#include <random>
#include <string_view>
#include <vector>

namespace rml::fuzz {

namespace {

using Texts = std::vector<std::string>;

// Returns all right-hand sides over these names.
Texts right_hand_sides(const Texts& names) {
  Texts out;
  const std::string& p = names[0];
  for (const std::string& a : names) {
    for (const char* of_one : {"not ", "true fby ", "false fby ", "post ", "not post "}) out.push_back(of_one + a);
    for (const std::string& b : names) {
      for (const char* of_two : {" fby ", " == "}) out.push_back(a + of_two + b);
      if (a < b)
        for (const char* of_two : {" and ", " or "}) out.push_back(a + of_two + b);
      out.push_back("if " + a + " then post " + b + " else " + a);
      out.push_back("merge " + p + " (" + a + " when " + p + ") (not (" + b + " when not " + p + "))");
      out.push_back("merge " + a + " (post (" + b + " when " + a + ")) (" + p + " when not " + a + ")");
      out.push_back("merge " + a + " (" + p + " when " + a + ") (false fby (" + b + " when not " + a + "))");
      for (const std::string& c : names) {
        out.push_back("if " + a + " then " + b + " else " + c);
        out.push_back("merge " + a + " (" + b + " when " + a + ") (" + c + " when not " + a + ")");
      }
    }
  }
  return out;
}

struct Forms {
  Texts names, sides;
};

// The forms of programs with this number of equations.
const Forms& forms(std::size_t equations) {
  static const std::vector<Forms> all = [] {
    std::vector<Forms> made;
    Texts names = {"p"};
    for (const char* name : {"a", "b", "c", "d"}) {
      names.emplace_back(name);
      made.push_back({names, right_hand_sides(names)});
    }
    return made;
  }();
  return all[equations - 1];
}

std::string program(const Forms& from, const std::vector<std::size_t>& chosen) {
  std::string text = "node main(p: bool, k: i32, n: i32) -> (o: i32)\n";
  std::string yielded = "k / n";
  for (std::size_t q = chosen.size(); q-- > 0;)
    yielded = "if " + from.names[q + 1] + " then (" + yielded + ") else " + std::to_string(q);
  for (std::size_t q = 0; q < chosen.size(); ++q)
    text += "  " + from.names[q + 1] + ": bool = " + from.sides[chosen[q]] + ";\n";
  return text + "  o = " + yielded + ";\n";
}

// Right-hand sides of vectors; each $ is replaced by a vector.
constexpr std::string_view vectors[] = {"$ + $",
                                        "$ - $",
                                        "$ * $",
                                        "$ / $",
                                        "-$",
                                        "exp($)",
                                        "log($)",
                                        "log(exp($))",
                                        "log(softmax($))",
                                        "log(1.0 + $)",
                                        "1.0 - sigmoid($)",
                                        "exp($) - 1.0",
                                        "($ / exp($)) * exp($)",
                                        "maximum($, $)",
                                        "sum($) + $",
                                        "mean($ * $) + $",
                                        "[$[0], $[1]]",
                                        "[$[0], 0.0] + [0.0, $[1]]",
                                        "concat($[:1], $[1:])",
                                        "reshape([2], $)",
                                        "select($ > $, $, $)",
                                        "cast(f64, cast(f32, $))",
                                        "matmul(full([2, 2], 1.0), $)",
                                        "$ + ($ + $)",
                                        "0.0 fby $",
                                        "post $",
                                        "if a then $ else $",
                                        "$[::-1]",
                                        "abs($ * $)",
                                        "sqrt($)"};

class NeverThere {
 public:
  explicit NeverThere(std::uint64_t number) : random_(number) {}

  std::string run() {
    static const Texts names = {"u", "a", "b"};
    static const Texts sides = right_hand_sides(names);
    std::string text =
        "node main(p: bool, q: bool, x: f64[2], k: i32, n: i32) -> (o: i32)\n"
        "  c = (p or q) and (not p and not q);\n  u = p when c;\n  w = x when c;\n";
    for (const char* name : {"a", "b"}) {
      const std::string& side = sides[random_() % sides.size()];
      text += std::string("  ") + name + ": bool when c = " + chosen(side) + ";\n";
    }
    for (const char* name : {"r", "s"}) {
      const std::string side = vector();
      text += std::string("  ") + name + ": f64[2] when c = " + chosen(side) + ";\n";
    }
    return text +
           "  t: i32 when c = if a then (if b then (k when c) / (n when c) else cast(i32, r[0])) else cast(i32, "
           "s[1]);\n"
           "  o = merge c t (k when not c);\n";
  }

 private:
  // A later pass merges equal branches, and then their contents.
  std::string chosen(const std::string& side) {
    switch (random_() % 3) {
      case 0:
        return side;
      case 1:
        return "if u then " + side + " else " + side;
      default:
        return "merge u ((" + side + ") when u) ((" + side + ") when not u)";
    }
  }
  std::string vector() {
    std::string text;
    for (const char c : vectors[random_() % std::size(vectors)]) {
      static constexpr const char* names[] = {"r", "s", "w"};
      if (c == '$')
        text += names[random_() % 3];
      else
        text += c;
    }
    return text;
  }

  std::mt19937_64 random_;
};

}  // namespace

std::uint64_t boolean_pairs() { return forms(2).sides.size() * forms(2).sides.size(); }

std::string boolean_program(std::uint64_t number) {
  const std::size_t sides = forms(2).sides.size();
  if (number < boolean_pairs()) return program(forms(2), {number / sides, number % sides});
  if (number % 2 == 0) return NeverThere(number).run();
  std::mt19937_64 random(number);
  const Forms& from = forms(3 + random() % 2);
  std::vector<std::size_t> chosen;
  for (std::size_t q = 1; q < from.names.size(); ++q) chosen.push_back(random() % from.sides.size());
  return program(from, chosen);
}

}  // namespace rml::fuzz

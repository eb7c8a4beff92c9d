// A few nodes, each of which calls nodes before it, at every cycle or within a branch. The node
// main calls the last ones. A condition is mostly the output of an instance in the previous
// cycle. Some nodes keep a matrix of integers, whose product takes long enough to be its own
// stage in a network and is the same in any order of additions.
//
//   b = false fby o;  o, v = f1(x, p);  w = merge b (f0v((x when b), (p when b))) (x when not b);
#include "fuzz/generate_instances.h"

#include <random>
#include <vector>

namespace rml::fuzz {

namespace {

class Instances {
 public:
  explicit Instances(std::uint64_t seed) : random_(seed) {}

  GeneratedProgram run() {
    GeneratedProgram out;
    out.cycles = 4 + pick(20);
    const int nodes = 2 + pick(3);
    for (int k = 0; k < nodes; ++k) out.source += node("f" + std::to_string(k), k);
    out.source += node("main", nodes);
    ChronogramRow x{"x", {}}, p{"p", {}};
    for (std::int64_t c = 0; c < out.cycles; ++c) {
      x.cells.push_back({Presence::present, Tensor::scalar(DType::i32, std::int32_t{pick(9) - 3})});
      p.cells.push_back({Presence::present, Tensor::boolean(chance(50))});
    }
    out.inputs = {std::move(x), std::move(p)};
    return out;
  }

 private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  bool chance(int percent) { return pick(100) < percent; }
  const std::string& one_of(const std::vector<std::string>& pool) {
    return pool[static_cast<std::size_t>(pick(static_cast<int>(pool.size())))];
  }
  std::string fresh(const char* prefix) { return prefix + std::to_string(next_++); }

  // The numbers and Booleans defined so far may be used at the same cycle, all others at the
  // previous one.
  std::string number() { return chance(20) ? std::to_string(pick(7)) : one_of(numbers_); }
  std::string truth() {
    if (chance(25)) return "(" + number() + " < " + number() + ")";
    return (chance(20) ? "(not " : "(") + one_of(truths_) + ")";
  }

  void define(const std::string& text) { body_ += "  " + text + ";\n"; }

  // Calls a node at every cycle, or in a branch of a condition; the other branch may call another
  // instance.
  void call(int callees) {
    const std::string f = "f" + std::to_string(pick(callees));
    const std::string o = fresh("o"), v = fresh("v");
    if (chance(35)) {
      define(o + ", " + v + " = " + f + "(" + number() + ", " + truth() + ")");
    } else {
      const std::string c = fresh("c");
      define(c + ": bool = " + (chance(75) ? (chance(50) ? "true" : "false") + (" fby " + later()) : truth()));
      const bool positive = chance(50);
      const std::string in = positive ? " when " + c : " when not " + c;
      const std::string elsewhere = positive ? " when not " + c : " when " + c;
      const auto sampled = [&](const std::string& value, const std::string& when) { return "(" + value + when + ")"; };
      define(o + "_in, " + v + "_in = " + f + "(" + sampled("(" + number() + ")", in) + ", " + sampled(truth(), in) +
             ")");
      std::string o_else = sampled(truth(), elsewhere), v_else = sampled("(" + number() + ")", elsewhere);
      if (chance(40)) {
        const std::string g = "f" + std::to_string(pick(callees));
        define(o + "_out, " + v + "_out = " + g + "(" + v_else + ", " + o_else + ")");
        o_else = o + "_out", v_else = v + "_out";
      }
      const auto merged = [&](const std::string& a, const std::string& b) {
        return "merge " + c + " (" + (positive ? a : b) + ") (" + (positive ? b : a) + ")";
      };
      define(o + " = " + merged(o + "_in", o_else));
      define(v + " = " + merged(v + "_in", v_else));
    }
    truths_.push_back(o), numbers_.push_back(v);
  }

  // Returns a Boolean of the node. It is used delayed, so its definition may follow.
  std::string later() { return chance(60) ? "result" : one_of(truths_); }

  void matrix() {
    const std::string h = fresh("h"), s = fresh("s"), n = std::to_string(8 << pick(4));
    define(h + ": i32[" + n + ", " + n + "] = full([" + n + ", " + n + "], 1) fby matmul(" + h + " - " + s + ", " + h +
           ") % 7 + " + number());
    define(s + ": i32 = sum(" + h + ") % 5");
    numbers_.push_back(s);
  }

  std::string node(const std::string& name, int callees) {
    numbers_ = {"x"}, truths_ = {"p"}, body_.clear();
    for (int k = 1 + pick(4); k > 0; --k) {
      const int kind = pick(10);
      if (kind < 2) {
        matrix();
      } else if (kind < 4 || callees == 0) {
        const std::string r = fresh("r");
        define(r + ": i32 = " + std::to_string(pick(5)) + " fby (if " + later() + " then " + r + " + " + number() +
               " else " + number() + ")");
        numbers_.push_back(r);
      } else {
        call(callees);
      }
    }
    define("result = " + truth() + (chance(50) ? " != " : " or ") + truth());
    define("value = " + number() + " + " + number() + " * 2");
    return "node " + name + "(x: i32, p: bool) -> (result: bool, value: i32)\n" + body_;
  }

  std::mt19937_64 random_;
  int next_ = 0;
  std::vector<std::string> numbers_, truths_;
  std::string body_;
};

}  // namespace

GeneratedProgram generate_instances(std::uint64_t seed) { return Instances(seed).run(); }

}  // namespace rml::fuzz

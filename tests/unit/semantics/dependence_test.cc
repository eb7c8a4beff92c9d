// Guards of random Booleans that depend on each other in any way. Their literals are found, and
// stripping negations ends, even on cycles of negations.
#include <gtest/gtest.h>

#include <random>

#include "semantics/core/dependence.h"

namespace rml {
namespace {

// Values 0 and 1 are an input and a constant; the operands of the others are arbitrary.
Core random_booleans(std::uint32_t seed) {
  std::mt19937 random(seed);
  const std::uint32_t count = 3 + random() % 12;
  const auto any = [&] { return "%" + std::to_string(random() % count); };
  std::string text = "core f\ninstance 0 node 0\nclock base\n%0: bool = input 0\n%1: bool = const T\n";
  for (std::uint32_t v = 2; v < count; ++v) {
    text += "%" + std::to_string(v) + ": bool = ";
    switch (random() % 6) {
      case 0:
        text += "logical_and " + any() + " " + any();
        break;
      case 1:
        text += "logical_or " + any() + " " + any();
        break;
      case 2:
        text += "fby %1 " + any();
        break;
      default:
        text += "logical_not " + any();
    }
    text += "\n";
  }
  text += "input p = %0\noutput o = %2\n";
  std::string error;
  std::optional<Core> core = read_core(text, error);
  EXPECT_EQ(error, "");
  return core.value_or(Core{});
}

bool is_negation(const Core& core, ValueId v) {
  const auto* a = std::get_if<core::Apply>(&core[v].rhs);
  return a != nullptr && operators()[a->op].name == "logical_not";
}

TEST(Guards, end_where_negations_go_round) {
  int rings = 0;
  for (std::uint32_t seed = 0; seed < 2000; ++seed) {
    const Core core = random_booleans(seed);
    const DependenceGraph graph(core);
    for (std::uint32_t v = 0; v < core.values.size(); ++v) {
      const Literal l = graph.strip({ValueId{v}, true});
      if (is_negation(core, l.condition)) {
        ++rings;
        ValueId at = l.condition;  // on a cycle it returns within as many steps as there are values
        std::size_t steps = 0;
        do {
          at = std::get<core::Apply>(core[at].rhs).operands[0];
          ASSERT_TRUE(is_negation(core, at)) << seed;
          ASSERT_LE(++steps, core.values.size()) << seed;
        } while (at != l.condition);
      }
      for (const bool positive : {true, false}) {
        Guard g;
        graph.add(g, {ValueId{v}, positive});
        EXPECT_LE(g.literals.size(), core.values.size()) << seed;
        for (const Literal& found : g.literals)
          EXPECT_TRUE(g.never || !g.contains({found.condition, !found.positive})) << seed;
      }
    }
  }
  EXPECT_GT(rings, 1000);
}

// Values 0 to 599 are Boolean inputs. A guard keeps 500 of their literals, and contradictions to these are found.
TEST(Guards, have_a_limit) {
  constexpr std::size_t inputs = 600, kept = 500;
  std::string text = "core f\ninstance 0 node 0\nclock base\n", ports;
  for (std::size_t v = 0; v < inputs; ++v) {
    text += "%" + std::to_string(v) + ": bool = input " + std::to_string(v) + "\n";
    ports += "input c" + std::to_string(v) + " = %" + std::to_string(v) + "\n";
  }
  std::string error;
  const std::optional<Core> core = read_core(text + ports + "output o = %0\n", error);
  ASSERT_EQ(error, "");
  const DependenceGraph graph(*core);
  Guard g;
  for (std::size_t v = 0; v < inputs; ++v) graph.add(g, {ValueId{v}, true});
  EXPECT_EQ(g.literals.size(), kept);
  EXPECT_FALSE(g.never);
  graph.add(g, {ValueId{kept - 1}, false});
  EXPECT_TRUE(g.never);
}

}  // namespace
}  // namespace rml

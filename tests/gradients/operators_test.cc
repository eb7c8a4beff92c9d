// Compares every derivative in the operator table with central differences. A program with one
// application is differentiated by `diff`, within every construct for streams.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "gradients/check_source.h"
#include "gradients/operator_cases.h"
#include "semantics/operators/operator.h"

namespace rml::gradients {

namespace {

constexpr const char* names[] = {"p", "q", "r"};

// A program around an application. In its text, $E is the application over p, q, r; $inputs
// declares p_in, q_in, r_in; $bind[…] binds p, q, r to these, each followed by ….
struct Construct {
  const char* name;
  const char* text;
};

void PrintTo(const Construct& c, std::ostream* out) { *out << c.name; }

constexpr Construct constructs[] = {
    {"alone", "node f($inputs) -> (y)\n$bind[]  y = $E;\n"},
    {"when", "node f(c: bool, $inputs) -> (y)\n$bind[ when c]  y = $E;\n"},
    {"when_after", "node f(c: bool, $inputs) -> (y)\n$bind[]  y = ($E) when not c;\n"},
    {"merge", "node f(c: bool, $inputs) -> (y)\n$bind[ when c]  y = merge c ($E) 0.25;\n"},
    {"merge_else", "node f(c: bool, $inputs) -> (y)\n$bind[ when not c]  y = merge c 0.25 ($E);\n"},
    {"merge_in_merge",
     "node f(c: bool, d: bool, $inputs) -> (y)\n  e = d when c;\n$bind[ when c when e]"
     "  y = merge c (merge e ($E) 0.25) 0.5;\n"},
    {"if", "node f(c: bool, $inputs) -> (y)\n$bind[]  y = if c then $E else 0.25;\n"},
    {"if_in_if", "node f(c: bool, d: bool, $inputs) -> (y)\n$bind[]  y = if c then 0.25 else if d then $E else 0.5;\n"},
    {"fby", "node f($inputs) -> (y)\n$bind[]  y = 0.25 fby $E;\n"},
    {"fby_first", "node f($inputs) -> (y)\n$bind[]  y = ($E) fby 0.25;\n"},
    {"fby_of_when", "node f(c: bool, $inputs) -> (y)\n$bind[ when c]  y = merge c (0.25 fby $E) 0.5;\n"},
    {"post", "node f($inputs) -> (y)\n$bind[]  y = post ($E);\n"},
    {"fby_end", "node f(end: bool, $inputs) -> (y)\n$bind[]  y = fby_end(end, 0.25, $E);\n"},
    {"fby_end_first", "node f(end: bool, $inputs) -> (y)\n$bind[]  y = fby_end(end, $E, 0.25);\n"},
    {"post_end", "node f(end: bool, $inputs) -> (y)\n$bind[]  y = post_end(end, 0.25, $E);\n"},
    {"backfill", "node f(end: bool, $inputs) -> (y)\n$bind[]  y = backfill($E, end);\n"},
    {"state_with_reset",
     "node f(end: bool, $inputs) -> (y)\n$bind[]  e = $E;\n"
     "  y = e + 0.5 * fby_end(end, zeros_like(e), y);\n"},
    {"state_backward",
     "node f(end: bool, $inputs) -> (y)\n$bind[]  e = $E;\n"
     "  y = e + 0.5 * post_end(end, zeros_like(e), y);\n"},
    {"instance", "node g($names) -> (y)\n  y = $E;\nnode f($inputs) -> (y)\n$bind[]  y = g($names);\n"},
    {"sampled_instance",
     "node g($names) -> (y)\n  y = $E;\n"
     "node f(c: bool, $inputs) -> (y)\n$bind[ when c]  y = merge c g($names) 0.25;\n"},
    {"two_instances",
     "node g($names) -> (y)\n  y = $E;\n"
     "node f(c: bool, $inputs) -> (y)\n$bind[]  y = if c then g($names) else 2.0 * g($names);\n"},
    {"parameters", "node f($inputs) -> (y)\n$hold[]  y = $E;\n"},
    {"held_parameters", "node f(end: bool, $inputs) -> (y)\n$hold[end]  y = $E;\n"},
};

void replace(std::string& text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
}

bool is_float_type(std::string_view type) { return type.starts_with("f64"); }

std::string program(const OperatorCase& of, const Construct& in) {
  std::string inputs, list, text = in.text;
  for (std::size_t k = 0; k < of.types.size(); ++k) {
    const std::string name = names[k];
    inputs += (k > 0 ? ", " : "") + name + "_in: " + std::string(of.types[k]);
    list += (k > 0 ? ", " : "") + name;
  }
  if (const std::size_t at = text.find("$bind["); at != std::string::npos) {
    const std::size_t close = text.find(']', at);
    const std::string clock = text.substr(at + 6, close - at - 6);
    std::string bind;
    for (std::size_t k = 0; k < of.types.size(); ++k)
      bind += std::string("  ") + names[k] + " = " + names[k] + "_in" + clock + ";\n";
    text.replace(at, close + 1 - at, bind);
  }
  for (const bool held : {false, true}) {
    std::string bind;
    for (std::size_t k = 0; k < of.types.size(); ++k) {
      const std::string in_name = std::string(names[k]) + "_in";
      const std::string value = !is_float_type(of.types[k]) ? in_name
                                : held                      ? "param_end(end, param(" + in_name + "))"
                                                            : "param(" + in_name + ")";
      bind += std::string("  ") + names[k] + " = " + value + ";\n";
    }
    replace(text, held ? "$hold[end]" : "$hold[]", bind);
  }
  std::string gradients;
  for (std::size_t k = 0; k < of.types.size(); ++k)
    if (is_float_type(of.types[k])) gradients += (gradients.empty() ? "d" : ", d") + std::string(names[k]);
  replace(text, "$gradients", gradients);
  replace(text, "$inputs", inputs);
  replace(text, "$names", list);
  replace(text, "$E", of.expression());
  return text;
}

// True if an argument mentions a float among p, q, r.
bool varies(const OperatorCase& c, std::string_view argument) {
  for (std::size_t k = 0; k < c.types.size(); ++k) {
    const char* name = names[k];
    for (std::size_t at = 0; (at = argument.find(name, at)) != std::string_view::npos; ++at) {
      const auto letter = [&](std::size_t i) {
        return i < argument.size() &&
               (std::isalnum(static_cast<unsigned char>(argument[i])) != 0 || argument[i] == '_');
      };
      if (is_float_type(c.types[k]) && !letter(at + 1) && (at == 0 || !letter(at - 1))) return true;
    }
  }
  return false;
}

// Returns the positions of the parameters whose derivative a case uses.
std::set<std::size_t> exercised(const OperatorInfo& info, const OperatorCase& c) {
  std::set<std::size_t> found;
  std::size_t variadic = 0;
  while (variadic < info.parameters.size() && !info.parameters[variadic].variadic) ++variadic;
  for (std::size_t k = 0; k < c.arguments.size(); ++k)
    if (varies(c, c.arguments[k])) found.insert(std::min(k, variadic));
  return found;
}

TEST(Operators, all_derivatives_have_cases) {
  for (std::size_t id = 0; id < operators().size(); ++id) {
    const OperatorInfo& info = operators()[static_cast<OperatorId>(id)];
    std::set<std::size_t> covered;
    for (const OperatorCase& c : operator_cases())
      if (c.op == info.name) covered.merge(exercised(info, c));
    std::size_t operand = 0;
    for (std::size_t k = 0; k < info.parameters.size(); ++k) {
      if (info.parameters[k].kind != ParameterKind::operand) continue;
      const std::string_view rule = info.vjp.at(operand++);
      const bool floats = (info.parameters[k].dtype.allowed & bit(DType::f64)) != 0;
      if (!floats || rule.starts_with("none: ")) continue;
      EXPECT_TRUE(covered.contains(k)) << "no case for `" << info.parameters[k].name << "` of `" << info.name << "`";
    }
  }
}

TEST(Operators, cases_name_operators) {
  for (const OperatorCase& c : operator_cases()) EXPECT_TRUE(operators().find(c.op).has_value()) << c.op;
}

TEST(Operators, what_has_jumps_is_refused) {
  int jumping = 0;
  for (std::size_t id = 0; id < operators().size(); ++id) {
    const OperatorInfo& info = operators()[static_cast<OperatorId>(id)];
    if (info.vjp.empty() || !info.vjp[0].starts_with("none: the result is constant between jumps")) continue;
    ++jumping;
    const auto checked = check_source("node f(x: f64) -> (y)\n  y = " + std::string(info.name) + "(x);\n", 3, 1);
    EXPECT_NE(checked.wrong.find("error[E0601]: no gradient flows through `" + std::string(info.name) + "`"),
              std::string::npos)
        << checked.wrong;
  }
  EXPECT_EQ(jumping, 5);  // the operators with jumps: sign, floor, ceil, round, trunc
}

// Returns two cases of each operator for each set of parameters whose derivatives they use. For
// elementwise operators, one has scalars and the other has tensors that broadcast to each other.
std::vector<const OperatorCase*> representatives() {
  std::map<std::pair<std::string_view, std::set<std::size_t>>, std::vector<const OperatorCase*>> groups;
  for (const OperatorCase& c : operator_cases()) {
    auto& group = groups[{c.op, exercised(operators()[operators().require(c.op)], c)}];
    if (group.size() == 2) group.pop_back();
    group.push_back(&c);
  }
  std::vector<const OperatorCase*> list;
  for (const auto& [key, group] : groups) list.insert(list.end(), group.begin(), group.end());
  return list;
}

class InConstruct : public testing::TestWithParam<Construct> {};

TEST_P(InConstruct, derivatives_are_right) {
  const bool alone = std::string_view(GetParam().name) == "alone";
  std::vector<const OperatorCase*> list;
  if (alone)
    for (const OperatorCase& c : operator_cases()) list.push_back(&c);
  else
    list = representatives();
  // Excluded, because the operator sums over instances, so two instances differ from one.
  if (std::string_view(GetParam().name) == "two_instances")
    std::erase_if(list, [](const OperatorCase* c) { return c->op == "sum_over_parameters"; });
  std::uint64_t seed = 1;
  for (const OperatorCase* c : list) {
    const std::string source = program(*c, GetParam());
    const CheckedSource checked = check_source(source, 7, ++seed);
    EXPECT_EQ(checked.wrong, "") << "seed " << seed << "\n" << source;
  }
}

// Differentiates the gradient of half the square of an application once more. If there is no
// second derivative, the message must name the operator that the user wrote.
TEST(Operators, second_derivatives_are_right) {
  constexpr Construct gradient = {
      "gradient",
      "node g($names) -> (y)\n  y = $E;\n"
      "node f($inputs) -> ($gradients)\n$bind[]  _, $gradients = diff g($names, true, $E);\n"};
  constexpr std::string_view without[] = {"flows through `grid_sample`", "flows through `ctc_loss`",
                                          "by \"mul\" has no"};
  std::uint64_t seed = 1;
  for (const OperatorCase& c : operator_cases()) {
    const std::string source = program(c, gradient);
    const CheckedSource checked = check_source(source, 2, ++seed);
    const bool none = std::ranges::any_of(
        without, [&](std::string_view reason) { return checked.wrong.find(reason) != std::string::npos; });
    if (none) continue;
    EXPECT_EQ(checked.wrong, "") << "seed " << seed << "\n" << source;
  }
}

INSTANTIATE_TEST_SUITE_P(Operators, InConstruct, testing::ValuesIn(constructs),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace

}  // namespace rml::gradients

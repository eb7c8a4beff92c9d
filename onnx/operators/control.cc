// Imports If, Loop and Scan.
//
// If the condition of an If is known, only the chosen branch is written. Otherwise each branch
// becomes a node, and only one of them is computed in a cycle:
//
//     y = merge c then_branch(x when c) else_branch(x when not c)
//
// A Scan becomes the iteration of a node. The rounds of a Loop may change shapes, so they are
// written one after the other, with a known round number.
#include <algorithm>

#include "onnx/call.h"

namespace rml::onnx {

namespace {

using Integers = std::vector<std::int64_t>;

Term scalar_condition(const Call& c, const Term& x) {
  if (x.dtype != DType::boolean || x.elements() != 1)
    throw ModelError{"", "a condition must be one Boolean, not " + Builder::type_text(x.dtype, x.shape)};
  return x.rank() == 0 ? x : c.apply("reshape", {x}, {{"shape", Integers{}}});
}

bool is_true(const Term& known) { return known.value->as<std::uint8_t>()[0] != 0; }

// Defines variables for the results of a call.
std::vector<Term> results(const Call& c, const WrittenNode& node, const std::string& text) {
  std::vector<Term> terms;
  std::vector<std::string> names;
  for (const Term& y : node.outputs) {
    names.push_back(c.b.fresh(y.text));
    terms.push_back(Builder::written(names.back(), Term::atom, y.dtype, y.shape));
  }
  c.b.define(names, text);
  return terms;
}

// ---- If

// Calls the node of a branch at the cycles at which the condition is true, or false.
std::vector<Term> branch(const Call& c, const char* which, const Term& condition, bool positive) {
  const std::string sampled = (positive ? " when " : " when not ") + condition.text;
  const WrittenNode node = c.writer.node_of(c.graph(which), {}, which);
  std::vector<Term> arguments;
  for (const Term& t : node.captured) {
    const Term named = c.b.shared(t);
    arguments.push_back(Builder::written(named.text + sampled, 0, t.dtype, t.shape));
  }
  std::vector<Term> ys = results(c, node, c.b.call_text(node.name, arguments));
  if (arguments.empty())
    for (Term& y : ys) y.text = "(" + y.text + sampled + ")";
  return ys;
}

std::vector<Term> if_else(Call& c) {
  const Term condition = scalar_condition(c, c.in(0));
  if (condition.known()) return c.writer.inlined(c.graph(is_true(condition) ? "then_branch" : "else_branch"), {});
  const Term named = c.b.bind(condition, "condition");
  const std::vector<Term> yes = branch(c, "then_branch", named, true), no = branch(c, "else_branch", named, false);
  if (yes.size() != no.size()) throw ModelError{"", "the branches differ in their number of outputs"};
  std::vector<Term> outputs;
  for (std::size_t k = 0; k < yes.size(); ++k) {
    if (yes[k].dtype != no[k].dtype || yes[k].shape != no[k].shape)
      throw ModelError{"", "output " + std::to_string(k) + " is " + Builder::type_text(yes[k].dtype, yes[k].shape) +
                               " in one branch and " + Builder::type_text(no[k].dtype, no[k].shape) + " in the other"};
    outputs.push_back(
        Builder::written("merge " + named.text + " " + yes[k].text + " " + no[k].text, 0, yes[k].dtype, yes[k].shape));
  }
  return outputs;
}

// ---- Scan and Loop

void expect_same(const char* what, const Term& before, const Term& after) {
  if (before.dtype != after.dtype || before.shape != after.shape)
    throw ModelError{"", std::string(what) + " is " + Builder::type_text(before.dtype, before.shape) +
                             " before an iteration and " + Builder::type_text(after.dtype, after.shape) + " after it"};
}

// Moves the axis to the front, or moves the first axis back to its place.
Term moved(const Call& c, const Term& x, std::int64_t axis, bool to_front) {
  if (axis == 0) return x;
  Integers axes;
  for (std::int64_t k = 0; k < x.rank(); ++k) axes.push_back(k);
  const std::int64_t from = to_front ? axis : 0, to = to_front ? 0 : axis;
  axes.erase(axes.begin() + from);
  axes.insert(axes.begin() + to, from);
  return c.apply("transpose", {x}, {{"axes", axes}});
}

Term flipped(const Call& c, const Term& x, bool flip) {
  return flip ? c.apply("flip", {x}, {{"axis", Integers{0}}}) : x;
}

Term stacked(const Call& c, const std::vector<Term>& parts, std::int64_t axis) {
  std::vector<Term> rows;
  for (const Term& p : parts) rows.push_back(c.apply("expand_dims", {p}, {{"axis", Integers{axis}}}));
  return rows.size() == 1 ? rows[0] : c.apply("concat", rows, {{"axis", axis}});
}

Integers list(const Call& c, std::string_view attribute, std::size_t count) {
  Integers values = c.integers(attribute, Integers(count, 0));
  if (values.size() != count)
    throw ModelError{
        "", std::string(attribute) + " has " + std::to_string(values.size()) + " entries for " + std::to_string(count)};
  return values;
}

// A Scan: its states and sequences as terms, and the nodes into which it is written.
class Scan {
 public:
  explicit Scan(Call& c) : c_(c), body_(c.graph("body")) {
    const auto scanned = static_cast<std::size_t>(std::max<std::int64_t>(c.integer("num_scan_inputs", 0), 0));
    if (scanned == 0 || scanned > c.inputs() || body_.inputs.size() != c.inputs())
      throw ModelError{
          "", "num_scan_inputs and the inputs of the body do not fit its " + std::to_string(c.inputs()) + " inputs"};
    states_ = c.inputs() - scanned;
    if (body_.outputs.size() < states_) throw ModelError{"", "the body has fewer outputs than states"};
    outputs_ = body_.outputs.size() - states_;
    const Integers axes = list(c, "scan_input_axes", scanned);
    output_axes_ = list(c, "scan_output_axes", outputs_);
    const Integers backward = list(c, "scan_input_directions", scanned);
    output_backward_ = list(c, "scan_output_directions", outputs_);
    for (std::size_t k = 0; k < states_; ++k)
      over_.states.push_back(c.b.shared(c.in(k))), like_.push_back(over_.states.back());
    // The first sequence decides the direction; sequences of the other direction are flipped.
    over_.reverse = backward[0] != 0;
    for (std::size_t k = 0; k < scanned; ++k) add_sequence(c.in(states_ + k), axes[k], backward[k] != 0);
    if (steps_ == 0) throw ModelError{"", "a scan of no steps is not supported"};
  }

  // As a call in every cycle, which holds one step of each sequence.
  std::vector<Term> streamed() {
    if (steps_ != 1)
      throw ModelError{"", "its sequence has " + std::to_string(steps_) + " steps in a cycle, but it must have one"};
    std::vector<Term> arguments;
    for (const Term& s : over_.states)
      arguments.push_back(Builder::written(c_.b.fresh("before"), Term::atom, s.dtype, s.shape));
    const std::vector<Term> held = arguments;
    const WrittenNode step = c_.writer.node_of(body_, like_, "step");
    for (const Term& x : over_.sequences) arguments.push_back(c_.apply("squeeze", {x}, {{"axis", Integers{0}}}));
    arguments.insert(arguments.end(), step.captured.begin(), step.captured.end());
    std::vector<Term> ys = results(c_, step, c_.b.call_text(step.name, arguments));
    expect_states(ys);
    for (std::size_t k = 0; k < states_; ++k) c_.b.remember(held[k], over_.states[k], c_.b.shared(ys[k]).text);
    for (std::size_t k = states_; k < ys.size(); ++k)
      ys[k] = stacked(c_, {ys[k]}, normalized(output_axes_[k - states_], ys[k].rank() + 1));
    return ys;
  }

  // As an iteration over all steps within a cycle.
  std::vector<Term> iterated() {
    WrittenNode step = c_.writer.node_of(body_, like_, "step");
    expect_states(step.outputs);
    over_.fixed = step.captured;
    over_.stacks = outputs_ > 0;
    for (std::size_t k = states_; k < step.outputs.size(); ++k)
      step.outputs[k].shape.insert(step.outputs[k].shape.begin(), steps_);
    std::vector<Term> ys = results(c_, step, c_.b.call_text(step.name, over_));
    for (std::size_t k = 0; k < outputs_; ++k) {
      Term& y = ys[states_ + k];
      y = flipped(c_, y, (output_backward_[k] != 0) != over_.reverse);
      y = moved(c_, y, normalized(output_axes_[k], y.rank()), false);
    }
    return ys;
  }

 private:
  void add_sequence(const Term& given, std::int64_t axis, bool backward) {
    const Term x =
        c_.b.shared(flipped(c_, moved(c_, given, normalized(axis, given.rank()), true), backward != over_.reverse));
    if (steps_ >= 0 && steps_ != x.shape[0])
      throw ModelError{"",
                       "its inputs have " + std::to_string(steps_) + " and " + std::to_string(x.shape[0]) + " steps"};
    steps_ = x.shape[0];
    like_.push_back(Builder::written("", Term::atom, x.dtype, Shape(x.shape.begin() + 1, x.shape.end())));
    over_.sequences.push_back(x);
  }

  void expect_states(const std::vector<Term>& ys) const {
    for (std::size_t k = 0; k < states_; ++k) expect_same("a state", over_.states[k], ys[k]);
  }

  Call& c_;
  const Graph& body_;
  std::size_t states_ = 0, outputs_ = 0;  // numbers of states, and of outputs that are stacked
  Integers output_axes_, output_backward_;
  Builder::Iterated over_;
  std::vector<Term> like_;   // terms like the inputs of the body
  std::int64_t steps_ = -1;  // length of the sequences; -1: not known yet
};

std::vector<Term> scan(Call& c) {
  if (c.version < 9) throw ModelError{"", "Scan before operator set version 9 is not supported"};
  Scan scan(c);
  return c.b.streaming ? scan.streamed() : scan.iterated();
}

std::vector<Term> loop(Call& c) {
  constexpr std::int64_t most = 2'000;
  const Graph& body = c.graph("body");
  if (c.inputs() < 2 || body.inputs.size() != c.inputs() || body.outputs.size() + 1 < body.inputs.size())
    throw ModelError{"", "the inputs and outputs of the body do not fit its inputs"};
  const std::size_t states = body.inputs.size() - 2, outputs = body.outputs.size() - states - 1;
  const std::int64_t trips = c.has(0) ? c.known_integer(0, "the number of iterations") : most + 1;
  Term condition = c.has(1) ? scalar_condition(c, c.in(1)) : c.b.constant(Tensor::boolean(true));
  std::vector<Term> state;
  for (std::size_t k = 0; k < states; ++k) state.push_back(c.b.shared(c.in(2 + k)));
  std::vector<std::vector<Term>> collected(outputs);
  for (std::int64_t i = 0; i < trips && !(condition.known() && !is_true(condition)); ++i) {
    if (i == most) throw ModelError{"", "more than " + std::to_string(most) + " iterations are not supported"};
    if (!condition.known() && (outputs > 0 || !c.has(0)))
      throw ModelError{"", c.has(0) ? "its number of rows depends on computed values"
                                    : "its number of iterations depends on computed values, without a bound"};
    std::vector<Term> arguments{c.b.constant(Tensor::scalar(DType::i64, i)), condition};
    arguments.insert(arguments.end(), state.begin(), state.end());
    const std::vector<Term> ys = c.writer.inlined(body, arguments);
    Term next = scalar_condition(c, ys[0]);
    for (std::size_t k = 0; k < states; ++k) {
      const Term& after = ys[1 + k];
      if (condition.known()) {
        state[k] = c.b.shared(after);
        continue;
      }
      expect_same("a state of a loop that may end early", state[k], after);
      state[k] = c.b.shared(c.apply("select", {condition, after, state[k]}));
    }
    for (std::size_t k = 0; k < outputs; ++k) collected[k].push_back(c.b.shared(ys[1 + states + k]));
    condition = condition.known() ? next : c.b.shared(c.apply("logical_and", {condition, next}));
    if (!condition.known()) condition = c.b.shared(condition);
  }
  std::vector<Term> all = state;
  for (const std::vector<Term>& rows : collected) {
    if (rows.empty()) throw ModelError{"", "a loop of no iterations with outputs of its rows is not supported"};
    all.push_back(stacked(c, rows, 0));
  }
  return all;
}

}  // namespace

std::vector<Row> control_rows() {
  return {
      {"If", 1, 1, 1, -1, "then_branch:g! else_branch:g!", if_else},
      {"Scan", 8, 1, -1, -1,
       "body:g! num_scan_inputs:i! scan_input_axes:ints scan_input_directions:ints scan_output_axes:ints "
       "scan_output_directions:ints directions:ints",
       scan},
      {"Loop", 1, 0, -1, -1, "body:g!", loop},
  };
}

}  // namespace rml::onnx

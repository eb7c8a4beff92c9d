// Imports recurrent layers: LSTM, GRU and RNN.
//
// The part of a layer that depends only on its inputs is one product for all steps. A node of the
// program computes one step, from the state and the step's part of that product to the next
// state:
//
//     node lstm_cell(h, c, gates, r) -> (h_next, c_next, y)
//     h, c, y = scan lstm_cell(h_0, c_0; gates; r);
//
// After the end of a shorter sequence the state stays and the output is 0. A backward layer
// begins at the end of the shorter sequence, so before that it keeps its initial state.
#include <algorithm>
#include <functional>

#include "onnx/activation.h"
#include "onnx/call.h"

namespace rml::onnx {

namespace {

using Integers = std::vector<std::int64_t>;

std::string lower_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

// The constants that define a kind of layer.
struct Layer {
  std::int64_t gates;                      // number of gates in W, R and B
  std::int64_t states;                     // 1: h; 2: h and c
  std::vector<const char*> activations{};  // activations that are used by default
};

class Recurrent {
 public:
  Recurrent(Call& call, Layer layer) : c(call), b(call.b), layer_(std::move(layer)) {}

  std::vector<Term> write() {
    read();
    std::vector<Term> sequences;
    std::vector<std::vector<Term>> last(static_cast<std::size_t>(layer_.states));
    for (std::int64_t d = 0; d < directions_; ++d) {
      const Result result = direction(d);
      if (c.wants(0))
        sequences.push_back(apply("reshape", {result.sequence}, {{"shape", Integers{steps_, 1, batch_, hidden_}}}));
      for (std::size_t s = 0; s < last.size(); ++s)
        if (c.wants(1 + s))
          last[s].push_back(apply("reshape", {result.last[s]}, {{"shape", Integers{1, batch_, hidden_}}}));
    }
    std::vector<Term> outputs(1);
    if (c.wants(0))
      outputs[0] = directions_ == 1 ? sequences[0] : apply("concat", sequences, {{"axis", std::int64_t{1}}});
    for (const auto& of : last)
      outputs.push_back(of.empty()         ? Term{}
                        : directions_ == 1 ? of[0]
                                           : apply("concat", of, {{"axis", std::int64_t{0}}}));
    if (!batch_first_) return outputs;
    if (c.wants(0)) outputs[0] = apply("transpose", {outputs[0]}, {{"axes", Integers{2, 0, 1, 3}}});
    for (std::size_t k = 1; k < outputs.size(); ++k)
      if (c.wants(k)) outputs[k] = apply("transpose", {outputs[k]}, {{"axes", Integers{1, 0, 2}}});
    return outputs;
  }

 private:
  struct Result {
    Term sequence;           // the input, of shape [steps, batch, hidden]
    std::vector<Term> last;  // value of each state after the last step
  };

  Term apply(std::string_view op, std::vector<Term> operands, const Arguments& arguments = {}) const {
    return b.apply(op, std::move(operands), arguments);
  }
  Term number(double value) const { return b.scalar(dtype_, value); }
  Term part(const Term& x, std::int64_t axis, std::int64_t from, std::int64_t to) const {
    return b.part(x, axis, from, to);
  }
  // Returns row d of x along the leading axis, which is dropped.
  Term row(const Term& x, std::int64_t d) const {
    if (!x.known() && x.precedence == Term::atom)
      return Builder::written(x.text + "[" + std::to_string(d) + "]", Term::atom, x.dtype,
                              Shape(x.shape.begin() + 1, x.shape.end()));
    return apply("squeeze", {part(x, 0, d, d + 1)}, {{"axis", Integers{0}}});
  }
  Term gate(const Term& x, std::int64_t k) const { return part(x, x.rank() - 1, k * hidden_, (k + 1) * hidden_); }

  void expect(std::size_t k, const char* what, const Shape& shape) const {
    if (c.has(k) && c.in(k).shape != shape)
      throw ModelError{"",
                       std::string(what) + " is " + to_string(c.in(k).shape) + ", but should be " + to_string(shape)};
  }

  void read() {
    batch_first_ = c.integer("layout", 0) != 0;
    const Term& x = c.in(0);
    dtype_ = x.dtype;
    if (x.rank() != 3 || c.in(1).rank() != 3 || c.in(2).rank() != 3)
      throw ModelError{"", "X, W and R are tensors of rank 3, not " + to_string(x.shape) + ", " +
                               to_string(c.in(1).shape) + " and " + to_string(c.in(2).shape)};
    steps_ = x.shape[batch_first_ ? 1 : 0], batch_ = x.shape[batch_first_ ? 0 : 1];
    hidden_ = c.in(2).shape[2];
    const std::string way = c.text("direction", "forward");
    if (way != "forward" && way != "reverse" && way != "bidirectional")
      throw ModelError{"", "the direction '" + way + "' is not known: forward, reverse, bidirectional"};
    backward_ = way == "reverse";
    directions_ = way == "bidirectional" ? 2 : 1;
    if (c.integer("hidden_size", hidden_) != hidden_)
      throw ModelError{"", "hidden_size is " + std::to_string(c.integer("hidden_size", hidden_)) + ", but R has " +
                               std::to_string(hidden_)};
    if (steps_ == 0) throw ModelError{"", "a sequence without steps is not supported"};
    const std::int64_t rows = layer_.gates * hidden_;
    expect(1, "W", {directions_, rows, x.shape[2]});
    expect(2, "R", {directions_, rows, hidden_});
    expect(3, "B", {directions_, 2 * rows});
    expect(4, "sequence_lens", {batch_});
    const Shape state = batch_first_ ? Shape{batch_, directions_, hidden_} : Shape{directions_, batch_, hidden_};
    for (std::int64_t s = 0; s < layer_.states; ++s)
      expect(static_cast<std::size_t>(5 + s), s == 0 ? "initial_h" : "initial_c", state);
    expect(7, "P", {directions_, 3 * hidden_});
    if (c.has("clip") && c.number("clip", 0) <= 0) throw ModelError{"", "clip is not positive"};
    sequence_ = batch_first_ ? apply("transpose", {x}, {{"axes", Integers{1, 0, 2}}}) : x;
    activations();
  }

  // ---- activations

  using Function = std::function<Term(const Term&)>;

  void activations() {
    const std::size_t each = layer_.activations.size();
    std::vector<std::string> names = c.texts("activations");
    const std::vector<float> alphas = c.numbers("activation_alpha"), betas = c.numbers("activation_beta");
    if (names.empty())
      for (std::int64_t d = 0; d < directions_; ++d)
        names.insert(names.end(), layer_.activations.begin(), layer_.activations.end());
    if (names.size() != each * static_cast<std::size_t>(directions_))
      throw ModelError{"", std::to_string(names.size()) + " activations for " + std::to_string(directions_) +
                               (directions_ == 1 ? " direction, " : " directions, ") + std::to_string(each) + " each"};
    // The lists of alphas and betas have one entry for each activation that takes one.
    std::size_t alpha = 0, beta = 0;
    for (const std::string& name : names) {
      const auto next = [](const std::vector<float>& list, std::size_t& at, double fallback) {
        return at < list.size() ? static_cast<double>(list[at++]) : fallback;
      };
      functions_.push_back(activation(
          lower_case(name), [&](double fallback) { return next(alphas, alpha, fallback); },
          [&](double fallback) { return next(betas, beta, fallback); }));
    }
  }

  template <class Alpha, class Beta>
  Function activation(const std::string& name, Alpha&& alpha, Beta&& beta) const {
    const auto one = [this](std::string_view op) { return [this, op](const Term& x) { return apply(op, {x}); }; };
    if (name == "sigmoid") return one("sigmoid");
    if (name == "tanh") return one("tanh");
    if (name == "relu") return one("relu");
    if (name == "softplus") return one("softplus");
    if (name == "softsign") return [this](const Term& x) { return softsign(b, x); };
    if (name == "affine") {
      const double a = alpha(1), k = beta(0);
      return [=, this](const Term& x) { return affine(b, x, a, k); };
    }
    if (name == "hardsigmoid") {
      const double a = alpha(0.2), k = beta(0.5);
      return [=, this](const Term& x) { return hard_sigmoid(b, x, a, k); };
    }
    if (name == "scaledtanh") {
      const double a = alpha(1), k = beta(1);
      return
          [=, this](const Term& x) { return apply("mul", {number(a), apply("tanh", {apply("mul", {number(k), x})})}); };
    }
    if (name == "leakyrelu") {
      const double a = alpha(0.01);
      return [=, this](const Term& x) { return leaky_relu(b, x, a); };
    }
    if (name == "elu") {
      const double a = alpha(1);
      return [=, this](const Term& x) { return elu(b, x, a); };
    }
    if (name == "thresholdedrelu") {
      const double a = alpha(1);
      return [=, this](const Term& x) { return thresholded_relu(b, x, a); };
    }
    throw ModelError{"", "the activation '" + name + "' is not known"};
  }

  Term activated(std::int64_t direction, std::size_t k, Term x) const {
    if (c.has("clip")) {
      const double most = c.number("clip", 0);
      x = apply("clip", {x, number(-most), number(most)});
    }
    return unclipped(direction, k, x);
  }

  // ---- one direction

  Result direction(std::int64_t d) {
    const std::int64_t rows = layer_.gates * hidden_;
    const Term w = row(c.in(1), d), r = row(c.in(2), d);
    Term gates = apply("matmul", {sequence_, apply("transpose", {w})});
    std::vector<Term> fixed{b.shared(apply("transpose", {r}))};
    Term bias_of_r = number(0);
    if (c.has(3)) {
      const Term all = row(c.in(3), d);
      const Term of_w = part(all, 0, 0, rows), of_r = part(all, 0, rows, 2 * rows);
      // The part of R's bias that is inside the product with the state remains there.
      const bool apart = layer_.gates == 3 && c.integer("linear_before_reset", 0) != 0;
      const std::int64_t own = apart ? 2 * hidden_ : rows;
      Term sum = apply("add", {of_w, of_r});
      if (apart) {
        bias_of_r = part(of_r, 0, own, rows);
        sum = apply("concat", {part(sum, 0, 0, own), part(of_w, 0, own, rows)}, {{"axis", std::int64_t{0}}});
      }
      gates = apply("add", {gates, sum});
    }
    gates = b.bind(gates, "gates");
    std::vector<Term> begin;
    for (std::int64_t s = 0; s < layer_.states; ++s) begin.push_back(initial(static_cast<std::size_t>(5 + s), d));
    std::vector<Term> elements{gates};
    if (c.has(4)) elements.push_back(running());
    if (bias_of_r.rank() > 0) fixed.push_back(b.shared(bias_of_r));
    if (c.has(7)) fixed.push_back(b.shared(row(c.in(7), d)));
    if (!b.streaming && steps_ == 1 && !c.has(4)) return one_step(d, begin, elements, fixed, bias_of_r.rank() > 0);
    if (!b.streaming) return iterated(d, begin, elements, fixed, bias_of_r.rank() > 0);
    if (backward_ || directions_ == 2)
      throw ModelError{"", "it runs backward through the sequence, but a stream has no end to start from"};
    if (c.has(4)) throw ModelError{"", "sequences of different lengths cannot be streams"};
    if (steps_ != 1)
      throw ModelError{"", "its sequence has " + std::to_string(steps_) + " steps in a cycle, but it must have one"};
    // If the model's sequence is a stream, the state is that of the cycle before.
    std::vector<Term> held;
    for (std::size_t s = 0; s < begin.size(); ++s)
      held.push_back(
          Builder::written(b.fresh(s == 0 ? "h_before" : "c_before"), Term::atom, begin[s].dtype, begin[s].shape));
    Result result = one_step(d, held, elements, fixed, bias_of_r.rank() > 0);
    for (std::size_t s = 0; s < begin.size(); ++s) b.remember(held[s], begin[s], result.last[s].text);
    return result;
  }

  Term initial(std::size_t k, std::int64_t d) const {
    if (!c.has(k)) return b.constant(Tensor(dtype_, {batch_, hidden_}));
    const std::int64_t axis = batch_first_ ? 1 : 0;
    return b.shared(apply("squeeze", {part(c.in(k), axis, d, d + 1)}, {{"axis", Integers{axis}}}));
  }

  // A Boolean of shape [steps, batch, 1]: true while the step is within the sequence.
  Term running() const {
    const Term counted = apply("reshape", {apply("iota", {}, {{"n", steps_}})}, {{"shape", Integers{steps_, 1, 1}}});
    const Term lengths =
        apply("reshape", {apply("cast", {c.in(4)}, {{"dtype", DType::i32}})}, {{"shape", Integers{1, batch_, 1}}});
    return b.shared(apply("lt", {counted, lengths}));
  }

  Result iterated(std::int64_t d, const std::vector<Term>& begin, const std::vector<Term>& elements,
                  const std::vector<Term>& fixed, bool bias_of_r) {
    const bool stacks = c.wants(0);
    const WrittenNode cell = this->cell(d, begin, elements, fixed, bias_of_r, stacks);
    const std::string text = b.call_text(cell.name, {begin, elements, fixed, backward_ || d == 1, stacks});
    Result result = named(cell, [&](std::size_t k) { return c.wants(1 + k); }, text);
    if (stacks) result.sequence.shape.insert(result.sequence.shape.begin(), steps_);
    return result;
  }

  Result one_step(std::int64_t d, const std::vector<Term>& state, const std::vector<Term>& elements,
                  const std::vector<Term>& fixed, bool bias_of_r) {
    const WrittenNode cell = this->cell(d, state, elements, fixed, bias_of_r, false);
    std::vector<Term> arguments = state;
    for (const Term& e : elements) arguments.push_back(row(e, 0));
    arguments.insert(arguments.end(), fixed.begin(), fixed.end());
    Result result = named(cell, [](std::size_t) { return true; }, b.call_text(cell.name, arguments));
    if (c.wants(0)) result.sequence = apply("expand_dims", {result.last[0]}, {{"axis", Integers{0}}});
    return result;
  }

  // Defines the results of a call of the cell; results that are not requested are assigned to
  // `_`.
  template <class Wanted>
  Result named(const WrittenNode& cell, Wanted&& wanted, const std::string& call) {
    Result result;
    std::vector<std::string> names;
    for (std::size_t k = 0; k < cell.outputs.size(); ++k) {
      const bool state = static_cast<std::int64_t>(k) < layer_.states;
      names.push_back(!state || wanted(k) ? b.fresh(!state ? "y" : k == 0 ? "h" : "c") : "_");
      const Term& y = cell.outputs[k];
      const Term written = Builder::written(names.back(), Term::atom, y.dtype, y.shape);
      if (state)
        result.last.push_back(written);
      else
        result.sequence = written;
    }
    b.define(names, call);
    return result;
  }

  // Writes the node of one step.
  WrittenNode cell(std::int64_t d, const std::vector<Term>& state, const std::vector<Term>& elements,
                   const std::vector<Term>& fixed, bool bias_of_r, bool stacks) {
    WrittenNode written{b.fresh_node(lower_case(std::string(c.node.op)) + "_cell"), {}, {}};
    b.open(written.name);
    const auto input = [&](const Term& like, const char* name, bool element) {
      Shape shape = like.shape;
      if (element) shape.erase(shape.begin());
      return b.input(name, like.dtype, shape);
    };
    std::vector<Term> before, fix;
    for (std::size_t s = 0; s < state.size(); ++s) before.push_back(input(state[s], s == 0 ? "h" : "c", false));
    const Term gates = input(elements[0], "gates", true);
    std::optional<Term> goes_on;
    if (elements.size() > 1) goes_on = input(elements[1], "goes_on", true);
    for (std::size_t k = 0; k < fixed.size(); ++k) {
      const bool peephole = c.has(7) && k + 1 == fixed.size();
      fix.push_back(input(fixed[k], k == 0 ? "r" : peephole ? "peephole" : "bias", false));
    }
    std::vector<Term> after = layer_.gates == 4   ? lstm(d, before, gates, fix)
                              : layer_.gates == 3 ? gru(d, before, gates, fix, bias_of_r)
                                                  : rnn(d, before, gates, fix);
    if (goes_on) {
      const Term shown = b.shared(after[0]);
      after[0] = shown;
      for (std::size_t s = 0; s < after.size(); ++s) after[s] = apply("select", {*goes_on, after[s], before[s]});
      if (stacks) after.push_back(apply("select", {*goes_on, shown, number(0)}));
    } else if (stacks) {
      after[0] = b.shared(after[0]);
      after.push_back(after[0]);
    }
    for (std::size_t k = 0; k < after.size(); ++k) {
      const std::string name = b.fresh(static_cast<std::int64_t>(k) >= layer_.states ? "y"
                                       : k == 0                                      ? "h_next"
                                                                                     : "c_next");
      b.define(name, after[k]);
      b.output(name, after[k].dtype, after[k].shape);
      written.outputs.push_back(Builder::written(name, Term::atom, after[k].dtype, after[k].shape));
    }
    written.name = b.close();
    return written;
  }

  // The gates are in the order input, output, forget, cell; the peepholes input, output, forget.
  std::vector<Term> lstm(std::int64_t d, const std::vector<Term>& state, const Term& gates,
                         const std::vector<Term>& fixed) const {
    const Term sum = b.shared(apply("add", {gates, apply("matmul", {state[0], fixed[0]})}));
    const auto with_peephole = [&](const Term& x, const Term& cell, std::int64_t k) {
      return c.has(7) ? apply("add", {x, apply("mul", {gate(fixed.back(), k), cell})}) : x;
    };
    const Term i = b.shared(activated(d, 0, with_peephole(gate(sum, 0), state[1], 0)));
    const Term f = c.integer("input_forget", 0) != 0 ? apply("sub", {number(1), i})
                                                     : activated(d, 0, with_peephole(gate(sum, 2), state[1], 2));
    const Term g = activated(d, 1, gate(sum, 3));
    const Term next = b.shared(apply("add", {apply("mul", {f, state[1]}), apply("mul", {i, g})}));
    const Term o = activated(d, 0, with_peephole(gate(sum, 1), next, 1));
    return {apply("mul", {o, unclipped(d, 2, next)}), next};
  }
  // Applies the last activation of an LSTM, which is not clipped.
  Term unclipped(std::int64_t direction, std::size_t k, const Term& x) const {
    return functions_[static_cast<std::size_t>(direction) * layer_.activations.size() + k](x);
  }

  // Writes a step of a GRU. The gates are in the order update, reset, hidden.
  std::vector<Term> gru(std::int64_t d, const std::vector<Term>& state, const Term& gates,
                        const std::vector<Term>& fixed, bool bias_of_r) const {
    const Term& h = state[0];
    const bool apart = c.integer("linear_before_reset", 0) != 0;
    const Term of_gates = part(fixed[0], 1, 0, 2 * hidden_), of_hidden = part(fixed[0], 1, 2 * hidden_, 3 * hidden_);
    Term first, hidden;
    if (apart) {
      const Term product = b.shared(apply("matmul", {h, fixed[0]}));
      first = part(product, 1, 0, 2 * hidden_);
      hidden = gate(product, 2);
      if (bias_of_r) hidden = apply("add", {hidden, fixed[1]});
    } else {
      first = apply("matmul", {h, of_gates});
    }
    const Term sum = b.shared(apply("add", {part(gates, 1, 0, 2 * hidden_), first}));
    const Term z = b.shared(activated(d, 0, gate(sum, 0))), r = activated(d, 0, gate(sum, 1));
    hidden = apart ? apply("mul", {r, hidden}) : apply("matmul", {apply("mul", {r, h}), of_hidden});
    const Term n = activated(d, 1, apply("add", {gate(gates, 2), hidden}));
    return {apply("add", {apply("mul", {apply("sub", {number(1), z}), n}), apply("mul", {z, h})})};
  }

  std::vector<Term> rnn(std::int64_t d, const std::vector<Term>& state, const Term& gates,
                        const std::vector<Term>& fixed) const {
    return {activated(d, 0, apply("add", {gates, apply("matmul", {state[0], fixed[0]})}))};
  }

  Call& c;
  Builder& b;
  Layer layer_;
  DType dtype_ = DType::f32;
  std::int64_t steps_ = 0, batch_ = 0, hidden_ = 0, directions_ = 1;
  bool batch_first_ = false, backward_ = false;
  Term sequence_;
  std::vector<Function> functions_;
};

std::vector<Term> lstm(Call& c) { return Recurrent(c, {4, 2, {"Sigmoid", "Tanh", "Tanh"}}).write(); }
std::vector<Term> gru(Call& c) { return Recurrent(c, {3, 1, {"Sigmoid", "Tanh"}}).write(); }
std::vector<Term> rnn(Call& c) { return Recurrent(c, {1, 1, {"Tanh"}}).write(); }

}  // namespace

std::vector<Row> recurrent_rows() {
  constexpr std::string_view common =
      "activation_alpha:floats activation_beta:floats activations:texts clip:f direction:s hidden_size:i layout:i "
      "output_sequence:i ";
  static const std::string of_lstm = std::string(common) + "input_forget:i",
                           of_gru = std::string(common) + "linear_before_reset:i";
  return {
      {"LSTM", 1, 3, 8, 3, of_lstm, lstm},
      {"GRU", 1, 3, 6, 2, of_gru, gru},
      {"RNN", 1, 3, 6, 2, common, rnn},
  };
}

}  // namespace rml::onnx

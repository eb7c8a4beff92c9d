// Callees are generated before their callers. Each node has a segment end, a condition and floats
// as inputs. Its equations are like those of generate_program.cc, but over floats (f64) of a few
// shapes.
#include "fuzz/generate_gradient_program.h"

#include <random>
#include <utility>

#include "fuzz/generated_clocks.h"

namespace rml::fuzz {

namespace {

constexpr int boolean = -1;
const std::vector<std::string> shape_texts = {"f64", "f64[2]", "f64[3]", "f64[2, 3]"};
const std::vector<Shape> shapes = {{}, {2}, {3}, {2, 3}};
enum ShapeIndex { scalar, two, three, matrix };

struct PoolVariable {
  std::string name;
  int shape;  // index into shape_texts; `boolean` for a Boolean
  int clock;
};

// The inputs are end, c, then floats. An output is on clock c if `sampled`.
struct Callee {
  std::string name;
  std::vector<int> inputs;
  struct Output {
    int shape;
    bool sampled;
  };
  std::vector<Output> outputs;
};

std::string join(const std::vector<std::string>& parts) {
  std::string s;
  for (const auto& p : parts) s += (s.empty() ? "" : ", ") + p;
  return s;
}

class GradientProgram {
 public:
  explicit GradientProgram(std::uint64_t seed) : random_(seed) {}

  GeneratedProgram run() {
    GeneratedProgram out;
    out.cycles = 3 + pick(8);
    const int helpers = pick(3);
    for (int k = 0; k < helpers; ++k) node("g" + std::to_string(k), 1 + pick(4));
    node("f", 2 + pick(6));
    main(out);
    out.source = source_;
    return out;
  }

 private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  bool chance(int percent) { return pick(100) < percent; }
  std::string fresh(const std::string& stem) { return stem + std::to_string(next_++); }
  int any_shape() { return chance(55) ? scalar : pick(static_cast<int>(shapes.size())); }

  // ---- nodes

  void node(const std::string& name, int equations) {
    clocks_ = {};
    pool_ = {{"end", boolean, 0}, {"c", boolean, 0}};
    body_.clear();
    next_ = 0;
    Callee made{name, {}, {}};
    std::vector<std::string> inputs{"end: bool", "c: bool"}, outputs;
    const int floats = 1 + pick(3);
    for (int k = 0; k < floats; ++k) {
      made.inputs.push_back(any_shape());
      pool_.push_back({"x" + std::to_string(k), made.inputs.back(), 0});
      inputs.push_back(pool_.back().name + ": " + shape_texts[static_cast<std::size_t>(made.inputs.back())]);
    }
    if (chance(60)) parameter();
    for (int k = 0; k < equations; ++k) equation();
    const std::vector<PoolVariable> pool = pool_;
    for (std::size_t k = pool.size(); k-- > 2 && outputs.size() < 3;) {
      const PoolVariable& v = pool[k];
      if (v.shape == boolean || v.name[0] == 'x' || (!outputs.empty() && chance(40))) continue;
      add_output(made, outputs, to_base(v.name, v.clock), v.shape, false);
    }
    if (outputs.empty()) add_output(made, outputs, expression(scalar, 0, 3), scalar, false);
    if (chance(25)) {
      const int s = any_shape();
      add_output(made, outputs, expression(s, clocks_.on(0, "c", true), 2), s, true);
    }
    source_ += "node " + name + "(" + join(inputs) + ") -> (" + join(outputs) + ")\n" + body_ + "\n";
    callees_.push_back(std::move(made));
  }

  void add_output(Callee& made, std::vector<std::string>& outputs, const std::string& text, int shape, bool sampled) {
    const std::string name = "o" + std::to_string(outputs.size());
    outputs.push_back(name + ": " + shape_texts[static_cast<std::size_t>(shape)] + (sampled ? " when c" : ""));
    made.outputs.push_back({shape, sampled});
    body_ += "  " + name + " = " + text + ";\n";
  }

  std::string to_base(std::string e, int c) {
    for (; c != 0; c = clocks_[c].parent) {
      const GeneratedClock& k = clocks_[c];
      const std::string other = std::to_string(pick(3)) + ".5";
      e = "(merge " + k.condition + " (" + (k.positive ? e : other) + ") (" + (k.positive ? other : e) + "))";
    }
    return e;
  }

  // Trains f: writes calls for its outputs and gradients, with adjoints made from its outputs.
  void main(GeneratedProgram& out) {
    const Callee& f = callees_.back();
    std::vector<std::string> inputs{"end: bool", "c: bool", "b: bool"}, arguments{"end", "c"}, results;
    std::mt19937_64 values(random_());
    const auto add = [&](const std::string& name, const Shape& shape, bool is_boolean) {
      ChronogramRow row{name, {}};
      for (std::int64_t t = 0; t < out.cycles; ++t) {
        Tensor value(is_boolean ? DType::boolean : DType::f64, shape);
        for (std::int64_t i = 0; i < value.elements(); ++i) {
          const double v = std::uniform_real_distribution<double>(-1.25, 1.25)(values);
          if (is_boolean)
            value.as<bool>()[i] = v > 0 || t + 1 == out.cycles;
          else
            value.as<double>()[i] = v;
        }
        row.cells.push_back({Presence::present, std::move(value)});
      }
      out.inputs.push_back(std::move(row));
    };
    for (const char* name : {"end", "c", "b"}) add(name, {}, true);
    for (std::size_t k = 0; k < f.inputs.size(); ++k) {
      const auto shape = static_cast<std::size_t>(f.inputs[k]);
      inputs.push_back("x" + std::to_string(k) + ": " + shape_texts[shape]);
      arguments.push_back("x" + std::to_string(k));
      add("x" + std::to_string(k), shapes[shape], false);
    }
    bool sampled = false;
    for (const Callee::Output& o : f.outputs) sampled |= o.sampled;
    const int choice = sampled ? 0 : pick(3);
    const std::string bp = choice == 0 ? "true" : choice == 1 ? "b" : "end";
    arguments.push_back(bp);
    std::vector<std::string> outputs;
    for (std::size_t k = 0; k < f.outputs.size(); ++k) {
      const std::string o = "o" + std::to_string(k);
      results.push_back(o);
      outputs.push_back(o + ": " + shape_texts[static_cast<std::size_t>(f.outputs[k].shape)] +
                        (f.outputs[k].sampled ? " when c" : ""));
      arguments.push_back("-0.1 * " + (bp == "true" ? o : "(" + o + " when " + bp + ")"));
    }
    for (std::size_t k = 0; k < f.inputs.size(); ++k) {
      results.push_back("d" + std::to_string(k));
      outputs.push_back(results.back());
    }
    source_ += "node main(" + join(inputs) + ") -> (" + join(outputs) + ")\n  " + join(results) + " = diff f(" +
               join(arguments) + ");\n";
  }

  // ---- clocks and conditions

  std::string when(int c) const {
    const GeneratedClock& k = clocks_[c];
    return " when " + std::string(k.positive ? "" : "not ") + k.condition;
  }
  std::string end(int c) const { return c == 0 ? "end" : "(" + end(clocks_[c].parent) + when(c) + ")"; }

  std::string variable(int shape, int c) {
    std::vector<const PoolVariable*> fit;
    for (const PoolVariable& v : pool_)
      if (v.shape == shape && v.clock == c) fit.push_back(&v);
    return fit.empty() ? "" : fit[static_cast<std::size_t>(pick(static_cast<int>(fit.size())))]->name;
  }
  std::string condition(int c) { return variable(boolean, c); }

  std::string truth(int c, int fuel) {
    const std::string v = condition(c);
    const std::string leaf = !v.empty() ? v : c == 0 ? "c" : end(c);
    if (fuel == 0) return leaf;
    switch (iterated_ ? pick(3) : pick(6)) {
      case 0:
        return "(not " + truth(c, fuel - 1) + ")";
      case 1:
        return "(" + truth(c, fuel - 1) + " and " + truth(c, fuel - 1) + ")";
      case 2:
        return "(" + truth(c, fuel - 1) + " or " + truth(c, fuel - 1) + ")";
      case 3:
        return "(true fby " + truth(c, fuel - 1) + ")";
      case 4:
        return "((0 fby (if " + leaf + " then 1 else 2)) == 1)";
      default:
        return leaf;
    }
  }

  int random_clock() {
    if (chance(55)) return 0;
    const int c = pick(clocks_.size());
    const std::string k = condition(c);
    return k.empty() || clocks_.depth(c) >= 3 || chance(30) ? c : clocks_.on(c, k, chance(60));
  }

  // ---- expressions

  std::string literal(int shape) {
    const std::string n = (chance(50) ? "0." : "-0.") + std::to_string(1 + pick(9));
    if (shape == scalar || chance(20)) return n;
    if (shape == two && chance(50)) return "[" + n + ", 0.25]";
    const std::string& type = shape_texts[static_cast<std::size_t>(shape)];
    return "full(" + type.substr(3) + ", " + n + ")";
  }

  std::string leaf(int shape, int c) {
    if (chance(80))
      if (std::string v = variable(shape, c); !v.empty()) return v;
    if (c != 0 && chance(75)) return "((" + leaf(shape, clocks_[c].parent) + ")" + when(c) + ")";
    return exact_literal(shape);
  }

  // A literal of exactly this shape; drawn expressions in it would otherwise broadcast.
  std::string exact_literal(int shape) {
    if (shape == scalar) return literal(scalar);
    return "full(" + shape_texts[static_cast<std::size_t>(shape)].substr(3) + ", " + literal(scalar) + ")";
  }

  std::string expression(int shape, int c, int fuel) {
    if (fuel <= 0) return leaf(shape, c);
    const int kind = pick(100);
    const auto part = [&] { return expression(shape, c, fuel - 1); };
    if (kind < 12) return leaf(shape, c);
    if (kind < 48) return operation(shape, c, fuel);
    if (kind < 56) {
      const std::string k = chance(70) ? condition(c) : truth(c, 1);
      return k.empty() ? part() : "(if " + k + " then " + part() + " else " + part() + ")";
    }
    if (kind < 65) {
      const std::string k = condition(c);
      if (k.empty() || clocks_.depth(c) >= 3) return part();
      return "(merge " + k + " (" + expression(shape, clocks_.on(c, k, true), fuel - 1) + ") (" +
             expression(shape, clocks_.on(c, k, false), fuel - 1) + "))";
    }
    if (kind < 73 && c != 0) return "((" + expression(shape, clocks_[c].parent, fuel - 1) + ")" + when(c) + ")";
    if (iterated_) return leaf(shape, c);
    if (kind < 78) return "(" + leaf(shape, c) + " fby " + part() + ")";
    if (kind < 81) return "(" + part() + " fby " + part() + ")";
    if (kind < 84) return "(post " + part() + ")";
    if (kind < 88) return "fby_end(" + end(c) + ", " + literal(shape) + ", " + part() + ")";
    if (kind < 91) return "post_end(" + end(c) + ", " + literal(shape) + ", " + part() + ")";
    if (kind < 94) return "backfill(" + part() + ", " + end(c) + ")";
    return call(shape, c, fuel);
  }

  std::string operation(int shape, int c, int fuel) {
    const auto sub = [&](int s) { return expression(s, c, fuel - 1); };
    const auto bounded = [&](int s) { return "(1.5 + square(" + sub(s) + "))"; };
    switch (pick(14)) {
      case 0:
        return "(" + sub(shape) + " + " + sub(chance(50) ? shape : scalar) + ")";
      case 1:
        return "(" + sub(chance(50) ? shape : scalar) + " - " + sub(shape) + ")";
      case 2:
        return "(" + sub(shape) + " * " + sub(chance(50) ? shape : scalar) + ")";
      case 3:
        return "(" + sub(shape) + " / " + bounded(chance(50) ? shape : scalar) + ")";
      case 4: {
        static const std::vector<std::string> functions{"tanh", "sin", "cos", "sigmoid"};
        return functions[static_cast<std::size_t>(pick(4))] + "(" + sub(shape) + ")";
      }
      case 5:
        return "exp(tanh(" + sub(shape) + "))";
      case 6:
        return (chance(50) ? "log" : "sqrt") + bounded(shape);
      case 7:
        return "pow(" + bounded(shape) + ", tanh(" + sub(chance(50) ? shape : scalar) + "))";
      case 8:
        return "select(" + truth(c, 1) + ", " + sub(shape) + ", " + sub(shape) + ")";
      case 9:
        return chance(80) ? "(-(" + sub(shape) + "))" : "stop_gradient(" + sub(shape) + ")";
      default:
        return tensor_operation(shape, c, fuel);
    }
  }

  std::string tensor_operation(int shape, int c, int fuel) {
    const auto sub = [&](int s) { return expression(s, c, fuel - 1); };
    const int way = pick(4);
    switch (shape) {
      case scalar:
        if (way == 0) return (chance(50) ? "sum(" : "mean(") + sub(chance(50) ? three : matrix) + ")";
        if (way == 1) return "dot(" + sub(three) + ", " + sub(three) + ")";
        if (way == 2) return "((" + sub(matrix) + ")[1, 2])";
        return "((" + sub(two) + ")[if " + truth(c, 1) + " then 1 else 0])";
      case two:
        if (way == 0) return "matmul(" + sub(matrix) + ", " + sub(three) + ")";
        if (way == 1) return "[" + sub(scalar) + ", " + sub(scalar) + "]";
        if (way == 2) return "((" + sub(three) + ")[1:])";
        return "mean(" + sub(matrix) + ", axis=1)";
      case three:
        if (way == 0) return "matmul(" + sub(two) + ", " + sub(matrix) + ")";
        if (way == 1) return "concat(" + sub(two) + ", [" + sub(scalar) + "])";
        if (way == 2) return "((" + sub(matrix) + ")[1])";
        return "sum(" + sub(matrix) + ", axis=0)";
      default:
        if (way == 0) return "outer(" + sub(two) + ", " + sub(three) + ")";
        if (way == 1) return "[" + sub(three) + ", " + sub(three) + "]";
        if (way == 2) return "transpose(reshape([3, 2], " + sub(matrix) + "))";
        return "(expand_dims(" + sub(two) + ", 1) + " + sub(three) + ")";
    }
  }

  // Calls an instance with one output on the clock of its caller.
  std::string call(int shape, int c, int fuel) {
    for (const Callee& g : callees_)
      if (g.outputs.size() == 1 && !g.outputs[0].sampled && g.outputs[0].shape == shape && chance(70))
        return g.name + "(" + join(arguments(g, c, fuel, truth(c, 1))) + ")";
    return operation(shape, c, fuel);
  }

  std::vector<std::string> arguments(const Callee& g, int c, int fuel, const std::string& condition) {
    std::vector<std::string> list{end(c), condition};
    for (const int s : g.inputs) list.push_back(expression(s, c, fuel - 1));
    return list;
  }

  // ---- equations

  void define(const std::string& n, int shape, int c, const std::string& text) {
    body_ += "  " + n + ": " + (shape == boolean ? "bool" : shape_texts[static_cast<std::size_t>(shape)]) + " = " +
             text + ";\n";
    pool_.push_back({n, shape, c});
  }

  // Limits the magnitude of an expression so that it stays comparable to its sum.
  std::string tame(const std::string& text) {
    static const std::vector<std::string> ways{"tanh(", "sin(", "0.4 * (", "("};
    return ways[static_cast<std::size_t>(pick(4))] + text + ")";
  }

  void equation() {
    const int s = any_shape(), c = random_clock(), kind = pick(100);
    if (kind < 30)
      define(fresh("v"), s, c, tame(expression(s, c, 3)));
    else if (kind < 42)
      define(fresh("b"), boolean, c, truth(c, 2));
    else if (kind < 52)
      parameter();
    else if (kind < 68)
      state(s, c);
    else if (kind < 82)
      backward(s, c);
    else if (kind < 86)
      iteration(c);
    else if (kind < 90)
      held(s, c);
    else if (kind < 94)
      composed(s, c);
    else
      instance(c);
  }

  // Iterates a node with at most one state over two or three elements. A scalar and all
  // conditions are fixed arguments.
  void iteration(int c) {
    const bool rows = chance(40);
    const int whole = rows ? matrix : chance(50) ? two : three, element = rows ? three : scalar;
    const int state = chance(70) ? any_shape() : boolean;
    const std::string begin = state == boolean ? "" : tame(leaf(state, c)), sequence = tame(expression(whole, c, 1));
    const std::string fixed = expression(scalar, c, 1), condition = truth(c, 1), last = end(c);
    const std::vector<PoolVariable> pool = std::exchange(pool_, {{"end", boolean, 0}, {"c", boolean, 0}});
    const GeneratedClocks clocks = std::exchange(clocks_, {});
    const std::string body = std::exchange(body_, "");
    iterated_ = true;
    const std::string node = "each" + std::to_string(iterations_++);
    std::vector<std::string> inputs, outputs, targets;
    if (state != boolean) inputs.emplace_back("h"), pool_.push_back({"h", state, 0});
    for (const char* name : {"e", "w", "end", "c"}) inputs.emplace_back(name);
    pool_.push_back({"e", element, 0});
    pool_.push_back({"w", scalar, 0});
    if (state != boolean) {
      outputs.push_back(fresh("n"));
      define(outputs.back(), state, 0, tame("0.7 * h + " + expression(state, 0, 2)));
    }
    const bool stacks = state == boolean || chance(70);
    const int stacked = rows && chance(50) ? three : scalar;
    if (stacks) {
      outputs.push_back(fresh("y"));
      define(outputs.back(), stacked, 0, tame(expression(stacked, 0, 3)));
    }
    source_ += "node " + node + "(" + join(inputs) + ") -> (" + join(outputs) + ")\n" + body_ + "\n";
    pool_ = pool, clocks_ = clocks, body_ = body, iterated_ = false;
    std::vector<PoolVariable> made;
    if (state != boolean) made.push_back({fresh("v"), state, c});
    if (stacks) made.push_back({fresh("v"), stacked == three ? matrix : rows ? two : whole, c});
    for (const PoolVariable& v : made)
      targets.push_back(v.name + ": " + shape_texts[static_cast<std::size_t>(v.shape)]);
    body_ += "  " + join(targets) + " = " +
             (state == boolean ? "map"
              : stacks         ? "scan"
                               : "fold") +
             (chance(40) ? "[reverse] " : " ") + node + "(" + (state == boolean ? "" : begin + "; ") + sequence + "; " +
             fixed + ", " + last + ", " + condition + ");\n";
    pool_.insert(pool_.end(), made.begin(), made.end());
  }

  void parameter() {
    const int s = any_shape();
    const std::string p = "param(" + exact_literal(s) + ")";
    const int c = random_clock();
    define(fresh("p"), s, c, chance(70) ? "param_end(" + end(c) + ", " + p + ")" : p);
  }

  void state(int s, int c) {
    const std::string n = fresh("h"), m = fresh("h");
    const std::string before = "fby_end(" + end(c) + ", " + leaf(s, c) + ", " + n + ")";
    const std::string w = leaf(chance(50) ? s : scalar, c), e = expression(s, c, 2);
    switch (pick(4)) {
      case 0:
        return define(n, s, c, "tanh(" + w + " * " + before + " + " + e + ")");
      case 1: {
        const std::string k = condition(c);
        if (k.empty()) return define(n, s, c, "0.5 * " + before + " + " + e);
        return define(n, s, c, "if " + k + " then tanh(" + w + " * " + before + ") else " + tame(e));
      }
      case 2:
        define(n, s, c, "tanh(" + m + " + " + w + ")");
        return define(m, s, c, "sin(" + before + ") + " + tame(e));
      default:
        define(n, s, c, "0.5 * fby_end(" + end(c) + ", " + literal(s) + ", " + m + ") + " + tame(e));
        return define(m, s, c, "tanh(" + before + " * " + w + ")");
    }
  }

  void backward(int s, int c) {
    const std::string n = fresh("r");
    const std::string e = tame(expression(s, c, 2)), k = condition(c);
    switch (pick(3)) {
      case 0:
        return define(n, s, c, "0.6 * post_end(" + end(c) + ", " + leaf(s, c) + ", " + n + ") + " + e);
      case 1:
        return define(n, s, c, "tanh(if " + end(c) + " then " + leaf(s, c) + " else post " + n + ") * " + e);
      default:
        if (k.empty()) return define(n, s, c, e);
        return define(n, s, c, "if " + k + " then " + e + " else sin(post " + n + ")");
    }
  }

  // A state that is kept until a condition holds; rarely, a state that never restarts.
  void held(int s, int c) {
    const std::string n = fresh("k"), k = condition(c);
    const std::string e = tame(expression(s, c, 2));
    if (k.empty() || chance(5)) return define(n, s, c, leaf(s, c) + " fby tanh(" + n + " + " + e + ")");
    if (clocks_.depth(c) < 3 && chance(50))
      return define(n, s, c,
                    "merge " + k + " (" + tame(expression(s, clocks_.on(c, k, true), 2)) + ") ((" + leaf(s, c) +
                        " fby " + n + ") when not " + k + ")");
    define(n, s, c, "if " + k + " then " + e + " else 0.9 * (" + leaf(s, c) + " fby " + n + ")");
  }

  // A value that is sampled by a condition without a name.
  void composed(int s, int c) {
    const std::string k = truth(c, 0) + (chance(50) ? " and " : " or ") + truth(c, 0);
    define(fresh("v"), s, c,
           "merge (" + k + ") (" + tame(expression(s, c, 2)) + " when (" + k + ")) (" + expression(s, c, 2) +
               " when not (" + k + "))");
  }

  void instance(int c) {
    if (callees_.empty()) return define(fresh("v"), scalar, c, expression(scalar, c, 3));
    const Callee& g = callees_[static_cast<std::size_t>(pick(static_cast<int>(callees_.size())))];
    const std::string k = condition(c);
    const std::string given = k.empty() ? fresh("b") : k;
    if (k.empty()) define(given, boolean, c, truth(c, 1));
    const std::vector<std::string> list = arguments(g, c, 2, given);
    std::vector<std::string> names;
    std::vector<PoolVariable> made;
    for (const Callee::Output& o : g.outputs) {
      names.push_back(fresh("y"));
      made.push_back({names.back(), o.shape, o.sampled ? clocks_.on(c, given, true) : c});
    }
    body_ += "  " + join(names) + " = " + g.name + "(" + join(list) + ");\n";
    pool_.insert(pool_.end(), made.begin(), made.end());
  }

  std::mt19937_64 random_;
  std::vector<PoolVariable> pool_;
  GeneratedClocks clocks_;
  std::vector<Callee> callees_;
  std::string body_, source_ = "node square(x) -> (y)\n  y = x * x;\n\n";
  int next_ = 0, iterations_ = 0;
  bool iterated_ = false;  // true within an iterated node
};

}  // namespace

GeneratedProgram generate_gradient_program(std::uint64_t seed) { return GradientProgram(seed).run(); }

}  // namespace rml::fuzz

// Builds a pool of variables, equation by equation. Each new variable is an expression over the
// pool of a chosen dtype, shape and clock. Clocks come from Boolean variables of the pool.
// Recurrences are written in causal forms: a variable may occur in its own equation under `fby`,
// or under `post` if the end of the segment cuts it. Combinations of both (a state that runs
// forward, its adjoint that runs backward, a parameter that is updated at segment ends) are
// templates with random expressions inside. `end` is an input that is often true, and true at the
// last cycle.
#include "fuzz/generate_program.h"

#include <map>
#include <random>
#include <utility>

#include "fuzz/draw_operation.h"
#include "fuzz/generated_clocks.h"

namespace rml::fuzz {

namespace {

struct GenType {
  DType dtype;
  Shape shape;
  friend bool operator==(const GenType&, const GenType&) = default;
};

struct Variable {
  std::string name;
  GenType type;
  int clock;  // index into clocks_
};

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  GeneratedProgram run() {
    GeneratedProgram out;
    out.cycles = 1 + pick(24);
    inputs(out);
    const int equations = 2 + pick(12);
    for (int i = 0; i < equations; ++i) equation();
    outputs();
    out.source = nodes_ + "node main(" + join(input_text_) + ") -> (" + join(output_text_) + ")\n" + body_;
    return out;
  }

 private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  bool chance(int percent) { return pick(100) < percent; }
  static std::string join(const std::vector<std::string>& parts) {
    std::string s;
    for (const auto& p : parts) s += (s.empty() ? "" : ", ") + p;
    return s;
  }

  GenType random_type() {
    static const std::vector<DType> dtypes{DType::i32, DType::i32,     DType::f64, DType::f64,
                                           DType::f32, DType::boolean, DType::i64, DType::i8};
    const DType d = dtypes[static_cast<std::size_t>(pick(static_cast<int>(dtypes.size())))];
    static const std::vector<Shape> shapes{{}, {}, {}, {2}, {3}, {2, 3}};
    return {d, d == DType::boolean ? Shape{} : shapes[static_cast<std::size_t>(pick(6))]};
  }
  static std::string type_text(const GenType& t) { return fuzz::type_text(t.dtype, t.shape); }

  std::string fresh(const std::string& prefix) { return prefix + std::to_string(next_++); }

  // ---- inputs

  Tensor random_value(const GenType& t) { return random_tensor(random_, t.dtype, t.shape); }

  void inputs(GeneratedProgram& out) {
    auto add = [&](const std::string& n, const GenType& t, const std::string& when, auto&& present) {
      input_text_.push_back(n + ": " + type_text(t) + when);
      ChronogramRow row{n, {}};
      for (std::int64_t c = 0; c < out.cycles; ++c)
        row.cells.push_back(present(c) ? Cell{Presence::present, random_value(t)} : Cell{Presence::absent, {}});
      out.inputs.push_back(std::move(row));
    };
    auto always = [](std::int64_t) { return true; };
    const GenType boolean{DType::boolean, {}};
    add("end", boolean, "", always);
    if (!chance(10)) out.inputs.back().cells.back().value = Tensor::boolean(true);
    pool_.push_back({"end", boolean, 0});
    add("c", boolean, "", always);
    pool_.push_back({"c", boolean, 0});
    const int more = 1 + pick(3);
    for (int i = 0; i < more; ++i) {
      const std::string n = "x" + std::to_string(i);
      const GenType t = random_type();
      add(n, t, "", always);
      pool_.push_back({n, t, 0});
    }
    if (chance(30)) {
      const GenType t = random_type();
      const Chronogram& rows = out.inputs;
      add("s", t, " when c", [&](std::int64_t k) { return rows[1].cells[static_cast<std::size_t>(k)].value.truth(); });
      pool_.push_back({"s", t, clocks_.on(0, "c", true)});
    }
  }

  // ---- expressions

  std::string literal(const GenType& t) {
    if (t.dtype == DType::boolean) return chance(50) ? "true" : "false";
    const int n = pick(7);
    std::string scalar = is_float(t.dtype) ? std::to_string(n) + (chance(50) ? ".5" : ".0") : std::to_string(n);
    scalar = "cast(" + std::string(name(t.dtype)) + ", " + scalar + ")";
    if (t.shape.empty()) return scalar;
    std::string dims;
    for (std::int64_t d : t.shape) dims += (dims.empty() ? "" : ", ") + std::to_string(d);
    return "full([" + dims + "], " + scalar + ")";
  }

  static std::string one(const GenType& t) { return "cast(" + std::string(name(t.dtype)) + ", 1)"; }

  std::string variable(const GenType& t, int c) {
    std::vector<const Variable*> fit;
    for (const Variable& v : pool_)
      if (v.type == t && v.clock == c) fit.push_back(&v);
    if (fit.empty()) return "";
    return fit[static_cast<std::size_t>(pick(static_cast<int>(fit.size())))]->name;
  }

  // Returns a Boolean variable on clock c that is not a condition of c itself.
  std::string condition(int c) { return variable({DType::boolean, {}}, c); }

  std::string leaf(const GenType& t, int c) {
    if (chance(80))
      if (std::string v = variable(t, c); !v.empty()) return v;
    if (c != 0 && chance(60)) {
      const GeneratedClock& k = clocks_[c];
      return "((" + leaf(t, k.parent) + ") when " + (k.positive ? "" : "not ") + k.condition + ")";
    }
    return literal(t);
  }

  std::string expression(const GenType& t, int c, int fuel) {
    if (fuel <= 0) return leaf(t, c);
    const int kind = pick(100);
    if (kind < 20) return leaf(t, c);
    if (kind < 50) return operation(t, c, fuel);
    if (kind < 60) {
      const std::string k = condition(c);
      if (k.empty()) return leaf(t, c);
      return "(if " + k + " then " + expression(t, c, fuel - 1) + " else " + expression(t, c, fuel - 1) + ")";
    }
    if (kind < 70) {
      const std::string k = condition(c);
      if (k.empty() || clocks_.depth(c) >= 3) return leaf(t, c);
      return "(merge " + k + " (" + expression(t, clocks_.on(c, k, true), fuel - 1) + ") (" +
             expression(t, clocks_.on(c, k, false), fuel - 1) + "))";
    }
    if (kind < 78 && c != 0) {
      const GeneratedClock k = clocks_[c];
      return "((" + expression(t, k.parent, fuel - 1) + ") when " + (k.positive ? "" : "not ") + k.condition + ")";
    }
    if (iterated_ && (!remembers_ || kind >= 88)) return leaf(t, c);
    if (kind < 88) return "(" + leaf(t, c) + " fby " + expression(t, c, fuel - 1) + ")";
    const std::string e = c == 0 ? "end" : "";
    if (e.empty()) return leaf(t, c);
    if (kind < 91) return "fby_end(" + e + ", " + leaf(t, c) + ", " + expression(t, c, fuel - 1) + ")";
    if (kind < 94) return "post_end(" + e + ", " + leaf(t, c) + ", " + expression(t, c, fuel - 1) + ")";
    if (kind < 97) return "backfill(" + expression(t, c, fuel - 1) + ", " + e + ")";
    return "(post " + leaf(t, c) + ")";
  }

  std::string operation(const GenType& t, int c, int fuel) {
    auto sub = [&](const GenType& u) { return expression(u, c, fuel - 1); };
    if (t.dtype == DType::boolean) {
      switch (pick(4)) {
        case 0:
          return "(not " + sub(t) + ")";
        case 1:
          return "(" + sub(t) + " and " + sub(t) + ")";
        case 2:
          return "(" + sub(t) + " or " + sub(t) + ")";
        default: {
          const GenType u{chance(50) ? DType::i32 : DType::f64, {}};
          static const std::vector<std::string> ops{"<", "<=", ">", ">=", "==", "!="};
          return "(" + sub(u) + " " + ops[static_cast<std::size_t>(pick(6))] + " " + sub(u) + ")";
        }
      }
    }
    const GenType scalar{t.dtype, {}};
    switch (pick(9)) {
      case 0:
        return "(" + sub(t) + " + " + sub(t) + ")";
      case 1:
        return "(" + sub(t) + " - " + sub(t) + ")";
      case 2:
        return "(" + sub(t) + " * " + sub(chance(50) ? t : scalar) + ")";
      case 3:
        return "maximum(" + sub(t) + ", " + sub(t) + ")";
      case 4:
        return "(-" + sub(t) + ")";
      case 5:
        if (is_float(t.dtype)) return "tanh(" + sub(t) + ")";
        return "(" + sub(t) + (chance(50) ? " / " : " % ") + "(maximum(" + sub(t) + ", " + literal(t) + ") + " +
               one(t) + "))";
      case 6:
        if (t.shape.empty()) return "sum(" + sub({t.dtype, {3}}) + ")";
        if (t.shape.size() == 1 && t.shape[0] == 3)
          return "matmul(" + sub({t.dtype, {2}}) + ", " + sub({t.dtype, {2, 3}}) + ")";
        if (t.shape.size() == 1) return "[" + sub(scalar) + ", " + sub(scalar) + "]";
        return "outer(" + sub({t.dtype, {2}}) + ", " + sub({t.dtype, {3}}) + ")";
      case 7: {
        const GenType other{t.dtype == DType::f64 ? DType::i32 : DType::f64, t.shape};
        return "cast(" + std::string(name(t.dtype)) + ", " + sub(other) + ")";
      }
      default:
        if (t.shape.empty()) return "(" + sub({t.dtype, {2, 3}}) + "[" + std::to_string(pick(2)) + ", 1])";
        return "select(" + sub({DType::boolean, {}}) + ", " + sub(t) + ", " + sub(t) + ")";
    }
  }

  // ---- equations

  void define(const std::string& n, const GenType& t, int c, const std::string& text) {
    body_ += "  " + n + ": " + type_text(t) + " = " + text + ";\n";
    pool_.push_back({n, t, c});
  }

  int random_clock() {
    if (chance(55)) return 0;
    const int c = pick(clocks_.size());
    if (clocks_.depth(c) >= 3) return c;
    const std::string k = condition(c);
    return k.empty() || chance(30) ? c : clocks_.on(c, k, chance(60));
  }

  void equation() {
    const GenType t = random_type();
    const int c = random_clock();
    const int kind = pick(100);
    if (kind < 45) {
      define(fresh("v"), t, c, expression(t, c, 3));
    } else if (kind < 62) {
      // A forward recurrence: the next value of the state depends on the state.
      const std::string n = fresh("r");
      const std::string init = leaf(t, c);
      pool_.push_back({n, t, c});
      const std::string next = n + " + " + expression(t, c, 2);
      pool_.pop_back();
      define(n, t, c, t.dtype == DType::boolean ? init + " fby not " + n : init + " fby (" + next + ")");
    } else if (kind < 72) {
      sampled_condition();
    } else if (kind < 78) {
      backward();
    } else if (kind < 88) {
      table_operation(c);
    } else if (kind < 92) {
      iteration(c);
    } else {
      knot();
    }
  }

  // A node of expressions, iterated over vectors and matrices of one length. As the node of a
  // `map` it may have memory. It may contain another iteration.
  void iteration(int c) {
    const std::int64_t length = 2 + pick(2);
    struct Port {
      std::string name;
      GenType type;
      std::string argument;
    };
    const auto number = [&] {
      GenType t = random_type();
      if (t.dtype == DType::boolean) t.dtype = DType::i32;
      return t;
    };
    std::vector<Port> states, sequences, fixed, stacked;
    for (int k = pick(3); k > 0; --k) {
      const GenType t = number();
      states.push_back({fresh("h"), t, leaf(t, c)});
    }
    for (int k = 1 + pick(2); k > 0; --k) {
      GenType element = number();
      element.shape = length == 2 && chance(40) ? Shape{3} : Shape{};
      Shape whole = element.shape;
      whole.insert(whole.begin(), length);
      sequences.push_back({fresh("e"), element, leaf({element.dtype, whole}, c)});
    }
    for (int k = pick(2); k > 0; --k) {
      const GenType t = random_type();
      fixed.push_back({fresh("f"), t, leaf(t, c)});
    }
    std::vector<Variable> pool = std::exchange(pool_, {});
    const GeneratedClocks clocks = std::exchange(clocks_, {});
    const std::string body = std::exchange(body_, "");
    const bool outer = std::exchange(iterated_, true);
    const bool outer_remembers = std::exchange(remembers_, states.empty() && (!outer || remembers_));
    std::vector<std::string> inputs, outputs, targets;
    for (const auto* list : {&states, &sequences, &fixed})
      for (const Port& p : *list) {
        inputs.push_back(p.name);
        pool_.push_back({p.name, p.type, 0});
      }
    if (chance(50)) define(fresh("b"), {DType::boolean, {}}, 0, expression({DType::boolean, {}}, 0, 2));
    if (!outer && chance(25)) iteration(0);
    for (const Port& p : states) {
      outputs.push_back(fresh("n"));
      define(outputs.back(), p.type, 0, expression(p.type, 0, 2));
    }
    for (int k = pick(2) + (states.empty() ? 1 : 0); k > 0; --k) {
      GenType t = random_type();
      t.shape = length == 2 && chance(40) && t.dtype != DType::boolean ? Shape{3} : Shape{};
      outputs.push_back(fresh("y"));
      define(outputs.back(), t, 0, expression(t, 0, 2));
      t.shape.insert(t.shape.begin(), length);
      stacked.push_back({fresh("v"), t, ""});
    }
    const std::string node = fresh("each");
    nodes_ += "node " + node + "(" + join(inputs) + ") -> (" + join(outputs) + ")\n" + body_ + "\n";
    pool_ = std::move(pool), clocks_ = clocks, body_ = body, iterated_ = outer, remembers_ = outer_remembers;
    for (const Port& p : states) targets.push_back(fresh("v") + ": " + type_text(p.type));
    for (std::size_t k = 0; k < states.size(); ++k)
      pool_.push_back({targets[k].substr(0, targets[k].find(':')), states[k].type, c});
    for (const Port& p : stacked) {
      targets.push_back(p.name + ": " + type_text(p.type));
      pool_.push_back({p.name, p.type, c});
    }
    const auto arguments = [](const std::vector<Port>& ports) {
      std::vector<std::string> list;
      for (const Port& p : ports) list.push_back(p.argument);
      return join(list);
    };
    std::string text = states.empty() ? "map" : stacked.empty() ? "fold" : "scan";
    text += (chance(40) ? "[reverse] " : " ") + node + "(";
    if (!states.empty()) text += arguments(states) + "; ";
    text += arguments(sequences) + (fixed.empty() ? "" : "; " + arguments(fixed)) + ")";
    body_ += "  " + join(targets) + " = " + text + ";\n";
  }

  void sampled_condition() {
    const int c = random_clock();
    define(fresh("b"), {DType::boolean, {}}, c, expression({DType::boolean, {}}, c, 2));
  }

  // Applies any operator; its result, of whatever type, joins the pool.
  void table_operation(int c) {
    const auto drawn = draw_operation(random_, [&](const DrawnOperand& o) {
      const auto& [dtype, shape] = std::tie(o.dtype, o.shape);
      const GenType t{dtype, shape};
      if (!o.place) {
        if (std::string v = variable(t, c); !v.empty() && chance(80)) return v;
      }
      std::int64_t count = 1;
      for (const std::int64_t extent : shape) count *= extent;
      std::string dims;
      for (const std::int64_t extent : shape) dims += (dims.empty() ? "" : ", ") + std::to_string(extent);
      const std::string steps = "reshape([" + dims + "], iota(" + std::to_string(count) + "))";
      if (o.place) return "cast(" + std::string(name(dtype)) + ", " + steps + " % 2)";
      const std::string scalar = leaf({dtype == DType::boolean ? DType::i32 : dtype, {}}, c);
      if (dtype == DType::boolean) return "((" + steps + " + " + scalar + ") % 2 == 0)";
      return "(cast(" + std::string(name(dtype)) + ", " + steps + ") * " + literal({dtype, {}}) + " + " + scalar + ")";
    });
    if (drawn) define(fresh("t"), {drawn->dtype, drawn->shape}, c, drawn->text);
  }

  void backward() {
    GenType t = random_type();
    if (t.dtype == DType::boolean) t.dtype = DType::i32;
    const std::string n = fresh("g");
    const std::string own = expression(t, 0, 2);
    const std::string last = leaf(t, 0);
    if (chance(50))
      define(n, t, 0, "post_end(end, " + last + ", " + n + " + " + own + ")");
    else
      define(n, t, 0, own + " + (if end then " + last + " else post " + n + ")");
  }

  // A state that runs forward within segments, its adjoint that runs backward, and a parameter
  // that their sum updates at the first cycle of each segment.
  void knot() {
    const GenType t{DType::f64, chance(50) ? Shape{} : Shape{2}};
    const std::string h = fresh("h"), p = fresh("p"), d = fresh("d"), q = fresh("q");
    const std::string x = leaf(t, 0), y = leaf(t, 0), z = leaf(t, 0);
    const std::string moved = fresh("m");
    define(h, t, 0, "tanh(" + q + " * fby_end(end, " + x + ", " + h + ") + " + y + ")");
    define(d, t, 0, "(" + h + " - " + z + ") + " + q + " * post_end(end, " + literal(t) + ", " + d + ")");
    define(q, t, 0, "fby_end(end, " + p + ", " + q + ")");
    const std::string s = fresh("s");
    define(s, t, 0, d + " * " + h + " + post_end(end, " + literal(t) + ", " + s + ")");
    define(moved, t, 0, p + " - (if true fby end then cast(f64, 0.01) * " + s + " else " + literal(t) + ")");
    define(p, t, 0, literal(t) + " fby " + moved);
  }

  void outputs() {
    std::vector<Variable> chosen;
    for (const Variable& v : pool_)
      if (v.name[0] != 'x' && v.name != "end" && v.name != "c" && v.name != "s" && chance(45)) chosen.push_back(v);
    if (chosen.empty()) chosen.push_back({"v_last", {DType::i32, {}}, 0});
    int k = 0;
    for (const Variable& v : chosen) {
      // Outputs are on the base clock, so a value on another clock is merged with literals.
      std::string e = v.name == "v_last" ? "0 fby 1" : v.name;
      for (int c = v.clock; c != 0; c = clocks_[c].parent) {
        const GeneratedClock& g = clocks_[c];
        const std::string other = literal(v.type);
        e = "(merge " + g.condition + " (" + (g.positive ? e : other) + ") (" + (g.positive ? other : e) + "))";
      }
      const std::string n = "o" + std::to_string(k++);
      output_text_.push_back(n);
      body_ += "  " + n + " = " + e + ";\n";
      if (k == 8) break;
    }
    if (chance(25)) {
      output_text_.emplace_back("w");
      body_ += "  w = (" + leaf({DType::i32, {}}, 0) + ") when c;\n";
    }
    if (chance(40)) sampled_constants();
  }

  // Constants on sampled clocks, written directly or returned by a node that is called there.
  // Beside them a value is computed before it is sampled, so that its computation can move. A
  // clock of a clock gets its own constants.
  void sampled_constants() {
    const auto add = [&](const std::string& n, const GenType& t, const std::string& on, const std::string& text) {
      output_text_.push_back(n + ": " + type_text(t) + " when " + on);
      body_ += "  " + n + " = " + text + ";\n";
    };
    const auto constant = [&](const GenType& t, const std::string& on) {
      if (chance(50)) return literal(t);
      const std::string node = fresh("constant");
      nodes_ += "node " + node + "(x) -> (o)\n  o = " + literal(t) + ";\n\n";
      return node + "((" + leaf({DType::i32, {}}, 0) + ") when c" + (on == "c" ? "" : " when " + on) + ")";
    };
    const GenType real{DType::f64, {}}, boolean{DType::boolean, {}}, first = random_type(), second = random_type();
    add("k0", first, "c", constant(first, "c"));
    if (chance(70)) add("k1", real, "c", "(-(" + leaf(real, 0) + ")) when c");
    if (chance(50)) return;
    add("k2", boolean, "c", "((" + leaf(real, 0) + ") > (" + leaf(real, 0) + ")) when c");
    add("k3", second, "k2", constant(second, "k2"));
  }

  std::mt19937_64 random_;
  std::vector<Variable> pool_;
  GeneratedClocks clocks_;
  std::vector<std::string> input_text_, output_text_;
  std::string nodes_, body_;
  bool remembers_ = false;  // true within a node that may have memory
  bool iterated_ = false;   // true within an iterated node
  int next_ = 0;
};

}  // namespace

Tensor random_tensor(std::mt19937_64& random, DType dtype, const Shape& shape) {
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<std::uint64_t>(n)); };
  Tensor v(dtype, shape);
  for (std::int64_t i = 0; i < v.elements(); ++i) {
    if (dtype == DType::boolean) {
      v.as<std::uint8_t>()[i] = pick(100) < 45 ? 1 : 0;
      continue;
    }
    const int n = pick(100) < 10 ? pick(2000) - 1000 : pick(9) - 4;
    if (dtype == DType::f32) v.as<float>()[i] = static_cast<float>(n) * 0.25F;
    if (dtype == DType::f64) v.as<double>()[i] = n * 0.25;
    const std::int64_t wide = n;
    if (is_integer(dtype))
      std::memcpy(v.as<std::byte>() + static_cast<std::size_t>(i) * byte_size(dtype), &wide, byte_size(dtype));
  }
  return v;
}

std::string type_text(DType dtype, const Shape& shape) {
  std::string s(name(dtype));
  if (shape.empty()) return s;
  return s + to_string(shape);
}

GeneratedProgram generate_program(std::uint64_t seed) { return Generator(seed).run(); }

}  // namespace rml::fuzz

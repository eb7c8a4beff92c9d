// Draws expressions by depth; v0 … v3 may depend on each other in any way. Trainings are
// templates with drawn ends.
#include "rows/generate_ends.h"

#include <functional>
#include <initializer_list>
#include <random>
#include <vector>

namespace rml::fuzz {

namespace {

// Nodes that the programs call on any clock. Each precedes those that it calls.
constexpr const char* nodes[][2] = {
    {"within",
     "node within(a: f64, b: bool, d: bool) -> (o: f64)\n  o = merge d (suffix(a when d, b when d)) (a when not d);\n"},
    {"par",
     "node par(i: f64, act: bool, d: f64 when act) -> (o: f64)\n  moved: f64 = o + merge act d 0.0;\n  o = i fby "
     "moved;\n"},
    {"suffix", "node suffix(a: f64, b: bool) -> (o: f64)\n  o = a + 0.5 * post_end(b, 0.0, o);\n"},
    {"prefix", "node prefix(a: f64, b: bool) -> (o: f64)\n  o = a + 0.5 * fby_end(b, 0.0, o);\n"},
    {"restarted", "node restarted(a: f64, b: bool) -> (o: f64)\n  o = a + 0.5 * (if b then 0.0 else 0.0 fby o);\n"},
    {"filled", "node filled(a: f64, b: bool) -> (o: f64)\n  o = backfill(a, b);\n"}};

std::string with_nodes(std::string program) {
  for (const auto& [name, text] : nodes)
    if (program.find(name + std::string("(")) != std::string::npos) program = text + program;
  return program;
}

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  std::string equations() {
    std::string outputs, body;
    for (int k = 0; k < variables; ++k) {
      body += "  " + v(k) + ": f64 = " + expression(1 + pick(3), k) + ";\n";
      if (outputs.empty() ? k + 1 == variables || chance(50) : chance(50))
        outputs += (outputs.empty() ? "" : ", ") + v(k) + ": f64";
    }
    return with_nodes(head("main", outputs) + remove_outputs(with_counters(body), outputs));
  }

  std::string training_by_hand() {
    trains_ = true;
    const std::string w = "  w: f64 = ", state = "  h: f64 = tanh(w * h0 + x);\n";
    std::string text = "  r = " + end(2) + ";\n", kept, later;
    if (chance(60)) {
      // A memory that is restarted by a condition of the same instant.
      kept = "if r then par(0.5, r, dw when r) else (0.0 fby w);\n";
      text += w + kept + "  h0: f64 = if r then 0.0 else 0.0 fby h;\n" + state;
      text += "  da: f64 = (-0.1 * (h - z) + (if post r then 0.0 else post (da * w))) * (1.0 - h * h);\n";
      text += "  dw: f64 = da * h0 + (if post r then 0.0 else post dw);\n";
    } else {
      // A sequence ends at s, and the parameter is updated at r.
      text += "  s = " + (chance(40) ? "r or " + end(1) : chance(50) ? std::string("r") : end(1)) + ";\n";
      text += "  first = true fby r;\n" + w + "fby_end(r, par(0.5, first, dw when first), w);\n";
      text += "  h0: f64 = fby_end(s, 0.0, h);\n" + state;
      text += "  da: f64 = (-0.1 * (h - z) + post_end(s, 0.0, da * w)) * (1.0 - h * h);\n";
      text += "  dw: f64 = da * h0 + post_end(r, 0.0, dw);\n";
    }
    if (chance(40)) text += expert();
    const std::string outputs = chance(50) ? "h: f64" : chance(50) ? "h: f64, da: f64" : "w: f64";
    return with_nodes(head("main", outputs) + remove_outputs(with_counters(text), outputs));
  }

  std::string training_by_diff() {
    const bool clocked = chance(35);
    std::string text = "  r = " + plain_end(2) + ";\n";
    text += "  s = " + (chance(40) ? "r" : chance(40) ? "r or " + plain_end(1) : plain_end(1)) + ";\n";
    text += "  w: f64 = " + held("0.5", "w", "r") + ";\n";
    text += "  h: f64 = tanh(w * (" + state("h", "s") + ") + x);\n";
    if (clocked) {
      text += "  t = s when c;\n  u = x when c;\n  p: f64 when c = " + held("0.3", "p", "t") + ";\n";
      text +=
          "  g: f64 when c = tanh(p * u" + std::string(chance(50) ? " + 0.5 * (" + state("g", "t") + ")" : "") + ");\n";
      text += "  y = h * merge c g (x when not c);\n";
    } else if (chance(50)) {
      text += "  k: f64 = " + held("0.7", "k", chance(60) ? "r" : "s") + ";\n  y = k * h;\n";
    } else {
      text += chance(50) ? "  y = h;\n" : "  y = h + 0.5 * backfill(h, s);\n";
    }
    text = "node f(e: bool, q: bool, c: bool, x: f64) -> (y: f64)\n" + with_counters(text) + head("main", "y: f64");
    const bool always = chance(70);
    text += "  y, _ = diff f(e, q, c, x, " +
            std::string(always ? "true, -0.1 * (y - z)" : "q, (-0.1 * (y - z)) when q") + ");\n";
    return text;
  }

 private:
  static constexpr int variables = 4;

  int pick(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  bool chance(int percent) { return pick(100) < percent; }
  std::string one_of(std::initializer_list<const char*> list) {
    return list.begin()[pick(static_cast<int>(list.size()))];
  }
  static std::string v(int k) { return "v" + std::to_string(k); }
  std::string any() { return v(pick(variables)); }

  static std::string head(const std::string& node, const std::string& outputs) {
    return "node " + node + "(e: bool, q: bool, c: bool, x: f64, z: f64) -> (" + outputs + ")\n";
  }

  // The type of an output is in the header, so it is removed from the equation.
  static std::string remove_outputs(std::string body, const std::string& outputs) {
    for (std::size_t at = 0; at < outputs.size();) {
      const std::size_t colon = outputs.find(':', at);
      const std::string name = "  " + outputs.substr(at, colon - at) + ": f64 =";
      if (const std::size_t found = body.find(name); found != std::string::npos)
        body.replace(found, name.size(), name.substr(0, name.find(':')) + " =");
      const std::size_t comma = outputs.find(", ", colon);
      at = comma == std::string::npos ? outputs.size() : comma + 2;
    }
    return body;
  }

  // Adds the counters that the equations use, and returns the program.
  std::string with_counters(const std::string& equations) {
    std::string text;
    if (equations.find("n == ") != std::string::npos)
      text += "  n: i32 = 0 fby (n + 1) % " + std::to_string(3 + pick(2)) + ";\n";
    if (equations.find("m == ") != std::string::npos)
      text += "  m: i32 = 0 fby (if " + one_of({"e", "q", "c"}) + " then 0 else m + 1);\n";
    return text + equations;
  }

  // A condition of inputs and counters, known at its instant or one later.
  std::string plain_end(int depth) {
    const int kind = pick(100);
    if (depth == 0 || kind < 40) return one_of({"e", "q", "c"});
    if (kind < 58) return "(" + plain_end(depth - 1) + " or " + plain_end(depth - 1) + ")";
    if (kind < 70) return "(" + plain_end(depth - 1) + " and " + plain_end(depth - 1) + ")";
    if (kind < 77) return "(not " + plain_end(depth - 1) + ")";
    if (kind < 84) return "(n == 2)";
    if (kind < 89) return "(m == 1)";
    if (kind < 94) return "(true fby " + plain_end(depth - 1) + ")";
    if (kind < 97) return "(if " + plain_end(0) + " then " + plain_end(0) + " else " + plain_end(0) + ")";
    return "(x > 0.5)";
  }

  // Draws any condition.
  std::string end(int depth) {
    const int kind = pick(100);
    if (depth == 0 || kind < 85) return plain_end(depth);
    if (kind < 90) return "(post " + end(depth - 1) + ")";
    if (kind < 95) return "(" + (trains_ ? std::string("x") : any()) + " > 0.3)";
    if (kind < 97) return "((x > 0.0) != ((post x) > 0.0))";
    return "(if " + end(depth - 1) + " then " + end(depth - 1) + " else " + end(depth - 1) + ")";
  }

  std::string leaf(int known) {
    const int kind = pick(4 + known);
    if (kind >= 4) return v(kind - 4);
    return one_of({"x", "x", "z", "1.0"});
  }

  // v0 … v(known - 1) are defined before the expression; other variables occur only under a delay
  // or a segment end.
  std::string expression(int depth, int known) {
    if (depth == 0) return leaf(known);
    const auto part = [&] { return expression(depth - 1, known); };
    const int kind = pick(100);
    if (kind < 16) return "(" + part() + one_of({" + ", " - "}) + part() + ")";
    if (kind < 20) return "tanh(" + part() + ")";
    if (kind < 23) return "maximum(" + part() + ", " + part() + ")";
    if (kind < 32) return "(if " + end(2) + " then " + part() + " else " + part() + ")";
    if (kind < 42) return "post_end(" + end(2) + ", " + part() + ", " + any() + ")";
    if (kind < 55) return recurrence(depth, known);
    if (kind < 64) return "fby_end(" + end(1) + ", " + part() + ", " + any() + ")";
    if (kind < 70) return "(" + part() + " fby " + any() + ")";
    if (kind < 75) return "(if " + end(1) + " then " + part() + " else 0.0 fby " + any() + ")";
    if (kind < 82) return "backfill(" + part() + ", " + end(2) + ")";
    if (kind < 87) return "(post " + part() + ")";
    return sampled(known, part());
  }

  // Draws a recurrence that looks ahead until it ends.
  std::string recurrence(int depth, int known) {
    const std::string own = any();
    const auto part = [&] { return expression(depth - 1, known); };
    const std::string next = "post " + own, second = "post (post " + own + ")",
                      third = "post (post (post " + own + "))";
    const std::string begin = "(if " + end(1) + " then " + part() + " else ";
    switch (pick(8)) {
      case 0:
        return begin + next + ")";
      case 1:
        return begin + second + ")";
      case 2:
        return begin + (chance(50) ? third : second) + ")";
      case 3:
        return begin + "if " + end(1) + " then " + part() + " else " + next + ")";
      case 4:
        return "(if " + end(1) + " then (if " + end(1) + " then " + part() + " else " + next + ") else " + next + ")";
      case 5:
        return begin + "if " + end(0) + " then " + second + " else " + next + ")";
      case 6:
        return "(" + part() + " + (if post " + end(1) + " then 0.0 else " + next + "))";
      default:
        return "(if " + end(1) + " then backfill(" + part() + ", " + end(1) + ") else " + part() + ")";
    }
  }

  std::string sampled(int known, const std::string& other) {
    const std::string c = one_of({"e", "q", "c"}), of = leaf(known);
    const std::string value = "((" + of + ") when " + c + ")", condition = "((" + end(1) + ") when " + c + ")";
    std::string inner;
    switch (pick(5)) {
      case 0:
        inner = one_of({"suffix", "prefix", "restarted", "filled"}) + "(" + value + ", " + condition + ")";
        break;
      case 1:
        inner = "within(" + value + ", " + condition + ", ((" + plain_end(1) + ") when " + c + "))";
        break;
      case 2:
        inner = "((0.0 fby " + any() + ") when " + c + ")";
        break;
      case 3:
        inner = "(post " + value + ")";
        break;
      default:
        inner = "(0.0 fby " + value + ")";
        break;
    }
    return "(merge " + c + " (" + inner + ") ((" + other + ") when not " + c + "))";
  }

  // Draws a second parameter, for an expert on its own clock.
  std::string expert() {
    return "  ec = s0 when c;\n  s0 = " + plain_end(1) +
           ";\n  fc = true fby ec;\n  p: f64 when c = fby_end(ec, par(0.5, fc, dp when fc), p);\n"
           "  o: f64 when c = tanh(p * (x when c));\n"
           "  dp: f64 when c = ((-0.1 * (h - z)) when c) * (x when c) * (1.0 - o * o) + post_end(ec, 0.0, dp);\n"
           "  expert: f64 = merge c o (x when not c);\n";
  }

  std::string held(const std::string& init, const std::string& name, const std::string& condition) {
    const std::string parameter = "param(" + init + ")";
    if (chance(60)) return "param_end(" + condition + ", " + parameter + ")";
    return "if " + condition + " then " + parameter + " else (0.0 fby " + name + ")";
  }

  std::string state(const std::string& name, const std::string& condition) {
    return chance(55) ? "fby_end(" + condition + ", 0.0, " + name + ")"
                      : "if " + condition + " then 0.0 else 0.0 fby " + name;
  }

  std::mt19937_64 random_;
  bool trains_ = false;  // true while a training is drawn: v0 … v3 do not exist
};

}  // namespace

std::string generate_ends(std::uint64_t seed) {
  Generator generator(seed * 2 + 1);
  return seed % 8 == 7 ? generator.training_by_hand() : generator.equations();
}

std::string generate_training(std::uint64_t seed) { return Generator(seed * 2).training_by_diff(); }

Chronogram draw_inputs(std::uint64_t seed, std::int64_t cycles) {
  std::mt19937_64 random(seed);
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<std::uint64_t>(n)); };
  constexpr int likely[] = {10, 30, 30, 50, 50, 70, 100, 0};
  Chronogram inputs;
  for (const char* name : {"e", "q", "c"}) {
    ChronogramRow& row = inputs.emplace_back(ChronogramRow{name, {}});
    const int percent = likely[pick(8)];
    for (std::int64_t k = 0; k < cycles; ++k)
      row.cells.push_back({Presence::present, Tensor::boolean(pick(100) < percent)});
  }
  for (const char* name : {"x", "z"}) {
    ChronogramRow& row = inputs.emplace_back(ChronogramRow{name, {}});
    for (std::int64_t k = 0; k < cycles; ++k)
      row.cells.push_back({Presence::present, Tensor::number(DType::f64, (pick(65) - 32) / 16.0)});
  }
  return inputs;
}

}  // namespace rml::fuzz

// The node f applies one operator to its inputs, shifted into the operator's domain. The node g
// is its gradient, by `diff`. The nodes `first` and `second` compute f with its gradients, and g
// with its gradients.
#include <algorithm>

#include "fuzz/draw_operation.h"
#include "fuzz/generate_program.h"

namespace rml::fuzz {

namespace {

struct Domain {
  std::string_view op, parameter, text;  // `text` is a call, where $ stands for the input and # for its last extent
};

constexpr std::string_view above = "1.75 + $", regular = "$ + 4.0 * eye(#)";
constexpr Domain domains[] = {{"log", "x", above},
                              {"sqrt", "x", above},
                              {"log1p", "x", above},
                              {"log2", "x", above},
                              {"log10", "x", above},
                              {"reciprocal", "x", above},
                              {"rsqrt", "x", above},
                              {"cbrt", "x", above},
                              {"nonzero_pivot", "x", above},
                              {"positive_pivot", "x", above},
                              {"pow", "a", above},
                              {"div", "b", above},
                              {"mod", "b", above},
                              {"floor_mod", "b", above},
                              {"atan2", "b", above},
                              {"hypot", "b", above},
                              {"asin", "x", "0.5 * $"},
                              {"acos", "x", "0.5 * $"},
                              {"atanh", "x", "0.5 * $"},
                              {"acosh", "x", "2.75 + $"},
                              {"solve", "a", regular},
                              {"triangular_solve", "a", regular},
                              {"inverse", "a", regular},
                              {"cofactor", "a", regular},
                              {"slogdet_parts", "a", regular},
                              {"cholesky", "a", regular},
                              {"matrix_power", "a", "0.25 * $ + eye(#)"}};

class Derivatives {
 public:
  Derivatives(std::uint64_t seed, std::string* drawn) : random_(seed), drawn_(drawn) {}

  GeneratedProgram run() {
    out_.cycles = 1 + pick(3);
    std::optional<DrawnOperation> drawn;
    const auto operand = [&](const DrawnOperand& o) { return argument(o); };
    while (!drawn) {
      out_.inputs.clear();
      inputs_ = names_ = floats_ = "";
      count_ = 0;
      drawn = draw_operation(random_, operand, Drawing::differentiable);
      if (drawn && is_of_nothing(*drawn)) drawn.reset();
    }
    if (drawn_ != nullptr) *drawn_ = operators()[drawn->op].name;
    write(*drawn);
    return std::move(out_);
  }

 private:
  // The mean of no elements is NaN, and so is its gradient. Differences would show that no
  // element depends on anything, so such applications are skipped.
  bool is_of_nothing(const DrawnOperation& drawn) const {
    const std::string_view op = operators()[drawn.op].name;
    const bool has_mean = op == "mean" || op == "var" || op == "std";
    return has_mean && std::ranges::any_of(out_.inputs,
                                           [](const ChronogramRow& row) { return row.cells[0].value.elements() == 0; });
  }

  int pick(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  static void list(std::string& to, const std::string& item) { to += (to.empty() ? "" : ", ") + item; }

  void add(const std::string& name, DType dtype, const Shape& shape, bool place) {
    list(inputs_, name + ": " + type_text(dtype, shape));
    list(names_, name);
    ChronogramRow row{name, {}};
    for (std::int64_t t = 0; t < out_.cycles; ++t) {
      Tensor value = random_tensor(random_, dtype, shape);
      if (place) {
        std::fill_n(value.as<std::uint8_t>(), value.bytes(), std::uint8_t{0});
        for (std::size_t i = 0; i < value.bytes(); i += byte_size(dtype)) value.as<std::uint8_t>()[i] = pick(10) < 3;
      }
      row.cells.push_back({Presence::present, std::move(value)});
    }
    out_.inputs.push_back(std::move(row));
  }

  std::string argument(const DrawnOperand& o) {
    if (o.parameter == "plan") {
      const bool pairs = o.row.name == "fourier";
      const Shape& x = shapes_.back();
      const std::int64_t points = pairs ? x[x.size() - 2] : x.back();
      return "fourier_plan(" + (o.row.name == "real_fourier_terms" ? std::string("$n") : std::to_string(points)) +
             (pairs ? ")" : ", real=1)");
    }
    const std::string name = "x" + std::to_string(count_++);
    add(name, o.dtype, o.shape, o.place);
    shapes_.push_back(o.shape);
    if (o.dtype != DType::f64) return name;
    list(floats_, name);
    if (o.rule.starts_with("none: ")) return "stop_gradient(" + name + ")";
    for (const Domain& d : domains) {
      if (d.op != o.row.name || d.parameter != o.parameter) continue;
      std::string text(d.text);
      text.replace(text.find('$'), 1, name);
      if (const std::size_t at = text.find('#'); at != std::string::npos)
        text.replace(at, 1, std::to_string(o.shape.back()));
      return text;
    }
    return name;
  }

  // The names of the float inputs, each after the text `before`.
  std::string each(const std::string& before) const {
    std::string text;
    for (std::size_t at = 0; at < floats_.size();) {
      const std::size_t end = std::min(floats_.find(", ", at), floats_.size());
      list(text, before + floats_.substr(at, end - at));
      at = end + 2;
    }
    return text;
  }

  void write(const DrawnOperation& drawn) {
    const std::string type = type_text(drawn.dtype, drawn.shape), own = inputs_, own_names = names_;
    std::string text = drawn.text;
    if (const std::size_t at = text.find("$n"); at != std::string::npos)
      text.replace(at, 2, std::to_string(drawn.shape.back()));
    add("dy", drawn.dtype, drawn.shape, false);
    std::string adjoints, adjoint_names;
    const std::string of_g_inputs = inputs_, of_g_names = names_;
    const std::string gradients = each("d");
    // The outputs of g have the types of the float inputs, and so have their adjoints.
    for (std::size_t k = 0, count = out_.inputs.size() - 1; k < count; ++k) {
      const Tensor& like = out_.inputs[k].cells[0].value;
      if (like.dtype() != DType::f64) continue;
      const std::string name = "a" + out_.inputs[k].name;
      add(name, like.dtype(), like.shape(), false);
      list(adjoint_names, name);
    }
    const std::string call = "diff f(" + own_names + ", true, dy)";
    out_.source = "node f(" + own + ") -> (y: " + type + ")\n  y = " + text + ";\n\nnode g(" + of_g_inputs + ") -> (" +
                  gradients + ")\n  _, " + gradients + " = " + call + ";\n\nnode first(" + inputs_ + ") -> (y, " +
                  gradients + ")\n  y, " + gradients + " = " + call + ";\n\nnode second(" + inputs_ + ") -> (" +
                  gradients + ", " + each("s") + ", sdy)\n  " + gradients + ", " + each("s") + ", sdy = diff g(" +
                  of_g_names + ", true, " + adjoint_names + ");\n";
  }

  std::mt19937_64 random_;
  std::string* drawn_;
  GeneratedProgram out_;
  std::string inputs_, names_, floats_;
  std::vector<Shape> shapes_;  // shapes of the operands so far
  int count_ = 0;
};

}  // namespace

GeneratedProgram generate_derivatives(std::uint64_t seed, std::string* drawn) { return Derivatives(seed, drawn).run(); }

}  // namespace rml::fuzz

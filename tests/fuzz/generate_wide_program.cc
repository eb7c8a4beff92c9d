// Operands are drawn from the known values by shape; if no value has a shape, a new input gets
// it. Numbers remain small, so that no program ends in NaN and no training magnifies differences
// in rounding.
#include "fuzz/generate_wide_program.h"

#include <cmath>
#include <cstring>

namespace rml::fuzz {

namespace {

class WideProgram {
 public:
  explicit WideProgram(std::uint64_t seed) : random_(seed) {}

  GeneratedProgram run() {
    const int kind = pick(13);
    out_.cycles = 2 + pick(kind < 10 ? 4 : 10);
    dtype_ = chance(70) ? DType::f32 : DType::f64;
    end_ = input(DType::boolean, {});
    if (kind < 5) values();
    if (kind == 5 || kind == 6) images();
    if (kind == 7 || kind == 8) training();
    if (kind == 9) segments();
    if (kind > 9) layers();
    std::string text = "import loss;\nimport nn;\nimport recurrent;\n\n" + nodes_ + "node main(" + inputs_ + ") -> (" +
                       outputs_ + ")\n" + body_;
    out_.source = std::move(text);
    return std::move(out_);
  }

 private:
  struct Known {
    std::string name;
    Shape shape;
  };

  int pick(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  bool chance(int percent) { return pick(100) < percent; }
  std::int64_t extent() {
    static constexpr std::int64_t usual[] = {1, 3, 10, 17, 33, 40, 64, 65, 100, 130, 257};
    return usual[pick(std::size(usual))];
  }
  std::string type() const { return std::string(name(dtype_)); }

  template <class T>
  static void make_small(Tensor& x) {
    for (std::int64_t i = 0; i < x.elements(); ++i)
      if (std::fabs(x.as<T>()[i]) > 1) x.as<T>()[i] /= T(64);
  }

  std::string input(DType dtype, const Shape& shape) {
    const std::string name = "x" + std::to_string(out_.inputs.size());
    inputs_ += (inputs_.empty() ? "" : ", ") + name + ": " + type_text(dtype, shape);
    ChronogramRow row{name, {}};
    for (std::int64_t k = 0; k < out_.cycles; ++k) {
      Tensor value = random_tensor(random_, dtype, shape);
      if (dtype == DType::f32) make_small<float>(value);
      if (dtype == DType::f64) make_small<double>(value);
      row.cells.push_back({Presence::present, std::move(value)});
    }
    out_.inputs.push_back(std::move(row));
    return name;
  }

  const Known& add(const Shape& shape, const std::string& text) {
    known_.push_back({"v" + std::to_string(known_.size()), shape});
    body_ += "  " + known_.back().name + " = " + text + ";\n";
    return known_.back();
  }

  void show(const std::string& name, const std::string& type) {
    outputs_ += (outputs_.empty() ? "" : ", ") + name + ": " + type;
  }

  Known any() {
    if (!known_.empty() && chance(80)) return known_[static_cast<std::size_t>(pick(static_cast<int>(known_.size())))];
    const Shape shape = chance(70)   ? Shape{extent(), extent()}
                        : chance(50) ? Shape{extent() * extent()}
                                     : Shape{extent(), 3, extent()};
    return {input(dtype_, shape), shape};
  }

  // Returns a value of that shape, or of a shape that broadcasts to it.
  std::string operand(const Shape& shape) {
    for (const Known& k : known_)
      if (k.shape == shape && chance(50)) return k.name;
    if (chance(20)) return "0.25";
    if (shape.size() > 1 && chance(30)) return input(dtype_, {shape.back()});
    return input(dtype_, shape);
  }

  void values() {
    for (int k = 0, n = 3 + pick(8); k < n; ++k) value(any());
    for (std::size_t k = known_.size() > 4 ? known_.size() - 4 : 0; k < known_.size(); ++k)
      show(known_[k].name, type_text(dtype_, known_[k].shape));
  }

  static std::string filled(const std::string& text, const std::string& a, const std::string& b) {
    std::string all;
    for (const char c : text) all += c == '@' ? a : c == '#' ? b : std::string(1, c);
    return all;
  }

  void value(const Known& x) {
    static constexpr const char* functions[] = {"tanh(@)", "0.5 * @",       "relu(@)",
                                                "-@",      "sigmoid(@)",    "sqrt(abs(@))",
                                                "cos(@)",  "log1p(abs(@))", "exp(minimum(@, 3.0))",
                                                "atan(@)", "@ * @",         "tanh(@ * @ - 1.0)"};
    static constexpr const char* pairs[] = {
        "@ + #", "@ - #", "tanh(@ * #)", "maximum(@, #)", "0.5 * (@ + #)", "where(@ > #, @, #)", "@ / (1.0 + abs(#))"};
    switch (const int kind = pick(12); kind) {
      case 0:
      case 1:
      case 2:
        add(x.shape, filled(functions[pick(std::size(functions))], x.name, ""));
        return;
      case 3:
      case 4:
      case 5:
        add(x.shape, filled(pairs[pick(std::size(pairs))], x.name, operand(x.shape)));
        return;
      case 6:
        if (!x.shape.empty()) reduction(x);
        return;
      case 7:
        if (x.shape.size() == 2) return product(x);
        add({elements(x.shape)}, "reshape([" + std::to_string(elements(x.shape)) + "], " + x.name + ")");
        return;
      case 8:
        if (!x.shape.empty()) add(x.shape, "softmax(" + x.name + ")");
        return;
      case 9:
        if (x.shape.size() == 2) add({x.shape[1], x.shape[0]}, "transpose(" + x.name + ")");
        return;
      case 10: {
        const std::string state = "s" + std::to_string(known_.size());
        body_ +=
            "  " + state + " = zeros(" + to_string(x.shape) + ") fby tanh(0.5 * " + state + " + " + x.name + ");\n";
        known_.push_back({state, x.shape});
        return;
      }
      default: {  // the remaining cases, which may fail
        const std::string by = input(DType::i32, x.shape);
        add(x.shape, "cast(" + type() + ", cast(i32, 10.0 * " + x.name + ") / " +
                         (chance(80) ? "maximum(" + by + ", 1)" : by) + ")");
      }
    }
  }

  static std::int64_t elements(const Shape& shape) {
    std::int64_t n = 1;
    for (const std::int64_t e : shape) n *= e;
    return n;
  }

  void reduction(const Known& x) {
    static constexpr const char* kinds[] = {"sum", "mean", "max", "min"};
    const int axis = pick(static_cast<int>(x.shape.size()));
    Shape shape = x.shape;
    shape.erase(shape.begin() + axis);
    const std::string kind = kinds[pick(std::size(kinds))];
    const Known r = add(shape, kind + "(" + x.name + ", axis=" + std::to_string(axis) + ")");
    if (axis == 0 && chance(60)) add(x.shape, x.name + " - 0.5 * " + r.name);
  }

  void product(const Known& x) {
    const std::int64_t n = extent();
    const bool turned = chance(40);
    const std::string y = input(dtype_, turned ? Shape{n, x.shape[1]} : Shape{x.shape[1], n});
    const Known p = add({x.shape[0], n}, "matmul(" + x.name + ", " + (turned ? "transpose(" + y + ")" : y) + ")");
    if (chance(50)) add(p.shape, "tanh(0.1 * " + p.name + " + " + operand({n}) + ")");
  }

  // One or two convolution layers, or their gradients.
  void images() {
    const std::int64_t batch = 1 + pick(9), in = 1 + pick(4), side = 6 + pick(12), out = 1 + pick(9), tap = 1 + pick(3);
    const bool pooled = chance(60);
    const std::string x = input(dtype_, {batch, in, side, side}), w = input(dtype_, {out, in, tap, tap});
    const std::string conv =
        "conv(x, w, padding=" + std::to_string(pick(2)) + ", strides=" + std::to_string(1 + pick(2)) + ")";
    const std::string pool = chance(50) ? "max_pool(" : "average_pool(";
    nodes_ = "node layer(x, w) -> (y)\n  y = tanh(0.1 * " + (pooled ? pool + conv + ", 2)" : conv) + ");\n\n" +
             "node total(x, w) -> (l)\n  l = sum(layer(x, param(w)) * 0.5);\n\n";
    body_ += "  y = mean(layer(" + x + ", " + w + "), axis=0);\n  z = sum(y);\n";
    body_ += "  l, dx, _ = diff total(" + x + ", " + w + ", true, -0.01);\n";
    show("z", type());
    show("l", type());
    show("dx", type_text(dtype_, {batch, in, side, side}));
  }

  // A training with one batch per cycle.
  void training() {
    const std::int64_t batch = extent(), in = extent(), hidden = extent(), out = 1 + pick(12);
    const std::string x = input(dtype_, {batch, in}), label = input(DType::i32, {batch});
    const auto weight = [&](std::int64_t a, std::int64_t b) {
      return "param(0.1 * cos(cast(" + type() + ", reshape([" + std::to_string(a) + ", " + std::to_string(b) +
             "], iota(" + std::to_string(a * b) + ")))))";
    };
    nodes_ = "node model(x, label) -> (l)\n  h = tanh(matmul(x, " + weight(in, hidden) + ") + param(zeros([" +
             std::to_string(hidden) + "])));\n  l = loss.cross_entropy(matmul(h, " + weight(hidden, out) +
             "), label);\n\n";
    body_ += "  l, dx = diff model(" + x + ", abs(" + label + ") % " + std::to_string(out) + ", true, -0.5);\n";
    show("l", type());
    show("dx", type_text(dtype_, {batch, in}));
  }

  // A training with one or a few samples per cycle and an update at the end of each segment.
  void segments() {
    out_.inputs[0].cells.back().value = Tensor::boolean(true);
    const std::int64_t in = extent(), hidden = extent();
    const bool rows = chance(40), recurrent = chance(40);
    const std::int64_t count = 1 + pick(4);
    const Shape shape = rows ? Shape{count, in} : Shape{in};
    const std::string x = input(dtype_, shape);
    const auto weight = [&](std::int64_t a, std::int64_t b) {
      return "param_end(end, param(0.1 * cos(cast(" + type() + ", reshape([" + std::to_string(a) + ", " +
             std::to_string(b) + "], iota(" + std::to_string(a * b) + "))))))";
    };
    const std::string zero = "zeros([" + (rows ? std::to_string(count) + ", " : "") + std::to_string(hidden) + "])";
    nodes_ = "node model(end, x) -> (l)\n  h = tanh(matmul(x, " + weight(in, hidden) + ")" +
             (recurrent ? " + matmul(fby_end(end, " + zero + ", h), " + weight(hidden, hidden) + ")" : "") +
             ");\n  l = mean(h * h);\n\n";
    body_ += "  l, dx = diff model(" + end_ + ", " + x + ", true, -0.5);\n";
    show("l", type());
    show("dx", type_text(dtype_, shape));
  }

  // Layers of the library, on sequences or batches, with trained or constant parameters.
  void layers() {
    static constexpr const char* of_sequences[] = {
        "nn.dense_end(#, end, @)",         "recurrent.rnn_end(#, end, @)",           "recurrent.lstm_end(#, end, @)",
        "recurrent.gru_end(#, end, @)",    "recurrent.lstm_bi(#, end, @)",           "recurrent.gru_back(#, end, @)",
        "nn.layer_norm_end(0.01, end, @)", "nn.batch_norm(0.01, 0.9, true, end, @)", "tanh(@)",
        "recurrent.rnn_bi(#, end, @)"};
    static constexpr const char* of_batches[] = {"nn.dense_rows(#, @)", "nn.layer_norm(0.01, @)",
                                                 "nn.batch_norm_rows(0.01, 0.9, true, @)", "tanh(@)", "nn.prelu(@)"};
    const bool batches = chance(30);
    out_.inputs[0].cells.back().value = Tensor::boolean(true);
    const Shape shape = batches ? Shape{extent(), extent()} : Shape{extent()};
    const std::string x = input(dtype_, shape);
    nodes_ = "node model(end: bool, x) -> (l)\n  v0 = x;\n";
    const int count = 1 + pick(3);
    for (int k = 0; k < count; ++k) {
      const char* layer =
          batches ? of_batches[pick(std::size(of_batches))] : of_sequences[pick(std::size(of_sequences))];
      const std::string units = std::strchr(layer, '#') != nullptr ? std::to_string(extent()) : "";
      nodes_ += "  v" + std::to_string(k + 1) + " = " + filled(layer, "v" + std::to_string(k), units) + ";\n";
    }
    const std::string last = "v" + std::to_string(count);
    nodes_ += "  l = mean(" + last + " * " + last + ");\n\n";
    show("l", type());
    if (chance(30)) {
      body_ += "  l = model(" + end_ + ", " + x + ");\n";
      return;
    }
    body_ += "  l, d = diff model(" + end_ + ", " + x + ", true, -0.1);\n  dx = 1000.0 * d;\n";
    show("dx", type_text(dtype_, shape));
  }

  std::mt19937_64 random_;
  GeneratedProgram out_;
  DType dtype_{};
  std::string nodes_, inputs_, outputs_, body_, end_;
  std::vector<Known> known_;
};

}  // namespace

GeneratedProgram generate_wide_program(std::uint64_t seed) { return WideProgram(seed).run(); }

}  // namespace rml::fuzz

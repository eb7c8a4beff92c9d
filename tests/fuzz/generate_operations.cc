// Applies each operator to inputs that are made for it, and sometimes to the result of another
// operator. In that case the output is named …_2, since rounding errors may have grown. Inputs
// for indices are mostly 0 and 1, which are valid for most tensors.
#include "fuzz/draw_operation.h"
#include "fuzz/generate_program.h"

namespace rml::fuzz {

namespace {

class Operations {
 public:
  Operations(std::uint64_t seed, std::vector<std::string>* drawn) : random_(seed), drawn_(drawn) {}

  GeneratedProgram run() {
    out_.cycles = 1 + pick(4);
    const int operations = 1 + pick(4);
    for (int k = 0; k < operations || outputs_.empty(); ++k) operation();
    out_.source = "node main(" + inputs_ + ") -> (" + outputs_ + ")\n" + body_;
    return std::move(out_);
  }

 private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  bool chance(int percent) { return pick(100) < percent; }

  std::string input(DType dtype, const Shape& shape, bool place) {
    const std::string name = "x" + std::to_string(out_.inputs.size());
    inputs_ += (inputs_.empty() ? "" : ", ") + name + ": " + type_text(dtype, shape);
    ChronogramRow row{name, {}};
    for (std::int64_t k = 0; k < out_.cycles; ++k) {
      Tensor value = random_tensor(random_, dtype, shape);
      const bool outside = chance(5);
      auto* bytes = value.as<std::uint8_t>();
      for (std::size_t i = 0; place && !outside && i < value.bytes(); i += byte_size(dtype)) {
        std::fill_n(bytes + i, byte_size(dtype), std::uint8_t{0});
        bytes[i] = chance(70) ? 0 : 1;  // the first byte is the value, because numbers are little-endian
      }
      row.cells.push_back({Presence::present, std::move(value)});
    }
    out_.inputs.push_back(std::move(row));
    return name;
  }

  void operation() {
    bool second = false;
    const auto operand = [&](const DrawnOperand& o) {
      for (const auto& [name, type] : results_) {
        if (type != type_text(o.dtype, o.shape) || o.place || !chance(40)) continue;
        second = true;
        return name;
      }
      return input(o.dtype, o.shape, o.place);
    };
    const auto drawn = draw_operation(random_, operand);
    if (!drawn) return;
    if (drawn_ != nullptr) drawn_->emplace_back(operators()[drawn->op].name);
    const std::string name = "y" + std::to_string(results_.size()) + (second ? "_2" : "");
    const std::string type = type_text(drawn->dtype, drawn->shape);
    body_ += "  " + name + ": " + type + " = " + drawn->text + ";\n";
    results_.emplace_back(name, type);
    outputs_ += (outputs_.empty() ? "" : ", ") + name;
  }

  std::mt19937_64 random_;
  std::vector<std::string>* drawn_;
  GeneratedProgram out_;
  std::string inputs_, outputs_, body_;
  std::vector<std::pair<std::string, std::string>> results_;
};

}  // namespace

GeneratedProgram generate_operations(std::uint64_t seed, std::vector<std::string>* drawn) {
  return Operations(seed, drawn).run();
}

}  // namespace rml::fuzz

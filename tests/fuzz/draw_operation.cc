#include "fuzz/draw_operation.h"

#include <algorithm>
#include <vector>

#include "runtime/kernels/fourier.h"

namespace rml::fuzz {

namespace {

constexpr std::size_t max_elements = 64;
constexpr int attempts = 2000;

class Draw {
 public:
  Draw(std::mt19937_64& random, const OperatorInfo& row, Drawing drawing)
      : random_(random), row_(row), drawing_(drawing) {}

  // Draws shapes, dtypes and attributes until the shape rule accepts them.
  bool fit() {
    for (int k = 0; k < attempts; ++k) {
      choose_dtypes();
      choose_shapes();
      choose_attributes();
      const ShapeResult found = row_.shape({dtypes_, shapes_, attributes_, result_dtype_});
      const auto* shape = std::get_if<Shape>(&found);
      if (shape == nullptr || shape->size() > 4 || *element_count(*shape) > std::int64_t{max_elements}) continue;
      if (*element_count(*shape) == 0 && chance(90)) continue;
      result_ = *shape;
      return true;
    }
    return false;
  }

  DrawnOperation written(OperatorId id, const OperandText& operand_text) {
    std::string text;
    std::size_t operand = 0, attribute = 0, rule = 0;
    for (const OperatorParameter& p : row_.parameters) {
      if (p.kind == ParameterKind::operand) {
        const std::string_view derivative = row_.vjp[rule++];
        const std::size_t count = p.variadic ? variadic_ : 1;
        for (std::size_t k = 0; k < count; ++k, ++operand) {
          const bool place = row_.can_fail && p.dtype.variable != row_.result.variable && integer_only(p.dtype.allowed);
          add(text, operand_text({row_, p.name, derivative, dtypes_[operand], shapes_[operand], place}));
        }
        named_ = named_ || p.variadic;
        continue;
      }
      const std::size_t k = attribute++;
      if (!left_out_[k]) add(text, named_ ? std::string(p.name) + "=" + texts_[k] : texts_[k]);
      named_ = named_ || left_out_[k];
    }
    return {std::string(row_.name) + "(" + text + ")", id, result_dtype_, result_};
  }

 private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  bool chance(int percent) { return pick(100) < percent; }
  template <class T>
  const T& one_of(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(pick(static_cast<int>(list.size())))];
  }
  static void add(std::string& text, const std::string& part) { text += (text.empty() ? "" : ", ") + part; }
  static bool is_operand(const OperatorParameter& p) { return p.kind == ParameterKind::operand; }
  static bool integer_only(DTypeSet set) { return (set & ~dtypes::integer) == 0; }

  DType choose_dtype(DTypeSet allowed) {
    if (drawing_ == Drawing::differentiable && (allowed & bit(DType::f64)) != 0) return DType::f64;
    std::vector<DType> list;
    for (int d = 0; d < dtype_count; ++d) {
      const auto dtype = static_cast<DType>(d);
      if ((allowed & bit(dtype)) == 0 || dtype == DType::f16 || dtype == DType::bf16) continue;
      // A division by zero would stop most programs.
      if (row_.can_fail && row_.lowering == Lowering::elementwise && is_integer(dtype)) continue;
      const int weight = dtype == DType::f64 ? 4 : dtype == DType::f32 || dtype == DType::i32 ? 2 : 1;
      list.insert(list.end(), static_cast<std::size_t>(weight), dtype);
    }
    return list.empty() ? DType::f64 : one_of(list);
  }

  void choose_dtypes() {
    std::vector<std::optional<DType>> variables(8);
    const auto of = [&](const DTypeSlot& slot) {
      if (slot.variable < 0) return choose_dtype(slot.allowed);
      auto& variable = variables[static_cast<std::size_t>(slot.variable)];
      if (!variable || (slot.allowed & bit(*variable)) == 0) variable = choose_dtype(slot.allowed);
      return *variable;
    };
    variadic_ = 1 + static_cast<std::size_t>(pick(3));
    dtypes_.clear();
    for (const OperatorParameter& p : row_.parameters) {
      if (p.kind != ParameterKind::operand) continue;
      const DType dtype = of(p.dtype);
      dtypes_.insert(dtypes_.end(), p.variadic ? variadic_ : 1, dtype);
    }
    result_dtype_ = of(row_.result);
  }

  Shape random_shape() {
    static const std::vector<Shape> usual{{}, {}, {2}, {3}, {3}, {2, 3}, {3, 2}, {3, 3}, {2, 2}, {1, 3}, {2, 3, 2}};
    if (chance(60)) return one_of(usual);
    Shape shape(static_cast<std::size_t>(pick(5)));
    for (auto& extent : shape) extent = chance(4) ? 0 : 1 + pick(4);
    return shape;
  }

  void choose_shapes() {
    shapes_.clear();
    points_ = 0;
    for (std::size_t k = 0; k < dtypes_.size(); ++k) {
      if (k == 1 && plan()) continue;
      Shape shape = random_shape();
      if (k > 0) {
        const Shape& before = shapes_[static_cast<std::size_t>(pick(static_cast<int>(k)))];
        const int kind = pick(6);
        if (kind < 2) shape = before;
        if (kind == 2 && !before.empty())
          shape = Shape(before.begin() + pick(static_cast<int>(before.size())), before.end());
        if (kind == 3 && !before.empty()) shape.assign(1, one_of(before));
        if (kind == 4 && before.size() > 1) shape = Shape(before.begin(), before.end() - 1);
      }
      std::size_t count = 1;
      for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
      shapes_.push_back(count > max_elements ? Shape{2} : shape);
    }
  }

  // Draws the plan of a Fourier transform, which random numbers would not give.
  bool plan() {
    if (row_.parameters.size() < 2 || row_.parameters[1].name != "plan") return false;
    const bool terms = row_.name == "real_fourier_terms", pairs = row_.name != "real_fourier";
    const std::size_t axes = pairs ? 2 : 1;
    while (shapes_[0].size() < axes) shapes_[0].push_back(1 + pick(5));
    if (pairs) shapes_[0].back() = 2;
    std::int64_t& extent = shapes_[0][shapes_[0].size() - axes];
    extent = std::max<std::int64_t>(extent, 1);
    points_ = terms ? std::max<std::int64_t>(1, 2 * (extent - 1) + pick(2)) : extent;
    shapes_.push_back({rml_fourier_plan_size(points_, terms || !pairs ? 1 : 0)});
    return true;
  }

  // ---- attributes

  std::int64_t small_integer() { return chance(60) ? pick(3) : pick(8) - 3; }

  std::vector<std::int64_t> some_integers(std::string_view name) {
    const Shape first = shapes_.empty() ? Shape{} : shapes_[0];
    if (name == "shape" || name == "sizes") {
      const int kind = pick(4);
      if (kind == 0) return {first.rbegin(), first.rend()};
      if (kind == 1) return {-1};
      if (kind == 2) return first;
      return random_shape();
    }
    if (name == "axes" && chance(70)) {
      std::vector<std::int64_t> order(first.size());
      for (std::size_t k = 0; k < order.size(); ++k) order[k] = static_cast<std::int64_t>(k);
      std::shuffle(order.begin(), order.end(), random_);
      return order;
    }
    std::vector<std::int64_t> list(chance(50) ? first.size() : static_cast<std::size_t>(pick(4)));
    for (auto& i : list) i = small_integer();
    return list;
  }

  static std::string list_text(const std::vector<std::int64_t>& list) {
    std::string text;
    for (const std::int64_t i : list) add(text, std::to_string(i));
    return "[" + text + "]";
  }

  // Returns the quoted words in the documentation of the row.
  std::vector<std::string> words() const {
    std::vector<std::string> list;
    const std::string doc(row_.doc);
    for (std::size_t at = doc.find('"'); at != std::string::npos; at = doc.find('"', at + 1)) {
      const std::size_t end = doc.find('"', at + 1);
      if (end == std::string::npos) break;
      list.push_back(doc.substr(at + 1, end - at - 1));
      at = end;
    }
    return list;
  }

  // Draws letters for every axis; the shapes are then made to fit.
  std::string subscripts() {
    const std::string letters = "ijk";
    std::string text, all;
    for (std::size_t k = 0; k < variadic_; ++k) {
      Shape& shape = shapes_[k];
      shape.clear();
      if (k > 0) text += ",";
      for (int rank = pick(4); rank > 0; --rank) {
        const char c = letters[static_cast<std::size_t>(pick(3))];
        text += c;
        all += c;
        shape.push_back(c == 'j' ? 3 : 2);
      }
    }
    if (chance(30)) return text;
    text += "->";
    for (const char c : std::string("kij"))
      if (all.find(c) != std::string::npos && chance(60)) text += c;
    return text;
  }

  void choose_attributes() {
    attributes_.clear();
    texts_.clear();
    left_out_.clear();
    for (const OperatorParameter& p : row_.parameters) {
      if (p.kind == ParameterKind::operand) continue;
      const bool last = std::none_of(&p, row_.parameters.data() + row_.parameters.size(), is_operand);
      const bool open = last && !p.default_value.empty() && chance(p.kind == ParameterKind::text ? 20 : 50);
      left_out_.push_back(open);
      texts_.emplace_back();
      attributes_.push_back(open ? default_of(p) : chosen(p, texts_.back()));
    }
  }

  static Attribute default_of(const OperatorParameter& p) {
    Attribute a;
    if (p.default_value == "all") return a;
    a.given = true;
    if (p.kind == ParameterKind::text) a.text = p.default_value;
    if (p.kind == ParameterKind::dtype) a.dtype = dtype_named(p.default_value).value_or(DType::f32);
    if (p.kind == ParameterKind::number) a.number = std::stod(std::string(p.default_value));
    if (p.kind != ParameterKind::integers || p.default_value == "[]") return a;
    if (p.default_value.front() == '[') {
      for (const char* at = p.default_value.data() + 1; *at != ']';) {
        char* end = nullptr;
        a.integers.push_back(std::strtoll(at, &end, 10));
        for (at = end; *at == ',' || *at == ' ';) ++at;
      }
      return a;
    }
    a.scalar = true;
    a.integers = {std::stoll(std::string(p.default_value))};
    return a;
  }

  Attribute chosen(const OperatorParameter& p, std::string& text) {
    Attribute a;
    a.given = true;
    if (p.kind == ParameterKind::dtype) {
      a.dtype = result_dtype_;
      text = name(a.dtype);
    } else if (p.kind == ParameterKind::number) {
      static const std::vector<std::string> numbers{"0.0", "1.0", "0.5", "2.0", "-1.5", "0.1"};
      text = one_of(numbers);
      a.number = std::stod(text);
    } else if (p.kind == ParameterKind::text) {
      const std::vector<std::string> known = words();
      a.text = p.name == "subscripts" ? subscripts() : known.empty() ? std::string(p.default_value) : one_of(known);
      text = "\"" + a.text + "\"";
    } else if (points_ > 0 && p.name == "n") {
      a.scalar = true;
      a.integers = {points_};
      text = std::to_string(points_);
    } else if (chance(p.name == "shape" || p.name == "sizes" || p.name == "axes" ? 10 : 50)) {
      a.scalar = true;
      a.integers = {small_integer()};
      text = std::to_string(a.integers[0]);
    } else {
      a.integers = some_integers(p.name);
      // The type checker refuses this before a rule is called.
      if (a.integers.empty() && !p.default_value.empty() && p.default_value != "all") a.integers = {0};
      text = list_text(a.integers);
    }
    return a;
  }

  std::mt19937_64& random_;
  const OperatorInfo& row_;
  Drawing drawing_;
  std::int64_t points_ = 0;  // size of a Fourier transform
  std::vector<DType> dtypes_;
  std::vector<Shape> shapes_;
  std::vector<Attribute> attributes_;
  std::vector<std::string> texts_;  // texts of the attributes
  std::vector<bool> left_out_;
  std::size_t variadic_ = 1;
  DType result_dtype_{};
  bool named_ = false;  // true: from here on, attributes are written by name
  Shape result_;
};

}  // namespace

bool is_drawn(const OperatorInfo& row, Drawing drawing) {
  if (row.random || row.lowering == Lowering::parameter) return false;
  if (drawing == Drawing::any) return true;
  std::size_t operand = 0;
  for (const OperatorParameter& p : row.parameters) {
    if (p.kind != ParameterKind::operand) continue;
    if (!row.vjp[operand++].starts_with("none: ") && (p.dtype.allowed & bit(DType::f64)) != 0) return true;
  }
  return false;
}

std::optional<DrawnOperation> draw_operation(std::mt19937_64& random, const OperandText& operand_text,
                                             Drawing drawing) {
  const OperatorTable& table = operators();
  for (;;) {
    const auto id = static_cast<OperatorId>(random() % table.size());
    if (!is_drawn(table[id], drawing)) continue;
    Draw draw(random, table[id], drawing);
    if (!draw.fit()) return std::nullopt;
    return draw.written(id, operand_text);
  }
}

}  // namespace rml::fuzz

// Reads the text form of core that print_core writes, so that a pass is tested from text.
//
// Lines are read one by one by a cursor over the line's characters; ids may be used before
// they are defined. Blank lines and lines beginning with `--` are skipped. Values must be
// numbered 0, 1, … without gaps, clocks from c2 on. What is read is not verified.
#include <charconv>
#include <sstream>

#include "semantics/core.h"
#include "semantics/read_element.h"

namespace rml {

namespace {

bool word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

// A cursor over one line. The first failure is kept; later reads yield defaults.
class Line {
 public:
  explicit Line(const std::string& text) : text_(text) { skip(); }

  bool ok() const { return error_.empty(); }
  const std::string& error() const { return error_; }
  void fail(const std::string& message) {
    if (error_.empty()) error_ = message;
    at_ = text_.size();
  }
  bool at_end() const { return at_ >= text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[at_]; }

  // Consumes the text if it comes next; a word only as a whole.
  bool take(std::string_view token) {
    if (text_.compare(at_, token.size(), token) != 0) return false;
    const std::size_t end = at_ + token.size();
    if (word_char(token.back()) && end < text_.size() && word_char(text_[end])) return false;
    at_ = end;
    skip();
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token)) fail("expected '" + std::string(token) + "'" + found());
  }
  std::string word(const char* what) {
    std::size_t end = at_;
    while (end < text_.size() && word_char(text_[end])) ++end;
    return token(end, what);
  }
  // Up to the next space: constants have none inside.
  std::string chunk(const char* what) { return token(std::min(text_.find(' ', at_), text_.size()), what); }
  std::string number(const char* what) {
    std::size_t end = at_;
    while (end < text_.size() && (word_char(text_[end]) || text_[end] == '-' || text_[end] == '+')) ++end;
    return token(end, what);
  }

  std::string name() {
    if (peek() != '"') return word("a name");
    std::string text;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        ++at_;
        text += text_[at_] == 'n' ? '\n' : text_[at_];
      } else {
        text += text_[at_];
      }
    }
    if (at_end()) fail("string without end");
    ++at_;
    skip();
    return text;
  }
  template <class T>
  T integer(const char* what) {
    T value{};
    const auto result = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (result.ec != std::errc()) {
      fail(std::string("expected ") + what + found());
      return T{};
    }
    at_ = static_cast<std::size_t>(result.ptr - text_.data());
    skip();
    return value;
  }

 private:
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r')) ++at_;
  }
  std::string found() const {
    return at_end() ? ", found the end of the line" : ", found '" + text_.substr(at_, 12) + "'";
  }
  std::string token(std::size_t end, const char* what) {
    if (end == at_) {
      fail(std::string("expected ") + what + found());
      return {};
    }
    std::string text = text_.substr(at_, end - at_);
    at_ = end;
    skip();
    return text;
  }

  const std::string& text_;
  std::size_t at_ = 0;
  std::string error_;
};

Span read_span(Line& line) {
  Span span;
  if (!line.take("@")) return span;
  span.file = line.integer<std::uint32_t>("a file number");
  line.expect(":");
  span.begin = line.integer<std::uint32_t>("an offset");
  line.expect("-");
  span.end = line.integer<std::uint32_t>("an offset");
  return span;
}

ValueId read_value_id(Line& line) {
  line.expect("%");
  return ValueId{line.integer<std::uint32_t>("a value's number")};
}

ClockId read_clock_id(Line& line) {
  const std::string text = line.word("a clock");
  if (text == "base") return base_clock;
  if (text == "never") return never_clock;
  std::uint32_t index = 0;
  const char* const end = text.data() + text.size();
  if (text.size() < 2 || text[0] != 'c' || std::from_chars(text.data() + 1, end, index).ptr != end) {
    line.fail("no clock is called '" + text + "'");
  }
  return ClockId{index};
}

std::pair<DType, Shape> read_type(Line& line) {
  const std::string text = line.word("a type");
  const auto dtype = dtype_named(text);
  if (!dtype) line.fail("no dtype is called '" + text + "'");
  Shape shape;
  if (line.take("[") && !line.take("]")) {
    do {
      shape.push_back(line.integer<std::int64_t>("an extent"));
    } while (line.take(","));
    line.expect("]");
  }
  if (!element_count(shape)) {
    line.fail("no tensor has the shape " + to_string(shape));
    shape.clear();
  }
  return {dtype.value_or(DType::boolean), shape};
}

std::vector<std::pair<DType, Shape>> read_types(Line& line) {
  std::vector<std::pair<DType, Shape>> types;
  line.expect("(");
  if (line.take(")")) return types;
  do {
    types.push_back(read_type(line));
  } while (line.take(","));
  line.expect(")");
  return types;
}

Tensor read_bytes(Line& line, DType dtype, const Shape& shape) {
  Tensor tensor(dtype, shape);
  const std::string text = line.word("hexadecimal digits");
  if (text.size() != 2 * tensor.bytes()) {
    line.fail(type_string(dtype, shape) + " has " + std::to_string(tensor.bytes()) + " bytes");
    return tensor;
  }
  for (std::size_t i = 0; i < tensor.bytes(); ++i) {
    const char* const at = text.data() + 2 * i;
    if (std::from_chars(at, at + 2, tensor.as<std::uint8_t>()[i], 16).ptr != at + 2)
      line.fail("not a hexadecimal digit");
  }
  return tensor;
}

Tensor read_constant(Line& line, DType dtype, const Shape& shape) {
  if (line.take("bytes")) return read_bytes(line, dtype, shape);
  const bool uniform = line.take("all");
  const std::string text = line.chunk("a constant");
  auto tensor = read_tensor(dtype, uniform ? Shape{} : shape, text);
  if (!tensor) {
    line.fail("'" + text + "' is no constant of type " + type_string(dtype, uniform ? Shape{} : shape));
    return Tensor(dtype, shape);
  }
  if (!uniform) return *tensor;
  Tensor filled(dtype, shape);
  const std::size_t size = byte_size(dtype);
  for (std::size_t i = 0; i < filled.bytes(); i += size) std::memcpy(filled.as<std::byte>() + i, tensor->data(), size);
  return filled;
}

Attribute read_attribute(Line& line, ParameterKind kind) {
  Attribute attribute;
  if (line.take("all")) return attribute;
  attribute.given = true;
  switch (kind) {
    case ParameterKind::operand:
      break;
    case ParameterKind::integers:
      if (!line.take("[")) {
        attribute.scalar = true;
        attribute.integers.push_back(line.integer<std::int64_t>("an integer"));
      } else if (!line.take("]")) {
        do {
          attribute.integers.push_back(line.integer<std::int64_t>("an integer"));
        } while (line.take(","));
        line.expect("]");
      }
      break;
    case ParameterKind::number:
      if (!read_element(DType::f64, line.number("a number"), &attribute.number)) line.fail("not a number");
      break;
    case ParameterKind::dtype: {
      const auto dtype = dtype_named(line.word("a dtype"));
      if (!dtype) line.fail("not a dtype");
      attribute.dtype = dtype.value_or(DType::f32);
      break;
    }
    case ParameterKind::text:
      attribute.text = line.name();
      break;
  }
  return attribute;
}

std::vector<ValueId> read_operands(Line& line) {
  std::vector<ValueId> operands;
  while (line.peek() == '%') operands.push_back(read_value_id(line));
  return operands;
}

std::uint64_t read_key(Line& line) {
  const std::string text = line.word("a key");
  const char* const end = text.data() + text.size();
  std::uint64_t key = 0;
  if (!text.starts_with("0x") || std::from_chars(text.data() + 2, end, key, 16).ptr != end) {
    line.fail("'" + text + "' is not a key: 0x and hexadecimal digits");
  }
  return key;
}

core::Rhs read_apply(Line& line, const std::string& keyword) {
  core::Apply apply{};
  const auto op = operators().find(keyword);
  if (!op) {
    line.fail("no operator is called '" + keyword + "'");
    return apply;
  }
  apply.op = *op;
  apply.operands = read_operands(line);
  if (!line.take("{")) return apply;
  bool separate = false;
  for (const OperatorParameter& parameter : operators()[*op].parameters) {
    if (parameter.kind == ParameterKind::operand || line.peek() == '}') continue;
    if (separate) line.expect(",");
    if (line.take("key")) {
      line.fail("expected attribute '" + std::string(parameter.name) + "'");
      return apply;
    }
    line.expect(parameter.name);
    line.expect("=");
    apply.attributes.push_back(read_attribute(line, parameter.kind));
    separate = true;
  }
  if (separate && line.peek() != '}') line.expect(",");
  if (line.take("key")) {
    line.expect("=");
    apply.key = read_key(line);
  }
  line.expect("}");
  return apply;
}

core::Rhs read_rhs(Line& line, DType dtype, const Shape& shape) {
  const std::string keyword = line.word("a right-hand side");
  if (keyword == "const") return core::Const{read_constant(line, dtype, shape)};
  if (keyword == "input") return core::Input{line.integer<std::uint32_t>("an input's number")};
  if (keyword == "call") {
    const auto external = line.integer<std::uint32_t>("an external node's number");
    return core::Call{external, read_operands(line)};
  }
  if (keyword == "result") {
    const auto output = line.integer<std::uint32_t>("an output's number");
    line.expect("of");
    return core::Result{read_value_id(line), output};
  }
  if (keyword == "when") {
    const bool positive = !line.take("not");
    const ValueId condition = read_value_id(line);
    return core::When{read_value_id(line), condition, positive};
  }
  if (keyword == "merge") {
    const ValueId condition = read_value_id(line);
    const ValueId on_true = read_value_id(line);
    return core::Merge{condition, on_true, read_value_id(line)};
  }
  if (keyword == "fby") {
    const ValueId init = read_value_id(line);
    return core::Fby{init, read_value_id(line)};
  }
  if (keyword == "post") return core::Post{read_value_id(line)};
  return read_apply(line, keyword);
}

void read_value(Line& line, Core& core) {
  const ValueId v = read_value_id(line);
  if (line.ok() && v.index != core.values.size()) {
    line.fail("values are numbered in order: expected %" + std::to_string(core.values.size()));
  }
  Value value;
  line.expect(":");
  std::tie(value.dtype, value.shape) = read_type(line);
  value.clock = line.take("on") ? read_clock_id(line) : base_clock;
  line.expect("=");
  if (line.ok()) value.rhs = read_rhs(line, value.dtype, value.shape);
  if (line.peek() == '"' || word_char(line.peek())) value.name = line.name();
  if (line.take("#")) value.instance = InstanceId{line.integer<std::uint32_t>("an instance's number")};
  value.span = read_span(line);
  core.values.push_back(std::move(value));
}

void read_external(Line& line, Core& core) {
  if (line.integer<std::uint32_t>("a number") != core.externals.size()) line.fail("externals are numbered in order");
  ExternalNode external;
  external.symbol = line.name();
  external.inputs = read_types(line);
  line.expect("->");
  external.outputs = read_types(line);
  external.span = read_span(line);
  core.externals.push_back(std::move(external));
}

Iteration read_iteration(Line& line) {
  Iteration it;
  it.states = line.integer<std::uint32_t>("how many states");
  it.sequences = line.integer<std::uint32_t>("how many sequences");
  line.expect("of");
  it.length = line.integer<std::int64_t>("a length");
  it.reverse = line.take("reverse");
  it.can_fail = line.take("can_fail");
  return it;
}

void read_instance(Line& line, Core& core) {
  if (line.integer<std::uint32_t>("a number") != core.instances.size()) line.fail("instances are numbered in order");
  Instance instance;
  if (line.take("in")) instance.parent = InstanceId{line.integer<std::uint32_t>("an instance's number")};
  if (line.take("node")) instance.node = NodeId{line.integer<std::uint32_t>("a node's number")};
  if (!line.at_end() && line.peek() != '@') instance.path = line.name();
  instance.call = read_span(line);
  core.instances.push_back(std::move(instance));
}

void read_clock(Line& line, Core& core) {
  const ClockId id = read_clock_id(line);
  if (id == base_clock) return;
  if (line.ok() && id.index != core.clocks.size()) {
    line.fail("clocks are numbered in order: expected c" + std::to_string(core.clocks.size()));
  }
  Clock clock;
  line.expect("=");
  clock.parent = read_clock_id(line);
  line.expect("on");
  clock.positive = !line.take("not");
  clock.condition = read_value_id(line);
  core.clocks.push_back(clock);
}

Port read_port(Line& line) {
  Port port;
  port.name = line.name();
  line.expect("=");
  port.value = read_value_id(line);
  port.span = read_span(line);
  return port;
}

void read_line(Line& line, Core& core) {
  if (line.peek() == '%') return read_value(line, core);
  if (line.take("core")) {
    core.entry = line.name();
  } else if (line.take("external")) {
    read_external(line, core);
  } else if (line.take("instance")) {
    read_instance(line, core);
  } else if (line.take("clock")) {
    read_clock(line, core);
  } else if (line.take("input")) {
    core.inputs.push_back(read_port(line));
  } else if (line.take("output")) {
    core.outputs.push_back(read_port(line));
  } else if (line.take("assert")) {
    CoreAssert check;
    check.condition = read_value_id(line);
    check.message = line.name();
    check.span = read_span(line);
    core.asserts.push_back(std::move(check));
  } else if (line.take("parameter")) {
    Parameter parameter;
    parameter.path = line.name();
    line.expect("=");
    parameter.value = read_value_id(line);
    core.parameters.push_back(std::move(parameter));
  } else if (line.take("watch")) {
    core.watches.push_back(read_port(line));
  } else {
    line.fail("expected a line of core");
  }
}

}  // namespace

std::optional<Core> read_core(const std::string& text, std::string& error) {
  std::vector<Core> open(1);  // the program, then the bodies that are being read, each inside the one before
  std::vector<Iteration> iterations;
  open[0].clocks = {Clock{}, Clock{}};
  std::istringstream lines(text);
  std::string content;
  for (int number = 1; std::getline(lines, content); ++number) {
    Line line(content);
    if (line.at_end() || content.starts_with("--")) continue;
    if (line.take("iterate")) {
      iterations.push_back(read_iteration(line));
      if (open.back().externals.empty()) line.fail("no external to iterate");
      open.emplace_back();
      open.back().clocks = {Clock{}, Clock{}};
    } else if (!iterations.empty() && line.take("end")) {
      iterations.back().body = std::move(open.back());
      open.pop_back();
      open.back().externals.back().iteration = std::make_shared<const Iteration>(std::move(iterations.back()));
      iterations.pop_back();
    } else {
      read_line(line, open.back());
    }
    if (line.ok() && !line.at_end()) line.fail("more on the line than expected");
    if (!line.ok()) {
      error = "line " + std::to_string(number) + ": " + line.error();
      return std::nullopt;
    }
  }
  if (open.size() == 1) return std::move(open[0]);
  error = "a body without its `end`";
  return std::nullopt;
}

}  // namespace rml

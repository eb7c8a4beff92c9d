// Reads the text of a core that print_core.cc writes; tests of passes are written as such texts.
//
// Ids may be used before they are defined; the verification at the end finds undefined ids.
// Values must be numbered 0, 1, … without gaps, clocks from c2 on. The reader never takes much
// more memory than the length of the text: a constant has as many digits as elements, except for
// `all`, whose total size is limited.
#include <algorithm>
#include <charconv>

#include "semantics/core/core_text.h"
#include "semantics/values/read_element.h"

namespace rml {

namespace {

// Limit on the nesting depth of bodies of iterations.
constexpr std::size_t most_bodies = 256;

template <class T>
std::optional<T> whole_number(std::string_view digits, int base) {
  T number{};
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  if (digits.empty() || result.ec != std::errc() || result.ptr != digits.data() + digits.size()) return std::nullopt;
  return number;
}

}  // namespace

Span read_span(TextLines& lines) {
  Span span;
  if (!lines.take("@")) return span;
  span.file = lines.integer<std::uint32_t>("a file number");
  lines.expect(":");
  span.begin = lines.integer<std::uint32_t>("an offset");
  lines.expect("-");
  span.end = lines.integer<std::uint32_t>("an offset");
  return span;
}

ValueId read_value_id(TextLines& lines) {
  const std::size_t begin = lines.next_place();
  lines.expect("%");
  const ValueId v = lines.take("?") ? ValueId{} : ValueId{lines.integer<std::uint32_t>("a value's number")};
  lines.joined_from(begin);
  return v;
}

ClockId read_clock_id(TextLines& lines) {
  const std::string text = lines.word("a clock");
  if (text == "base") return base_clock;
  if (text == "never") return never_clock;
  const auto index = text.starts_with('c') ? whole_number<std::uint32_t>(text.substr(1), 10) : std::nullopt;
  if (!index) lines.fail("no clock is called '" + text + "'");
  return ClockId{index.value_or(0)};
}

std::pair<DType, Shape> read_type(TextLines& lines) {
  const std::string text = lines.word("a type");
  const auto dtype = dtype_named(text);
  if (!dtype) lines.fail("no dtype is called '" + text + "'");
  const std::size_t begin = lines.place();
  Shape shape;
  if (lines.take("[") && !lines.take("]")) {
    do {
      shape.push_back(lines.integer<std::int64_t>("an extent"));
    } while (lines.take(","));
    lines.expect("]");
  }
  if (!element_count(shape) || shape.size() > max_rank) {
    lines.fail_at(begin, "no tensor has the shape " + to_string(shape));
    shape.clear();
  }
  return {dtype.value_or(DType::boolean), shape};
}

namespace {

std::vector<std::pair<DType, Shape>> read_types(TextLines& lines) {
  std::vector<std::pair<DType, Shape>> types;
  lines.expect("(");
  if (lines.take(")")) return types;
  do {
    types.push_back(read_type(lines));
  } while (lines.take(","));
  lines.expect(")");
  return types;
}

Tensor read_bytes(TextLines& lines, DType dtype, const Shape& shape) {
  const std::string text = lines.word("hexadecimal digits");
  const std::size_t bytes = static_cast<std::size_t>(*element_count(shape)) * byte_size(dtype);
  if (text.size() != 2 * bytes) {
    lines.fail(type_string(dtype, shape) + " has " + std::to_string(bytes) + " bytes");
    return {};
  }
  Tensor tensor(dtype, shape);
  for (std::size_t i = 0; i < bytes; ++i) {
    const auto byte = whole_number<std::uint8_t>(std::string_view(text).substr(2 * i, 2), 16);
    if (!byte) lines.fail("not a hexadecimal digit");
    if (dtype == DType::boolean && byte.value_or(0) > 1) lines.fail("a Boolean is 00 or 01");
    tensor.as<std::uint8_t>()[i] = byte.value_or(0);
  }
  return tensor;
}

}  // namespace

Tensor read_constant(TextLines& lines, DType dtype, const Shape& shape, std::size_t& uniform_bytes) {
  if (lines.take("bytes")) return read_bytes(lines, dtype, shape);
  const bool uniform = lines.take("all");
  const std::string_view text = lines.chunk("a constant");
  const auto elements = static_cast<std::size_t>(*element_count(shape));
  const bool long_enough = uniform || elements <= text.size();
  auto tensor = lines.ok() && long_enough ? read_tensor(dtype, uniform ? Shape{} : shape, text) : std::nullopt;
  if (!tensor) {
    lines.fail("'" + std::string(text) + "' is not a constant of type " +
               type_string(dtype, uniform ? Shape{} : shape));
    return {};
  }
  if (!uniform) return *tensor;
  const std::size_t size = byte_size(dtype), bytes = elements * size;
  if (bytes > most_uniform_bytes - uniform_bytes) {
    lines.fail("more than " + std::to_string(most_uniform_bytes) + " bytes of constants with equal elements");
    return {};
  }
  uniform_bytes += bytes;
  Tensor filled(dtype, shape);
  for (std::size_t i = 0; i < bytes; i += size) std::memcpy(filled.as<std::byte>() + i, tensor->data(), size);
  return filled;
}

namespace {

Attribute read_attribute(TextLines& lines, ParameterKind kind) {
  Attribute attribute;
  if (lines.take("all")) return attribute;
  attribute.given = true;
  switch (kind) {
    case ParameterKind::operand:
      break;
    case ParameterKind::integers:
      if (!lines.take("[")) {
        attribute.scalar = true;
        attribute.integers.push_back(lines.integer<std::int64_t>("an integer"));
      } else if (!lines.take("]")) {
        do {
          attribute.integers.push_back(lines.integer<std::int64_t>("an integer"));
        } while (lines.take(","));
        lines.expect("]");
      }
      break;
    case ParameterKind::number:
      if (!read_element(DType::f64, lines.number("a number"), &attribute.number)) lines.fail("not a number");
      break;
    case ParameterKind::dtype: {
      const auto dtype = dtype_named(lines.word("a dtype"));
      if (!dtype) lines.fail("not a dtype");
      attribute.dtype = dtype.value_or(DType::f32);
      break;
    }
    case ParameterKind::text:
      attribute.text = lines.name();
      break;
  }
  return attribute;
}

std::vector<ValueId> read_operands(TextLines& lines) {
  std::vector<ValueId> operands;
  while (lines.peek() == '%') operands.push_back(read_value_id(lines));
  return operands;
}

std::uint64_t read_key(TextLines& lines) {
  const std::string text = lines.word("a key");
  const auto key = text.starts_with("0x") ? whole_number<std::uint64_t>(text.substr(2), 16) : std::nullopt;
  if (!key) lines.fail("'" + text + "' is not a key: 0x and hexadecimal digits");
  return key.value_or(0);
}

core::Rhs read_apply(TextLines& lines, const std::string& keyword) {
  core::Apply apply{};
  const auto op = operators().find(keyword);
  if (!op) {
    lines.fail("no operator is called '" + keyword + "'");
    return apply;
  }
  apply.op = *op;
  apply.operands = read_operands(lines);
  if (!lines.take("{")) return apply;
  bool separate = false;
  for (const OperatorParameter& parameter : operators()[*op].parameters) {
    if (parameter.kind == ParameterKind::operand || lines.peek() == '}') continue;
    if (separate) lines.expect(",");
    if (lines.take("key")) {
      lines.fail("expected attribute '" + std::string(parameter.name) + "'");
      return apply;
    }
    lines.expect(parameter.name);
    lines.expect("=");
    apply.attributes.push_back(read_attribute(lines, parameter.kind));
    separate = true;
  }
  if (separate && lines.peek() != '}') lines.expect(",");
  if (lines.take("key")) {
    lines.expect("=");
    apply.key = read_key(lines);
  }
  lines.expect("}");
  return apply;
}

core::Rhs read_rhs(TextLines& lines, DType dtype, const Shape& shape, std::size_t& uniform_bytes) {
  const std::string keyword = lines.word("a right-hand side");
  if (keyword == "const") return core::Const{read_constant(lines, dtype, shape, uniform_bytes)};
  if (keyword == "input") return core::Input{lines.integer<std::uint32_t>("an input's number")};
  if (keyword == "call") {
    const auto external = lines.integer<std::uint32_t>("an external node's number");
    return core::Call{external, read_operands(lines)};
  }
  if (keyword == "result") {
    const auto output = lines.integer<std::uint32_t>("an output's number");
    lines.expect("of");
    return core::Result{read_value_id(lines), output};
  }
  if (keyword == "when") {
    const bool positive = !lines.take("not");
    const ValueId condition = read_value_id(lines);
    return core::When{read_value_id(lines), condition, positive};
  }
  if (keyword == "merge") {
    const ValueId condition = read_value_id(lines);
    const ValueId on_true = read_value_id(lines);
    return core::Merge{condition, on_true, read_value_id(lines)};
  }
  if (keyword == "fby") {
    const ValueId init = read_value_id(lines);
    return core::Fby{init, read_value_id(lines)};
  }
  if (keyword == "post") return core::Post{read_value_id(lines)};
  return read_apply(lines, keyword);
}

void read_external(TextLines& lines, Core& core) {
  if (lines.integer<std::uint32_t>("a number") != core.externals.size()) lines.fail("externals are numbered in order");
  ExternalNode external;
  external.symbol = lines.name();
  external.inputs = read_types(lines);
  lines.expect("->");
  external.outputs = read_types(lines);
  external.span = read_span(lines);
  if (lines.take("asks"))
    external.calling = Calling::asks;
  else if (lines.take("joins"))
    external.calling = Calling::joins;
  core.externals.push_back(std::move(external));
}

Deal read_deal(TextLines& lines, const Core& core) {
  Deal deal;
  deal.end = lines.integer<std::uint32_t>("the number of an input");
  if (deal.end >= core.inputs.size()) lines.fail("the core has fewer inputs");
  lines.expect("by");
  deal.per_step = lines.integer<std::uint32_t>("the number of micro-batches of a step");
  if (deal.per_step == 0 || deal.per_step > most_per_step) lines.fail("this number of micro-batches is not possible");
  return deal;
}

// `rmlc show core` prints the word `dealt` alone.
DealtRows read_dealt(TextLines& lines, const Core& core) {
  DealtRows dealt;
  if (!lines.at_end()) dealt.end = lines.integer<std::uint32_t>("the number of an input");
  if (dealt.end >= core.inputs.size()) lines.fail("the core has fewer inputs");
  if (lines.take("by")) dealt.count = lines.integer<std::int64_t>("the number of micro-batches of a step");
  dealt.span = read_span(lines);
  return dealt;
}

Iteration read_iteration(TextLines& lines) {
  Iteration it;
  it.states = lines.integer<std::uint32_t>("a number of states");
  it.sequences = lines.integer<std::uint32_t>("a number of sequences");
  lines.expect("of");
  it.length = lines.integer<std::int64_t>("a length");
  it.reverse = lines.take("reverse");
  it.can_fail = lines.take("can_fail");
  return it;
}

void read_instance(TextLines& lines, Core& core) {
  if (lines.integer<std::uint32_t>("a number") != core.instances.size()) lines.fail("instances are numbered in order");
  Instance instance;
  if (lines.take("in")) instance.parent = InstanceId{lines.integer<std::uint32_t>("an instance's number")};
  instance.derived = lines.take("derived");
  if (lines.take("steps")) {
    const std::string node = lines.word("a node of the library `steps`");
    instance.steps = steps_node_named(node);
    if (instance.steps == StepsNode::none) lines.fail("the library `steps` has no node '" + node + "'");
  }
  if (lines.take("node")) instance.node = NodeId{lines.integer<std::uint32_t>("a node's number")};
  if (!lines.at_end() && lines.peek() != '@') instance.path = lines.name();
  instance.call = read_span(lines);
  core.instances.push_back(std::move(instance));
}

void read_clock(TextLines& lines, Core& core) {
  const ClockId id = read_clock_id(lines);
  if (id == base_clock) return;
  if (lines.ok() && id.index != core.clocks.size()) {
    lines.fail("clocks are numbered in order: expected c" + std::to_string(core.clocks.size()));
  }
  Clock clock;
  lines.expect("=");
  clock.parent = read_clock_id(lines);
  lines.expect("on");
  clock.positive = !lines.take("not");
  clock.condition = read_value_id(lines);
  core.clocks.push_back(clock);
}

Port read_port(TextLines& lines) {
  Port port;
  port.name = lines.name();
  lines.expect("=");
  port.value = read_value_id(lines);
  port.span = read_span(lines);
  return port;
}

CoreAssert read_assert(TextLines& lines) {
  CoreAssert check;
  check.condition = read_value_id(lines);
  check.message = lines.name();
  check.span = read_span(lines);
  return check;
}

Parameter read_parameter(TextLines& lines) {
  Parameter parameter;
  parameter.path = lines.name();
  lines.expect("=");
  parameter.value = read_value_id(lines);
  return parameter;
}

// Reads one core. Bodies of iterations are written inside it; `open_` is the stack of the cores
// that are being read.
class CoreReader {
 public:
  explicit CoreReader(TextLines& lines) : lines_(lines) { open(); }

  // Reads to the end of the text. The line with the form is optional, for texts written by hand.
  std::optional<Core> read() {
    bool more = lines_.next();
    if (more && lines_.at_form()) lines_.expect_form("core"), more = lines_.next();
    for (; more; more = lines_.next()) line();
    return finish();
  }
  // Reads a nested program up to its line `end`.
  std::optional<Core> read_inner() {
    while (lines_.next()) {
      if (open_.size() == 1 && lines_.take("end")) return std::move(open_[0]);
      line();
    }
    return finish(true);
  }
  // The place of a value of the program; for other values, the begin of the program.
  std::size_t place_of(ValueId v) const { return v.index < places_.size() ? places_[v.index] : begin_; }

 private:
  void open() {
    open_.emplace_back();
    open_.back().clocks = {Clock{}, Clock{}};
  }

  std::optional<Core> finish(bool inner = false) {
    if (open_.size() > 1 || inner) lines_.fail(open_.size() > 1 ? "a body lacks its `end`" : "a core lacks its `end`");
    if (!lines_.ok()) return std::nullopt;
    return std::move(open_[0]);
  }

  void line() {
    if (lines_.take("iterate")) {
      begin_body();
    } else if (!iterations_.empty() && lines_.take("end")) {
      iterations_.back().body = std::move(open_.back());
      open_.pop_back();
      open_.back().externals.back().iteration = std::make_shared<const Iteration>(std::move(iterations_.back()));
      iterations_.pop_back();
    } else {
      part(open_.back());
    }
  }

  void begin_body() {
    const std::size_t begin = lines_.place();
    iterations_.push_back(read_iteration(lines_));
    if (open_.back().externals.empty()) lines_.fail_at(begin, "no external node to iterate precedes the body");
    if (iterations_.size() > most_bodies)
      lines_.fail_at(begin, "more than " + std::to_string(most_bodies) + " nested bodies");
    open();
  }

  void part(Core& core) {
    if (lines_.peek() == '%') return value(core);
    if (lines_.take("core")) {
      if (open_.size() == 1) begin_ = lines_.place();
      core.entry = lines_.name();
    } else if (lines_.take("external")) {
      read_external(lines_, core);
    } else if (lines_.take("instance")) {
      read_instance(lines_, core);
    } else if (lines_.take("clock")) {
      read_clock(lines_, core);
    } else if (lines_.take("input")) {
      core.inputs.push_back(read_port(lines_));
    } else if (lines_.take("dealt")) {
      core.dealt = read_dealt(lines_, core);
    } else if (lines_.take("deal")) {
      core.deal = read_deal(lines_, core);
    } else if (lines_.take("output")) {
      core.outputs.push_back(read_port(lines_));
    } else if (lines_.take("watched")) {
      core.watched = lines_.integer<std::uint32_t>("a number of outputs");
      if (core.watched > core.outputs.size()) lines_.fail("the core has fewer outputs");
    } else if (lines_.take("assert")) {
      core.asserts.push_back(read_assert(lines_));
    } else if (lines_.take("parameter")) {
      core.parameters.push_back(read_parameter(lines_));
    } else if (lines_.take("watch")) {
      core.watches.push_back(read_port(lines_));
    } else {
      lines_.fail_expecting("a line of core");
    }
  }

  void value(Core& core) {
    if (open_.size() == 1) places_.push_back(lines_.place());
    const ValueId v = read_value_id(lines_);
    if (lines_.ok() && v.index != core.values.size())
      lines_.fail("values are numbered in order: expected %" + std::to_string(core.values.size()));
    Value value;
    lines_.expect(":");
    std::tie(value.dtype, value.shape) = read_type(lines_);
    value.clock = lines_.take("on") ? read_clock_id(lines_) : base_clock;
    lines_.expect("=");
    if (lines_.ok()) value.rhs = read_rhs(lines_, value.dtype, value.shape, uniform_bytes_);
    if (lines_.peek() == '"' || lines_.at_word()) value.name = lines_.name();
    if (lines_.take("#")) value.instance = InstanceId{lines_.integer<std::uint32_t>("an instance's number")};
    value.span = read_span(lines_);
    core.values.push_back(std::move(value));
  }

  TextLines& lines_;
  std::vector<Core> open_;  // the program, then the bodies that are being read
  std::vector<Iteration> iterations_;
  std::size_t begin_ = 0;
  std::vector<std::size_t> places_;  // indexed by value of the program: position in the text where its line begins
  std::size_t uniform_bytes_ = 0;
};

void verify_core_read(const CoreReader& reader, const Core& core, TextLines& lines) {
  const CoreViolation violation = find_violation(core);
  if (!violation.message.empty()) lines.fail_at(reader.place_of(violation.value), violation.message);
}

}  // namespace

std::optional<Core> read_inner_core(TextLines& lines) {
  CoreReader reader(lines);
  auto core = reader.read_inner();
  if (core) verify_core_read(reader, *core, lines);
  if (!lines.ok()) return std::nullopt;
  return core;
}

std::optional<Core> read_core(std::string_view text, TextFault& fault) {
  TextLines lines(text);
  CoreReader reader(lines);
  auto core = reader.read();
  if (core) verify_core_read(reader, *core, lines);
  fault = lines.fault();
  if (!lines.ok()) return std::nullopt;
  return core;
}

std::optional<Core> read_core(const std::string& text, std::string& error) {
  TextLines lines(text);
  auto core = CoreReader(lines).read();
  error = lines.ok() ? "" : to_string(lines.fault(), text);
  return core;
}

}  // namespace rml

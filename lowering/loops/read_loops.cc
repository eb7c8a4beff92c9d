// Reads the text that loops_text writes.
//
// The first part is the steps. The rest refers to listed buffers and, by number, to elements of the current nest. At
// the end verify checks that everything fits together.
#include <array>
#include <charconv>
#include <map>
#include <tuple>
#include <utility>

#include "lowering/loops/loops_text.h"
#include "lowering/loops/operations.h"
#include "lowering/schedule/form_reader.h"
#include "lowering/text/steps_text.h"

namespace rml::loops {

namespace {

constexpr std::uint32_t of_program = UINT32_MAX;
constexpr std::size_t deepest = 2000;  // limit on the nesting depth of blocks
constexpr std::size_t most_axes = 64;

class LoopsReader : FormReader {
 public:
  LoopsReader(TextLines& lines, steps::Program steps) : FormReader(lines) {
    p_.steps = std::make_shared<const steps::Program>(std::move(steps));
    speak_of(p_.steps->core);
  }

  // Reads from the line after the current one.
  std::optional<Program> read() {
    while (lines_.next())
      if (!table_line() && !unit_line()) lines_.fail_expecting("a line of loops");
    if (lines_.ok() && p_.units.size() != p_.steps->units.size())
      lines_.fail("the number of units differs from that of the steps");
    if (!lines_.ok()) return std::nullopt;
    return std::move(p_);
  }

 private:
  // ---- tables

  bool table_line() {
    if (!p_.units.empty()) return false;
    if (lines_.take("body")) return body_line();
    if (!lines_.take("buffer")) return false;
    const std::size_t begin = lines_.next_place();
    const Key key = this->key();
    Buffer b;
    b.space = key.space;
    std::tie(b.dtype, b.shape) = type();
    if (key.space == Space::scratch)
      b.body = lines_.take("in") ? index("body", p_.bodies.size()) : of_program;
    else
      b.body = key.body;
    const bool of_value = key.space == Space::value || (key.space == Space::constant && !key.initial);
    if (of_value) b.value = ValueId(key.number);
    if (!of_value && key.space != Space::scratch) b.index = key.number;
    if (lines_.ok() && !places_.emplace(key, BufferId(p_.buffers.size())).second)
      lines_.fail_at(begin, "this buffer is defined twice");
    p_.buffers.push_back(std::move(b));
    return true;
  }

  bool body_line() {
    next_index("body", p_.bodies.size());
    lines_.expect("of");
    const std::uint32_t outer = scope();
    within(outer, [&] {
      const ValueId v = value();
      const steps::Program& steps = steps_of(outer);
      const auto* call = lines_.ok() ? std::get_if<core::Call>(&core()[v].rhs) : nullptr;
      const bool known = call != nullptr && call->external < steps.bodies.size();
      if (!known || steps.bodies[call->external] == nullptr) return lines_.fail("this is not a call of an iteration");
      p_.bodies.push_back(steps.bodies[call->external]);
    });
    return true;
  }

  const steps::Program& steps_of(std::uint32_t body) const { return body == of_program ? *p_.steps : *p_.bodies[body]; }
  // Reads `0:`, which means body 0; without it: the program.
  std::uint32_t scope() {
    if (lines_.peek() < '0' || lines_.peek() > '9') return of_program;
    const std::uint32_t body = index("body", p_.bodies.size());
    lines_.expect(":");
    return lines_.ok() ? body : of_program;
  }
  // Calls f while ids refer to the core of that body.
  template <class F>
  void within(std::uint32_t body, const F& f) {
    const std::shared_ptr<const Core> outer = shared_core();
    if (lines_.ok()) speak_of(steps_of(body).core);
    f();
    speak_of(outer);
  }
  // Reads a value, which must be one of the core that is being read.
  ValueId scoped_value() {
    if (scope() != body_) lines_.fail("this value belongs to another body");
    return value();
  }

  struct Key {
    Space space = Space::value;
    bool initial = false;
    std::uint32_t body = of_program, number = 0;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  Key key() {
    Key k;
    k.body = scope();
    if (lines_.peek() == '%') {
      within(k.body, [&] {
        const ValueId v = value();
        k.number = v.index;
        if (lines_.ok() && core().is_const(v)) k.space = Space::constant;
      });
      return k;
    }
    if (lines_.take("initial")) {
      k.space = Space::constant, k.initial = true;
      k.number = lines_.integer<std::uint32_t>("the number of a cell");
      return k;
    }
    constexpr std::array<std::pair<const char*, Space>, 5> spaces = {{{"scratch", Space::scratch},
                                                                      {"cell", Space::cell},
                                                                      {"array", Space::array},
                                                                      {"input", Space::input},
                                                                      {"output", Space::output}}};
    for (const auto& [word, space] : spaces) {
      if (!lines_.take(word)) continue;
      k.space = space;
      k.number = lines_.integer<std::uint32_t>("a number");
      return k;
    }
    lines_.fail_expecting("a buffer");
    return k;
  }
  BufferId place() {
    const std::size_t begin = lines_.next_place();
    const Key k = key();
    const auto at = places_.find(k);
    if (at == places_.end()) {
      lines_.fail_at(begin, "there is no such buffer");
      return {};
    }
    return at->second;
  }
  bool at_place() const {
    const char c = lines_.peek();
    return c == '%' || (c >= '0' && c <= '9') || lines_.at_word();
  }
  std::vector<BufferId> places_up_to(const char* word) {
    std::vector<BufferId> all;
    while (lines_.ok() && at_place() && !lines_.next_is(word)) all.push_back(place());
    return all;
  }

  // ---- units

  bool unit_line() {
    if (lines_.take("unit")) {
      next_index("unit", p_.units.size());
      p_.units.emplace_back();
      return true;
    }
    if (lines_.take("rows")) {
      p_.rows = places_up_to("end");
      return true;
    }
    if (p_.units.empty()) return false;
    Unit& u = p_.units.back();
    if (lines_.take("operands")) {
      u.operands = places_up_to("end");
    } else if (lines_.take("before")) {
      part(u.before);
    } else if (lines_.take("instant")) {
      part(u.instant);
    } else if (lines_.take("commit")) {
      part(u.commit);
    } else if (lines_.take("sweep")) {
      u.sweeps.emplace_back();
      u.sweeps.back().backward = lines_.take("backward");
      if (!u.sweeps.back().backward) lines_.expect("forward");
    } else if (!u.sweeps.empty() && lines_.take("prologue")) {
      part(u.sweeps.back().prologue);
    } else if (!u.sweeps.empty() && lines_.take("loop")) {
      part(u.sweeps.back().body);
    } else {
      return false;
    }
    return true;
  }

  void part(Block& into) {
    if (!into.statements.empty()) lines_.fail("this block occurs twice");
    if (statements(into)) lines_.fail("`else` belongs to an `if`");
  }
  // Reads lines up to `end`, or `else`; returns true for `else`.
  bool statements(Block& into) {
    if (++depth_ > deepest) lines_.fail("more than " + std::to_string(deepest) + " nested blocks");
    while (lines_.next()) {
      const bool otherwise = lines_.next_is("else");
      if (otherwise ? lines_.take("else") : lines_.take("end")) {
        --depth_;
        return otherwise;
      }
      into.statements.push_back(statement());
    }
    lines_.fail("a block lacks its `end`");
    --depth_;
    return false;
  }

  Statement statement() {
    if (lines_.take("nest")) return nest();
    if (lines_.take("kernel")) return kernel();
    if (lines_.take("call")) return external_call();
    if (lines_.take("rounds")) return rounds();
    if (lines_.take("if")) return branch();
    if (lines_.take("push")) return push();
    if (lines_.take("expect")) return expect();
    if (lines_.take("assert")) {
      const BufferId condition = place();
      return Assert{condition, site()};
    }
    if (lines_.take("assume")) return assume();
    if (lines_.take("last")) {
      lines_.expect(":=");
      const bool positive = !lines_.take("not");
      return MarkLast{place(), positive};
    }
    const BufferId to = place();
    lines_.expect(":=");
    return Copy{to, place()};
  }

  std::uint32_t site() {
    lines_.expect("site");
    return lines_.integer<std::uint32_t>("the number of a site");
  }

  Kernel kernel() {
    Kernel k;
    k.symbol = lines_.word("a symbol");
    k.result = place();
    lines_.expect(":=");
    k.operands = places_up_to("of");
    lines_.expect("of");
    k.of = scoped_value();
    return k;
  }
  ExternalCall external_call() {
    ExternalCall c;
    c.external = index("external", core().externals.size());
    while (lines_.ok() && !lines_.next_is(":=")) c.results.push_back(place());
    lines_.expect(":=");
    c.operands = places_up_to("of");
    lines_.expect("of");
    c.of = scoped_value();
    return c;
  }

  Rounds rounds() {
    Rounds r;
    r.body = index("body", p_.bodies.size());
    lines_.expect("of");
    r.of = scoped_value();
    lines_.expect("length");
    r.length = extent();
    r.reverse = lines_.take("reverse");
    r.block = std::make_unique<Block>();
    bool ended = false;
    while (!ended && lines_.next()) {
      ended = lines_.take("begin");
      if (ended) continue;
      const bool taken = lines_.take("take");
      if (!taken) lines_.expect("stack");
      const BufferId whole = place();
      (taken ? r.taken : r.stacked).push_back({whole, place()});
    }
    if (!lines_.ok()) return r;
    within(r.body, [&] {
      const std::uint32_t outer = std::exchange(body_, r.body);
      part(*r.block);
      body_ = outer;
    });
    if (!lines_.next() || !lines_.take("end")) lines_.fail("rounds lack their `end`");
    return r;
  }

  Branch branch() {
    Branch b;
    b.positive = !lines_.take("not");
    if (lines_.take("first"))
      b.kind = steps::Test::first;
    else if (lines_.take("last"))
      b.kind = steps::Test::last;
    else
      b.condition = place();
    b.then_block = std::make_unique<Block>();
    b.else_block = std::make_unique<Block>();
    if (statements(*b.then_block) && statements(*b.else_block)) lines_.fail("this branch has an `else` already");
    return b;
  }

  Push push() {
    lines_.expect("queue");
    const QueueId q{index("queue", p_.steps->queues.size())};
    return {q, place()};
  }
  Expect expect() {
    lines_.expect("input");
    const std::uint32_t input = index("input", core().inputs.size());
    const bool present = lines_.take("present");
    if (!present) lines_.expect("absent");
    return {input, present};
  }
  SideCell assume() {
    const bool positive = !lines_.take("not");
    lines_.expect("cell");
    const CellId cell{index("cell", p_.steps->cells.size())};
    return {cell, positive, site()};
  }

  // ---- nests

  Nest nest() {
    Nest n;
    while (lines_.ok() && !lines_.at_end() && !lines_.next_is("of")) {
      Axis a;
      a.role = lines_.take("sum") ? Role::sum : Role::each;
      if (n.axes.size() == most_axes) lines_.fail("more than " + std::to_string(most_axes) + " axes");
      lines_.expect(axis_name(n.axes.size()) + ":");
      a.extent = extent();
      n.axes.push_back(a);
    }
    if (lines_.take("of")) {
      n.of = scoped_value();
      equation_of(n.of);
    }
    axes_ = n.axes.size();
    bool ended = false;
    while (!ended && lines_.next()) {
      ended = lines_.take("end");
      if (!ended) n.body.push_back(element(static_cast<std::uint32_t>(n.body.size())));
    }
    if (lines_.ok() && !ended) lines_.fail("a nest lacks its `end`");
    return n;
  }

  std::uint32_t element_number() {
    const std::string word = lines_.word("an element");
    std::uint32_t n = 0;
    if (!numbered(word, 't', n)) lines_.fail("expected an element, such as `t0`");
    return n;
  }
  // Reads a letter and a number. For example, `t12` sets n to 12.
  static bool numbered(const std::string& word, char letter, std::uint32_t& n) {
    if (word.empty() || word[0] != letter) return false;
    const char* const end = word.data() + word.size();
    const auto read = std::from_chars(word.data() + 1, end, n);
    return read.ec == std::errc() && read.ptr == end;
  }
  std::vector<std::uint32_t> elements_of_line() {
    std::vector<std::uint32_t> all;
    while (lines_.ok() && !lines_.at_end()) all.push_back(element_number());
    return all;
  }
  DType dtype() {
    const auto d = dtype_named(lines_.word("a dtype"));
    if (!d) lines_.fail("this is not a dtype");
    return d.value_or(DType::f32);
  }
  std::size_t axis(const std::string& word) {
    for (std::size_t k = 0; k < axes_; ++k)
      if (axis_name(k) == word) return k;
    return SIZE_MAX;
  }

  Access access() {
    Access a{place(), 0, std::vector<std::int64_t>(axes_, 0), {}};
    if (!lines_.take("[")) return a;
    bool negative = lines_.take("-");
    do {
      term(a, negative);
      negative = lines_.next_is("-");
    } while (lines_.ok() && (lines_.take("+") || lines_.take("-")));
    lines_.expect("]");
    return a;
  }
  void term(Access& a, bool negative) {
    const bool counted = lines_.peek() >= '0' && lines_.peek() <= '9';
    std::int64_t factor = counted ? lines_.integer<std::int64_t>("a number") : 1;
    if (negative) factor = -factor;
    if (counted && !lines_.take("*")) {
      a.start = factor;
      return;
    }
    const std::string word = lines_.word("an index");
    std::uint32_t computed = 0;
    if (const std::size_t k = axis(word); k != SIZE_MAX)
      a.steps[k] = factor;
    else if (numbered(word, 't', computed))
      a.computed.emplace_back(computed, factor);
    else
      lines_.fail("an index is not allowed here");
  }

  Element element(std::uint32_t position) {
    if (lines_.take("store")) {
      Access to = access();
      return Store{std::move(to), element_number()};
    }
    if (lines_.take("sum")) {
      Sum s;
      s.onto = access();
      s.op = operation_named(lines_.word("an operation")).value_or(ScalarOp::none);
      s.dtype = dtype();
      s.element = element_number();
      return s;
    }
    if (lines_.take("check")) return check();
    if (element_number() != position) lines_.fail("expected t" + std::to_string(position));
    lines_.expect("=");
    const std::string word = lines_.word("an operation");
    if (word == "number") {
      const DType d = dtype();
      return Number{read_constant(lines_, d, {}, uniform_bytes_)};
    }
    if (word == "index") {
      const std::size_t k = axis(lines_.word("an axis"));
      if (k == SIZE_MAX) lines_.fail("there is no such axis");
      return Index{k};
    }
    if (word == "load") return Load{access()};
    return computed(word);
  }
  Element computed(const std::string& word) {
    if (word == "convert") {
      const DType to = dtype(), from = dtype();
      return Convert{to, from, element_number()};
    }
    if (word == "library") {
      std::string function = lines_.word("a function");
      const DType d = dtype();
      return LibraryCall{std::move(function), d, elements_of_line()};
    }
    if (word == "isnan") {
      const DType d = dtype();
      return IsNan{d, element_number()};
    }
    const auto op = operation_named(word);
    if (!op) lines_.fail("there is no operation " + word);
    const DType d = dtype();
    return Operation{op.value_or(ScalarOp::none), d, elements_of_line()};
  }
  Check check() {
    Check c;
    c.bad = element_number();
    lines_.expect("fault");
    c.kind = static_cast<int>(lines_.integer<std::uint32_t>("a kind of fault"));
    c.site = lines_.next_is("site") ? site() : UINT32_MAX;
    if (lines_.take("value")) c.value = element_number();
    if (lines_.take("bound")) c.bound = element_number();
    return c;
  }

  Program p_;
  std::map<Key, BufferId> places_;
  std::uint32_t body_ = of_program;  // the body whose statements are read
  std::size_t axes_ = 0;             // number of axes of the current nest
  std::size_t depth_ = 0, uniform_bytes_ = 0;
};

}  // namespace

std::optional<Program> read_loops(std::string_view text, TextFault& fault) {
  constexpr std::string_view separator = "\nloops\n";
  TextLines head(text);
  if (!head.next()) head.fail_expecting("'form loops'");
  head.expect_form("loops");
  fault = head.fault();
  if (!head.ok()) return std::nullopt;
  const std::size_t end = text.find(separator);
  std::string steps(text.substr(0, end == std::string_view::npos ? end : end + 1));
  // A word of the same length, so that positions stay the same.
  steps.replace(steps.find("loops"), separator.size() - 2, "steps");
  std::optional<steps::Program> of = read_steps(steps, fault);
  if (!of) return std::nullopt;
  if (end == std::string_view::npos) {
    fault = {text.size(), "the text contains no loops"};
    return std::nullopt;
  }
  TextLines lines(text.substr(end + 1));
  lines.next();
  lines.expect("loops");
  LoopsReader reader(lines, std::move(*of));
  auto program = reader.read();
  fault = lines.fault();
  if (!fault.message.empty()) fault.offset += end + 1;
  if (!program) return std::nullopt;
  if (const std::string violation = verify(*program); !violation.empty()) {
    fault = {text.size(), violation};
    return std::nullopt;
  }
  return program;
}

}  // namespace rml::loops

// Writes loops as text: buffers, then statements.
#include "lowering/loops/loops_text.h"

#include <utility>

#include "lowering/loops/operations.h"
#include "lowering/text/steps_text.h"
#include "semantics/core/core_text.h"
#include "semantics/values/overloaded.h"

namespace rml::loops {

namespace {

std::string number_text(std::size_t n) { return " " + std::to_string(n); }
std::string element_text(std::uint32_t n) { return " t" + std::to_string(n); }

std::string scoped(std::uint32_t body, const std::string& text) {
  return body == UINT32_MAX ? text : std::to_string(body) + ":" + text;
}

class LoopsText {
 public:
  explicit LoopsText(const Program& p) : p_(p) {
    std::uint32_t scratch = 0;
    for (const Buffer& b : p.buffers) scratch_.push_back(b.space == Space::scratch ? scratch++ : 0);
  }

  std::string run() {
    text_ = "loops\n";
    for (const Unit& u : p_.units) for_each_block(u, [&](const Block& b) { bodies(b); });
    for (std::size_t i = 0; i < p_.buffers.size(); ++i) {
      const Buffer& b = p_.buffers[i];
      text_ += "buffer " + place(BufferId(i)) + " " + type_string(b.dtype, b.shape);
      if (b.space == Space::scratch && b.body != UINT32_MAX) text_ += " in" + number_text(b.body);
      text_ += "\n";
    }
    for (std::size_t i = 0; i < p_.units.size(); ++i) unit(i);
    if (!p_.rows.empty()) text_ += "rows" + places(p_.rows) + "\n";
    return std::move(text_);
  }

 private:
  template <class F>
  static void for_each_block(const Unit& u, const F& f) {
    f(u.before), f(u.instant);
    for (const Sweep& sweep : u.sweeps) f(sweep.prologue), f(sweep.body);
    f(u.commit);
  }

  // Lists the call of each body; bodies inside other bodies follow them.
  void bodies(const Block& block) {
    for (const Statement& s : block.statements) {
      if (const auto* branch = std::get_if<Branch>(&s)) bodies(*branch->then_block), bodies(*branch->else_block);
      const auto* rounds = std::get_if<Rounds>(&s);
      if (rounds == nullptr) continue;
      text_ += "body" + number_text(rounds->body) + " of " + value(rounds->of) + "\n";
      const std::uint32_t outer = std::exchange(body_, rounds->body);
      bodies(*rounds->block);
      body_ = outer;
    }
  }

  const Core& core() const { return body_ == UINT32_MAX ? *p_.steps->core : *p_.bodies[body_]->core; }
  std::string value(ValueId v) const { return scoped(body_, id_text(v)); }

  std::string place(BufferId id) const {
    const Buffer& b = p_.buffers[id.index];
    switch (b.space) {
      case Space::constant:
        return scoped(b.body, b.value.valid() ? id_text(b.value) : "initial" + number_text(b.index));
      case Space::value:
        return scoped(b.body, id_text(b.value));
      case Space::scratch:
        return "scratch" + number_text(scratch_[id.index]);
      case Space::cell:
        return "cell" + number_text(b.index);
      case Space::array:
        return "array" + number_text(b.index);
      case Space::input:
        return "input" + number_text(b.index);
      case Space::output:
        return "output" + number_text(b.index);
    }
    return {};
  }
  std::string places(const std::vector<BufferId>& all) const {
    std::string text;
    for (const BufferId b : all) text += " " + place(b);
    return text;
  }

  // ---- statements

  void unit(std::size_t i) {
    const Unit& u = p_.units[i];
    text_ += "unit" + number_text(i) + "\n";
    if (!u.operands.empty()) text_ += "  operands" + places(u.operands) + "\n";
    part("before", u.before);
    part("instant", u.instant);
    for (const Sweep& sweep : u.sweeps) {
      text_ += sweep.backward ? "  sweep backward\n" : "  sweep forward\n";
      part("prologue", sweep.prologue);
      part("loop", sweep.body);
    }
    part("commit", u.commit);
  }

  void part(const char* name, const Block& b) {
    if (b.statements.empty()) return;
    line(1, name);
    block(b, 2);
    line(1, "end");
  }

  void line(std::size_t depth, const std::string& text) {
    text_.append(2 * depth, ' ');
    text_ += text + "\n";
  }

  void block(const Block& b, std::size_t depth) {
    for (const Statement& s : b.statements) std::visit([&](const auto& x) { put(x, depth); }, s);
  }

  void put(const Nest& nest, std::size_t depth) {
    std::string head = "nest";
    for (std::size_t k = 0; k < nest.axes.size(); ++k)
      head +=
          (nest.axes[k].role == Role::sum ? " sum " : " ") + axis_name(k) + ":" + std::to_string(nest.axes[k].extent);
    if (nest.of.valid()) head += " of " + value(nest.of) + " = " + equation_text(core(), nest.of);
    line(depth, head);
    for (std::size_t k = 0; k < nest.body.size(); ++k)
      line(depth + 1, std::visit([&](const auto& e) { return text(e, k); }, nest.body[k]));
    line(depth, "end");
  }
  void put(const Copy& s, std::size_t depth) { line(depth, place(s.to) + " := " + place(s.from)); }
  void put(const Kernel& s, std::size_t depth) {
    line(depth, "kernel " + s.symbol + " " + place(s.result) + " :=" + places(s.operands) + " of " + value(s.of));
  }
  void put(const ExternalCall& s, std::size_t depth) {
    line(depth,
         "call" + number_text(s.external) + places(s.results) + " :=" + places(s.operands) + " of " + value(s.of));
  }
  void put(const Rounds& s, std::size_t depth) {
    line(depth, "rounds" + number_text(s.body) + " of " + value(s.of) + " length " + std::to_string(s.length) +
                    (s.reverse ? " reverse" : ""));
    for (const Rounds::Slice& x : s.taken) line(depth + 1, "take " + place(x.whole) + " " + place(x.element));
    for (const Rounds::Slice& x : s.stacked) line(depth + 1, "stack " + place(x.whole) + " " + place(x.element));
    line(depth + 1, "begin");
    const std::uint32_t outer = std::exchange(body_, s.body);
    block(*s.block, depth + 2);
    body_ = outer;
    line(depth + 1, "end");
    line(depth, "end");
  }
  void put(const Branch& s, std::size_t depth) {
    const std::string what = s.kind == steps::Test::first  ? "first"
                             : s.kind == steps::Test::last ? "last"
                                                           : place(s.condition);
    line(depth, std::string("if ") + (s.positive ? "" : "not ") + what);
    block(*s.then_block, depth + 1);
    if (!s.else_block->statements.empty()) {
      line(depth, "else");
      block(*s.else_block, depth + 1);
    }
    line(depth, "end");
  }
  void put(const Push& s, std::size_t depth) {
    line(depth, "push queue" + number_text(s.queue.index) + " " + place(s.from));
  }
  void put(const Expect& s, std::size_t depth) {
    line(depth, "expect input" + number_text(s.input) + (s.present ? " present" : " absent"));
  }
  void put(const Assert& s, std::size_t depth) {
    line(depth, "assert " + place(s.condition) + " site" + number_text(s.site));
  }
  void put(const SideCell& s, std::size_t depth) {
    line(depth, std::string("assume ") + (s.positive ? "" : "not ") + "cell" + number_text(s.cell.index) + " site" +
                    number_text(s.site));
  }
  void put(const MarkLast& s, std::size_t depth) {
    line(depth, std::string("last := ") + (s.positive ? "" : "not ") + place(s.condition));
  }

  // ---- elements

  std::string access(const Access& a) const {
    std::string terms;
    const auto add = [&](std::int64_t factor, const std::string& what) {
      const std::int64_t size = factor < 0 ? -factor : factor;
      if (!terms.empty()) terms += factor < 0 ? " - " : " + ";
      if (terms.empty() && factor < 0) terms += "-";
      if (what.empty() || size != 1) terms += std::to_string(size);
      if (!what.empty()) terms += (size == 1 ? "" : "*") + what;
    };
    if (a.start != 0) add(a.start, "");
    for (std::size_t k = 0; k < a.steps.size(); ++k)
      if (a.steps[k] != 0) add(a.steps[k], axis_name(k));
    for (const auto& [e, step] : a.computed) add(step, "t" + std::to_string(e));
    return place(a.buffer) + (terms.empty() ? "" : "[" + terms + "]");
  }
  static std::string dtype_text(DType d) { return " " + std::string(name(d)); }
  static std::string defined(std::size_t k) { return "t" + std::to_string(k) + " = "; }
  static std::string operands(const std::vector<std::uint32_t>& all) {
    std::string text;
    for (const std::uint32_t e : all) text += element_text(e);
    return text;
  }

  static std::string text(const Number& e, std::size_t k) {
    return defined(k) + "number" + dtype_text(e.value.dtype()) + " " + constant_text(e.value);
  }
  static std::string text(const Index& e, std::size_t k) { return defined(k) + "index " + axis_name(e.axis); }
  std::string text(const Load& e, std::size_t k) const { return defined(k) + "load " + access(e.from); }
  static std::string text(const Operation& e, std::size_t k) {
    return defined(k) + std::string(facts_of(e.op).name) + dtype_text(e.dtype) + operands(e.operands);
  }
  static std::string text(const Convert& e, std::size_t k) {
    return defined(k) + "convert" + dtype_text(e.to) + dtype_text(e.from) + element_text(e.operand);
  }
  static std::string text(const LibraryCall& e, std::size_t k) {
    return defined(k) + "library " + e.function + dtype_text(e.dtype) + operands(e.operands);
  }
  static std::string text(const IsNan& e, std::size_t k) {
    return defined(k) + "isnan" + dtype_text(e.dtype) + element_text(e.operand);
  }
  std::string text(const Store& e, std::size_t) const { return "store " + access(e.to) + element_text(e.element); }
  std::string text(const Sum& e, std::size_t) const {
    return "sum " + access(e.onto) + " " + std::string(facts_of(e.op).name) + dtype_text(e.dtype) +
           element_text(e.element);
  }
  static std::string text(const Check& e, std::size_t) {
    std::string text = "check" + element_text(e.bad) + " fault " + std::to_string(e.kind);
    if (e.site != UINT32_MAX) text += " site" + number_text(e.site);
    if (e.value != UINT32_MAX) text += " value" + element_text(e.value);
    if (e.bound != UINT32_MAX) text += " bound" + element_text(e.bound);
    return text;
  }

  const Program& p_;
  std::vector<std::uint32_t> scratch_;  // indexed by buffer: its number among the scratch buffers
  std::uint32_t body_ = UINT32_MAX;     // the body whose statements are written
  std::string text_;
};

}  // namespace

std::string axis_name(std::size_t axis) {
  constexpr std::string_view letters = "ijklmn";
  return axis < letters.size() ? std::string(1, letters[axis]) : "i" + std::to_string(axis);
}

std::string print(const Program& p) { return LoopsText(p).run(); }

std::string loops_text(const Program& p) {
  const std::string steps = steps_text(*p.steps);
  return form_line("loops") + steps.substr(form_line("steps").size()) + print(p);
}

}  // namespace rml::loops

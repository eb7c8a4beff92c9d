// Writes the complete text of a program of steps.
#include "lowering/text/steps_text.h"

#include "lowering/demand/on_demand.h"
#include "lowering/schedule/form_reader.h"
#include "lowering/steps/leader.h"

namespace rml {

namespace {

std::string number(std::size_t n) { return " " + std::to_string(n); }

std::string named(const std::string& name) { return name.empty() ? "" : " " + quoted_text(name); }

std::string memory_of(ValueId fby) { return fby.valid() ? " of " + id_text(fby) : ""; }

class StepsText {
 public:
  explicit StepsText(const steps::Program& p) : p_(p), core_(*p.core) {}

  // Writes from the core's first line to the last line of units and bodies.
  std::string run() {
    text_ = inner_core_text(core_);
    if (p_.straight) text_ += "straight\n";
    if (p_.network) text_ += "network\n";
    storage();
    sites();
    if (p_.on_demand != nullptr) equations();
    for (std::size_t u = 0; u < p_.units.size(); ++u) unit(u);
    if (!p_.emitter.operands.empty() || !p_.emitter.outputs.empty()) rows();
    for (std::size_t k = 0; k < p_.bodies.size(); ++k)
      if (p_.bodies[k] != nullptr) text_ += "body" + number(k) + "\n" + StepsText(*p_.bodies[k]).run() + "end\n";
    if (p_.leader != nullptr) leader();
    return std::move(text_);
  }

 private:
  // ---- storage ----

  void storage() {
    for (std::size_t i = 0; i < p_.cells.size(); ++i) {
      const steps::CellInfo& c = p_.cells[i];
      text_ += "cell" + number(i) + " " + type_string(c.dtype, c.shape);
      if (c.initial.bytes() > 0) text_ += " = " + constant_text(c.initial);
      text_ += (c.local ? " local" : "") + memory_of(c.fby) + named(c.name) + "\n";
    }
    for (std::size_t i = 0; i < p_.queues.size(); ++i) queue(i);
    for (std::size_t i = 0; i < p_.arrays.size(); ++i) {
      const steps::ArrayInfo& a = p_.arrays[i];
      text_ += "array" + number(i) + " " + type_string(a.dtype, a.shape) + " of unit" + number(a.unit) + named(a.name) +
               "\n";
    }
    for (std::size_t i = 0; i < p_.input_queues.size(); ++i) {
      if (!p_.input_queues[i].valid()) continue;
      text_ += "input" + number(i) + " queue" + number(p_.input_queues[i].index);
      if (p_.input_flags[i].valid()) text_ += " flags" + number(p_.input_flags[i].index);
      text_ += "\n";
    }
  }

  void queue(std::size_t i) {
    const steps::QueueInfo& q = p_.queues[i];
    text_ += "queue" + number(i) + " " + type_string(q.dtype, q.shape) + " readers";
    for (std::size_t r = 0; r < q.readers; ++r) text_ += " +" + std::to_string(r < q.skips.size() ? q.skips[r] : 0);
    if (q.overtaken) text_ += " overtaken";
    if (q.passing) text_ += " passing";
    if (q.first.valid()) text_ += " first " + id_text(q.first);
    text_ += memory_of(q.fby) + named(q.name) + "\n";
  }

  void sites() {
    for (std::size_t i = 0; i < p_.sites.size(); ++i)
      text_ += "site" + number(i) + " " + quoted_text(p_.sites[i].message) + span_text(p_.sites[i].span) + "\n";
    for (std::size_t v = 0; v < p_.value_sites.size(); ++v)
      if (p_.value_sites[v] != UINT32_MAX)
        text_ += "site_of " + id_text(ValueId{v}) + " =" + number(p_.value_sites[v]) + "\n";
    for (std::size_t i = 0; i < p_.cuts.size(); ++i)
      text_ += "cut" + number(i) + " " + quoted_text(p_.cuts[i].condition) + span_text(p_.cuts[i].span) + "\n";
    for (const steps::ParameterInfo& p : p_.parameters) {
      text_ += "parameter " + name_text(p.path) + " " + type_string(p.dtype, p.shape);
      if (p.site.valid()) text_ += " site " + id_text(p.site);
      if (p.cell.valid()) text_ += " cell" + number(p.cell.index);
      text_ += "\n";
    }
    std::string inlined;
    for (std::size_t v = 0; v < p_.inlined.size(); ++v)
      if (p_.inlined[v]) inlined += " " + id_text(ValueId{v});
    if (!inlined.empty()) text_ += "inlined" + inlined + "\n";
    for (const steps::Watch& w : p_.watches) watch(w);
    for (const auto& [v, w] : p_.windows) text_ += "window " + id_text(v) + " in " + cell(w.cell) + "\n";
    for (std::size_t i = 0; i < p_.packs.list.size(); ++i) pack(i);
  }

  void watch(const steps::Watch& w) {
    text_ += "watch";
    if (w.output != UINT32_MAX) text_ += " output" + number(w.output);
    if (w.fby.valid()) text_ += " memory " + id_text(w.fby);
    if (w.cell.valid()) text_ += " cell" + number(w.cell.index);
    if (w.queue.valid()) text_ += " queue" + number(w.queue.index);
    if (w.value.valid()) text_ += " shows " + id_text(w.value);
    if (w.named.valid()) text_ += " named " + id_text(w.named);
    text_ += "\n";
  }

  void pack(std::size_t i) {
    const steps::Pack& p = p_.packs.list[i];
    text_ += "pack" + number(i) + " of " + cell(p.cell) + (p.unit > 0 ? " unit" + number(p.unit) : "") + " for";
    for (const auto& [product, k] : p_.packs.of)
      if (k == i) text_ += " " + id_text(product);
    text_ += "\n";
  }

  void leader() {
    text_ += "leader";
    for (const std::uint32_t output : p_.leader->outputs) text_ += number(output);
    text_ += " memories";
    for (const steps::Leader::Memory& m : p_.leader->memories)
      text_ += m.cell.valid() ? " " + cell(m.cell) : m.queue.valid() ? " queue" + number(m.queue.index) : " none";
    text_ += "\n" + StepsText(p_.leader->program).run() + "end\n";
  }

  // ---- equations of a program on demand ----

  void equations() {
    text_ += "on demand\n";
    for (const steps::DemandBody& body : p_.on_demand->bodies) {
      text_ += "equation " + id_text(body.value) + " of" + ids(body.operands) + " gives" + ids(body.results) +
               (body.effect ? " effect" : "") + (body.steps != nullptr ? " by\n" : "\n");
      text_ += body.steps == nullptr ? inner_core_text(*body.core) : StepsText(*body.steps).run() + "end\n";
    }
  }

  static std::string ids(const std::vector<ValueId>& values) {
    std::string text;
    for (const ValueId v : values) text += " " + id_text(v);
    return text;
  }

  // ---- units ----

  void unit(std::size_t i) {
    const steps::Unit& u = p_.units[i];
    text_ += "unit" + number(i) + (u.segmented ? " segmented on " : " forward on ") + id_text(u.clock);
    if (u.segmented) text_ += " cut" + number(u.cut_index);
    text_ += named(u.name) + "\n";
    for (const steps::Operand& o : u.operands) operand(o);
    for (const std::uint32_t input : u.raw_inputs) text_ += "  raw_input" + number(input) + "\n";
    for (const std::uint32_t other : u.after) text_ += "  after" + number(other) + "\n";
    block("before", u.before);
    block("instant", u.instant);
    if (p_.straight) block("lead", p_.lead);
    for (const steps::Sweep& sweep : u.sweeps) {
      text_ += sweep.backward ? "  sweep backward\n" : "  sweep forward\n";
      block("prologue", sweep.prologue);
      block("loop", sweep.body);
    }
    block("commit", u.commit);
  }

  void operand(const steps::Operand& o) {
    text_ += "  operand " + id_text(o.value) + " = queue" + number(o.queue.index);
    if (o.reader != 0) text_ += " reader" + number(o.reader);
    for (const auto& [c, positive] : o.when) text_ += " if " + literal_text({c, positive});
    for (const auto& [c, positive] : o.needed) text_ += " needed " + literal_text({c, positive});
    if (o.belated) text_ += " belated";
    text_ += o.once ? " once\n" : "\n";
  }

  void rows() {
    text_ += "rows\n";
    for (const steps::Operand& o : p_.emitter.operands) operand(o);
    for (const auto& [output, of] : p_.emitter.outputs)
      text_ += "  output" + number(output) + " = operand" + number(of) + "\n";
  }

  // ---- statements ----

  void block(const char* name, const steps::Block& b) {
    if (b.statements.empty()) return;
    text_ += std::string("  ") + name + "\n";
    statements(b, 2);
    text_ += "  end\n";
  }
  void statements(const steps::Block& b, std::size_t depth) {
    for (const steps::Statement& s : b.statements) {
      text_.append(2 * depth, ' ');
      if (const auto* branch = std::get_if<steps::Branch>(&s))
        put(*branch, depth);
      else
        text_ += std::visit([&](const auto& x) { return line(x); }, s) + "\n";
    }
  }

  void put(const steps::Branch& b, std::size_t depth) {
    text_ += std::string("if ") + (b.test.positive ? "" : "not ");
    text_ += b.test.kind == steps::Test::first  ? "first"
             : b.test.kind == steps::Test::last ? "last"
                                                : id_text(b.test.condition);
    text_ += "\n";
    statements(*b.then_block, depth + 1);
    if (!b.else_block->statements.empty()) {
      text_.append(2 * depth, ' ');
      text_ += "else\n";
      statements(*b.else_block, depth + 1);
    }
    text_.append(2 * depth, ' ');
    text_ += "end\n";
  }

  static std::string cell(CellId c) { return "cell" + number(c.index); }
  static std::string array(ArrayId a) { return "array" + number(a.index); }

  std::string line(const steps::Compute& s) const { return id_text(s.value) + " = " + equation_text(core_, s.value); }
  static std::string line(const steps::Copy& s) { return id_text(s.to) + " := " + id_text(s.from); }
  static std::string line(const steps::LoadCell& s) { return id_text(s.value) + " := " + cell(s.cell); }
  static std::string line(const steps::StoreCell& s) { return cell(s.cell) + " := " + id_text(s.value); }
  static std::string line(const steps::MoveCell& s) { return cell(s.to) + " := " + cell(s.from); }
  static std::string line(const steps::LoadArray& s) { return id_text(s.value) + " := " + array(s.array); }
  static std::string line(const steps::StoreArray& s) { return array(s.array) + " := " + id_text(s.value); }
  static std::string line(const steps::Push& s) {
    return "push queue" + number(s.queue.index) + " " + id_text(s.value);
  }
  static std::string line(const steps::LoadInput& s) { return id_text(s.value) + " := input"; }
  static std::string line(const steps::StoreOutput& s) {
    return "output" + number(s.output) + " := " + id_text(s.value);
  }
  static std::string line(const steps::Expect& s) {
    return "expect input" + number(s.input) + (s.present ? " present" : " absent");
  }
  static std::string line(const steps::Assert& s) {
    return "assert " + id_text(s.condition) + " site" + number(s.site);
  }
  static std::string line(const steps::SideCell& s) {
    return std::string("assume ") + (s.positive ? "" : "not ") + cell(s.cell) + " site" + number(s.site);
  }
  static std::string line(const steps::MarkLast& s) { return "last := " + literal_text({s.condition, s.positive}); }
  static std::string matrix(const steps::SegmentMatrix& x) {
    return (x.array.valid() ? array(x.array) : id_text(x.held)) + " (" + std::to_string(x.row) + ", " +
           std::to_string(x.column) + ")";
  }
  static std::string line(const steps::SegmentProduct& s) {
    return (s.rows.valid() ? array(s.rows) : cell(s.sum)) + " := (" + std::to_string(s.m) + ", " +
           std::to_string(s.inner) + ", " + std::to_string(s.n) + ") " + matrix(s.a) + " times " + matrix(s.b) +
           " of " + id_text(s.value) + (s.onto.valid() ? " onto " + cell(s.onto) : "");
  }
  // A branch is printed by statements(), so it has no line of its own.
  static std::string line(const steps::Branch&) { return {}; }

  const steps::Program& p_;
  const Core& core_;
  std::string text_;
};

}  // namespace

std::string steps_text(const steps::Program& p) { return form_line("steps") + StepsText(p).run(); }

}  // namespace rml

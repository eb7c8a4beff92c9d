// Prints schedules (`rmlc show schedule`): units, and sweeps with the classes of instants they compute, in the words of
// the source. Prints steps (`rmlc show steps`): statements, and storage in bytes. There values have their numbers,
// because statements use them many times.
#include <sstream>

#include "lowering/demand/on_demand.h"
#include "lowering/schedule/form_reader.h"
#include "lowering/schedule/schedule.h"
#include "lowering/steps/leader.h"
#include "lowering/steps/steps.h"
#include "semantics/core/expression_text.h"
#include "semantics/core/queries.h"

namespace rml {

namespace {

std::string id(ValueId v) { return v.valid() ? "%" + std::to_string(v.index) : "_"; }

std::string named(const Core& c, ValueId v) { return c[v].name.empty() ? id(v) : id(v) + " " + c[v].name; }

// The names of classes, separated from the value by a gap. Empty for all instants.
std::string class_names(std::uint8_t classes) { return classes == any_instant ? "" : "  " + classes_text(classes); }

std::size_t bytes(DType d, const Shape& s) {
  return byte_size(d) * static_cast<std::size_t>(element_count(s).value_or(0));
}

class StepPrinter {
 public:
  StepPrinter(const steps::Program& p, std::ostream& out) : p_(p), core_(*p.core), out_(out) {}

  void run() {
    out_ << (p_.straight ? "straight program " : "program ") << core_.entry << "\n";
    for (std::size_t i = 0; i < p_.cells.size(); ++i)
      out_ << "cell " << i << ": " << type_string(p_.cells[i].dtype, p_.cells[i].shape) << ", "
           << bytes(p_.cells[i].dtype, p_.cells[i].shape) << " bytes" << (p_.cells[i].local ? ", local" : "")
           << (p_.cells[i].name.empty() ? "" : "   " + p_.cells[i].name) << "\n";
    for (std::size_t i = 0; i < p_.arrays.size(); ++i)
      out_ << "array " << i << ": " << type_string(p_.arrays[i].dtype, p_.arrays[i].shape) << " per instant of unit "
           << p_.arrays[i].unit << "\n";
    for (std::size_t i = 0; i < p_.queues.size(); ++i) {
      out_ << "queue " << i << ": " << type_string(p_.queues[i].dtype, p_.queues[i].shape) << ", readers";
      for (std::uint32_t s : p_.queues[i].skips) out_ << (s == 0 ? " +0" : " +" + std::to_string(s));
      if (p_.queues[i].passing) out_ << ", passing";
      out_ << (p_.queues[i].name.empty() ? "" : "   " + p_.queues[i].name) << "\n";
    }
    for (std::size_t u = 0; u < p_.units.size(); ++u) unit(u);
    if (!p_.lead.statements.empty()) out_ << "before the inputs of a cycle\n";
    block(p_.lead, 1);
    if (p_.straight) return;
    out_ << "rows\n";
    operands(p_.emitter.operands);
    if (p_.leader == nullptr) return;
    out_ << "before the inputs of a cycle\n";
    const std::vector<bool> leads = leading_outputs(p_);
    for (std::size_t k = 0; k < leads.size(); ++k)
      if (leads[k]) out_ << "  " << core_.outputs[k].name << "\n";
  }

 private:
  void operands(const std::vector<steps::Operand>& list) {
    for (const steps::Operand& o : list) {
      out_ << "  " << named(core_, o.value) << " := queue " << o.queue.index;
      for (const auto& [c, positive] : o.when) out_ << (positive ? " if " : " if not ") << id(c);
      for (const auto& [c, positive] : o.needed) out_ << (positive ? ", needed if " : ", needed if not ") << id(c);
      if (o.once) out_ << ", once";
      if (o.belated) out_ << ", of the instant before";
      out_ << "\n";
    }
  }

  void unit(std::size_t index) {
    const steps::Unit& u = p_.units[index];
    out_ << (u.segmented ? "segmented unit " : "forward unit ") << index << ": clock " << clock_string(core_, u.clock)
         << "\n";
    operands(u.operands);
    if (!u.before.statements.empty()) out_ << "  the instant before\n";
    block(u.before, 2);
    block(u.instant, 1);
    for (const steps::Sweep& sweep : u.sweeps) {
      out_ << (sweep.backward ? "  backward sweep\n" : "  forward sweep\n");
      block(sweep.prologue, 2);
      out_ << "    each instant\n";
      block(sweep.body, 3);
    }
    if (!u.commit.statements.empty()) out_ << "  commit\n";
    block(u.commit, 2);
  }

  void block(const steps::Block& b, int depth) {
    for (const steps::Statement& s : b.statements) std::visit([&](const auto& x) { statement(x, depth); }, s);
  }
  std::ostream& line(int depth) { return out_ << std::string(static_cast<std::size_t>(depth) * 2, ' '); }

  void statement(const steps::Compute& s, int d) {
    line(d) << named(core_, s.value) << " := ";
    if (const auto* a = apply_of(core_, s.value)) {
      out_ << operators()[a->op].name;
      for (ValueId o : a->operands) out_ << " " << operand(o);
    } else {
      out_ << "call";
      for_each_operand(core_[s.value].rhs, [&](ValueId o) { out_ << " " << operand(o); });
    }
    if (p_.inlined[s.value.index]) out_ << "   (in its user's loop)";
    out_ << "\n";
  }
  std::string operand(ValueId v) const {
    const auto* c = std::get_if<core::Const>(&core_[v].rhs);
    return c != nullptr && c->value.elements() <= 4 ? to_string(c->value) : id(v);
  }
  void statement(const steps::Copy& s, int d) { line(d) << named(core_, s.to) << " := " << operand(s.from) << "\n"; }
  void statement(const steps::LoadCell& s, int d) {
    line(d) << named(core_, s.value) << " := cell " << s.cell.index << "\n";
  }
  void statement(const steps::StoreCell& s, int d) {
    line(d) << "cell " << s.cell.index << " := " << operand(s.value) << "\n";
  }
  void statement(const steps::MoveCell& s, int d) {
    line(d) << "cell " << s.to.index << " := cell " << s.from.index << "\n";
  }
  void statement(const steps::LoadArray& s, int d) {
    line(d) << named(core_, s.value) << " := array " << s.array.index << "\n";
  }
  void statement(const steps::StoreArray& s, int d) {
    line(d) << "array " << s.array.index << " := " << operand(s.value) << "\n";
  }
  void statement(const steps::Push& s, int d) {
    line(d) << "push queue " << s.queue.index << " " << operand(s.value) << "\n";
  }
  void statement(const steps::LoadInput& s, int d) { line(d) << named(core_, s.value) << " := input\n"; }
  void statement(const steps::StoreOutput& s, int d) {
    line(d) << "output " << core_.outputs[s.output].name << " := " << operand(s.value) << "\n";
  }
  void statement(const steps::Expect& s, int d) {
    line(d) << "expect " << core_.inputs[s.input].name << (s.present ? " present\n" : " absent\n");
  }
  void statement(const steps::Assert& s, int d) { line(d) << "assert " << id(s.condition) << "\n"; }
  void statement(const steps::SideCell& s, int d) {
    line(d) << "assume " << (s.positive ? "" : "not ") << "cell " << s.cell.index << "\n";
  }
  void statement(const steps::MarkLast& s, int d) {
    line(d) << "last := " << (s.positive ? "" : "not ") << id(s.condition) << "\n";
  }
  void statement(const steps::SegmentProduct& s, int d) {
    const auto matrix = [&](const steps::SegmentMatrix& x) {
      return x.array.valid() ? "array " + std::to_string(x.array.index) : operand(x.held);
    };
    if (s.rows.valid())
      line(d) << "array " << s.rows.index << " := " << matrix(s.a) << " times " << matrix(s.b);
    else
      line(d) << "cell " << (s.onto.valid() ? s.onto : s.sum).index << (s.onto.valid() ? " += " : " := ") << "sum of "
              << matrix(s.a) << " times " << matrix(s.b);
    out_ << "   (" << named(core_, s.value) << ", all instants)\n";
  }
  void statement(const steps::Branch& s, int d) {
    auto test = [&]() -> std::string {
      if (s.test.kind == steps::Test::first) return "first";
      return s.test.kind == steps::Test::last ? "last" : id(s.test.condition);
    };
    const bool only_else = s.then_block->statements.empty();
    line(d) << "if " << (only_else ? "not " : "") << test() << "\n";
    block(only_else ? *s.else_block : *s.then_block, d + 1);
    if (only_else || s.else_block->statements.empty()) return;
    line(d) << "else\n";
    block(*s.else_block, d + 1);
  }

  const steps::Program& p_;
  const Core& core_;
  std::ostream& out_;
};

}  // namespace

std::string print(const Schedule& s) {
  std::ostringstream out;
  const Core& core = *s.core;
  const std::vector<std::string> names = readable_names(core);
  const auto name = [&](ValueId v) { return names[v.index]; };
  out << (s.straight ? "straight\n" : "");
  for (std::size_t u = 0; u < s.units.size(); ++u) {
    const ScheduledUnit& unit = s.units[u];
    out << (unit.segmented ? "segmented unit " : "forward unit ") << u << ": clock " << clock_string(core, unit.clock)
        << "\n";
    for (ValueId v : unit.operands) {
      out << "  reads " << name(v);
      if (const StreamSource& source = s.sources[v.index]; source.skip > 0)
        out << ", which is " << name(source.value) << " " << source.skip
            << (source.skip == 1 ? " instant later" : " instants later");
      out << (unit.is_belated(v) ? ", with the next instant\n" : "\n");
    }
    if (!unit.segmented) {
      for (ValueId v : unit.values) out << "  " << name(v) << "\n";
      continue;
    }
    out << "  cut " << (unit.plan.cut.positive ? "" : "not ") << describe(core, unit.plan.cut.condition) << "\n";
    for (const Literal& l : unit.plan.only_at_cut)
      out << "  assumes " << (l.positive ? "" : "not ") << describe(core, l.condition) << " only there\n";
    for (const Awaiting& a : unit.plan.awaiting)
      out << "  assumes " << clock_string(core, core[a.post].clock) << " again where " << name(a.post)
          << " waits for it\n";
    for (const SweepPlan& p : unit.plan.sweeps) {
      out << (p.backward ? "  backward sweep\n" : "  forward sweep\n");
      for (const SweepItem& i : p.items) out << "    " << name(i.value) << class_names(i.classes) << "\n";
    }
  }
  return out.str();
}

namespace steps {

std::string print(const Program& p) {
  std::ostringstream out;
  if (p.on_demand != nullptr) return print_on_demand(p);
  StepPrinter(p, out).run();
  for (std::size_t k = 0; k < p.bodies.size(); ++k)
    if (p.bodies[k] != nullptr) out << "each round of " << p.core->externals[k].symbol << "\n" << print(*p.bodies[k]);
  return out.str();
}

}  // namespace steps

}  // namespace rml

// Checks the ports of the entry. The user who runs a program reads `x: f64` as a value at every
// cycle.
//
// In a node that is called, a port without a declared clock has the clock of its use. In the
// entry this is an error unless it is the base clock. With the clock written out, as `x: f64 when
// c`, the same program is accepted:
//
//   node main(c: bool, x: f64) -> (y: f64)    y = merge c x (0.0 when not c);
#include <utility>

#include "semantics/check/checked.h"
#include "semantics/check/signature_text.h"

namespace rml {

namespace {

class EntryClocks {
 public:
  EntryClocks(const Checked& checked, NodeId entry, Diagnostics& diagnostics)
      : program_(*checked.program),
        entry_(entry),
        clocked_(checked.clocks.nodes[entry.index]),
        resolved_(checked.names.nodes[entry.index]),
        diagnostics_(diagnostics) {}

  void run() {
    if (clocked_.has_errors || resolved_.has_errors) return;
    for (std::size_t v = 0; v < resolved_.variables.size() && v < clocked_.variable_clocks.size(); ++v) {
      if (is_sampled(v)) report(v);
    }
  }

 private:
  // Whether a port is declared without a clock and is sampled.
  bool is_sampled(std::size_t v) const {
    const Variable& variable = resolved_.variables[v];
    const ClockTermId clock = clocked_.variable_clocks[v];
    if (variable.kind == Variable::local || variable.type == nullptr || variable.type->clock.valid()) return false;
    return clock.valid() && clocked_.terms[clock.index].kind == ClockTerm::on;
  }

  std::string name(const ConditionTerm& condition) const {
    if (condition.variable < 0) return "";
    return program_.text(resolved_.variables[static_cast<std::size_t>(condition.variable)].name);
  }

  std::string presence(ClockTermId clock) const {
    std::string text;
    for (; clocked_.terms[clock.index].kind == ClockTerm::on; clock = clocked_.terms[clock.index].parent) {
      const ClockTerm& on = clocked_.terms[clock.index];
      const std::string by = name(on.condition);
      std::string part = on.positive ? "" : "not ";
      part += by.empty() ? "a condition holds" : "`" + by + "`";
      text = text.empty() ? part : part + " and " + text;
    }
    return "only when " + text;
  }

  // The `merge` that defines a variable and has this one as a branch; null: there is none.
  const ast::Merge* merge_of(const Variable& variable) const {
    const auto names = [&](ExprId e) {
      const auto* name = e.valid() ? std::get_if<ast::Name>(&program_[e]) : nullptr;
      return name != nullptr && name->symbol == variable.name;
    };
    for (const ast::Equation& equation : program_[entry_].equations) {
      const auto* merge = equation.value.valid() ? std::get_if<ast::Merge>(&program_[equation.value]) : nullptr;
      if (merge != nullptr && (names(merge->on_true) || names(merge->on_false))) return merge;
    }
    return nullptr;
  }

  void report(std::size_t v) {
    const Variable& variable = resolved_.variables[v];
    const ClockTermId clock = clocked_.variable_clocks[v];
    const ast::Merge* const merge = merge_of(variable);
    // A merge is reported once, not for each of its two branches.
    if (merge != nullptr && std::exchange(reported_, merge) == merge) return;
    const ClockTerm& on = clocked_.terms[clock.index];
    const std::string port = program_.text(variable.name);
    Diagnostic& d = diagnostics_.report(
        Code::E0403, variable.span,
        "`" + port + "` is declared present at every cycle, but it is present " + presence(clock), "declared here");
    d.note("in the node that is run, an input or output without `when` is present at every cycle");
    const std::string by = name(on.condition);
    if (by.empty()) return;
    if (merge != nullptr)
      d.note("`merge` takes sampled branches; if both are present at every cycle, write `if " + by + " then " +
             expression_text(program_, merge->on_true) + " else " + expression_text(program_, merge->on_false) + "`");
    fix(d, v);
    for (std::size_t other = v + 1; merge != nullptr && other < clocked_.variable_clocks.size(); ++other)
      if (other < resolved_.variables.size() && is_sampled(other) && merge_of(resolved_.variables[other]) == merge)
        fix(d, other);
  }

  void fix(Diagnostic& d, std::size_t v) const {
    const ClockTerm& on = clocked_.terms[clocked_.variable_clocks[v].index];
    const std::string by = name(on.condition);
    if (by.empty()) return;
    const Variable& variable = resolved_.variables[v];
    const std::string when = std::string(on.positive ? " when " : " when not ") + by;
    const Span type = variable.type->span;
    d.fix({type.file, type.end, type.end}, when, "write `" + program_.text(variable.name) + ": …" + when + "`", true);
  }

  const Program& program_;
  const NodeId entry_;
  const ast::Merge* reported_ = nullptr;
  const ClockedNode& clocked_;
  const ResolvedNode& resolved_;
  Diagnostics& diagnostics_;
};

}  // namespace

void check_entry_clocks(const Checked& checked, NodeId entry, Diagnostics& diagnostics) {
  EntryClocks(checked, entry, diagnostics).run();
}

}  // namespace rml

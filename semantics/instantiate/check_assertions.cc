// The solver of shapes knows the static values. An assertion that is never checked, because a
// condition of its clock is static too, is no error. Neither is `assert false when c`, with which
// an author marks cycles that must not occur.
#include "semantics/instantiate/check_assertions.h"

#include <set>
#include <utility>

#include "semantics/instantiate/blame_calls.h"

namespace rml::draft {

namespace {

class AssertionCheck {
 public:
  AssertionCheck(const Draft& draft, const Program& program, const States& states, Diagnostics& diagnostics)
      : draft_(draft), program_(program), states_(states), diagnostics_(diagnostics) {}

  void run() {
    for (const Assertion& a : draft_.asserts) {
      const auto& known = states_[a.condition.index].constant;
      if (known == nullptr || known->truth() || is_never(a.clock) || marks_cycles(a)) continue;
      report(a);
    }
  }

 private:
  bool is_never(DraftClockId clock) const {
    for (; clock != never && draft_.clocks[clock.index].parent.valid(); clock = draft_.clocks[clock.index].parent) {
      const DraftClock& c = draft_.clocks[clock.index];
      const auto& known = states_[c.condition.index].constant;
      if (known != nullptr && known->truth() != c.positive) return true;
    }
    return clock == never;
  }

  bool marks_cycles(const Assertion& a) const {
    const auto* when = std::get_if<When>(&draft_[a.condition].rhs);
    return when != nullptr && std::holds_alternative<Const>(draft_[when->operand].rhs);
  }

  void report(const Assertion& a) {
    const std::string quoted = a.message.empty() ? "" : ": \"" + a.message + "\"";
    if (const auto call = call_into_library(draft_, program_, a.instance, a.span)) {
      const Span place = draft_.instances[call->index].call;
      if (!told_.insert({place.file, place.begin}).second) return;
      const Problem p{
          Code::E0313,           a.span, a.message.empty() ? "an assertion is false for every input" : a.message,
          "this can never hold", {},     {}};
      report_at_call(*call, {a.condition, a.instance, p}, draft_, program_, states_, diagnostics_);
      return;
    }
    if (!told_.insert({a.span.file, a.span.begin}).second) return;
    Diagnostic& d =
        diagnostics_.report(Code::E0313, a.span, "this assertion can never hold" + quoted, "false for every input");
    d.note("its condition is known at compile time: a run stops at the first cycle at which it is checked");
    add_instance_chain(d, draft_, program_, a.instance);
  }

  const Draft& draft_;
  const Program& program_;
  const States& states_;
  Diagnostics& diagnostics_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> told_;  // file and begin of a place
};

}  // namespace

void check_assertions(const Draft& draft, const Program& program, const States& states, Diagnostics& diagnostics) {
  AssertionCheck(draft, program, states, diagnostics).run();
}

}  // namespace rml::draft

// Runs every analysis on every node of a file.
//
// Names, dtypes and clocks have been checked node by node. Instances come after: a node is instantiated by itself if no
// other node of the file uses it (or it is the entry); the others are checked through their users. In a node that is
// not the entry, an input without a written type may have any shape, and its argument may be static. Properties that
// depend on them are not checked, and the node is reported as checked in part. If an instance with scalars exists,
// causality and clocks are checked on that.
#include "driver/checks/check_instances.h"

#include <algorithm>
#include <set>

#include "compiler/internal_error.h"

namespace rml {
namespace {

bool about_shapes(Code code) {
  switch (code) {
    case Code::E0303:
    case Code::E0304:
    case Code::E0305:
    case Code::E0306:
    case Code::E0310:
    case Code::E0312:
    case Code::E0313:
      return true;
    default:
      return false;
  }
}

std::string default_entry(const Front& front) {
  const Program& program = *front.program;
  const auto entry = choose_entry(program, "");
  return entry && !program[*entry].external() ? program.text(program[*entry].name) : "";
}

// Nodes of the main file to instantiate, the entry first.
std::vector<NodeId> roots(const Front& front, const std::string& entry) {
  const Program& program = *front.program;
  std::set<NodeId> used;
  for (const NodeId n : program.modules[0].nodes) {
    for (NodeId callee : front.checked.names.nodes[n.index].callees) {
      used.insert(callee);
      // `diff f(…)` calls a node that is derived from f and has the equations of f.
      for (; program[callee].derived_from.valid(); callee = program[callee].derived_from)
        used.insert(program[callee].derived_from);
    }
  }
  std::vector<NodeId> result;
  for (const NodeId n : program.modules[0].nodes) {
    if (program[n].external()) continue;
    const bool is_entry = program.text(program[n].name) == entry;
    if (is_entry) result.insert(result.begin(), front.as_entry(n));
    if (!is_entry && !used.contains(n)) result.push_back(n);
  }
  return result;
}

class Instances {
 public:
  Instances(Session& session, const Front& front, std::string& said) : session_(session), front_(front), said_(said) {}

  void check(NodeId node, bool is_entry) {
    Diagnostics found, assumed;
    bool whole = true;
    if (is_entry) {
      check_entry_clocks(front_.checked, node, found);
    } else {
      const CurrentPhase phase("instantiate");
      whole = check_open(front_.checked, node, {.limits = session_.options.limits}, found);
    }
    std::optional<Elaborated> elaborated;
    if (!found.has_errors()) elaborated = elaborate(session_, front_, node, {}, assumed);
    const auto arranged = elaborated ? arrange(session_, *elaborated, assumed) : std::nullopt;
    const bool of_scalars =
        !whole && std::ranges::any_of(assumed.all(), [](const Diagnostic& d) { return about_shapes(d.code); });
    if (!of_scalars) found.append(assumed);
    session_.diagnostics.append_new(found);  // an instance seen from two entries gives the same messages twice
    if (!whole && !found.has_errors()) in_part_.push_back((*front_.program).text((*front_.program)[node].name));
    if (!elaborated || of_scalars) return;
    if (arranged && arranged->on_demand) say_demand(node, *arranged->on_demand);
    if (arranged) say_knots(node, arranged->schedule);
    say_assumptions(node, elaborated->productivity);
  }

  void say_parts() {
    if (in_part_.empty()) return;
    said_ +=
        "checked only in part, because no node calls them and the shapes or static arguments of their inputs are not "
        "declared: ";
    for (std::size_t k = 0; k < in_part_.size(); ++k) said_ += (k > 0 ? ", " : "") + in_part_[k];
    said_ += "\n";
  }

 private:
  void say_assumptions(NodeId node, const Productivity& productivity) {
    for (const std::string& text : productivity.assumptions) {
      if (!said_texts_.insert(text).second) continue;
      said_ += "node " + front_.program->text((*front_.program)[node].name) + ": " + text + "\n";
    }
  }

  void say_demand(NodeId node, const Unscheduled& why) {
    said_ += "node " + front_.program->text((*front_.program)[node].name) + ": runs on demand: " + why.reason + " (" +
             session_.sources.place(why.span) + ")\n";
  }

  // Reports states after which no row is ever known (lowering/schedule/check/exactness.h).
  void say_knots(NodeId node, const Schedule& s) {
    const auto named = [&](const Literal& l) {
      return (l.positive ? "`" : "`not ") + describe(*s.core, l.condition) + "`";
    };
    for (const ScheduledUnit& u : s.units)
      for (const Literal& l : u.plan.only_at_cut)
        said_ += "node " + front_.program->text((*front_.program)[node].name) + ": where " + named(l) + " holds and " +
                 named(u.plan.cut) + " does not, a value needs itself, and no later row is ever known\n";
  }

  Session& session_;
  const Front& front_;
  std::string& said_;
  std::set<std::string> said_texts_;
  std::vector<std::string> in_part_;
};

}  // namespace

void check_instances(Session& session, const Front& front, std::string& said) {
  const Program& program = *front.program;
  std::vector<NodeId> nodes;
  std::string entry = session.options.node;
  if (!entry.empty()) {
    if (const auto found = find_entry(session, front)) nodes.push_back(*found);
  } else {
    entry = default_entry(front);
    nodes = roots(front, entry);
  }
  // An instance needs every node below it, so no instance is made after an error in the text.
  if (session.failed()) return;
  Instances instances(session, front, said);
  for (const NodeId n : nodes) instances.check(n, program.text(program[n].name) == entry);
  instances.say_parts();
}

}  // namespace rml

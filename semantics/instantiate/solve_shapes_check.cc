// Reports the errors at the fixed point of solve_shapes, each once.
//
// Every rule is evaluated again, now for its error. Values computed from an erroneous value are
// unknown because of it and are not reported. A cycle that was begun as a scalar may have a wrong
// shape; errors that depend on it are reported only if there are no others. A value that is
// unknown for no such reason is E0306. An error in a node with many instances is reported for the
// first instance.
#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "semantics/instantiate/aliases.h"
#include "semantics/instantiate/blame_calls.h"
#include "semantics/instantiate/iteration.h"
#include "semantics/instantiate/solve_shapes.h"

namespace rml::draft {

namespace {

class ShapeCheck {
 public:
  ShapeCheck(const Draft& draft, const Program& program, const States& states, Diagnostics& diagnostics)
      : draft_(draft),
        program_(program),
        states_(states),
        rules_(draft, states),
        diagnostics_(diagnostics),
        poisoned_(draft.values.size(), false),
        users_(draft.values.size()) {}

  void run() {
    if (draft_.open) sure_ = sure_values();
    for (std::uint32_t v = 0; v < states_.size(); ++v) check(DraftId{v});
    for (const Assertion& a : draft_.asserts)
      if (!draft_.open || sure_[a.condition.index]) check_condition(a.condition, a.condition, a.span, "`assert`");
    // Checks the conditions of declared clocks, even if no sampling names them.
    for (const DraftClock& c : draft_.clocks)
      if (c.parent.valid() && !wrong_conditions_.contains(c.condition) && (!draft_.open || sure_[c.condition.index]))
        check_condition(c.condition, c.condition, draft_[c.condition].span, "`when`");
    tell();
    if (draft_.open) return;
    bool unknown = false;
    for (const State& s : states_) unknown = unknown || !s.known;
    if (unknown) report_unknown();
    tell();
  }

 private:
  const State& state(DraftId d) const { return states_[d.index]; }
  std::string type(DraftId d) const { return type_string(draft_[d].dtype, state(d).shape); }

  void check(DraftId d) {
    const Rhs& rhs = draft_[d].rhs;
    if (std::holds_alternative<Alias>(rhs)) return;
    if (const auto* fby = std::get_if<Fby>(&rhs)) return check_join(d, "the two sides of `fby`", fby->init, fby->next);
    if (const auto* merge = std::get_if<Merge>(&rhs)) return check_merge(d, *merge);
    if (const auto* when = std::get_if<When>(&rhs))
      check_condition(d, when->condition, when->written, when->from_if ? "`if`" : "`when`");
    if (const auto* call = std::get_if<Call>(&rhs)) check_call(d, *call);
    if (const auto* iterate = std::get_if<Iterate>(&rhs))
      if (check_body(d, *iterate)) return;
    const Outcome<Shape> found = rules_.shape(d);
    if (const auto* problem = std::get_if<Problem>(&found)) return report(d, *problem);
    if (const auto* not_constant = std::get_if<NotConstant>(&found)) return report_not_constant(d, *not_constant);
    const auto* shape = std::get_if<Shape>(&found);
    if (shape != nullptr && *shape != state(d).shape)
      return report(d, {Code::E0305, draft_[d].span, "the shape of this value grows without end", {}, {}, {}});
    if (const auto* declared = std::get_if<Declared>(&rhs)) check_declared(d, *declared);
    if (shape != nullptr) check_size(d);
  }

  // Only the first value that is too large is reported, because values computed from it are as large.
  void check_size(DraftId d) {
    const std::uint64_t most = draft_.most_elements;
    if (too_large_ || static_cast<std::uint64_t>(*element_count(state(d).shape)) <= most) return;
    too_large_ = true;
    report(d, {Code::E0702,
               draft_[d].span,
               type(d) + " has more than " + std::to_string(most) + " elements",
               {},
               {},
               {"if this is intended, raise the limit: `--limit elements=N`"}});
  }

  void check_merge(DraftId d, const Merge& merge) {
    if (!check_condition(d, merge.condition, merge.written, merge.from_if ? "`if`" : "`merge`")) return;
    check_join(d, merge.from_if ? "the branches of `if`" : "the branches of `merge`", merge.on_true, merge.on_false);
  }

  bool check_condition(DraftId d, DraftId condition, Span written, const std::string& of) {
    if (!state(condition).known || state(condition).shape.empty()) return true;
    Problem p{Code::E0303,
              written,
              "the condition of " + of + " must be a scalar, not " + type(condition),
              {},
              {{draft_[condition].span, rules_.label_of(condition)}},
              {}};
    if (of == "`assert`")
      p.notes.push_back("write `all(…)` to assert it of every element");
    else
      p.notes.push_back("to choose element by element, write `select(condition, a, b)`");
    wrong_conditions_.insert(condition);
    report(d, p);
    return false;
  }

  void check_join(DraftId d, const std::string& what, DraftId a, DraftId b) {
    if (!state(d).known || !state(a).known || !state(b).known) return;
    const auto fits = [&](DraftId x) { return broadcast(state(x).shape, state(d).shape) == state(d).shape; };
    if (fits(a) && fits(b)) return;
    Problem p{
        Code::E0303,
        draft_[d].span,
        what + " have shapes that do not match: " + to_string(state(a).shape) + " and " + to_string(state(b).shape),
        {},
        {},
        {}};
    p.secondary = {{draft_[a].span, rules_.label_of(a)}, {draft_[b].span, rules_.label_of(b)}};
    report(d, p);
  }

  void check_declared(DraftId d, const Declared& declared) {
    const DraftId x = declared.operand;
    if (!state(x).known || !state(d).known || state(x).shape == state(d).shape) return;
    const std::string variable = name_of(d);
    Problem p{Code::E0303, draft_[d].span, {}, {}, {{declared.type, "declared here"}}, {}};
    p.message = (variable.empty() ? "this" : "`" + variable + "`") + " is declared " + type(d) + ", but its value is " +
                type(x);
    const bool own = draft_[x].name == draft_[d].name;
    p.secondary.push_back({draft_[x].span, own ? "this is " + type(x) : rules_.label_of(x)});
    if (declared.shape.empty())
      p.notes.push_back(
          "a type without extents declares a scalar; without a declared type the value may have any shape");
    else if (broadcast(state(x).shape, state(d).shape) == state(d).shape)
      p.notes.push_back("to repeat it along the axes, write `broadcast_to(…, " + to_string(state(d).shape) + ")`");
    misdeclared_.push_back(d);
    report(d, p);
  }

  void check_call(DraftId d, const Call& call) {
    const External& external = draft_.externals[call.external];
    for (std::size_t k = 0; k < call.operands.size(); ++k) {
      const Outcome<Shape> declared = rules_.extents(external.input_shapes[k], "the shape of an external node's input");
      if (const auto* problem = std::get_if<Problem>(&declared)) return report(d, *problem);
      if (const auto* not_constant = std::get_if<NotConstant>(&declared)) return report_not_constant(d, *not_constant);
      const auto* shape = std::get_if<Shape>(&declared);
      const DraftId x = call.operands[k];
      if (shape == nullptr || !state(x).known || *shape == state(x).shape) continue;
      report(d, {Code::E0303,
                 draft_[x].span,
                 "`" + external.symbol + "` takes `" + external.input_names[k] + "` as " +
                     type_string(external.inputs[k], *shape) + ", not " + type(x),
                 {},
                 {{external.span, "declared here"}},
                 {}});
    }
  }

  // True if the body of the iteration has errors, which are reported at their places in the body.
  bool check_body(DraftId d, const Iterate& iterate) {
    const IteratorBody* body = rules_.iterated(iterate);
    if (body == nullptr || !body->diagnostics.has_errors()) return false;
    // A value in the body that is not constant may be an argument of the node that is never
    // called.
    if (draft_.open && (!std::ranges::all_of(iterate.operands, [&](DraftId o) { return sure_[o.index]; }) ||
                        std::ranges::any_of(body->diagnostics.all(),
                                            [](const Diagnostic& found) { return found.code == Code::E0304; })))
      return true;
    const Diagnostic& first = body->diagnostics.all()[0];
    if (told_.insert({first.code, first.primary.span.file, first.primary.span.begin, first.primary.span.end}).second)
      diagnostics_.append(body->diagnostics);
    poison(d);
    return true;
  }

  // The variable whose declared type the value has; empty for constant items.
  std::string name_of(DraftId d) const {
    const ast::Node& node = program_[draft_.instances[draft_[d].instance.index].node];
    const auto at = [&](const auto& p) { return p.name.valid() && p.span == draft_[d].span; };
    for (const auto* list : {&node.inputs, &node.outputs})
      for (const ast::Parameter& p : *list)
        if (at(p)) return program_.text(p.name);
    for (const ast::Equation& equation : node.equations)
      for (const ast::Target& t : equation.targets)
        if (at(t)) return program_.text(t.name);
    return {};
  }

  // True if the value would be constant if the inputs were.
  bool hangs_on_input(DraftId d) const {
    std::set<DraftId> seen;
    std::vector<DraftId> pending = {d};
    while (!pending.empty()) {
      const DraftId at = pending.back();
      pending.pop_back();
      const Rhs& rhs = draft_[at].rhs;
      if (std::holds_alternative<Input>(rhs)) return true;
      if (state(at).constant != nullptr || std::holds_alternative<Fby>(rhs) || std::holds_alternative<Post>(rhs) ||
          !seen.insert(at).second)
        continue;
      for_each_mention(rhs, [&](DraftId m) { pending.push_back(m); });
    }
    return false;
  }

  void report_not_constant(DraftId d, const NotConstant& n) {
    if (draft_.open && hangs_on_input(n.value)) return;
    const Span value = draft_[n.value].span, use = draft_[d].span;
    const bool elsewhere = value.file != use.file || value.begin < use.begin || value.end > use.end;
    Problem p{Code::E0304, elsewhere ? use : value, n.what + " must be known at compile time", {}, {}, {}};
    explain(n.value, p);
    if (elsewhere) explain_argument(d, n.value, p);
    report(d, p);
  }

  // The value of the argument is defined elsewhere; the arguments may be in the wrong order.
  void explain_argument(DraftId d, DraftId value, Problem& p) const {
    const Span defined = draft_[value].span;
    if (std::ranges::none_of(p.secondary, [&](const Label& l) { return l.span == defined; }))
      p.secondary.push_back({defined, "its argument"});
    const auto* apply = std::get_if<Apply>(&draft_[d].rhs);
    if (apply == nullptr) return;
    std::string order;
    for (const OperatorParameter& parameter : operators()[apply->op].parameters)
      order += (order.empty() ? "" : ", ") + std::string(parameter.name);
    p.notes.push_back("the parameters are, in order: " + order);
  }

  // Adds notes that follow a value which is not constant to the reason.
  void explain(DraftId d, Problem& p) const {
    for (int hops = 0; hops < 1000; ++hops) {
      const Rhs& rhs = draft_[d].rhs;
      const std::string& name = draft_[d].name;
      if (std::holds_alternative<Input>(rhs)) {
        p.notes.push_back("`" + name + "` is an input of the program; give it a value: -D " + name + "=VALUE");
        p.secondary.push_back({draft_[d].span, "an input"});
        return;
      }
      if (std::holds_alternative<Fby>(rhs) || std::holds_alternative<Post>(rhs)) {
        p.notes.push_back((name.empty() ? "it" : "`" + name + "`") + " changes from cycle to cycle");
        p.secondary.push_back({draft_[d].span, "its value depends on the cycle"});
        return;
      }
      DraftId cause;
      for_each_mention(rhs, [&](DraftId m) {
        if (!cause.valid() && state(m).constant == nullptr) cause = m;
      });
      if (!cause.valid()) {
        const bool calls = std::holds_alternative<Result>(rhs) || std::holds_alternative<Call>(rhs);
        const auto* apply = std::get_if<Apply>(&rhs);
        if (calls)
          p.notes.push_back("the result of an external node is known only at run time");
        else if (apply != nullptr && operators()[apply->op].random)
          p.notes.push_back("a random value is known only at run time");
        else if (element_count(state(d).shape).value_or(0) > max_static_elements)
          p.notes.push_back("a tensor of more than " + std::to_string(max_static_elements) +
                            " elements is not evaluated at compile time");
        else
          p.notes.push_back("it cannot be evaluated at compile time");
        p.secondary.push_back({draft_[d].span, "comes from here"});
        return;
      }
      d = cause;
    }
  }

  void report(DraftId d, Problem p) {
    poison(d);
    found_.emplace_back(d, std::move(p));
  }

  void tell() {
    if (found_.empty()) return;
    const std::vector<bool> sure = sure_values();
    const auto hangs_on_sure = [&](const auto& found) {
      bool all = true;
      for_each_mention(draft_[found.first].rhs, [&](DraftId m) { all = all && sure[m.index]; });
      return all;
    };
    const bool some = draft_.open || std::ranges::any_of(found_, hangs_on_sure);
    if (!some && report_cycles(sure)) return found_.clear();
    for (const auto& found : found_)
      if (!some || hangs_on_sure(found)) tell(found.first, found.second);
    found_.clear();
  }

  bool is_of_option(DraftId d) const {
    const Span span = draft_[d].span;
    return span.file != 0 &&
           std::ranges::find(program_.modules, span.file, &ast::Module::file) == program_.modules.end();
  }
  // The place of the `-D` whose value is an operand of d, directly, or indirectly and a tensor; empty if there is none.
  // A scalar fits every shape, so the result of an operation with it says nothing against it.
  Span option_of(DraftId d) const {
    Span found;
    const auto consider = [&](DraftId at, bool direct) {
      if (found.end == 0 && is_of_option(at) && (direct || !states_[at.index].shape.empty())) found = draft_[at].span;
    };
    for_each_mention(draft_[d].rhs, [&](DraftId m) { consider(m, true); });
    for (const DraftId at : reached(draft_, d, [](DraftId) { return true; })) consider(at, false);
    return found;
  }

  void tell(DraftId d, Problem p) {
    // A value of `-D` with a wrong shape is wrong for all its uses.
    if (const Span option = option_of(d); option.end > 0) {
      if (!options_told_.insert(option.file).second) return;
      p.secondary.push_back({option, "this value comes from the command line"});
    }
    if (const auto call = call_into_library(draft_, program_, draft_[d].instance, p.span)) {
      const Span place = draft_.instances[call->index].call;
      if (calls_told_.insert({place.file, place.begin}).second)
        report_at_call(*call, {d, draft_[d].instance, p}, draft_, program_, states_, diagnostics_);
      return;
    }
    if (!told_.insert({p.code, p.span.file, p.span.begin, p.span.end}).second) return;
    Diagnostic& diagnostic = diagnostics_.report(p.code, p.span, p.message, p.label);
    for (const Label& l : p.secondary)
      if (!(l.span == p.span) && l.span.end > 0) diagnostic.label(l.span, l.text);
    for (const std::string& note : p.notes) diagnostic.note(note);
    if (p.code == Code::E0303)
      for (const DraftId input : untyped_scalars(draft_, program_, states_, d))
        diagnostic.label(draft_[input].span, "`" + draft_[input].name + "` has no type and is taken for a scalar");
    add_instance_chain(diagnostic, draft_, program_, draft_[d].instance);
  }

  // By value: true if its shape depends on no begun cycle, no wrong declaration and no incomplete
  // knowledge.
  std::vector<bool> sure_values() {
    find_users();
    std::vector<bool> sure(states_.size(), true);
    // A join has the shape that an operand gives it, unless the other operand might make it
    // larger.
    const auto keeps_shape = [&](DraftId d) {
      if (draft_.open) return false;
      const Rhs& rhs = draft_[d].rhs;
      if (!std::holds_alternative<Fby>(rhs) && !std::holds_alternative<Merge>(rhs)) return false;
      bool given = false;
      for_each_mention(rhs, [&](DraftId m) { given = given || (sure[m.index] && state(m).shape == state(d).shape); });
      return given && !state(d).shape.empty();
    };
    std::vector<DraftId> pending = misdeclared_;
    for (std::uint32_t v = 0; v < states_.size(); ++v)
      if (!states_[v].known || states_[v].begun) pending.push_back(DraftId{v});
    while (!pending.empty()) {
      const DraftId at = pending.back();
      pending.pop_back();
      if (!sure[at.index]) continue;
      sure[at.index] = false;
      for (const DraftId user : users_[at.index])
        if (!keeps_shape(user)) pending.push_back(user);
    }
    return sure;
  }

  void find_users() {
    if (has_users_) return;
    has_users_ = true;
    for (std::uint32_t v = 0; v < states_.size(); ++v)
      for_each_mention(draft_.values[v].rhs, [&](DraftId m) { users_[m.index].push_back(DraftId{v}); });
  }

  // Marks d and all values computed from it, so that no further error is reported for them.
  void poison(DraftId d) {
    find_users();
    std::vector<DraftId> stack = {d};
    while (!stack.empty()) {
      const DraftId at = stack.back();
      stack.pop_back();
      if (poisoned_[at.index]) continue;
      poisoned_[at.index] = true;
      for (const DraftId user : users_[at.index]) stack.push_back(user);
    }
  }

  void report_unknown() {
    for (int pass = 0; pass < 2; ++pass) {  // the first pass reports errors in named values, the second one the others
      for (std::uint32_t v = 0; v < states_.size(); ++v) {
        const Value& value = draft_.values[v];
        if (states_[v].known || poisoned_[v] || std::holds_alternative<Alias>(value.rhs)) continue;
        if (pass == 0 && value.name.empty()) continue;
        const std::string what = value.name.empty() ? "this value" : "`" + value.name + "`";
        if (report_cycle(DraftId{v}, std::vector<bool>(states_.size(), true))) continue;
        report(DraftId{v}, {Code::E0306,
                            value.span,
                            "the shape of " + what + " cannot be determined",
                            {},
                            {},
                            {"its shape depends on itself alone: declare it, as in `x: f32[3] = …`"}});
      }
    }
  }

  // A join of unknown operands was begun as a scalar. Its error is the cycle, not the shape.
  bool report_cycles(const std::vector<bool>& sure) {
    bool told = false;
    for (std::uint32_t v = 0; v < states_.size(); ++v) {
      const Rhs& rhs = draft_.values[v].rhs;
      const bool join = std::holds_alternative<Fby>(rhs) || std::holds_alternative<Merge>(rhs);
      if (join && states_[v].begun) told = report_cycle(DraftId{v}, sure) || told;
    }
    return told;
  }

  // A value that depends on itself within the instant has no value of any shape. For a choice,
  // neither branch is known.
  bool report_cycle(DraftId from, const std::vector<bool>& sure) {
    std::vector<DraftId> path;
    std::vector<bool> met(states_.size(), false);
    for (DraftId at = from; at.valid() && !met[at.index]; at = first_unknown(at, sure)) {
      met[at.index] = true;
      path.push_back(at);
    }
    const auto begin = std::ranges::find(path, first_unknown(path.back(), sure));
    if (begin == path.end()) return false;
    poison(from);
    report_value_cycle(draft_, program_, {begin, path.end()}, diagnostics_);
    return true;
  }

  // An operand of the same cycle whose shape is unknown too.
  DraftId first_unknown(DraftId d, const std::vector<bool>& sure) const {
    DraftId found;
    const auto operand = [&](DraftId o) {
      if (!found.valid() && (!state(o).known || !sure[o.index])) found = o;
    };
    const Rhs& rhs = draft_[d].rhs;
    if (const auto* alias = std::get_if<Alias>(&rhs); alias != nullptr && alias->target.valid()) operand(alias->target);
    if (const auto* declared = std::get_if<Declared>(&rhs)) operand(declared->operand);
    if (const auto* index = std::get_if<Index>(&rhs)) operand(index->operand);
    if (const auto* when = std::get_if<When>(&rhs)) operand(when->operand);
    if (const auto* fby = std::get_if<Fby>(&rhs)) operand(fby->init);
    if (const auto* result = std::get_if<Result>(&rhs)) operand(result->call);
    if (const auto* merge = std::get_if<Merge>(&rhs)) {
      const Tensor* condition = state(merge->condition).constant.get();
      if (condition == nullptr || condition->truth()) operand(merge->on_true);
      if (condition == nullptr || !condition->truth()) operand(merge->on_false);
    }
    if (const auto* apply = std::get_if<Apply>(&rhs)) std::ranges::for_each(apply->operands, operand);
    if (const auto* iterate = std::get_if<Iterate>(&rhs)) std::ranges::for_each(iterate->operands, operand);
    return found;
  }

  const Draft& draft_;
  const Program& program_;
  const States& states_;
  ShapeRules rules_;
  Diagnostics& diagnostics_;
  std::vector<bool> poisoned_;
  bool too_large_ = false;
  std::vector<std::vector<DraftId>> users_;
  bool has_users_ = false;
  std::vector<DraftId> misdeclared_;
  std::set<DraftId> wrong_conditions_;
  std::vector<bool> sure_;  // for drafts with unknown shapes, one per DraftId: true before the first error
  std::vector<std::pair<DraftId, Problem>> found_;
  std::set<std::tuple<Code, std::uint32_t, std::uint32_t, std::uint32_t>> told_;
  std::set<std::uint32_t> options_told_;  // by file
  // Places of calls of library nodes whose errors were already reported.
  std::set<std::pair<std::uint32_t, std::uint32_t>> calls_told_;
};

}  // namespace

void check_shapes(const Draft& draft, const Program& program, const States& states, Diagnostics& diagnostics) {
  ShapeCheck(draft, program, states, diagnostics).run();
}

}  // namespace rml::draft

// Finds the dealt values, then reports each use of them that makes the state of ranks differ.
#include "semantics/time/check_ranks.h"

#include <algorithm>
#include <map>
#include <set>

#include "semantics/core/queries.h"
#include "semantics/time/collectives.h"

namespace rml {

namespace {

// ---- dealt values ----

class Dealt {
 public:
  Dealt(const Core& core, const Collectives& collectives)
      : core_(core), collectives_(collectives), cause_(core.values.size()) {
    spread();
    // Then mark the values that change with each row, although they depend on no dealt input.
    bool found = false;
    for (std::size_t v = 0; v < cause_.size(); ++v)
      if (!cause_[v].valid() && moves_with_rows(ValueId{v})) cause_[v] = ValueId{v}, found = true;
    if (found) spread();
  }

  bool operator()(ValueId v) const { return cause_[v.index].valid(); }
  // The operand that makes v dealt; v itself if the chain of causes begins at v.
  ValueId cause(ValueId v) const { return cause_[v.index]; }

 private:
  void spread() {
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t v = 0; v < cause_.size(); ++v) {
        if (cause_[v].valid()) continue;
        cause_[v] = cause_of(ValueId{v});
        changed = changed || cause_[v].valid();
      }
    }
  }

  ValueId first_dealt(const std::vector<ValueId>& list) const {
    const auto found = std::ranges::find_if(list, [&](ValueId x) { return (*this)(x); });
    return found == list.end() ? ValueId{} : *found;
  }

  ValueId cause_of(ValueId v) const {
    if (std::holds_alternative<core::Input>(core_[v].rhs) || collectives_.is_step_end(v) || collectives_.is_rank(v))
      return v;
    if (collectives_.computes(v)) return {};
    if (const auto* a = std::get_if<core::Apply>(&core_[v].rhs))
      return operators()[a->op].random ? v : first_dealt(a->operands);
    if (const auto* when = std::get_if<core::When>(&core_[v].rhs)) {
      // A draw at the first cycle is the same on all ranks.
      if (is_start(core_, when->condition) && when->positive) return read_from(when->operand);
      return first_dealt({when->operand});
    }
    if (const auto* merge = std::get_if<core::Merge>(&core_[v].rhs)) {
      const bool one = sampled(merge->on_true) == sampled(merge->on_false);
      return first_dealt(one ? std::vector{merge->on_true}
                             : std::vector{merge->on_true, merge->on_false, merge->condition});
    }
    if (const auto* fby = std::get_if<core::Fby>(&core_[v].rhs)) return cause_of_memory(v, *fby);
    std::vector<ValueId> operands;
    for_each_operand(core_[v].rhs, [&](const ValueId& x) { operands.push_back(x); });
    return first_dealt(operands);
  }

  ValueId cause_of_memory(ValueId v, const core::Fby& fby) const {
    if ((*this)(fby.init)) return fby.init;
    if (const auto parts = held(fby.next, v)) return first_dealt(*parts);
    return first_dealt({fby.next});
  }

  // The input that the first value of a memory depends on; invalid if there is none.
  ValueId read_from(ValueId v) const {
    std::set<ValueId> seen;
    std::vector<ValueId> open = {v};
    while (!open.empty()) {
      const ValueId x = open.back();
      open.pop_back();
      if (!seen.insert(x).second) continue;
      if (std::holds_alternative<core::Input>(core_[x].rhs)) return x;
      for_each_operand(core_[x].rhs, [&](const ValueId& o) { open.push_back(o); });
    }
    return {};
  }

  ValueId sampled(ValueId v) const {
    while (const auto* when = std::get_if<core::When>(&core_[v].rhs)) v = when->operand;
    return v;
  }

  // If x equals the memory except at ends of steps: its values there. Nothing for any other x.
  std::optional<std::vector<ValueId>> held(ValueId x, ValueId memory) const {
    if (sampled(x) == memory) return std::vector<ValueId>{};
    const auto* merge = std::get_if<core::Merge>(&core_[x].rhs);
    if (merge == nullptr) return std::nullopt;
    auto rest = held(merge->on_false, memory);
    if (!rest) return std::nullopt;
    if (collectives_.ends_step(merge->condition)) {
      rest->push_back(merge->on_true);
      return rest;
    }
    const auto other = held(merge->on_true, memory);
    if (!other) return std::nullopt;
    rest->insert(rest->end(), other->begin(), other->end());
    return rest;
  }

  // True for a memory or a look-ahead that advances with each row of this rank.
  bool moves_with_rows(ValueId v) const {
    if (collectives_.computes(v) || collectives_.on_steps(core_[v].clock)) return false;
    if (const auto* post = std::get_if<core::Post>(&core_[v].rhs)) return !core_.is_const(post->operand);
    const auto* fby = std::get_if<core::Fby>(&core_[v].rhs);
    return fby != nullptr && !core_.is_const(fby->next) && !held(fby->next, v);
  }

  const Core& core_;
  const Collectives& collectives_;
  std::vector<ValueId> cause_;
};

// ---- errors ----

class RankCheck {
 public:
  RankCheck(const Program& program, const Core& core, Diagnostics& diagnostics)
      : program_(program),
        core_(core),
        diagnostics_(diagnostics),
        collectives_(core),
        dealt_(core, collectives_),
        uses_(core),
        shown_(core.values.size()),
        end_(core.inputs[core.dealt->end].value) {
    for (const Port& output : core.outputs) shown_[output.value.index] = true;
    for (const CoreAssert& a : core.asserts) shown_[a.condition.index] = true;
  }

  void run() {
    for (const CollectiveCall& c : collectives_.list()) {
      check_kept(c);
      check_collective(c);
      if (c.sent.valid()) check_broadcast(c);
    }
    check_draws();
    std::vector<ValueId> wrong;
    for (std::size_t v = 0; v < core_.values.size(); ++v)
      if (goes_on(ValueId{v})) wrong.push_back(ValueId{v});
    const std::set<ValueId> all(wrong.begin(), wrong.end());
    for (const ValueId v : wrong)
      if (!follows_another(v, all)) report(v);
  }

 private:
  // `gathered` keeps the values of a step, which each rank has only in part.
  void check_kept(const CollectiveCall& c) {
    const Instance& instance = core_.instances[c.instance.index];
    if (instance.steps != StepsNode::gathered) return;
    diagnostics_
        .report(Code::E1002, instance.call, "this rank has only some values of a step: other ranks have the other rows",
                "each rank keeps its own values")
        .label(core_[end_].span, "dealt by this")
        .note("sum them over all ranks: `all_sum(…)`, `all_mean(…)`");
  }

  // Ranks may meet at ends of micro-batches only.
  void check_collective(const CollectiveCall& c) {
    if (!c.end.valid()) return;
    const Instance& instance = core_.instances[c.instance.index];
    if (c.end != end_) {
      const std::string own = clock_string(core_, core_[c.end].clock) + " on " + atom(c.end);
      diagnostics_
          .report(Code::E1002, instance.call,
                  "the ranks do not reach this sum together: it is on the clock `" + own +
                      "`, but micro-batches end on the clock `base on " + describe(core_, end_) + "`",
                  "on the clock `" + own + "`")
          .label(core_[end_].span, "dealt by this")
          .note(
              "each rank has its own rows, and would reach the sum at other times than the others; sum at the cycles "
              "where `" +
              describe(core_, end_) + "` is true, and pass this Boolean on unchanged");
      return;
    }
    if (!c.count.valid()) return;
    const std::string count = describe(core_, c.count);
    if (step_.second.empty()) step_ = {instance.call, count};
    if (step_.second != count)
      diagnostics_
          .report(Code::E1002, instance.call,
                  "a step has " + count + " micro-batches here, but " + step_.second + " elsewhere",
                  count + " micro-batches")
          .label(step_.first, step_.second + " micro-batches")
          .note("write the same number after `by` in all nodes, for example a constant");
  }

  // All ranks that share a step reach its end, but not a condition that differs between them
  // there.
  void check_broadcast(const CollectiveCall& c) {
    const ClockId clock = core_[c.sent].clock;
    const auto differs = [&](ClockId k) {
      return !(core_[k].positive && collectives_.ends_step(core_[k].condition)) && dealt_(core_[k].condition);
    };
    if (collectives_.on_steps(clock) && std::ranges::none_of(ancestors(core_, clock), differs)) return;
    const std::string own = clock_string(core_, clock);
    diagnostics_
        .report(Code::E1002, core_.instances[c.instance.index].call,
                "the ranks do not reach this together: it is sent on the clock `" + own + "`, not at the ends of steps",
                "on the clock `" + own + "`")
        .label(core_[end_].span, "micro-batches end on the clock `base on " + describe(core_, end_) + "`")
        .note(
            "each rank has its own rows; send a value when a step ends: when `last` of `total, last = "
            "all_sum(…)`");
  }

  ValueId condition_of(ValueId v) const {
    if (const auto* when = std::get_if<core::When>(&core_[v].rhs)) return when->condition;
    if (const auto* merge = std::get_if<core::Merge>(&core_[v].rhs)) return merge->condition;
    return {};
  }

  // True if v is a draw or is computed from a draw of the same cycle. Sets by_chance_ if a
  // condition is drawn.
  bool is_drawn(ValueId v) {
    const auto [known, is_new] = drawn_.try_emplace(v, false);
    if (!is_new || std::holds_alternative<core::Fby>(core_[v].rhs) || std::holds_alternative<core::Post>(core_[v].rhs))
      return known->second;
    const core::Apply* const a = apply_of(core_, v);
    bool found = a != nullptr && operators()[a->op].random;
    for_each_operand(core_[v].rhs, [&](const ValueId& operand) { found = is_drawn(operand) || found; });
    if (const ValueId c = condition_of(v); c.valid() && is_drawn(c)) by_chance_ = true;
    return drawn_[v] = found;
  }

  // All ranks share the first cycle. They do not share the first instant of another clock, nor a
  // draw under a condition that is itself drawn.
  void check_draws() {
    for (std::size_t v = 0; v < core_.values.size(); ++v) {
      const Value& value = core_[ValueId{v}];
      const auto* when = std::get_if<core::When>(&value.rhs);
      if (when == nullptr || !when->positive || !is_start(core_, when->condition)) continue;
      const ValueId first = when->operand;
      by_chance_ = false;
      const bool late = is_drawn(first) && core_[first].clock != base_clock;
      if (!late && !by_chance_) continue;
      drawn_apart_.insert(ValueId{v});
      const std::string own = clock_string(core_, core_[first].clock);
      diagnostics_
          .report(Code::E1002, value.span,
                  late ? "the initial value is drawn at the first cycle of the clock `" + own +
                             "`, in a row of one rank only"
                       : std::string("the initial value is drawn under a condition that is itself drawn"),
                  "drawn on the clock `" + own + "`")
          .note("draw it at the first cycle, which all ranks share: write `param(…)` in an equation of every cycle");
    }
  }

  std::string atom(ValueId v) const {
    const std::string text = describe(core_, v);
    return text.find(' ') == std::string::npos ? text : "(" + text + ")";
  }

  // ---- facts about the first and the last row of every micro-batch ----

  enum class Row : std::uint8_t { first, last };

  // The value of v in that row if it does not depend on earlier rows, else null. `depth` limits
  // the recursion through cyclic equations.
  const Tensor* known(ValueId v, Row row, int depth = 0) const {
    constexpr int deepest = 100;
    if (depth > deepest) return nullptr;
    if (const auto* constant = std::get_if<core::Const>(&core_[v].rhs)) return &constant->value;
    if (row == Row::last && v == end_) return truth(true);
    if (row == Row::first && begins_anew(v)) return known(std::get<core::Fby>(core_[v].rhs).init, row, depth + 1);
    if (const auto* when = std::get_if<core::When>(&core_[v].rhs)) return known(when->operand, row, depth + 1);
    if (const auto* merge = std::get_if<core::Merge>(&core_[v].rhs)) {
      const auto c = known_truth(merge->condition, row, depth + 1);
      return c ? known(*c ? merge->on_true : merge->on_false, row, depth + 1) : nullptr;
    }
    if (const auto* a = apply_of(core_, v, "logical_not")) {
      const auto x = known_truth(a->operands[0], row, depth + 1);
      return x ? truth(!*x) : nullptr;
    }
    for (const bool decides : {true, false}) {
      const auto* a = apply_of(core_, v, decides ? "logical_or" : "logical_and");
      if (a == nullptr) continue;
      const auto x = known_truth(a->operands[0], row, depth + 1), y = known_truth(a->operands[1], row, depth + 1);
      if (x == decides || y == decides) return truth(decides);
      if (x && y) return truth(!decides);
    }
    return nullptr;
  }
  std::optional<bool> known_truth(ValueId v, Row row, int depth = 0) const {
    const Tensor* const t = known(v, row, depth);
    if (t == nullptr || t->dtype() != DType::boolean || !t->shape().empty()) return std::nullopt;
    return *t->as<std::uint8_t>() != 0;
  }
  static const Tensor* truth(bool value) {
    static const Tensor values[] = {Tensor::boolean(false), Tensor::boolean(true)};
    return &values[value ? 1 : 0];
  }

  // True for a memory that has its initial value in the first row of each micro-batch: it is
  // present in the last row, and the next value stored there is the constant it begins with.
  bool begins_anew(ValueId v) const {
    const auto* fby = std::get_if<core::Fby>(&core_[v].rhs);
    const auto* init = fby != nullptr ? std::get_if<core::Const>(&core_[fby->init].rhs) : nullptr;
    if (init == nullptr) return false;
    for (const ClockId c : ancestors(core_, core_[v].clock))
      if (known_truth(core_[c].condition, Row::last) != core_[c].positive) return false;
    const Tensor* const next = known(fby->next, Row::last);
    return next != nullptr && *next == init->value;
  }

  // True if v is never read in that row.
  bool is_hidden(ValueId v, Row row) const {
    if (shown_[v.index]) return false;
    return std::ranges::all_of(uses_.of(v), [&](ValueId user) {
      const auto* when = std::get_if<core::When>(&core_[user].rhs);
      if (when == nullptr || when->operand != v) return false;
      const auto condition = known_truth(when->condition, row);
      return condition && *condition != when->positive;
    });
  }

  // True if v carries a dealt value from one micro-batch to another.
  bool goes_on(ValueId v) const {
    if (!dealt_(v) || collectives_.computes(v) || !core_[v].instance.valid()) return false;
    if (const auto* post = std::get_if<core::Post>(&core_[v].rhs))
      return !core_.is_const(post->operand) && !is_hidden(v, Row::last);
    const auto* fby = std::get_if<core::Fby>(&core_[v].rhs);
    return fby != nullptr && !core_.is_const(fby->next) && !drawn_apart_.contains(fby->init) && !begins_anew(v) &&
           !is_hidden(v, Row::first);
  }

  bool follows_another(ValueId v, const std::set<ValueId>& wrong) const {
    for (ValueId x = v; dealt_.cause(x) != x;) {
      x = dealt_.cause(x);
      if (x != v && wrong.contains(x)) return true;
    }
    return false;
  }

  std::string name_of(ValueId v) const {
    for (const Port& input : core_.inputs)
      if (input.value == v) return input.name;
    return core_[v].name;
  }

  // The names on the chain of causes from v to its beginning.
  std::vector<std::string> way(ValueId v) const {
    std::vector<std::string> names;
    for (ValueId x = v;; x = dealt_.cause(x)) {
      if (const std::string name = name_of(x); !name.empty() && (names.empty() || names.back() != name))
        names.push_back(name);
      if (dealt_.cause(x) == x) return names;
    }
  }

  ValueId beginning(ValueId v) const {
    while (dealt_.cause(v) != v) v = dealt_.cause(v);
    return v;
  }

  // The user's call that leads to an instance of a library node; an empty span if there is none.
  Span call_into_library(InstanceId i) const {
    Span call;
    for (; i.valid(); i = core_.instances[i.index].parent) {
      const Instance& instance = core_.instances[i.index];
      if (!program_.modules[program_[instance.node].module.index].of_library) break;
      call = instance.call;
    }
    return call;
  }

  void report(ValueId v) {
    const bool ahead = std::holds_alternative<core::Post>(core_[v].rhs);
    const std::string end = describe(core_, end_);
    const std::string message = "`" + describe(core_, v) + "` depends on the rank: " +
                                (ahead ? "it reads the next micro-batch, which another rank may have"
                                       : "it is remembered from one micro-batch to the next of the same rank");
    const std::string label = (ahead ? "reads beyond `" : "remembered beyond `") + end + "`";
    const Span call = call_into_library(core_[v].instance);
    Diagnostic& d = call.end > 0 ? diagnostics_.report(Code::E1002, call, message, "in the node that is called here")
                                       .label(core_[v].span, label)
                                 : diagnostics_.report(Code::E1002, core_[v].span, message, label);
    std::string text;
    for (const std::string& name : way(v)) text += (text.empty() ? "`" : " ← `") + name + "`";
    const ValueId from = beginning(v);
    const bool read = std::holds_alternative<core::Input>(core_[from].rhs);
    if (read) d.label(core_[from].span, "dealt");
    d.note((text.empty() ? std::string("a value") : text) + ", " +
           (read                                                   ? "which is dealt"
            : collectives_.is_rank(from)                           ? "which is the number of the rank"
            : std::holds_alternative<core::Apply>(core_[from].rhs) ? "which is drawn for each row"
                                                                   : "which changes with the rows of a rank"));
    if (ahead && core_.instances[core_[v].instance.index].derived)
      d.note("this is the gradient of a value that is remembered beyond `" + end +
             "`: restart the value with each micro-batch, `fby_end(" + end + ", init, …)`");
    else if (ahead)
      d.note("end it with the micro-batch: `post_end(" + end + ", init, …)`");
    else
      d.note("restart it with each micro-batch, `fby_end(" + end +
             ", init, …)`; or remember a value that all ranks share: "
             "`all_mean(…)`, `all_sum(…)`");
  }

  const Program& program_;
  const Core& core_;
  Diagnostics& diagnostics_;
  const Collectives collectives_;
  const Dealt dealt_;
  const Uses uses_;
  std::vector<bool> shown_;  // one per value: true if it is an output or an assert
  const ValueId end_;
  std::map<ValueId, bool> drawn_;
  std::set<ValueId> drawn_apart_;  // initial values that ranks draw differently
  bool by_chance_ = false;         // result of is_drawn: true if the condition itself is drawn
  // The first collective: its call, and the micro-batches per step.
  std::pair<Span, std::string> step_;
};

}  // namespace

void check_ranks(const Program& program, const Core& core, Diagnostics& diagnostics) {
  if (core.dealt) RankCheck(program, core, diagnostics).run();
}

}  // namespace rml

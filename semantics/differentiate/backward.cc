// Takes equations users first, and sums the contributions of the uses of each variable.
#include "semantics/differentiate/backward.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "semantics/differentiate/instances.h"
#include "semantics/differentiate/iteration.h"
#include "semantics/differentiate/operators.h"
#include "semantics/differentiate/time.h"
#include "semantics/values/overloaded.h"
#include "semantics/values/strong_components.h"

namespace rml::derivation {

namespace {

// The contribution of one use to the adjoint of a variable, on the variable's clock, where `act`
// holds.
struct Contribution {
  Symbol act;
  ExprId adjoint;
  std::optional<Branch> branch;
  bool is_grounded = false;  // derived from the adjoint of an output, not only from a recurrence
};

class Backward {
 public:
  Backward(Derivation& d, const std::vector<Seed>& seeds)
      : d_(d),
        write_(d.write),
        contributions_(d.node.names.variables.size()),
        grounded_(d.node.names.variables.size(), false),
        adjoints_(d.node.names.variables.size()),
        early_(d.node.names.variables.size()),
        pending_(d.node.node.equations.size(), false),
        recurrent_(d.node.names.variables.size(), false) {
    for (const Seed& s : seeds) contributions_[s.variable].push_back({s.act, s.adjoint, std::nullopt, true});
    for (std::uint32_t v = 0; v < early_.size(); ++v) {
      users_left_.push_back(d.activity.users(v));
      if (const std::uint32_t q = equation_of(v); d.activity.is_useful(v) && q != UINT32_MAX) pending_[q] = true;
    }
    find_recurrent();
  }

  std::vector<Adjoint> run() {
    while (std::ranges::find(pending_, true) != pending_.end()) {
      if (const auto q = next_equation())
        take(*q);
      else
        name_early();
    }
    // Writes the equations of variables named early, and the sums of inputs, which have no
    // equations.
    for (std::uint32_t v = 0; v < adjoints_.size(); ++v) {
      const std::uint32_t q = equation_of(v);
      if (!d_.activity.is_useful(v) || !(early_[v].given() || q == UINT32_MAX)) continue;
      write_.span = q == UINT32_MAX ? d_.node.names.variables[v].span : d_.node.node.equations[q].span;
      write_.at_equation(q == UINT32_MAX ? 0 : q);
      sum_up(v);
    }
    return std::move(adjoints_);
  }

 private:
  std::uint32_t equation_of(std::uint32_t v) const { return d_.node.names.variables[v].equation; }

  // A variable is recurrent if one of its users depends on the equation that defines it.
  void find_recurrent() {
    const auto users = [&](std::size_t q, auto&& f) {
      for (const std::uint32_t v : d_.activity.reached(q))
        if (equation_of(v) != UINT32_MAX) f(equation_of(v), v);
    };
    std::uint32_t found = 0;
    const std::vector<std::uint32_t> component = strong_components(
        pending_.size(),
        [&](std::uint32_t q, auto&& f) { users(q, [&](std::uint32_t defines, std::uint32_t) { f(defines); }); }, found);
    for (std::size_t q = 0; q < pending_.size(); ++q)
      users(q, [&](std::uint32_t defines, std::uint32_t v) {
        if (component[q] == component[defines]) recurrent_[v] = true;
      });
  }

  // The last pending equation whose variables have all contributions of their users, or have
  // names already.
  std::optional<std::size_t> next_equation() const {
    const auto is_ready = [&](std::uint32_t v) {
      return v == NodeFacts::unnamed || !d_.activity.is_useful(v) || users_left_[v] == 0 || early_[v].given();
    };
    for (std::size_t q = pending_.size(); q-- > 0;)
      if (pending_[q] && std::ranges::all_of(d_.node.targets[q], is_ready)) return q;
    return std::nullopt;
  }

  void take(std::size_t q) {
    pending_[q] = false;
    write_.at_equation(q);
    write_.span = d_.node.node.equations[q].span;
    for (const std::uint32_t v : d_.node.targets[q])
      if (v != NodeFacts::unnamed && d_.activity.is_useful(v) && !early_[v].given()) sum_up(v);
    for (const std::uint32_t v : d_.node.targets[q])
      if (v != NodeFacts::unnamed) grounded_[v] = is_grounded(v);
    differentiate(q);
    for (const std::uint32_t v : d_.activity.reached(q)) --users_left_[v];
  }

  // Names one of the waiting recurrent variables; preferably one read through a delay, which
  // breaks the cycle.
  void name_early() {
    std::optional<std::uint32_t> chosen;
    bool is_delayed = false;
    const std::function<void(ExprId, bool)> look = [&](ExprId e, bool inside) {
      if (const auto v = d_.node.variable(e); v && is_waiting(*v) && (!chosen || (inside && !is_delayed)))
        chosen = *v, is_delayed = inside;
      const ast::Expr& x = d_.node.expr(e);
      const bool delays =
          std::holds_alternative<ast::Fby>(x) || std::holds_alternative<ast::Post>(x) || d_.node.refers_to<NodeRef>(e);
      for_each_child(x, [&](ExprId part) { look(part, inside || delays); });
    };
    for (std::size_t q = 0; q < pending_.size(); ++q)
      if (pending_[q]) look(d_.node.node.equations[q].value, false);
    const std::string name = d_.node.variable_text(*chosen);
    const Symbol act = write_.fresh("bp_" + name);
    adjoints_[*chosen] = early_[*chosen] = {act, write_.fresh("d" + name)};
  }

  bool is_waiting(std::uint32_t v) const {
    const std::uint32_t q = equation_of(v);
    return recurrent_[v] && d_.activity.is_useful(v) && pending_[q] && !early_[v].given();
  }

  bool is_grounded(std::uint32_t v) const { return std::ranges::any_of(contributions_[v], &Contribution::is_grounded); }

  // ---- sums of contributions ----

  // The adjoint of v: the sum of the contributions of its users.
  void sum_up(std::uint32_t v) {
    if (early_[v].given()) return sum_up_early(v);
    if (contributions_[v].empty()) return;
    const auto [act, sum] = summed(v);
    const auto* name = std::get_if<ast::Name>(&d_.node.expr(sum));
    if (name != nullptr && !d_.node.is_parameter(v)) {
      adjoints_[v] = {act, name->symbol};
      return;
    }
    adjoints_[v] = {act, write_.fresh("d" + d_.node.variable_text(v))};
    write_.equation(adjoints_[v].value, sum);
  }

  // Like sum_up, for a variable whose activity and adjoint already have names.
  void sum_up_early(std::uint32_t v) {
    const Adjoint early = early_[v];
    const Symbol self = d_.node.names.variables[v].name;
    if (contributions_[v].empty()) {
      d_.acts.define_copy(early.act, d_.acts.never(d_.node.clocks.variable_clocks[v]));
      write_.equation(early.value, write_.when(write_.zeros_like(self), early.act));
      return;
    }
    auto [act, sum] = summed(v);
    d_.acts.define_copy(early.act, act);
    // An adjoint whose only contributions come from itself is zero, and its shape must be stated.
    if (!is_grounded(v)) sum = write_.binary(BinaryOp::add, sum, write_.when(write_.zeros_like(self), early.act));
    write_.equation(early.value, sum);
  }

  // The activity of the sum (where any contribution is present), and the sum.
  std::pair<Symbol, ExprId> summed(std::uint32_t v) {
    const std::vector<Contribution>& list = contributions_[v];
    if (const auto both = both_branches(v)) return *both;
    const auto add = [&](ExprId sum, ExprId part) {
      return sum.valid() ? write_.binary(BinaryOp::add, sum, part) : part;
    };
    ExprId sum;
    if (std::ranges::all_of(list, [&](const Contribution& c) { return c.act == list[0].act; })) {
      for (const Contribution& c : list) sum = add(sum, c.adjoint);
      return {list[0].act, sum};
    }
    std::vector<Symbol> acts;
    for (const Contribution& c : list) {
      if (std::ranges::find(acts, c.act) == acts.end()) acts.push_back(c.act);
      sum = add(sum, write_.padded(c.act, c.adjoint));
    }
    Symbol act = early_[v].act;
    if (act.valid())
      write_.equation(act, d_.acts.any_of(acts));
    else
      act = d_.acts.any(acts, "bp_" + d_.node.variable_text(v));
    return {act, write_.when(sum, act)};
  }

  // x is used as `x when c` and `x when not c`: each cycle has exactly one of the two.
  std::optional<std::pair<Symbol, ExprId>> both_branches(std::uint32_t v) {
    const std::vector<Contribution>& list = contributions_[v];
    if (list.size() != 2 || !list[0].branch || !list[1].branch) return std::nullopt;
    const Sampling &first = list[0].branch->sampling, &second = list[1].branch->sampling;
    if (first.condition != second.condition || first.positive == second.positive) return std::nullopt;
    const Branch &yes = *list[first.positive ? 0 : 1].branch, &no = *list[first.positive ? 1 : 0].branch;
    const Symbol act = d_.acts.either(first.condition, yes.act, no.act, "bp_" + d_.node.variable_text(v));
    const ExprId on_true = write_.padded(yes.act, yes.adjoint), on_false = write_.padded(no.act, no.adjoint);
    return std::pair(act, write_.when(write_.merge(first.condition, on_true, on_false), act));
  }

  // ---- equations ----

  void differentiate(std::size_t q) {
    const ExprId e = d_.node.node.equations[q].value;
    std::vector<Adjoint> adjoints;
    for (const std::uint32_t v : d_.node.targets[q])
      adjoints.push_back(v == NodeFacts::unnamed ? Adjoint{} : adjoints_[v]);
    if (d_.node.refers_to<NodeRef>(e)) return pass_on_call(e, adjoints);
    if (!adjoints[0].given()) return;
    pass_on(e, {adjoints[0].act, write_.name(adjoints[0].value), d_.shapes.of_variable(d_.node.targets[q][0])});
  }

  void pass_on_call(ExprId e, const std::vector<Adjoint>& adjoints) {
    const bool is_iteration = std::get<ast::Call>(d_.node.expr(e)).iteration.has_value();
    (is_iteration ? pass_on_iteration : pass_on_instance)(d_, e, adjoints, further());
  }

  PassOn further() {
    return [this](ExprId part, Flow flow) { pass_on(part, std::move(flow)); };
  }

  PassOn contribution() {
    return [this](ExprId variable, Flow flow) { contribute(variable, std::move(flow)); };
  }

  // Adds the flow to the adjoints of the variables in e.
  void pass_on(ExprId e, Flow flow) {
    if (!d_.activity.takes_adjoint(e)) return;
    const Span outer = std::exchange(write_.span, d_.node.program.span(e));
    // A copy, because adding expressions moves those of the program.
    const ast::Expr original = d_.node.expr(e);
    std::visit(Overloaded{
                   [&](const ast::Name&) { contribute(e, std::move(flow)); },
                   [&](const ast::When& x) {
                     // A sampled variable gets the contribution of the sampling as a whole.
                     pass_on_when(d_, x, flow, d_.node.is_name(x.operand) ? contribution() : further());
                   },
                   [&](const ast::Merge& x) { pass_on_merge(d_, x, flow, further()); },
                   [&](const ast::If& x) { pass_on_if(d_, x, flow, further()); },
                   [&](const ast::Fby& x) { pass_on_fby(d_, e, x, flow, further()); },
                   [&](const ast::Post& x) { pass_on_post(d_, x, flow, further()); },
                   [&](const ast::Index&) { pass_on_subscript(d_, e, std::move(flow), further()); },
                   [&](const ast::Call&) { pass_on_inner_call(e, std::move(flow)); },
                   [&](const auto&) { pass_on_application(d_, e, std::move(flow), further()); },
               },
               original);
    write_.span = outer;
  }

  // A call within an expression, or a call of an operator or `param`.
  void pass_on_inner_call(ExprId e, Flow flow) {
    if (d_.node.refers_to<ParamRef>(e)) return move_parameter(d_, e, reduced(d_, std::move(flow), e));
    if (!d_.node.refers_to<NodeRef>(e)) return pass_on_application(d_, e, std::move(flow), further());
    flow = reduced(d_, std::move(flow), e);
    write_.named(e);
    pass_on_call(e, {{flow.act, write_.symbol_of(flow.adjoint)}});
  }

  void contribute(ExprId e, Flow flow) {
    const auto v = d_.node.variable(e);
    if (!v || !d_.activity.is_useful(*v)) return;
    flow = reduced(d_, std::move(flow), e);
    const auto& targets = d_.node.targets[write_.equation_at()];
    const bool is_grounded = std::ranges::any_of(
        targets, [&](std::uint32_t target) { return target != NodeFacts::unnamed && grounded_[target]; });
    contributions_[*v].push_back({flow.act, flow.adjoint, flow.branch, is_grounded});
  }

  Derivation& d_;
  GradientWriter& write_;
  // Contributions of users to the adjoint of each variable.
  std::vector<std::vector<Contribution>> contributions_;
  std::vector<bool> grounded_;  // a grounded contribution is known
  std::vector<Adjoint> adjoints_;
  std::vector<Adjoint> early_;  // adjoints that are named before their equations
  std::vector<std::size_t> users_left_;
  std::vector<bool> pending_;  // one per equation: true if it has useful variables and its adjoint was not taken yet
  std::vector<bool> recurrent_;
};

}  // namespace

std::vector<Adjoint> pass_backward(Derivation& d, const std::vector<Seed>& seeds) { return Backward(d, seeds).run(); }

}  // namespace rml::derivation

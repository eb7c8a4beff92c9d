// A difference or an equality of two tensors is reported if
// - they have equally many elements but different ranks, and broadcast to more elements than each has;
// - neither is the result of an operator that changes shapes;
// - all its uses are elementwise or reductions, and one of them reduces it to a scalar.
#include "semantics/instantiate/warn_of_pairs.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "semantics/check/signature_text.h"
#include "semantics/check/syntax.h"
#include "semantics/instantiate/blame_calls.h"
#include "semantics/instantiate/solve_shapes.h"

namespace rml::draft {

namespace {

class Pairs {
 public:
  Pairs(const Draft& draft, const Program& program, const States& states, Diagnostics& diagnostics)
      : draft_(draft), program_(program), states_(states), diagnostics_(diagnostics) {}

  void run() {
    for (std::uint32_t v = 0; v < draft_.values.size(); ++v)
      if (const auto* apply = std::get_if<Apply>(&draft_.values[v].rhs); apply != nullptr && pairs(DraftId{v}, *apply))
        if (is_averaged(DraftId{v})) report(DraftId{v}, *apply);
  }

 private:
  const State& state(DraftId d) const { return states_[d.index]; }
  std::string type(DraftId d) const { return type_string(draft_[d].dtype, state(d).shape); }
  std::int64_t elements(DraftId d) const { return element_count(state(d).shape).value_or(0); }

  bool pairs(DraftId d, const Apply& apply) const {
    const std::string_view op = operators()[apply.op].name;
    if ((op != "sub" && op != "eq" && op != "ne") || apply.operands.size() != 2 || !state(d).known ||
        in_library(draft_, program_, draft_[d].instance))
      return false;
    const DraftId a = apply.operands[0], b = apply.operands[1];
    if (!state(a).known || !state(b).known || state(a).shape.size() == state(b).shape.size()) return false;
    return elements(a) == elements(b) && elements(d) > elements(a) && !has_written_shape(a) && !has_written_shape(b);
  }

  // True if the author chose the shape where the value is made.
  bool has_written_shape(DraftId d) const {
    if (std::holds_alternative<Const>(draft_[d].rhs) || std::holds_alternative<Index>(draft_[d].rhs)) return true;
    const auto* apply = std::get_if<Apply>(&draft_[d].rhs);
    if (apply == nullptr) return false;
    const Lowering l = operators()[apply->op].lowering;
    return l == Lowering::reshape || l == Lowering::broadcast || l == Lowering::transpose || l == Lowering::fill ||
           l == Lowering::iota || l == Lowering::array || l == Lowering::move;
  }

  void find_users() {
    if (!users_.empty()) return;
    users_.resize(draft_.values.size());
    for (std::uint32_t v = 0; v < draft_.values.size(); ++v)
      for_each_mention(draft_.values[v].rhs, [&](DraftId m) { users_[m.index].push_back(DraftId{v}); });
    shown_.resize(draft_.values.size(), false);
    for (const auto* list : {&draft_.outputs, &draft_.parameters})
      for (const NamedValue& named : *list) shown_[named.value.index] = true;
  }

  enum class Use { passes, ends, other };
  Use use(DraftId user) const {
    const Rhs& rhs = draft_[user].rhs;
    if (const auto* apply = std::get_if<Apply>(&rhs)) {
      const Lowering l = operators()[apply->op].lowering;
      if (is_reduction(l) && state(user).shape.empty()) return Use::ends;
      return l == Lowering::elementwise || l == Lowering::broadcast || is_reduction(l) ? Use::passes : Use::other;
    }
    const bool same = std::holds_alternative<Alias>(rhs) || std::holds_alternative<When>(rhs) ||
                      std::holds_alternative<Merge>(rhs) || std::holds_alternative<Declared>(rhs);
    return same ? Use::passes : Use::other;
  }

  bool is_averaged(DraftId d) {
    find_users();
    std::vector<DraftId> pending = {d};
    std::vector<bool> met(draft_.values.size(), false);
    bool ends = false;
    while (!pending.empty()) {
      const DraftId at = pending.back();
      pending.pop_back();
      if (met[at.index]) continue;
      met[at.index] = true;
      if (shown_[at.index]) return false;
      for (const DraftId user : users_[at.index]) {
        const Use how = use(user);
        if (how == Use::other) return false;
        ends = ends || how == Use::ends;
        if (how == Use::passes) pending.push_back(user);
      }
    }
    return ends;
  }

  // The expression in the source; invalid if differentiation wrote it.
  ExprId written(DraftId d) const {
    const ast::Node& node = program_[draft_.instances[draft_[d].instance.index].node];
    ExprId found;
    const std::function<void(ExprId)> search = [&](ExprId e) {
      if (!e.valid() || found.valid()) return;
      if (program_.span(e) == draft_[d].span && std::holds_alternative<ast::Binary>(program_[e]))
        found = e;
      else
        for_each_child(program_[e], search);
    };
    for (const ast::Equation& q : node.equations) search(q.value);
    for (const ast::Assert& a : node.asserts) search(a.condition);
    return found;
  }

  void report(DraftId d, const Apply& apply) {
    const ExprId e = written(d);
    if (!e.valid()) return;
    const auto& binary = std::get<ast::Binary>(program_[e]);
    const bool left_is_larger = state(apply.operands[0]).shape.size() > state(apply.operands[1]).shape.size();
    const ExprId larger = left_is_larger ? binary.left : binary.right;
    const ExprId smaller = left_is_larger ? binary.right : binary.left;
    Diagnostic& found = diagnostics_.report(
        Code::W0303, draft_[d].span,
        "`" + short_text(program_, e) + "` combines all pairs of elements: it is " + type(d), type(d));
    found.label(program_.span(binary.left), "this is " + type(apply.operands[0]));
    found.label(program_.span(binary.right), "this is " + type(apply.operands[1]));
    found.note("its mean or sum is over all " + std::to_string(elements(d)) + " pairs; the loss of " +
               std::to_string(elements(apply.operands[0])) + " predictions needs two tensors of one shape");
    found.note("if all pairs are meant, write the shape out, as in `expand_dims(" + short_text(program_, smaller) +
               ", 0)`");
    const std::string same =
        "reshape(shape(" + expression_text(program_, smaller) + "), " + expression_text(program_, larger) + ")";
    found.fix(program_.span(larger), same, "write `" + same + "`", true);
  }

  const Draft& draft_;
  const Program& program_;
  const States& states_;
  Diagnostics& diagnostics_;
  std::vector<std::vector<DraftId>> users_;  // by value; empty until the first candidate
  std::vector<bool> shown_;                  // by value: true for outputs and parameters
};

}  // namespace

void warn_of_pairs(const Draft& draft, const Program& program, const States& states, Diagnostics& diagnostics) {
  Pairs(draft, program, states, diagnostics).run();
}

}  // namespace rml::draft

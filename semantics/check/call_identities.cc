// One walk collects the identities that calls already carry; a second walk numbers the other
// calls.
#include "semantics/check/call_identities.h"

#include <functional>
#include <unordered_set>

#include "semantics/check/syntax.h"
#include "semantics/core/joint.h"

namespace rml {

namespace {

class Walk {
 public:
  Walk(const Program& program, const Resolved& names, const ast::Node& node)
      : program_(program), names_(names), node_(node) {}

  CallIdentities run() {
    each([&](ExprId e, const ast::Call& c) {
      if (c.identity.valid()) take(e, program_.text(c.identity));
    });
    each([&](ExprId e, const ast::Call& c) {
      if (!c.identity.valid()) name(e, c);
    });
    return std::move(found_);
  }

 private:
  void each(const std::function<void(ExprId, const ast::Call&)>& f) {
    f_ = &f;
    for (const ast::Equation& q : node_.equations) {
      target_.clear();
      for (const ast::Target& t : q.targets)
        if (target_.empty() && t.name.valid()) target_ = program_.text(t.name);
      if (q.value.valid()) visit(q.value);
    }
    target_.clear();
    for (const ast::Assert& a : node_.asserts) visit(a.condition);
    for (const auto* list : {&node_.inputs, &node_.outputs})
      for (const ast::Parameter& p : *list) visit_shape(p.type);
    for (const ast::Equation& q : node_.equations)
      for (const ast::Target& t : q.targets) visit_shape(t.type);
  }

  void visit_shape(const std::optional<ast::TypeAnnotation>& type) {
    if (!type) return;
    for (const ExprId extent : type->shape) visit(extent);
  }

  // Visits subexpressions first. The operand of a `when` comes before its condition, as in the source.
  void visit(ExprId e) {
    const ast::Expr& x = program_[e];
    if (const auto* when = std::get_if<ast::When>(&x)) {
      visit(when->operand);
      visit(when->condition);
    } else {
      for_each_child(x, [this](ExprId part) { visit(part); });
    }
    const auto* call = std::get_if<ast::Call>(&x);
    if (call != nullptr && e.index < names_.references.size()) (*f_)(e, *call);
  }

  const Reference& to(ExprId e) const { return names_.references[e.index]; }
  bool is_told_apart(ExprId e) const {
    const auto* op = std::get_if<OperatorRef>(&to(e));
    return op != nullptr && (operators()[op->op].random || is_joint(op->op));
  }

  void take(ExprId e, const std::string& identity) {
    if (std::holds_alternative<NodeRef>(to(e)))
      segments_.taken.insert(identity);
    else if (std::holds_alternative<ParamRef>(to(e)))
      parameters_.taken.insert(identity);
    else if (is_told_apart(e))
      numbers_.insert(identity);
    else
      return;
    found_[e.index] = identity;
  }

  void name(ExprId e, const ast::Call& c) {
    if (const auto* node = std::get_if<NodeRef>(&to(e)))
      found_[e.index] = unique(callee_name(c, node->node), segments_);
    else if (std::holds_alternative<ParamRef>(to(e)))
      found_[e.index] = unique(target_.empty() ? "param" : target_, parameters_);
    else if (is_told_apart(e))
      found_[e.index] = next_number();
  }

  // An instance of `diff f`, generated or written by hand, has the name that an instance of f
  // has, so that parameters keep their names.
  std::string callee_name(const ast::Call& c, NodeId node) const {
    const NodeId origin = program_[node].derived_from;
    if (origin.valid()) return program_.text(program_[origin].name);
    std::string name = program_.text(c.target.valid() ? c.callee.back() : program_[node].name);
    if (name.starts_with("diff_")) name.erase(0, 5);
    return name;
  }

  struct Names {
    std::unordered_set<std::string> taken;
    std::unordered_map<std::string, std::uint32_t> counts;
  };

  // Makes a name unique: "dense", then "dense2", "dense3".
  static std::string unique(const std::string& name, Names& names) {
    if (names.taken.insert(name).second) return name;
    std::uint32_t& last = names.counts.try_emplace(name, 1u).first->second;
    for (;;) {
      std::string numbered = name + std::to_string(++last);
      if (names.taken.insert(numbered).second) return numbered;
    }
  }

  std::string next_number() {
    for (;;) {
      std::string number = std::to_string(draws_++);
      if (numbers_.insert(number).second) return number;
    }
  }

  const Program& program_;
  const Resolved& names_;
  const ast::Node& node_;
  const std::function<void(ExprId, const ast::Call&)>* f_ = nullptr;
  std::string target_;  // name of the variable that the current equation defines
  Names segments_, parameters_;
  std::unordered_set<std::string> numbers_;
  std::uint64_t draws_ = 0;
  CallIdentities found_;
};

}  // namespace

CallIdentities call_identities(const Program& program, const Resolved& names, NodeId node) {
  return Walk(program, names, program[node]).run();
}

}  // namespace rml

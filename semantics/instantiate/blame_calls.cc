// Follows the chain of instances outwards to the first call outside the library, and reports the
// error there.
#include "semantics/instantiate/blame_calls.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <utility>

#include "semantics/check/foreign_names.h"
#include "semantics/check/signature_text.h"

namespace rml::draft {

namespace {

const ast::Node& node_of(const Draft& draft, const Program& program, InstanceId i) {
  return program[draft.instances[i.index].node];
}

class CallReport {
 public:
  CallReport(InstanceId call, const Draft& draft, const Program& program, const States& states)
      : call_(call),
        draft_(draft),
        program_(program),
        states_(states),
        node_(node_of(draft, program, call)),
        given_(draft.calls[call.index].arguments) {}

  void tell(const Blame& blame, Diagnostics& diagnostics) const {
    const Problem& p = blame.problem;
    const std::string name = program_.text(node_.name);
    const std::vector<std::size_t> tensors = tensors_of_condition(blame.value);
    const std::string cause = cause_of(blame, tensors);
    Diagnostic& d =
        diagnostics.report(p.code, draft_.instances[call_.index].call,
                           "the arguments of `" + name + "` do not fit: " + (cause.empty() ? p.message : cause));
    const ShapeRules rules(draft_, states_);
    for (const DraftId argument : given_)
      if (known(argument) && states_[argument.index].constant == nullptr)
        label(d, draft_[argument].span, rules.label_of(argument));
    const std::string failing = cause.empty() ? "the operation that fails" : p.message;
    label(d, p.span, p.label.empty() ? failing : p.label);
    for (const Label& l : p.secondary) label(d, l.span, l.text);
    for (InstanceId i = blame.instance; i != call_; i = draft_.instances[i.index].parent)
      label(d, draft_.instances[i.index].call,
            "in `" + program_.text(node_of(draft_, program_, i).name) + "`, called here");
    if (cause.empty())
      for (const std::string& note : p.notes) d.note(note);
    std::string parameters;
    for (const ast::Parameter& input : node_.inputs)
      parameters += (parameters.empty() ? "" : ", ") + program_.text(input.name);
    d.note("the parameters of `" + name + "` are, in order: " + parameters);
    for (const ast::Parameter& input : node_.inputs)
      if (const std::string advice = advice_on(name, program_.text(input.name)); !advice.empty()) d.note(advice);
    if (!tensors.empty())
      d.note("`map " + name +
             "(…)` calls a node for each element: the tensors come first, then `;` and the other arguments");
    else if (cause.empty())
      suggest_order(d);
    suggest_rows(d, name);
  }

 private:
  // The positions of the arguments that are no scalars, if the value fails because they make its
  // condition a tensor.
  std::vector<std::size_t> tensors_of_condition(DraftId value) const {
    DraftId condition = value;
    if (const auto* when = std::get_if<When>(&draft_[value].rhs)) condition = when->condition;
    if (const auto* merge = std::get_if<Merge>(&draft_[value].rhs)) condition = merge->condition;
    if (condition == value || !known(condition) || rank(condition) == 0) return {};
    std::vector<std::size_t> found;
    const std::set<DraftId> met = reached(draft_, condition, [&](DraftId d) { return known(d) && rank(d) > 0; });
    for (std::size_t k = 0; k < given_.size(); ++k)
      if (met.contains(given_[k])) found.push_back(k);
    return found;
  }

  // The cause in terms of the arguments; empty if only the failing operation tells it.
  std::string cause_of(const Blame& blame, const std::vector<std::size_t>& tensors) const {
    std::string names;
    for (const std::size_t k : tensors)
      names += (names.empty() ? "`" : ", `") + program_.text(node_.inputs[k].name) + "`";
    if (tensors.size() == 1)
      return names + " must be a scalar, not " +
             type_string(draft_[given_[tensors[0]]].dtype, shape(given_[tensors[0]]));
    if (!tensors.empty()) return names + " must be scalars";
    if (blame.problem.message.find("scalar") == std::string::npos) return {};
    const std::vector<DraftId> untyped = untyped_scalars(draft_, program_, states_, blame.value);
    if (untyped.empty()) return {};
    const std::string& input = draft_[untyped[0]].name;
    return "`" + input + "` has no type and is taken for a scalar: declare its type, as in `" + input + ": " +
           std::string(rml::name(draft_[untyped[0]].dtype)) + "[2]`";
  }

  bool known(DraftId a) const { return states_[a.index].known; }
  const Shape& shape(DraftId a) const { return states_[a.index].shape; }
  std::size_t rank(DraftId a) const { return shape(a).size(); }

  // Adds a label, unless the place has one already.
  static void label(Diagnostic& d, Span span, const std::string& text) {
    if (span.end == 0 || span == d.primary.span) return;
    for (const Label& l : d.secondary)
      if (l.span == span) return;
    d.label(span, text);
  }

  // Numbers where tensors belong, and vice versa: the user probably wrote the tensor first
  // instead of last. Suggests the other order of arguments.
  void suggest_order(Diagnostic& d) const {
    const auto* call = std::get_if<ast::Call>(&program_[draft_.calls[call_.index].call]);
    if (call == nullptr || call->arguments.size() != given_.size() || call->iteration || call->diff) return;
    std::size_t begin = 0;  // after leading Booleans, such as the restart condition
    while (begin < given_.size() && known(given_[begin]) && draft_[given_[begin]].dtype == DType::boolean) ++begin;
    if (begin + 2 > given_.size()) return;
    const auto given_float = [&](DraftId a) { return known(a) && is_float(draft_[a].dtype); };
    const bool number = given_float(given_[begin]) && rank(given_[begin]) == 0;
    std::string order;
    for (std::size_t k = begin; k < given_.size(); ++k) {
      if (!given_float(given_[k]) || call->arguments[k].name.valid()) return;
      if (k == begin) continue;
      if ((rank(given_[k]) == 0) == number) return;
      order += expression_text(program_, call->arguments[k].value) + ", ";
    }
    const ExprId first = call->arguments[begin].value, last = call->arguments.back().value;
    order += expression_text(program_, first);
    if (order.size() > 200) return;
    d.fix(join(program_.span(first), program_.span(last)), order, "write `" + order + "`");
  }

  // A node on vectors may have a counterpart for the rows of a batch: suggests it.
  void suggest_rows(Diagnostic& d, const std::string& name) const {
    bool has_axes = false, has_end = false;
    for (std::size_t k = 0; k < given_.size(); ++k) {
      has_axes = has_axes || (known(given_[k]) && rank(given_[k]) > 1);
      has_end = has_end || program_.text(node_.inputs[k].name) == "end";
    }
    if (!has_axes) return;
    const std::vector<std::string> of_rows = nodes_of_library(name.substr(0, name.find('_')) + "_rows");
    if (of_rows.empty()) return;
    if (has_end)
      d.note("`" + name + "` takes one vector of a sequence at each cycle, the last one where `end` is true");
    d.note("`" + of_rows[0] + "` takes a batch at each cycle, a vector in each row");
  }

  InstanceId call_;
  const Draft& draft_;
  const Program& program_;
  const States& states_;
  const ast::Node& node_;
  const std::vector<DraftId>& given_;
};

}  // namespace

bool in_library(const Draft& draft, const Program& program, InstanceId i) {
  return program.modules[node_of(draft, program, i).module.index].of_library;
}

std::set<DraftId> reached(const Draft& draft, DraftId from, const std::function<bool(DraftId)>& passes) {
  std::set<DraftId> met;
  std::vector<DraftId> pending = {from};
  while (!pending.empty()) {
    const DraftId at = pending.back();
    pending.pop_back();
    if (passes(at) && met.insert(at).second) for_each_mention(draft[at].rhs, [&](DraftId m) { pending.push_back(m); });
  }
  return met;
}

std::optional<InstanceId> call_into_library(const Draft& draft, const Program& program, InstanceId inner, Span span) {
  if (!in_library(draft, program, inner)) return std::nullopt;
  if (program.modules[node_of(draft, program, inner).module.index].file != span.file) return std::nullopt;
  for (InstanceId i = inner;;) {
    const InstanceId parent = draft.instances[i.index].parent;
    if (!parent.valid()) return std::nullopt;
    if (!in_library(draft, program, parent)) return i;
    i = parent;
  }
}

void report_at_call(InstanceId call, const Blame& blame, const Draft& draft, const Program& program,
                    const States& states, Diagnostics& diagnostics) {
  CallReport(call, draft, program, states).tell(blame, diagnostics);
}

std::vector<DraftId> untyped_scalars(const Draft& draft, const Program& program, const States& states, DraftId value) {
  std::vector<DraftId> found;
  const ast::Node& entry = program[draft.instances[0].node];
  for (const DraftId d : reached(draft, value, [](DraftId) { return true; })) {
    const auto* input = std::get_if<Input>(&draft[d].rhs);
    if (input == nullptr || input->is_given || input->is_open || draft[d].dtype == DType::boolean) continue;
    const auto of = [&](const ast::Parameter& p) { return program.text(p.name) == draft[d].name && !p.type; };
    if (states[d.index].shape.empty() && std::ranges::any_of(entry.inputs, of)) found.push_back(d);
  }
  return found;
}

}  // namespace rml::draft

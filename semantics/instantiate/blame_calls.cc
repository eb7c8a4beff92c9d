// Follows the chain of instances outwards to the first call outside the library, and reports the
// error there.
#include "semantics/instantiate/blame_calls.h"

#include <string>
#include <utility>

#include "semantics/check/foreign_names.h"
#include "semantics/check/signature_text.h"

namespace rml::draft {

namespace {

const ast::Node& node_of(const Draft& draft, const Program& program, InstanceId i) {
  return program[draft.instances[i.index].node];
}

bool in_library(const Draft& draft, const Program& program, InstanceId i) {
  return program.modules[node_of(draft, program, i).module.index].of_library;
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

  void tell(InstanceId inner, const Problem& p, Diagnostics& diagnostics) const {
    const std::string name = program_.text(node_.name);
    Diagnostic& d = diagnostics.report(p.code, draft_.instances[call_.index].call,
                                       "the arguments of `" + name + "` do not fit: " + p.message);
    const ShapeRules rules(draft_, states_);
    for (const DraftId argument : given_)
      if (known(argument) && states_[argument.index].constant == nullptr)
        label(d, draft_[argument].span, rules.label_of(argument));
    label(d, p.span, p.label.empty() ? "the operation that fails" : p.label);
    for (const Label& l : p.secondary) label(d, l.span, l.text);
    for (InstanceId i = inner; i != call_; i = draft_.instances[i.index].parent)
      label(d, draft_.instances[i.index].call,
            "in `" + program_.text(node_of(draft_, program_, i).name) + "`, called here");
    for (const std::string& note : p.notes) d.note(note);
    std::string parameters;
    for (const ast::Parameter& input : node_.inputs)
      parameters += (parameters.empty() ? "" : ", ") + program_.text(input.name);
    d.note("the parameters of `" + name + "` are, in order: " + parameters);
    suggest_order(d);
    suggest_rows(d, name);
  }

 private:
  bool known(DraftId a) const { return states_[a.index].known; }
  std::size_t rank(DraftId a) const { return states_[a.index].shape.size(); }

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

void report_at_call(InstanceId call, InstanceId inner, const Problem& problem, const Draft& draft,
                    const Program& program, const States& states, Diagnostics& diagnostics) {
  CallReport(call, draft, program, states).tell(inner, problem, diagnostics);
}

}  // namespace rml::draft

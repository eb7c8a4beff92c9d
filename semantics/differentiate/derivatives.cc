// Finds a derived node that the user wrote; otherwise makes one.
#include "semantics/differentiate/derivatives.h"

#include <utility>

#include "semantics/check/syntax.h"

namespace rml {

Derivatives::Derivatives(Program& program, Diagnostics& diagnostics, Derive derive)
    : program_(program), diagnostics_(diagnostics), derive_(std::move(derive)) {
  program_.written = program_.exprs.size();
}

void Derivatives::check() {
  Diagnostics unheard;
  checked_ = Checked{};
  checked_.program = &program_;
  checked_.names = resolve_names(program_, unheard);
  checked_.types = infer_types(program_, checked_.names, unheard);
  checked_.clocks = infer_clocks(program_, checked_.names, checked_.types, unheard);
  parameters_.clear();
}

const Derivative& Derivatives::derive(const DerivativeKey& key) {
  if (const auto known = derivatives_.find(key); known != derivatives_.end()) return known->second;
  Derivative& out = derivatives_[key];
  const ast::Node& of = program_[key.node];
  out.node = written(key.node);
  if (out.node.valid()) {
    take_written(key, out);
  } else if (of.external()) {
    diagnostics_
        .report(Code::E0602, of.name_span, "external node `" + program_.text(of.name) + "` has no gradient",
                "it is differentiated, but its equations are in C")
        .note("write a node `diff_" + program_.text(of.name) + "`, or stop the gradient with `stop_gradient`");
    out.failed = true;
  } else {
    ast::Node node = derive_(*this, key, fresh_name("diff_" + program_.text(of.name)), out);
    if (!out.failed) out.node = add(std::move(node));
  }
  return out;
}

// A node `diff_g` that the user wrote in the file of g, or in the main file.
NodeId Derivatives::written(NodeId of) const {
  const std::string name = "diff_" + program_.text(program_[of].name);
  for (const ModuleId module : {program_[of].module, ModuleId{0}}) {
    NodeId found;
    for (const NodeId n : program_.modules[module.index].nodes)
      if (program_.text(program_[n].name) == name) found = n;
    if (found.valid()) return found;
  }
  return {};
}

namespace {

// The role of output `name` of a written derivative.
Derivative::Extra written_extra(const Program& program, const ast::Node& of, const std::string& name) {
  Derivative::Extra extra;
  for (std::uint32_t i = 0; i < of.inputs.size(); ++i) {
    const std::string& input = program.text(of.inputs[i].name);
    if (name == "d" + input) extra = {Derivative::Extra::gradient, i};
    if (name == "bp_" + input || name == "bp" + input) extra = {Derivative::Extra::activity, i};
  }
  return extra;
}

// The interface variables that sample variable v of a written node, innermost sampling first.
std::vector<std::uint32_t> sampled_by(const ClockedNode& clocks, std::size_t v) {
  std::vector<std::uint32_t> list;
  if (clocks.has_errors || v >= clocks.variable_clocks.size()) return list;
  for (const ClockTerm* t : samplings_of(clocks, clocks.variable_clocks[v]))
    if (t->positive && t->condition.variable >= 0) list.push_back(static_cast<std::uint32_t>(t->condition.variable));
  std::ranges::reverse(list);
  return list;
}

// The input whose gradient a name such as `dx2` probably means: local variables get such names
// beside `dx`.
std::optional<std::string> nearly_gradient(const Program& program, const ast::Node& of, const std::string& name) {
  const std::string::size_type end = name.find_last_not_of("0123456789") + 1;
  for (const ast::Parameter& input : of.inputs)
    if (end < name.size() && name.substr(0, end) == "d" + program.text(input.name)) return program.text(input.name);
  return std::nullopt;
}

}  // namespace

// The interface of a written node. Gradients are recognised by the names of outputs. Clocks say
// which activity belongs to which adjoint and gradient.
void Derivatives::take_written(const DerivativeKey& key, Derivative& out) const {
  const ast::Node &of = program_[key.node], &node = program_[out.node];
  const TypedNode& typed = checked_.types.nodes[key.node.index];
  out.written = true;
  out.roots = {UINT32_MAX};
  for (std::uint32_t j = 0; j < key.outputs.size(); ++j)
    if (is_float(typed.variable_types[of.inputs.size() + j], key.float_variables)) out.adjoints.push_back(j);
  const auto refuse = [&](const std::string& what) {
    diagnostics_
        .report(Code::E0603, node.name_span, "`" + program_.text(node.name) + "` " + what,
                "taken as the gradient of `" + program_.text(of.name) + "`")
        .note("its inputs are those of `" + program_.text(of.name) +
              "`, a Boolean `bp` and an adjoint for each float output; its outputs are those of `" +
              program_.text(of.name) + "`, then the gradients, named `d` and the input");
    out.failed = true;
  };
  const std::size_t inputs = of.inputs.size() + 1 + out.adjoints.size(), first_bp = of.inputs.size();
  std::size_t bps = node.inputs.size() - std::min(node.inputs.size(), inputs - 1);
  for (std::size_t k = 0; k < bps; ++k)
    if (bps > 1 && !program_.text(node.inputs[first_bp + k].name).starts_with("bp")) bps = 0;
  if (bps == 0 || bps > std::max<std::size_t>(1, out.adjoints.size()))
    return refuse("has " + std::to_string(node.inputs.size()) + " inputs, not " + std::to_string(inputs));
  take_written_bps(key, static_cast<std::uint32_t>(bps), out);
  if (node.outputs.size() < of.outputs.size()) return refuse("has fewer outputs than `" + program_.text(of.name) + "`");
  for (std::size_t k = of.outputs.size(); k < node.outputs.size(); ++k) {
    const std::string& name = program_.text(node.outputs[k].name);
    Derivative::Extra extra = written_extra(program_, of, name);
    if (const auto meant = extra.kind == Derivative::Extra::other ? nearly_gradient(program_, of, name) : std::nullopt)
      return refuse("has an output `" + name + "`, which is not a gradient: that of `" + *meant + "` is named `d" +
                    *meant + "`");
    if (extra.kind == Derivative::Extra::gradient) find_activity(key, k, out, extra);
    out.extras.push_back(extra);
  }
}

// Finds, for each adjoint, its `bp` of the written node.
void Derivatives::take_written_bps(const DerivativeKey& key, std::uint32_t bps, Derivative& out) const {
  const auto first_bp = static_cast<std::uint32_t>(program_[key.node].inputs.size());
  for (std::uint32_t k = 0; k < bps; ++k) out.bps.push_back({UINT32_MAX, k + 1});
  for (std::size_t k = 0; k < out.adjoints.size(); ++k) {
    out.adjoint_bps.push_back(0);
    for (const std::uint32_t v : sampled_by(checked_.clocks.nodes[out.node.index], first_bp + bps + k))
      if (v >= first_bp && v < first_bp + bps) out.adjoint_bps.back() = v - first_bp;
  }
}

// Finds the activity of the gradient that is output k of a written node: the variable that
// samples its clock, which is an earlier activity or a `bp`. If the clock gives none, it is the
// activity with the same input's name, else the first `bp`.
void Derivatives::find_activity(const DerivativeKey& key, std::size_t k, const Derivative& of,
                                Derivative::Extra& gradient) const {
  const std::size_t first_bp = program_[key.node].inputs.size(), inputs = program_[of.node].inputs.size();
  const std::size_t first_extra = inputs + program_[key.node].outputs.size();
  for (const std::uint32_t v : sampled_by(checked_.clocks.nodes[of.node.index], inputs + k)) {
    if (v >= first_bp && v < first_bp + of.bps.size()) {
      gradient.bp = static_cast<std::uint32_t>(v - first_bp);
      return;
    }
    if (v < first_extra || v - first_extra >= of.extras.size()) continue;
    const Derivative::Extra& before = of.extras[v - first_extra];
    if (before.kind != Derivative::Extra::activity) continue;
    gradient.active_with = before.input;
    return;
  }
  for (const Derivative::Extra& before : of.extras)
    if (before.kind == Derivative::Extra::activity && before.input == gradient.input)
      gradient.active_with = gradient.input;
}

NodeId Derivatives::add(ast::Node node) {
  made_.push_back(NodeId{program_.nodes.size()});
  program_.nodes.push_back(std::move(node));
  return made_.back();
}

std::string Derivatives::fresh_name(const std::string& base) {
  const std::uint32_t k = variants_[base]++;
  return k == 0 ? base : base + "_" + std::to_string(k + 1);
}

DerivativeKey Derivatives::outermost(NodeId node) const {
  const TypedNode& typed = checked_.types.nodes[node.index];
  DerivativeKey key{node, possible_floats(typed.scheme), {}, {}, 0};
  const ast::Node& item = program_[node];
  for (std::size_t j = 0; j < item.outputs.size(); ++j)
    key.outputs.push_back(is_float(typed.variable_types[item.inputs.size() + j], key.float_variables) ? 1U : 0U);
  return key;
}

bool Derivatives::has_parameters(NodeId node) {
  if (const auto known = parameters_.find(node); known != parameters_.end()) return known->second;
  bool found = false;
  const std::function<void(ExprId)> look = [&](ExprId e) {
    const Reference& to = checked_.names.references[e.index];
    if (std::holds_alternative<ParamRef>(to)) found = true;
    for_each_child(program_[e], look);
  };
  for (const ast::Equation& q : program_[node].equations)
    if (q.value.valid()) look(q.value);
  for (const NodeId callee : checked_.names.nodes[node.index].callees) found = found || has_parameters(callee);
  return parameters_[node] = found;
}

}  // namespace rml

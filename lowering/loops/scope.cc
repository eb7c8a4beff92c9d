// Creates the buffers of a program, each at its first request.
#include "lowering/loops/scope.h"

#include "lowering/steps/index_map.h"

namespace rml::loops {

Scope::Scope(Program& out, std::shared_ptr<const steps::Program> steps, std::uint32_t body)
    : core(*steps->core), out_(out), steps_(std::move(steps)), body_(body) {
  for (std::size_t v = 0; v < core.values.size(); ++v)
    if (const auto* r = std::get_if<core::Result>(&core.values[v].rhs)) {
      std::vector<ValueId>& all = results_[r->call];
      if (all.size() <= r->output) all.resize(r->output + 1);
      all[r->output] = ValueId(v);
    }
}

std::vector<ValueId> Scope::results(ValueId call, std::size_t count) const {
  const auto found = results_.find(call);
  std::vector<ValueId> all = found == results_.end() ? std::vector<ValueId>() : found->second;
  all.resize(count);
  return all;
}

BufferId Scope::add(Buffer b) {
  out_.buffers.push_back(std::move(b));
  return BufferId(out_.buffers.size() - 1);
}

BufferId Scope::place(ValueId v) {
  const auto [at, is_new] = places_.try_emplace(v);
  if (is_new) {
    const Value& value = core[v];
    at->second = add({core.is_const(v) ? Space::constant : Space::value, value.dtype, value.shape, v, 0, body_});
  }
  return at->second;
}

BufferId Scope::scratch(DType dtype, const Shape& shape) { return add({Space::scratch, dtype, shape, {}, 0, body_}); }

BufferId Scope::kept(std::map<std::uint32_t, BufferId>& all, Space space, std::size_t index, Type type) {
  const auto number = static_cast<std::uint32_t>(index);
  const auto [at, is_new] = all.try_emplace(number);
  if (is_new) at->second = add({space, type.first, std::move(type.second), {}, number, body_});
  return at->second;
}

bool Scope::in_loops(ValueId v) const {
  return v.index < steps().inlined.size() && steps().inlined[v.index] && is_pointwise(core, v);
}

}  // namespace rml::loops

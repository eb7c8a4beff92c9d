// Buffers, each made when it is first asked for.
#include "lowering/loops/scope.h"

#include "lowering/steps/index_map.h"

namespace rml::loops {

std::int64_t elements(const Shape& shape) {
  std::int64_t n = 1;
  for (const std::int64_t extent : shape) n *= extent;
  return n;
}

std::vector<std::int64_t> dense_strides(const Shape& shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t k = shape.size(); k-- > 1;) strides[k - 1] = strides[k] * shape[k];
  return strides;
}

std::vector<std::int64_t> broadcast_strides(const Shape& from, const Shape& to) {
  const std::vector<std::int64_t> dense = dense_strides(from);
  std::vector<std::int64_t> strides(to.size(), 0);
  for (std::size_t k = 1; k <= from.size(); ++k)
    if (from[from.size() - k] != 1) strides[to.size() - k] = dense[from.size() - k];
  return strides;
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

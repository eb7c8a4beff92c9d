// Calls kernels of the runtime on the tensors of the reference engine.
#include "semantics/operators/rules.h"

namespace rml {

namespace {
rml_array array_of(const Tensor& tensor) {
  return {const_cast<void*>(tensor.data()), tensor.shape().data(), static_cast<std::uint32_t>(tensor.shape().size()),
          static_cast<std::uint32_t>(tensor.dtype())};
}
}  // namespace

std::vector<std::int64_t> kernel_integers(const Attribute& a) {
  return a.text.empty() ? a.integers : std::vector<std::int64_t>(a.text.begin(), a.text.end());
}

Fault call_kernel(rml_kernel* kernel, std::int64_t (*scratch)(const Application&), const Application& app,
                  std::span<const Tensor* const> operands, Tensor& result) {
  std::vector<rml_array> arrays;
  for (const Tensor* operand : operands) arrays.push_back(array_of(*operand));
  std::vector<rml_attribute> attributes;
  std::vector<std::vector<std::int64_t>> lists;
  for (const Attribute& a : app.attributes) lists.push_back(kernel_integers(a));
  for (const Attribute& a : app.attributes) {
    const std::vector<std::int64_t>& list = lists[attributes.size()];
    attributes.push_back({list.data(), a.given ? static_cast<std::int64_t>(list.size()) : -1, a.number});
  }
  const rml_array to = array_of(result);
  constexpr std::size_t line = 64;
  std::vector<std::byte> memory(scratch == nullptr ? 0 : static_cast<std::size_t>(scratch(app)) + line);
  std::byte* aligned = memory.data();
  while (reinterpret_cast<std::uintptr_t>(aligned) % line != 0) ++aligned;
  rml_kernel_call call{arrays.data(),
                       &to,
                       attributes.data(),
                       aligned,
                       0,
                       0,
                       static_cast<std::uint32_t>(arrays.size()),
                       static_cast<std::uint32_t>(attributes.size())};
  const int kind = kernel(&call);
  return {kind, call.value, call.bound};
}

}  // namespace rml

// The body is a core without memory, so that the rounds of an iteration are cycles of it.
#include "semantics/iterate.h"

#include <cstring>

namespace rml {

std::optional<RunFault> iterate(const Iteration& it, std::span<const Tensor* const> operands,
                                std::span<Tensor> outputs) {
  std::vector<Tensor> states;
  for (std::size_t k = 0; k < it.states; ++k) states.push_back(*operands[k]);
  Interpreter interpreter(it.body, 0);
  for (std::int64_t round = 0; round < it.length; ++round) {
    const std::int64_t at = it.reverse ? it.length - 1 - round : round;
    std::vector<Cell> cells;
    for (std::size_t k = 0; k < operands.size(); ++k) {
      Tensor value = k < it.states ? states[k] : *operands[k];
      if (k >= it.states && k < it.states + it.sequences) {
        const Value& input = it.body[it.body.inputs[k].value];
        value = Tensor(input.dtype, input.shape);
        const std::size_t bytes = value.bytes();
        if (bytes > 0)
          std::memcpy(value.data(),
                      static_cast<const std::byte*>(operands[k]->data()) + static_cast<std::size_t>(at) * bytes, bytes);
      }
      cells.push_back({Presence::present, std::move(value)});
    }
    if (auto fault = interpreter.push(std::move(cells))) return fault;
    std::vector<Cell> row = *interpreter.pop();
    for (std::size_t k = 0; k < row.size(); ++k) {
      if (k < it.states) {
        states[k] = std::move(row[k].value);
        continue;
      }
      const std::size_t bytes = row[k].value.bytes();
      if (bytes > 0)
        std::memcpy(static_cast<std::byte*>(outputs[k].data()) + static_cast<std::size_t>(at) * bytes,
                    row[k].value.data(), bytes);
    }
  }
  for (std::size_t k = 0; k < it.states; ++k) outputs[k] = std::move(states[k]);
  return std::nullopt;
}

}  // namespace rml

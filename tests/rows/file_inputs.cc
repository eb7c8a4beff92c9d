// Draws every cell. The denotation ignores cells off their clocks and decides which are present.
#include "rows/file_inputs.h"

#include <random>
#include <sstream>

#include "compiler/read_file.h"
#include "rows/denotation.h"

namespace rml::fuzz {

namespace {

Tensor draw(std::mt19937_64& random, const Value& input, int percent) {
  Tensor value(input.dtype, input.shape);
  auto* const bytes = value.as<std::byte>();
  for (std::int64_t i = 0; i < value.elements(); ++i) {
    const auto drawn = static_cast<int>(random() % 100);
    const bool boolean = input.dtype == DType::boolean;
    const Tensor element = boolean
                               ? Tensor::boolean(drawn < percent)
                               : Tensor::number(input.dtype, is_float(input.dtype) ? (drawn - 50) / 32.0 : drawn % 3);
    std::memcpy(bytes + static_cast<std::size_t>(i) * element.bytes(), element.data(), element.bytes());
  }
  return value;
}

}  // namespace

std::optional<Chronogram> draw_file_inputs(const Core& core, std::uint64_t seed, std::int64_t cycles) {
  std::mt19937_64 random(seed);
  constexpr int likely[] = {30, 50, 10, 70};
  Chronogram inputs;
  for (const Port& port : core.inputs) {
    const int percent = likely[random() % 4];
    ChronogramRow& row = inputs.emplace_back(ChronogramRow{port.name, {}});
    for (std::int64_t n = 0; n < cycles; ++n)
      row.cells.push_back({Presence::present, draw(random, core[port.value], percent)});
  }
  Denotation denotation(core);
  for (std::int64_t n = 0; n < cycles; ++n) {
    std::vector<Cell> row;
    for (const ChronogramRow& input : inputs) row.push_back(input.cells[static_cast<std::size_t>(n)]);
    denotation.push(std::move(row));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i)
    for (std::int64_t n = 0; n < cycles; ++n) {
      const Presence presence = denotation.presence(core.inputs[i].value, n);
      if (presence == Presence::undetermined) return std::nullopt;
      if (presence == Presence::absent) inputs[i].cells[static_cast<std::size_t>(n)] = {Presence::absent, {}};
    }
  return inputs;
}

std::string entry_of(const std::string& file) {
  std::string error;
  const std::string text = read_file(file, error).value_or("");
  const std::string words = "-- run: ";
  const std::size_t at = text.find(words);
  std::string node;
  if (at != std::string::npos) std::istringstream(text.substr(at + words.size())) >> node;
  return node;
}

}  // namespace rml::fuzz

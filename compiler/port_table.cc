// Texts and extents are stored in deques, so that their addresses stay valid while the table
// grows.
#include "compiler/port_table.h"

namespace rml {

PortTable::PortTable(const Core& core, const std::vector<Port>& ports) {
  for (const Port& port : ports) {
    const Value& value = core[port.value];
    const std::string& name = texts_.emplace_back(port.name);
    const std::string& clock = texts_.emplace_back(clock_string(core, value.clock));
    const auto& extents = dims_.emplace_back(value.shape.begin(), value.shape.end());
    rows_.push_back({name.c_str(), clock.c_str(), static_cast<std::uint8_t>(value.dtype),
                     static_cast<std::uint8_t>(value.clock == base_clock ? 1 : 0), 0,
                     static_cast<std::uint32_t>(extents.size()), extents.data(),
                     static_cast<std::uint64_t>(element_count(value.shape).value_or(0))});
  }
}

}  // namespace rml

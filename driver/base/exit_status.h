// Defines exit statuses and engines, which commands and checks share.
#pragma once

#include <cstdint>

namespace rml {

inline constexpr int exit_success = 0, exit_fault = 1, exit_usage = 2;

enum class Engine : std::uint8_t { compiled, reference };

}  // namespace rml

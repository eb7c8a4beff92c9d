// The version of saved states; docs/manual/compatibility.md promises how long each is read.
#pragma once

namespace rml::rt {

inline constexpr const char* state_format_version = "2";

}  // namespace rml::rt

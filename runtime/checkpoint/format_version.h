// The versions of saved states; docs/manual/compatibility.md promises how long each can be read.
#pragma once

namespace rml::rt {

inline constexpr const char* state_format_version = "2";
// The version of states of keys that are stored as columns (keys/key_columns.h). States of keys
// in version 2 can be read as well.
inline constexpr const char* columns_format_version = "3";

}  // namespace rml::rt

// The version of saved states; docs/manual/compatibility.md promises how long each is read.
#pragma once

namespace rml::rt {

inline constexpr const char* state_format_version = "2";
// Of the states of many keys, one behind the other by memory (keys/key_columns.h); those of format 2 are read as well.
inline constexpr const char* columns_format_version = "3";

}  // namespace rml::rt

// How CSV is read beyond what a column's type says: what the options of docs/manual/programs.md ask for.
#pragma once

namespace rml::rt {

struct Reading {
  char separator = ',';  // between columns
};

}  // namespace rml::rt

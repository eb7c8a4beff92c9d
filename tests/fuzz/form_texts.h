// The property that every reader of forms must have for any text: it refuses the text with a
// fault, or the form that it reads is printed as a text that reads back to the same.
#pragma once

#include <string_view>

#include "lowering/loops/loops_text.h"
#include "lowering/schedule/schedule_text.h"
#include "lowering/segment/segments_text.h"
#include "lowering/text/steps_text.h"
#include "semantics/core/core_text.h"

namespace rml::fuzz {

template <class Read, class Write>
bool reads_back(std::string_view text, TextFault& fault, Read read, Write write) {
  const auto value = read(text, fault);
  if (value.has_value() != fault.message.empty()) return false;
  if (!value) return true;
  const std::string whole = write(*value);
  TextFault none;
  const auto again = read(whole, none);
  return again && write(*again) == whole;
}

// `form` is core, schedule, segments, steps or loops.
inline bool reads_back(std::string_view form, std::string_view text, TextFault& fault) {
  const auto read_whole_core = [](std::string_view t, TextFault& f) { return read_core(t, f); };
  if (form == "core") return reads_back(text, fault, read_whole_core, core_text);
  if (form == "schedule") return reads_back(text, fault, read_schedule, schedule_text);
  if (form == "segments") return reads_back(text, fault, read_segments, segments_text);
  if (form == "loops") return reads_back(text, fault, loops::read_loops, loops::loops_text);
  return reads_back(text, fault, read_steps, steps_text);
}

}  // namespace rml::fuzz

// Fuzzes the readers of cores, schedules, segments, steps and loops: any bytes must be read or
// reported as a fault.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "fuzz/form_texts.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const std::string_view form : {"core", "schedule", "segments", "steps", "loops"}) {
    rml::TextFault fault;
    if (!rml::fuzz::reads_back(form, text, fault) || fault.offset > size) std::abort();
  }
  return 0;
}

// Makes one part of the body of a `map` (parts.h) the body of an iteration.
#pragma once

#include "semantics/spread/padding.h"
#include "semantics/spread/parts.h"

namespace rml::mapped {

struct PartBody {
  Core core;
  // Values of the whole body, by input and output of this one. Values on clocks that differ are
  // padded with zeros.
  std::vector<ValueId> sequences, fixed, outputs;
};

PartBody make_part(const Core& body, const Elements&, const Parts&, std::uint32_t part, std::vector<ValueId> outputs);

}  // namespace rml::mapped

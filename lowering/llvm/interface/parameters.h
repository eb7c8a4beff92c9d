// Parameters of the functions of the C interface, as headers declare them (lowering/signature.h).
#pragma once

#include "lowering/signature.h"
#include "lowering/steps/steps.h"

namespace rml::codegen {

using c99::input_parameters, c99::output_parameters;
using c99::InterfaceParameter;

DType dtype_of(const Core&, const InterfaceParameter&);  // dtype of the parameter in memory; flags are Booleans
// The parameters for outputs that a straight program knows before its inputs (lowering/steps/find_lead.h).
std::vector<InterfaceParameter> leading_parameters(const steps::Program&);
// True if all outputs are scalars that are present at every cycle: then NODE_advance is available.
bool has_advance(const Core&);

}  // namespace rml::codegen

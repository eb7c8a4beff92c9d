// Runs one case of ONNX's conformance suite in this process.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "compiler/models/imported_program.h"
#include "driver/checks/test_runner.h"

namespace rml {

// `folder` has model.onnx and folders test_data_set_N with the tensors input_I.pb and output_I.pb. The model is
// imported, compiled, and run for one cycle per set. A float is right within absolute + relative |expected|, NaN where
// NaN is expected; everything else must be equal. An input whose value decides a shape becomes a constant of the
// program. With states (`INPUT=OUTPUT`) the sets are the cycles of one run, and these inputs and outputs are connected
// within the program.
TestResult run_onnx_test(const std::filesystem::path& folder, const Tolerance& tolerance,
                         const std::vector<std::string>& states);

}  // namespace rml

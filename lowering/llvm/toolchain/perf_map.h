// Writes names of compiled functions for perf, which cannot find symbols in memory: a line for each function in
// /tmp/perf-PID.map, in perf's format.
#pragma once

namespace llvm::orc {
class LLJIT;
}

namespace rml {

// Writes the map file if the environment has RMLC_PERF_MAP=1. Must be called before any code is added.
void write_perf_map(llvm::orc::LLJIT&);

}  // namespace rml

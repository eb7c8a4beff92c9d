// Names of compiled functions for perf, which finds none in memory by itself: a line for each in
// /tmp/perf-PID.map, as perf reads it.
#pragma once

namespace llvm::orc {
class LLJIT;
}

namespace rml {

// Writes them where the environment asks for it: RMLC_PERF_MAP=1. To be called before any code is added.
void write_perf_map(llvm::orc::LLJIT&);

}  // namespace rml

// Checks the files of a run before any of them is changed: a run must not overwrite a file that
// it also uses for another purpose, or that another process is writing.
#pragma once

#include <string>
#include <vector>

#include "runtime/base/file_lock.h"
#include "runtime/options/options.h"
#include "runtime/stream_io/endpoints/endpoint.h"

namespace rml::rt {

// Throws Failure if a file that an option names cannot be written, if the run also reads or
// writes it for another purpose, or if another process is writing it. A saved state may replace
// the state that was loaded. Returns the locks of the state files, which the caller holds until
// the run ends; sinks lock their own files.
[[nodiscard]] std::vector<NameLock> check_files(const rml_program& program, const Options& options,
                                                const std::vector<Endpoint>& inputs,
                                                const std::vector<Endpoint>& outputs);

}  // namespace rml::rt

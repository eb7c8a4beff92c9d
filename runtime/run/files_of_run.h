// What a run reads and writes: nothing of it is written over anything else of it, nor while another run writes it.
#pragma once

#include <string>
#include <vector>

#include "runtime/base/file_lock.h"
#include "runtime/options/options.h"
#include "runtime/stream_io/endpoints.h"

namespace rml::rt {

// Throws Failure if a file that an option names cannot be written, or is one that the run reads or writes as something
// else, or that another process is writing; `program` is what runs. A state may take the place of the one that was
// loaded. Returns the lock of the state, for as long as the run lives; sinks lock what they write.
[[nodiscard]] std::vector<NameLock> check_files(const rml_program& program, const Options& options,
                                                const std::vector<Endpoint>& inputs,
                                                const std::vector<Endpoint>& outputs);

}  // namespace rml::rt

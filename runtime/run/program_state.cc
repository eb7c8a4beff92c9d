// See program_state.h.
#include "runtime/run/program_state.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "runtime/base/failure.h"

namespace rml::rt {

ProgramState::ProgramState(const rml_program& program, std::uint64_t seed, std::int64_t horizon, rml_ranks* ranks)
    : program_(program), memory_(default_memory_ceiling()) {
  const std::uint64_t align = std::max<std::uint64_t>(program.state_align, 64);
  const std::uint64_t bytes =
      (std::max<std::uint64_t>(program.state_bytes, sizeof(rml_header)) + align - 1) / align * align;
  block_ = bytes <= memory_.ceiling() ? std::aligned_alloc(align, bytes) : nullptr;
  if (!block_) {
    throw Failure(std::string(program.source) + ": the state of '" + program.name + "' needs " + std::to_string(bytes) +
                  " bytes, more than the " + std::to_string(memory_.ceiling()) + " that this run may use");
  }
  std::memset(block_, 0, bytes);
  header().seed = seed;
  header().horizon = horizon;
  header().grow = Memory::grow;
  header().context = &memory_;
  header().waiting = -1;
  program.init(block_);
  header().ranks = ranks;
}

ProgramState::~ProgramState() {
  program_.destroy(block_);
  std::free(block_);
}

}  // namespace rml::rt

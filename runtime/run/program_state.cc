// The state is one aligned block. Its header connects the program to the memory, which has a
// ceiling.
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
  bytes_ = (std::max<std::uint64_t>(program.state_bytes, sizeof(rml_header)) + align - 1) / align * align;
  block_ = bytes_ <= memory_.ceiling() ? std::aligned_alloc(align, bytes_) : nullptr;
  if (!block_) {
    throw Failure(std::string(program.source) + ": the state of '" + program.name + "' needs " +
                  std::to_string(bytes_) + " bytes, more than the " + std::to_string(memory_.ceiling()) +
                  " that this run may use");
  }
  begin(seed, horizon, ranks);
}

void ProgramState::begin(std::uint64_t seed, std::int64_t horizon, rml_ranks* ranks) {
  std::memset(block_, 0, bytes_);
  header().seed = seed;
  header().horizon = horizon;
  header().grow = Memory::grow;
  header().context = &memory_;
  header().waiting = -1;
  header().cells = static_cast<char*>(block_) + RML_CELLS_AT;
  program_.init(block_);
  header().ranks = ranks;
}

void ProgramState::restart(std::uint64_t seed, std::int64_t horizon) {
  rml_ranks* const ranks = header().ranks;
  memory_.keep_spare();
  program_.destroy(block_);
  begin(seed, horizon, ranks);
}

ProgramState::~ProgramState() {
  program_.destroy(block_);
  std::free(block_);
}

}  // namespace rml::rt

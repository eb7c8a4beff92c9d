// Owns the state of a program: allocates and initialises it, and destroys it at the end.
#pragma once

#include "runtime/base/memory.h"
#include "runtime/base/rmlrt.h"

namespace rml::rt {

class ProgramState {
 public:
  // Throws Failure if the state does not fit into memory. ranks: the group of ranks of this
  // process; null if the program runs alone.
  ProgramState(const rml_program& program, std::uint64_t seed, std::int64_t horizon, rml_ranks* ranks = nullptr);
  ~ProgramState();
  ProgramState(const ProgramState&) = delete;
  ProgramState& operator=(const ProgramState&) = delete;

  // Initialises the state again; memory that the state has already obtained is reused.
  void restart(std::uint64_t seed, std::int64_t horizon);

  void* block() const { return block_; }
  rml_header& header() const { return *static_cast<rml_header*>(block_); }

 private:
  void begin(std::uint64_t seed, std::int64_t horizon, rml_ranks* ranks);

  const rml_program& program_;
  Memory memory_;
  std::uint64_t bytes_ = 0;
  void* block_ = nullptr;
};

}  // namespace rml::rt

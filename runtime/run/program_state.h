// A program's state: allocated, initialised and in the end destroyed.
#pragma once

#include "runtime/base/memory.h"
#include "runtime/base/rmlrt.h"

namespace rml::rt {

class ProgramState {
 public:
  // Throws Failure if it does not fit into memory.
  // ranks: among which it runs; null: it is alone.
  ProgramState(const rml_program& program, std::uint64_t seed, std::int64_t horizon, rml_ranks* ranks = nullptr);
  ~ProgramState();
  ProgramState(const ProgramState&) = delete;
  ProgramState& operator=(const ProgramState&) = delete;

  // As a new one, in the memory that this one has grown.
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

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

  void* block() const { return block_; }
  rml_header& header() const { return *static_cast<rml_header*>(block_); }

 private:
  const rml_program& program_;
  Memory memory_;
  void* block_ = nullptr;
};

}  // namespace rml::rt

// The memory a program may hold: its state, and the rings and segments it grows.
//
// One Memory per run; several threads may grow. Its grow is the function of rml_header: a realloc whose blocks are
// aligned to 64 bytes, which refuses to pass a ceiling instead of letting the machine swap
// or the kernel kill the process. While a block moves both copies are counted. A run that begins anew
// may keep what it gives back meanwhile, so that it is not asked of the system again. The default ceiling is three
// quarters of what is free now, or of the control group's limit.
#pragma once

#include <cstdint>
#include <mutex>

namespace rml::rt {

class Memory {
 public:
  explicit Memory(std::uint64_t ceiling) : ceiling_(ceiling) {}
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { free_spare(); }

  // As rml_header::grow; context is the Memory. new_bytes 0 returns the block.
  static void* grow(void* context, void* old, std::uint64_t old_bytes, std::uint64_t new_bytes);
  // From now on blocks that are given back are handed out again; the rest of them is freed when none is large enough.
  void keep_spare() { keeping_ = true; }

  std::uint64_t ceiling() const { return ceiling_; }
  std::uint64_t used() const { return used_; }
  std::uint64_t peak() const { return peak_; }

 private:
  struct Spare {
    Spare* next;
  };
  void* take(std::uint64_t bytes);
  void give_back(void* block);
  void free_spare();

  std::mutex mutex_;
  bool keeping_ = false;
  Spare* spare_ = nullptr;  // each lies in the block that it stands for
  std::uint64_t ceiling_;
  std::uint64_t used_ = 0;
  std::uint64_t peak_ = 0;
};

// In bytes; never 0.
std::uint64_t default_memory_ceiling();

// The most memory the process has had resident, in bytes.
std::uint64_t peak_resident_bytes();

}  // namespace rml::rt

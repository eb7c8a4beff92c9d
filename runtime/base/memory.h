// The memory that a program may use for its state, its rings and its segments.
//
// There is one Memory per run, and several threads may call grow. It implements the grow of
// rml_header: a realloc whose blocks are aligned to 64 bytes. It refuses to exceed a ceiling, so
// that the machine does not swap and the kernel does not kill the process. While a block is
// moved, both copies count. A run that restarts can reuse the blocks that it has returned,
// instead of requesting them from the system again. The default ceiling is three quarters of the
// free memory, or of the limit of the control group.
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

  // The function that a header's `grow` points to (see rml_header). `context` is the Memory. If
  // `new_bytes` is 0, it returns the block to the Memory.
  static void* grow(void* context, void* old, std::uint64_t old_bytes, std::uint64_t new_bytes);
  // From now on, returned blocks are reused. The remaining ones are freed when none of them is
  // large enough.
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
  Spare* spare_ = nullptr;  // each entry is stored in its own block
  std::uint64_t ceiling_;
  std::uint64_t used_ = 0;
  std::uint64_t peak_ = 0;
};

// The default limit of memory, in bytes; never 0.
std::uint64_t default_memory_ceiling();

// The largest amount of resident memory of the process so far, in bytes.
std::uint64_t peak_resident_bytes();

}  // namespace rml::rt

// The free memory is read from /proc/meminfo. A limit comes from the control group of the process
// (version 2, then 1) or from RLIMIT_AS. The smallest of these values counts; if none can be
// read, the ceiling is 4 GiB.
#include "runtime/base/memory.h"

#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <utility>

namespace rml::rt {
namespace {

constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

// The number in a file of one line; no_limit for "max", a missing file or other contents.
std::uint64_t number_in(const std::string& path) {
  File file(std::fopen(path.c_str(), "re"), std::fclose);
  unsigned long long value = 0;
  if (!file || std::fscanf(file.get(), "%llu", &value) != 1) return no_limit;
  return value;
}

std::uint64_t available_memory() {
  File file(std::fopen("/proc/meminfo", "re"), std::fclose);
  if (!file) return no_limit;
  char line[256];
  unsigned long long kilobytes = 0;
  while (std::fgets(line, sizeof line, file.get())) {
    if (std::sscanf(line, "MemAvailable: %llu", &kilobytes) == 1) return kilobytes * 1024;
  }
  return no_limit;
}

std::uint64_t group_limit() {
  std::uint64_t limit =
      std::min(number_in("/sys/fs/cgroup/memory.max"), number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
  File file(std::fopen("/proc/self/cgroup", "re"), std::fclose);
  char line[4096];
  while (file && std::fgets(line, sizeof line, file.get())) {
    if (std::strncmp(line, "0::/", 4) != 0) continue;
    std::string group(line + 3);
    while (!group.empty() && group.back() == '\n') group.pop_back();
    // The limits of parent groups apply as well.
    while (group.size() > 1) {
      limit = std::min(limit, number_in("/sys/fs/cgroup" + group + "/memory.max"));
      group.resize(group.rfind('/'));
    }
  }
  return limit;
}

std::uint64_t address_space_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return no_limit;
  return limit.rlim_cur;
}

}  // namespace

void* Memory::take(std::uint64_t bytes) {
  Spare** least = nullptr;
  for (Spare** at = &spare_; *at != nullptr; at = &(*at)->next)
    if (malloc_usable_size(*at) >= bytes && (!least || malloc_usable_size(*at) < malloc_usable_size(*least)))
      least = at;
  if (least != nullptr) return std::exchange(*least, (*least)->next);
  free_spare();
  constexpr std::uint64_t alignment = 64;
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

void Memory::give_back(void* block) {
  if (keeping_ && block != nullptr)
    spare_ = new (block) Spare{spare_};
  else
    std::free(block);
}

void Memory::free_spare() {
  while (spare_ != nullptr) std::free(std::exchange(spare_, spare_->next));
}

void* Memory::grow(void* context, void* old, std::uint64_t old_bytes, std::uint64_t new_bytes) {
  Memory& memory = *static_cast<Memory*>(context);
  const std::lock_guard lock(memory.mutex_);
  const std::uint64_t held = old ? std::min(old_bytes, memory.used_) : 0;
  if (new_bytes == 0) {
    memory.give_back(old);
    memory.used_ -= held;
    return nullptr;
  }
  if (memory.used_ > memory.ceiling_ || new_bytes > memory.ceiling_ - memory.used_) return nullptr;
  const bool fits = old && malloc_usable_size(old) >= new_bytes;
  void* const block = fits ? old : memory.take(new_bytes);
  if (!block) return nullptr;
  memory.used_ += new_bytes;
  memory.peak_ = std::max(memory.peak_, memory.used_);
  const std::uint64_t kept = old ? std::min(old_bytes, new_bytes) : 0;
  if (!fits && old) {
    std::memcpy(block, old, kept);
    memory.give_back(old);
  }
  memory.used_ -= held;
  // Bytes that the program never writes may still be saved together with their neighbours, so
  // they are zeroed.
  std::memset(static_cast<char*>(block) + kept, 0, new_bytes - kept);
  return block;
}

std::uint64_t default_memory_ceiling() {
  std::uint64_t limit = std::min({available_memory(), group_limit(), address_space_limit()});
  if (limit == no_limit) return std::uint64_t{4} << 30;
  return std::max<std::uint64_t>(limit / 4 * 3, 1 << 20);
}

std::uint64_t peak_resident_bytes() {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace rml::rt

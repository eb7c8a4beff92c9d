// Suppressions for the library concurrentqueue, and functions that compiled programs call, under
// ThreadSanitizer (only with RML_TSAN).
//
// ThreadSanitizer reports that a slot of the queue is written again while it may still be read.
// This is a false report. The reader marks a slot as done by a store (or addition) with release
// order. The writer reads the marks of all slots of a block with relaxed loads and then executes
// a fence with acquire order (Block::set_empty, Block::is_empty); the two synchronise.
// ThreadSanitizer does not support fences.
//
// LLVM calls functions with names of its own to copy and clear memory; GCC's library has them
// under their usual names only.
#include <cstring>

extern "C" {
const char* __tsan_default_suppressions();
const char* __tsan_default_suppressions() { return "race:moodycamel::ConcurrentQueue\n"; }

void* __tsan_memcpy(void* to, const void* from, std::size_t bytes);
void* __tsan_memcpy(void* to, const void* from, std::size_t bytes) { return std::memcpy(to, from, bytes); }
void* __tsan_memmove(void* to, const void* from, std::size_t bytes);
void* __tsan_memmove(void* to, const void* from, std::size_t bytes) { return std::memmove(to, from, bytes); }
void* __tsan_memset(void* to, int byte, std::size_t bytes);
void* __tsan_memset(void* to, int byte, std::size_t bytes) { return std::memset(to, byte, bytes); }

// The linker is made to look for this name; otherwise it would not link this file, since the
// library has default suppressions of its own.
extern const char rml_thread_sanitizer;
const char rml_thread_sanitizer = 0;
}

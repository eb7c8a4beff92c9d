// What ThreadSanitizer is told about the library concurrentqueue, and what compiled programs ask it for; with RML_TSAN
// only.
//
// It reports that a slot of the queue is written again while it may still be read. It is not. The reader says that it
// is done by a store (or addition) with release order, the writer looks at all slots of a block with relaxed loads, and
// then has a fence with acquire order (Block::set_empty, Block::is_empty), which together synchronise. ThreadSanitizer
// knows no fences.
//
// LLVM calls functions for what a program copies or clears, which GCC's library has under their usual names only.
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

// Named by the linker, or nothing here would be linked: the library's own suppressions are no reason.
extern const char rml_thread_sanitizer;
const char rml_thread_sanitizer = 0;
}

// What ThreadSanitizer is told about the library concurrentqueue: it reports that a slot is written again while it
// may still be read. It is not. The reader says that it is done by a store (or addition) with release order, the writer
// looks at all slots of a block with relaxed loads, and then has a fence with acquire order
// (Block::set_empty, Block::is_empty), which together synchronise. ThreadSanitizer knows no fences.
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() { return "race:moodycamel::ConcurrentQueue\n"; }

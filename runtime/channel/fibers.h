// Runs the functions of a GoGroup on the thread that made it, like goroutines that share a
// processor. Each function has a stack of its own. When one has to wait in a channel, the thread
// continues with the next one that is ready. A hand-over takes tens of nanoseconds, while the
// system needs microseconds between threads. The order of execution depends on the program only.
//
//     rml::GoGroup group(rml::on_fibers());
//     const auto numbers = rml::make_channel<int>();
//     group.go([=] { for (int k = 0; k < 3; ++k) numbers.send(k); numbers.close(); });
//     for (const int n : numbers) …               // the maker and the functions alternate
//     group.join();
//
// The functions run while the maker of the group waits in a channel or in `join`. They run in the
// order in which they became ready, each until it waits itself; a function that computes keeps
// the others waiting. Channels may connect to other threads, so several groups can use several
// processors. An operation that blocks the thread (files, locks, sleeping) blocks all its
// functions. A function must not rely on thread_local variables of others, and must not hold a
// lock while it waits in a channel.
#ifndef RML_RUNTIME_CHANNEL_FIBERS_H
#define RML_RUNTIME_CHANNEL_FIBERS_H

#include <cstddef>
#include <memory>

#include "runtime/channel/go_group.h"

namespace rml {

// stack_bytes: size of each stack, rounded up to pages. A page without access follows each stack,
// so that an overflow ends the program and damages nothing. Memory is only used as far as a stack
// grows. Systems limit the number of such regions: about 30,000 stacks (vm.max_map_count).
//
// A thread has at most one such group at a time; a second one throws std::logic_error.
std::unique_ptr<GoGroup::Executor> on_fibers(std::size_t stack_bytes = 256 * 1024);

}  // namespace rml

#endif

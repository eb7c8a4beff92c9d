// A GoGroup whose functions share the thread that made it, as goroutines share a processor: each has a stack of its
// own, and when one has to wait in a channel the thread goes on with the next that can. A hand-over takes tens of
// nanoseconds, where between threads the system needs microseconds; and who runs when depends on the program only.
//
//     rml::GoGroup group(rml::on_fibers());
//     const auto numbers = rml::make_channel<int>();
//     group.go([=] { for (int k = 0; k < 3; ++k) numbers.send(k); numbers.close(); });
//     for (const int n : numbers) …                          // the maker takes turns with them
//     group.join();
//
// They run while the maker waits in a channel, or in `join`, in the order in which they became ready, and until they
// wait themselves: one that computes keeps the others waiting. Channels may have other ends in other threads, so that
// several groups share several processors. What blocks the thread (files, locks, sleeping) blocks all of them. A
// function must not rely on thread_local variables of others, or keep a lock while it waits in a channel.
#ifndef RML_RUNTIME_CHANNEL_FIBERS_H
#define RML_RUNTIME_CHANNEL_FIBERS_H

#include <cstddef>
#include <memory>

#include "runtime/channel/go_group.h"

namespace rml {

// stack_bytes: of each function, rounded up to pages; behind it lies a page without access, so that too small a
// stack ends the program and damages nothing. Memory is taken as it is used. A system has limits for the number of
// such regions: about 30,000 stacks (vm.max_map_count).
//
// A thread has one such group at a time: another one throws std::logic_error.
std::unique_ptr<GoGroup::Executor> on_fibers(std::size_t stack_bytes = 256 * 1024);

}  // namespace rml

#endif

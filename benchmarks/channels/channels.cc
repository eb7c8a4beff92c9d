// Our channels and rings, and the rings of others: nanoseconds per message, one line "name value" each. See run.py.
#include <boost/lockfree/spsc_queue.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <readerwriterqueue/readerwriterqueue.h>

#include "runtime/channel/fibers.h"
#include "runtime/channel/go_group.h"
#include "runtime/channel/ring.h"
#include "runtime/channel/select.h"

namespace {

using Value = std::uint64_t;

template <typename F>
void report(const std::string& name, std::uint64_t messages, F work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - begin;
  std::printf("%s %.3f\n", name.c_str(), time.count() / static_cast<double>(messages));
}

void check(Value sum, Value expected) {
  if (sum != expected) std::exit(1);
}

// Whether functions run on threads of the system, or on fibers within one thread.
enum class On { threads, fibers };

std::string prefix(On on) { return on == On::fibers ? "fibers/" : ""; }

rml::GoGroup group(On on) { return rml::GoGroup(on == On::fibers ? rml::on_fibers() : nullptr, false); }

void many_to_many(On on, const std::string& name, std::size_t capacity, std::uint64_t pairs, std::uint64_t messages) {
  const auto c = rml::make_channel<Value>(capacity);
  const std::uint64_t each = messages / pairs;
  report(prefix(on) + name, each * pairs, [&] {
    rml::GoGroup all = group(on);
    for (std::uint64_t p = 0; p < pairs; ++p) {
      all.go([&] {
        for (Value k = 0; k < each; ++k) c.send(Value(k));
      });
      all.go([&] {
        Value sum = 0;
        for (Value k = 0; k < each; ++k) sum += *c.recv();
        if (pairs == 1) check(sum, each * (each - 1) / 2);
      });
    }
  });
}

void ping_pong(On on, std::uint64_t messages) {
  const auto ping = rml::make_channel<Value>(), pong = rml::make_channel<Value>();
  report(prefix(on) + "ping_pong", messages, [&] {
    rml::GoGroup other = group(on);
    other.go([&] {
      for (const Value value : ping) pong.send(Value(value));
    });
    for (Value k = 0; k < messages; ++k) {
      ping.send(Value(k));
      check(*pong.recv(), k);
    }
    ping.close();
  });
}

// Two senders; one receiver takes the message that comes first.
void select_of_senders(On on, std::uint64_t messages) {
  const auto a = rml::make_channel<Value>(), b = rml::make_channel<Value>();
  report(prefix(on) + "select_of_senders", messages, [&] {
    rml::GoGroup senders = group(on);
    for (const auto& c : {a, b}) {
      senders.go([c, messages] {
        for (Value k = 0; k < messages / 2; ++k) c.send(1);
      });
    }
    Value sum = 0;
    const auto add = [&](rml::Received<Value> value) { sum += *value; };
    for (Value k = 0; k < messages; ++k) rml::select(rml::on_recv(a, add), rml::on_recv(b, add));
    check(sum, messages);
  });
}

void one_thread(std::uint64_t messages) {
  const auto c = rml::make_channel<Value>(64);
  report("one_thread", messages, [&] {
    for (Value k = 0; k < messages; ++k) {
      c.send(Value(k));
      check(*c.recv(), k);
    }
  });
}

void select_two_ready(std::uint64_t messages) {
  const auto a = rml::make_channel<Value>(1), b = rml::make_channel<Value>(1);
  a.send(1);
  b.send(1);
  report("select_two_ready", messages, [&] {
    for (Value k = 0; k < messages; ++k) {
      rml::select(rml::on_recv(a, [&](auto) { a.send(1); }), rml::on_recv(b, [&](auto) { b.send(1); }));
    }
  });
}

template <typename Push, typename Pop>
void ring(const std::string& name, std::uint64_t messages, Push push, Pop pop) {
  report(name, messages, [&] {
    std::jthread producer([&] {
      for (Value k = 0; k < messages;) {
        if (push(k)) {
          ++k;
        } else {
          rml::relax();
        }
      }
    });
    Value value = 0, sum = 0;
    for (Value k = 0; k < messages;) {
      if (pop(value)) {
        sum += value, ++k;
      } else {
        rml::relax();
      }
    }
    check(sum, messages * (messages - 1) / 2);
  });
}

void rings(std::uint64_t messages) {
  rml::Ring<Value> ours(4096);
  ring("ring/ours", messages, [&](Value v) { return ours.try_push(v); }, [&](Value& v) { return ours.try_pop(v); });
  moodycamel::ReaderWriterQueue<Value> moodycamel(4096);
  ring(
      "ring/moodycamel", messages, [&](Value v) { return moodycamel.try_enqueue(v); },
      [&](Value& v) { return moodycamel.try_dequeue(v); });
  boost::lockfree::spsc_queue<Value> boost(4096);
  ring("ring/boost", messages, [&](Value v) { return boost.push(v); }, [&](Value& v) { return boost.pop(v); });
  report("ring/ours_spans", messages, [&] {
    std::jthread producer([&] {
      for (Value k = 0; k < messages;) {
        const auto room = ours.writable();
        const std::size_t count = std::min<std::size_t>({room.size(), messages - k, 256});
        for (std::size_t n = 0; n < count; ++n) room[n] = k++;
        if (count > 0) {
          ours.commit(count);
        } else {
          rml::relax();
        }
      }
    });
    Value sum = 0;
    for (Value k = 0; k < messages;) {
      const auto there = ours.readable();
      for (const Value value : there) sum += value;
      k += there.size();
      if (!there.empty()) {
        ours.consume(there.size());
      } else {
        rml::relax();
      }
    }
    check(sum, messages * (messages - 1) / 2);
  });
  rml::BlockingRing<Value> blocking(4096);
  report("ring/ours_blocking", messages, [&] {
    std::jthread producer([&] {
      for (Value k = 0; k < messages; ++k) blocking.push(k);
      blocking.close();
    });
    Value sum = 0;
    while (const auto value = blocking.pop()) sum += *value;
    check(sum, messages * (messages - 1) / 2);
  });
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t n = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  one_thread(n);
  select_two_ready(n);
  for (const On on : {On::threads, On::fibers}) {
    many_to_many(on, "cap64/1:1", 64, 1, n);
    many_to_many(on, "cap64/4:4", 64, 4, n);
    many_to_many(on, "cap1024/1:1", 1024, 1, n);
    many_to_many(on, "cap1024/4:4", 1024, 4, n);
    many_to_many(on, "rendezvous/1:1", 0, 1, n / 10);
    many_to_many(on, "rendezvous/4:4", 0, 4, n / 10);
    ping_pong(on, n / 10);
    select_of_senders(on, n / 10);
  }
  rings(n);
}

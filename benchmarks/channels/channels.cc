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

void many_to_many(const std::string& name, std::size_t capacity, std::uint64_t pairs, std::uint64_t messages) {
  const auto c = rml::make_channel<Value>(capacity);
  const std::uint64_t each = messages / pairs;
  report(name, each * pairs, [&] {
    std::vector<std::jthread> threads;
    for (std::uint64_t p = 0; p < pairs; ++p) {
      threads.emplace_back([&] {
        for (Value k = 0; k < each; ++k) c.send(Value(k));
      });
      threads.emplace_back([&] {
        Value sum = 0;
        for (Value k = 0; k < each; ++k) sum += *c.recv();
        if (pairs == 1) check(sum, each * (each - 1) / 2);
      });
    }
  });
}

void ping_pong(std::uint64_t messages) {
  const auto ping = rml::make_channel<Value>(), pong = rml::make_channel<Value>();
  report("ping_pong", messages, [&] {
    std::jthread other([&] {
      for (const Value value : ping) pong.send(Value(value));
    });
    for (Value k = 0; k < messages; ++k) {
      ping.send(Value(k));
      check(*pong.recv(), k);
    }
    ping.close();
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
  many_to_many("cap64/1:1", 64, 1, n);
  many_to_many("cap64/4:4", 64, 4, n);
  many_to_many("cap1024/1:1", 1024, 1, n);
  many_to_many("cap1024/4:4", 1024, 4, n);
  many_to_many("rendezvous/1:1", 0, 1, n / 10);
  many_to_many("rendezvous/4:4", 0, 4, n / 10);
  ping_pong(n / 10);
  rings(n);
}

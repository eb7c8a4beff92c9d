// The thread fills a block, and exchanges it for the block that the reader has used. An error of the stream follows
// the bytes before it. After a row that the stream does not hand over (RefusedRow) the thread continues.
#include "runtime/stream_io/live/pumped_input.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/base/signals.h"
#include "runtime/stream_io/bytes/waiting.h"

namespace rml::rt {
namespace {

constexpr std::size_t block_bytes = std::size_t{64} << 10;

// Ends the waits of the thread when the reader is gone.
struct Stopped {};

class PumpedInput final : public ByteInput {
 public:
  explicit PumpedInput(std::unique_ptr<ByteInput> input) : input_(std::move(input)) {}
  ~PumpedInput() override {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  std::size_t read(char* to, std::size_t room, const Waiting& waiting) override {
    if (!thread_.joinable()) start();
    if (begin_ == block_.size()) {
      if (ended_) return 0;
      take_block(waiting);
      if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    }
    const std::size_t count = std::min(room, block_.size() - begin_);
    std::memcpy(to, block_.data() + begin_, count);
    begin_ += count;
    return count;
  }

 private:
  // What one read of the stream has given.
  struct Result {
    std::vector<char> bytes;
    std::exception_ptr failure;
    bool ended = false;
  };

  // ---- for the reader ----
  void start() {
    try {
      thread_ = start_thread([this] { pump(); });
    } catch (const std::system_error&) {
      throw Failure("?timeout, ?silent: the system has no thread left, which such an input needs");
    }
  }
  void take_block(const Waiting& waiting) {
    bool waited = false;
    std::unique_lock lock(mutex_);
    while (!full_) {
      lock.unlock();
      waiting.tick(waited);
      if (waiting.deadline != nullptr) waiting.deadline->check();
      const int part = waiting.deadline != nullptr ? waiting.deadline->part(tick_ms) : tick_ms;
      lock.lock();
      changed_.wait_for(lock, std::chrono::milliseconds(part), [this] { return full_; });
    }
    block_.swap(result_.bytes);
    begin_ = 0;
    failure_ = std::exchange(result_.failure, nullptr);
    ended_ = result_.ended;
    full_ = false;
    lock.unlock();
    changed_.notify_all();
  }

  // ---- for the thread ----
  void pump() {
    const auto stop = [this] {
      const std::lock_guard lock(mutex_);
      if (stopped_) throw Stopped{};
    };
    Waiting waiting;
    waiting.before = waiting.during = stop;
    try {
      while (read_block(waiting)) {
      }
    } catch (const Stopped&) {
      // The reader takes no further block.
    }
  }
  // Returns whether the stream may have further bytes.
  bool read_block(const Waiting& waiting) {
    Result read;
    bool more = true;
    read.bytes.resize(block_bytes);
    std::size_t count = 0;
    try {
      count = input_->read(read.bytes.data(), read.bytes.size(), waiting);
      read.ended = count == 0;
      more = !read.ended;
    } catch (const RefusedRow&) {
      read.failure = std::current_exception();
    } catch (const Stopped&) {
      throw;
    } catch (...) {
      read.failure = std::current_exception();
      more = false;
    }
    read.bytes.resize(count);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return stopped_ || !full_; });
    if (stopped_) return false;
    result_ = std::move(read);
    full_ = true;
    lock.unlock();
    changed_.notify_all();
    return more;
  }

  const std::unique_ptr<ByteInput> input_;
  std::vector<char> block_;  // what the reader has not used, from begin_ on
  std::size_t begin_ = 0;
  std::exception_ptr failure_;
  bool ended_ = false;

  std::mutex mutex_;
  std::condition_variable changed_;
  Result result_;  // the next block, if it is full
  bool full_ = false;
  bool stopped_ = false;  // the reader takes no further block
  std::thread thread_;
};

}  // namespace

std::unique_ptr<ByteInput> pumped(std::unique_ptr<ByteInput> input) {
  return std::make_unique<PumpedInput>(std::move(input));
}

}  // namespace rml::rt

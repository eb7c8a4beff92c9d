// Ranks as threads of one process, which exchange messages in memory. Used by `--ranks N`, and by
// tests, which can delay and lose messages and let a rank vanish.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/ranks/transport.h"

namespace rml::rt {

// The state that the ranks share. Any thread may call its functions.
class Meeting {
 public:
  explicit Meeting(std::uint32_t ranks);
  std::uint32_t ranks() const { return static_cast<std::uint32_t>(places_.size()); }
  // The rank sends nothing more, as if its process had been killed.
  void vanish(std::uint32_t rank);

 private:
  friend class InProcess;
  struct Place {
    std::condition_variable changed;
    // messages that wait for a rank, by sender and tag
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::deque<Message>> box;
    bool left = false, vanished = false;
    std::string reason;
  };
  std::mutex mutex_;
  std::vector<std::unique_ptr<Place>> places_;
};

class InProcess final : public Transport {
 public:
  InProcess(std::shared_ptr<Meeting> meeting, std::uint32_t rank);
  // For tests: called before a message is delivered, and may delay it. If it returns false, the
  // message is lost.
  std::function<bool(std::uint32_t to, Tag tag)> on_send;

 protected:
  void do_send(std::uint32_t to, Tag tag, Message message) override;
  std::optional<Message> do_receive(std::uint32_t from, Tag tag) override;
  void do_leave(const std::string& reason) override;
  Standing standing(std::uint32_t rank) override;
  void pause(unsigned round) override;

 private:
  const std::shared_ptr<Meeting> meeting_;
};

}  // namespace rml::rt

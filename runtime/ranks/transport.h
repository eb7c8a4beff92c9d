// Communication between ranks: the interface of every transport.
//
// A rank is one of several processes, or threads, that run one program together. Messages from
// one rank to another with the same tag arrive in the order in which they were sent. Sending
// never waits. Receiving waits while the other rank is alive, at most for the time of `patience`.
// If the other rank is dead, has ended, or sends nothing for too long, receiving throws LostRank,
// whose message names that rank. So no wait lasts for ever.
//
// A rank that ends, with or without an error, leaves: it notifies all others and waits until they
// have left as well, so that no rank ends while another one still needs it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/failure.h"

namespace rml::rt {

using Message = std::vector<std::byte>;

// The purpose of a message; `site` distinguishes messages of one purpose.
enum class Talk : std::uint32_t { start, sum, total, broadcast, leave };
constexpr std::uint32_t talks = 5;
struct Tag {
  Talk talk = Talk::start;
  std::uint32_t site = 0;
};

// Another rank does not do its part. The message names it.
class LostRank : public Failure {
 public:
  using Failure::Failure;
};

// The name of a rank for messages, such as "rank 2".
std::string rank_text(std::uint32_t rank);

class Transport {
 public:
  using Patience = std::chrono::milliseconds;
  static constexpr Patience default_patience = std::chrono::minutes(10);

  Transport(std::uint32_t rank, std::uint32_t ranks) : rank_(rank), ranks_(ranks) {}
  virtual ~Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  std::uint32_t rank() const { return rank_; }
  std::uint32_t ranks() const { return ranks_; }
  // Maximum time to wait for a rank that is alive; 0: for ever.
  void set_patience(Patience patience) { patience_ = patience; }

  void send(std::uint32_t to, Tag tag, Message message);
  // The next message, if it has arrived.
  std::optional<Message> try_receive(std::uint32_t from, Tag tag);
  // Waits for the next message. what: describes the message in a LostRank. Throws LostRank, or
  // Interrupted after a signal.
  Message receive(std::uint32_t from, Tag tag, const char* what);

  // Announces that this rank sends nothing more. reason: the error that ended it; empty if there
  // was none. Waits for the others to leave: only briefly if something is wrong; if they are
  // in_step with this rank, at most for the patience. Returns the error of another rank; empty if
  // there is none.
  std::string leave(const std::string& reason, bool in_step = false);

  std::uint64_t messages() const { return messages_; }  // number of messages sent so far
  std::uint64_t bytes() const { return bytes_; }

 protected:
  // What is known about another rank while no message comes from it.
  struct Standing {
    enum { there, ended, failed, gone } how = there;
    std::string reason;  // the reason why the rank failed or is gone; else empty
  };
  virtual void do_send(std::uint32_t to, Tag tag, Message message) = 0;
  virtual std::optional<Message> do_receive(std::uint32_t from, Tag tag) = 0;
  virtual void do_leave(const std::string& reason) = 0;
  // Returns the state of another rank.
  virtual Standing standing(std::uint32_t rank) = 0;
  // Waits until a message may have come. round: number of pauses in this wait so far.
  virtual void pause(unsigned round) = 0;

 private:
  std::string impatience(std::uint32_t rank, const std::string& what) const;
  std::string problem_of_others(std::uint32_t from, const char* what);

  const std::uint32_t rank_, ranks_;
  Patience patience_ = default_patience;
  std::uint64_t messages_ = 0, bytes_ = 0;
};

// The transport of a single rank, which has no others to send to.
class Alone final : public Transport {
 public:
  Alone() : Transport(0, 1) {}

 protected:
  void do_send(std::uint32_t, Tag, Message) override {}
  std::optional<Message> do_receive(std::uint32_t, Tag) override { return std::nullopt; }
  void do_leave(const std::string&) override {}
  Standing standing(std::uint32_t) override { return {}; }
  void pause(unsigned) override {}
};

}  // namespace rml::rt

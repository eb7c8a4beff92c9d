// How ranks speak with each other: the interface of every transport.
//
// A rank is one of several processes, or threads, that run one program together. A message has a tag; those from one
// rank to another with one tag arrive in the order in which they were sent. Sending never waits. Receiving waits,
// as long as the other rank is there and no longer than the patience: a rank that is gone, that has ended, or that
// says nothing for too long is a LostRank, whose message names it. So no wait lasts for ever, and no rank is waited for
// who cannot come.
//
// A rank that ends, well or not, leaves: it tells all others, and waits until they have left too, so that none ends
// while another still needs it.
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

// What a message is about, and which one of its kind.
enum class Talk : std::uint32_t { start, sum, total, broadcast, leave };
constexpr std::uint32_t talks = 5;
struct Tag {
  Talk talk = Talk::start;
  std::uint32_t site = 0;
};

// Another rank does not do its part; the message names it.
class LostRank : public Failure {
 public:
  using Failure::Failure;
};

// "rank 2".
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
  // How long a rank that is there may be waited for; 0: for ever.
  void set_patience(Patience patience) { patience_ = patience; }

  void send(std::uint32_t to, Tag tag, Message message);
  // The next message, if it is there.
  std::optional<Message> try_receive(std::uint32_t from, Tag tag);
  // Waits for it. `what` says in a LostRank what was waited for. Throws LostRank; Interrupted after a signal.
  Message receive(std::uint32_t from, Tag tag, const char* what);

  // This rank sends nothing more; reason: why it could not go on, empty if it has ended well. Waits for the others to
  // leave, but not for long where something is wrong; in_step: where they are as far as this rank, and no longer than
  // the patience. Returns what is wrong with another one; empty: all are well.
  std::string leave(const std::string& reason, bool in_step = false);

  std::uint64_t messages() const { return messages_; }  // sent
  std::uint64_t bytes() const { return bytes_; }

 protected:
  // What can be learnt about another rank while nothing comes from it.
  struct Standing {
    enum { there, ended, failed, gone } how = there;
    std::string reason;  // of failed and gone
  };
  virtual void do_send(std::uint32_t to, Tag tag, Message message) = 0;
  virtual std::optional<Message> do_receive(std::uint32_t from, Tag tag) = 0;
  virtual void do_leave(const std::string& reason) = 0;
  // Of another rank.
  virtual Standing standing(std::uint32_t rank) = 0;
  // Until something may have come; `round` counts the pauses of one wait.
  virtual void pause(unsigned round) = 0;

 private:
  std::string impatience(std::uint32_t rank, const std::string& what) const;
  std::string problem_of_others(std::uint32_t from, const char* what);

  const std::uint32_t rank_, ranks_;
  Patience patience_ = default_patience;
  std::uint64_t messages_ = 0, bytes_ = 0;
};

// A program that is alone: there is no rank to send to.
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

// Streams of rows as messages (library.h).
//
// An output continues as long as the number of unacknowledged messages is below the window. flush
// waits until all are acknowledged; the run flushes before it waits for input, saves its state,
// or ends.
#include <algorithm>
#include <cstring>
#include <deque>
#include <optional>
#include <string>

#include "runtime/base/signals.h"
#include "runtime/stream_io/live/mqtt/client.h"
#include "runtime/stream_io/live/mqtt/library.h"
#include "runtime/stream_io/live/mqtt/topic_key.h"

namespace rml::rt {
namespace {

class MqttInput final : public ByteInput {
 public:
  MqttInput(const Address& address, bool csv) : address_(address), csv_(csv), client_(address, Direction::in) {
    client_.on_message = [this](std::string_view topic, std::string_view payload) { take(topic, payload); };
    client_.connect(check_interrupt);
  }
  // Disconnects. Messages that were not read are not acknowledged, so a session continues with
  // them.
  ~MqttInput() override { client_.disconnect(); }

  std::size_t read(char* to, std::size_t room, const Waiting& waiting) override {
    bool waited = false;
    const Check check = [&] {
      check_interrupt();
      waiting.tick(waited);
    };
    while (begin_ == readable_end()) {
      if (!too_long_.empty()) refuse();
      buffer_.clear();
      begin_ = 0;
      if (interrupt_signal() != 0) {
        drain();
        continue;
      }
      if (!client_.connected()) {
        waiting.tick(waited);
        client_.connect(check);
        continue;
      }
      client_.turn(waited ? tick_ms : 0);
      if (any()) continue;
      if (interrupt_signal() != 0) continue;
      waiting.tick(waited);
    }
    const std::size_t count = std::min(room, readable_end() - begin_);
    std::memcpy(to, buffer_.data() + begin_, count);
    begin_ += count;
    return count;
  }

 private:
  struct TooLong {
    std::size_t at;  // in the buffer
    std::int64_t message;
    std::string beginning;
  };

  bool any() const { return !buffer_.empty() || !too_long_.empty(); }
  // The lines up to the first message that is too long.
  std::size_t readable_end() const { return too_long_.empty() ? buffer_.size() : too_long_.front().at; }
  [[noreturn]] void refuse() {
    TooLong first = std::move(too_long_.front());
    too_long_.pop_front();
    throw RefusedRow(address_.name,
                     "message " + std::to_string(first.message) + " has more than " + std::to_string(address_.line) +
                         " bytes (?line=BYTES raises the limit)",
                     std::move(first.beginning));
  }

  // After a signal: reads the messages that the broker has sent, until it is silent for a moment.
  void drain() {
    if (!client_.connected()) throw Interrupted{};
    if (!draining_) {
      client_.stop();
      draining_ = Time::now();
    }
    constexpr double drain_seconds = 1;
    const Time::time_point begin = Time::now();
    while (!any()) {
      const bool over = seconds_since(begin) * 1000 >= tick_ms || seconds_since(*draining_) >= drain_seconds;
      if (over || !client_.connected()) throw Interrupted{};
      client_.turn(tick_ms / 4);
    }
  }

  // A message becomes one line: line ends within it become blanks.
  void take(std::string_view topic, std::string_view payload) {
    ++messages_;
    if (payload.size() > static_cast<std::size_t>(address_.line)) {
      too_long_.push_back({buffer_.size(), messages_, std::string(payload.substr(0, refused_bytes))});
      return;
    }
    while (csv_ && !payload.empty() && (payload.back() == '\n' || payload.back() == '\r')) payload.remove_suffix(1);
    const std::size_t at = buffer_.size();
    if (address_.topic_key.empty())
      buffer_ += payload;
    else
      append_with_key(buffer_, payload, address_.topic_key, level_at_wildcard(address_.path, topic), csv_);
    std::replace(buffer_.begin() + static_cast<std::ptrdiff_t>(at), buffer_.end(), '\n', ' ');
    buffer_ += '\n';
  }

  const Address address_;
  const bool csv_;
  std::string buffer_;  // the lines of one turn
  std::size_t begin_ = 0;
  std::int64_t messages_ = 0;
  std::deque<TooLong> too_long_;
  std::optional<Time::time_point> draining_;  // time of the signal that ends the run
  MqttClient client_;
};

class MqttOutput final : public ByteOutput {
 public:
  explicit MqttOutput(const Address& address)
      : address_(address), grace_(address.linger), client_(address, Direction::out) {
    client_.on_published = [this](int number, const char* refusal) { settle(number, refusal); };
    client_.connect(check_interrupt);
  }

  void write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const std::size_t end = bytes.find('\n');
      row_ += bytes.substr(0, end);
      if (end == bytes.npos) return;
      bytes.remove_prefix(end + 1);
      while (open_.size() >= mqtt_window) drive();
      send(row_);
      row_.clear();
    }
  }

  void flush() override {
    while (!open_.empty()) drive();
  }

  void close() override {
    progress_ = Time::now();
    flush();
    client_.disconnect();
  }

 private:
  struct Message {
    int number;
    std::string payload;  // text of the message, with quality of service 0 only; otherwise the library keeps it
  };

  void send(const std::string& payload) {
    int number = 0;
    sending_ = true;
    while (!client_.publish(payload, number)) drive();
    sending_ = false;
    // With quality of service 0 the message may already be settled.
    if (settled_ == number && address_.qos == 0) {
      settled_ = 0;
      ++done_;
      return;
    }
    open_.push_back({number, address_.qos == 0 ? payload : ""});
  }

  void settle(int number, const char* refusal) {
    if (refusal) {
      if (refusal_.empty()) refusal_ = refusal;
      return;
    }
    const auto it =
        std::find_if(open_.begin(), open_.end(), [&](const Message& message) { return message.number == number; });
    if (it != open_.end()) {
      open_.erase(it);
      ++done_;
      if (progress_) progress_ = Time::now();
    } else if (sending_) {
      settled_ = number;
    }
  }

  void drive() {
    if (!client_.connected()) reconnect();
    client_.turn(tick_ms);
    if (!refusal_.empty()) {
      throw LostPeer(address_.name, "the broker rejected a row: " + refusal_ + so_far());
    }
    if (open_.empty()) return;
    check(so_far());
    if (progress_ && client_.connected() && seconds_since(*progress_) >= address_.linger)
      throw LostPeer(address_.name,
                     "the broker did not accept everything within " + seconds_text(address_.linger) + so_far());
  }

  void reconnect() {
    try {
      client_.connect([this] { check(""); });
    } catch (const LostPeer& failure) {
      throw LostPeer(address_.name, failure.text() + so_far());
    }
    if (progress_) progress_ = Time::now();
    if (address_.qos > 0) return;  // the library itself sends the messages again
    std::deque<Message> again;
    again.swap(open_);
    for (const Message& message : again) {
      int number = 0;
      if (!client_.publish(message.payload, number)) number = 0;
      open_.push_back({number, message.payload});
    }
  }

  void check(const std::string& also) {
    if (!grace_.over()) return;
    throw LostPeer(address_.name, "interrupted, and the broker did not accept everything within " +
                                      seconds_text(address_.linger) + also);
  }

  std::string so_far() const {
    return "; " + std::to_string(done_) + (done_ == 1 ? " row was" : " rows were") +
           (address_.qos == 0 ? " sent" : " acknowledged") + ", " + std::to_string(open_.size()) + " more were sent";
  }

  const Address address_;
  Grace grace_;
  std::string row_;  // beginning of the current row
  std::deque<Message> open_;
  bool sending_ = false;
  int settled_ = 0;
  std::int64_t done_ = 0;
  std::string refusal_;
  // at the end of the run: last time that the broker took a row
  std::optional<Time::time_point> progress_;
  MqttClient client_;
};

std::unique_ptr<ByteInput> subscribe(const Address& address, bool csv) {
  return std::make_unique<MqttInput>(address, csv);
}
std::unique_ptr<ByteOutput> publish(const Address& address) { return std::make_unique<MqttOutput>(address); }

}  // namespace
}  // namespace rml::rt

extern "C" const rml::rt::MqttLibrary rml_mqtt_library = {rml::rt::subscribe, rml::rt::publish};

// A connection to a broker, by libmosquitto.
//
// There is no thread of its own: the library only works during connect and turn. While no thread
// calls turn, nothing is read from the broker, so the broker must hold back messages that come
// too fast.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "runtime/stream_io/address.h"
#include "runtime/stream_io/bytes/waiting.h"

struct mosquitto;

namespace rml::rt {

struct Libmosquitto;

// Limit for unacknowledged messages. A broker with default settings may drop messages beyond
// that.
constexpr int mqtt_window = 20;

class MqttClient {
 public:
  MqttClient(const Address& address, Direction direction);
  ~MqttClient();
  MqttClient(const MqttClient&) = delete;
  MqttClient& operator=(const MqttClient&) = delete;

  std::function<void(std::string_view topic, std::string_view payload)> on_message;
  // Called when the broker has the message (with quality of service 0: when the system has it),
  // or with the reason if the broker refuses it.
  std::function<void(int message, const char* refusal)> on_published;

  bool connected() const { return connected_; }
  // Returns when it is connected and, for an input, subscribed. Throws LostPeer when the time of
  // the address is over, and immediately for errors that a further attempt cannot fix.
  void connect(const Check& check);
  // Reads and writes what is possible; if nothing is, waits up to this time. May lose the
  // connection.
  void turn(int milliseconds);
  // Returns false if the message was not accepted and must be published again. number: passed to
  // on_published later.
  bool publish(std::string_view payload, int& number);
  void disconnect();
  // Unsubscribes; messages that the broker has already sent still arrive. With a session, the
  // broker keeps the remaining ones.
  void stop();

 private:
  struct Callbacks;
  void set_password();
  void set_tls();
  // True if it is connected; otherwise the reason is in problem_.
  bool attempt(double patience, const Check& check);
  void wait_for(const bool& flag, Time::time_point begin, double patience, const Check& check);
  void lose(int error);
  [[noreturn]] void fail(const std::string& text) const;
  void must(int error, const char* doing) const;

  const Libmosquitto& api_;
  const Address address_;
  const Direction direction_;
  const int version_;
  mosquitto* library_ = nullptr;
  bool begun_ = false;      // true if the library has been given host and port
  bool ipv4_ = false;       // the host is resolved to addresses of IPv4 only
  bool connected_ = false;  // the broker has accepted the connection
  bool answered_ = false;
  int refusal_ = 0;  // code of a refused connection
  bool subscribed_ = false;
  int granted_ = 0;      // granted quality of service, or a refusal
  bool broken_ = false;  // the connection was lost since the attempt began
  std::string problem_;
  std::string log_;  // last error message of the library
};

}  // namespace rml::rt

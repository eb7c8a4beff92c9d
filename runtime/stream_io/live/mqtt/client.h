// A connection to a broker: libmosquitto, driven by the waiting thread.
//
// There is no thread: what the library has to do, it does in connect and turn. While no thread turns, nothing
// is read from the broker, so it holds back what comes too fast.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "runtime/stream_io/live/address.h"
#include "runtime/stream_io/live/waiting.h"

struct mosquitto;

namespace rml::rt {

struct Libmosquitto;

// Messages under way at a time. Brokers that expect no more by default may drop what is beyond.
constexpr int mqtt_window = 20;

class MqttClient {
 public:
  MqttClient(const Address& address, Direction direction);
  ~MqttClient();
  MqttClient(const MqttClient&) = delete;
  MqttClient& operator=(const MqttClient&) = delete;

  std::function<void(std::string_view)> on_message;
  // The broker has it (with quality of service 0: the system has it), or why it refuses it.
  std::function<void(int message, const char* refusal)> on_published;

  bool connected() const { return connected_; }
  // Until it is connected, and subscribed where it is an input. Throws LostPeer when the time of the address
  // is over, and at once for what will not get better by itself.
  void connect(const Check& check);
  // Reads and writes what there is; waits so long if there is nothing. The connection may be lost by it.
  void turn(int milliseconds);
  // False if it was not accepted and has to be given again. The number is what on_published will say.
  bool publish(std::string_view payload, int& number);
  void disconnect();
  // Nothing new is asked for; what the broker has sent before still comes. A session keeps the rest for the next time.
  void stop();

 private:
  struct Callbacks;
  void set_password();
  void set_tls();
  // Whether it is connected; else the reason is in problem_.
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
  bool begun_ = false;      // the library knows host and port,
  bool ipv4_ = false;       // and that of the host only addresses of IPv4 are meant
  bool connected_ = false;  // … and the broker has agreed
  bool answered_ = false;
  int refusal_ = 0;  // of the connection
  bool subscribed_ = false;
  int granted_ = 0;      // quality of service, or a refusal
  bool broken_ = false;  // since the attempt began
  std::string problem_;
  std::string log_;  // the library's last complaint
};

}  // namespace rml::rt

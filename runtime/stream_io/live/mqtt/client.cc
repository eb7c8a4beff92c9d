// Streams use MQTT 3.1.1, in which a session outlives a connection without further agreement.
// Outputs use MQTT 5 if the user asks for it: the broker then reports for each message whether it
// refuses it. It is not the default, because libmosquitto 2.0.11 ends the process at a property
// of MQTT 5 that it does not know.
#include "runtime/stream_io/live/mqtt/client.h"

#include <mqtt_protocol.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>

#include "runtime/stream_io/bytes/byte_stream.h"
#include "runtime/stream_io/live/mqtt/libmosquitto.h"

namespace rml::rt {
namespace {

constexpr double longest_attempt = 30;
constexpr double only_attempt = 10;

constexpr const char* system_certificates = "/etc/ssl/certs";

const char* or_null(const std::string& text) { return text.empty() ? nullptr : text.c_str(); }

// True if a server accepts a connection at the address within a second.
bool answers(const addrinfo& a) {
  constexpr int a_second = 1000;
  const int socket = ::socket(a.ai_family, a.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, a.ai_protocol);
  if (socket < 0) return false;
  pollfd waited{socket, POLLOUT, 0};
  int error = ::connect(socket, a.ai_addr, a.ai_addrlen) == 0 ? 0 : errno;
  socklen_t size = sizeof error;
  if (error == EINPROGRESS && ::poll(&waited, 1, a_second) == 1)
    ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size);
  ::close(socket);
  return error == 0;
}

// For a name with addresses of both families, such as `localhost`: true if the first address that
// answers is one of IPv4. The library only tries the first address, but a broker may listen at
// another.
bool answers_by_ipv4(const std::string& host, const std::string& port) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  if (getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) return false;
  bool ipv4 = false, ipv6 = false, by_ipv4 = false;
  for (const addrinfo* a = found; a != nullptr; a = a->ai_next) (a->ai_family == AF_INET ? ipv4 : ipv6) = true;
  for (const addrinfo* a = found; ipv4 && ipv6 && a != nullptr; a = a->ai_next)
    if (answers(*a)) {
      by_ipv4 = a->ai_family == AF_INET;
      break;
    }
  freeaddrinfo(found);
  return by_ipv4;
}

bool lasting(int version, int refusal) {
  if (version == MQTT_PROTOCOL_V5) {
    return refusal != MQTT_RC_SERVER_UNAVAILABLE && refusal != MQTT_RC_SERVER_BUSY &&
           refusal != MQTT_RC_QUOTA_EXCEEDED && refusal != MQTT_RC_CONNECTION_RATE_EXCEEDED;
  }
  return refusal != CONNACK_REFUSED_SERVER_UNAVAILABLE;
}

}  // namespace

struct MqttClient::Callbacks {
  static void connected(mosquitto*, void* object, int refusal) {
    auto& client = *static_cast<MqttClient*>(object);
    client.answered_ = true;
    client.refusal_ = refusal;
  }
  static void subscribed(mosquitto*, void* object, int, int count, const int* granted) {
    auto& client = *static_cast<MqttClient*>(object);
    client.subscribed_ = true;
    client.granted_ = count < 1 ? MQTT_RC_UNSPECIFIED : granted[0];
  }
  static void message(mosquitto*, void* object, const mosquitto_message* message) {
    const auto& client = *static_cast<MqttClient*>(object);
    client.on_message(message->topic,
                      {static_cast<const char*>(message->payload), static_cast<std::size_t>(message->payloadlen)});
  }
  static void published(mosquitto*, void* object, int message, int reason, const mosquitto_property*) {
    const auto& client = *static_cast<MqttClient*>(object);
    if (client.on_published)
      client.on_published(message, reason >= 128 ? client.api_.mosquitto_reason_string(reason) : nullptr);
  }
  static void log(mosquitto*, void* object, int level, const char* text) {
    if (level == MOSQ_LOG_ERR) static_cast<MqttClient*>(object)->log_ = text;
  }
  // Refuses keys with a password, because a service has no user who could enter it.
  static int key_password(char*, int, int, void*) { return 0; }
};

MqttClient::MqttClient(const Address& address, Direction direction)
    : api_(libmosquitto(address.name)),
      address_(address),
      direction_(direction),
      version_(direction == Direction::out && address.version == 5 ? MQTT_PROTOCOL_V5 : MQTT_PROTOCOL_V311) {
  if (direction == Direction::in && api_.mosquitto_sub_topic_check(address_.path.c_str()) != MOSQ_ERR_SUCCESS) {
    fail("'" + address_.path + "' is not a topic filter: '+' stands for one level, '#' for all following levels");
  }
  if (direction == Direction::out && api_.mosquitto_pub_topic_check(address_.path.c_str()) != MOSQ_ERR_SUCCESS) {
    fail("'" + address_.path + "' is not a topic");
  }
  library_ = api_.mosquitto_new(or_null(address_.client), address_.client.empty(), this);
  if (!library_) throw std::bad_alloc();
  try {
    must(api_.mosquitto_int_option(library_, MOSQ_OPT_PROTOCOL_VERSION, version_), "cannot choose the protocol");
    api_.mosquitto_int_option(library_, MOSQ_OPT_TCP_NODELAY, 1);
    api_.mosquitto_max_inflight_messages_set(library_, mqtt_window);
    api_.mosquitto_connect_callback_set(library_, Callbacks::connected);
    api_.mosquitto_subscribe_callback_set(library_, Callbacks::subscribed);
    api_.mosquitto_message_callback_set(library_, Callbacks::message);
    api_.mosquitto_publish_v5_callback_set(library_, Callbacks::published);
    api_.mosquitto_log_callback_set(library_, Callbacks::log);
    if (!address_.user.empty()) set_password();
    if (address_.tls) set_tls();
  } catch (...) {
    api_.mosquitto_destroy(library_);
    throw;
  }
}

MqttClient::~MqttClient() { api_.mosquitto_destroy(library_); }

void MqttClient::fail(const std::string& text) const { throw LostPeer(address_.name, text); }

void MqttClient::must(int error, const char* doing) const {
  if (error == MOSQ_ERR_SUCCESS) return;
  fail(std::string(doing) + ": " + (error == MOSQ_ERR_ERRNO ? std::strerror(errno) : api_.mosquitto_strerror(error)));
}

void MqttClient::set_password() {
  std::string password;
  bool given = true;
  if (!address_.password_file.empty()) {
    std::ifstream file(address_.password_file);
    if (!file) fail("cannot read the password from '" + address_.password_file + "': " + std::strerror(errno));
    std::getline(file, password);
    if (!password.empty() && password.back() == '\r') password.pop_back();
  } else {
    const std::string variable = address_.password_env.empty() ? "RML_MQTT_PASSWORD" : address_.password_env;
    const char* value = std::getenv(variable.c_str());
    if (!value && !address_.password_env.empty()) fail("no password: the variable '" + variable + "' is not set");
    given = value != nullptr;
    if (value) password = value;
  }
  must(api_.mosquitto_username_pw_set(library_, address_.user.c_str(), given ? password.c_str() : nullptr),
       "cannot use the password");
}

void MqttClient::set_tls() {
  for (const std::string* path : {&address_.cafile, &address_.capath, &address_.cert, &address_.key}) {
    if (!path->empty() && ::access(path->c_str(), R_OK) != 0) {
      fail("cannot read '" + *path + "': " + std::strerror(errno));
    }
  }
  const bool own = !address_.cafile.empty() || !address_.capath.empty();
  // The library's own option for system certificates also requires a file or folder.
  const char* capath = own ? or_null(address_.capath) : system_certificates;
  must(api_.mosquitto_tls_set(library_, or_null(address_.cafile), capath, or_null(address_.cert), or_null(address_.key),
                              Callbacks::key_password),
       "cannot use these certificates");
  if (address_.insecure)
    must(api_.mosquitto_tls_insecure_set(library_, true), "cannot switch off the check of the host");
}

void MqttClient::lose(int error) {
  connected_ = false;
  broken_ = true;
  problem_ = error == MOSQ_ERR_ERRNO ? std::strerror(errno) : api_.mosquitto_strerror(error);
}

void MqttClient::turn(int milliseconds) {
  const int error = api_.mosquitto_loop(library_, milliseconds, 1);
  if (error != MOSQ_ERR_SUCCESS) lose(error);
}

void MqttClient::wait_for(const bool& flag, Time::time_point begin, double patience, const Check& check) {
  while (!flag && !broken_) {
    turn(std::min(tick_ms, static_cast<int>(1000 * patience) + 1));
    check();
    if (!flag && !broken_ && seconds_since(begin) >= patience) {
      broken_ = true;
      // An attempt with little time left says less than an earlier one, so its text does not
      // replace an earlier one.
      if (problem_.empty() || patience >= 1) problem_ = "the broker does not answer";
    }
  }
}

bool MqttClient::attempt(double patience, const Check& check) {
  const Time::time_point begin = Time::now();
  const bool only_ipv4 = answers_by_ipv4(address_.host, address_.port);
  answered_ = subscribed_ = broken_ = false;
  log_.clear();
  const int begun = begun_ && only_ipv4 == ipv4_
                        ? api_.mosquitto_reconnect_async(library_)
                        : api_.mosquitto_connect_bind_async(library_, address_.host.c_str(), std::stoi(address_.port),
                                                            address_.keepalive, only_ipv4 ? "0.0.0.0" : nullptr);
  begun_ = true, ipv4_ = only_ipv4;
  if (begun != MOSQ_ERR_SUCCESS) lose(begun);
  wait_for(answered_, begin, patience, check);
  if (answered_ && refusal_ != 0) {
    const bool v5 = version_ == MQTT_PROTOCOL_V5;
    problem_ =
        std::string("the broker refused the connection: ") +
        (v5 && refusal_ >= 128 ? api_.mosquitto_reason_string(refusal_) : api_.mosquitto_connack_string(refusal_));
    const bool old = refusal_ == CONNACK_REFUSED_PROTOCOL_VERSION || refusal_ == MQTT_RC_UNSUPPORTED_PROTOCOL_VERSION;
    if (v5 && old) problem_ += " (it may know only MQTT 3.1.1: leave out ?version=5)";
    if (lasting(version_, refusal_)) fail(problem_);
    return false;
  }
  if (broken_) {
    if (!log_.empty()) problem_ = log_;
    if (log_.find("certificate") != log_.npos || log_.find("alert") != log_.npos ||
        log_.find("verification") != log_.npos) {
      fail(log_);
    }
    return false;
  }
  // Keep-alive packets detect a dead machine even if nothing is sent.
  const int socket = api_.mosquitto_socket(library_);
  const std::pair<std::pair<int, int>, int> settings[] = {{{SOL_SOCKET, SO_KEEPALIVE}, 1},
                                                          {{IPPROTO_TCP, TCP_KEEPIDLE}, 60},
                                                          {{IPPROTO_TCP, TCP_KEEPINTVL}, 15},
                                                          {{IPPROTO_TCP, TCP_KEEPCNT}, 4}};
  for (const auto& [option, value] : settings) {
    ::setsockopt(socket, option.first, option.second, &value, sizeof value);
  }
  if (direction_ == Direction::in) {
    const int asked = api_.mosquitto_subscribe(library_, nullptr, address_.path.c_str(), address_.qos);
    if (asked != MOSQ_ERR_SUCCESS) lose(asked);
    wait_for(subscribed_, begin, patience, check);
    if (subscribed_ && granted_ > 2) fail("the broker does not allow this topic");
    if (subscribed_ && granted_ < address_.qos) {
      fail("the broker grants qos=" + std::to_string(granted_) + " for this topic, not " +
           std::to_string(address_.qos) + "; write ?qos=" + std::to_string(granted_) + " if this is enough");
    }
  }
  connected_ = !broken_;
  return connected_;
}

void MqttClient::connect(const Check& check) {
  const Time::time_point begin = Time::now();
  const double patience = address_.retry.value_or(30.0);
  BackOff back_off;
  // A broker that accepts the connection and does not answer may use the remaining time; for a
  // single attempt this is ten seconds.
  const auto left = [&] {
    if (patience == 0) return only_attempt;
    return std::clamp(patience - seconds_since(begin), 0.0, longest_attempt);
  };
  while (!attempt(left(), check)) {
    check();
    if (seconds_since(begin) >= patience) {
      fail(problem_ + (patience > 0 ? " (tried for " + seconds_text(patience) + ")" : ""));
    }
    back_off.pause(check);
  }
}

bool MqttClient::publish(std::string_view payload, int& number) {
  const int error = api_.mosquitto_publish(library_, &number, address_.path.c_str(), static_cast<int>(payload.size()),
                                           payload.data(), address_.qos, address_.retain);
  if (error == MOSQ_ERR_SUCCESS) return true;
  if (error == MOSQ_ERR_NOMEM) throw std::bad_alloc();
  const bool connection = error == MOSQ_ERR_NO_CONN || error == MOSQ_ERR_CONN_LOST || error == MOSQ_ERR_ERRNO ||
                          error == MOSQ_ERR_TLS || error == MOSQ_ERR_CONN_REFUSED;
  if (!connection) must(error, "cannot publish");
  lose(error);
  // For messages with an acknowledgement, the library stores the message and sends it again.
  return address_.qos > 0;
}

void MqttClient::stop() {
  if (connected_ && address_.client.empty()) api_.mosquitto_unsubscribe(library_, nullptr, address_.path.c_str());
}

void MqttClient::disconnect() {
  if (!connected_) return;
  api_.mosquitto_disconnect(library_);
  for (int k = 0; k < 50 && api_.mosquitto_want_write(library_); ++k) turn(20);
  connected_ = false;
}

}  // namespace rml::rt

// Loads libmosquitto when the first stream needs a broker, so that programs without brokers do
// not need the library.
//
// Debian provides it as a shared library only, which depends on OpenSSL. Its header is used for
// types and constants; its functions become members of the same names.
#pragma once

#include <mosquitto.h>

#include <string>

// clang-format off
#define RML_FUNCTIONS_OF_LIBMOSQUITTO(ONE)                                                                      \
  ONE(mosquitto_lib_init) ONE(mosquitto_new) ONE(mosquitto_destroy)                                             \
  ONE(mosquitto_int_option) ONE(mosquitto_max_inflight_messages_set)                                            \
  ONE(mosquitto_username_pw_set) ONE(mosquitto_tls_set) ONE(mosquitto_tls_insecure_set)                         \
  ONE(mosquitto_connect_callback_set) ONE(mosquitto_subscribe_callback_set) ONE(mosquitto_message_callback_set) \
  ONE(mosquitto_publish_v5_callback_set) ONE(mosquitto_log_callback_set)                                        \
  ONE(mosquitto_connect_bind_async) ONE(mosquitto_reconnect_async) ONE(mosquitto_disconnect)                    \
  ONE(mosquitto_subscribe) ONE(mosquitto_unsubscribe) ONE(mosquitto_publish)                                    \
  ONE(mosquitto_loop) ONE(mosquitto_want_write) ONE(mosquitto_socket)                                           \
  ONE(mosquitto_sub_topic_check) ONE(mosquitto_pub_topic_check)                                                 \
  ONE(mosquitto_strerror) ONE(mosquitto_connack_string) ONE(mosquitto_reason_string)
// clang-format on

namespace rml::rt {

struct Libmosquitto {
#define RML_MEMBER(name) decltype(&::name) name = nullptr;
  RML_FUNCTIONS_OF_LIBMOSQUITTO(RML_MEMBER)
#undef RML_MEMBER
};

// The initialised library of the process. Throws LostPeer if it cannot be loaded or used for this
// stream.
const Libmosquitto& libmosquitto(const std::string& stream);

}  // namespace rml::rt

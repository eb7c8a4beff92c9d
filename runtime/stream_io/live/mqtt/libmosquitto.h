// libmosquitto, loaded when the first stream wants a broker: who has none needs no such library.
//
// Debian has it as a shared library only, which brings OpenSSL with it. Its header is used for types and constants;
// its functions are members of the same names here.
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

// The library of the process, started. Throws LostPeer when there is none that can be used for this stream.
const Libmosquitto& libmosquitto(const std::string& stream);

}  // namespace rml::rt

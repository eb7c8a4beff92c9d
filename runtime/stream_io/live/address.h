// Addresses of live streams: what follows --input and --output where it is no file.
//
//   tcp://HOST:PORT  unix://PATH                 a peer that listens
//   tcp-listen://[HOST]:PORT  unix-listen://PATH peers that come to us, one at a time; without HOST from here only
//   fifo://PATH                                  a named pipe whose peers come and go
//   mqtt://[USER@]HOST[:PORT]/TOPIC  mqtts://…   a broker
//
// behind it ?NAME=VALUE&NAME…; parts may hold %XX. No part holds a secret: command lines are visible to
// everybody on the machine.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rml::rt {

enum class Direction { in, out };

struct Address {
  enum class Kind { tcp, tcp_listen, local, local_listen, fifo, mqtt };
  Kind kind = Kind::tcp;
  std::string name;              // as given, without parameters
  std::string host, port, path;  // path: of a socket or pipe; the topic
  std::string format;            // csv, jsonl; empty: not given
  std::optional<double> retry;   // seconds
  double linger = 10;            // seconds
  bool reconnect = false;
  int line = 16 << 20;  // bytes of a line or message at most

  bool tls = false;
  std::string user;
  std::string client;  // identifier; empty: the broker's choice, and no session
  int qos = 1;
  bool retain = false;
  int version = 0;        // of the protocol: 3, 5; 0: not given
  int keepalive = 32767;  // nine hours; mosquitto 2.0.21 takes 65535 for none
  std::string password_file, password_env;
  std::string cafile, capath, cert, key;
  bool insecure = false;

  bool listens() const { return kind == Kind::tcp_listen || kind == Kind::local_listen; }
};

// Whether the text is meant as an address: WORD://….
bool is_address(std::string_view text);
// Throws Failure with status 2, headed by `option` and the text.
Address parse_address(Direction direction, const std::string& option, const std::string& text);

}  // namespace rml::rt

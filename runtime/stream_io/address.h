// Addresses of live streams, which --input and --output accept instead of files:
//
//   tcp://HOST:PORT  unix://PATH                  connects to a peer that listens
//   tcp-listen://[HOST]:PORT  unix-listen://PATH  listens for peers, one at a time; without HOST
//                                                 for peers on this machine only
//   fifo://PATH                                   a named pipe whose peers come and go
//   mqtt://[USER@]HOST[:PORT]/TOPIC  mqtts://…    a broker
//   timer://PERIOD                                a clock, an input that is true once in a period
//
// followed by ?NAME=VALUE&NAME…; parts may contain %XX. No part holds a secret, because every
// user of the machine can read command lines.
//
// The name of a file may be followed by parameters, too. A name that contains a question mark is
// written with a further one at its end: a?b?
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace rml::rt {

enum class Direction { in, out };

struct Address {
  enum class Kind { tcp, tcp_listen, local, local_listen, fifo, mqtt, timer, file };
  Kind kind = Kind::tcp;
  std::string name;                    // the address as given, without parameters
  std::string host, port, path;        // `path` is that of a socket or pipe, or the topic
  std::string format;                  // format of the lines, csv or jsonl; empty: not given
  std::chrono::nanoseconds period{0};  // period of a timer
  std::optional<double> retry;         // time to try to connect, in seconds
  double linger = 10;                  // time at the end for a slow reader, in seconds
  bool reconnect = false;
  std::string topic_key;  // input that receives the level of the topic at the wildcard; empty: none
  int line = 16 << 20;    // maximum size of a line or message, in bytes
  bool present = false;   // output: only rows in which a sampled value is present
  bool append = false;    // output file: keep its rows
  // Time within which a row must come; 0: not given.
  std::chrono::nanoseconds timeout{0};
  std::string silent;  // input that is true in cycles in which no row came; empty: none

  bool tls = false;
  std::string user;
  // identifier of a session; empty: the broker chooses one, and there is no session
  std::string client;
  int qos = 1;
  bool retain = false;
  int version = 0;        // version of the MQTT protocol, 3 or 5; 0: not given
  int keepalive = 32767;  // seconds (nine hours); mosquitto 2.0.21 treats 65535 as no limit
  std::string password_file, password_env;
  std::string cafile, capath, cert, key;
  bool insecure = false;

  bool listens() const { return kind == Kind::tcp_listen || kind == Kind::local_listen; }
};

// True if the text has the form of an address: WORD://….
bool is_address(std::string_view text);
// Throws Failure with status 2; the message begins with `option` and the text.
Address parse_address(Direction direction, const std::string& option, const std::string& text);
// The same for the name of a file, or `-`, with parameters or without; the path is in `name`.
Address parse_file(Direction direction, const std::string& option, const std::string& text);

}  // namespace rml::rt

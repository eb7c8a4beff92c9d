// A table lists for each parameter the addresses at which it has an effect; elsewhere it is
// refused.
#include "runtime/stream_io/address.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "runtime/base/duration.h"
#include "runtime/base/failure.h"
#include "runtime/base/percent_code.h"
#include "runtime/stream_io/spelling.h"

namespace rml::rt {
namespace {

using Kind = Address::Kind;

struct Scheme {
  const char* name;
  Kind kind;
  bool tls;
};
constexpr Scheme schemes[] = {{"tcp", Kind::tcp, false},    {"tcp-listen", Kind::tcp_listen, false},
                              {"unix", Kind::local, false}, {"unix-listen", Kind::local_listen, false},
                              {"fifo", Kind::fifo, false},  {"mqtt", Kind::mqtt, false},
                              {"mqtts", Kind::mqtt, true},  {"timer", Kind::timer, false}};

std::size_t scheme_length(std::string_view text) {
  const std::size_t end = text.find("://");
  if (end == text.npos || end == 0) return 0;
  for (const char c : text.substr(0, end)) {
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '+')) return 0;
  }
  return end;
}

enum Where : unsigned { in_only = 1, out_only = 2, both = 3 };
enum Who : unsigned { clock = 0, sockets = 1, broker = 2, everyone = 3, tls_only = 4, files = 8, anywhere = 11 };

class Parser;

struct Parameter {
  const char* name;
  bool valued;
  unsigned where;
  unsigned who;
  void (*set)(Parser& parser, const std::string& value);
};

class Parser {
 public:
  Parser(Direction direction, const std::string& option, const std::string& text)
      : direction_(direction), option_(option), text_(text) {}

  Address parse();
  Address parse_file();

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Failure(option_ + " " + text_ + ": " + what, exit_usage);
  }
  std::string decoded(std::string_view part) const;
  void parse_host(std::string_view place);
  void parse_broker(std::string_view place);
  void parse_parameters(std::string_view list);
  void parse_parameter(std::string_view name, const std::optional<std::string>& value);
  [[noreturn]] void refuse_parameter(const Parameter& parameter) const;
  void parse_period(const std::string& text);
  std::chrono::nanoseconds duration(const std::string& what, const std::string& text) const;
  void check() const;
  // The addresses at which each parameter has an effect, and its effect.
  static const Parameter parameters[];
  template <std::string Address::* member>
  static void set_text(Parser& parser, const std::string& value) {
    parser.address_.*member = value;
  }
  template <bool Address::* member>
  static void set_flag(Parser& parser, const std::string&) {
    parser.address_.*member = true;
  }
  template <auto member, int least, int most>
  static void set_number(Parser& parser, const std::string& value) {
    parser.address_.*member = parser.number<int>(parser.word_, value, least, most);
  }
  template <auto member>
  static void set_seconds(Parser& parser, const std::string& value) {
    constexpr double year = 365.0 * 86400;
    parser.address_.*member = parser.number<double>(parser.word_, value, 0, year);
  }
  void set_format(const std::string& value);
  void set_version(const std::string& value);
  void set_timeout(const std::string& value) { address_.timeout = duration("the timeout", value); }

  template <class Number>
  Number number(std::string_view name, const std::string& value, Number least, Number most) const {
    Number result{};
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
    // The comparison is false for NaN, so NaN is refused as well.
    if (error != std::errc() || end != value.data() + value.size() || !(result >= least && result <= most)) {
      fail("'" + std::string(name) + "=" + value + "' is not a number from " + std::to_string(std::llround(least)) +
           " to " + std::to_string(std::llround(most)));
    }
    return result;
  }

  Direction direction_;
  const std::string& option_;
  const std::string& text_;
  std::string word_;  // name of the parameter that is being read
  Address address_;
};

const Parameter Parser::parameters[] = {
    {"format", true, both, everyone, [](Parser& parser, const std::string& value) { parser.set_format(value); }},
    {"retry", true, both, everyone, set_seconds<&Address::retry>},
    {"linger", true, out_only, everyone, set_seconds<&Address::linger>},
    {"reconnect", false, in_only, sockets, set_flag<&Address::reconnect>},
    {"line", true, in_only, everyone, set_number<&Address::line, 1024, 1 << 30>},
    {"qos", true, both, broker, set_number<&Address::qos, 0, 2>},
    {"retain", false, out_only, broker, set_flag<&Address::retain>},
    {"client", true, both, broker, set_text<&Address::client>},
    {"version", true, both, broker, [](Parser& parser, const std::string& value) { parser.set_version(value); }},
    {"keepalive", true, both, broker, set_number<&Address::keepalive, 5, 65535>},
    {"password_file", true, both, broker, set_text<&Address::password_file>},
    {"password_env", true, both, broker, set_text<&Address::password_env>},
    {"cafile", true, both, tls_only, set_text<&Address::cafile>},
    {"capath", true, both, tls_only, set_text<&Address::capath>},
    {"cert", true, both, tls_only, set_text<&Address::cert>},
    {"key", true, both, tls_only, set_text<&Address::key>},
    {"insecure", false, both, tls_only, set_flag<&Address::insecure>},
    {"present", false, out_only, anywhere, set_flag<&Address::present>},
    {"append", false, out_only, files, set_flag<&Address::append>},
    {"topic_key", true, in_only, broker, set_text<&Address::topic_key>},
    {"timeout", true, in_only, anywhere, [](Parser& parser, const std::string& value) { parser.set_timeout(value); }},
    {"silent", true, in_only, anywhere, set_text<&Address::silent>},
};

void Parser::set_format(const std::string& value) {
  if (value != "csv" && value != "jsonl") fail("'format' is csv or jsonl");
  address_.format = value;
}

void Parser::set_version(const std::string& value) {
  if (value != "3" && value != "5") fail("'version' is 3 (for 3.1.1) or 5");
  address_.version = value[0] - '0';
}

std::string Parser::decoded(std::string_view part) const {
  const PercentDecoded result = percent_decoded(part);
  if (!result.complaint.empty()) fail(result.complaint);
  return result.text;
}

// HOST:PORT or [IPV6]:PORT.
void Parser::parse_host(std::string_view place) {
  const bool bracketed = !place.empty() && place.front() == '[';
  const std::size_t host_end = bracketed ? place.find(']') : std::min(place.find(':'), place.size());
  if (host_end == place.npos) fail("']' is missing");
  address_.host = decoded(place.substr(bracketed ? 1 : 0, host_end - (bracketed ? 1 : 0)));
  const std::string_view rest = place.substr(host_end + (bracketed ? 1 : 0));
  if (!rest.empty() && rest.front() != ':') fail("expected ':' and a port after the host");
  if (rest.size() > 1) {
    address_.port = std::to_string(number<int>("port", std::string(rest.substr(1)), 1, 65535));
  } else if (address_.kind != Kind::mqtt) {
    fail("the port is missing: HOST:PORT");
  }
  if (address_.host.empty() && address_.kind != Kind::tcp_listen) fail("the host is missing");
}

void Parser::parse_broker(std::string_view place) {
  const std::size_t slash = place.find('/');
  std::string_view server = place.substr(0, slash);
  const std::size_t at = server.rfind('@');
  if (at != server.npos) {
    const std::string_view user = server.substr(0, at);
    if (user.find(':') != user.npos) {
      throw Failure(option_ + " " + address_.name.substr(0, address_.name.find("://")) +
                        "://…: every user of this machine can read a password on a command line; give "
                        "?password_file=FILE or ?password_env=VARIABLE",
                    exit_usage);
    }
    address_.user = decoded(user);
    server.remove_prefix(at + 1);
  }
  parse_host(server);
  if (address_.port.empty()) address_.port = address_.tls ? "8883" : "1883";
  if (slash == place.npos || slash + 1 == place.size()) fail("the topic is missing: HOST/TOPIC");
  address_.path = decoded(place.substr(slash + 1));
  if (direction_ == Direction::out && address_.path.find_first_of("+#") != std::string::npos) {
    fail("rows are written to one topic; '+' and '#' are allowed in inputs only");
  }
}

void Parser::parse_period(const std::string& text) {
  if (direction_ == Direction::out) fail("a timer is an input");
  address_.period = duration("the period", text);
}

std::chrono::nanoseconds Parser::duration(const std::string& what, const std::string& text) const {
  if (const std::string complaint = complaint_of_duration(text); !complaint.empty()) fail(what + " " + complaint);
  return *duration_of(text);
}

// The kinds of places to which a parameter must apply.
static unsigned place_of(Kind kind) {
  if (kind == Kind::mqtt) return broker;
  if (kind == Kind::file) return files;
  return kind == Kind::timer ? clock : sockets;
}

void Parser::parse_parameter(std::string_view name, const std::optional<std::string>& value) {
  const unsigned where = direction_ == Direction::in ? in_only : out_only;
  // With mqtts://, `key` is a file.
  if (name == "key" && address_.kind == Kind::mqtt && !address_.tls && direction_ == Direction::in) name = "topic_key";
  unsigned who = place_of(address_.kind);
  if (address_.tls) who |= tls_only;
  std::vector<std::string> known;
  for (const Parameter& p : parameters) {
    if ((p.where & where) && (p.who & who)) known.emplace_back(p.name);
  }
  word_ = name;
  const auto* parameter =
      std::find_if(std::begin(parameters), std::end(parameters), [&](const Parameter& p) { return name == p.name; });
  if (parameter == std::end(parameters)) {
    const bool file = address_.kind == Kind::file;
    fail("unknown parameter '" + word_ + "'" + did_you_mean(word_, known) +
         (file ? "; if the question mark belongs to the name of the file, write another one at its end" : ""));
  }
  if (std::find(known.begin(), known.end(), name) == known.end()) refuse_parameter(*parameter);
  if (parameter->valued && (!value || value->empty())) fail("'" + word_ + "' needs a value: " + word_ + "=…");
  if (!parameter->valued && value) fail("'" + word_ + "' takes no value");
  parameter->set(*this, value.value_or(""));
}

void Parser::refuse_parameter(const Parameter& parameter) const {
  std::string why;
  if (parameter.who == tls_only && address_.kind == Kind::mqtt) why = ": it needs mqtts://";
  if (parameter.who == files && address_.kind != Kind::file) why = ": it is for files";
  if (parameter.where == out_only && direction_ == Direction::in) why = ": it is for outputs";
  if (parameter.where == in_only && direction_ == Direction::out) why = ": it is for inputs";
  fail("'" + word_ + "' has no meaning here" + why);
}

void Parser::check() const {
  const bool password = !address_.password_file.empty() || !address_.password_env.empty();
  if (password && address_.user.empty()) fail("a password needs a user: USER@HOST");
  if (!address_.password_file.empty() && !address_.password_env.empty()) {
    fail("give password_file or password_env, not both");
  }
  if (address_.qos == 2 && address_.client.empty() && direction_ == Direction::out) {
    fail("'qos=2' needs 'client=ID': without a session the broker drops its messages when the connection ends");
  }
  if (address_.qos == 2 && address_.version == 5) fail("'qos=2' needs version=3");
  const auto wildcards = std::count(address_.path.begin(), address_.path.end(), '+') +
                         std::count(address_.path.begin(), address_.path.end(), '#');
  if (!address_.topic_key.empty() && wildcards != 1)
    fail("'topic_key' needs a topic with one wildcard, such as plant/+/x: the key is the level at its place");
  if (address_.cert.empty() != address_.key.empty()) fail("'cert' and 'key' must be given together");
}

void Parser::parse_parameters(std::string_view rest) {
  while (!rest.empty()) {
    const std::string_view item = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), item.size() + 1));
    const std::size_t equals = item.find('=');
    parse_parameter(item.substr(0, equals),
                    equals == item.npos ? std::nullopt : std::optional<std::string>(decoded(item.substr(equals + 1))));
  }
}

// True for NAME and NAME=VALUE, separated by &.
bool is_parameter_list(std::string_view text) {
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find('&'));
    const std::string_view name = item.substr(0, item.find('='));
    const bool word = std::all_of(name.begin(), name.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    });
    if (name.empty() || !word) return false;
    text.remove_prefix(std::min(text.size(), item.size() + 1));
  }
  return true;
}

Address Parser::parse_file() {
  address_.kind = Kind::file;
  address_.name = text_;
  const std::size_t question = text_.rfind('?');
  if (question == std::string::npos) return std::move(address_);
  const std::string_view list = std::string_view(text_).substr(question + 1);
  if (!is_parameter_list(list)) return std::move(address_);
  address_.name.resize(question);
  parse_parameters(list);
  return std::move(address_);
}

Address Parser::parse() {
  const std::size_t length = scheme_length(text_);
  const std::string word = text_.substr(0, length);
  const auto* scheme =
      std::find_if(std::begin(schemes), std::end(schemes), [&](const Scheme& s) { return word == s.name; });
  if (scheme == std::end(schemes)) {
    std::vector<std::string> known;
    for (const Scheme& s : schemes) known.emplace_back(s.name);
    fail("unknown kind of address '" + word + "'" + did_you_mean(word, known) +
         "; the kinds are tcp, tcp-listen, unix, unix-listen, fifo, mqtt, mqtts and timer");
  }
  address_.kind = scheme->kind;
  address_.tls = scheme->tls;
  const std::size_t question = text_.find('?');
  address_.name = text_.substr(0, question);
  const std::string_view place = std::string_view(address_.name).substr(length + 3);
  if (address_.kind == Kind::mqtt) {
    parse_broker(place);
  } else if (address_.kind == Kind::tcp || address_.kind == Kind::tcp_listen) {
    parse_host(place);
  } else if (address_.kind == Kind::timer) {
    parse_period(decoded(place));
  } else {
    address_.path = decoded(place);
    if (address_.path.empty()) fail("the path is missing");
  }
  parse_parameters(question == std::string::npos ? "" : std::string_view(text_).substr(question + 1));
  check();
  return std::move(address_);
}

}  // namespace

bool is_address(std::string_view text) { return scheme_length(text) > 0; }

Address parse_address(Direction direction, const std::string& option, const std::string& text) {
  return Parser(direction, option, text).parse();
}

Address parse_file(Direction direction, const std::string& option, const std::string& text) {
  return Parser(direction, option, text).parse_file();
}

}  // namespace rml::rt

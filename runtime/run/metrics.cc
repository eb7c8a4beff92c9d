// A client that sends half a request, or reads nothing, is dropped when its second is over.
#include "runtime/run/metrics.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <string_view>

#include "runtime/base/failure.h"
#include "runtime/stream_io/bytes/byte_stream.h"

namespace rml::rt {
namespace {

constexpr auto time_of_client = std::chrono::seconds(1);
constexpr std::size_t longest_request = 8192;

Address address_of(const std::string& argument) {
  const auto fail = [&](const std::string& what) { throw Failure("--metrics " + argument + ": " + what, exit_usage); };
  if (argument.find('?') != argument.npos) fail("the address takes no parameters");
  Address address =
      parse_address(Direction::in, "--metrics", is_address(argument) ? argument : "tcp-listen://" + argument);
  if (!address.listens()) fail("expected [HOST]:PORT or unix-listen://PATH");
  const std::string& host = address.host;
  const bool loopback = host.empty() || host == "localhost" || host == "::1" || host.rfind("127.", 0) == 0;
  if (!loopback)
    fail(
        "metrics are served to this machine only, because no client is asked who it is: leave out the host, and let a "
        "proxy with access control serve other machines");
  address.reconnect = true;
  address.retry = 0;
  return address;
}

std::string now_in_seconds() {
  char text[32];
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  std::snprintf(text, sizeof text, "%.3f", std::chrono::duration<double>(now).count());
  return text;
}

// A connection with a deadline.
class Client {
 public:
  Client(int fd, int stop) : fd_(fd), stop_(stop), end_(LiveFigures::Clock::now() + time_of_client) {}

  // The head of the request; empty if it does not come in time.
  std::string request() {
    std::string head;
    char part[1024];
    while (head.size() < longest_request && ready(POLLIN)) {
      const ssize_t count = ::recv(fd_, part, sizeof part, 0);
      if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      if (count <= 0) break;
      head.append(part, static_cast<std::size_t>(count));
      if (head.find("\r\n\r\n") != head.npos) return head;
    }
    return "";
  }
  void answer(std::string_view text) {
    while (!text.empty() && ready(POLLOUT)) {
      const ssize_t count = ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
      if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      if (count <= 0) return;
      text.remove_prefix(static_cast<std::size_t>(count));
    }
    ::shutdown(fd_, SHUT_WR);
  }

 private:
  bool ready(short events) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end_ - LiveFigures::Clock::now()).count();
    pollfd wanted[] = {{fd_, events, 0}, {stop_, POLLIN, 0}};
    return left > 0 && ::poll(wanted, 2, static_cast<int>(left)) > 0 && wanted[1].revents == 0;
  }

  const int fd_, stop_;
  const LiveFigures::Clock::time_point end_;
};

std::string response(const char* status, const char* type, const std::string& body) {
  return "HTTP/1.1 " + std::string(status) + "\r\nContent-Type: " + type +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" + body;
}

void add(std::string& text, const std::string& name, const char* type, const char* help, const std::string& value) {
  text += "# HELP " + name + " " + help + "\n# TYPE " + name + " " + type + "\n";
  text += name + (std::string_view(type) == "counter" ? "_total " : " ") + value + "\n";
}

}  // namespace

std::string open_metrics(const LiveFigures& figures, const std::string& started) {
  const std::int64_t read = figures.rows_read(), written = figures.rows_written();
  char idle[32];
  std::snprintf(idle, sizeof idle, "%.3f", std::chrono::duration<double>(figures.idle()).count());
  std::string text;
  add(text, "rml_rows_read", "counter", "Rows of the input, with those before a loaded state.", std::to_string(read));
  add(text, "rml_rows_written", "counter", "Rows whose outputs are known.", std::to_string(written));
  add(text, "rml_lag_rows", "gauge", "Rows that were read and whose outputs are not known yet.",
      std::to_string(std::max<std::int64_t>(read - written, 0)));
  add(text, "rml_idle_seconds", "gauge", "Time that the run has waited for the next row.", idle);
  if (figures.keys() >= 0)
    add(text, "rml_keys", "gauge", "Keys that the run has seen.", std::to_string(figures.keys()));
  if (figures.bad_rows() >= 0)
    add(text, "rml_bad_rows", "counter", "Rows that were not valid and were skipped.",
        std::to_string(figures.bad_rows()));
  if (figures.missed_ticks() >= 0)
    add(text, "rml_missed_ticks", "counter", "Ticks of timers for which the run was too slow.",
        std::to_string(figures.missed_ticks()));
  add(text, "rml_start_time_seconds", "gauge", "Time at which the run began, in seconds since 1970.", started);
  return text + "# EOF\n";
}

MetricsServer::MetricsServer(const std::string& argument)
    : clients_(peers_at(address_of(argument), Direction::in)), started_(now_in_seconds()) {}

void MetricsServer::serve(const LiveFigures& figures, int stop) {
  Descriptor connection;
  try {
    clients_->next(connection, [] {});
  } catch (const LostPeer&) {
    // The client has gone, or there is no descriptor for it. A pause keeps the second case from being tried without
    // end.
    pollfd wanted{stop, POLLIN, 0};
    ::poll(&wanted, 1, 200);
    return;
  }
  Client client(connection.get(), stop);
  const std::string request = client.request();
  if (request.empty()) return;
  const std::string_view line = std::string_view(request).substr(0, request.find("\r\n"));
  constexpr const char* plain = "text/plain; charset=utf-8";
  if (!line.starts_with("GET "))
    client.answer(response("405 Method Not Allowed", plain, "only GET is answered\n"));
  else if (!line.starts_with("GET /metrics ") && !line.starts_with("GET /metrics?"))
    client.answer(response("404 Not Found", plain, "the metrics are at /metrics\n"));
  else
    client.answer(response("200 OK", "application/openmetrics-text; version=1.0.0; charset=utf-8",
                           open_metrics(figures, started_)));
}

}  // namespace rml::rt

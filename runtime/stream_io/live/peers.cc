// An attempt yields a descriptor, or a reason for its failure. Attempts are repeated with growing
// pauses until the time is over. Errors that a further attempt cannot fix (unknown host, path too
// long, no permission) fail immediately.
#include "runtime/stream_io/live/peers.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "runtime/stream_io/bytes/byte_stream.h"

namespace rml::rt {

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

void Descriptor::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

namespace {

constexpr int handshake_ms = 50;  // time for the rest of a handshake in a local network

using Kind = Address::Kind;

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

// Finds the socket addresses of a host. Empty if the name service does not answer at the moment.
std::vector<SocketAddress> resolve(const Address& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  // Without HOST, the address listens to this machine only.
  const char* host = address.host.empty() ? "127.0.0.1" : address.host.c_str();
  const int error = getaddrinfo(host, address.port.c_str(), &hints, &found);
  if (error == EAI_AGAIN) return {};
  if (error != 0) throw LostPeer(address.name, "host '" + address.host + "': " + gai_strerror(error));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> guard(found, freeaddrinfo);
  std::vector<SocketAddress> result;
  for (const addrinfo* at = found; at; at = at->ai_next) {
    SocketAddress& one = result.emplace_back();
    std::memcpy(&one.storage, at->ai_addr, at->ai_addrlen);
    one.length = at->ai_addrlen;
  }
  return result;
}

SocketAddress local_address(const Address& address) {
  SocketAddress result;
  auto& local = reinterpret_cast<sockaddr_un&>(result.storage);
  if (address.path.size() >= sizeof local.sun_path) {
    throw LostPeer(address.name,
                   "the path of a socket has at most " + std::to_string(sizeof local.sun_path - 1) + " bytes");
  }
  local.sun_family = AF_UNIX;
  std::memcpy(local.sun_path, address.path.c_str(), address.path.size() + 1);
  result.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address.path.size() + 1);
  return result;
}

Descriptor new_socket(const SocketAddress& address) {
  return Descriptor(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

// Sends rows without delay, and detects a dead machine within two minutes even if nothing is
// sent.
void adjust(const Descriptor& socket, Kind kind) {
  if (kind != Kind::tcp && kind != Kind::tcp_listen) return;
  const auto set = [&](int level, int option, int value) {
    ::setsockopt(socket.get(), level, option, &value, sizeof value);
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 60);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 15);
  set(IPPROTO_TCP, TCP_KEEPCNT, 4);
}

class Attempts : public Peers {
 public:
  explicit Attempts(const Address& address) : address_(address) {}

  void next(Descriptor& connection, const Check& check) final {
    const Time::time_point begin = Time::now();
    const double patience = address_.retry.value_or(
        address_.kind == Kind::tcp || address_.kind == Kind::local ? 30.0 : std::numeric_limits<double>::infinity());
    BackOff back_off;
    longest_attempt_ = patience > 0 ? std::min(patience, 30.0) : 10.0;
    prepare(connection);
    while (!attempt(connection, check)) {
      check();
      if (seconds_since(begin) < patience) {
        pause(back_off, check);
        continue;
      }
      const std::string tried = patience > 0 ? " (tried for " + seconds_text(patience) + ")" : "";
      throw LostPeer(address_.name, problem_ + tried);
    }
  }

 protected:
  // Called before the first attempt; closes the connection of the last peer.
  virtual void prepare(Descriptor& connection) { connection.reset(); }
  virtual bool attempt(Descriptor& connection, const Check& check) = 0;
  virtual void pause(BackOff& back_off, const Check& check) { back_off.pause(check); }
  [[noreturn]] void fail(const std::string& what, int error) const {
    throw LostPeer(address_.name, what + ": " + std::strerror(error));
  }

  const Address address_;
  std::string problem_;  // the reason why the last attempt failed
  double longest_attempt_ = 30;
};

class Connecting final : public Attempts {
 public:
  using Attempts::Attempts;

 private:
  bool attempt(Descriptor& connection, const Check& check) override {
    const auto addresses =
        address_.kind == Kind::tcp ? resolve(address_) : std::vector<SocketAddress>{local_address(address_)};
    problem_ = "the name service does not answer";
    for (const SocketAddress& one : addresses) {
      Descriptor socket = new_socket(one);
      if (!socket) fail("cannot make a socket", errno);
      int error = ::connect(socket.get(), one.get(), one.length) == 0 ? 0 : errno;
      if (error == EINPROGRESS) error = finish_connecting(socket, check);
      if (error == 0) {
        adjust(socket, address_.kind);
        connection = std::move(socket);
        return true;
      }
      problem_ = std::string("cannot connect: ") + std::strerror(error);
      if (error == EACCES || error == EPERM || error == ENOTSOCK || error == EPROTOTYPE) {
        throw LostPeer(address_.name, problem_);
      }
    }
    return false;
  }

  int finish_connecting(const Descriptor& socket, const Check& check) const {
    const Time::time_point begin = Time::now();
    while (!ready(socket.get(), POLLOUT, tick_ms)) {
      check();
      if (seconds_since(begin) > longest_attempt_) return ETIMEDOUT;
    }
    int error = 0;
    socklen_t length = sizeof error;
    return ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno;
  }
};

// While it exists, no other program checks for a socket in this folder, or creates one. Waits at
// most a second for the lock.
class FolderLock {
 public:
  explicit FolderLock(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    const std::string folder = slash == path.npos ? "." : path.substr(0, slash + 1);
    folder_ = Descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    for (int k = 0; k < 50 && folder_ && ::flock(folder_.get(), LOCK_EX | LOCK_NB) != 0; ++k) ::poll(nullptr, 0, 20);
  }

 private:
  Descriptor folder_;
};

class Listening final : public Attempts {
 public:
  Listening(const Address& address, bool goes_on) : Attempts(address), goes_on_(goes_on) {
    problem_ = "no client connected";
    listen();
  }
  ~Listening() override { close(); }

  // Refuses new peers, then accepts all earlier ones, and only then closes the socket. Closing it
  // first would break connections that the system has already confirmed to peers, and lose the
  // bytes that these have sent.
  void stop() override {
    if (!listener_) return;
    refuse_others();
    do {
      while (Descriptor peer = accept()) waiting_.push_back(std::move(peer));
    } while (address_.kind != Kind::local_listen && ready(listener_.get(), POLLIN, handshake_ms));
    close();
  }
  int listener() const override { return listener_.get(); }
  bool any_waiting() const override { return !waiting_.empty(); }
  bool take_waiting(Descriptor& connection) override {
    if (waiting_.empty()) return false;
    connection = std::move(waiting_.front());
    waiting_.pop_front();
    return true;
  }

 private:
  void prepare(Descriptor& connection) override {
    connection.reset();
    if (!listener_ && waiting_.empty()) listen();
  }

  void pause(BackOff&, const Check&) override {}  // does nothing, because `attempt` has already waited

  bool attempt(Descriptor& connection, const Check&) override {
    if (take_waiting(connection)) return true;
    if (!ready(listener_.get(), POLLIN, address_.retry == 0.0 ? 0 : tick_ms)) return false;
    Descriptor peer = accept();
    if (!peer) {
      if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED || errno == EPROTO) return false;
      fail("cannot accept a connection", errno);
    }
    connection = std::move(peer);
    if (!goes_on_) stop();
    return true;
  }

  Descriptor accept() {
    Descriptor peer(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (peer) adjust(peer, address_.kind);
    return peer;
  }

  // Over TCP, a filter ignores the first packet of new handshakes, and closing the socket will
  // refuse them. A peer in the middle of a handshake may already see the connection as open, so
  // it is accepted.
  void refuse_others() {
    if (address_.kind == Kind::local_listen) {
      ::shutdown(listener_.get(), SHUT_RD);
      return;
    }
    sock_filter no_syn[] = {BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 13), BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x12),
                            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x02, 0, 1), BPF_STMT(BPF_RET | BPF_K, 0),
                            BPF_STMT(BPF_RET | BPF_K, UINT32_MAX)};
    const sock_fprog program{std::size(no_syn), no_syn};
    ::setsockopt(listener_.get(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
  }

  void listen() {
    const bool local = address_.kind == Kind::local_listen;
    const auto addresses = local ? std::vector<SocketAddress>{local_address(address_)} : resolve(address_);
    if (addresses.empty()) throw LostPeer(address_.name, "the name service does not answer");
    const SocketAddress& one = addresses.front();
    std::optional<FolderLock> lock;
    if (local) {
      lock.emplace(address_.path);
      remove_stale(one);
    }
    Descriptor socket = new_socket(one);
    const int on = 1;
    const bool done = socket && (local || ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0) &&
                      ::bind(socket.get(), one.get(), one.length) == 0;
    if (!done) fail("cannot listen", errno);
    if (local) made_file_ = ::lstat(address_.path.c_str(), &file_) == 0;
    if (::listen(socket.get(), SOMAXCONN) != 0) fail("cannot listen", errno);
    listener_ = std::move(socket);
  }

  // Removes the socket file of a program that was killed. The probe is a socket of another type,
  // so that a process that listens there does not see a new peer.
  void remove_stale(const SocketAddress& one) const {
    struct stat status{};
    if (::lstat(address_.path.c_str(), &status) != 0) return;
    if (!S_ISSOCK(status.st_mode)) throw LostPeer(address_.name, "a file that is not a socket has this name");
    const Descriptor probe(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (::connect(probe.get(), one.get(), one.length) != 0 && errno == ECONNREFUSED) {
      ::unlink(address_.path.c_str());
    } else {
      throw LostPeer(address_.name, "another program is listening there");
    }
  }

  void close() {
    listener_.reset();
    struct stat status{};
    // The file may belong to another program by now.
    const bool ours = made_file_ && ::lstat(address_.path.c_str(), &status) == 0 && status.st_dev == file_.st_dev &&
                      status.st_ino == file_.st_ino;
    if (ours) ::unlink(address_.path.c_str());
    made_file_ = false;
  }

  const bool goes_on_;
  Descriptor listener_;
  std::deque<Descriptor> waiting_;
  bool made_file_ = false;
  struct stat file_{};
};

class Pipe final : public Attempts {
 public:
  Pipe(const Address& address, Direction direction) : Attempts(address), direction_(direction) {}

 private:
  // A reader keeps the old descriptor until it has the new one, so that bytes that another writer
  // writes meanwhile are not lost.
  void prepare(Descriptor& connection) override {
    if (direction_ == Direction::out) connection.reset();
  }

  bool attempt(Descriptor& connection, const Check&) override {
    const int way = direction_ == Direction::in ? O_RDONLY : O_WRONLY;
    Descriptor pipe(::open(address_.path.c_str(), way | O_NONBLOCK | O_CLOEXEC));
    if (!pipe && errno == ENXIO) {
      problem_ = "no process reads the pipe";
      return false;
    }
    if (!pipe) fail("cannot open the pipe", errno);
    struct stat status{};
    if (::fstat(pipe.get(), &status) != 0 || !S_ISFIFO(status.st_mode)) {
      throw LostPeer(address_.name, "'" + address_.path + "' is not a named pipe");
    }
    connection = std::move(pipe);
    return true;
  }

  const Direction direction_;
};

}  // namespace

std::unique_ptr<Peers> peers_at(const Address& address, Direction direction) {
  if (address.kind == Kind::fifo) return std::make_unique<Pipe>(address, direction);
  if (address.listens()) return std::make_unique<Listening>(address, direction == Direction::in && address.reconnect);
  return std::make_unique<Connecting>(address);
}

}  // namespace rml::rt

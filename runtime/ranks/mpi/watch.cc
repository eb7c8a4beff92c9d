// A child has a connection to its rank, which is closed when the rank dies, and a socket to which
// other children send the number of a dead rank. Events are handled in the order in which they
// happened (epoll), so the first one is the cause; ranks that a launcher kills come later.
#include "runtime/ranks/mpi/watch.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include "runtime/ranks/transport.h"

namespace rml::rt {
namespace {

constexpr int to_notice_ms = 7000;

int descriptor(std::int64_t pid) { return static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0)); }

bool ended(int process) {
  pollfd one{process, POLLIN, 0};
  return process >= 0 && poll(&one, 1, 0) > 0;
}

std::string text(const Identity& process) {
  return "its process " + std::to_string(process.pid) + " on " + process.host + " was killed or has crashed";
}

// Transfers all bytes; returns false if it fails.
bool transfer(int socket, void* bytes, std::size_t size, ssize_t (*one)(int, void*, std::size_t)) {
  for (std::size_t done = 0; done < size;) {
    const ssize_t n = one(socket, static_cast<char*>(bytes) + done, size - done);
    if (n <= 0 && !(n < 0 && errno == EINTR)) return false;
    done += n > 0 ? static_cast<std::size_t>(n) : 0;
  }
  return true;
}

bool receive(int socket, void* bytes, std::size_t size) {
  return transfer(socket, bytes, size, [](int from, void* to, std::size_t n) { return read(from, to, n); });
}

bool tell(int socket, const void* bytes, std::size_t size) {
  return transfer(socket, const_cast<void*>(bytes), size,
                  [](int to, void* from, std::size_t n) { return ::send(to, from, n, MSG_NOSIGNAL); });
}

struct Watched {
  std::uint32_t rank = 0, ranks = 0;
  pid_t parent = 0;
};
constexpr char ready = 1, farewell = 2;

// The work of a child, once it knows the other ranks.
class Child {
 public:
  Child(int parent, const Watched& own, std::vector<Identity> all) : parent_(parent), own_(own), all_(std::move(all)) {
    while (!sees(first_)) ++first_;
  }
  // Watches until the rank of this child has ended.
  void run() {
    listen();
    if (!tell(parent_, &ready, 1)) return;
    const auto dead = first_dead();
    if (!dead) return;
    if (own_.rank == first_) {
      std::fprintf(stderr, "%s is gone: %s\n", rank_text(*dead).c_str(), text(all_[*dead]).c_str());
      for (std::uint32_t other = 0; other < all_.size(); ++other)
        if (other != own_.rank && other != *dead && sees(other)) send_to(other, *dead);
    } else if (*dead == own_.rank) {
      send_to(first_, *dead);
    }
    if (*dead != own_.rank) end_rank();
  }

 private:
  bool sees(std::uint32_t rank) const { return rank == own_.rank || all_[own_.rank].sees(all_[rank]); }

  // An abstract socket name that is unique to the process of a rank.
  sockaddr_un address(std::uint32_t rank, socklen_t& size) const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const Identity& its = all_[rank];
    const int n = std::snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "rml-rank-%llu-%lld",
                                static_cast<unsigned long long>(its.pids), static_cast<long long>(its.pid));
    size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<std::size_t>(n));
    return address;
  }

  void listen() {
    socklen_t size = 0;
    const sockaddr_un own = address(own_.rank, size);
    others_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (bind(others_, reinterpret_cast<const sockaddr*>(&own), size) != 0) others_ = -1;
  }

  void send_to(std::uint32_t rank, std::uint32_t dead) const {
    socklen_t size = 0;
    const sockaddr_un its = address(rank, size);
    sendto(others_, &dead, sizeof dead, MSG_DONTWAIT, reinterpret_cast<const sockaddr*>(&its), size);
  }

  // The first rank that died; none if its own rank has ended normally.
  std::optional<std::uint32_t> first_dead() const {
    const int events = epoll_create1(EPOLL_CLOEXEC);
    for (const int source : {parent_, others_}) {
      epoll_event event{};
      event.events = EPOLLIN;
      event.data.fd = source;
      if (source >= 0) epoll_ctl(events, EPOLL_CTL_ADD, source, &event);
    }
    epoll_event event{};
    for (;;) {
      const int count = epoll_wait(events, &event, 1, -1);
      if (count < 0 && errno != EINTR) return std::nullopt;
      if (count == 1) break;
    }
    std::uint32_t dead = own_.rank;
    char word = 0;
    if (event.data.fd == parent_) return receive(parent_, &word, 1) ? std::nullopt : std::optional(dead);
    const ssize_t size = recv(others_, &dead, sizeof dead, 0);
    return size == sizeof dead && dead < all_.size() ? std::optional(dead) : std::nullopt;
  }

  // Gives the rank time to notice by itself.
  void end_rank() const {
    pollfd closed{parent_, POLLIN, 0};
    if (poll(&closed, 1, to_notice_ms) != 0) return;
    std::fprintf(stderr, "%s was stopped in the middle of a cycle\n", rank_text(own_.rank).c_str());
    kill(own_.parent, SIGKILL);
  }

  const int parent_;
  const Watched own_;
  const std::vector<Identity> all_;
  std::uint32_t first_ = 0;  // first rank of the machine; its child prints the message
  int others_ = -1;
};

[[noreturn]] void watch(int socket) {
  setsid();
  prctl(PR_SET_NAME, "rank watch");
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(signal, SIG_IGN);
  // Standard streams are replaced, because the reader of the rank's output waits until all
  // writers have closed it. Other inherited descriptors stay open, so that a launcher that waits
  // for the end of a connection notices the death later than the child does.
  const int null = open("/dev/null", O_RDWR);
  dup2(null, STDIN_FILENO);
  dup2(null, STDOUT_FILENO);
  Watched watched;
  if (!receive(socket, &watched, sizeof watched)) _exit(0);
  std::vector<Identity> all(watched.ranks);
  if (!receive(socket, all.data(), all.size() * sizeof(Identity))) _exit(0);
  Child(socket, watched, std::move(all)).run();
  _exit(0);
}

}  // namespace

Identity Identity::own() {
  Identity own;
  own.pid = getpid();
  struct stat space{};
  if (stat("/proc/self/ns/pid", &space) == 0) own.pids = space.st_ino;
  if (std::FILE* const file = std::fopen("/proc/sys/kernel/random/boot_id", "r")) {
    if (std::fgets(own.boot, sizeof own.boot, file) == nullptr) own.boot[0] = '\0';
    std::fclose(file);
  }
  gethostname(own.host, sizeof own.host - 1);
  return own;
}

bool Identity::sees(const Identity& other) const {
  return pids != 0 && other.pids == pids && boot[0] != '\0' && std::strcmp(other.boot, boot) == 0;
}

// If no child can be started, deaths are only noticed by ranks that wait.
Watch::Watch() {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return;
  std::fflush(nullptr);
  child_ = fork();
  if (child_ == 0) {
    close(pair[0]);
    watch(pair[1]);
  }
  close(pair[1]);
  to_child_ = pair[0];
}

Watch::~Watch() {
  stop();
  for (const int process : processes_)
    if (process >= 0) close(process);
}

void Watch::begin(const std::vector<Identity>& identities, std::uint32_t rank) {
  identities_ = identities;
  processes_.assign(identities.size(), -1);
  for (std::uint32_t other = 0; other < identities.size(); ++other)
    if (other != rank && identities[rank].sees(identities[other]))
      processes_[other] = descriptor(identities[other].pid);
  const Watched watched{rank, static_cast<std::uint32_t>(identities.size()), getpid()};
  char answer = 0;
  if (child_ > 0 && tell(to_child_, &watched, sizeof watched) &&
      tell(to_child_, identities.data(), identities.size() * sizeof(Identity)) && receive(to_child_, &answer, 1))
    return;
  stop();
}

std::string Watch::gone(std::uint32_t rank) const { return ended(processes_[rank]) ? text(identities_[rank]) : ""; }

void Watch::stop() {
  if (to_child_ >= 0) {
    tell(to_child_, &farewell, 1);
    close(to_child_);
  }
  to_child_ = -1;
  if (child_ > 0)
    while (waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
    }
  child_ = -1;
}

}  // namespace rml::rt

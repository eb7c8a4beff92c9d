// Bytes that were handed to the system count as sent. Only the beginning of the current row is
// kept, to send it again to the next peer. At the end, the last peer must have taken everything.
// Over TCP the peer's system takes bytes before the peer does, and discards them if the peer
// closes its socket without reading them. Therefore the output closes its side and waits for the
// peer to close, which distinguishes the two cases.
#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime/base/signals.h"
#include "runtime/stream_io/live/lines.h"
#include "runtime/stream_io/live/peers.h"

namespace rml::rt {
namespace {

class LineOutput final : public ByteOutput {
 public:
  LineOutput(const Address& address, bool headed)
      : address_(address), headed_(headed), peers_(peers_at(address, Direction::out)), grace_(address.linger) {
    if (address_.kind == Address::Kind::tcp || address_.kind == Address::Kind::local) {
      peers_->next(connection_, check_interrupt);
      met_ = true;
    }
  }

  void write(std::string_view bytes) override {
    std::string held = std::exchange(held_, {});
    if (!held.empty()) held += bytes;
    waiting_ = held.empty() ? bytes : std::string_view(held);
    while (!waiting_.empty()) {
      if (!connection_ && early_ && met_) return hold();
      if (!connection_) meet();
      if (!connection_) return;
      std::string_view& part = again_.empty() ? waiting_ : again_;
      const ssize_t count = ::write(connection_.get(), part.data(), part.size());
      if (count >= 0) {
        const std::string_view taken = part.substr(0, static_cast<std::size_t>(count));
        part.remove_prefix(taken.size());
        if (&part == &waiting_) note(taken);
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        if (!ready(connection_.get(), POLLOUT, tick_ms)) check(handed_over());
      } else if (errno == EPIPE || errno == ECONNRESET || errno == ETIMEDOUT || errno == EHOSTUNREACH ||
                 errno == ENETDOWN || errno == ENETUNREACH || errno == ENETRESET) {
        lost(errno);
      } else if (errno != EINTR) {
        throw LostPeer(address_.name, std::string("cannot write: ") + std::strerror(errno) + handed_over());
      }
    }
  }

  void set_early(bool early) override {
    early_ = early;
    if (!early && !held_.empty()) write({});
  }

  void flush() override {}  // does nothing, because write has handed everything over

  void close() override {
    if (!connection_) return;
    try {
      if (address_.kind != Address::Kind::fifo) finish_socket();
    } catch (const LostPeer&) {
      if (!early_) throw;  // these bytes belong to an early row, which may be lost
    }
    connection_.reset();
  }

 private:
  // Connects to the next peer, which first gets the header and the beginning of the current row.
  void meet() {
    try {
      peers_->next(connection_, [this] { check(""); });
    } catch (const LostPeer& failure) {
      throw LostPeer(address_.name, failure.text() + handed_over());
    } catch (const Interrupted&) {
      waiting_ = {};
      return;
    }
    met_ = true;
    repeated_ = header_ + row_;
    again_ = repeated_;
  }

  void lost(int error) {
    connection_.reset();
    again_ = {};
    if (address_.retry == 0.0 && !early_) {
      throw LostPeer(address_.name,
                     std::string("the peer closed the connection: ") + std::strerror(error) + handed_over());
    }
  }

  // Keeps the bytes for later instead of waiting for a peer.
  void hold() {
    held_ = waiting_;
    waiting_ = {};
  }

  void note(std::string_view taken) {
    if (headed_ && !header_whole_) {
      const std::size_t end = taken.find('\n');
      header_ += taken.substr(0, end == taken.npos ? end : end + 1);
      header_whole_ = end != taken.npos;
      taken.remove_prefix(end == taken.npos ? taken.size() : end + 1);
    }
    rows_ += std::count(taken.begin(), taken.end(), '\n');
    const std::size_t last = taken.rfind('\n');
    if (last == taken.npos) {
      row_ += taken;
    } else {
      row_ = taken.substr(last + 1);
    }
  }

  // After a signal, a slow peer has the time of `linger`; a missing peer is not waited for.
  void check(const std::string& also) {
    if (interrupt_signal() == 0) return;
    if (connection_ && !grace_.over()) return;
    if (!connection_ && rows_ == 0 && row_.empty() && only_header()) throw Interrupted{};
    const std::string why =
        connection_ ? "interrupted, and the peer did not read everything within " + seconds_text(address_.linger)
                    : "interrupted while no client was connected";
    throw LostPeer(address_.name, why + also);
  }

  // True if only a header is pending, and no row.
  bool only_header() const { return headed_ && !header_whole_ && waiting_.find('\n') + 1 >= waiting_.size(); }

  std::string handed_over() const {
    return "; " + std::to_string(rows_) + (rows_ == 1 ? " row was" : " rows were") + " sent, the rest was not";
  }

  // Returns when the peer's system has taken everything. Throws if it reports an error or takes
  // nothing for too long.
  void finish_socket() {
    Time::time_point progress = Time::now();
    int before = -1;
    for (int pause = 1;; pause = std::min(2 * pause, 50)) {
      int left = 0;
      int error = 0;
      socklen_t length = sizeof error;
      if (::ioctl(connection_.get(), SIOCOUTQ, &left) != 0) left = 0;
      ::getsockopt(connection_.get(), SOL_SOCKET, SO_ERROR, &error, &length);
      if (error != 0) {
        throw LostPeer(address_.name, std::string("the peer closed the connection before it had read everything: ") +
                                          std::strerror(error) + handed_over());
      }
      if (left == 0) break;
      if (left != before) progress = Time::now();
      before = left;
      if (seconds_since(progress) >= address_.linger || grace_.over()) {
        throw LostPeer(address_.name, "the peer did not read the last " + std::to_string(left) + " bytes within " +
                                          seconds_text(address_.linger) + handed_over());
      }
      ::poll(nullptr, 0, pause);
    }
    ::shutdown(connection_.get(), SHUT_WR);
    if (address_.kind == Address::Kind::tcp || address_.kind == Address::Kind::tcp_listen) await_end();
  }

  // If the peer neither reads nor closes within the time, the bytes are assumed to have arrived.
  void await_end() {
    const Time::time_point begin = Time::now();
    while (seconds_since(begin) < address_.linger && !grace_.over()) {
      if (!ready(connection_.get(), POLLIN, std::min(tick_ms, static_cast<int>(1000 * address_.linger) + 1))) continue;
      char ignored[4096];
      const ssize_t count = ::read(connection_.get(), ignored, sizeof ignored);
      if (count == 0) return;
      if (count < 0 && errno != EAGAIN && errno != EINTR) {
        throw LostPeer(address_.name, std::string("the peer closed the connection before it had read everything: ") +
                                          std::strerror(errno) + handed_over());
      }
    }
  }

  const Address address_;
  const bool headed_;
  std::unique_ptr<Peers> peers_;
  Descriptor connection_;
  bool met_ = false;    // true after some peer was connected
  bool early_ = false;  // written bytes may be lost
  std::string held_;    // bytes of an early row, kept until a peer comes
  Grace grace_;
  std::string_view waiting_;  // bytes not handed over yet
  std::string repeated_;      // the bytes that a new peer gets first
  std::string_view again_;    // the part of repeated_ that is not handed over yet
  std::string header_;
  bool header_whole_ = false;
  std::string row_;  // beginning of the current row
  std::int64_t rows_ = 0;
};

}  // namespace

std::unique_ptr<ByteOutput> write_lines(const Address& address, bool headed) {
  return std::make_unique<LineOutput>(address, headed);
}

}  // namespace rml::rt

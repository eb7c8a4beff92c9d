// Bytes are held until their line is complete, so that an incomplete line is noticed before it is
// used.
//
// A signal ends the input, but rows that have arrived are still read. No new peer is accepted. Of
// the accepted peers, one that has closed its connection is read to the end, and the others as
// far as they have sent without a pause, for a limited time.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "runtime/base/signals.h"
#include "runtime/stream_io/csv_records.h"
#include "runtime/stream_io/live/lines.h"
#include "runtime/stream_io/live/peers.h"
#include "runtime/stream_io/missing_cells.h"
#include "runtime/stream_io/scalar_text.h"

namespace rml::rt {
namespace {

// After a signal, a peer that keeps sending is read for this many seconds.
constexpr double drain_seconds = 1;

// True if the text of the header could also be a row, as it could with ports `t` and `nan`: each
// field is a value or a word for a missing value.
bool may_be_row(std::string_view header) {
  std::string scratch;
  for (std::size_t begin = 0, end = 0; begin <= header.size(); begin = end + 1) {
    end = std::min(header.find_first_of(",;\t", begin), header.size());
    const std::string_view field = field_text(header.substr(begin, end - begin), scratch);
    double number = 0;
    std::uint8_t truth = 0;
    if (!field.empty() && parse_whole_scalar(RML_F64, field, &number) != Parsed::ok &&
        parse_whole_scalar(RML_BOOL, field, &truth) != Parsed::ok && !is_missing_word(field))
      return false;
  }
  return true;
}

class LineInput final : public ByteInput {
 public:
  LineInput(const Address& address, bool headed)
      : address_(address), headed_(headed), peers_(peers_at(address, Direction::in)), buffer_(std::size_t{64} << 10) {
    if (!address_.listens()) peers_->next(connection_, check_interrupt);
  }

  std::size_t read(char* to, std::size_t room, const Waiting& waiting) override {
    bool waited = false;
    while (begin_ == whole_) {
      if (ended_) return 0;
      if (!draining_ && interrupt_signal() != 0) begin_draining();
      if (draining_) {
        drain();
        continue;
      }
      try {
        advance(waiting, waited);
      } catch (const Interrupted&) {
        begin_draining();
      }
    }
    const std::size_t count = std::min(room, whole_ - begin_);
    std::memcpy(to, buffer_.data() + begin_, count);
    begin_ += count;
    return count;
  }

 private:
  void advance(const Waiting& waiting, bool& waited) {
    if (!connection_ || left_) {
      const Check check = [&] {
        check_interrupt();
        waiting.tick(waited);
      };
      waiting.tick(waited);
      if (left_ && !heard_) back_off_.pause(check);
      peers_->next(connection_, check);
      begin_peer();
    } else if (ready(connection_.get(), POLLIN, waited ? tick_ms : 0)) {
      fetch();
    } else {
      check_interrupt();
      waiting.tick(waited);
      // If a writer has come and left before the pipe was opened, only a read reports it.
      if (address_.kind == Address::Kind::fifo && heard_) fetch();
    }
  }

  void begin_peer() {
    left_ = heard_ = false;
    header_due_ = headed_ && !header_.empty();
  }

  void begin_draining() {
    peers_->stop();
    draining_ = Time::now();
  }

  void drain() {
    if (!connection_ || left_) {
      connection_.reset();
      if (!peers_->take_waiting(connection_)) throw Interrupted{};
      begin_peer();
      return;
    }
    const double rest = drain_seconds - seconds_since(*draining_);
    const bool ended = rest <= 0 && ready(connection_.get(), POLLRDHUP, 0);
    const int patience = std::clamp(static_cast<int>(1000 * rest), 0, tick_ms);
    if ((rest > 0 || ended) && ready(connection_.get(), POLLIN, patience)) {
      fetch();
    } else {
      gone(0);
    }
  }

  void fetch() {
    make_room();
    const ssize_t count = ::read(connection_.get(), buffer_.data() + end_, buffer_.size() - end_);
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return;
    if (count <= 0) return gone(count < 0 ? errno : 0);
    heard_ = true;
    back_off_ = BackOff();
    add(static_cast<std::size_t>(count));
  }

  // Adds bytes that were read to the end of the buffer.
  void add(std::size_t count) {
    if (discarding_) {
      char* const begin = buffer_.data() + end_;
      const auto* const stop = static_cast<const char*>(std::memchr(begin, '\n', count));
      if (stop == nullptr) return;
      count -= static_cast<std::size_t>(stop + 1 - begin);
      std::memmove(begin, stop + 1, count);
      discarding_ = false;
    }
    const void* last = ::memrchr(buffer_.data() + end_, '\n', count);
    end_ += count;
    if (!last) return;
    whole_ = static_cast<std::size_t>(static_cast<const char*>(last) - buffer_.data()) + 1;
    take_header();
  }

  void make_room() {
    if (begin_ > 0) {
      std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
      whole_ -= begin_;
      end_ -= begin_;
      begin_ = 0;
    }
    const auto most = static_cast<std::size_t>(address_.line);
    if (end_ >= most) {
      std::string beginning(buffer_.data(), std::min(end_, refused_bytes));
      end_ = whole_ = 0;
      discarding_ = true;
      throw RefusedRow(address_.name,
                       "a line of more than " + std::to_string(most) + " bytes (?line=BYTES raises the limit)",
                       std::move(beginning));
    }
    if (end_ == buffer_.size()) buffer_.resize(std::min(2 * buffer_.size(), std::max(most, buffer_.size() + 1)));
  }

  // The new bytes begin with a line, because all earlier lines were handed over. The header of
  // the first connection is passed on like other lines; later connections must have the same
  // header, which is removed.
  void take_header() {
    if (!headed_) return;
    const std::string_view line = line_at(begin_);
    if (header_.empty()) {
      header_ = without_return(line);
      tells_writers_ = address_.kind == Address::Kind::fifo && address_.reconnect && !may_be_row(header_);
      drop_headers(begin_ + line.size() + 1);
      return;
    }
    if (header_due_) {
      if (without_return(line) != header_) refuse_peer(std::string(without_return(line)));
      begin_ += line.size() + 1;
      header_due_ = false;
    }
    drop_headers(begin_);
  }

  // Its rows have other columns, so none of them is read.
  [[noreturn]] void refuse_peer(const std::string& header) {
    begin_ = whole_ = end_ = 0;
    left_ = true;
    throw RefusedRow(address_.name,
                     "the next peer begins with '" + header.substr(0, 200) + "', not with the header of the first, '" +
                         header_.substr(0, 200) + "'",
                     header.substr(0, refused_bytes));
  }

  // A pipe does not report that a writer has closed it if the next writer has already opened it,
  // so a header also marks the start of the next writer.
  void drop_headers(std::size_t begin) {
    if (!tells_writers_) return;
    std::size_t kept = begin;
    while (begin < whole_) {
      const std::string_view line = line_at(begin);
      const std::size_t length = line.size() + 1;
      if (without_return(line) != header_) {
        std::memmove(buffer_.data() + kept, line.data(), length);
        kept += length;
      }
      begin += length;
    }
    std::memmove(buffer_.data() + kept, buffer_.data() + whole_, end_ - whole_);
    end_ -= whole_ - kept;
    whole_ = kept;
  }

  // The line that begins here, without its '\n'.
  std::string_view line_at(std::size_t begin) const {
    const std::string_view rest(buffer_.data() + begin, whole_ - begin);
    return rest.substr(0, rest.find('\n'));
  }

  static std::string_view without_return(std::string_view line) {
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    return line;
  }

  void gone(int error) {
    const bool half = end_ > whole_;
    end_ = whole_;
    discarding_ = false;
    // A peer that was accepted before this one was served comes next, as with `reconnect`.
    if (address_.reconnect || draining_ || (error == 0 && !half && peers_->any_waiting())) {
      left_ = true;
      return;
    }
    connection_.reset();
    ended_ = true;
    if (error != 0)
      throw LostPeer(address_.name, std::string("the connection to the peer was lost: ") + std::strerror(error));
    if (half) throw LostPeer(address_.name, "the peer closed the connection in the middle of a row");
  }

  const Address address_;
  const bool headed_;
  std::unique_ptr<Peers> peers_;
  Descriptor connection_;
  bool left_ = false;   // the peer has closed the connection
  bool heard_ = false;  // the peer has sent something; otherwise the next attempt is delayed
  BackOff back_off_;
  bool ended_ = false;
  std::optional<Time::time_point> draining_;  // time of the signal that ends the run
  std::string header_;
  bool header_due_ = false;
  bool discarding_ = false;     // the rest of a line that is too long is not kept
  bool tells_writers_ = false;  // a line that equals the header starts a new writer
  std::vector<char> buffer_;
  // ends of the bytes handed over, of the whole lines, and of the bytes received
  std::size_t begin_ = 0, whole_ = 0, end_ = 0;
};

}  // namespace

std::unique_ptr<ByteInput> read_lines(const Address& address, bool headed) {
  return std::make_unique<LineInput>(address, headed);
}

}  // namespace rml::rt

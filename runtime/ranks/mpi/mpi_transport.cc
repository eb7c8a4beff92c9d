// The transport for MPI. It uses a few functions, all of them part of MPI 3.
//
// Sends do not wait (MPI_Isend); the bytes are kept until the send is complete. Receives check
// for a message (MPI_Improbe) before they take it, so that a waiting rank can do other checks
// meanwhile. The size of a message is an int, so larger messages are sent in pieces: a piece of
// full size is followed by another one.
#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <cstring>
#include <list>
#include <map>
#include <thread>
#include <utility>

#include "runtime/ranks/mpi/library.h"
#include "runtime/ranks/mpi/watch.h"

namespace rml::rt {
namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 22;

// MPICH 4.0 over UCX waits for ever in MPI_Finalize if a rank on another machine has answered its
// request before finalising itself (similar to openucx/ucx#2254). So all ranks meet first, and
// then none of them calls MPI for this time, within which lost packets are sent again.
#ifdef MPICH_VERSION
constexpr std::chrono::seconds before_finalising{1};
#else
constexpr std::chrono::seconds before_finalising{0};
#endif
constexpr std::chrono::seconds longest_meeting{60};

class Mpi final : public Transport {
 public:
  Mpi(std::unique_ptr<Watch> watch, MPI_Comm all, std::uint32_t rank, std::uint32_t ranks);
  ~Mpi() override;

 protected:
  void do_send(std::uint32_t to, Tag tag, Message message) override;
  std::optional<Message> do_receive(std::uint32_t from, Tag tag) override;
  void do_leave(const std::string& reason) override;
  Standing standing(std::uint32_t rank) override;
  void pause(unsigned round) override;

 private:
  struct Sending {
    Message message;
    std::vector<MPI_Request> pieces;
  };
  using Clock = std::chrono::steady_clock;

  int number(Tag tag) const;
  void check(int code, std::uint32_t other, const char* what) const;
  void send_on();
  void ask_others();
  bool meet_at_end();
  static std::vector<Identity> identities(MPI_Comm all, std::uint32_t ranks);

  const MPI_Comm all_;
  int most_tag_ = 32767;
  std::list<Sending> sending_;
  std::map<std::pair<std::uint32_t, int>, Message> coming_;  // pieces received so far
  std::vector<Standing> standing_;
  Clock::time_point asked_;
  bool far_ = false;  // true if some rank is on another machine
  const std::unique_ptr<Watch> watch_;
};

std::vector<Identity> Mpi::identities(MPI_Comm all, std::uint32_t ranks) {
  const Identity own = Identity::own();
  std::vector<Identity> of_all(ranks);
  if (MPI_Allgather(&own, sizeof own, MPI_BYTE, of_all.data(), sizeof own, MPI_BYTE, all) != MPI_SUCCESS)
    throw Failure("the ranks cannot reach each other by MPI");
  return of_all;
}

Mpi::Mpi(std::unique_ptr<Watch> watch, MPI_Comm all, std::uint32_t rank, std::uint32_t ranks)
    : Transport(rank, ranks), all_(all), standing_(ranks), watch_(std::move(watch)) {
  const std::vector<Identity> of_all = identities(all, ranks);
  watch_->begin(of_all, rank);
  far_ = !std::ranges::all_of(of_all, [&](const Identity& other) { return of_all[0].sees(other); });
  int* most = nullptr;
  int found = 0;
  MPI_Comm_get_attr(all_, MPI_TAG_UB, &most, &found);
  if (found != 0) most_tag_ = *most;
  // All processes must be alive until every rank has opened their descriptors.
  MPI_Barrier(all_);
}

// MPI_Finalize needs all ranks. If one is missing, it would wait for ever, so it is not called.
Mpi::~Mpi() {
  watch_->stop();
  for (std::uint32_t other = 0; other < ranks(); ++other)
    if (other != rank() && standing_[other].how != Standing::ended && standing_[other].how != Standing::failed) return;
  try {
    for (unsigned round = 0; !sending_.empty(); ++round) pause(round);
  } catch (const Failure&) {
    return;
  }
  if (far_ && before_finalising.count() > 0 && !meet_at_end()) return;
  MPI_Finalize();
}

// Waits for all ranks at the end. Returns false if a rank does not come.
bool Mpi::meet_at_end() {
  MPI_Request all_here = MPI_REQUEST_NULL;
  if (MPI_Ibarrier(all_, &all_here) != MPI_SUCCESS) return false;
  const Clock::time_point end = Clock::now() + longest_meeting;
  int met = 0;
  for (unsigned round = 0; met == 0; ++round) {
    if (MPI_Test(&all_here, &met, MPI_STATUS_IGNORE) != MPI_SUCCESS || Clock::now() > end) return false;
    pause(round);
  }
  std::this_thread::sleep_for(before_finalising);
  return true;
}

void Mpi::check(int code, std::uint32_t other, const char* what) const {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw LostRank(rank_text(other) + " cannot be reached: " + what +
                 " failed: " + std::string(text, static_cast<std::size_t>(length)));
}

int Mpi::number(Tag tag) const {
  const std::uint64_t number = std::uint64_t{tag.site} * talks + static_cast<std::uint64_t>(tag.talk);
  if (number > static_cast<std::uint64_t>(most_tag_))
    throw Failure("the program has more sums over ranks than this MPI has tags, " + std::to_string(most_tag_));
  return static_cast<int>(number);
}

void Mpi::do_send(std::uint32_t to, Tag tag, Message message) {
  Sending& sending = sending_.emplace_back();
  sending.message = std::move(message);
  for (std::size_t at = 0, size = piece_bytes; size == piece_bytes; at += size) {
    size = std::min(piece_bytes, sending.message.size() - at);
    sending.pieces.push_back(MPI_REQUEST_NULL);
    check(MPI_Isend(sending.message.data() + at, static_cast<int>(size), MPI_BYTE, static_cast<int>(to), number(tag),
                    all_, &sending.pieces.back()),
          to, "sending");
  }
  send_on();
}

// MPI only transfers large messages during calls.
void Mpi::send_on() {
  for (auto at = sending_.begin(); at != sending_.end();) {
    int done = 0;
    if (MPI_Testall(static_cast<int>(at->pieces.size()), at->pieces.data(), &done, MPI_STATUSES_IGNORE) != MPI_SUCCESS)
      throw LostRank("a rank cannot be reached: a message could not be delivered");
    at = done != 0 ? sending_.erase(at) : std::next(at);
  }
}

std::optional<Message> Mpi::do_receive(std::uint32_t from, Tag tag) {
  send_on();
  const int wanted = number(tag);
  for (;;) {
    int there = 0;
    MPI_Message handle = MPI_MESSAGE_NULL;
    MPI_Status status;
    check(MPI_Improbe(static_cast<int>(from), wanted, all_, &there, &handle, &status), from, "receiving");
    if (there == 0) return std::nullopt;
    int size = 0;
    MPI_Get_count(&status, MPI_BYTE, &size);
    Message& message = coming_[{from, wanted}];
    const std::size_t at = message.size();
    message.resize(at + static_cast<std::size_t>(size));
    check(MPI_Mrecv(message.data() + at, size, MPI_BYTE, &handle, &status), from, "receiving");
    if (static_cast<std::size_t>(size) == piece_bytes) continue;
    Message whole = std::move(message);
    coming_.erase({from, wanted});
    return whole;
  }
}

void Mpi::do_leave(const std::string& reason) {
  watch_->stop();
  const auto* const text = reinterpret_cast<const std::byte*>(reason.data());
  for (std::uint32_t other = 0; other < ranks(); ++other)
    if (other != rank() && standing_[other].how != Standing::gone)
      do_send(other, {Talk::leave, 0}, Message(text, text + reason.size()));
}

void Mpi::ask_others() {
  for (std::uint32_t other = 0; other < ranks(); ++other) {
    Standing& known = standing_[other];
    if (other == rank() || known.how != Standing::there) continue;
    if (const auto farewell = do_receive(other, {Talk::leave, 0})) {
      known.reason.assign(reinterpret_cast<const char*>(farewell->data()), farewell->size());
      known.how = farewell->empty() ? Standing::ended : Standing::failed;
    } else if (std::string gone = watch_->gone(other); !gone.empty()) {
      known = {Standing::gone, std::move(gone)};
    }
  }
}

// Checks at most every few milliseconds, because each check needs a system call per rank.
Transport::Standing Mpi::standing(std::uint32_t other) {
  const Clock::time_point now = Clock::now();
  if (now - asked_ > std::chrono::milliseconds(5)) {
    asked_ = now;
    ask_others();
  }
  return standing_[other];
}

// Short waits poll without delay, and let other ranks on the same processor run.
void Mpi::pause(unsigned round) {
  send_on();
  if (round < 100)
    sched_yield();
  else
    std::this_thread::sleep_for(std::chrono::microseconds(std::min(round, 1000u)));
}

std::unique_ptr<Transport> start() {
  auto watch = std::make_unique<Watch>();
  int level = 0, rank = 0, ranks = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS)
    throw Failure("MPI does not start");
  if (level < MPI_THREAD_FUNNELED) throw Failure("this MPI does not support programs with threads");
  // A communicator of its own keeps these messages apart from all others.
  MPI_Comm all;
  MPI_Comm_dup(MPI_COMM_WORLD, &all);
  MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
  MPI_Comm_rank(all, &rank);
  MPI_Comm_size(all, &ranks);
  return std::make_unique<Mpi>(std::move(watch), all, static_cast<std::uint32_t>(rank),
                               static_cast<std::uint32_t>(ranks));
}

}  // namespace
}  // namespace rml::rt

extern "C" const rml::rt::MpiLibrary rml_mpi_library = {RML_MPI_NAME, rml::rt::start};

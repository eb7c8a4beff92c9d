// A rank as the program that it runs sees it: what stands behind rml_ranks.
//
// Generated code has no way to stop in the middle of a cycle because another rank is lost. So the first failure is kept
// here, every call from then on leaves zeros at once, and the host asks after each cycle.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <map>
#include <optional>
#include <vector>

#include "runtime/base/rmlrt.h"
#include "runtime/ranks/transport.h"
#include "runtime/ranks/tree.h"

namespace rml::rt {

// Where the cycle that runs stands in the input of all ranks.
struct Position {
  std::int64_t row = 0;
  std::uint64_t micro_batch = 0;  // from 0
  std::uint32_t in_step = 0;      // how many its step has
};

class Ranks {
 public:
  explicit Ranks(Transport& transport) : transport_(transport) {}
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  rml_ranks* handle() { return reinterpret_cast<rml_ranks*>(this); }
  Transport& transport() { return transport_; }
  // From the next cycle on; without it every rank counts its own.
  void set_position(const Position& position) { position_ = position; }
  // The program as it runs among ranks: a cycle in which a call has failed returns a fault, though there is none in the
  // state.
  rml_program among_ranks(const rml_program& program);
  // Throws what a call within the program has failed with.
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

  // Whether it has summed up with others: these are as far as it is.
  bool has_summed() const { return !sums_.empty(); }
  // Whether this was that another rank is lost.
  bool lost() const { return lost_; }
  // A sum of one step, from when this rank had a part of it to when it had the total.
  struct Span {
    std::uint32_t site;
    std::uint64_t bytes;  // of a value
    std::chrono::steady_clock::time_point begin, end;
  };
  // From now on sums are noted; of a long run the first million.
  void note_sums() { notes_ = true; }
  const std::vector<Span>& spans() const { return spans_; }
  // A rank was interrupted: all stop when they have come to the end of this step; without sums each by itself.
  bool stops() const;

  // As in rmlrt.h; these do not throw.
  std::uint64_t micro_batch(std::uint64_t own) const { return position_ ? position_->micro_batch : own; }
  std::int64_t row(std::int64_t cycle) const { return position_ ? position_->row : cycle; }
  bool last_here(std::uint32_t per_step, std::uint64_t micro_batch) const;
  bool step_ends(std::uint32_t per_step, std::uint64_t micro_batch) const;
  void step_sum(std::uint32_t site, std::uint8_t dtype, std::uint64_t count, const void* in, std::uint32_t per_step,
                std::uint64_t micro_batch, void* out) noexcept;
  void all_sum(std::uint32_t site, std::uint8_t dtype, std::uint64_t count, const void* in, std::uint32_t per_step,
               std::uint64_t micro_batch, bool last_here, void* out) noexcept;
  void broadcast(std::uint32_t site, std::uint8_t dtype, std::uint64_t count, void* value, std::uint32_t from) noexcept;

 private:
  static std::int32_t push(void* state, const void* const* in, const std::uint8_t* present);
  static std::int32_t finish(void* state);
  std::int32_t fault_or(std::int32_t fault) const;

  struct Sum {
    TreeSum tree;
    std::uint64_t step = UINT64_MAX;  // that is summed up
    std::chrono::steady_clock::time_point begun;
  };
  void fail() noexcept;  // with the exception that is being handled
  std::uint32_t present(std::uint32_t per_step) const;
  void sum_up(std::uint32_t site, std::uint8_t dtype, std::uint64_t count, const void* in, const TreeShape& shape,
              std::uint64_t micro_batch, bool last_here, void* out) noexcept;
  bool is_whole(std::uint32_t per_step, std::uint64_t micro_batch) const;
  Sum& sum(std::uint32_t site, std::uint8_t dtype, std::uint64_t count);
  void send_all(std::uint32_t site, void* value, std::uint64_t bytes, std::uint32_t from);

  Transport& transport_;
  const rml_program* program_ = nullptr;
  std::optional<Position> position_;
  std::map<std::uint32_t, Sum> sums_;
  std::exception_ptr failure_;
  bool stops_ = false, lost_ = false, notes_ = false;
  std::vector<Span> spans_;
};

}  // namespace rml::rt

// Implements rml_ranks: the ranks from the view of the program that runs on one of them.
//
// Generated code cannot stop in the middle of a cycle when another rank is lost. Therefore the
// first failure is stored here, every later call writes zeros immediately, and the host checks
// for a failure after each cycle.
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

// Position of the current cycle in the input of all ranks.
struct Position {
  std::int64_t row = 0;
  std::uint64_t micro_batch = 0;  // number of the current micro-batch, from 0
  std::uint32_t in_step = 0;      // number of micro-batches in the current step
};

class Ranks {
 public:
  explicit Ranks(Transport& transport) : transport_(transport) {}
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  rml_ranks* handle() { return reinterpret_cast<rml_ranks*>(this); }
  Transport& transport() { return transport_; }
  // Sets the position from the next cycle on. Without it, every rank counts its own rows.
  void set_position(const Position& position) { position_ = position; }
  // The program for a run on ranks: a cycle in which a call has failed returns a fault, although
  // the state has none.
  rml_program among_ranks(const rml_program& program);
  // The program that was given to among_ranks.
  const rml_program& program() const { return *program_; }
  // Throws the failure of a call within the program, if there was one.
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

  // True if this rank has computed a sum with other ranks, which have therefore progressed equally far.
  bool has_summed() const { return !sums_.empty(); }
  // True if the failure is the loss of another rank.
  bool lost() const { return lost_; }
  // A sum of one step, from the first part of this rank to the total.
  struct Span {
    std::uint32_t site;
    std::uint64_t bytes;  // size of a value in bytes
    std::chrono::steady_clock::time_point begin, end;
  };
  // Records later sums, up to the first million.
  void note_sums() { notes_ = true; }
  const std::vector<Span>& spans() const { return spans_; }
  // True if a rank was interrupted. All ranks then stop at the end of this step; without sums,
  // each stops on its own.
  bool stops() const;

  // The functions of rmlrt.h for programs on ranks. They do not throw.
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
    std::uint64_t step = UINT64_MAX;  // number of the current step
    std::chrono::steady_clock::time_point begun;
  };
  void fail() noexcept;  // stores the exception that is being handled
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

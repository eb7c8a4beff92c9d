// Exceptions are caught in each call, because they must not pass through generated code.
#include "runtime/ranks/ranks.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "runtime/base/signals.h"
#include "runtime/stream_io/row.h"

namespace rml::rt {
namespace {

constexpr std::size_t most_spans = 1'000'000;

// For programs whose host gives them no ranks: each thread is a single rank.
Ranks& alone() {
  thread_local Alone transport;
  thread_local Ranks ranks(transport);
  return ranks;
}

Ranks& of(rml_ranks* ranks) { return ranks == nullptr ? alone() : *reinterpret_cast<Ranks*>(ranks); }

}  // namespace

std::uint32_t Ranks::present(std::uint32_t per_step) const {
  return position_ ? std::min(position_->in_step, per_step) : per_step;
}

std::int32_t Ranks::fault_or(std::int32_t fault) const {
  constexpr std::int32_t lost_rank = -1;
  return failure_ && fault == RML_OK ? lost_rank : fault;
}

std::int32_t Ranks::push(void* state, const void* const* in, const std::uint8_t* present) {
  const Ranks& ranks = of(static_cast<const rml_header*>(state)->ranks);
  return ranks.fault_or(ranks.program_->push(state, in, present));
}

std::int32_t Ranks::finish(void* state) {
  const Ranks& ranks = of(static_cast<const rml_header*>(state)->ranks);
  return ranks.fault_or(ranks.program_->finish(state));
}

rml_program Ranks::among_ranks(const rml_program& program) {
  program_ = &program;
  rml_program own = program;
  own.push = push;
  own.finish = finish;
  own.run = nullptr;
  return own;
}

bool Ranks::stops() const { return stops_ || (!has_summed() && interrupt_signal() != 0); }

void Ranks::fail() noexcept {
  if (failure_) return;
  failure_ = std::current_exception();
  try {
    throw;
  } catch (const LostRank&) {
    lost_ = true;
  } catch (...) {
  }
}

bool Ranks::last_here(std::uint32_t per_step, std::uint64_t micro_batch) const {
  const std::uint64_t slot = per_step == 0 ? 0 : micro_batch % per_step;
  return slot + transport_.ranks() >= present(per_step);
}

// Only the last step of the input may be incomplete.
bool Ranks::is_whole(std::uint32_t per_step, std::uint64_t micro_batch) const {
  return !position_ || position_->in_step == per_step || micro_batch / per_step < position_->micro_batch / per_step;
}

bool Ranks::step_ends(std::uint32_t per_step, std::uint64_t micro_batch) const {
  return per_step > 0 && is_whole(per_step, micro_batch) && micro_batch % per_step + transport_.ranks() >= per_step;
}

Ranks::Sum& Ranks::sum(std::uint32_t site, std::uint8_t dtype, std::uint64_t count) {
  const auto found = sums_.find(site);
  if (found != sums_.end() && found->second.tree.dtype() == dtype && found->second.tree.count() == count)
    return found->second;
  if (!can_be_summed(dtype)) throw Failure("values that cannot be added are summed over ranks");
  if (found != sums_.end()) sums_.erase(found);
  return sums_.emplace(site, Sum{TreeSum(transport_, site, dtype, count), UINT64_MAX, {}}).first->second;
}

void Ranks::all_sum(std::uint32_t site, std::uint8_t dtype, std::uint64_t count, const void* in, std::uint32_t per_step,
                    std::uint64_t micro_batch, bool last_here, void* out) noexcept {
  sum_up(site, dtype, count, in, {per_step, present(per_step), transport_.ranks()}, micro_batch, last_here, out);
}

void Ranks::sum_up(std::uint32_t site, std::uint8_t dtype, std::uint64_t count, const void* in, const TreeShape& shape,
                   std::uint64_t micro_batch, bool last_here, void* out) noexcept {
  const std::uint64_t bytes = count * dtype_bytes(dtype);
  const std::uint32_t per_step = shape.slots, here = shape.present;
  try {
    rethrow();
    if (per_step == 0)
      throw Failure("a value is summed over the micro-batches of a step, but the program has no steps");
    const auto slot = static_cast<std::uint32_t>(micro_batch % per_step);
    if (slot >= here || slot % transport_.ranks() != transport_.rank())
      throw Failure("micro-batch " + std::to_string(micro_batch) + " of " + std::to_string(here) +
                    " in its step does not belong to " + rank_text(transport_.rank()));
    Sum& sum = this->sum(site, dtype, count);
    // A step begins with the first slot of this rank; an incomplete earlier step is dropped.
    const std::uint64_t step = micro_batch / per_step;
    if (sum.step != step || slot == transport_.rank()) {
      sum.tree.begin(shape);
      if (notes_) sum.begun = std::chrono::steady_clock::now();
    }
    sum.step = step;
    sum.tree.add(slot, in);
    if (!last_here) return;
    sum.tree.wait(out);
    if (notes_ && spans_.size() < most_spans)
      spans_.push_back({site, bytes, sum.begun, std::chrono::steady_clock::now()});
    stops_ = stops_ || sum.tree.stops();
  } catch (...) {
    fail();
    if (last_here && bytes > 0) std::memset(out, 0, bytes);
  }
}

void Ranks::step_sum(std::uint32_t site, std::uint8_t dtype, std::uint64_t count, const void* in,
                     std::uint32_t per_step, std::uint64_t micro_batch, void* out) noexcept {
  const bool ends = step_ends(per_step, micro_batch);
  if (!ends && count > 0) std::memset(out, 0, count * dtype_bytes(dtype));
  if (is_whole(per_step, micro_batch))
    sum_up(site, dtype, count, in, {per_step, per_step, transport_.ranks()}, micro_batch, ends, out);
}

void Ranks::send_all(std::uint32_t site, void* value, std::uint64_t bytes, std::uint32_t from) {
  const std::uint32_t participants = position_ ? std::min(position_->in_step, transport_.ranks()) : transport_.ranks();
  if (from >= participants)
    throw Failure("broadcast from " + rank_text(from) + ": only " + std::to_string(participants) +
                  (participants == 1 ? " rank takes" : " ranks take") + " part in this step");
  const Spread spread(transport_.rank(), participants, from);
  const Tag tag{Talk::broadcast, site};
  Message message;
  if (transport_.rank() == from) {
    message.assign(static_cast<const std::byte*>(value), static_cast<const std::byte*>(value) + bytes);
  } else {
    message = transport_.receive(spread.parent(), tag, "a value");
    if (message.size() != bytes)
      throw LostRank(rank_text(spread.parent()) + " has sent " + std::to_string(message.size()) +
                     " bytes of a value, but " + std::to_string(bytes) +
                     " were expected: it does not run the same program");
    if (bytes > 0) std::memcpy(value, message.data(), bytes);
  }
  for (const std::uint32_t child : spread.children()) transport_.send(child, tag, message);
}

void Ranks::broadcast(std::uint32_t site, std::uint8_t dtype, std::uint64_t count, void* value,
                      std::uint32_t from) noexcept {
  const std::uint64_t bytes = count * dtype_bytes(dtype);
  try {
    rethrow();
    send_all(site, value, bytes, from);
  } catch (...) {
    fail();
    if (bytes > 0) std::memset(value, 0, bytes);
  }
}

}  // namespace rml::rt

extern "C" {

std::uint32_t rml_rank(rml_ranks* ranks) { return rml::rt::of(ranks).transport().rank(); }
std::uint32_t rml_rank_count(rml_ranks* ranks) { return rml::rt::of(ranks).transport().ranks(); }
std::uint64_t rml_micro_batch(rml_ranks* ranks, std::uint64_t own) { return rml::rt::of(ranks).micro_batch(own); }
std::int64_t rml_global_row(rml_ranks* ranks, std::int64_t cycle) { return rml::rt::of(ranks).row(cycle); }

std::uint8_t rml_last_here(rml_ranks* ranks, std::uint32_t per_step, std::uint64_t micro_batch) {
  return rml::rt::of(ranks).last_here(per_step, micro_batch) ? 1 : 0;
}

void rml_all_sum(rml_ranks* ranks, std::uint32_t site, std::uint8_t dtype, std::uint64_t count, const void* in,
                 std::uint32_t per_step, std::uint64_t micro_batch, std::uint8_t last_here, void* out) {
  rml::rt::of(ranks).all_sum(site, dtype, count, in, per_step, micro_batch, last_here != 0, out);
}

std::uint8_t rml_step_ends(rml_ranks* ranks, std::uint32_t per_step, std::uint64_t micro_batch) {
  return rml::rt::of(ranks).step_ends(per_step, micro_batch) ? 1 : 0;
}

void rml_step_sum(rml_ranks* ranks, std::uint32_t site, std::uint8_t dtype, std::uint64_t count, const void* in,
                  std::uint32_t per_step, std::uint64_t micro_batch, void* out) {
  rml::rt::of(ranks).step_sum(site, dtype, count, in, per_step, micro_batch, out);
}

void rml_from_first(rml_ranks* ranks, std::uint32_t site, std::uint8_t dtype, std::uint64_t count, const void* in,
                    void* out) {
  const std::uint64_t bytes = count * rml::rt::dtype_bytes(dtype);
  if (bytes > 0) std::memmove(out, in, bytes);
  rml::rt::of(ranks).broadcast(site, dtype, count, out, 0);
}

void rml_broadcast(rml_ranks* ranks, std::uint32_t site, std::uint8_t dtype, std::uint64_t count, void* value,
                   std::uint32_t from) {
  rml::rt::of(ranks).broadcast(site, dtype, count, value, from);
}
}

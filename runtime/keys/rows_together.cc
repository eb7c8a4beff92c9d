// Finds repeated keys by a small table of marks. Records of later groups are prefetched while one
// group is computed.
#include "runtime/keys/rows_together.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace rml::rt {
namespace {

constexpr std::uint32_t groups_ahead = 2;  // distance at which records are prefetched, in groups

void count_cycle(void* cells) {
  char* const at = static_cast<char*>(cells) + RML_CYCLE_BEFORE_CELLS;
  std::int64_t cycle = 0;
  std::memcpy(&cycle, at, sizeof cycle);
  ++cycle;
  std::memcpy(at, &cycle, sizeof cycle);
}

}  // namespace

RowsTogether::RowsTogether(const rml_program& program, KeyStates& states, const Row& out)
    : program_(program), states_(states), lanes_(program.lanes), shape_(out), nowhere_(shape_), unwritten_(out.size()) {
  nowhere_.point_at_room(unwritten_);
}

std::uint32_t RowsTogether::independent(const std::uint32_t* keys, std::uint32_t rows) {
  constexpr std::uint32_t golden = 0x9e3779b9, size = 4 * Batch::most_rows;
  if (++call_ == 0) marks_ = {}, call_ = 1;
  for (std::uint32_t row = 0; row < rows; ++row) {
    const std::uint32_t key = keys[row];
    std::uint32_t at = key * golden >> (32 - std::countr_zero(size));
    while (marks_[at].call == call_ && marks_[at].key != key) at = (at + 1) % size;
    if (marks_[at].call == call_ || !states_.has_begun(key)) return row;
    marks_[at] = {key, call_};
  }
  return rows;
}

std::uint32_t RowsTogether::compute(const std::uint32_t* keys, std::uint32_t rows, const PortArrays& from,
                                    PortArrays& to) {
  rows = independent(keys, std::min({rows, Batch::most_rows, nowhere_.room()}));
  if (rows < lanes_) return 0;
  states_.leave();
  for (std::uint32_t row = 0; row < rows; ++row) {
    cells_[row] = states_.cells(keys[row]);
    if (row < groups_ahead * lanes_) states_.expect(keys[row]);
  }
  for (std::size_t port = 0; port < to.values.size(); ++port) {
    if (to.values[port] != nullptr) continue;
    to.values[port] = unwritten_.values[port];
    to.flags[port] = unwritten_.flags[port];
  }
  std::uint32_t done = 0;
  for (; done + lanes_ <= rows; done += lanes_) {
    for (std::uint32_t lane = 0; lane < lanes_; ++lane)
      if (const std::uint32_t ahead = done + groups_ahead * lanes_ + lane; ahead < rows) states_.expect(keys[ahead]);
    if (program_.together(done, cells_.data(), from.values.data(), from.flags.data(), to.values.data() + 1,
                          to.flags.data() + 1) != 0)
      break;
    for (std::uint32_t lane = 0; lane < lanes_; ++lane) count_cycle(cells_[done + lane]);
  }
  return done;
}

}  // namespace rml::rt

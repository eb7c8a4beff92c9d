// See anchor.h.
#include "runtime/checkpoint/anchor.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <string>

#include "runtime/checkpoint/state_parts.h"

namespace rml::rt {

namespace {

constexpr std::uint64_t least_room = 4096, least_room_of_network = std::uint64_t{1} << 16;
constexpr std::uint64_t most_room = std::uint64_t{64} << 20;
constexpr std::int64_t most_patience = 4096, patience_of_network = 251;
constexpr int most_looks_at_network = 64;

const rml_header& header_of(const void* state) { return *static_cast<const rml_header*>(state); }

// Elements on the clock of the unit, one for each of its instants.
std::uint32_t pacing_queue(const rml_flow& flow, std::uint32_t u) {
  const rml_unit& unit = flow.units[u];
  for (std::uint32_t k = 0; k < unit.n_takes; ++k) {
    const rml_take& t = flow.takes[unit.first_take + k];
    if (t.kind == RML_TAKE_EACH && t.clock == unit.clock && flow.puts[t.queue].clock == unit.clock) return t.queue;
  }
  return UINT32_MAX;
}

}  // namespace

Anchor::Anchor(const rml_program& program)
    : program_(program), repeated_(program.n_origins), inputs_(program.n_inputs) {
  std::set<std::string> names;
  const std::uint32_t units = program.flow == nullptr ? 0 : program.flow->n_units;
  concerned_.resize(units);
  for (std::uint32_t o = 0; o < program.n_origins; ++o) {
    const rml_origin& origin = program.origins[o];
    places_.push_back(bytes_);
    bytes_ += value_bytes(program.memories[origin.memory]);
    repeated_[o] = origin.then != nullptr || !names.insert(origin.name).second;
    if (origin.unit < units && origin.then == nullptr) concerned_[origin.unit] = true;
  }
  for (std::uint32_t u = 0; u < units; ++u) {
    paced_by_.push_back(pacing_queue(*program.flow, u));
    if (program.flow->units[u].asserts != 0) concerned_[u] = true;
  }
  enough_ = bytes_ + (program.network != nullptr ? least_room_of_network : least_room);
  too_much_ = most_room + 8 * enough_;
}

const char* Anchor::memory(std::uint32_t origin) const {
  if (current_->begun[origin] == 0) return nullptr;
  return current_->elements.data() + places_[origin];
}

// ---- inputs ----

void Anchor::add(const void* const* in, const std::uint8_t* present) {
  const std::int64_t cycle = next_++;
  if (!recording() || (!current_ && !candidate_)) return;
  for (std::uint32_t i = 0; i < program_.n_inputs; ++i) {
    const rml_port& port = program_.inputs[i];
    if (port.always == 0 && present[i] == 0) continue;
    const std::uint64_t bytes = port.elements * dtype_bytes(port.dtype);
    const char* const from = static_cast<const char*>(in[i]);
    inputs_[i].elements.insert(inputs_[i].elements.end(), from, from + bytes);
    inputs_[i].cycles.push_back(cycle);
    held_ += bytes + sizeof cycle;
  }
  ++held_;  // of a program without inputs as well
  if (held_ > too_much_) drop();
}

void Anchor::forget_before(std::int64_t cycle) {
  held_ = static_cast<std::uint64_t>(next_ - cycle);
  for (std::uint32_t i = 0; i < program_.n_inputs; ++i) {
    Stream& s = inputs_[i];
    const auto first = std::lower_bound(s.cycles.begin(), s.cycles.end(), cycle);
    const std::uint64_t bytes = program_.inputs[i].elements * dtype_bytes(program_.inputs[i].dtype);
    const auto older = static_cast<std::size_t>(first - s.cycles.begin());
    s.elements.erase(s.elements.begin(), s.elements.begin() + static_cast<std::ptrdiff_t>(older * bytes));
    s.cycles.erase(s.cycles.begin(), first);
    held_ += s.elements.size() + s.cycles.size() * sizeof cycle;
  }
}

// ---- memories ----

void Anchor::take(Snapshot& into, const void* state, std::uint32_t origin) const {
  const rml_memory& m = program_.memories[program_.origins[origin].memory];
  const char* from = &part_at<char>(state, m);
  if (m.kind == RML_WINDOW) from = window_at(state, m);
  if (m.kind == RML_QUEUE) {
    const RingBuffer& ring = part_at<RingBuffer>(state, m);
    const auto last = static_cast<std::uint64_t>(count_of(program_, state, m, 0) - 1);
    from = ring.data + (last & (ring.capacity - 1)) * element_bytes(m);
  }
  into.begun[origin] = has_begun(program_, state, program_.origins[origin].memory) ? 1 : 0;
  if (const std::uint64_t bytes = value_bytes(m); bytes > 0 && from != nullptr)
    std::memcpy(into.elements.data() + places_[origin], from, bytes);
}

void Anchor::take_parameters(Snapshot& into, const void* state) const {
  into.parameters.resize(program_.n_parameters);
  for (std::uint32_t p = 0; p < program_.n_parameters; ++p) {
    const rml_parameter& row = program_.parameters[p];
    if (row.slot != UINT64_MAX) into.parameters[p] = {rt::looked_at(state, row), given_in(state, row)};
  }
}

void Anchor::begin(const void* state) {
  drop();
  next_ = header_of(state).pushed;
  if (program_.demand != nullptr || (program_.flow != nullptr && program_.repeatable == 0)) return;
  current_ = Snapshot{};
  current_->cycle = next_;
  current_->elements.resize(bytes_);
  current_->begun.assign(program_.n_origins, 0);
  take_parameters(*current_, state);
  for (std::uint32_t o = 0; o < program_.n_origins && next_ > 0; ++o) take(*current_, state, o);
}

void Anchor::drop() {
  current_.reset();
  candidate_.reset();
  for (Stream& s : inputs_) s.elements.clear(), s.cycles.clear();
  held_ = 0;
}

// ---- candidates ----

void Anchor::look(const void* state) {
  next_ = header_of(state).pushed;
  if (!candidate_ && may_begin(state)) begin_candidate(state);
  if (candidate_)
    follow(state);
  else if (program_.network != nullptr)
    wait_for_next();
}

bool Anchor::may_begin(const void* state) const {
  const rml_flow& flow = *program_.flow;
  for (std::uint32_t u = 0; u < flow.n_units; ++u) {
    const rml_memory& m = program_.memories[flow.first_unit + u];
    if (concerned_[u] && m.count == 1 && part_at<Segment>(state, m).length > 0) return false;
  }
  return true;
}

void Anchor::begin_candidate(const void* state) {
  const std::uint32_t units = program_.flow->n_units;
  candidate_ = Candidate{};
  candidate_->snapshot.cycle = next_;
  candidate_->snapshot.elements.resize(bytes_);
  candidate_->snapshot.begun.assign(program_.n_origins, 0);
  take_parameters(candidate_->snapshot, state);
  candidate_->places.assign(units, before);
  candidate_->targets.assign(units, -1);
  for (std::uint32_t u = 0; u < units; ++u)
    if (program_.flow->units[u].clock == RML_CLOCK_BASE) candidate_->targets[u] = next_;
  find_targets(state, RML_BY_HOST);
}

// The writer is there: it has put as many elements as the units that take each have instants before the cycle.
void Anchor::find_targets(const void* state, std::uint32_t writer) {
  const rml_flow& flow = *program_.flow;
  for (std::uint32_t u = 0; u < flow.n_units; ++u) {
    const std::uint32_t q = paced_by_[u];
    if (candidate_->targets[u] >= 0 || q == UINT32_MAX || flow.puts[q].writer != writer) continue;
    candidate_->targets[u] =
        count_of(program_, state, program_.memories[flow.first_queue + q], 0) - flow.puts[q].begins;
  }
}

Anchor::Place Anchor::place_of(const void* state, std::uint32_t unit) const {
  const std::int64_t target = candidate_->targets[unit];
  const rml_memory& m = program_.memories[program_.flow->first_unit + unit];
  const auto& s = part_at<Segment>(state, m);
  if (target < 0 || s.cycle < target) return before;
  return s.cycle == target && (m.count == 0 || s.length == 0) ? there : past;
}

void Anchor::follow(const void* state) {
  const rml_flow& flow = *program_.flow;
  bool moved = true, complete = true;
  while (moved) {
    moved = false, complete = true;
    for (std::uint32_t u = 0; u < flow.n_units; ++u) {
      Place& place = candidate_->places[u];
      if (place == before && (place = place_of(state, u)) == there) {
        moved = true;
        for (std::uint32_t o = 0; o < program_.n_origins; ++o)
          if (program_.origins[o].unit == u) take(candidate_->snapshot, state, o);
        find_targets(state, u);
      }
      if (!concerned_[u]) continue;
      if (place == past || (candidate_->targets[u] < 0 && paced_by_[u] == UINT32_MAX)) return give_up();
      complete = complete && place == there;
    }
  }
  for (std::uint32_t u = 0; u < flow.n_units; ++u) {
    if (!concerned_[u] || candidate_->targets[u] >= 0) continue;
    const std::uint32_t writer = flow.puts[paced_by_[u]].writer;
    if (writer < flow.n_units && candidate_->places[writer] == past) return give_up();
  }
  if (!complete || header_of(state).popped < candidate_->snapshot.cycle) {
    if (program_.network != nullptr && ++candidate_->looks > most_looks_at_network) give_up();
    return;
  }
  current_ = std::move(candidate_->snapshot);
  candidate_.reset();
  patience_ = 1;
  forget_before(current_->cycle);
}

void Anchor::give_up() {
  candidate_.reset();
  if (!current_) drop();
  wait_for_next();
}

void Anchor::wait_for_next() {
  not_before_ = next_ + (program_.network != nullptr ? patience_of_network : patience_);
  patience_ = std::min(2 * patience_, most_patience);
}

}  // namespace rml::rt

// Each unit's place relative to a candidate follows from its count of instants and from the
// number of instants of its clock before the candidate. The latter is known once the unit that
// writes a stream on that clock has reached the candidate.
#include "runtime/checkpoint/anchor.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <utility>

#include "runtime/checkpoint/state_parts.h"

namespace rml::rt {

namespace {

constexpr std::uint64_t copied_per_cycle = std::uint64_t{32} << 10;  // limit of the bytes copied per cycle, on average
constexpr std::size_t most_candidates = 8;
// cycles from one candidate to the next, if the program has no segments
constexpr std::int64_t cycles_without_segments = 16;
// cycles from one search to the next, in a network
constexpr std::int64_t cycles_in_network = 251;
constexpr std::int64_t most_patience = std::int64_t{1} << 16;
// An anchor that falls behind is dropped: if inputs of more than much_room since then are kept
// and more than many_segments longest segments have passed, or if inputs of more than most_room
// are kept. Both limits grow with the size of the memories.
constexpr std::uint64_t much_room = std::uint64_t{1} << 20;
constexpr std::int64_t many_segments = 64;
constexpr std::uint64_t most_room = std::uint64_t{64} << 20;

const rml_header& header_of(const void* state) { return *static_cast<const rml_header*>(state); }

}  // namespace

Anchor::Anchor(const rml_program& program)
    : program_(program), memories_(program.n_origins), inputs_(program.n_inputs) {
  const std::uint32_t units = program.flow == nullptr ? 0 : program.flow->n_units;
  units_.resize(units + std::size_t{1});
  std::set<std::string> names;
  for (std::uint32_t o = 0; o < program.n_origins; ++o) {
    const rml_origin& origin = program.origins[o];
    Memory& memory = memories_[o];
    memory.place = bytes_;
    bytes_ += value_bytes(program.memories[origin.memory]);
    memory.repeated = origin.then != nullptr || !names.insert(origin.name).second;
    for (std::uint32_t p = 0; p < program.n_parameters; ++p)
      if (program.parameters[p].slot != UINT64_MAX && program.parameters[p].memory == origin.memory)
        memory.parameters.push_back(p);
    if (origin.unit >= units) continue;
    units_[origin.unit].origins.push_back(o);
    if (origin.then == nullptr) units_[origin.unit].concerned = true;
  }
  for (std::uint32_t u = 0; u < units; ++u) add_unit(u);
  if (program.flow != nullptr) find_jumps();
  for (std::uint32_t i = 0; i < program.n_inputs; ++i)
    row_bytes_ += program.inputs[i].elements * dtype_bytes(program.inputs[i].dtype) + sizeof(std::int64_t);
  much_ = much_room + 8 * bytes_;
  too_much_ = most_room + 8 * bytes_;
}

void Anchor::add_unit(std::uint32_t unit) {
  const rml_flow& flow = *program_.flow;
  Unit& of = units_[unit];
  of.clock = flow.units[unit].clock;
  if (of.clock != RML_CLOCK_UNKNOWN) clocks_ = std::max(clocks_, of.clock + 1);
  if (flow.units[unit].asserts != 0) of.concerned = true;
  if (program_.memories[flow.first_unit + unit].count == 1) segmented_ = of.jumps = true;
}

// Finds the queues that each unit and the host write, and the units that depend on units with
// segments.
void Anchor::find_jumps() {
  const rml_flow& flow = *program_.flow;
  for (std::uint32_t q = 0; q < flow.n_queues; ++q) {
    const rml_put& put = flow.puts[q];
    if (put.writer == RML_BY_NOBODY || program_.memories[flow.first_queue + q].count == 0) continue;
    if (put.clock < clocks_) units_[std::min(put.writer, flow.n_units)].queues.push_back(q);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint32_t u = 0; u < flow.n_units; ++u) {
      for (std::uint32_t k = 0; k < flow.units[u].n_takes && !units_[u].jumps; ++k) {
        const std::uint32_t writer = flow.puts[flow.takes[flow.units[u].first_take + k].queue].writer;
        if (writer < flow.n_units && units_[writer].jumps) changed = units_[u].jumps = true;
      }
    }
  }
}

const char* Anchor::memory(std::uint32_t origin) const {
  if (current_->begun[origin] == 0) return nullptr;
  return current_->elements.data() + memories_[origin].place;
}

// ---- inputs ----

void Anchor::add(const void* const* in, const std::uint8_t* present) {
  const std::int64_t cycle = next_++;
  debt_ -= std::min(debt_, std::max(copied_per_cycle, row_bytes_));
  if (!recording() || (!current_ && candidates_.empty())) return;
  for (std::uint32_t i = 0; i < program_.n_inputs; ++i) {
    const rml_port& port = program_.inputs[i];
    if (port.always == 0 && present[i] == 0) continue;
    const std::uint64_t bytes = port.elements * dtype_bytes(port.dtype);
    const char* const from = static_cast<const char*>(in[i]);
    inputs_[i].elements.insert(inputs_[i].elements.end(), from, from + bytes);
    inputs_[i].cycles.push_back(cycle);
    held_ += bytes + sizeof cycle;
  }
  ++held_;  // a program without inputs has cycles too, so they are counted
  const std::int64_t first = current_ ? current_->cycle : candidates_.front().snapshot.cycle;
  if (held_ > too_much_ || (held_ > much_ && next_ - first > many_segments * longest_)) forget_all();
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

void Anchor::forget_all() {
  current_.reset();
  while (!candidates_.empty()) remove(candidates_.size() - 1);
  for (Stream& s : inputs_) s.elements.clear(), s.cycles.clear();
  held_ = 0;
}

void Anchor::drop() {
  forget_all();
  since_ = next_;
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
  // One slot that was read is enough: the others are under conditions that did not hold.
  const std::vector<std::uint32_t>& first = memories_[origin].parameters;
  const auto begun = [&](std::uint32_t p) { return rt::looked_at(state, program_.parameters[p]); };
  into.begun[origin] = first.empty() || std::ranges::any_of(first, begun) ? 1 : 0;
  if (const std::uint64_t bytes = value_bytes(m); bytes > 0 && from != nullptr)
    std::memcpy(into.elements.data() + memories_[origin].place, from, bytes);
}

void Anchor::take_parameter(Snapshot& into, const void* state, std::uint32_t parameter) const {
  const rml_parameter& row = program_.parameters[parameter];
  if (row.slot != UINT64_MAX) into.parameters[parameter] = {rt::looked_at(state, row), given_in(state, row)};
}

void Anchor::take_unit(Snapshot& into, const void* state, std::uint32_t unit) {
  for (const std::uint32_t o : units_[unit].origins) {
    take(into, state, o);
    for (const std::uint32_t p : memories_[o].parameters) take_parameter(into, state, p);
    debt_ += value_bytes(program_.memories[program_.origins[o].memory]);
  }
}

void Anchor::begin(const void* state) {
  next_ = header_of(state).pushed;
  drop();
  latest_ = next_;
  if (program_.demand != nullptr || (program_.flow != nullptr && program_.repeatable == 0)) return;
  current_ = Snapshot{};
  current_->cycle = next_;
  current_->elements.resize(bytes_);
  current_->begun.assign(program_.n_origins, 0);
  current_->parameters.resize(program_.n_parameters);
  for (std::uint32_t p = 0; p < program_.n_parameters; ++p) take_parameter(*current_, state, p);
  for (std::uint32_t o = 0; o < program_.n_origins && next_ > 0; ++o) take(*current_, state, o);
}

// ---- candidates ----

void Anchor::look(const void* state) {
  next_ = header_of(state).pushed;
  for (std::size_t k = candidates_.size(); k-- > 0;)
    if (!follow(candidates_[k], state)) remove(k);
  if (may_begin(state)) begin_candidate(state);
  accept(header_of(state).popped);
  if (!current_ && candidates_.empty() && held_ > 0) forget_all();
  pause_search();
}

bool Anchor::no_segment_is_open(const void* state) {
  const rml_flow& flow = *program_.flow;
  std::int64_t open = 0;
  for (std::uint32_t u = 0; u < flow.n_units && segmented_; ++u) {
    const rml_memory& m = program_.memories[flow.first_unit + u];
    if (m.count == 1) open = std::max(open, part_at<Segment>(state, m).length);
  }
  longest_ = std::max(longest_, open + 1);
  return open == 0;
}

bool Anchor::may_begin(const void* state) {
  const bool closed = no_segment_is_open(state);
  if (next_ == latest_ || debt_ > 0 || next_ < not_before_) return false;
  if (!segmented_) return next_ - latest_ >= cycles_without_segments;
  return closed || restless_ || next_ - since_ > 2 * longest_ + many_segments;
}

void Anchor::begin_candidate(const void* state) {
  if (candidates_.size() == most_candidates) remove_least();
  Candidate candidate;
  if (!spare_.empty()) candidate = std::move(spare_.back()), spare_.pop_back();
  candidate.snapshot.cycle = latest_ = next_;
  candidate.snapshot.elements.resize(bytes_);
  candidate.snapshot.begun.assign(program_.n_origins, 0);
  candidate.snapshot.parameters.resize(program_.n_parameters);
  for (std::uint32_t p = 0; p < program_.n_parameters; ++p) take_parameter(candidate.snapshot, state, p);
  candidate.places.assign(program_.flow->n_units, before);
  candidate.instants.assign(clocks_, -1);
  candidate.instants[RML_CLOCK_BASE] = next_;
  candidate.ended = 0;
  candidate.complete = false;
  find_instants(candidate, state, units_.back().queues);
  if (follow(candidate, state))
    candidates_.push_back(std::move(candidate));
  else
    spare_.push_back(std::move(candidate));
}

// Derives the number of instants of clocks from the queues of a writer that has reached the
// candidate: a queue has had one element for each instant of its clock.
void Anchor::find_instants(Candidate& candidate, const void* state, const std::vector<std::uint32_t>& queues) const {
  const rml_flow& flow = *program_.flow;
  for (const std::uint32_t q : queues) {
    std::int64_t& known = candidate.instants[flow.puts[q].clock];
    if (known < 0) known = count_of(program_, state, program_.memories[flow.first_queue + q], 0) - flow.puts[q].begins;
  }
}

Anchor::Place Anchor::place_of(const Candidate& candidate, const void* state, std::uint32_t unit) const {
  const std::uint32_t clock = units_[unit].clock;
  const std::int64_t target = clock < clocks_ ? candidate.instants[clock] : -1;
  const rml_memory& m = program_.memories[program_.flow->first_unit + unit];
  const auto& s = part_at<Segment>(state, m);
  if (target < 0 || s.cycle < target) return before;
  return s.cycle == target && (m.count == 0 || s.length == 0) ? there : past;
}

bool Anchor::follow(Candidate& candidate, const void* state) {
  if (candidate.complete) return true;
  const std::uint32_t units = program_.flow->n_units;
  for (bool moved = true; moved;) {
    moved = false, candidate.complete = true;
    for (std::uint32_t u = 0; u < units; ++u) {
      Place& place = candidate.places[u];
      if (place == before && (place = place_of(candidate, state, u)) == there) {
        moved = true;
        take_unit(candidate.snapshot, state, u);
        find_instants(candidate, state, units_[u].queues);
        if (units_[u].jumps) ++candidate.ended;
      }
      if (!units_[u].concerned) continue;
      if (place == past) return false;
      candidate.complete = candidate.complete && place == there;
    }
  }
  return true;
}

// Among complete candidates only the first and the last are useful; among the others, those at
// which most segments have ended.
void Anchor::remove_least() {
  const auto is_complete = [](const Candidate& c) { return c.complete; };
  const auto first = std::ranges::find_if(candidates_, is_complete);
  const auto second = first == candidates_.end() ? first : std::find_if(first + 1, candidates_.end(), is_complete);
  const bool between =
      second != candidates_.end() && std::find_if(second + 1, candidates_.end(), is_complete) != candidates_.end();
  const auto least = between ? second : std::ranges::min_element(candidates_, {}, [](const Candidate& c) {
    return std::pair(c.complete, c.ended);
  });
  remove(static_cast<std::size_t>(least - candidates_.begin()));
}

void Anchor::remove(std::size_t candidate) {
  spare_.push_back(std::move(candidates_[candidate]));
  candidates_.erase(candidates_.begin() + static_cast<std::ptrdiff_t>(candidate));
}

// Accepts the last complete candidate before which every row has been handed out.
void Anchor::accept(std::int64_t rows) {
  std::size_t k = candidates_.size();
  while (k > 0 && (!candidates_[k - 1].complete || candidates_[k - 1].snapshot.cycle > rows)) --k;
  if (k == 0) return;
  if (!current_) current_ = Snapshot{};
  std::swap(*current_, candidates_[k - 1].snapshot);
  while (k-- > 0) remove(k);
  if (next_ - since_ > 2 * longest_ + many_segments) restless_ = true;
  since_ = current_->cycle;
  patience_ = 1;
  if (program_.network != nullptr) not_before_ = next_ + cycles_in_network;
  forget_before(current_->cycle);
}

// If segments never end together, or a network has long segments, searching costs more than it
// gains. The pause then doubles each time.
void Anchor::pause_search() {
  if (next_ < not_before_ || next_ - since_ <= many_segments * (longest_ + many_segments)) return;
  while (!candidates_.empty()) remove(candidates_.size() - 1);
  not_before_ = since_ = next_ + patience_ * longest_;
  patience_ = std::min(2 * patience_, most_patience);
}

}  // namespace rml::rt

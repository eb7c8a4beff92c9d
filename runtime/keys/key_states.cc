// Copies the parts of a state that a key must keep. If the table does not list all memories (a
// program on demand, the reference engine), the whole state is copied. It always returns to the
// same address, so pointers into it stay valid.
#include "runtime/keys/key_states.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>

#include "runtime/base/failure.h"
#include "runtime/base/pattern.h"
#include "runtime/checkpoint/state_parts.h"

namespace rml::rt {
namespace {

constexpr std::uint64_t block_bytes = std::uint64_t{1} << 18;
constexpr std::uint64_t counters = offsetof(rml_header, pushed), counters_end = offsetof(rml_header, ranks);
constexpr std::uint64_t most_near_bytes = 512;
constexpr std::uint64_t worth_a_part = 8;  // bytes; two parts with a smaller gap between them are merged
// bytes; records of at least this size start at a cache line
constexpr std::uint64_t worth_lines = 1024;

constexpr std::uint64_t rounded_up(std::uint64_t bytes, std::uint64_t to) { return (bytes + to - 1) / to * to; }

bool cells_alone(const rml_program& program) {
  return program.flow == nullptr && program.demand == nullptr && program.savable != 0;
}

// Size of the part of a memory that is in the state itself.
std::uint64_t head_bytes(const rml_memory& m) {
  switch (m.kind) {
    case RML_QUEUE:
      return sizeof(RingBuffer) + sizeof(std::int64_t) * (std::uint64_t{m.count} + 1);
    case RML_UNIT:
      return m.count == 1 ? sizeof(Segment) : sizeof(std::int64_t);
    case RML_ARRAY:
      return sizeof(Block);
    default:
      return value_bytes(m);
  }
}

// Copies a few bytes without a call. The last piece may overlap the one before.
template <std::uint64_t piece>
void copy_pieces(char* to, const char* from, std::uint64_t bytes) {
  for (std::uint64_t at = 0; at + piece < bytes; at += piece) std::memcpy(to + at, from + at, piece);
  std::memcpy(to + bytes - piece, from + bytes - piece, piece);
}

void copy_part(char* to, const char* from, std::uint64_t bytes) {
  constexpr std::uint64_t few = 256;
  if (bytes > few)
    std::memcpy(to, from, bytes);
  else if (bytes >= 16)
    copy_pieces<16>(to, from, bytes);
  else if (bytes >= 8)
    copy_pieces<8>(to, from, bytes);
  else
    for (; bytes > 0; --bytes) *to++ = *from++;
}

}  // namespace

KeyStates::KeyStates(const rml_program& program, const Keys& keys, Memory& memory, std::uint64_t seed,
                     std::int64_t horizon)
    : program_(program),
      keys_(keys),
      memory_(memory),
      seed_(seed),
      horizon_(horizon),
      may_wait_(!cells_alone(program)),
      state_bytes_(std::max<std::uint64_t>(program.state_bytes, sizeof(rml_header))),
      in_place_(program.apart > 0 && !may_wait_) {
  block_ = Memory::grow(&memory_, nullptr, 0, state_bytes_);
  if (block_ == nullptr)
    throw Failure(std::string(program.source) + ": the state of '" + program.name + "' needs " +
                  std::to_string(state_bytes_) + " bytes, more than the " + std::to_string(memory_.ceiling()) +
                  " that this run may use");
  find_parts();
}

KeyStates::~KeyStates() {
  leave();  // the queues of the current key may have grown since its record was written
  for (std::uint32_t key = 0; may_wait_ && key < size_; ++key) {
    load(record(key));
    program_.destroy(block_);
  }
  if (!may_wait_ && size_ > 0) program_.destroy(block_);
  for (char* const b : blocks_) Memory::grow(&memory_, b, bytes_of_block(), 0);
  Memory::grow(&memory_, block_, state_bytes_, 0);
}

void KeyStates::add_part(Part part) {
  if (part.bytes == 0) return;
  if (!parts_.empty() && !part.window && !parts_.back().window) {
    const std::uint64_t end = parts_.back().offset + parts_.back().bytes;
    if (part.offset >= end && part.offset - end < worth_a_part) {
      parts_.back().bytes = part.offset + part.bytes - parts_.back().offset;
      return;
    }
  }
  parts_.push_back(part);
}

void KeyStates::find_parts() {
  parts_.clear();
  slots_.clear();
  if (program_.savable == 0 || program_.demand != nullptr) {
    add_part({sizeof(rml_header), state_bytes_ - sizeof(rml_header), false});
  } else {
    std::vector<const rml_memory*> memories;
    for (std::uint32_t k = 0; k < program_.n_memories; ++k)
      if (!is_shared(program_.memories[k].offset)) memories.push_back(&program_.memories[k]);
    std::ranges::sort(memories, {}, &rml_memory::offset);
    for (const rml_memory* m : memories)
      if (!in_place_ || m->offset - RML_CELLS_AT >= program_.apart)
        add_part({m->offset, head_bytes(*m), m->kind == RML_WINDOW});
    for (std::uint32_t p = 0; p < program_.n_parameters; ++p)
      if (program_.parameters[p].slot != UINT64_MAX) slots_.push_back(program_.parameters[p].slot);
  }
  slots_at_ = 0;
  for (const Part& part : parts_) slots_at_ += part.bytes;
  counters_at_ = rounded_up(slots_at_ + slots_.size(), 8);
  cells_at_ = counters_at_ + sizeof(std::uint64_t) + (may_wait_ ? counters_end - counters : sizeof(std::int64_t));
  record_bytes_ = cells_at_ + (in_place_ ? program_.apart : 0);
  if (record_bytes_ >= worth_lines) record_bytes_ = rounded_up(record_bytes_, 64);
  near_bytes_ = std::min(record_bytes_, most_near_bytes);
  block_bits_ = static_cast<std::uint32_t>(std::bit_width(std::max<std::uint64_t>(block_bytes / record_bytes_, 1)) - 1);
}

void KeyStates::begin_with(const std::function<void(void* state)>& give) {
  begin_new(seed_, own_cells());
  give(block_);
  given_.clear();
  for (const std::uint64_t slot : slots_) given_.push_back(at<void*>(slot));
  program_.destroy(block_);
}

void KeyStates::restored() {
  given_.resize(slots_.size(), nullptr);
  for (std::size_t k = 0; k < slots_.size(); ++k) {
    void* const own = &at<char>(slots_[k]);
    void* const first = at<void*>(slots_[k]);
    if (given_[k] == nullptr) given_[k] = own;
    if (given_[k] == own && first != nullptr) given_[k] = first;
  }
  put_shared();
}

void KeyStates::each_given(const std::function<void(const rml_parameter&, const char*)>& take) const {
  for (const rml_parameter& p : std::span(program_.parameters, program_.n_parameters)) {
    const auto slot = std::ranges::find(slots_, p.slot);
    if (given_.empty() || slot == slots_.end()) continue;
    const void* const first = given_[static_cast<std::size_t>(slot - slots_.begin())];
    if (first != &at<char>(p.slot)) take(p, static_cast<const char*>(first));
  }
}

void KeyStates::leave() {
  if (current_ == none) return;
  char* const to = record(current_);
  store(to);
  if (in_place_ && header().cells == own_cells()) std::memcpy(to + cells_at_, own_cells(), program_.apart);
  current_ = none;
}

bool KeyStates::has_begun(std::uint32_t key) const {
  if (key >= size_) return false;
  const char* const looked_at = record(key) + slots_at_;
  return std::all_of(looked_at, looked_at + slots_.size(), [](char byte) { return byte != 0; });
}

rml_header& KeyStates::gather(std::uint32_t key) {
  rml_header& h = enter(key);
  if (h.cells != own_cells()) std::memcpy(own_cells(), h.cells, program_.apart);
  h.cells = own_cells();
  return h;
}

// Makes room for one more record.
void KeyStates::make_room() {
  if (size_ >> block_bits_ < blocks_.size()) return;
  blocks_.reserve(blocks_.size() + 1);
  void* const more = Memory::grow(&memory_, nullptr, 0, bytes_of_block());
  if (more == nullptr)
    throw Failure("too many keys: the state of each takes " + std::to_string(record_bytes_) + " bytes, and " +
                  std::to_string(size_) + " keys take " + std::to_string(memory_.used() >> 20) + " MiB of the " +
                  std::to_string(memory_.ceiling() >> 20) + " MiB that this run may use");
  blocks_.push_back(static_cast<char*>(more));
}

void KeyStates::change_to(std::uint32_t key) {
  leave();
  if (key < size_) {
    load(record(key));
    current_ = key;
    return;
  }
  make_room();
  begin_new(keys_.seed(key, seed_), in_place_ ? record(size_) + cells_at_ : own_cells());
  for (std::size_t k = 0; k < given_.size(); ++k) at<void*>(slots_[k]) = given_[k];
  put_shared();
  current_ = size_++;
}

void KeyStates::begin_new(std::uint64_t seed, char* cells) {
  rml_header& h = header();
  h = {};
  h.seed = seed;
  h.horizon = horizon_;
  h.grow = Memory::grow;
  h.context = &memory_;
  h.waiting = -1;
  h.cells = cells;
  program_.init(block_);
}

void KeyStates::store(char* begin) {
  char* to = begin;
  const auto put = [&to](const void* from, std::uint64_t bytes) {
    copy_part(to, static_cast<const char*>(from), bytes);
    to += bytes;
  };
  for (const Part& part : parts_) {
    const char* const from = &at<char>(part.offset);
    if (!part.window) {
      put(from, part.bytes);
      continue;
    }
    const auto& window = at<rml_window>(part.offset);
    put(from + sizeof window + window.at, part.bytes);
  }
  for (const std::uint64_t slot : slots_) *to++ = at<void*>(slot) == nullptr ? 1 : 0;
  to = begin + counters_at_;
  put(&header().seed, sizeof header().seed);
  if (may_wait_)
    put(&at<char>(counters), counters_end - counters);
  else
    put(&header().pushed, sizeof header().pushed);
  take_shared();
}

void KeyStates::load(char* begin) {
  if (in_place_) header().cells = begin + cells_at_;
  const char* from = begin;
  const auto get = [&from](void* to, std::uint64_t bytes) {
    copy_part(static_cast<char*>(to), from, bytes);
    from += bytes;
  };
  for (const Part& part : parts_) {
    char* to = &at<char>(part.offset);
    if (part.window) {
      at<rml_window>(part.offset).at = 0;
      to += sizeof(rml_window);
      std::memcpy(to + part.bytes, from, part.bytes);
    }
    get(to, part.bytes);
  }
  for (std::size_t k = 0; k < slots_.size(); ++k) {
    void* const first = given_.empty() ? &at<char>(slots_[k]) : given_[k];
    at<void*>(slots_[k]) = *from++ != 0 ? nullptr : first;
  }
  from = begin + counters_at_;
  get(&header().seed, sizeof header().seed);
  if (may_wait_) {
    get(&at<char>(counters), counters_end - counters);
  } else {
    get(&header().pushed, sizeof header().pushed);
    header().popped = header().pushed;
  }
  put_shared();
  if (program_.n_packs > 0) std::memset(&at<char>(program_.packs), 0, program_.n_packs);
}

// ---- shared parameters ----

bool KeyStates::is_shared(std::uint64_t offset) const {
  return std::ranges::any_of(shared_, [&](const Shared& s) { return s.offset == offset; });
}

void KeyStates::share(const std::vector<std::string>& patterns) {
  for (const std::string& pattern : patterns) {
    bool found = false;
    for (std::uint32_t p = 0; p < program_.n_parameters; ++p) {
      const rml_parameter& row = program_.parameters[p];
      if (!matches(pattern, row.path)) continue;
      found = true;
      // no equation changes it, so all instances have the same value
      if (row.memory == UINT32_MAX) continue;
      in_place_ = false;
      const rml_memory& m = program_.memories[row.memory];
      auto known = std::ranges::find(shared_, m.offset, &Shared::offset);
      if (known == shared_.end()) known = shared_.insert(known, {m.offset, value_bytes(m), {}, {}});
      known->value.resize((known->bytes + 7) / 8);
      if (row.slot != UINT64_MAX && std::ranges::count(known->slots, row.slot) == 0) known->slots.push_back(row.slot);
    }
    if (!found)
      throw Failure("--share " + pattern + ": no parameter matches" +
                        (program_.n_parameters == 0 ? "; the program has none" : ""),
                    exit_usage);
  }
  find_parts();
}

// Takes the shared values from the current instance. An instance that has not read a first value
// yet does not have the shared value either.
void KeyStates::take_shared() {
  for (Shared& s : shared_) {
    const auto looked_at = [&](std::uint64_t slot) { return at<void*>(slot) == nullptr; };
    if (!s.slots.empty() && std::ranges::none_of(s.slots, looked_at)) continue;
    if (s.bytes > 0) std::memcpy(s.value.data(), &at<char>(s.offset), s.bytes);
    s.known = true;
  }
}

// Puts the shared values into the current instance. An instance that has not read the first value
// will read the shared value instead of the program's own.
void KeyStates::put_shared() {
  for (Shared& s : shared_) {
    if (!s.known) continue;
    if (s.bytes > 0) std::memcpy(&at<char>(s.offset), s.value.data(), s.bytes);
    for (const std::uint64_t slot : s.slots)
      if (at<void*>(slot) != nullptr) at<void*>(slot) = s.value.data();
  }
}

}  // namespace rml::rt

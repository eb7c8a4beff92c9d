// Restoring compares everything before it changes the state. The file may come from anywhere, so
// no number of it is trusted: positions and sizes are checked against the new state and the
// program's table of memories, and counts against all other counts (check_counts.h). The cursor
// of a queue must not exceed the number of pushed elements, or its initial value (a reader may
// skip elements at the beginning). It may only be larger in a queue that readers overtake, since
// the program checks the cursors of such a queue before it stores an element.
#include "runtime/checkpoint/state_tensors.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <set>
#include <span>

#include "runtime/base/failure.h"
#include "runtime/checkpoint/state_parts.h"
#include "runtime/stream_io/row.h"

namespace rml::rt {
namespace {

std::string counts_name(const rml_memory& m) { return std::string(m.name) + " counts"; }

std::vector<std::uint64_t> shape_of(const rml_memory& m) { return {m.dims, m.dims + m.rank}; }
std::vector<std::uint64_t> shape_of(const rml_memory& m, std::uint64_t count) {
  std::vector<std::uint64_t> shape{count};
  shape.insert(shape.end(), m.dims, m.dims + m.rank);
  return shape;
}

bool is_cell(const rml_memory& m) { return m.kind == RML_CELL || m.kind == RML_WINDOW; }

std::string_view elements_at(const char* data, std::uint64_t bytes) { return {data, bytes}; }

class Taking {
 public:
  Taking(const rml_program& program, const void* state) : program_(program), state_(state) {}

  StateTensors take() {
    for (std::uint32_t i = 0; i < program_.n_memories; ++i)
      if (has_begun(program_, state_, i))
        add(program_.memories[i]);
      else
        result_.unbegun.emplace_back(program_.memories[i].name);
    for (const rml_parameter& p : std::span(program_.parameters, program_.n_parameters)) {
      const char* const given = p.slot == UINT64_MAX ? nullptr : given_in(state_, p);
      if (given != nullptr) add_given(result_, p, given);
    }
    return std::move(result_);
  }

 private:
  void add(const rml_memory& m) {
    switch (m.kind) {
      case RML_CELL:
        result_.tensors.push_back(
            {m.name, m.dtype, shape_of(m), {elements_at(&part_at<char>(state_, m), value_bytes(m))}});
        break;
      case RML_WINDOW:
        result_.tensors.push_back({m.name, m.dtype, shape_of(m), {elements_at(window_at(state_, m), value_bytes(m))}});
        break;
      case RML_QUEUE:
        add_queue(m);
        break;
      case RML_UNIT:
        add_unit(m);
        break;
      default: {
        const auto length = static_cast<std::uint64_t>(part_at<Segment>(state_, program_.memories[m.count]).length);
        result_.tensors.push_back({m.name,
                                   m.dtype,
                                   shape_of(m, length),
                                   {elements_at(part_at<Block>(state_, m).data, length * value_bytes(m))}});
      }
    }
  }

  void add_queue(const rml_memory& m) {
    const RingBuffer& ring = part_at<RingBuffer>(state_, m);
    std::vector<std::int64_t> counts;
    for (std::size_t k = 0; k <= m.count; ++k) counts.push_back(count_of(program_, state_, m, k));
    const std::int64_t first = m.count == 0 ? counts[0] : *std::min_element(counts.begin() + 1, counts.end());
    const auto used = static_cast<std::uint64_t>(std::max<std::int64_t>(counts[0] - first, 0));
    TensorOut elements{m.name, m.dtype, shape_of(m, used), {}};
    if (used > 0) {
      const std::uint64_t size = element_bytes(m);
      const std::uint64_t place = static_cast<std::uint64_t>(first) & (ring.capacity - 1);
      const std::uint64_t straight = std::min(used, ring.capacity - place);
      if (value_bytes(m) > 0) {
        elements.pieces.push_back(elements_at(ring.data + place * size, straight * size));
        elements.pieces.push_back(elements_at(ring.data, (used - straight) * size));
      }
    }
    result_.tensors.push_back(std::move(elements));
    add_counts(result_, counts_name(m), std::move(counts));
  }

  void add_unit(const rml_memory& m) {
    const Segment& s = part_at<Segment>(state_, m);
    if (m.count == 0)
      add_counts(result_, m.name, {s.cycle});
    else
      add_counts(result_, m.name, {s.cycle, s.length, s.start});
  }

  const rml_program& program_;
  const void* state_;
  StateTensors result_;
};

class Restoring {
 public:
  Restoring(const rml_program& program, void* state, StateFile& from, const std::vector<std::string>& unbegun,
            const CyclesOfState& cycles)
      : program_(program), state_(state), from_(from), unbegun_(unbegun.begin(), unbegun.end()), cycles_(cycles) {}

  void restore(GivenParameters& given) {
    compare();
    for (std::uint32_t i = 0; i < program_.n_memories; ++i) check(program_.memories[i]);
    check_all_counts();
    for (std::uint32_t i = 0; i < program_.n_memories; ++i) put(program_.memories[i]);
    for (std::uint32_t p = 0; p < program_.n_parameters; ++p) {
      const rml_parameter& row = program_.parameters[p];
      if (row.slot != UINT64_MAX && !unbegun_.contains(row.path)) look_away(row);
    }
    give_again(program_, state_, from_, given);
  }

 private:
  // Marks the first value of a parameter as read.
  void look_away(const rml_parameter& p) const {
    *reinterpret_cast<void**>(static_cast<char*>(state_) + p.slot) = nullptr;
  }

  void compare() {
    for (std::uint32_t i = 0; i < program_.n_memories; ++i) {
      const rml_memory& m = program_.memories[i];
      if (is_cell(m) && !unbegun_.contains(m.name)) from_.expect(m.name, m.dtype, shape_of(m), false);
      if (m.kind == RML_QUEUE || m.kind == RML_ARRAY) from_.expect(m.name, m.dtype, shape_of(m), true);
      if (m.kind == RML_QUEUE) from_.expect(counts_name(m), RML_I64, {m.count + std::uint64_t{1}}, false);
      if (m.kind == RML_UNIT) from_.expect(m.name, RML_I64, {m.count == 0 ? std::uint64_t{1} : 3}, false);
    }
    from_.expect_given();
    from_.compare();
  }

  static std::uint64_t used(const std::vector<std::int64_t>& counts) {
    const std::int64_t first = counts.size() == 1 ? counts[0] : *std::min_element(counts.begin() + 1, counts.end());
    return static_cast<std::uint64_t>(std::max<std::int64_t>(counts[0] - first, 0));
  }

  void check_queue(const rml_memory& m) const {
    const std::string name = counts_name(m);
    const std::vector<std::int64_t> values = from_.counts(name);
    if (from_.tensor(m.name).shape[0] != used(values))
      from_.damaged(std::string("'") + m.name + "' does not have as many elements as are counted");
    if ((m.flags & RML_PASSING) != 0 && used(values) > 0)
      from_.damaged(std::string("'") + m.name + "' holds elements, which are never kept");
    for (std::size_t k = 1; k < values.size(); ++k) {
      const std::int64_t first = count_of(program_, state_, m, k);
      if (values[k] > std::max(values[0], first) && (m.flags & RML_OVERTAKEN) == 0)
        from_.damaged("'" + name + "': reader " + std::to_string(k) + " is ahead of what was written");
    }
  }

  void check(const rml_memory& m) const {
    if (m.kind == RML_QUEUE) check_queue(m);
    if (m.kind != RML_ARRAY) return;
    const rml_memory& unit = program_.memories[m.count];
    if (from_.tensor(m.name).shape[0] != static_cast<std::uint64_t>(from_.counts(unit.name)[1]))
      from_.damaged(std::string("'") + m.name + "' is not as long as its segment");
  }

  void check_all_counts() const {
    CountsOfState all;
    all.run = cycles_;
    for (std::uint32_t i = 0; i < program_.n_memories; ++i) {
      const rml_memory& m = program_.memories[i];
      std::vector<std::int64_t>& saved = all.saved.emplace_back();
      std::vector<std::int64_t>& fresh = all.fresh.emplace_back();
      std::string_view& elements = all.elements.emplace_back();
      if (m.kind == RML_UNIT) saved = from_.counts(m.name);
      if (m.kind != RML_QUEUE) continue;
      saved = from_.counts(counts_name(m));
      for (std::size_t k = 0; k < saved.size(); ++k) fresh.push_back(count_of(program_, state_, m, k));
      elements = from_.tensor(m.name).data;
    }
    if (const std::string wrong = contradiction(program_, all); !wrong.empty()) from_.damaged(wrong);
  }

  char* grow(std::uint64_t bytes) const {
    rml_header& header = *static_cast<rml_header*>(state_);
    void* block = header.grow(header.context, nullptr, 0, bytes);
    if (block == nullptr) from_.too_large(bytes);
    header.buffer_bytes += static_cast<std::int64_t>(bytes);
    return static_cast<char*>(block);
  }

  static std::uint64_t capacity_for(std::uint64_t count, std::uint64_t least) {
    std::uint64_t capacity = least;
    while (capacity < count) capacity *= 2;
    return capacity;
  }

  void put(const rml_memory& m) const {
    switch (m.kind) {
      case RML_CELL:
      case RML_WINDOW:
        if (!unbegun_.contains(m.name)) put_cell(state_, m, from_.tensor(m.name).data.data());
        break;
      case RML_QUEUE:
        put_queue(m);
        break;
      case RML_UNIT: {
        const std::vector<std::int64_t> values = from_.counts(m.name);
        auto& s = part_at<Segment>(state_, m);
        s.cycle = values[0];
        if (m.count == 0) break;
        s.length = values[1];
        s.start = values[2];
        s.capacity = s.length == 0 ? 0 : capacity_for(static_cast<std::uint64_t>(s.length), first_segment);
        break;
      }
      default: {
        const std::uint64_t capacity = part_at<Segment>(state_, program_.memories[m.count]).capacity;
        if (capacity == 0) break;
        auto& block = part_at<Block>(state_, m);
        block.bytes = capacity * element_bytes(m);
        block.data = grow(block.bytes);
        const std::string_view data = from_.tensor(m.name).data;
        if (!data.empty()) std::memcpy(block.data, data.data(), data.size());
      }
    }
  }

  void put_queue(const rml_memory& m) const {
    const std::vector<std::int64_t> values = from_.counts(counts_name(m));
    auto& ring = part_at<RingBuffer>(state_, m);
    for (std::size_t k = 0; k < values.size(); ++k) count_of(program_, state_, m, k) = values[k];
    const std::uint64_t count = used(values);
    if (count == 0) return;
    const std::uint64_t size = element_bytes(m);
    ring.capacity = capacity_for(count, first_ring);
    ring.data = grow(ring.capacity * size);
    const auto first = static_cast<std::uint64_t>(values[0]) - count;
    const char* from = from_.tensor(m.name).data.data();
    for (std::uint64_t k = 0; k < count && value_bytes(m) > 0; ++k)
      std::memcpy(ring.data + ((first + k) & (ring.capacity - 1)) * size, from + k * size, size);
  }

  static constexpr std::uint64_t first_ring = 4;
  static constexpr std::uint64_t first_segment = 16;

  const rml_program& program_;
  void* state_;
  StateFile& from_;
  const std::set<std::string> unbegun_;
  const CyclesOfState cycles_;
};

}  // namespace

void add_owned(StateTensors& into, TensorOut tensor, std::vector<std::int64_t> words, std::size_t bytes) {
  const auto& kept = into.owned.emplace_back(std::move(words));
  tensor.pieces.push_back({reinterpret_cast<const char*>(kept.data()), bytes});
  into.tensors.push_back(std::move(tensor));
}

void add_counts(StateTensors& into, const std::string& name, std::vector<std::int64_t> counts) {
  const std::size_t count = counts.size();
  add_owned(into, {name, RML_I64, {count}, {}}, std::move(counts), 8 * count);
}

StateTensors state_tensors(const rml_program& program, const void* state) { return Taking(program, state).take(); }

void add_given(StateTensors& into, const rml_parameter& p, const char* given) {
  const std::string name = given_name(p.path);
  if (!into.tensors.empty() && into.tensors.back().name == name) return;
  into.tensors.push_back(
      {name, p.dtype, {p.dims, p.dims + p.rank}, {elements_at(given, p.elements * dtype_bytes(p.dtype))}});
}

void give_again(const rml_program& program, void* state, const StateFile& from, GivenParameters& given) {
  for (std::uint32_t p = 0; p < program.n_parameters; ++p) {
    const char* const path = program.parameters[p].path;
    const bool again = p > 0 && std::strcmp(program.parameters[p - 1].path, path) == 0;
    if (from.has(given_name(path)) && !again)
      given.give(program, state, path, from.tensor(given_name(path)).data.data());
  }
}

void GivenParameters::Free::operator()(void* block) const { std::free(block); }

void* GivenParameters::room(std::uint64_t bytes) {
  constexpr std::uint64_t alignment = 64;
  void* block =
      std::aligned_alloc(alignment, (std::max<std::uint64_t>(bytes, 1) + alignment - 1) / alignment * alignment);
  if (block == nullptr) throw std::bad_alloc();
  blocks_.emplace_back(block);
  return block;
}

void GivenParameters::give(const rml_program& program, void* state, const std::string& path, const void* elements) {
  void* kept = nullptr;
  for (std::uint32_t p = 0; p < program.n_parameters; ++p) {
    const rml_parameter& row = program.parameters[p];
    if (path != row.path || row.slot == UINT64_MAX) continue;
    if (kept == nullptr) {
      const std::uint64_t bytes = row.elements * dtype_bytes(row.dtype);
      kept = room(bytes);
      if (bytes > 0) std::memcpy(kept, elements, bytes);
    }
    *reinterpret_cast<void**>(static_cast<char*>(state) + row.slot) = kept;
  }
}

std::uint64_t state_identity(const rml_program& program) {
  std::uint64_t hash = 0xcbf29ce484222325u;  // state of the hash function FNV-1a, with its start value
  for (std::uint32_t i = 0; i < program.n_memories; ++i) {
    const rml_memory& m = program.memories[i];
    const int kind = is_cell(m) ? int{RML_CELL} : int{m.kind};
    const std::string line = std::string(m.name) + " " + std::to_string(kind) + " " + std::to_string(m.count) + " " +
                             tensor_type_text(m.dtype, m.dims, m.rank) + "\n";
    for (const char c : line) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  return hash;
}

void restore_state(const rml_program& program, void* state, StateFile& from, const std::vector<std::string>& unbegun,
                   const CyclesOfState& cycles, GivenParameters& given) {
  Restoring(program, state, from, unbegun, cycles).restore(given);
}

}  // namespace rml::rt

// A network is run to the saved cycle; the contents of its rings are then put into a new state
// that no thread has touched.
#include "runtime/checkpoint/anchor_tensors.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>

#include "runtime/checkpoint/beginning.h"
#include "runtime/checkpoint/state_parts.h"
#include "runtime/scheduler/network.h"

namespace rml::rt {
namespace {

constexpr std::int64_t past_all_elements = std::int64_t{1} << 62;
constexpr std::uint64_t least_capacity = 16;

std::string first_name(const std::string& path) { return "first " + path; }

class Taking {
 public:
  Taking(const Anchor& anchor, const rml_program& program, const void* state, StateTensors& into)
      : anchor_(anchor), program_(program), state_(state), into_(into) {}

  void take() {
    into_.begins = anchor_.cycle();
    for (std::uint32_t o = 0; o < program_.n_origins; ++o)
      if (!anchor_.repeated(o)) add_memory(program_.origins[o], anchor_.memory(o));
    for (std::uint32_t p = 0; p < program_.n_parameters; ++p) add_parameter(p);
    for (std::uint32_t i = 0; i < program_.n_inputs; ++i) add_input(program_.inputs[i], anchor_.inputs()[i]);
    add_cycles(into_, anchor_.cycles() - anchor_.cycle());
    for (std::uint32_t p = 0; p < program_.n_parameters; ++p)
      if (anchor_.given(p) != nullptr && is_unbegun(program_.parameters[p].path))
        add_given(into_, program_.parameters[p], anchor_.given(p));
  }

 private:
  bool is_unbegun(const std::string& name) const { return std::ranges::count(into_.unbegun, name) > 0; }

  void add_memory(const rml_origin& origin, const char* elements) {
    const rml_memory& m = program_.memories[origin.memory];
    if (elements == nullptr)
      into_.unbegun.emplace_back(origin.name);
    else
      into_.tensors.push_back({origin.name, m.dtype, {m.dims, m.dims + m.rank}, {{elements, value_bytes(m)}}});
  }

  // Adds the latest value of a parameter whose cell has changed since the anchor: a run that
  // loads only the parameters wants the learned value.
  void add_parameter(std::uint32_t number) {
    const rml_parameter& p = program_.parameters[number];
    if (p.slot != UINT64_MAX && !anchor_.looked_at(number) && !is_unbegun(p.path)) into_.unbegun.emplace_back(p.path);
    const bool again = number > 0 && std::strcmp(program_.parameters[number - 1].path, p.path) == 0;
    if (p.memory == UINT32_MAX || again || !has_begun(program_, state_, p.memory)) return;
    const rml_memory& m = program_.memories[p.memory];
    const char* const now = m.kind == RML_WINDOW ? window_at(state_, m) : &part_at<char>(state_, m);
    if (m.kind == RML_CELL || m.kind == RML_WINDOW) add_latest(into_, p, {now, value_bytes(m)});
  }

  void add_input(const rml_port& input, const Anchor::Stream& stream) {
    std::vector<std::uint64_t> shape{stream.cycles.size()};
    shape.insert(shape.end(), input.dims, input.dims + input.rank);
    into_.tensors.push_back(
        {input_name(input), input.dtype, std::move(shape), {{stream.elements.data(), stream.elements.size()}}});
    add_counts(into_, cycles_of(input_name(input)), stream.cycles);
  }

  const Anchor& anchor_;
  const rml_program& program_;
  const void* state_;
  StateTensors& into_;
};

class Restoring {
 public:
  Restoring(const rml_program& program, void* state, StateFile& from, const BeginningOfState& how,
            const CyclesOfState& run, Anchor* anchor)
      : program_(program),
        state_(state),
        from_(from),
        begins_(how.begins),
        run_(run),
        without_(how.unbegun.begin(), how.unbegun.end()),
        unbegun_(without_),
        anchor_(anchor),
        in_(program.inputs, program.n_inputs),
        out_(program.outputs, program.n_outputs) {
    without_.insert(how.open.begin(), how.open.end());
  }

  void restore(GivenParameters& given) {
    compare();
    for (std::uint32_t i = 0; i < program_.n_inputs; ++i) {
      const std::string name = input_name(program_.inputs[i]);
      cycles_.push_back(stream_cycles(from_, name, begins_, run_.cycles, program_.inputs[i].always != 0));
    }
    for (std::uint32_t o = 0; o < program_.n_origins; ++o) put_memory(program_.origins[o]);
    if (program_.flow != nullptr) put_counts();
    header().pushed = header().popped = begins_;
    put_parameters(given);
    if (anchor_ != nullptr) anchor_->begin(state_);
    program_.network != nullptr ? repeat_network(given) : repeat();
  }

 private:
  rml_header& header() const { return *static_cast<rml_header*>(state_); }
  bool has_value(const char* name) const { return !without_.contains(name); }

  void compare() {
    for (std::uint32_t o = 0; o < program_.n_origins; ++o) {
      if (program_.origins[o].then != nullptr) continue;
      const rml_memory& m = program_.memories[program_.origins[o].memory];
      expect_memory(from_, program_.origins[o].name, m.dtype, {m.dims, m.dims + m.rank},
                    has_value(program_.origins[o].name));
    }
    for (std::uint32_t i = 0; i < program_.n_inputs; ++i) {
      const rml_port& p = program_.inputs[i];
      expect_stream(from_, input_name(p), p.dtype, {p.dims, p.dims + p.rank});
    }
    for (std::uint32_t k = 0; k < program_.n_parameters; ++k) {
      const rml_parameter& p = program_.parameters[k];
      if (from_.has(first_name(p.path))) expect_stream(from_, first_name(p.path), p.dtype, {p.dims, p.dims + p.rank});
    }
    from_.expect(cycles_name, RML_BOOL, {}, true);
    from_.expect_given();
    from_.compare();
    expect_cycles(from_, run_, begins_);
    if (run_.cycles >= past_all_elements) from_.damaged("its cycle numbers contradict each other");
    if (program_.flow == nullptr && run_.rows != run_.cycles)
      from_.damaged("'rows' counts " + std::to_string(run_.rows) + ", not " + std::to_string(run_.cycles) +
                    ", one for each cycle");
    for (std::uint32_t o = 0; o < program_.n_origins && begins_ == 0; ++o)
      if (program_.origins[o].then == nullptr && has_value(program_.origins[o].name))
        from_.damaged(std::string("'") + program_.origins[o].name + "' has a value before cycle 0");
  }

  // ---- memories ----

  const char* value_of(const rml_origin& origin) const {
    if (origin.then != nullptr) return begins_ > 0 ? static_cast<const char*>(origin.then) : nullptr;
    return has_value(origin.name) ? memory_in(from_, origin.name).data.data() : nullptr;
  }

  void put_memory(const rml_origin& origin) const {
    const rml_memory& m = program_.memories[origin.memory];
    const char* const value = value_of(origin);
    if (value != nullptr && (m.kind == RML_CELL || m.kind == RML_WINDOW)) put_cell(state_, m, value);
  }

  // Sets the counts as if all streams on the base clock had passed `begins_` elements. Counts of
  // streams on other clocks start at zero.
  void put_counts() const {
    const rml_flow& flow = *program_.flow;
    for (std::uint32_t u = 0; u < flow.n_units; ++u)
      if (flow.units[u].clock == RML_CLOCK_BASE)
        part_at<std::int64_t>(state_, program_.memories[flow.first_unit + u]) = begins_;
    std::vector<bool> on_base(flow.n_queues);
    for (std::uint32_t q = 0; q < flow.n_queues; ++q) on_base[q] = flow.puts[q].clock == RML_CLOCK_BASE;
    for_each_take([&](const rml_take& t) { on_base[t.queue] = on_base[t.queue] || t.clock == RML_CLOCK_BASE; });
    for_each_take([&](const rml_take& t) {
      if (!on_base[t.queue] || begins_ == 0) return;
      std::int64_t& cursor = count_of(program_, state_, queue(t.queue), t.reader + std::size_t{1});
      cursor = t.kind == RML_TAKE_FIRST ? past_all_elements : cursor + begins_;
    });
    for (std::uint32_t q = 0; q < flow.n_queues; ++q) {
      if (flow.puts[q].writer == RML_BY_NOBODY || queue(q).count == 0) continue;
      // before cycle 0 the queue has no first element yet
      const std::int64_t own = begins_ > 0 ? flow.puts[q].begins : 0;
      count_of(program_, state_, queue(q), 0) += own + (on_base[q] ? begins_ : 0);
      if (own > 0) put_first(q);
    }
  }

  template <class F>
  void for_each_take(const F& f) const {
    const rml_flow& flow = *program_.flow;
    for (std::uint32_t u = 0; u <= flow.n_units; ++u)
      for (std::uint32_t k = 0; k < flow.units[u].n_takes; ++k) f(flow.takes[flow.units[u].first_take + k]);
  }

  const rml_memory& queue(std::uint32_t q) const { return program_.memories[program_.flow->first_queue + q]; }

  // Puts the first element into a queue that begins with one.
  void put_first(std::uint32_t q) const {
    const rml_memory& m = queue(q);
    const std::int64_t pushed = count_of(program_, state_, m, 0);
    const char* value = nullptr;
    for (std::uint32_t o = 0; o < program_.n_origins; ++o)
      if (&program_.memories[program_.origins[o].memory] == &m) value = value_of(program_.origins[o]);
    for (std::uint32_t k = 0; k < program_.network->n_queues && value == nullptr; ++k)
      if (&program_.memories[program_.network->queues[k].memory] == &m)
        value = static_cast<const char*>(program_.network->queues[k].first);
    constexpr std::uint64_t first_ring = 4;
    const std::uint64_t bytes = first_ring * element_bytes(m);
    auto& ring = part_at<RingBuffer>(state_, m);
    void* const block = header().grow(header().context, nullptr, 0, bytes);
    if (block == nullptr) from_.too_large(bytes);
    header().buffer_bytes += static_cast<std::int64_t>(bytes);
    ring.capacity = first_ring;
    ring.data = static_cast<char*>(block);
    const auto place = static_cast<std::uint64_t>(pushed - 1) & (first_ring - 1);
    if (value_bytes(m) > 0 && value != nullptr)
      std::memcpy(ring.data + place * element_bytes(m), value, value_bytes(m));
  }

  void put_parameters(GivenParameters& given) const {
    give_again(program_, state_, from_, given);
    for (std::uint32_t k = 0; k < program_.n_parameters; ++k) {
      const rml_parameter& p = program_.parameters[k];
      const std::string first = first_name(p.path);
      if (p.slot == UINT64_MAX) continue;
      if (!unbegun_.contains(p.path))
        *reinterpret_cast<void**>(static_cast<char*>(state_) + p.slot) = nullptr;
      else if (from_.has(first) && from_.tensor(first).shape[0] > 0)
        given.give(program_, state_, p.path, from_.tensor(first).data.data());
    }
  }

  // ---- cycles ----

  void set_inputs(std::int64_t cycle) {
    next_.resize(program_.n_inputs);
    for (std::uint32_t i = 0; i < program_.n_inputs; ++i) {
      const bool here = next_[i] < cycles_[i].size() && cycles_[i][next_[i]] == cycle;
      in_.set_present(i, here);
      if (!here) continue;
      const std::uint64_t bytes = program_.inputs[i].elements * dtype_bytes(program_.inputs[i].dtype);
      const char* const all = from_.tensor(input_name(program_.inputs[i])).data.data();
      if (bytes > 0) std::memcpy(in_.data(i), all + next_[i] * bytes, bytes);
      ++next_[i];
    }
    if (anchor_ != nullptr) anchor_->add(in_.const_pointers(), in_.present());
  }

  void repeat() {
    for (std::int64_t n = begins_; n < run_.cycles && header().fault == RML_OK; ++n) {
      set_inputs(n);
      program_.push(state_, in_.const_pointers(), in_.present());
      while (wants_row() && program_.pop(state_, out_.pointers(), out_.present()) == 1) continue;
      if (anchor_ != nullptr && anchor_->wants_look() && header().fault == RML_OK) anchor_->look(state_);
    }
  }

  void repeat_network(GivenParameters& given) {
    if (run_.cycles == begins_) return;
    std::string bytes;
    StateTensors settled;
    CyclesOfState counts;
    {
      const auto room_for_rows = static_cast<std::uint64_t>(run_.cycles - run_.rows) + least_capacity;
      Network network(program_, state_, {1, room_for_rows, nullptr});
      for (std::int64_t n = begins_; n < run_.cycles && !network.failed(); ++n) {
        set_inputs(n);
        push(network);
      }
      network.announce();
      settle(network);
      network.stop();
      network.report();
      if (header().fault != RML_OK) return;
      settled = state_tensors(program_, state_);
      counts = {header().pushed, header().popped, header().segments, header().longest_segment, true};
      bytes = safetensors_head(settled.tensors, {});
      for (const TensorOut& t : settled.tensors)
        for (const std::string_view piece : t.pieces) bytes += piece;
    }
    start_again();
    const Safetensors content = read_safetensors("state", bytes);
    StateFile file(program_, "state", content);
    restore_state(program_, state_, file, settled.unbegun, counts, given);
    header().pushed = counts.cycles, header().popped = counts.rows;
  }

  // True if the next row was already handed out before the state was saved.
  bool wants_row() const { return header().popped < run_.rows; }

  void push(Network& network) {
    for (;;) {
      const std::uint32_t seen = network.changes();
      if (network.try_push(in_.const_pointers(), in_.present()) != Network::Taken::full) return;
      if (!wants_row() || network.try_pop(out_.pointers(), out_.present()) == Network::Row::none) network.wait(seen);
    }
  }

  void settle(Network& network) {
    for (;;) {
      const std::uint32_t seen = network.changes();
      const bool at_rest = network.settled() || network.failed();
      const Network::Row row = wants_row() ? network.try_pop(out_.pointers(), out_.present()) : Network::Row::none;
      if (row == Network::Row::ended || (row == Network::Row::none && at_rest)) return;
      if (row == Network::Row::none) network.wait(seen);
    }
  }

  void start_again() const {
    const rml_header before = header();
    program_.destroy(state_);
    std::memset(state_, 0, program_.state_bytes);
    header().seed = before.seed, header().horizon = before.horizon;
    header().grow = before.grow, header().context = before.context;
    header().waiting = -1, header().cells = before.cells;
    program_.init(state_);
  }

  const rml_program& program_;
  void* state_;
  StateFile& from_;
  const std::int64_t begins_;
  const CyclesOfState run_;
  std::set<std::string> without_;
  const std::set<std::string> unbegun_;
  Anchor* const anchor_;
  Row in_, out_;
  std::vector<std::vector<std::int64_t>> cycles_;  // cycles of the elements, by input
  std::vector<std::size_t> next_;                  // one per input: index of the next element
};

}  // namespace

void take_from(const Anchor& anchor, const rml_program& program, const void* state, StateTensors& into) {
  Taking(anchor, program, state, into).take();
}

void restore_from(const rml_program& program, void* state, StateFile& from, const BeginningOfState& how,
                  const CyclesOfState& cycles, GivenParameters& given, Anchor* anchor) {
  Restoring(program, state, from, how, cycles, anchor).restore(given);
}

}  // namespace rml::rt

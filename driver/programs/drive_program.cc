// The host's side of rmlrt.h in its simplest form: one block of state, one buffer per port, and a grow that is a
// realloc; all memory is freed at the end. Restarts save and load the bytes of a checkpoint.
#include "driver/programs/drive_program.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "runtime/checkpoint/checkpoint.h"
#include "runtime/scheduler/network.h"

namespace rml {
namespace {

constexpr std::size_t alignment = 64;

struct Free {
  void operator()(void* block) const { std::free(block); }
};
using Memory = std::unique_ptr<void, Free>;

void* aligned(std::uint64_t bytes) {
  const std::uint64_t rounded = (std::max<std::uint64_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  return std::aligned_alloc(alignment, rounded);
}

void* grow(void*, void* old, std::uint64_t old_bytes, std::uint64_t new_bytes) {
  if (new_bytes == 0) {
    std::free(old);
    return nullptr;
  }
  void* block = aligned(new_bytes);
  if (block == nullptr) return nullptr;
  std::memset(block, 0, new_bytes);
  if (old != nullptr) std::memcpy(block, old, std::min(old_bytes, new_bytes));
  std::free(old);
  return block;
}

Shape shape(const rml_port& port) { return Shape(port.dims, port.dims + port.rank); }

class Run {
 public:
  Run(const rml_program& program, const Chronogram& inputs, const DriveOptions& options)
      : program_(program), inputs_(inputs), options_(options), state_(aligned(program.state_bytes)), anchor_(program) {
    for (std::uint32_t i = 0; i < program.n_outputs; ++i) {
      values_.emplace_back(static_cast<DType>(program.outputs[i].dtype), shape(program.outputs[i]));
      result_.outputs.push_back({program.outputs[i].name, {}});
      result_.leads.push_back({program.outputs[i].name, {}});
    }
    for (Tensor& value : values_) out_.push_back(value.data());
    present_.resize(std::max(program.n_inputs, program.n_outputs) + 1);
  }

  Driven run() {
    init();
    anchor_.begin(state_.get());
    std::int64_t read = 0;
    bool stopped = false;
    if (program_.network != nullptr) return run_network();
    for (; read < options_.cycles && !stopped; ++read) {
      lead();
      stopped = push(read) != RML_OK;
      pop();
      result_.written.push_back(rows_);
      if (options_.restarts && !stopped) add(read), look();
      if (options_.restarts && !stopped && (read + 1) % options_.restart_every == 0) restart();
    }
    if (stopped) --read;
    if (!stopped) stopped = program_.finish(state_.get()) != RML_OK;
    pop();
    if (stopped) note_fault();
    program_.destroy(state_.get());
    for (Chronogram* rows : {&result_.outputs, &result_.leads})
      for (ChronogramRow& row : *rows) row.cells.resize(static_cast<std::size_t>(read));
    return std::move(result_);
  }

 private:
  Driven run_network() {
    std::int64_t read = 0;
    for (bool ended = false; !ended;) {
      std::string bytes;
      const std::int64_t begin = read;
      {
        rt::Network network(program_, state_.get(), {options_.workers, options_.capacity});
        ended = feed(network, read);
        network.stop();
        network.report();
        for (std::int64_t n = begin; n < read && !ended; ++n) add(n);
        if (!ended) look(), bytes = saved();
      }
      if (!ended) load(std::move(bytes));
    }
    const bool stopped = header().fault != RML_OK || program_.finish(state_.get()) != RML_OK;
    if (stopped) {
      note_fault();
      read = header().pushed;
    }
    program_.destroy(state_.get());
    for (Chronogram* rows : {&result_.outputs, &result_.leads})
      for (ChronogramRow& row : *rows) row.cells.resize(static_cast<std::size_t>(read));
    return std::move(result_);
  }

  // Pushes and pops in one thread. It pushes as long as there is room, so the program runs ahead. Returns false when
  // the network is at rest for a restart.
  bool feed(rt::Network& network, std::int64_t& read) {
    if (options_.restarts) lead_at_rest(network);
    const std::int64_t until = options_.restarts ? std::min(next_rest(read), options_.cycles) : options_.cycles;
    bool closed = options_.restarts && read == options_.cycles;
    if (closed) network.close();
    for (;;) {
      const std::uint32_t seen = network.changes();
      bool moved = false;
      if (read < until && !closed) {
        const Inputs in = inputs_of(read);
        const rt::Network::Taken taken = network.try_push(in.pointers.data(), present_.data());
        if (taken == rt::Network::Taken::yes) moved = true, ++read;
        if (taken == rt::Network::Taken::failed) closed = true;
      }
      if (read == options_.cycles && !closed && !options_.restarts) network.close(), closed = true;
      const bool at_rest = read == until && !closed && network.settled() && !network.failed();
      const rt::Network::Row row = network.try_pop(out_.data(), present_.data());
      if (row == rt::Network::Row::there) take_row();
      if (row == rt::Network::Row::ended) return true;
      if (row == rt::Network::Row::none && at_rest) return false;
      if (!moved && row == rt::Network::Row::none) network.wait(seen);
    }
  }

  // A restart creates threads. So in a long run there is one after each of the first cycles, and as many later.
  std::int64_t next_rest(std::int64_t read) const {
    constexpr std::int64_t many = 64;
    return read + (read < many ? 1 : std::max<std::int64_t>(options_.cycles / many, 1));
  }

  void lead_at_rest(rt::Network& network) {
    for (;;) {
      const std::uint32_t seen = network.changes();
      const bool at_rest = network.settled() || network.failed();
      const rt::Network::Row row = network.try_pop(out_.data(), present_.data());
      if (row == rt::Network::Row::there)
        take_row();
      else if (at_rest || row == rt::Network::Row::ended)
        return lead();
      else
        network.wait(seen);
    }
  }

  rml_header& header() { return *static_cast<rml_header*>(state_.get()); }

  void init() {
    std::memset(state_.get(), 0, program_.state_bytes);
    header().seed = options_.seed;
    header().horizon = options_.horizon;
    header().grow = grow;
    program_.init(state_.get());
  }

  // Records that the cycle has been read.
  void add(std::int64_t cycle) {
    const Inputs in = inputs_of(cycle);
    anchor_.add(in.pointers.data(), present_.data());
  }
  // Records that the cycle has been completed.
  void look() {
    if (anchor_.wants_look()) anchor_.look(state_.get());
  }

  void restart() { load(saved()); }

  std::string saved() {
    std::string bytes;
    const rt::CheckpointOut saved(program_, state_.get(), run_, {}, &anchor_);
    for (const std::string_view piece : saved.pieces()) bytes += piece;
    return bytes;
  }

  void load(std::string bytes) {
    program_.destroy(state_.get());
    init();
    run_.rows_again =
        rt::CheckpointIn("checkpoint", std::move(bytes)).restore(program_, state_.get(), given_, &anchor_);
  }

  struct Inputs {
    std::vector<const void*> pointers;
    std::vector<Tensor> absent;
  };
  Inputs inputs_of(std::int64_t cycle) {
    Inputs in;
    in.absent.reserve(inputs_.size());
    for (std::uint32_t i = 0; i < program_.n_inputs; ++i) {
      const Cell& cell = inputs_[i].cells[static_cast<std::size_t>(cycle)];
      present_[i] = cell.presence == Presence::present ? 1 : 0;
      if (present_[i] == 0)
        in.absent.emplace_back(static_cast<DType>(program_.inputs[i].dtype), shape(program_.inputs[i]));
      in.pointers.push_back(present_[i] != 0 ? cell.value.data() : in.absent.back().data());
    }
    return in;
  }

  std::int32_t push(std::int64_t cycle) {
    const Inputs in = inputs_of(cycle);
    return program_.push(state_.get(), in.pointers.data(), present_.data());
  }

  void lead() {
    std::vector<std::uint8_t> known(program_.n_outputs + 1);
    const bool all_out = header().popped == header().pushed && run_.rows_again == 0;
    if (program_.lead != nullptr && all_out) program_.lead(state_.get(), out_.data(), present_.data(), known.data());
    for (std::uint32_t i = 0; i < program_.n_outputs; ++i)
      result_.leads[i].cells.push_back(known[i] != 0 ? cell_of(i) : Cell{});
  }

  Cell cell_of(std::uint32_t output) const {
    const bool here = program_.outputs[output].always != 0 || present_[output] != 0;
    return here ? Cell{Presence::present, values_[output]} : Cell{Presence::absent, {}};
  }

  void pop() {
    while (program_.pop(state_.get(), out_.data(), present_.data()) == 1) take_row();
  }

  void take_row() {
    if (run_.rows_again > 0) {
      --run_.rows_again;
      return;
    }
    ++rows_;
    for (std::uint32_t i = 0; i < program_.n_outputs; ++i) result_.outputs[i].cells.push_back(cell_of(i));
  }

  void note_fault() {
    const rml_header& h = header();
    result_.stop_cycle = h.fault_cycle;
    result_.stop = "fault " + std::to_string(h.fault);
    if (h.fault == RML_FAULT_PRESENCE) {
      const char* name = program_.inputs[h.value].name;
      result_.stop = std::string("input '") + name + "' is " + (h.bound == 1 ? "present" : "absent");
    } else if (h.fault == RML_FAULT_HORIZON) {
      result_.stop = "segment longer than the horizon, begun in cycle " + std::to_string(h.value);
    } else if (h.site < program_.n_sites) {
      const rml_site& site = program_.sites[h.site];
      result_.stop =
          std::string(site.message) + " (" + std::to_string(site.line) + ":" + std::to_string(site.column) + ")";
    }
  }

  const rml_program& program_;
  const Chronogram& inputs_;
  const DriveOptions& options_;
  rt::GivenParameters given_;
  Memory state_;
  rt::Anchor anchor_;
  rt::RunRecord run_;
  std::vector<Tensor> values_;
  std::vector<void*> out_;
  std::vector<std::uint8_t> present_;
  std::int64_t rows_ = 0;  // number of rows that the program has handed out
  Driven result_;
};

}  // namespace

std::vector<ChronogramPort> ports(const rml_port* ports, std::uint32_t count) {
  std::vector<ChronogramPort> result;
  for (std::uint32_t i = 0; i < count; ++i)
    result.push_back({ports[i].name, static_cast<DType>(ports[i].dtype), shape(ports[i])});
  return result;
}

Driven drive(const rml_program& program, const Chronogram& inputs, const DriveOptions& options) {
  return Run(program, inputs, options).run();
}

}  // namespace rml

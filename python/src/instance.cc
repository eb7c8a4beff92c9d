#include "python/src/instance.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>

#include "runtime/base/failure.h"
#include "runtime/base/faults.h"
#include "runtime/base/memory.h"
#include "runtime/checkpoint/load_parameters.h"

namespace rml::python {
namespace {

// The greatest wanted time between an interruption and its effect.
constexpr std::chrono::milliseconds patience{10};
constexpr std::int64_t fewest_together = 64, most_together = 1 << 20;

std::string fault_words(const rml_program& program, const rml_header& header) {
  return rt::fault_text(program, header, [](std::uint32_t) { return std::string("argument"); });
}

}  // namespace

RunFault::RunFault(const std::string& text, const rml_program& program, const rml_header& header)
    : std::runtime_error(text), cycle(header.fault_cycle), file(program.source) {
  if (header.fault == RML_FAULT_PRESENCE || header.site >= program.n_sites) return;
  const rml_site& site = program.sites[header.site];
  if (site.file != nullptr) file = site.file;
  line = site.line;
  column = site.column;
  equation = site.message == nullptr ? "" : site.message;
}

void Column::reserve(std::size_t values) {
  if (values <= capacity) return;
  const std::size_t more = std::max(values, capacity + capacity / 2);
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(more, value_bytes(), &bytes)) throw std::bad_alloc();
  // Allocate at least one byte, so that the address is not null.
  void* const block = std::realloc(elements.get(), std::max<std::size_t>(bytes, 1));
  if (block == nullptr) throw std::bad_alloc();
  static_cast<void>(elements.release());
  elements.reset(static_cast<char*>(block));
  capacity = more;
}

Instance::Instance(std::shared_ptr<const Node> node, std::uint64_t seed, std::int64_t horizon)
    : node_(std::move(node)),
      seed_(seed),
      horizon_(horizon),
      in_(table().inputs, table().n_inputs),
      out_(std::make_shared<rt::Row>(table().outputs, table().n_outputs)),
      given_rows_(table().n_inputs),
      given_present_(table().n_inputs) {
  reset();
}

void Instance::reset() {
  if (state_ != nullptr && state_.use_count() == 1) {
    state_->restart(seed_, horizon_);
  } else {
    state_ = nullptr;
    state_ = std::make_shared<rt::ProgramState>(table(), seed_, horizon_);
  }
  anchor_ = std::make_unique<rt::Anchor>(table());
  anchor_->begin(block());
  rows_again_ = 0;
  given_ = rt::GivenParameters();
  written_outside_ = changed_ = false;
  check(header().fault);
}

void Instance::check(std::int32_t fault) {
  if (fault != RML_OK) throw RunFault(fault_words(table(), header()), table(), header());
}

void Instance::keep(const void* const* in, const std::uint8_t* present) {
  if (!node_->immediate()) anchor_->add(in, present);
}

void Instance::look() {
  if (node_->immediate()) return;
  if (anchor_->wants_look()) anchor_->look(block());
  if (rt::needs_itself(header())) throw RunFault(rt::undetermined_text(table(), header()), table(), header());
}

void Instance::forget_copies() const {
  if (table().n_packs > 0) std::memset(static_cast<char*>(block()) + table().packs, 0, table().n_packs);
}

void Instance::push() {
  if (written_outside_) forget_copies();
  check(table().push(block(), in_.const_pointers(), in_.present()));
  keep(in_.const_pointers(), in_.present());
}

bool Instance::take() {
  while (table().pop(block(), out_->pointers(), out_->present()) == 1) {
    if (rows_again_ == 0) return true;
    --rows_again_;
  }
  look();
  return false;
}

Rows Instance::no_rows() const {
  Rows rows;
  rows.first = row();
  rows.columns.resize(table().n_outputs);
  for (std::uint32_t k = 0; k < table().n_outputs; ++k) rows.columns[k].port = &table().outputs[k];
  return rows;
}

// Reserves memory before `more` cycles are read. The pages are used only later, when a lack of
// memory would end the process. Therefore a request beyond the memory of the machine is refused
// here.
void Instance::reserve(Rows& rows, std::int64_t more) const {
  const auto known = static_cast<std::size_t>(header().pushed - header().popped) + static_cast<std::size_t>(more);
  constexpr double much = 1 << 28;
  double bytes = 0;
  for (const Column& column : rows.columns)
    if (column.port->always != 0) bytes += static_cast<double>(known) * static_cast<double>(column.value_bytes());
  if (bytes > much && bytes > static_cast<double>(rt::default_memory_ceiling())) throw std::bad_alloc();
  for (Column& column : rows.columns)
    if (column.port->always != 0) column.reserve(column.size + known);
}

void Instance::drain(Rows& rows) {
  std::vector<void*> to(rows.columns.size());
  while (true) {
    for (std::size_t k = 0; k < to.size(); ++k) {
      Column& column = rows.columns[k];
      column.reserve(column.size + 1);
      to[k] = column.value(column.size);
    }
    if (table().pop(block(), to.data(), out_->present()) != 1) return;
    if (rows_again_ > 0) {
      --rows_again_;
      continue;
    }
    for (std::size_t k = 0; k < to.size(); ++k) {
      Column& column = rows.columns[k];
      if (column.port->always == 0) {
        if (!out_->is_present(static_cast<std::uint32_t>(k))) continue;
        column.at.push_back(header().popped - 1);
      }
      ++column.size;
    }
    ++rows.count;
  }
}

// Computes cycles by rml_program::run. It takes the address of the first element of each input
// and output, and computes `n` cycles from `from` on.
void Instance::run_together(const Cycles& cycles, std::int64_t from, std::int64_t n, Rows& rows) {
  const rml_program& p = table();
  std::vector<const void*> in(p.n_inputs);
  std::vector<const std::uint8_t*> present(p.n_inputs);
  for (std::uint32_t k = 0; k < p.n_inputs; ++k) {
    const std::uint64_t bytes = p.inputs[k].elements * rt::dtype_bytes(p.inputs[k].dtype);
    in[k] = static_cast<const char*>(cycles.elements[k]) + static_cast<std::uint64_t>(from) * bytes;
    if (cycles.present[k] != nullptr) present[k] = cycles.present[k] + from;
  }
  std::vector<void*> out(p.n_outputs);
  std::vector<std::uint8_t*> flags(p.n_outputs);
  std::vector<std::vector<std::uint8_t>> there(p.n_outputs);
  const auto room = static_cast<std::size_t>(n);
  for (std::uint32_t k = 0; k < p.n_outputs; ++k) {
    Column& column = rows.columns[k];
    column.reserve(column.size + room);
    out[k] = column.value(column.size);
    if (column.port->always != 0) continue;
    there[k].resize(room);
    flags[k] = there[k].data();
  }
  const std::int64_t before = header().popped;
  const std::int32_t fault = p.run(block(), n, in.data(), present.data(), out.data(), flags.data());
  const std::int64_t done = header().popped - before;
  for (std::uint32_t k = 0; k < p.n_outputs; ++k) {
    Column& column = rows.columns[k];
    if (column.port->always != 0) {
      column.size += static_cast<std::size_t>(done);
      continue;
    }
    const std::size_t bytes = column.value_bytes();
    char* const values = static_cast<char*>(out[k]);
    std::size_t kept = 0;
    for (std::int64_t i = 0; i < done; ++i) {
      if (there[k][static_cast<std::size_t>(i)] == 0) continue;
      if (static_cast<std::int64_t>(kept) != i)
        std::memcpy(values + kept * bytes, values + static_cast<std::size_t>(i) * bytes, bytes);
      ++kept;
      column.at.push_back(before + i);
    }
    column.size += kept;
  }
  rows.count += done;
  check(fault);
}

void Instance::run_singly(const Cycles& cycles, std::int64_t from, std::int64_t n, Rows& rows) {
  for (std::int64_t i = from; i < from + n; ++i) {
    for (std::uint32_t k = 0; k < table().n_inputs; ++k) {
      const rml_port& port = table().inputs[k];
      const std::uint64_t bytes = port.elements * rt::dtype_bytes(port.dtype);
      given_rows_[k] = static_cast<const char*>(cycles.elements[k]) + static_cast<std::uint64_t>(i) * bytes;
      given_present_[k] = cycles.present[k] == nullptr ? 1 : cycles.present[k][i];
    }
    check(table().push(block(), given_rows_.data(), given_present_.data()));
    drain(rows);
    keep(given_rows_.data(), given_present_.data());
    look();
  }
}

std::int64_t Instance::run(const Cycles& cycles, Rows& rows, const std::function<bool()>& interrupted) {
  using Clock = std::chrono::steady_clock;
  check(header().fault);
  if (written_outside_) forget_copies();
  reserve(rows, cycles.count);
  const bool together = table().run != nullptr && rows_again_ == 0;
  std::int64_t read = 0, chunk = fewest_together;
  while (read < cycles.count) {
    const std::int64_t n = std::min(chunk, cycles.count - read);
    const Clock::time_point begin = Clock::now();
    if (together)
      run_together(cycles, read, n, rows);
    else
      run_singly(cycles, read, n, rows);
    read += n;
    const auto taken = Clock::now() - begin;
    if (taken < patience / 2)
      chunk = std::min(chunk * 2, most_together);
    else if (taken > patience)
      chunk = std::max<std::int64_t>(chunk / 2, 1);
    if (read < cycles.count && interrupted()) break;
  }
  return read;
}

std::int64_t Instance::finish(Rows& rows, std::string& why) {
  check(header().fault);
  check(table().finish(block()));
  drain(rows);
  const std::int64_t unknown = header().pushed - header().popped;
  if (unknown > 0) why = rt::undetermined_text(table(), header());
  return unknown;
}

bool Instance::is_settled() const {
  const rml_program& p = node_->table();
  const rml_header& h = state_->header();
  if (h.popped != h.pushed) return false;
  for (std::uint32_t u = 0; p.flow != nullptr && u < p.flow->n_units; ++u) {
    const rml_memory& unit = p.memories[p.flow->first_unit + u];
    // rmlrt.h: the next instant of the unit, and for a segmented unit the number of instants of
    // its open segment.
    const auto* const counts = reinterpret_cast<const std::int64_t*>(static_cast<const char*>(block()) + unit.offset);
    if (p.flow->units[u].clock == RML_CLOCK_BASE && counts[0] != h.pushed) return false;
    if (unit.count == 1 && counts[1] != 0) return false;
  }
  return true;
}

std::string Instance::save(bool at_anchor) {
  rt::require_savable(table(), "save");
  check(header().fault);
  rt::RunRecord record;
  record.rows_again = rows_again_;
  // A load computes the cycles since the anchor again, which would lose changes made between
  // cycles. So a changed state is saved as it is.
  if (changed_ && !node_->immediate() && is_settled()) {
    anchor_->begin(block());
    changed_ = written_outside_;
  }
  const bool from_anchor = !node_->immediate() && (!changed_ || at_anchor);
  const rt::CheckpointOut checkpoint(table(), block(), record, {}, from_anchor ? anchor_.get() : nullptr);
  std::string bytes;
  for (const std::string_view piece : checkpoint.pieces()) bytes += piece;
  return bytes;
}

// If this fails, the instance keeps its state.
void Instance::load(const std::string& name, std::string bytes, const std::vector<std::string>& map) {
  rt::require_savable(table(), "load");
  rt::CheckpointIn saved(name, std::move(bytes));
  auto state = std::make_shared<rt::ProgramState>(table(), saved.seed(), horizon_);
  auto anchor = std::make_unique<rt::Anchor>(table());
  rt::GivenParameters given;
  saved.rename(table(), rt::parse_map(map));
  const std::int64_t again = saved.restore(table(), state->block(), given, anchor.get());
  if (state->header().fault != RML_OK)
    throw rt::Failure(name + ": a saved cycle fails when it is computed again:\n" +
                      fault_words(table(), state->header()));
  seed_ = saved.seed();
  state_ = std::move(state);
  anchor_ = std::move(anchor);
  given_ = std::move(given);
  rows_again_ = again;
  written_outside_ = changed_ = false;
}

std::vector<std::string> Instance::load_parameters(const rt::ParameterSource& source) {
  return rt::load_parameters(table(), block(), source, given_);
}

const void* Instance::given(const rml_parameter& p) const {
  if (p.slot == UINT64_MAX) return nullptr;
  const char* const slot = static_cast<const char*>(block()) + p.slot;
  const char* const at = *reinterpret_cast<const char* const*>(slot);
  return at == slot ? nullptr : at;
}

bool Instance::looked_at(const rml_parameter& p) const {
  if (p.slot == UINT64_MAX) return true;
  return *reinterpret_cast<const char* const*>(static_cast<const char*>(block()) + p.slot) == nullptr;
}

}  // namespace rml::python

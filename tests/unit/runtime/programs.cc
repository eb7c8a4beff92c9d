// Each program is a table of functions over a state that begins with its header.
#include "tests/unit/runtime/programs.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace rml::rt::test {
namespace {

template <class State>
State& at(void* state) {
  return *static_cast<State*>(state);
}

template <class T>
T load(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
void store(void* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

void nothing(void*) {}
std::int32_t no_finish(void*) { return RML_OK; }

std::int32_t stop(rml_header& header, std::int32_t fault, std::int64_t value, std::int64_t bound) {
  header.fault = fault;
  header.fault_cycle = header.pushed;
  header.site = 0;
  header.value = value;
  header.bound = bound;
  return fault;
}

constexpr rml_port scalar(const char* name, std::uint8_t dtype, const char* clock = "base", std::uint8_t always = 1) {
  return {name, clock, dtype, always, 0, 0, nullptr, 1};
}

template <class State>
rml_program table(const char* name, const char* source) {
  rml_program program{};
  program.abi = RML_ABI;
  program.name = name;
  program.source = source;
  program.state_bytes = sizeof(State);
  program.state_align = alignof(State);
  program.init = nothing;
  program.finish = no_finish;
  program.destroy = nothing;
  return program;
}

// ---- copy: the row follows the header, and each port has a block of its own

const rml_program* copied = nullptr;
const std::vector<PortSpec>* copied_specs = nullptr;

std::uint64_t port_bytes(const rml_port& port) {
  constexpr std::uint64_t sizes[] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8, 2, 4, 8};
  return port.elements * sizes[port.dtype];
}

std::int32_t copy_push(void* state, const void* const* in, const std::uint8_t* present) {
  auto& header = at<rml_header>(state);
  char* row = static_cast<char*>(state) + sizeof(rml_header);
  for (std::uint32_t i = 0; i < copied->n_inputs; ++i) {
    const int sampler = (*copied_specs)[i].sampled_by;
    const bool here = sampler < 0 || load<std::uint8_t>(in[sampler]) != 0;
    if (sampler >= 0 && here != (present[i] != 0)) return stop(header, RML_FAULT_PRESENCE, i, present[i]);
    *row++ = here ? 1 : 0;
    const std::uint64_t bytes = port_bytes(copied->inputs[i]);
    if (here && bytes > 0) std::memcpy(row, in[i], bytes);
    row += bytes;
  }
  ++header.pushed;
  return RML_OK;
}

std::int32_t copy_pop(void* state, void* const* out, std::uint8_t* present) {
  auto& header = at<rml_header>(state);
  if (header.popped == header.pushed) return 0;
  const char* row = static_cast<const char*>(state) + sizeof(rml_header);
  for (std::uint32_t i = 0; i < copied->n_outputs; ++i) {
    present[i] = static_cast<std::uint8_t>(*row++);
    const std::uint64_t bytes = port_bytes(copied->outputs[i]);
    if (present[i] && bytes > 0) std::memcpy(out[i], row, bytes);
    row += bytes;
  }
  ++header.popped;
  return 1;
}

}  // namespace

CopyProgram::CopyProgram(std::vector<PortSpec> specs) : specs_(std::move(specs)) {
  table_ = rt::test::table<rml_header>("copy", "copy.rml");
  for (const PortSpec& spec : specs_) {
    clocks_.push_back(spec.sampled_by < 0 ? "base"
                                          : "base on " + specs_[static_cast<std::size_t>(spec.sampled_by)].name);
  }
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    const PortSpec& spec = specs_[i];
    std::uint64_t elements = 1;
    for (const std::uint64_t dim : spec.dims) elements *= dim;
    ports_.push_back({spec.name.c_str(), clocks_[i].c_str(), spec.dtype,
                      static_cast<std::uint8_t>(spec.sampled_by < 0 ? 1 : 0), 0,
                      static_cast<std::uint32_t>(spec.dims.size()), spec.dims.data(), elements});
    table_.state_bytes += 1 + port_bytes(ports_.back());
  }
  table_.n_inputs = table_.n_outputs = static_cast<std::uint32_t>(ports_.size());
  table_.inputs = table_.outputs = ports_.data();
  table_.push = copy_push;
  table_.pop = copy_pop;
  copied = &table_;
  copied_specs = &specs_;
}

namespace {

struct Sums {
  rml_header header;
  float sum;
};

std::int32_t sums_push(void* state, const void* const* in, const std::uint8_t*) {
  at<Sums>(state).sum += load<float>(in[0]);
  ++at<Sums>(state).header.pushed;
  return RML_OK;
}

std::int32_t sums_pop(void* state, void* const* out, std::uint8_t* present) {
  auto& s = at<Sums>(state);
  if (s.header.popped == s.header.pushed) return 0;
  store(out[0], s.sum);
  present[0] = 1;
  ++s.header.popped;
  return 1;
}

struct Scale {
  rml_header header;
  double w, y;
  const double* slot;
};

void scale_init(void* state) { at<Scale>(state).slot = reinterpret_cast<double*>(&at<Scale>(state).slot); }

std::int32_t scale_push(void* state, const void* const* in, const std::uint8_t*) {
  auto& s = at<Scale>(state);
  if (s.header.pushed == 0) s.w = s.slot == reinterpret_cast<double*>(&s.slot) ? 2.0 : *s.slot;
  s.slot = nullptr;
  s.y = s.w * load<double>(in[0]);
  ++s.header.pushed;
  return RML_OK;
}

std::int32_t scale_pop(void* state, void* const* out, std::uint8_t* present) {
  auto& s = at<Scale>(state);
  if (s.header.popped == s.header.pushed) return 0;
  store(out[0], s.y);
  present[0] = 1;
  ++s.header.popped;
  return 1;
}

struct Evens {
  rml_header header;
  std::int32_t x;
};

std::int32_t evens_push(void* state, const void* const* in, const std::uint8_t*) {
  at<Evens>(state).x = load<std::int32_t>(in[0]);
  ++at<Evens>(state).header.pushed;
  return RML_OK;
}

std::int32_t evens_pop(void* state, void* const* out, std::uint8_t* present) {
  auto& s = at<Evens>(state);
  if (s.header.popped == s.header.pushed) return 0;
  const bool even = s.x % 2 == 0;
  present[0] = even ? 1 : 0;
  if (even) store(out[0], s.x);
  present[1] = 1;
  store(out[1], static_cast<std::uint8_t>(even));
  ++s.header.popped;
  return 1;
}

std::int32_t count_push(void* state, const void* const*, const std::uint8_t*) {
  ++at<rml_header>(state).pushed;
  return RML_OK;
}

std::int32_t count_pop(void* state, void* const* out, std::uint8_t* present) {
  auto& header = at<rml_header>(state);
  if (header.popped == header.pushed) return 0;
  store(out[0], header.popped++);
  present[0] = 1;
  return 1;
}

// Rows wait for the end of their segment. A block that grows holds the values of the segment.
struct SegmentMax {
  rml_header header;
  std::int32_t* values;
  std::uint64_t capacity, length, ready;
};

std::int32_t segment_push(void* state, const void* const* in, const std::uint8_t*) {
  auto& s = at<SegmentMax>(state);
  if (s.ready == s.length) s.ready = s.length = 0;
  if (s.header.horizon > 0 && s.length >= static_cast<std::uint64_t>(s.header.horizon)) {
    return stop(s.header, RML_FAULT_HORIZON, s.header.popped, 0);
  }
  if (s.length == s.capacity) {
    const std::uint64_t capacity = s.capacity ? 2 * s.capacity : 4;
    void* grown = s.header.grow(s.header.context, s.values, s.capacity * 4, capacity * 4);
    if (!grown) return stop(s.header, RML_FAULT_MEMORY, static_cast<std::int64_t>(capacity * 4), 0);
    s.values = static_cast<std::int32_t*>(grown);
    s.capacity = capacity;
    s.header.buffer_bytes = static_cast<std::int64_t>(capacity * 4);
  }
  s.values[s.length++] = load<std::int32_t>(in[1]);
  ++s.header.pushed;
  s.header.longest_segment = std::max(s.header.longest_segment, static_cast<std::int64_t>(s.length));
  if (load<std::uint8_t>(in[0])) {
    ++s.header.segments;
    std::fill(s.values, s.values + s.length, *std::max_element(s.values, s.values + s.length));
    s.ready = s.length;
  }
  return RML_OK;
}

std::int32_t segment_finish(void* state) {
  auto& header = at<rml_header>(state);
  header.waiting = header.pushed > header.popped ? 0 : -1;
  return RML_OK;
}

std::int32_t segment_pop(void* state, void* const* out, std::uint8_t* present) {
  auto& s = at<SegmentMax>(state);
  if (s.ready == 0) return 0;
  store(out[0], s.values[s.length - s.ready]);
  present[0] = 1;
  ++s.header.popped;
  if (--s.ready == 0) s.length = 0;
  return 1;
}

void segment_destroy(void* state) {
  auto& s = at<SegmentMax>(state);
  s.header.grow(s.header.context, s.values, s.capacity * 4, 0);
}

struct Failing {
  rml_header header;
  std::int32_t x;
};

template <std::int32_t fault>
std::int32_t failing_push(void* state, const void* const* in, const std::uint8_t*) {
  auto& s = at<Failing>(state);
  if (s.header.pushed == 3) return stop(s.header, fault, 7, 5);
  s.x = load<std::int32_t>(in[0]);
  ++s.header.pushed;
  return RML_OK;
}

std::int32_t failing_pop(void* state, void* const* out, std::uint8_t* present) {
  auto& s = at<Failing>(state);
  if (s.header.popped == s.header.pushed) return 0;
  store(out[0], s.x);
  present[0] = 1;
  ++s.header.popped;
  return 1;
}

const rml_port sums_in[] = {scalar("x", RML_F32)};
const rml_port sums_out[] = {scalar("sum", RML_F32)};
const rml_memory sums_memories[] = {{"sum", RML_CELL, RML_F32, 0, nullptr, 1, offsetof(Sums, sum), 0, 0}};
const rml_origin sums_origins[] = {{"sum", "", 0, UINT32_MAX, nullptr}};
const rml_watch sums_watches[] = {{UINT32_MAX, 0, {"sums.rml", 2, 3, "sum = x + (0 fby sum)"}},
                                  {0, UINT32_MAX, {"sums.rml", 1, 9, "sum"}}};
const rml_port scale_in[] = {scalar("x", RML_F64)};
const rml_port scale_out[] = {scalar("y", RML_F64)};
const rml_memory scale_memories[] = {{"w", RML_CELL, RML_F64, 0, nullptr, 1, offsetof(Scale, w), 0, 0}};
const rml_origin scale_origins[] = {{"w", "", 0, UINT32_MAX, nullptr}};
const rml_parameter scale_parameters[] = {{"w", RML_F64, 0, nullptr, 1, offsetof(Scale, slot), 0}};
const rml_port evens_in[] = {scalar("x", RML_I32)};
const rml_port evens_out[] = {scalar("y", RML_I32, "base on c", 0), scalar("c", RML_BOOL)};
const rml_port count_out[] = {scalar("n", RML_I64)};
const rml_port segment_in[] = {scalar("end", RML_BOOL), scalar("x", RML_I32)};
const rml_port segment_out[] = {scalar("m", RML_I32)};
const rml_cut segment_cuts[] = {{"end", {"segment.rml", 4, 10, nullptr}}};
const rml_site segment_sites[] = {{"segment.rml", 2, 3, "the segment cannot be held"}};
const rml_port failing_in[] = {scalar("x", RML_I32)};
const rml_port failing_out[] = {scalar("y", RML_I32)};

template <std::int32_t fault>
const rml_program& failing(const char* message) {
  static const rml_site site = {"fail.rml", 3, 5, message};
  static const rml_program program = [] {
    rml_program p = table<Failing>("fail", "fail.rml");
    p.n_inputs = p.n_outputs = p.n_sites = 1;
    p.inputs = failing_in;
    p.outputs = failing_out;
    p.sites = &site;
    p.push = failing_push<fault>;
    p.pop = failing_pop;
    return p;
  }();
  return program;
}

}  // namespace

const rml_program& sums_program() {
  static const rml_program program = [] {
    rml_program p = table<Sums>("sums", "sums.rml");
    p.n_inputs = p.n_outputs = 1;
    p.inputs = sums_in;
    p.outputs = sums_out;
    p.push = sums_push;
    p.pop = sums_pop;
    p.savable = p.n_memories = p.n_origins = 1;
    p.memories = sums_memories;
    p.origins = sums_origins;
    p.n_watches = 2;
    p.watches = sums_watches;
    return p;
  }();
  return program;
}

rml_program sums_that_differ(Differing how) {
  static const std::uint64_t one = 1;
  static rml_memory memories[2];
  static rml_origin origins[2];
  memories[0] = memories[1] = sums_memories[0];
  memories[1].name = "product";
  rml_program program = sums_program();
  program.memories = memories;
  if (how == Differing::name) memories[0].name = "total";
  if (how == Differing::dtype) memories[0].dtype = RML_I32;
  if (how == Differing::shape) memories[0].rank = 1, memories[0].dims = &one;
  if (how == Differing::more) program.n_memories = program.n_origins = 2;
  for (std::uint32_t k = 0; k < 2; ++k) origins[k] = {memories[k].name, "", k, UINT32_MAX, nullptr};
  program.origins = origins;
  return program;
}

const rml_program& scale_program() {
  static const rml_program program = [] {
    rml_program p = table<Scale>("scale", "scale.rml");
    p.n_inputs = p.n_outputs = p.savable = p.n_memories = p.n_origins = p.n_parameters = 1;
    p.inputs = scale_in;
    p.outputs = scale_out;
    p.memories = scale_memories;
    p.origins = scale_origins;
    p.parameters = scale_parameters;
    p.init = scale_init;
    p.push = scale_push;
    p.pop = scale_pop;
    return p;
  }();
  return program;
}

const rml_program& evens_program() {
  static const rml_program program = [] {
    rml_program p = table<Evens>("evens", "evens.rml");
    p.n_inputs = 1;
    p.n_outputs = 2;
    p.inputs = evens_in;
    p.outputs = evens_out;
    p.push = evens_push;
    p.pop = evens_pop;
    return p;
  }();
  return program;
}

const rml_program& count_program() {
  static const rml_program program = [] {
    rml_program p = table<rml_header>("count", "count.rml");
    p.n_outputs = 1;
    p.outputs = count_out;
    p.savable = 1;
    p.push = count_push;
    p.pop = count_pop;
    return p;
  }();
  return program;
}

const rml_program& segment_max_program() {
  static const rml_program program = [] {
    rml_program p = table<SegmentMax>("segment_max", "segment.rml");
    p.n_inputs = 2;
    p.n_outputs = p.n_cuts = p.n_sites = 1;
    p.inputs = segment_in;
    p.outputs = segment_out;
    p.cuts = segment_cuts;
    p.sites = segment_sites;
    p.push = segment_push;
    p.finish = segment_finish;
    p.pop = segment_pop;
    p.destroy = segment_destroy;
    return p;
  }();
  return program;
}

const rml_program& failing_program(std::int32_t fault) {
  switch (fault) {
    case RML_FAULT_DIVISION:
      return failing<RML_FAULT_DIVISION>("division by zero");
    case RML_FAULT_INDEX:
      return failing<RML_FAULT_INDEX>("index out of bounds");
    default:
      return failing<RML_FAULT_ASSERT>("assertion failed: x is small");
  }
}

}  // namespace rml::rt::test

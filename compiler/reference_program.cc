// Builds the rml_program table of a core and runs it on the interpreter.
//
// Sites are numbered in this order: values that can fail, asserts, inputs, then values that may
// need themselves. A cut is a condition that makes waiting values of a `post` known: c for `(post
// s) when not c`, and the condition of the next sample for a post on a sampled clock. If rows are
// missing at the end of the input, the program reports the first cut whose condition did not come
// true since the first missing row. If a value needs itself, it reports that value instead.
// Parameters can be given. The state cannot be saved, because it contains thunks.
#include "compiler/reference_program.h"

#include <ffi.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/port_table.h"
#include "semantics/core/queries.h"

namespace rml {

namespace {

// The condition comes true where `value` equals `truth`.
struct CutCondition {
  ValueId value;
  bool truth;
  friend bool operator==(const CutCondition&, const CutCondition&) = default;
};

CutCondition without_not(const Core& core, CutCondition cut) {
  while (const auto* negation = apply_of(core, cut.value, "logical_not")) cut = {negation->operands[0], !cut.truth};
  return cut;
}

std::vector<CutCondition> cut_conditions(const Core& core) {
  std::vector<CutCondition> cuts;
  const auto add = [&](CutCondition cut) {
    if (core.is_const(cut.value)) return;
    cut = without_not(core, cut);
    if (std::find(cuts.begin(), cuts.end(), cut) == cuts.end()) cuts.push_back(cut);
  };
  std::vector<bool> guarded(core.values.size());
  for (const Value& value : core.values) {
    const auto* when = std::get_if<core::When>(&value.rhs);
    if (when == nullptr || !std::holds_alternative<core::Post>(core[when->operand].rhs)) continue;
    guarded[when->operand.index] = true;
    add({when->condition, !when->positive});
  }
  for (std::size_t i = 0; i < core.values.size(); ++i) {
    const Value& value = core.values[i];
    if (!std::holds_alternative<core::Post>(value.rhs) || guarded[i] || value.clock.index < 2) continue;
    add({core[value.clock].condition, core[value.clock].positive});
  }
  return cuts;
}

// libffi initialises its memory at the first request for a closure, without a lock against
// concurrent requests.
std::mutex& closures() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

// Everything to which the table points. Strings are stored in a deque, so that their addresses
// stay valid.
struct ReferenceProgram::Tables {
  Tables(const Core& core, const SourceMap& sources, std::string source, CallExternal call, Failing failing)
      : core(core),
        sources(sources),
        call(std::move(call)),
        failing(failing),
        conditions(cut_conditions(core)),
        input_table(core, core.inputs),
        output_table(core, core.outputs) {
    build_parameters();
    build_watches();
    build_sites();
    for (const CutCondition& cut : conditions) cuts.push_back({cut_text(cut), site(core[cut.value].span, "")});
    program.abi = RML_ABI;
    program.name = keep(core.entry);
    program.source = keep(std::move(source));
  }

  const char* keep(std::string text) { return strings.emplace_back(std::move(text)).c_str(); }

  rml_site site(Span span, std::string message) {
    if (span.file >= sources.size()) span = Span{};
    const LineColumn place = sources.line_column(span.file, span.begin);
    return {keep(sources.path(span.file)), place.line, place.column, keep(std::move(message))};
  }

  // The slots of parameters follow the State in its block.
  void build_parameters();

  // Lists the float outputs, which --on-nan checks, so that each follows its operands.
  void build_watches() {
    for (std::size_t i = 0; i < core.outputs.size(); ++i) {
      const ValueId v = core.outputs[i].value;
      if (is_float(core[v].dtype))
        watches.push_back({static_cast<std::uint32_t>(i), UINT32_MAX, site(core[v].span, describe(core, v))});
    }
    std::ranges::stable_sort(watches, {}, [&](const rml_watch& w) { return core.outputs[w.output].value; });
  }

  // Builds the sites of values that can fail, including those in bodies of iterations.
  void build_value_sites(const Core& in) {
    for (std::size_t i = 0; i < in.values.size(); ++i) {
      const auto* apply = std::get_if<core::Apply>(&in.values[i].rhs);
      if (apply == nullptr || !can_fail(in, ValueId(i))) continue;
      value_sites[&in.values[i]] = static_cast<std::uint32_t>(sites.size());
      sites.push_back(site(in.values[i].span, std::string(operators()[apply->op].failure)));
    }
    for (const ExternalNode& external : in.externals)
      if (external.iteration != nullptr) build_value_sites(external.iteration->body);
  }

  void build_sites() {
    build_value_sites(core);
    assert_sites = static_cast<std::uint32_t>(sites.size());
    for (const CoreAssert& check : core.asserts) {
      const std::string text =
          check.message.empty() ? "assertion failed: " + describe(core, check.condition) : check.message;
      sites.push_back(site(check.span, text));
    }
    input_sites = static_cast<std::uint32_t>(sites.size());
    for (const Port& input : core.inputs) {
      sites.push_back(site(input.span, "input '" + input.name + "' does not keep to its clock, " +
                                           clock_string(core, core[input.value].clock)));
    }
    // Adds the sites of values that may need themselves through other cycles.
    for (std::size_t i = 0; i < core.values.size(); ++i) {
      const core::Rhs& rhs = core.values[i].rhs;
      if (!std::holds_alternative<core::Post>(rhs) && !std::holds_alternative<core::Merge>(rhs)) continue;
      knot_sites[static_cast<std::uint32_t>(i)] = static_cast<std::uint32_t>(sites.size());
      sites.push_back(site(core.values[i].span, describe(core, ValueId{i})));
    }
  }

  const char* cut_text(const CutCondition& cut) {
    const Span span = core[cut.value].span;
    std::string text = describe(core, cut.value);
    // A value without a name is described by the text of the source if that is short.
    if (core[cut.value].name.empty() && span.file != 0 && span.file < sources.size()) {
      const std::string_view words = sources.text(span);
      constexpr std::size_t longest = 60;
      if (!words.empty() && words.size() <= longest && words.find('\n') == std::string_view::npos) text = words;
    }
    if (!cut.truth) text = text.find(' ') == std::string::npos ? "not " + text : "not (" + text + ")";
    return keep(std::move(text));
  }

  const Core& core;
  const SourceMap& sources;
  const CallExternal call;
  const Failing failing;
  const std::vector<CutCondition> conditions;
  std::deque<std::string> strings;
  std::deque<std::vector<std::uint64_t>> dims;
  const PortTable input_table, output_table;
  const std::vector<rml_port>& inputs = input_table.rows();
  const std::vector<rml_port>& outputs = output_table.rows();
  std::vector<rml_site> sites;
  std::unordered_map<const Value*, std::uint32_t> value_sites;
  // Sites of values that may need themselves, by the index of the value.
  std::unordered_map<std::uint32_t, std::uint32_t> knot_sites;
  std::uint32_t assert_sites = 0, input_sites = 0;  // index of the first site of each of these kinds
  std::vector<rml_cut> cuts;
  std::vector<rml_parameter> parameters;
  std::vector<rml_watch> watches;
  rml_program program{};
  ffi_cif signature{};
  ffi_type* argument = &ffi_type_pointer;
  ffi_closure* closure = nullptr;
};

// The block that the host allocates. The interpreter is allocated separately.
struct ReferenceProgram::State {
  rml_header header;
  const Tables* tables;
  Interpreter* interpreter;

  static State& of(void* state) { return *static_cast<State*>(state); }

  // The body of the closure; `user` points to the tables of the program to which init belongs.
  static void init(ffi_cif*, void*, void** arguments, void* user) {
    State& state = of(*static_cast<void**>(arguments[0]));
    rml_header& h = state.header;
    h.pushed = h.popped = h.longest_segment = h.segments = h.buffer_bytes = 0;
    h.fault = RML_OK;
    h.site = 0;
    h.fault_cycle = h.value = h.bound = 0;
    h.waiting = -1;
    h.place = 0;
    state.tables = static_cast<const Tables*>(user);
    for (std::size_t p = 0; p < state.tables->parameters.size(); ++p) state.slot(p) = &state.slot(p);
    state.interpreter =
        new (std::nothrow) Interpreter(state.tables->core, h.seed, state.tables->call, state.tables->failing);
    if (state.interpreter == nullptr) h.fault = RML_FAULT_MEMORY;
  }

  static std::int32_t push(void* block, const void* const* in, const std::uint8_t* present) {
    State& state = of(block);
    if (state.header.fault != RML_OK) return state.header.fault;
    const Tables& tables = *state.tables;
    state.take_given();
    std::vector<Cell> cells;
    for (std::size_t i = 0; i < tables.inputs.size(); ++i) {
      const Value& input = tables.core[tables.core.inputs[i].value];
      Cell& cell = cells.emplace_back();
      cell.presence = Presence::absent;
      if (tables.inputs[i].always == 0 && present[i] == 0) continue;
      cell = {Presence::present, Tensor(input.dtype, input.shape)};
      if (cell.value.bytes() > 0) std::memcpy(cell.value.data(), in[i], cell.value.bytes());
    }
    if (const auto fault = state.interpreter->push(std::move(cells))) state.record(*fault);
    state.header.pushed = state.interpreter->pushed();
    return state.header.fault;
  }

  void*& slot(std::size_t parameter) { return reinterpret_cast<void**>(this + 1)[parameter]; }

  // Takes the parameters that the host gave before the first cycle.
  void take_given() {
    for (std::size_t p = 0; p < tables->parameters.size(); ++p) {
      const rml_parameter& row = tables->parameters[p];
      void* given = std::exchange(slot(p), nullptr);
      if (given == nullptr || given == &slot(p)) continue;
      Tensor value(static_cast<DType>(row.dtype), Shape(row.dims, row.dims + row.rank));
      if (value.bytes() > 0) std::memcpy(value.data(), given, value.bytes());
      interpreter->give(path_key(row.path), std::move(value));
    }
  }

  void record(const RunFault& fault) {
    header.fault = fault.fault.kind;
    header.fault_cycle = fault.cycle;
    header.value = fault.fault.value;
    header.bound = fault.fault.bound;
    if (fault.input != UINT32_MAX) {
      header.site = tables->input_sites + fault.input;
    } else if (fault.assertion != UINT32_MAX) {
      header.site = tables->assert_sites + fault.assertion;
    } else if (const auto site = tables->value_sites.find(fault.equation); site != tables->value_sites.end()) {
      header.site = site->second;
    }
  }

  static std::int32_t finish(void* block) {
    State& state = of(block);
    if (state.header.fault != RML_OK) return state.header.fault;
    state.interpreter->finish();
    state.header.waiting = state.first_waiting();
    return RML_OK;
  }

  // The host has popped all complete rows, so the first missing row is the next one to pop.
  std::int32_t first_waiting() const {
    if (interpreter->popped() == interpreter->pushed()) return -1;
    if (const std::int32_t knot = waiting_for_itself(); knot < -1) return knot;
    for (std::size_t i = 0; i < tables->conditions.size(); ++i) {
      if (!came_true(tables->conditions[i])) return static_cast<std::int32_t>(i);
    }
    return -1;
  }

  // Returns -2 - k if the value of sites[k] needs itself, else -1. Of several values it chooses
  // the one whose name has the fewest dots, which is nearest to the entry.
  std::int32_t waiting_for_itself() const {
    std::int32_t found = -1;
    std::ptrdiff_t best = PTRDIFF_MAX;
    for (const ValueId v : interpreter->knot()) {
      const auto site = tables->knot_sites.find(v.index);
      if (site == tables->knot_sites.end()) continue;
      const std::string& name = tables->core[v].name;
      const std::ptrdiff_t depth = name.empty() ? PTRDIFF_MAX - 1 : std::ranges::count(name, '.');
      if (depth >= best) continue;
      best = depth;
      found = -2 - static_cast<std::int32_t>(site->second);
    }
    return found;
  }

  bool came_true(const CutCondition& cut) const {
    for (std::int64_t n = interpreter->popped(); n < interpreter->pushed(); ++n) {
      const Cell cell = interpreter->at(cut.value, n);
      if (cell.presence == Presence::present && cell.value.truth() == cut.truth) return true;
    }
    return false;
  }

  static std::int32_t pop(void* block, void* const* out, std::uint8_t* present) {
    State& state = of(block);
    const auto row = state.interpreter->pop();
    if (!row) return 0;
    for (std::size_t i = 0; i < row->size(); ++i) {
      const Cell& cell = (*row)[i];
      present[i] = cell.presence == Presence::present ? 1 : 0;
      if (present[i] != 0 && cell.value.bytes() > 0) std::memcpy(out[i], cell.value.data(), cell.value.bytes());
    }
    state.header.popped = state.interpreter->popped();
    return 1;
  }

  static void destroy(void* block) {
    State& state = of(block);
    delete state.interpreter;
    state.interpreter = nullptr;
  }
};

void ReferenceProgram::Tables::build_parameters() {
  for (const Parameter& p : core.parameters) {
    const Value& value = core[p.value];
    const auto& extents = dims.emplace_back(value.shape.begin(), value.shape.end());
    parameters.push_back({keep(p.path), static_cast<std::uint8_t>(value.dtype),
                          static_cast<std::uint32_t>(extents.size()), extents.data(),
                          static_cast<std::uint64_t>(element_count(value.shape).value_or(0)),
                          sizeof(State) + sizeof(void*) * parameters.size(), UINT32_MAX});
  }
}

ReferenceProgram::ReferenceProgram(const Core& core, const SourceMap& sources, std::string source, CallExternal call,
                                   Failing failing)
    : tables_(std::make_unique<Tables>(core, sources, std::move(source), std::move(call), failing)) {
  Tables& t = *tables_;
  rml_program& p = t.program;
  p.n_inputs = static_cast<std::uint32_t>(t.inputs.size());
  p.n_outputs = static_cast<std::uint32_t>(t.outputs.size());
  p.n_watched = static_cast<std::uint32_t>(core.watched);
  p.n_sites = static_cast<std::uint32_t>(t.sites.size());
  p.n_cuts = static_cast<std::uint32_t>(t.cuts.size());
  p.inputs = t.inputs.data();
  p.outputs = t.outputs.data();
  p.sites = t.sites.data();
  p.cuts = t.cuts.data();
  p.n_parameters = static_cast<std::uint32_t>(t.parameters.size());
  p.parameters = t.parameters.data();
  p.n_watches = static_cast<std::uint32_t>(t.watches.size());
  p.watches = t.watches.data();
  p.state_bytes = sizeof(State) + sizeof(void*) * t.parameters.size();
  p.state_align = alignof(State);
  p.push = State::push;
  p.finish = State::finish;
  p.pop = State::pop;
  p.destroy = State::destroy;
  void* code = nullptr;
  {
    const std::lock_guard one_at_a_time(closures());
    t.closure = static_cast<ffi_closure*>(ffi_closure_alloc(sizeof(ffi_closure), &code));
  }
  if (t.closure == nullptr || ffi_prep_cif(&t.signature, FFI_DEFAULT_ABI, 1, &ffi_type_void, &t.argument) != FFI_OK ||
      ffi_prep_closure_loc(t.closure, &t.signature, State::init, &t, code) != FFI_OK) {
    throw std::bad_alloc();
  }
  p.init = reinterpret_cast<void (*)(void*)>(code);
}

ReferenceProgram::~ReferenceProgram() {
  const std::lock_guard one_at_a_time(closures());
  if (tables_->closure != nullptr) ffi_closure_free(tables_->closure);
}

const rml_program* ReferenceProgram::table() const { return &tables_->program; }

}  // namespace rml

// The evaluator chooses the instant at which the state begins; see Evaluator::take.
#include "runtime/checkpoint/demand_tensors.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "runtime/base/failure.h"
#include "runtime/checkpoint/beginning.h"
#include "runtime/checkpoint/state_parts.h"
#include "runtime/demand/evaluator.h"
#include "runtime/stream_io/row.h"

namespace rml::rt {
namespace {

using demand::Cell;
using demand::Evaluator;
using demand::Refused;
using demand::Subject;

Subject subject_of(const rml_memory& m) { return static_cast<Subject>(m.offset); }
std::uint64_t bytes_of(const rml_memory& m) { return m.elements * dtype_bytes(m.dtype); }

std::string_view elements_of(const rml_memory& m, const Cell& cell) {
  return {static_cast<const char*>(cell.data()), bytes_of(m)};
}

class Taking {
 public:
  Taking(const rml_program& program, const void* state, StateTensors& into)
      : program_(program), state_(state), evaluator_(demand::evaluator_of(state, *program.demand)), into_(into) {}

  void take() {
    into_.begins = evaluator_.take();
    for (std::uint32_t i = 0; i < program_.n_memories; ++i) {
      const rml_memory& m = program_.memories[i];
      m.kind == RML_LOOKS_BACK ? add_memory(m) : add_stream(m);
    }
    add_cycles(into_, evaluator_.cycles() - into_.begins);
    for (std::uint32_t p = 0; p < program_.n_parameters; ++p) add_parameter(program_.parameters[p], p);
    for (std::uint32_t p = 0; p < program_.n_parameters; ++p) add_given_to(program_.parameters[p]);
  }

 private:
  void add_memory(const rml_memory& m) {
    const Cell* const cell = into_.begins == 0 ? nullptr : evaluator_.memory(subject_of(m));
    if (cell != nullptr && cell->present())
      into_.tensors.push_back({m.name, m.dtype, {m.dims, m.dims + m.rank}, {elements_of(m, *cell)}});
    else
      (into_.begins == 0 || cell != nullptr ? into_.unbegun : into_.open).emplace_back(m.name);
  }

  void add_stream(const rml_memory& m) {
    std::vector<std::int64_t> instants;
    TensorOut elements{m.name, m.dtype, {0}, {}};
    for (std::int64_t n = into_.begins; n < evaluator_.cycles(); ++n) {
      const Cell* const cell = evaluator_.given(subject_of(m), n);
      if (cell == nullptr || !cell->present()) continue;
      instants.push_back(n);
      elements.pieces.push_back(elements_of(m, *cell));
    }
    elements.shape = {instants.size()};
    elements.shape.insert(elements.shape.end(), m.dims, m.dims + m.rank);
    into_.tensors.push_back(std::move(elements));
    add_counts(into_, cycles_of(m.name), std::move(instants));
  }

  void add_given_to(const rml_parameter& p) {
    const char* const given = p.slot == UINT64_MAX ? nullptr : given_in(state_, p);
    if (given != nullptr) add_given(into_, p, given);
  }

  void add_parameter(const rml_parameter& p, std::uint32_t number) {
    const bool again = number > 0 && std::strcmp(program_.parameters[number - 1].path, p.path) == 0;
    if (p.memory == UINT32_MAX || again) return;
    const rml_memory& m = program_.memories[p.memory];
    if (const Cell* const latest = evaluator_.latest(subject_of(m)); latest != nullptr)
      add_latest(into_, p, elements_of(m, *latest));
  }

  const rml_program& program_;
  const void* const state_;
  Evaluator& evaluator_;
  StateTensors& into_;
};

class Restoring {
 public:
  Restoring(const rml_program& program, void* state, StateFile& from, const BeginningOfState& how,
            const CyclesOfState& run)
      : program_(program),
        evaluator_(demand::evaluator_of(state, *program.demand)),
        from_(from),
        begins_(how.begins),
        all_rows_(how.all_rows),
        run_(run),
        unbegun_(how.unbegun.begin(), how.unbegun.end()),
        open_(how.open.begin(), how.open.end()) {}

  void restore() {
    compare();
    expect_cycles(from_, run_, begins_);
    if (run_.cycles > most_cycles) from_.damaged("its cycle numbers contradict each other");
    for (std::uint32_t i = 0; i < program_.n_memories; ++i) check(program_.memories[i]);
    try {
      put();
    } catch (const Refused& refused) {
      from_.too_large(refused.bytes);
    }
    if (all_rows_ && evaluator_.rows() > run_.rows)
      from_.damaged("'rows' counts " + std::to_string(run_.rows) + ", not " + std::to_string(evaluator_.rows()) +
                    ": all values that they wait for are present");
  }

 private:
  bool is_input(const rml_memory& m) const { return program_.demand->equations[m.offset].kind == RML_EQ_INPUT; }
  bool has_value(const rml_memory& m) const { return !unbegun_.contains(m.name) && !open_.contains(m.name); }

  void compare() {
    for (std::uint32_t i = 0; i < program_.n_memories; ++i) {
      const rml_memory& m = program_.memories[i];
      if (m.kind == RML_LOOKS_BACK)
        expect_memory(from_, m.name, m.dtype, {m.dims, m.dims + m.rank}, has_value(m));
      else if (is_input(m) || from_.has(m.name))
        expect_stream(from_, m.name, m.dtype, {m.dims, m.dims + m.rank});
    }
    from_.expect(cycles_name, RML_BOOL, {}, true);
    from_.expect_given();
    from_.compare();
  }

  void check(const rml_memory& m) const {
    if (m.kind == RML_LOOKS_BACK) {
      if (begins_ == 0 && has_value(m)) from_.damaged(std::string("'") + m.name + "' has a value before cycle 0");
      return;
    }
    if (!from_.has(m.name)) return;
    const rml_equation& equation = program_.demand->equations[m.offset];
    stream_cycles(from_, m.name, begins_, run_.cycles, is_input(m) && equation.clock == RML_CLOCK_BASE);
  }

  void put() {
    evaluator_.begin(begins_, run_.cycles, run_.rows);
    for (std::uint32_t i = 0; i < program_.n_memories; ++i) {
      const rml_memory& m = program_.memories[i];
      if (m.kind == RML_OUTSIDE) {
        if (!from_.has(m.name)) continue;
        const std::vector<std::int64_t> instants = from_.counts(cycles_of(m.name));
        const char* const elements = from_.tensor(m.name).data.data();
        for (std::size_t k = 0; k < instants.size(); ++k)
          evaluator_.put(subject_of(m), instants[k], elements + k * bytes_of(m));
      } else if (begins_ > 0 && !open_.contains(m.name)) {
        evaluator_.put_memory(subject_of(m),
                              unbegun_.contains(m.name) ? nullptr : memory_in(from_, m.name).data.data());
      }
    }
    evaluator_.resume();
  }

  // an evaluator's keys have 40 bits for an instant
  static constexpr std::int64_t most_cycles = std::int64_t{1} << 39;

  const rml_program& program_;
  Evaluator& evaluator_;
  StateFile& from_;
  const std::int64_t begins_;
  const bool all_rows_;
  const CyclesOfState run_;
  const std::set<std::string> unbegun_, open_;
};

}  // namespace

void take_on_demand(const rml_program& program, const void* state, StateTensors& into) {
  Taking(program, state, into).take();
}

void restore_on_demand(const rml_program& program, void* state, StateFile& from, const BeginningOfState& how,
                       const CyclesOfState& cycles, GivenParameters& given) {
  give_again(program, state, from, given);
  Restoring(program, state, from, how, cycles).restore();
}

}  // namespace rml::rt

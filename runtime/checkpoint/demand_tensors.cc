// See demand_tensors.h. A file may have been written by anybody: each of its cycles has a byte there, so no more is
// computed than the file is long.
#include "runtime/checkpoint/demand_tensors.h"

#include <algorithm>
#include <set>

#include "runtime/checkpoint/state_file.h"
#include "runtime/demand/evaluator.h"
#include "runtime/failure.h"
#include "runtime/stream_io/row.h"

namespace rml::rt {
namespace {

using demand::Cell;
using demand::Evaluator;
using demand::Refused;
using demand::Subject;

constexpr const char* cycles_name = "cycles";

Subject subject_of(const rml_memory& m) { return static_cast<Subject>(m.offset); }
std::uint64_t bytes_of(const rml_memory& m) { return m.elements * dtype_bytes(m.dtype); }
std::string cycles_of(const rml_memory& m) { return std::string(m.name) + " at"; }

std::string_view elements_of(const rml_memory& m, const Cell& cell) {
  return {static_cast<const char*>(cell.data()), bytes_of(m)};
}

class Taking {
 public:
  Taking(const rml_program& program, const void* state, StateTensors& into)
      : program_(program), evaluator_(demand::evaluator_of(state, *program.demand)), into_(into) {}

  void take() {
    into_.begins = evaluator_.take();
    for (std::uint32_t i = 0; i < program_.n_memories; ++i) {
      const rml_memory& m = program_.memories[i];
      m.kind == RML_LOOKS_BACK ? add_memory(m) : add_stream(m);
    }
    const std::int64_t cycles = evaluator_.cycles() - into_.begins;
    constexpr std::int64_t all_true = 0x0101010101010101;
    add({cycles_name, RML_BOOL, {static_cast<std::uint64_t>(cycles)}, {}},
        std::vector<std::int64_t>(static_cast<std::size_t>(cycles + 7) / 8, all_true),
        static_cast<std::size_t>(cycles));
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
    const std::size_t count = instants.size();
    add({cycles_of(m), RML_I64, {count}, {}}, std::move(instants), 8 * count);
  }

  void add(TensorOut tensor, std::vector<std::int64_t> words, std::size_t bytes) {
    const auto& kept = into_.owned.emplace_back(std::move(words));
    tensor.pieces.push_back({reinterpret_cast<const char*>(kept.data()), bytes});
    into_.tensors.push_back(std::move(tensor));
  }

  const rml_program& program_;
  Evaluator& evaluator_;
  StateTensors& into_;
};

class Restoring {
 public:
  Restoring(const rml_program& program, void* state, const std::string& file, const Safetensors& from,
            const StateOnDemand& how, const CyclesOfState& run)
      : program_(program),
        evaluator_(demand::evaluator_of(state, *program.demand)),
        file_(file),
        from_(program, file, from),
        begins_(how.begins),
        run_(run),
        unbegun_(how.unbegun.begin(), how.unbegun.end()),
        open_(how.open.begin(), how.open.end()) {}

  const StateFile& file() const { return from_; }

  void restore() {
    compare();
    if (begins_ > run_.rows || run_.cycles > most_cycles) from_.damaged("its cycle numbers contradict each other");
    if (from_.tensor(cycles_name).shape[0] != static_cast<std::uint64_t>(run_.cycles - begins_))
      from_.damaged("'cycles' does not have as many elements as there are cycles from " + std::to_string(begins_) +
                    " on");
    for (std::uint32_t i = 0; i < program_.n_memories; ++i) check(program_.memories[i]);
    try {
      put();
    } catch (const Refused& refused) {
      throw Failure(file_ + ": its buffers need " + std::to_string(refused.bytes) +
                    " bytes more than this run may use");
    }
    if (evaluator_.rows() > run_.rows)
      from_.damaged("'rows' counts " + std::to_string(run_.rows) + ", not " + std::to_string(evaluator_.rows()) +
                    ": all that they wait for is there");
  }

 private:
  bool has_value(const rml_memory& m) const { return !unbegun_.contains(m.name) && !open_.contains(m.name); }

  void compare() {
    for (std::uint32_t i = 0; i < program_.n_memories; ++i) {
      const rml_memory& m = program_.memories[i];
      if (m.kind == RML_OUTSIDE || has_value(m))
        from_.expect(m.name, m.dtype, {m.dims, m.dims + m.rank}, m.kind == RML_OUTSIDE);
      if (m.kind == RML_OUTSIDE) from_.expect(cycles_of(m), RML_I64, {}, true);
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
    const std::vector<std::int64_t> instants = from_.counts(cycles_of(m));
    const std::string name = "'" + cycles_of(m) + "'";
    if (instants.size() != from_.tensor(m.name).shape[0])
      from_.damaged(std::string("'") + m.name + "' does not have as many elements as " + name);
    std::int64_t least = begins_;
    for (const std::int64_t n : instants) {
      if (n < least || n >= run_.cycles)
        from_.damaged(name + " has " + std::to_string(n) + ", not " + std::to_string(least) + " to " +
                      std::to_string(run_.cycles - 1));
      least = n + 1;
    }
    const rml_equation& equation = program_.demand->equations[m.offset];
    if (equation.kind == RML_EQ_INPUT && equation.clock == RML_CLOCK_BASE &&
        instants.size() != static_cast<std::uint64_t>(run_.cycles - begins_))
      from_.damaged(std::string("'") + m.name + "' does not have an element for each cycle");
  }

  void put() {
    evaluator_.begin(begins_, run_.cycles, run_.rows);
    for (std::uint32_t i = 0; i < program_.n_memories; ++i) {
      const rml_memory& m = program_.memories[i];
      if (m.kind == RML_OUTSIDE) {
        const std::vector<std::int64_t> instants = from_.counts(cycles_of(m));
        const char* const elements = from_.tensor(m.name).data.data();
        for (std::size_t k = 0; k < instants.size(); ++k)
          evaluator_.put(subject_of(m), instants[k], elements + k * bytes_of(m));
      } else if (begins_ > 0 && !open_.contains(m.name)) {
        evaluator_.put_memory(subject_of(m), unbegun_.contains(m.name) ? nullptr : from_.tensor(m.name).data.data());
      }
    }
    evaluator_.resume();
  }

  static constexpr std::int64_t most_cycles = std::int64_t{1} << 39;  // places have 40 bits for them

  const rml_program& program_;
  Evaluator& evaluator_;
  const std::string& file_;
  StateFile from_;
  const std::int64_t begins_;
  const CyclesOfState run_;
  const std::set<std::string> unbegun_, open_;
};

}  // namespace

void take_on_demand(const rml_program& program, const void* state, StateTensors& into) {
  Taking(program, state, into).take();
}

void restore_on_demand(const rml_program& program, void* state, const std::string& file, const Safetensors& from,
                       const StateOnDemand& how, const CyclesOfState& cycles, GivenParameters& given) {
  Restoring restoring(program, state, file, from, how, cycles);
  restoring.restore();
  give_again(program, state, restoring.file(), given);
}

}  // namespace rml::rt

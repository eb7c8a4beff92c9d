// A parameter is a cell. Its first value is given to the program before the cycle that reads it;
// from then on, the cell is written after each cycle in which the program has changed it.
#include "runtime/run/validation.h"

#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/base/failure.h"
#include "runtime/base/faults.h"
#include "runtime/base/signals.h"
#include "runtime/checkpoint/state_tensors.h"
#include "runtime/epochs/mean.h"
#include "runtime/ranks/in_process.h"
#include "runtime/ranks/ranks.h"
#include "runtime/run/program_state.h"
#include "runtime/stream_io/bytes/waiting.h"
#include "runtime/stream_io/endpoints/endpoints.h"

namespace rml::rt {
namespace {

TrainingOptions once(TrainingOptions training) {
  training.epochs.reset();
  training.repeat = training.shuffle = false;
  return training;
}

const rml_program& without_ranks(const rml_program& program, const Options& options) {
  return options.among == nullptr ? program : options.among->program();
}

class HeldParameters {
 public:
  HeldParameters(const rml_program& program, const void* learner, void* state) : program_(program), state_(state) {
    for (const rml_parameter& p : std::span(program.parameters, program.n_parameters)) {
      if (p.slot == UINT64_MAX || p.memory == UINT32_MAX) continue;
      const rml_memory& memory = program.memories[p.memory];
      const char* const value = first_value(learner, p, memory);
      if (value == nullptr) continue;
      if (held_.empty() || std::string_view(held_.back().parameter->path) != p.path)
        given_.give(program, state, p.path, value);
      held_.push_back({&p, &memory, {value, value + memory.elements * dtype_bytes(memory.dtype)}});
    }
  }

  void put_back() {
    bool changed = false;
    for (const Held& held : held_) {
      if (*slot(state_, *held.parameter) != nullptr) continue;  // the program has not read it
      char* const cell = static_cast<char*>(state_) + held.memory->offset;
      if (held.value.empty() || std::memcmp(cell, held.value.data(), held.value.size()) == 0) continue;
      std::memcpy(cell, held.value.data(), held.value.size());
      changed = true;
    }
    if (changed) std::memset(static_cast<char*>(state_) + program_.packs, 0, program_.n_packs);
  }

 private:
  struct Held {
    const rml_parameter* parameter;
    const rml_memory* memory;
    std::vector<char> value;
  };
  static const char* const* slot(const void* state, const rml_parameter& p) {
    return reinterpret_cast<const char* const*>(static_cast<const char*>(state) + p.slot);
  }
  // Null if the learner neither has the parameter yet nor was given its first value.
  static const char* first_value(const void* learner, const rml_parameter& p, const rml_memory& memory) {
    const char* const* const at = slot(learner, p);
    if (*at == nullptr) return static_cast<const char*>(learner) + memory.offset;
    return *at == reinterpret_cast<const char*>(at) ? nullptr : *at;
  }

  const rml_program& program_;
  void* const state_;
  std::vector<Held> held_;
  GivenParameters given_;
};

}  // namespace

Validation::Validation(const rml_program& program, const Options& options, std::uint32_t metric)
    : program_(without_ranks(program, options)),
      options_(options),
      metric_(metric),
      out_(program.outputs, program.n_outputs),
      rows_(program_, options, options.training.validate, once(options.training), out_) {
  for (const rml_parameter& p : std::span(program.parameters, program.n_parameters))
    if (p.slot != UINT64_MAX && (p.memory == UINT32_MAX || program.memories[p.memory].kind != RML_CELL))
      throw Failure(std::string("--validate: parameter '") + p.path +
                        "' is not in a cell that could be held, because the program runs on demand or in the "
                        "reference engine; validate in Python, with rmlc.training.epochs",
                    exit_usage);
  for (const Endpoint& input : rows_.endpoints())
    if (input.peer || input.path == "-")
      throw Failure("--validate " + input.path + ": the rows are read after each epoch; give a file", exit_usage);
  const Row own(program.outputs, program.n_outputs);
  std::vector<Endpoint> none;
  use_texts(rows_.texts(), rows_.of_files(), rows_.endpoints(), own, none);
}

double Validation::mean(const void* learner) {
  const auto& learned = *static_cast<const rml_header*>(learner);
  Alone transport;
  Ranks ranks(transport);
  const rml_program program = program_.per_step > 0 ? ranks.among_ranks(program_) : program_;
  ProgramState state(program, learned.seed, options_.horizon, program_.per_step > 0 ? ranks.handle() : nullptr);
  HeldParameters held(program, learner, state.block());
  const std::unique_ptr<RowSource> source = rows_.open({});
  const Row& in = rows_.row();
  Mean mean;
  while (source->read()) {
    check_interrupt();
    if (program.push(state.block(), in.const_pointers(), in.present()) != RML_OK) {
      ranks.rethrow();
      throw Failure("--validate: " +
                    fault_text(program, state.header(), [&](std::uint32_t input) { return source->place(input); }));
    }
    while (program.pop(state.block(), out_.pointers(), out_.present()) == 1) mean.add(out_, metric_);
    held.put_back();
  }
  if (mean.empty())
    throw Failure("--validate " + source->name() + ": '" + out_.port(metric_).name + "' has no value in " +
                  std::to_string(state.header().pushed) +
                  " rows; it must be present in some rows that are known at the end of the file");
  return mean.value();
}

}  // namespace rml::rt

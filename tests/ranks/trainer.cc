// A program like the compiler's output for a node whose rows are dealt to ranks:
//
//   node main(end: bool, x: f64[4] dealt end, t: f64 dealt end) -> (error: f64)
//
// A linear model learns t from x. Each x is halved if the hash of the row's global number is odd,
// like a random function. Steps have eight micro-batches. At the end of a step the weights move
// against the sum of all gradients, which rml_all_sum forms. A t above 1e9 is a fault. For tests
// of failing ranks, TRAINER_DELAY is the time of a cycle in microseconds, on the rank
// TRAINER_SLOW only if that is given. The rank TRAINER_LATE ends a second late.
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "runtime/base/rmlrt.h"

extern "C" {
// If the program is linked with MPI, MPI_Finalize is defined here and calls the library's by its
// other name.
[[gnu::weak]] int PMPI_Finalize();
int MPI_Finalize();
}

namespace {

constexpr std::uint32_t per_step = 8, width = 4;

struct Trainer {
  rml_header header;
  double weights[width], gradient[width];
  std::int64_t own_micro_batches;
  double error;
};

std::uint64_t hash(std::uint64_t x) {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdu;
  return x ^ (x >> 33);
}

std::atomic<std::uint32_t> rank;  // rank of the process

void be_slow(rml_ranks* ranks) {
  rank = rml_rank(ranks);
  const char* const delay = std::getenv("TRAINER_DELAY");
  const char* const slow = std::getenv("TRAINER_SLOW");
  if (delay == nullptr || (slow != nullptr && std::to_string(rml_rank(ranks)) != slow)) return;
  usleep(static_cast<useconds_t>(std::atoi(delay)));
}

std::int32_t push(void* state, const void* const* in, const std::uint8_t*) {
  auto& s = *static_cast<Trainer*>(state);
  rml_ranks* const ranks = s.header.ranks;
  be_slow(ranks);
  std::uint8_t end = 0;
  double x[width], t = 0;
  std::memcpy(&end, in[0], sizeof end);
  std::memcpy(x, in[1], sizeof x);
  std::memcpy(&t, in[2], sizeof t);
  if (t > 1e9) {
    s.header.fault = RML_FAULT_ASSERT;
    s.header.fault_cycle = s.header.pushed;
    return RML_FAULT_ASSERT;
  }
  if ((hash(static_cast<std::uint64_t>(rml_global_row(ranks, s.header.pushed))) & 1) != 0)
    for (double& element : x) element *= 0.5;
  double y = 0;
  for (std::uint32_t i = 0; i < width; ++i) y += s.weights[i] * x[i];
  s.error = y - t;
  for (std::uint32_t i = 0; i < width; ++i) s.gradient[i] += s.error * x[i];
  if (end != 0) {
    const std::uint64_t micro_batch = rml_micro_batch(ranks, static_cast<std::uint64_t>(s.own_micro_batches++));
    const std::uint8_t last = rml_last_here(ranks, per_step, micro_batch);
    double sum[width];
    rml_all_sum(ranks, 0, RML_F64, width, s.gradient, per_step, micro_batch, last, sum);
    for (std::uint32_t i = 0; i < width; ++i) {
      if (last != 0) s.weights[i] -= 0.01 * sum[i];
      s.gradient[i] = 0;
    }
  }
  ++s.header.pushed;
  return RML_OK;
}

std::int32_t pop(void* state, void* const* out, std::uint8_t* present) {
  auto& s = *static_cast<Trainer*>(state);
  if (s.header.popped == s.header.pushed) return 0;
  std::memcpy(out[0], &s.error, sizeof s.error);
  present[0] = 1;
  ++s.header.popped;
  return 1;
}

constexpr std::uint64_t dims[] = {width};
constexpr rml_port inputs[] = {{"end", "base", RML_BOOL, 1, 0, 0, nullptr, 1},
                               {"x", "base", RML_F64, 1, 0, 1, dims, width},
                               {"t", "base", RML_F64, 1, 0, 0, nullptr, 1}};
constexpr rml_port outputs[] = {{"error", "base", RML_F64, 1, 0, 0, nullptr, 1}};
constexpr rml_memory memories[] = {
    {"weights", RML_CELL, RML_F64, 1, dims, width, offsetof(Trainer, weights), 0, 0},
    {"gradient", RML_CELL, RML_F64, 1, dims, width, offsetof(Trainer, gradient), 0, 0},
    {"own_micro_batches", RML_CELL, RML_I64, 0, nullptr, 1, offsetof(Trainer, own_micro_batches), 0, 0}};
constexpr rml_origin origins[] = {{"weights", "", 0, UINT32_MAX, nullptr},
                                  {"gradient", "", 1, UINT32_MAX, nullptr},
                                  {"own_micro_batches", "", 2, UINT32_MAX, nullptr}};

rml_program table() {
  rml_program program{};
  program.abi = RML_ABI;
  program.per_step = per_step;
  program.deal_end = 0;
  program.name = "main";
  program.source = "trainer.rml";
  program.n_inputs = 3;
  program.n_outputs = 1;
  program.inputs = inputs;
  program.outputs = outputs;
  program.savable = 1;
  program.n_memories = 3;
  program.memories = memories;
  program.n_origins = 3;
  program.origins = origins;
  program.repeatable = 1;
  program.state_bytes = sizeof(Trainer);
  program.state_align = alignof(Trainer);
  program.init = [](void*) {};
  program.push = push;
  program.finish = [](void*) -> std::int32_t { return RML_OK; };
  program.pop = pop;
  program.destroy = [](void*) {};
  return program;
}

}  // namespace

int MPI_Finalize() {
  const int status = PMPI_Finalize();
  const char* const late = std::getenv("TRAINER_LATE");
  if (late != nullptr && std::to_string(rank) == late) usleep(1'000'000);
  return status;
}

int main(int argc, char** argv) {
  const rml_program program = table();
  return rml_main(&program, argc, argv);
}

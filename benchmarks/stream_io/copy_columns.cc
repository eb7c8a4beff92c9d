// Copies rows of eight f32 inputs to eight outputs, to measure the cost of reading and writing
// text. Written by hand against rmlrt.h, like code that the compiler would generate.
#include <cstdint>
#include <cstring>

#include "runtime/base/rmlrt.h"

namespace {

constexpr std::uint32_t columns = 8;

struct State {
  rml_header header;
  float row[columns];
};

void init(void*) {}

std::int32_t push(void* state, const void* const* in, const std::uint8_t*) {
  auto* s = static_cast<State*>(state);
  for (std::uint32_t i = 0; i < columns; ++i) std::memcpy(&s->row[i], in[i], sizeof(float));
  ++s->header.pushed;
  return RML_OK;
}

std::int32_t finish(void*) { return RML_OK; }

std::int32_t pop(void* state, void* const* out, std::uint8_t*) {
  auto* s = static_cast<State*>(state);
  if (s->header.popped == s->header.pushed) return 0;
  for (std::uint32_t i = 0; i < columns; ++i) std::memcpy(out[i], &s->row[i], sizeof(float));
  ++s->header.popped;
  return 1;
}

constexpr rml_port port(const char* name) { return {name, "base", RML_F32, 1, 0, nullptr, 1}; }

const rml_port inputs[columns] = {port("a"), port("b"), port("c"), port("d"),
                                  port("e"), port("f"), port("g"), port("h")};
const rml_port outputs[columns] = {port("p"), port("q"), port("r"), port("s"),
                                   port("t"), port("u"), port("v"), port("w")};
const rml_program program = {RML_ABI, "copy",  "copy.rml",    columns,        columns, 0,    0,      inputs, outputs,
                             nullptr, nullptr, sizeof(State), alignof(State), init,    push, finish, pop,    init};

}  // namespace

int main(int argc, char** argv) { return rml_main(&program, argc, argv); }

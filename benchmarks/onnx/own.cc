// Times one model that rmlc has compiled, through its C interface: own STEPS. NODE.h is main.h;
// INPUTS and OUTPUTS are the numbers of elements of its only input and output.
#include "main.h"
#include "steps.h"

int main(int, char** argv) {
  static main_state state;
  main_init(&state);
  std::vector<float> input(INPUTS), output(OUTPUTS);
  measure(std::atol(argv[1]), input, output, [&](long) { main_step(&state, input.data(), output.data()); });
}

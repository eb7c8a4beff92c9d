// Times steps that only wait: clock STEPS MICROSECONDS. Their longest times are caused by the machine alone.
#include "steps.h"

int main(int, char** argv) {
  const std::chrono::duration<double, std::micro> time(std::atof(argv[2]));
  std::vector<float> input(1), output(1);
  measure(std::atol(argv[1]), input, output, [&](long) {
    const auto begin = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - begin < time) {
    }
  });
}

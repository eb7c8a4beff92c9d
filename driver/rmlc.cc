// The program rmlc: its command line, and the set-up of its process.
#include <csignal>

#include "driver/commands/commands.h"
#include "runtime/base/standard_streams.h"

int main(int argc, char** argv) {
  rml::rt::open_standard_streams();
  std::signal(SIGXFSZ, SIG_IGN);  // Without the signal, a write beyond the size limit (`ulimit -f`) returns an error.
  return rml::command_line(argc, argv);
}

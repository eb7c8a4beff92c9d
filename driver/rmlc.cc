// The program rmlc: its command line, and what a process of its own must see to.
#include <csignal>

#include "driver/commands/commands.h"
#include "runtime/base/standard_streams.h"

int main(int argc, char** argv) {
  rml::rt::open_standard_streams();
  std::signal(SIGXFSZ, SIG_IGN);  // A file that may not grow (`ulimit -f`) is noticed by the write that meets it.
  return rml::command_line(argc, argv);
}

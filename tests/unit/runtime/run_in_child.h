// Runs rml_main in a child process and collects its output.
//
// A child is needed because the runtime writes to the file descriptors 1 and 2 and installs
// signal handlers, and because tests check its exit status. Each test has a folder of its own,
// which is removed at its end.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "runtime/base/rmlrt.h"
#include "tests/unit/temporary_folder.h"

namespace rml::rt::test {

struct Outcome {
  int status = -1;  // exit status; 1000 + signal if killed
  std::string out;
  std::string err;
};

// `input` is sent through a pipe (at most 64 KiB).
Outcome run(const rml_program& program, const std::vector<std::string>& arguments, const std::string& input = "");

// A child whose three streams are pipes, for an exchange row by row.
class Conversation {
 public:
  Conversation(const rml_program& program, const std::vector<std::string>& arguments);
  ~Conversation();
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;
  void send(const std::string& text);
  void end_input();
  // Returns the next line that the child writes to stdout; "<nothing>" if half a minute passes
  // without one.
  std::string receive_line();
  void close_output();
  // Sends the signal once the child handles it; an earlier signal would end the program.
  void interrupt(int signal);
  // Waits until the child has read all input and waits for more.
  void wait_until_it_waits();
  Outcome wait();

 private:
  pid_t child_ = -1;
  int to_ = -1;
  int from_ = -1;
  int errors_ = -1;
  std::string pending_;
};

using Folder = rml::test::TemporaryFolder;

// True if Python with NumPy is installed; otherwise the test is skipped.
bool has_numpy();
// Returns the standard output of the Python program. Fails the test if its exit status is not 0.
std::string python(const std::string& code);

}  // namespace rml::rt::test

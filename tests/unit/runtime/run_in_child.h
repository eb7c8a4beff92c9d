// Runs rml_main in a child process and collects what it wrote.
//
// A child, because the runtime writes to the file descriptors 1 and 2, installs signal handlers
// and is to be judged by its exit status. Each test has a folder of its own, removed at its end.
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

// input goes through a pipe (at most 64 KiB).
Outcome run(const rml_program& program, const std::vector<std::string>& arguments, const std::string& input = "");

// A child whose three streams are pipes, to talk to row by row.
class Conversation {
 public:
  Conversation(const rml_program& program, const std::vector<std::string>& arguments);
  ~Conversation();
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;
  void send(const std::string& text);
  void end_input();
  // The next line the child writes to stdout; "<nothing>" after half a minute without one.
  std::string receive_line();
  void close_output();
  // Once the child looks for the signal: one that comes before ends any program.
  void interrupt(int signal);
  // Until the child has taken all input and asks for more.
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

// Runs Python with NumPy; false if there is none (the test then skips).
bool has_numpy();
// The program's standard output; fails the test if it exits with another status than 0.
std::string python(const std::string& code);

}  // namespace rml::rt::test

// Runs other programs: the C compiler that links, dot and rsvg-convert that draw, python3 that reads tables.
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rml {

struct Finished {
  int status = 0;      // exit status, or 128 + the signal that killed the program
  std::string errors;  // the bytes that the program wrote to stderr
  std::string output;  // the bytes that the program wrote to stdout
};

// The folders of PATH with absolute names. Others are skipped, because a user who names `cc` does not mean a file in
// the current folder.
std::vector<std::string> program_folders();
// Finds a program in the folders of PATH; nothing if there is none.
std::optional<std::string> find_on_path(const std::string& name);
// Runs arguments[0] until it ends, in this folder (empty: the current one), with `input` as its stdin. Returns nothing
// if it cannot be started.
std::optional<Finished> run_to_end(const std::vector<std::string>& arguments, const std::string& folder = {},
                                   std::string_view input = {});

// A program that runs beside this one, without input. It gets no signals of the terminal, and ends with this object.
class RunningProgram {
 public:
  // Null if it cannot be started.
  static std::unique_ptr<RunningProgram> start(const std::vector<std::string>& arguments);
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;
  ~RunningProgram();

  int output() const { return output_; }  // the descriptor from which its stdout is read
  // Waits until it has ended. The result has no output.
  Finished wait();

 private:
  RunningProgram() = default;

  pid_t child_ = 0;  // 0 if it has ended
  int output_ = -1;
  std::FILE* errors_ = nullptr;
};

}  // namespace rml

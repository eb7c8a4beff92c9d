// What happens when the compiler itself is at fault.
//
// A broken invariant is an InternalError. Each thread notes what the compiler does in it, where even a handler of
// signals can read it, so that a report can name the phase and the file.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace rml {

class InternalError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What the compiler does in a thread.
struct Activity {
  static constexpr std::size_t longest_file = 1024;
  const char* phase = nullptr;  // a literal; null: none has begun
  char file[longest_file] = "";
};
// That of the calling thread.
Activity& activity();

// The phase noted until the destructor, or until another is noted; `name` is a literal.
class CurrentPhase {
 public:
  explicit CurrentPhase(const char* name);
  CurrentPhase(const CurrentPhase&) = delete;
  CurrentPhase& operator=(const CurrentPhase&) = delete;
  ~CurrentPhase();

 private:
  const char* outer_;
};

void note_current_file(const std::string& file);

}  // namespace rml

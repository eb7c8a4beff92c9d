// Runs programs by posix_spawn, without a shell. Their input and output are unlinked temporary files rather
// than pipes, so that a program that writes much to both outputs cannot block.
#include "runtime/base/subprocess.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <sstream>

extern char** environ;

namespace rml {
namespace {

class TemporaryStream {
 public:
  TemporaryStream() : file_(std::tmpfile()) {}
  TemporaryStream(const TemporaryStream&) = delete;
  TemporaryStream& operator=(const TemporaryStream&) = delete;
  ~TemporaryStream() {
    if (file_) std::fclose(file_);
  }
  bool open() const { return file_ != nullptr; }
  int descriptor() const { return fileno(file_); }
  // Writes the text and returns to its beginning; false if the disk is full.
  bool fill(std::string_view text) {
    const bool written = std::fwrite(text.data(), 1, text.size(), file_) == text.size() && std::fflush(file_) == 0;
    std::rewind(file_);
    return written;
  }
  std::string contents() {
    std::rewind(file_);
    std::string text;
    char block[4096];
    while (const std::size_t got = std::fread(block, 1, sizeof block, file_)) text.append(block, got);
    return text;
  }

 private:
  std::FILE* file_;
};

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

std::vector<std::string> program_folders() {
  const char* path = std::getenv("PATH");
  std::istringstream text(path ? path : "/usr/local/bin:/usr/bin:/bin");
  std::vector<std::string> folders;
  for (std::string folder; std::getline(text, folder, ':');)
    if (folder.starts_with('/')) folders.push_back(folder);
  return folders;
}

std::optional<std::string> find_on_path(const std::string& name) {
  for (const std::string& folder : program_folders()) {
    std::string candidate = folder + "/" + name;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return std::nullopt;
}

std::optional<Finished> run_to_end(const std::vector<std::string>& arguments, const std::string& folder,
                                   std::string_view input) {
  TemporaryStream text, output, errors;
  if (!text.open() || !output.open() || !errors.open() || !text.fill(input)) return std::nullopt;
  std::vector<char*> argv;
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, text.descriptor(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output.descriptor(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors.descriptor(), STDERR_FILENO);
  if (!folder.empty()) posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  pid_t child = 0;
  const int failed = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return std::nullopt;
  Finished result;
  result.status = wait_for(child);
  result.errors = errors.contents();
  result.output = output.contents();
  return result;
}

}  // namespace rml

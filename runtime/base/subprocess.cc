// Runs programs by posix_spawn, without a shell. Their input and output are unlinked temporary files rather
// than pipes, so that a program that writes much to both outputs cannot block.
#include "runtime/base/subprocess.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sstream>

extern char** environ;

namespace rml {
namespace {

std::string contents_of(std::FILE* file) {
  std::rewind(file);
  std::string text;
  char block[4096];
  while (const std::size_t got = std::fread(block, 1, sizeof block, file)) text.append(block, got);
  return text;
}

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
  std::string contents() { return contents_of(file_); }

 private:
  std::FILE* file_;
};

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Starts arguments[0]; 0 if that fails.
pid_t spawn(const std::vector<std::string>& arguments, const posix_spawn_file_actions_t& actions,
            const posix_spawnattr_t* attributes = nullptr) {
  std::vector<char*> argv;
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  pid_t child = 0;
  return posix_spawnp(&child, argv[0], &actions, attributes, argv.data(), environ) == 0 ? child : 0;
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
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, text.descriptor(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output.descriptor(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors.descriptor(), STDERR_FILENO);
  if (!folder.empty()) posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  const pid_t child = spawn(arguments, actions);
  posix_spawn_file_actions_destroy(&actions);
  if (child == 0) return std::nullopt;
  Finished result;
  result.status = wait_for(child);
  result.errors = errors.contents();
  result.output = output.contents();
  return result;
}

std::unique_ptr<RunningProgram> RunningProgram::start(const std::vector<std::string>& arguments) {
  std::unique_ptr<RunningProgram> program(new RunningProgram);
  int ends[2];
  if ((program->errors_ = std::tmpfile()) == nullptr || ::pipe2(ends, O_CLOEXEC) != 0) return nullptr;
  program->output_ = ends[0];
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(program->errors_), STDERR_FILENO);
  // The thread that starts it may block signals.
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigmask(&attributes, &none);
  program->child_ = spawn(arguments, actions, &attributes);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  return program->child_ == 0 ? nullptr : std::move(program);
}

RunningProgram::~RunningProgram() {
  if (child_ != 0) {
    ::kill(child_, SIGKILL);
    wait_for(child_);
  }
  if (output_ >= 0) ::close(output_);
  if (errors_ != nullptr) std::fclose(errors_);
}

Finished RunningProgram::wait() {
  Finished result;
  result.status = wait_for(child_);
  child_ = 0;
  result.errors = contents_of(errors_);
  return result;
}

}  // namespace rml

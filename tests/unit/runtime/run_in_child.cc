// Connects the child by pipes and waits for it in /proc; the child runs rml_main and exits with
// its status.
#include "tests/unit/runtime/run_in_child.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace rml::rt::test {
namespace {

constexpr int patience_ms = 30'000;

[[noreturn]] void be_the_program(const rml_program& program, const std::vector<std::string>& arguments, int in, int out,
                                 int err) {
  dup2(in, 0);
  dup2(out, 1);
  dup2(err, 2);
  std::vector<std::string> texts = {program.name};
  texts.insert(texts.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& text : texts) argv.push_back(text.data());
  argv.push_back(nullptr);
  const int status = rml_main(&program, static_cast<int>(texts.size()), argv.data());
  std::fflush(nullptr);
  std::_Exit(status);
}

int exit_status(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

std::string read_all(int fd) {
  std::string text;
  char buffer[65536];
  ssize_t count = 0;
  while ((count = ::read(fd, buffer, sizeof buffer)) > 0) text.append(buffer, static_cast<std::size_t>(count));
  return text;
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

Outcome run(const rml_program& program, const std::vector<std::string>& arguments, const std::string& input) {
  const Folder folder;
  int in[2];
  EXPECT_EQ(::pipe2(in, O_CLOEXEC), 0);
  EXPECT_EQ(::write(in[1], input.data(), input.size()), static_cast<ssize_t>(input.size()));
  ::close(in[1]);
  const int out = ::open(folder.path("out").c_str(), O_CREAT | O_RDWR | O_APPEND | O_CLOEXEC, 0600);
  const int err = ::open(folder.path("err").c_str(), O_CREAT | O_RDWR | O_APPEND | O_CLOEXEC, 0600);
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) be_the_program(program, arguments, in[0], out, err);
  Outcome outcome;
  outcome.status = exit_status(child);
  for (const int fd : {in[0], out, err}) ::close(fd);
  outcome.out = folder.read("out");
  outcome.err = folder.read("err");
  return outcome;
}

Conversation::Conversation(const rml_program& program, const std::vector<std::string>& arguments) {
  int in[2], out[2], err[2];
  EXPECT_EQ(::pipe2(in, O_CLOEXEC) + ::pipe2(out, O_CLOEXEC) + ::pipe2(err, O_CLOEXEC), 0);
  std::fflush(nullptr);
  child_ = fork();
  if (child_ == 0) {
    ::close(in[1]);
    ::close(out[0]);
    const int out_end = ::dup(out[1]);
    ::close(out[1]);
    be_the_program(program, arguments, in[0], out_end, err[1]);
  }
  ::close(in[0]);
  ::close(out[1]);
  ::close(err[1]);
  to_ = in[1];
  from_ = out[0];
  errors_ = err[0];
}

Conversation::~Conversation() {
  end_input();
  close_output();
  if (child_ > 0) {
    ::kill(child_, SIGKILL);
    exit_status(child_);
  }
  ::close(errors_);
}

void Conversation::send(const std::string& text) {
  EXPECT_EQ(::write(to_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

void Conversation::end_input() {
  if (to_ >= 0) ::close(to_);
  to_ = -1;
}

void Conversation::close_output() {
  if (from_ >= 0) ::close(from_);
  from_ = -1;
}

std::string Conversation::receive_line() {
  while (true) {
    const std::size_t end = pending_.find('\n');
    if (end != std::string::npos) {
      const std::string line = pending_.substr(0, end);
      pending_.erase(0, end + 1);
      return line;
    }
    pollfd wanted{from_, POLLIN, 0};
    if (::poll(&wanted, 1, patience_ms) <= 0) return "<nothing>";
    char buffer[4096];
    const ssize_t count = ::read(from_, buffer, sizeof buffer);
    if (count <= 0) return "<end>";
    pending_.append(buffer, static_cast<std::size_t>(count));
  }
}

void Conversation::interrupt(int signal) {
  const auto caught = [&] {
    const std::string status = text_of("/proc/" + std::to_string(child_) + "/status");
    return std::stoull(status.substr(status.find("SigCgt:") + 7), nullptr, 16) >> (signal - 1) & 1;
  };
  for (int k = 0; signal != SIGKILL && !caught() && k < patience_ms; ++k) ::usleep(1000);
  ::kill(child_, signal);
}

void Conversation::wait_until_it_waits() {
  const auto sleep = [&] {
    const auto threads = std::filesystem::directory_iterator("/proc/" + std::to_string(child_) + "/task");
    return std::ranges::all_of(threads, [](const std::filesystem::directory_entry& thread) {
      const std::string stat = text_of(thread.path() / "stat");
      // True if the thread waits or has ended; a thread that has ended has no status.
      return stat.empty() || stat.find(") S ") != std::string::npos;
    });
  };
  int quiet = 0;  // observations in a row; one thread may wake another between two of them
  for (int k = 0; quiet < 3 && k < patience_ms; ++k) {
    int left = 0;
    quiet = ::ioctl(to_, FIONREAD, &left) == 0 && left == 0 && sleep() ? quiet + 1 : 0;
    ::usleep(1000);
  }
  EXPECT_EQ(quiet, 3);
}

Outcome Conversation::wait() {
  Outcome outcome;
  if (from_ >= 0) outcome.out = pending_ + read_all(from_);
  outcome.err = read_all(errors_);
  outcome.status = exit_status(child_);
  child_ = -1;
  return outcome;
}

bool has_numpy() { return std::system("/usr/bin/python3 -c 'import numpy' 2>/dev/null") == 0; }

std::string python(const std::string& code) {
  const Folder folder;
  const std::string script = folder.write("script.py", "import numpy as np\n" + code);
  const std::string command = "/usr/bin/python3 " + script + " > " + folder.path("out") + " 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0) << folder.read("out");
  return folder.read("out");
}

}  // namespace rml::rt::test

// `rmlc test`: language tests and cases of ONNX's conformance suite, several at a time.
//
// Every test runs in a forked process, so a crash, a hang or a full stack is a failure of that test alone. Results are
// printed in the order of the files.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <map>
#include <thread>

#include "compiler/internal_error.h"
#include "driver/checks/test_runner.h"
#include "driver/commands/commands.h"
#include "driver/models/onnx_test.h"

namespace rml {
namespace {

namespace fs = std::filesystem;

constexpr unsigned longest_seconds = 300;

bool is_onnx_test(const fs::path& folder) { return fs::is_regular_file(folder / "model.onnx"); }

// True if the file is in a folder `imported`, or below one; `from` is where the search began.
bool is_imported(const fs::path& file, const fs::path& from) {
  const fs::path folders = from.filename() / file.lexically_relative(from).parent_path();
  return std::ranges::find(folders, fs::path("imported")) != folders.end();
}

// A folder stands for its .rml files that are tests, and for its folders with a model. A file named on the command line
// is taken as a test.
std::vector<fs::path> find_tests(const std::vector<std::string>& paths) {
  std::vector<fs::path> files;
  for (const fs::path path : paths) {
    if (!fs::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    std::vector<fs::path> here;
    if (is_onnx_test(path)) here.push_back(path);
    for (const auto& entry : fs::recursive_directory_iterator(path)) {
      if (entry.is_directory() && is_onnx_test(entry.path())) here.push_back(entry.path());
      if (entry.is_regular_file() && entry.path().extension() == ".rml" && !is_imported(entry.path(), path))
        here.push_back(entry.path());
    }
    std::ranges::sort(here);
    files.insert(files.end(), here.begin(), here.end());
  }
  return files;
}

struct Worker {
  std::size_t test = 0;
  std::FILE* text = nullptr;
};

std::string contents(std::FILE* file) {
  std::rewind(file);
  std::string text;
  char block[4096];
  while (const std::size_t got = std::fread(block, 1, sizeof block, file)) text.append(block, got);
  return text;
}

class Workers {
 public:
  Workers(const std::vector<fs::path>& files, const TestRequest& request, std::ostream& out)
      : files_(files),
        request_(request),
        out_(out),
        limit_(request.workers == 0 ? std::max(1u, std::thread::hardware_concurrency()) : request.workers),
        results_(files.size()),
        done_(files.size()) {}

  void run() {
    for (std::size_t next = 0; next < files_.size() || !running_.empty();) {
      while (next < files_.size() && running_.size() < limit_) start(next++);
      await_one();
    }
  }

  std::size_t passed() const {
    return static_cast<std::size_t>(std::ranges::count_if(results_, [](const TestResult& r) { return r.passed; }));
  }

 private:
  void start(std::size_t test) {
    std::FILE* text = std::tmpfile();
    if (text == nullptr) throw InternalError(std::string("no temporary file: ") + std::strerror(errno));
    const pid_t child = fork();
    if (child < 0) throw InternalError(std::string("fork: ") + std::strerror(errno));
    if (child == 0) work(files_[test], text);
    running_[child] = {test, text};
  }

  [[noreturn]] void work(const fs::path& file, std::FILE* text) {
    // Output of a crash handler or a runtime belongs to the test's text as well.
    dup2(fileno(text), STDERR_FILENO);
    alarm(longest_seconds);
    const TestResult result =
        fs::is_directory(file)
            ? run_onnx_test(file, {request_.relative_tolerance, request_.absolute_tolerance}, request_.states)
            : run_language_test(file, {request_.bless, request_.brief, request_.on_demand, request_.threads});
    std::fwrite(result.text.data(), 1, result.text.size(), text);
    std::fflush(text);
    _exit(result.passed ? exit_success : exit_fault);
  }

  void await_one() {
    int status = 0;
    const pid_t child = waitpid(-1, &status, 0);
    const auto found = running_.find(child);
    if (found == running_.end()) return;
    const Worker worker = found->second;
    running_.erase(found);
    TestResult& result = results_[worker.test];
    result.text = contents(worker.text);
    std::fclose(worker.text);
    result.passed = WIFEXITED(status) && WEXITSTATUS(status) == exit_success;
    if (WIFSIGNALED(status))
      result.text += WTERMSIG(status) == SIGALRM ? "not finished after " + std::to_string(longest_seconds) + " s\n"
                                                 : std::string("ended by ") + strsignal(WTERMSIG(status)) + "\n";
    done_[worker.test] = true;
    print_what_is_next();
  }

  void print_what_is_next() {
    for (; printed_ < done_.size() && done_[printed_]; ++printed_) {
      const TestResult& result = results_[printed_];
      if (!result.passed) out_ << "FAILED " << files_[printed_].string() << "\n";
      if (result.text.empty()) continue;
      out_ << result.text << (result.text.back() == '\n' ? "" : "\n");
      out_.flush();
    }
  }

  const std::vector<fs::path>& files_;
  const TestRequest& request_;
  std::ostream& out_;
  std::size_t limit_;
  std::vector<TestResult> results_;
  std::vector<bool> done_;
  std::size_t printed_ = 0;
  std::map<pid_t, Worker> running_;
};

}  // namespace

std::size_t run_tests(const std::vector<fs::path>& files, const TestRequest& request, std::ostream& out) {
  out.flush();
  Workers workers(files, request, out);
  workers.run();
  return files.size() - workers.passed();
}

int test(Invocation&, const TestRequest& request) {
  const std::vector<fs::path> files = find_tests(request.paths);
  const std::size_t failed = run_tests(files, request, std::cout);
  std::cout << files.size() - failed << " passed, " << failed << " failed\n";
  return failed == 0 && !files.empty() ? exit_success : exit_fault;
}

}  // namespace rml

// Runs a command and reports its result.
//
// Diagnostics go to stderr, a command's results to stdout. Results that cannot be written (a full disk, a closed pipe)
// are an error like any other.
#include <iomanip>
#include <iostream>
#include <new>
#include <sstream>

#include "driver/base/crash_report.h"
#include "driver/commands/commands.h"
#include "frontend/deep_stack.h"
#include "frontend/render.h"

namespace rml {

void Invocation::print_diagnostics() {
  const std::vector<Diagnostic>& all = session.diagnostics.all();
  if (printed_ == all.size()) return;
  Diagnostics diagnostics;
  for (std::size_t k = printed_.value_or(0); k < all.size(); ++k) diagnostics.append(all[k]);
  const bool first = !printed_;
  printed_ = all.size();
  const SourceMap& sources = session.sources;
  switch (error_format) {
    case ErrorFormat::human:
      for (const std::string& line : session.told)
        if (first) std::cerr << line << "\n";
      std::cerr << render_human(diagnostics, sources, color);
      break;
    case ErrorFormat::json:
      std::cerr << render_json(diagnostics, sources);
      break;
    case ErrorFormat::sarif:
      std::cerr << render_sarif(diagnostics, sources);
      break;
  }
  std::cerr.flush();
}

void Invocation::print_times() const {
  std::ostringstream table;
  table << std::fixed << std::setprecision(3);
  std::chrono::nanoseconds total{};
  const auto row = [&](const std::string& name, std::chrono::nanoseconds time) {
    table << std::setw(10) << std::chrono::duration<double, std::milli>(time).count() << " ms  " << name << '\n';
  };
  for (const auto& [name, time] : session.times) {
    row(name, time);
    total += time;
  }
  row("total", total);
  std::cerr << table.str();
}

namespace {

struct Job {
  Invocation& invocation;
  const std::function<int(Invocation&)>& command;
  int status = exit_internal;
};

void work(Job& job) {
  const CommandThread here;
  try {
    job.status = job.command(job.invocation);
  } catch (const std::bad_alloc&) {
    std::cerr << internal_error_text("out of memory");
  } catch (const std::exception& e) {
    std::cerr << internal_error_text(e.what());
  } catch (...) {
    std::cerr << internal_error_text("unknown exception");
  }
}

}  // namespace

int run_command(Invocation& invocation, const std::function<int(Invocation&)>& command) {
  Job job{invocation, command};
  run_with_deep_stack([](void* argument) { work(*static_cast<Job*>(argument)); }, &job);
  if (!std::cout.flush()) {
    invocation.session.diagnostics.report(Code::E0804, {}, "cannot write to standard output");
    if (job.status == exit_success) job.status = exit_fault;
  }
  if (job.status != exit_internal) invocation.print_diagnostics();
  if (invocation.time_passes) invocation.print_times();
  if (job.status == exit_success && invocation.session.failed()) return exit_fault;
  return job.status;
}

}  // namespace rml

// rml_main: the entry point of the runtime (rmlrt.h).
//
// It catches every exception. A Failure is an error of the user: its message is printed with its
// status, and prefixed by the command if it names no place itself. Any other exception is a
// defect of the runtime and gives status 70.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include "runtime/base/failure.h"
#include "runtime/base/parallel.h"
#include "runtime/base/readable.h"
#include "runtime/base/signals.h"
#include "runtime/base/standard_streams.h"
#include "runtime/keys/keyed_run.h"
#include "runtime/options/options.h"
#include "runtime/program/run_on_ranks.h"
#include "runtime/run/run.h"

namespace rml::rt {
namespace {

int print(const std::string& text) {
  const std::string shown = readable(text);
  const bool written = std::fputs(shown.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
  if (!written && errno == EPIPE) return 128 + SIGPIPE;
  if (!written) std::perror("cannot write standard output");
  return written ? exit_ok : exit_fault;
}

int internal_error(const rml_program* program, const char* what) {
  std::fprintf(stderr, "internal error in the runtime, running %s: %s\n",
               program && program->source ? readable(program->source).c_str() : "a program", readable(what).c_str());
  return exit_internal;
}

int run_or_print(const rml_program& program, int argc, char** argv, const std::vector<std::string>& sources) {
  Options options = parse_options(program, argc, argv);
  options.sources = sources;
  if (!options.print_only.empty()) return print(options.print_only);
  rml_limit_threads(options.threads);
  return options.key.empty() ? run_on_ranks(program, options) : run_keyed(program, options);
}

}  // namespace

int run_made_of(const std::vector<std::string>& sources, const rml_program* program, int argc, char** argv) {
  if (!program || program->abi != RML_ABI) return internal_error(program, "the program was made for another ABI");
  try {
    const SignalScope signals;
    return run_or_print(*program, argc, argv, sources);
  } catch (Failure& failure) {
    failure.tell();
    return failure.status();
  } catch (const Interrupted&) {
    return 128 + interrupt_signal();
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "%s: out of memory\n", readable(program->source).c_str());
    return exit_fault;
  } catch (const std::exception& error) {
    return internal_error(program, error.what());
  } catch (...) {
    return internal_error(program, "unknown exception");
  }
}

}  // namespace rml::rt

extern "C" int rml_main(const rml_program* program, int argc, char** argv) {
  rml::rt::open_standard_streams();
  return rml::rt::run_made_of({}, program, argc, argv);
}

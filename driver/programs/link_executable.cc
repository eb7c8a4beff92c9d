// The linker's own messages are kept as a note; an undefined symbol that is an external node
// is told in the user's words.
#include "driver/programs/link_executable.h"

#include <algorithm>
#include <sstream>

#include "driver/installation.h"
#include "driver/output_file.h"
#include "driver/programs/find_mpi.h"
#include "driver/subprocess.h"
#include "semantics/operators/operator.h"

#ifndef RML_LINK_OPTIONS
#define RML_LINK_OPTIONS ""
#endif

namespace rml {
namespace {

std::optional<std::string> c_compiler() {
  for (const char* name : {"cc", "gcc", "clang", "clang-19"}) {
    if (auto found = find_on_path(name)) return found;
  }
  return std::nullopt;
}

std::string looked_in() {
  std::string folders;
  for (const std::string& folder : program_folders()) folders += (folders.empty() ? "" : ", ") + folder;
  return folders.empty() ? "PATH names no folder" : "looked in " + folders;
}

bool uses_lapack(const Core& core) {
  return std::any_of(core.values.begin(), core.values.end(), [](const Value& value) {
    const auto* apply = std::get_if<core::Apply>(&value.rhs);
    return apply != nullptr && operators()[apply->op].kernel.starts_with("rml_lapack_");
  });
}

// A shared library is found again when the program starts, wherever that is.
void add_library(std::vector<std::string>& command, const std::string& path) {
  const std::filesystem::path file(path);
  if (file.filename().string().find(".so") == std::string::npos) {
    command.push_back(path);
    return;
  }
  const std::string folder = std::filesystem::absolute(file).parent_path().string();
  command.insert(command.end(),
                 {"-L" + folder, "-l:" + file.filename().string(), "-Xlinker", "-rpath", "-Xlinker", folder});
}

std::vector<std::string> link_command(const std::string& compiler, const std::filesystem::path& object,
                                      const LinkedParts& parts, const MpiParts& mpi,
                                      const std::filesystem::path& output, bool with_lapack) {
  std::vector<std::string> command{compiler, "-o", output.string(), object.string()};
  for (const std::string& library : parts.libraries) add_library(command, library);
  // Weak in the runtime: nothing else asks for them.
  if (!parts.mpi.empty()) command.insert(command.end(), {"-Wl,--undefined=rml_mpi_library", mpi.archive.string()});
  if (parts.mqtt) command.insert(command.end(), {"-Wl,--undefined=rml_mqtt_library", mqtt_archive().string()});
  command.push_back(runtime_archive().string());
  if (with_lapack) command.push_back(lapack_archive().string());
  if (!parts.mpi.empty()) command.push_back("-l:" + mpi.library);
  for (const char* option :
       {"-lstdc++", "-lz", "-lm", "-pthread", "-pie", "-Wl,--gc-sections,-z,relro,-z,now,-z,noexecstack"})
    command.emplace_back(option);
  if (find_on_path("mold")) {
    command.emplace_back("-fuse-ld=mold");
  } else if (find_on_path("ld.lld")) {
    command.emplace_back("-fuse-ld=lld");
  }
  std::istringstream extra(RML_LINK_OPTIONS);
  for (std::string option; extra >> option;) command.push_back(option);
  return command;
}

// Whether an undefined external node explains the failure.
bool report_missing(const std::string& errors, const Core& core, Diagnostics& diagnostics) {
  bool reported = false;
  for (const ExternalNode& external : core.externals) {
    if (!external.in_c()) continue;
    std::istringstream lines(errors);
    for (std::string line; std::getline(lines, line);) {
      const std::size_t at = line.find(external.symbol);
      if (line.find("undefined") == std::string::npos || at == std::string::npos) continue;
      diagnostics
          .report(Code::E0805, external.span, "external function '" + external.symbol + "' is not linked",
                  "no object or library defines it")
          .note("give the file that defines it: --link FILE");
      reported = true;
      break;
    }
  }
  return reported;
}

}  // namespace

bool link_executable(const std::filesystem::path& object, const LinkedParts& parts, const std::filesystem::path& output,
                     const Core& core, Diagnostics& diagnostics) {
  const auto compiler = c_compiler();
  if (!compiler) {
    report_unwritable(output, "no C compiler (cc, gcc, clang or clang-19) is there to link it; " + looked_in(),
                      diagnostics);
    return false;
  }
  const MpiParts mpi = parts.mpi.empty() ? MpiParts{} : find_mpi(parts.mpi, *compiler);
  if (!mpi.problems.empty()) {
    auto& d = diagnostics.report(Code::E0804, {}, "linking failed: there is no MPI for --mpi");
    for (const std::string& problem : mpi.problems) d.note(problem);
    return false;
  }
  const auto done = run_to_end(link_command(*compiler, object, parts, mpi, output, uses_lapack(core)));
  if (done && done->status == 0) return true;
  if (!done || !report_missing(done->errors, core, diagnostics)) {
    auto& d = diagnostics.report(Code::E0804, {}, "linking failed");
    if (done) d.note(*compiler + " says:\n" + done->errors);
  }
  return false;
}

}  // namespace rml

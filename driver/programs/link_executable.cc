// Calls the C compiler to link, and keeps the linker's messages as a note.
#include "driver/programs/link_executable.h"

#include <algorithm>
#include <set>
#include <sstream>

#include "driver/base/installation.h"
#include "driver/base/output_file.h"
#include "driver/programs/find_mpi.h"
#include "lowering/llvm/toolchain/linked_file.h"
#include "runtime/base/subprocess.h"
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

bool is_library(const FileOfLink& file) {
  return file.kind == LinkedKind::shared || (!file.kind && file.path.find(".so") != std::string::npos);
}

// Shared libraries, in case the user's objects call them; for external functions the program itself opens them
// (bind_shared.h). They follow the C library, so none replaces a function that the runtime calls. A shared library is
// found again when the program starts, wherever that is.
void add_libraries(std::vector<std::string>& command, const FoundExternals& externals) {
  if (std::ranges::all_of(externals.files, is_library)) return;
  for (const FileOfLink& file : externals.files) {
    if (!is_library(file)) continue;
    const std::filesystem::path path(file.path);
    const std::string folder = std::filesystem::absolute(path).parent_path().string();
    command.insert(command.end(),
                   {"-lc", "-Wl,--push-state,--as-needed", "-L" + folder, "-l:" + path.filename().string(),
                    "-Wl,--pop-state", "-Xlinker", "-rpath", "-Xlinker", folder});
  }
}

// The functions that objects and archives define. Linking gives them other names (external_symbol).
std::set<std::string> renamed_functions(const FoundExternals& externals) {
  std::set<std::string> names;
  for (const ExternalOrigin& origin : externals.functions) {
    const auto file = std::ranges::find(externals.files, origin.file, &FileOfLink::path);
    if (file != externals.files.end() && file->kind != LinkedKind::shared) names.insert(origin.symbol);
  }
  return names;
}

// Adds objects and archives as the linker gets them. Returns an error, or an empty text.
std::string add_objects(std::vector<std::string>& command, const FoundExternals& externals,
                        const std::filesystem::path& folder) {
  const std::set<std::string> names = renamed_functions(externals);
  for (std::size_t k = 0; k < externals.files.size(); ++k) {
    const auto& [path, kind] = externals.files[k];
    if (is_library(externals.files[k])) continue;
    if (!kind || names.empty()) {
      command.push_back(path);
    } else {
      const std::string end = kind == LinkedKind::archive ? ".a" : ".o";
      const std::string copy = (folder / ("linked" + std::to_string(k) + end)).string();
      if (const std::string error = copy_renamed(path, names, copy); !error.empty()) return path + ": " + error;
      command.push_back(copy);
    }
  }
  return "";
}

// Adds the runtime's archives, which must follow the program's object and the files of --link.
void add_runtime(std::vector<std::string>& command, const LinkedParts& parts, const MpiParts& mpi, bool with_lapack) {
  // Nothing else requests these symbols, because the runtime declares them as weak.
  if (!parts.mpi.empty()) command.insert(command.end(), {"-Wl,--undefined=rml_mpi_library", mpi.archive.string()});
  if (parts.mqtt) command.insert(command.end(), {"-Wl,--undefined=rml_mqtt_library", mqtt_archive().string()});
  command.push_back(runtime_archive().string());
  if (with_lapack) command.push_back(lapack_archive().string());
  if (!parts.mpi.empty()) command.push_back("-l:" + mpi.library);
  for (const char* option :
       {"-lstdc++", "-lz", "-lm", "-ldl", "-pthread", "-pie", "-Wl,--gc-sections,-z,relro,-z,now,-z,noexecstack"})
    command.emplace_back(option);
  if (find_on_path("mold")) {
    command.emplace_back("-fuse-ld=mold");
  } else if (find_on_path("ld.lld")) {
    command.emplace_back("-fuse-ld=lld");
  }
  std::istringstream extra(RML_LINK_OPTIONS);
  for (std::string option; extra >> option;) command.push_back(option);
}

}  // namespace

bool link_executable(const std::filesystem::path& object, const LinkedParts& parts, const std::filesystem::path& output,
                     const Core& core, Diagnostics& diagnostics) {
  const auto compiler = c_compiler();
  if (!compiler) {
    report_unwritable(output, "no C compiler (cc, gcc, clang or clang-19) was found to link it; " + looked_in(),
                      diagnostics);
    return false;
  }
  const MpiParts mpi = parts.mpi.empty() ? MpiParts{} : find_mpi(parts.mpi, *compiler);
  if (!mpi.problems.empty()) {
    auto& d = diagnostics.report(Code::E0804, {}, "linking failed: no MPI was found for --mpi");
    for (const std::string& problem : mpi.problems) d.note(problem);
    return false;
  }
  std::vector<std::string> command{*compiler, "-o", output.string(), object.string()};
  if (const std::string error = add_objects(command, parts.externals, object.parent_path()); !error.empty()) {
    diagnostics.report(Code::E0804, {}, "linking failed").note(error);
    return false;
  }
  add_runtime(command, parts, mpi, uses_lapack(core));
  add_libraries(command, parts.externals);
  const auto done = run_to_end(command);
  if (done && done->status == 0) return true;
  auto& d = diagnostics.report(Code::E0804, {}, "linking failed");
  if (done) d.note(*compiler + " says:\n" + done->errors);
  return false;
}

}  // namespace rml

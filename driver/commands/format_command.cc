// `rmlc fmt`: rewrites files in canonical layout, or with --check reports files in another layout. "-" formats standard
// input to standard output.
#include <iostream>

#include "compiler/internal_error.h"
#include "compiler/read_file.h"
#include "driver/base/output_file.h"
#include "driver/commands/commands.h"
#include "frontend/format.h"

namespace rml {
namespace {

// Returns whether the file was in canonical layout.
bool format_one(Session& session, const std::string& file, bool check_only) {
  const CurrentPhase phase("format");
  note_current_file(file);
  std::string error;
  const std::optional<std::string> text = read_file(file, error);
  if (!text) {
    session.diagnostics.report(Code::E0801, {}, "cannot read '" + file + "': " + error);
    return true;
  }
  const std::uint32_t id = session.sources.add(file == "-" ? "<stdin>" : file, *text);
  const std::optional<std::string> formatted = format(id, session.sources, session.diagnostics);
  if (!formatted) return true;
  const bool same = *formatted == *text;
  if (file == "-" && !check_only) std::cout << *formatted;
  if (check_only && !same) std::cout << file << "\n";
  if (file != "-" && !check_only && !same) {
    std::error_code unresolved;
    const std::filesystem::path real = std::filesystem::canonical(file, unresolved);
    write_file(unresolved ? std::filesystem::path(file) : real, *formatted, session.diagnostics);
  }
  return same;
}

}  // namespace

int format_files(Invocation& invocation, const FormatRequest& request) {
  bool all_same = true;
  for (const std::string& file : request.files)
    all_same = format_one(invocation.session, file, request.check) && all_same;
  return request.check && !all_same ? exit_fault : exit_success;
}

}  // namespace rml

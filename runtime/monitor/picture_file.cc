// rsvg-convert reads the SVG from its standard input, so no further file is left behind.
#include "runtime/monitor/picture_file.h"

#include <algorithm>
#include <cctype>

#include "runtime/base/failure.h"
#include "runtime/base/subprocess.h"
#include "runtime/checkpoint/whole_file.h"

namespace rml::rt {
namespace {

constexpr const char* converter = "rsvg-convert";

// In lower case, without the point; empty: none.
std::string suffix_of(const std::string& path) {
  const std::size_t name = path.rfind('/') + 1, point = path.rfind('.');
  if (point == path.npos || point < name) return "";
  std::string suffix = path.substr(point + 1);
  std::transform(suffix.begin(), suffix.end(), suffix.begin(), [](unsigned char c) { return std::tolower(c); });
  return suffix;
}

std::string svg_name(const std::string& path) { return path.substr(0, path.rfind('.')) + ".svg"; }

}  // namespace

void require_drawable(const std::string& path) {
  const std::string suffix = suffix_of(path);
  if (suffix == "svg") return;
  if (suffix != "png" && suffix != "pdf")
    throw Failure("--plot " + path + ": the name of a picture ends with .svg, .png or .pdf", exit_usage);
  if (!find_on_path(converter))
    throw Failure("--plot " + path + ": " + suffix + " needs the program " + converter +
                      ", which is not on the PATH; install librsvg (Debian: librsvg2-bin), or write " + svg_name(path),
                  exit_usage);
}

void write_picture(const std::string& path, const std::string& svg) {
  const std::string suffix = suffix_of(path);
  if (suffix == "svg") return write_whole_file(path, {svg});
  const auto program = find_on_path(converter);
  const auto done = program ? run_to_end({*program, "--format=" + suffix}, "", svg) : std::nullopt;
  if (!done) throw Failure("cannot write '" + path + "': " + converter + " cannot be started");
  if (done->status != 0 || done->output.empty()) {
    const std::string errors = done->errors.substr(0, done->errors.find_last_not_of(" \n") + 1);
    throw Failure("cannot write '" + path + "': " + converter + " failed: " + errors);
  }
  write_whole_file(path, {done->output});
}

}  // namespace rml::rt

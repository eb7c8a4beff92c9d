// The end of the file says whether its last row is whole, unless a cell of CSV may contain line
// ends: then the quotes are counted from the beginning. A compressed file is read completely,
// because a member that was not finished makes all later ones unreadable.
#include "runtime/stream_io/endpoints/old_rows.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "runtime/base/failure.h"
#include "runtime/stream_io/formats/writers.h"
#include "runtime/stream_io/npy_array.h"

namespace rml::rt {
namespace {

std::string cannot(const Endpoint& output) { return "cannot append to '" + output.path + "': "; }

constexpr const char* other_file = "; give another file, or replace it without ?append and --append";

bool has_texts(const Endpoint& output) {
  return output.kept != nullptr || (output.texts != nullptr && output.texts->any_of(output.ports));
}

ByteSource open_old(const Endpoint& output) {
  return ByteSource::open(output.path, output.gzip ? ByteSource::Coding::gzip : ByteSource::Coding::plain);
}

std::uint64_t size_of(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

// True if the byte before this position of the file is a line end, or if the file cannot be read.
bool line_ends_at(const std::string& path, std::uint64_t at) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  char last = '\n';
  if (fd >= 0 && at > 0 && ::pread(fd, &last, 1, static_cast<off_t>(at - 1)) != 1) last = '\n';
  if (fd >= 0) ::close(fd);
  return last == '\n';
}

// Compares the beginning of the file with the header. False if the file ends within the header.
bool begins_with_header(const Endpoint& output, const Row& row) {
  const std::string header = csv_header(row, output.ports, output.kept);
  ByteSource bytes = open_old(output);
  const bool whole = bytes.at_least(header.size());
  const std::string_view found(bytes.begin(), std::min(bytes.size(), header.size()));
  if (found == std::string_view(header).substr(0, found.size())) return whole;
  const std::string_view line = found.substr(0, found.find('\n'));
  throw Failure("cannot continue '" + output.path + "': its header is '" + std::string(line.substr(0, 200)) +
                "', but this run writes the columns '" +
                header.substr(0, std::min<std::size_t>(header.size() - 1, 200)) + "'; give another file");
}

// The end of the last whole line. quoted: line ends between quotes end no row.
std::uint64_t end_of_lines(ByteSource& bytes, bool quoted, std::uint64_t& size) {
  std::uint64_t end = 0;
  bool inside = false;
  do {
    for (const char* at = bytes.begin(); at != bytes.end(); ++at) {
      ++size;
      if (quoted && *at == '"') inside = !inside;
      if (*at == '\n' && !inside) end = size;
    }
    bytes.consume(bytes.size());
  } while (bytes.more());
  return end;
}

std::uint64_t end_of_compressed(const Endpoint& output) {
  std::uint64_t size = 0, end = 0;
  try {
    ByteSource bytes = open_old(output);
    end = end_of_lines(bytes, false, size);
  } catch (const Failure& failure) {
    throw Failure(cannot(output) + failure.what() + other_file);
  }
  if (end != size) throw Failure(cannot(output) + "its compressed rows end within a row" + other_file);
  return size_of(output.path);
}

std::uint64_t header_bytes(const rml_port& port) {
  return npy_header_text(npy_descr(port.dtype), 0, port.dims, port.rank).size();
}

Settled whole_rows_of_npy(const Endpoint& output, const Row& row) {
  const rml_port& port = row.port(output.ports[0]);
  const std::uint64_t begin = header_bytes(port), size = size_of(output.path);
  ByteSource bytes = open_old(output);
  const std::string_view found = bytes.at_least(begin) ? std::string_view(bytes.begin(), begin) : std::string_view();
  const std::string head(found);
  const NpyHeader header = read_npy_header(bytes);
  const std::uint64_t rows = header.shape.empty() ? 0 : header.shape[0];
  if (head != npy_header_text(npy_descr(port.dtype), rows, port.dims, port.rank))
    throw Failure(cannot(output) + "it is not an array of " + type_text(port) + " that a run has written" + other_file);
  const std::uint64_t whole = rows_of_npy(port, size, rows);
  return {begin + whole * port.elements * dtype_bytes(port.dtype), whole};
}

}  // namespace

bool holds_bytes(const Endpoint& output) {
  struct stat status{};
  return !output.peer && output.path != "-" && ::stat(output.path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         status.st_size > 0;
}

bool is_written_by_row(const Endpoint& output) {
  return output.format == Format::csv || output.format == Format::jsonl ||
         (output.format == Format::npy && !output.gzip);
}

bool is_regular(const Endpoint& output) {
  struct stat status{};
  if (output.peer || output.path == "-") return false;
  return ::stat(output.path.c_str(), &status) != 0 || S_ISREG(status.st_mode);
}

std::uint64_t rows_of_npy(const rml_port& port, std::uint64_t bytes, std::uint64_t otherwise) {
  const std::uint64_t row_bytes = port.elements * dtype_bytes(port.dtype), begin = header_bytes(port);
  return row_bytes == 0 || bytes < begin ? otherwise : (bytes - begin) / row_bytes;
}

Settled whole_rows(const Endpoint& output, const Row& row) {
  if (output.format == Format::npy) return whole_rows_of_npy(output, row);
  if (output.format == Format::csv && !begins_with_header(output, row)) return {};
  if (output.gzip) return {end_of_compressed(output), 0};
  const std::uint64_t size = size_of(output.path);
  const bool quoted = output.format == Format::csv && has_texts(output);
  if (!quoted && line_ends_at(output.path, size)) return {size, 0};
  std::uint64_t read = 0;
  ByteSource bytes = open_old(output);
  return {end_of_lines(bytes, quoted, read), 0};
}

void require_rows(const Endpoint& output, const Row& row, std::uint64_t bytes) {
  if (output.format == Format::npy) return;
  if (output.format == Format::csv) static_cast<void>(begins_with_header(output, row));
  if (!output.gzip && bytes <= size_of(output.path) && !line_ends_at(output.path, bytes))
    throw Failure("cannot continue '" + output.path + "': no row ends after its first " + std::to_string(bytes) +
                  " bytes, which had been written when the state was saved; another program has changed it. Give "
                  "another file, or ?append to write after its rows");
}

void require_continuable(const std::vector<Endpoint>& outputs) {
  for (const Endpoint& output : outputs) {
    if (output.append)
      throw Failure("--resume: it continues '" + output.path + "' at the saved row; remove ?append or --append",
                    exit_usage);
    if (!is_regular(output)) {
      throw Failure("--resume: rows in " + (output.path == "-" ? "standard output" : "'" + output.path + "'") +
                        " cannot be removed after a crash: give a file, --output FILE",
                    exit_usage);
    }
    if (!is_written_by_row(output)) {
      throw Failure("--resume: '" + output.path +
                        "' has a format that is written when the run ends, so a run cannot continue it; use .csv, "
                        ".jsonl or .npy",
                    exit_usage);
    }
  }
}

void append_to_files(std::vector<Endpoint>& outputs, bool all) {
  bool any = false;
  for (Endpoint& output : outputs) {
    const std::string option = output.append ? "?append" : "--append";
    if (!is_regular(output)) {
      if (output.append) throw Failure("?append: '" + output.path + "' is not a file", exit_usage);
      continue;
    }
    output.append = output.append || all;
    any = any || output.append;
    if (!output.append || is_written_by_row(output)) continue;
    throw Failure(option + ": '" + output.path +
                      "' has a format that is written when the run ends, so rows cannot be appended to it; use .csv, "
                      ".jsonl or .npy",
                  exit_usage);
  }
  if (all && !any) throw Failure("--append: no output is a file; give one, --output FILE", exit_usage);
}

}  // namespace rml::rt

// Blanks around a name are removed, as they are from a cell of CSV.
#include "runtime/stream_io/class_list.h"

#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/failure.h"
#include "runtime/stream_io/bytes/byte_source.h"
#include "runtime/stream_io/wanted_ports.h"

namespace rml::rt {

ClassList ClassList::read(const std::string& path) {
  if (::access(path.c_str(), F_OK) != 0)
    throw Failure("no file '" + path +
                  "' of classes, one per line; if they are column 3 of data.csv, this command makes it:\n" +
                  "  tail -n +2 data.csv | cut -d, -f3 | sort -u > " + path);
  // A device may have no end, so it is refused. A pipe may be read: it can come from a command
  // that prints the list.
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0 && (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)))
    throw Failure("cannot read '" + path + "': it is a device, not a file of classes");
  ClassList list;
  list.file_ = path;
  ByteSource bytes = ByteSource::open(path, ByteSource::Coding::plain);
  bytes.whole();
  std::string_view rest(bytes.begin(), bytes.size());
  if (rest.substr(0, 3) == "\xef\xbb\xbf") rest.remove_prefix(3);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    const std::string name(trimmed(line));
    const auto number = static_cast<std::int64_t>(list.names_.size());
    const std::string place = path + ":" + std::to_string(number + 1) + ": ";
    if (name.empty()) throw Failure(place + "empty; every line is the name of a class");
    const auto [before, is_new] = list.classes_.emplace(name, number);
    if (!is_new)
      throw Failure(place + "'" + name + "' is class " + std::to_string(before->second) + " already, in line " +
                    std::to_string(before->second + 1));
    list.names_.push_back(name);
  }
  if (list.names_.empty()) throw Failure(path + ": empty; every line is the name of a class");
  return list;
}

std::optional<std::int64_t> ClassList::find(const std::string& name) const {
  const auto found = classes_.find(name);
  return found == classes_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace rml::rt

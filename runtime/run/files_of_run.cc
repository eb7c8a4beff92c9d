// Collects the identity (device and inode) of every file of the run. Each file to be written is
// compared with all files that were collected before it.
#include "runtime/run/files_of_run.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "runtime/base/failure.h"
#include "runtime/base/file_identity.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/checkpoint/whole_file.h"
#include "runtime/monitor/event_log.h"
#include "runtime/monitor/picture_file.h"

namespace rml::rt {
namespace {

constexpr const char* endpoint = "an input or output of this run";
constexpr const char* loaded = "the one that --load or --load-params names";

constexpr const char* foreign = "the one that --load-params names, which is not a state";

// False if --load-params names a file of tensors that is not a saved state, and this run would
// replace it by its state. A file that cannot be read counts as replaceable: the error is
// reported where the file is read.
bool may_be_replaced(const std::string& path, const Options& options) {
  const auto identity = identity_of(path);
  if (!identity || (identity != identity_of(options.save) && identity != identity_of(options.resume))) return true;
  try {
    refuse_special_file("--load-params", path);
    const std::string bytes = read_whole_file(path);
    return is_checkpoint(read_safetensors(path, bytes));
  } catch (const Failure&) {
    return true;
  }
}

class FilesOfRun {
 public:
  void add(std::string what, const std::optional<FileIdentity>& identity) {
    if (identity) files_.push_back({std::move(what), *identity});
  }
  // Adds a file that the run writes. `except` describes the entry that may be the same file.
  void write(const std::string& option, const std::string& path, std::string_view except = {}) {
    const auto identity = identity_of(path);
    if (!identity) return;
    for (const Entry& other : files_) {
      if (other.identity == *identity && other.what != except)
        throw Failure(option + " " + path + ": the file is " + other.what, exit_usage);
    }
    add(option == "--output" ? endpoint : "that of " + option, identity);
  }

 private:
  struct Entry {
    std::string what;
    FileIdentity identity;
  };
  std::vector<Entry> files_;
};

// A file that is replaced as a whole only needs write permission for its folder.
void require_writable(const std::string& path, bool in_place) {
  if (!in_place || !file_exists(path)) return require_replaceable(path);
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) throw Failure("cannot write '" + path + "': " + std::strerror(errno));
  ::close(fd);
}

struct Written {
  const char* option;
  const std::string& path;
  bool in_place;
  std::string_view except;
};

// The files that the run reads.
FilesOfRun files_to_read(const rml_program& program, const Options& options, const std::vector<Endpoint>& inputs) {
  FilesOfRun files;
  files.add("the program itself", identity_of("/proc/self/exe"));
  files.add("the program's source", identity_of(program.source));
  for (const std::string& source : options.sources) files.add("a source of the program", identity_of(source));
  for (const Endpoint& e : inputs)
    if (!e.peer) files.add(endpoint, e.path == "-" ? identity_of(STDIN_FILENO) : identity_of(e.path));
  for (const std::string& classes : options.reading.classes)
    files.add("a list of classes", identity_of(classes.substr(classes.find('=') + 1)));
  for (const std::string& rows : options.plot_also) files.add("one that --plot-also reads", identity_of(rows));
  for (const std::string* path : {&options.load, &options.load_params})
    if (!path->empty()) files.add(may_be_replaced(*path, options) ? loaded : foreign, identity_of(*path));
  return files;
}

}  // namespace

std::vector<NameLock> check_files(const rml_program& program, const Options& options,
                                  const std::vector<Endpoint>& inputs, const std::vector<Endpoint>& outputs) {
  FilesOfRun files = files_to_read(program, options, inputs);
  if (!options.load.empty()) {
    require_savable(program, "--load");
    refuse_special_file("--load", options.load);
  }
  std::vector<NameLock> locks;
  for (const Endpoint& e : outputs) {
    if (e.path == "-")
      files.add(endpoint, identity_of(STDOUT_FILENO));
    else if (!e.peer)
      files.write("--output", e.path);
  }
  for (const Written& w : {Written{"--save", options.save, false, loaded},
                           {"--resume", options.resume, false, loaded},
                           {"--plot", options.plot.path, false, {}},
                           {"--profile", options.profile, true, {}},
                           {"--bad-rows", options.bad_rows, true, {}},
                           {"--watch-file", options.watch_file, true, {}}}) {
    if (w.path.empty()) continue;
    if (w.except == loaded) require_savable(program, w.option);
    refuse_special_file(w.option, w.path);
    files.write(w.option, w.path, w.except);
    require_writable(w.path, w.in_place);
    // the two files of a state
    if (options.writes && w.except == loaded) locks.emplace_back(w.path);
    if (w.in_place) require_unlocked(w.path);
  }
  for (const Endpoint& e : outputs)
    if (!e.peer && e.path != "-") require_unlocked(e.path);
  if (!options.log.empty()) files.write("--log", options.log);
  if (!options.plot.path.empty()) require_drawable(options.plot.path);
  if (!options.log.empty()) make_log_folder(options.log);
  return locks;
}

}  // namespace rml::rt

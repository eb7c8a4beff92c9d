// The child is in a process group of its own, so that Ctrl-C ends the run and not the child first.
#include "runtime/stream_io/formats/table_file.h"

#include "runtime/base/failure.h"
#include "runtime/base/signals.h"
#include "runtime/base/subprocess.h"

namespace rml::rt {
namespace {

// The exit status of table_rows.py.
constexpr int unreadable = 3, without_pyarrow = 4;

std::string last_line(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

class TableInput final : public ByteInput {
 public:
  TableInput(std::string path, std::string python, std::unique_ptr<RunningProgram> child)
      : path_(std::move(path)), python_(std::move(python)), child_(std::move(child)) {}

  std::size_t read(char* to, std::size_t room, const Waiting& waiting) override {
    if (child_ == nullptr) return 0;
    const std::size_t count = read_descriptor(child_->output(), to, room, waiting, path_);
    if (count == 0) end();
    return count;
  }

 private:
  void end() {
    const Finished finished = child_->wait();
    child_.reset();
    if (finished.status == 0) return;
    if (interrupt_signal() != 0) throw Interrupted{};
    if (finished.status == unreadable) throw Failure(path_ + ": " + finished.errors);
    if (finished.status == without_pyarrow)
      throw Failure(path_ + ": Parquet and Arrow files are read with PyArrow, which " + python_ +
                    " does not have: pip install pyarrow (" + finished.errors + ")");
    throw Failure(path_ + ": " + python_ + ", which reads the file with PyArrow, has " +
                  (finished.status > 128 ? "been ended by signal " + std::to_string(finished.status - 128)
                                         : "ended with exit status " + std::to_string(finished.status)) +
                  (finished.errors.empty() ? "" : ": " + last_line(finished.errors)));
  }

  std::string path_, python_;
  std::unique_ptr<RunningProgram> child_;  // null at the end
};

std::string shape_text(const std::vector<std::uint64_t>& shape) {
  std::string text;
  for (const std::uint64_t extent : shape) text += (text.empty() ? "" : ",") + std::to_string(extent);
  return text;
}

}  // namespace

bool is_table_file(const std::string& path) {
  return path.ends_with(".parquet") || path.ends_with(".arrow") || path.ends_with(".feather");
}

ByteSource open_table(const std::string& path, const std::vector<TableColumn>& columns, Waiting waiting) {
  // Reports a file that is missing or a folder. Both formats are read from their end, too.
  if (!ByteSource::open(path, ByteSource::Coding::plain).can_seek())
    throw Failure("cannot read '" + path + "': a Parquet or Arrow file must be a regular file");
  const auto python = find_on_path("python3");
  if (!python)
    throw Failure(path +
                  ": Parquet and Arrow files are read with Python and PyArrow, and PATH has no python3: install "
                  "Python, then pip install pyarrow");
  std::vector<std::string> arguments = {*python, "-c", table_rows_script, path};
  for (const auto& [name, shape] : columns) {
    arguments.push_back(name);
    arguments.push_back(shape_text(shape));
  }
  auto child = RunningProgram::start(arguments);
  if (child == nullptr) throw Failure(path + ": cannot start " + *python + ", which reads the file with PyArrow");
  constexpr std::size_t longest_row = std::size_t{1} << 30;
  return ByteSource::peer(path, std::make_unique<TableInput>(path, *python, std::move(child)), longest_row,
                          std::move(waiting));
}

}  // namespace rml::rt

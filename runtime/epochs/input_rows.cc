// Every pass in order opens the files again. With --shuffle, the files are opened once, and read
// once to find their segments.
#include "runtime/epochs/input_rows.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "runtime/base/failure.h"
#include "runtime/stream_io/endpoints/endpoints.h"
#include "runtime/stream_io/endpoints/open_endpoints.h"
#include "runtime/stream_io/spelling.h"

namespace rml::rt {
namespace {

bool is_flag(const rml_port& port) { return port.dtype == RML_BOOL && port.rank == 0 && port.always != 0; }

std::optional<std::uint32_t> input_named(const rml_program& program, const std::string& name) {
  for (std::uint32_t i = 0; i < program.n_inputs; ++i)
    if (name == program.inputs[i].name) return i;
  return std::nullopt;
}

std::uint32_t flag_named(const rml_program& program, const std::string& option, const std::string& name) {
  std::vector<std::string> flags;
  for (const rml_port& port : std::span(program.inputs, program.n_inputs))
    if (is_flag(port)) flags.emplace_back(port.name);
  const auto found = input_named(program, name);
  if (found && is_flag(program.inputs[*found])) return *found;
  if (found)
    throw Failure(option + ": input '" + name + "' is " + type_text(program.inputs[*found]) + ", clock " +
                      program.inputs[*found].clock + "; it must be a bool that is present at every cycle",
                  exit_usage);
  std::string known;
  for (const std::string& flag : flags) known += (known.empty() ? "" : ", ") + flag;
  const std::string near = did_you_mean(name, flags);
  throw Failure(option + ": the node has no input '" + name + "'" +
                    (!near.empty()   ? near
                     : known.empty() ? "; it has no Boolean input at all"
                                     : "; its Boolean inputs are: " + known),
                exit_usage);
}

// The Boolean input that ends segments, if --segments-by does not name it.
std::uint32_t usual_end(const rml_program& program, const std::string& option) {
  if (const auto end = segment_end(program)) return *end;
  std::vector<std::uint32_t> flags;
  for (std::uint32_t i = 0; i < program.n_inputs; ++i)
    if (is_flag(program.inputs[i])) flags.push_back(i);
  if (flags.size() == 1) return flags[0];
  if (flags.empty())
    throw Failure(option + ": the node has no Boolean input that could end segments; declare one, such as end: bool",
                  exit_usage);
  throw Failure(option + ": the node has several Boolean inputs; name the one that ends segments, --segments-by " +
                    program.inputs[flags[0]].name + "=COLUMN",
                exit_usage);
}

Ports computed_ports(const ComputedInputs& computed) {
  Ports ports;
  if (computed.end) ports.push_back(*computed.end);
  if (computed.last) ports.push_back(*computed.last);
  return ports;
}

// The ports of the files: those of the program, and a column of groups that is no input.
std::vector<rml_port> ports_of_files(const rml_program& program, const std::string& column) {
  std::vector<rml_port> ports(program.inputs, program.inputs + program.n_inputs);
  if (!column.empty() && !input_named(program, column))
    ports.push_back({column.c_str(), "base", RML_U32, 1, 0, 0, nullptr, 1});
  return ports;
}

bool is_regular(const Endpoint& input) {
  struct stat status{};
  const int result = input.path == "-" ? ::fstat(STDIN_FILENO, &status) : ::stat(input.path.c_str(), &status);
  return result != 0 || S_ISREG(status.st_mode);  // a missing file is reported when it is opened
}

}  // namespace

std::optional<std::uint32_t> segment_end(const rml_program& program) {
  for (const rml_cut& cut : std::span(program.cuts, program.n_cuts))
    if (const auto input = input_named(program, cut.condition); input && is_flag(program.inputs[*input])) return input;
  const auto end = input_named(program, "end");
  return end && is_flag(program.inputs[*end]) ? end : std::nullopt;
}

SegmentOptions segment_options(const rml_program& program, const TrainingOptions& training) {
  SegmentOptions found;
  if (!training.segments_by.empty()) {
    const std::string option = "--segments-by " + training.segments_by;
    const std::size_t equals = training.segments_by.find('=');
    found.column = equals == std::string::npos ? training.segments_by : training.segments_by.substr(equals + 1);
    if (found.column.empty() || equals == 0) throw Failure(option + ": expected COLUMN or NAME=COLUMN", exit_usage);
    found.computed.end = equals == std::string::npos
                             ? usual_end(program, option)
                             : flag_named(program, option, training.segments_by.substr(0, equals));
    const auto input = input_named(program, found.column);
    if (input == found.computed.end)
      throw Failure(option + ": '" + found.column + "' is the input that it computes; name the column of groups",
                    exit_usage);
    if (input && (program.inputs[*input].rank > 0 || program.inputs[*input].always == 0))
      throw Failure(option + ": input '" + found.column + "' is " + type_text(program.inputs[*input]) + ", clock " +
                        program.inputs[*input].clock + "; a column of groups has one value in every row",
                    exit_usage);
  }
  if (!training.last.empty()) found.computed.last = flag_named(program, "--last " + training.last, training.last);
  if (found.computed.last && found.computed.last == found.computed.end)
    throw Failure("--last " + training.last + ": --segments-by computes this input", exit_usage);
  return found;
}

InputRows::InputRows(const rml_program& program, const Options& options, const std::vector<std::string>& arguments,
                     TrainingOptions training, const Row& outputs)
    : program_(program),
      training_(std::move(training)),
      segments_(segment_options(program, training_)),
      seed_(options.seed.value_or(0)),
      ports_(ports_of_files(program, segments_.column)),
      files_(ports_.data(), static_cast<std::uint32_t>(ports_.size())),
      texts_(options.reading, Row::showing(files_, program.n_inputs), outputs),
      memory_(default_memory_ceiling()),
      table_(memory_) {
  if (program.n_inputs == 0 && !direct())
    throw Failure(training_.rereads() + ": node '" + program.name + "' has no inputs to read again", exit_usage);
  if (!direct()) row_.emplace(program.inputs, program.n_inputs);
  if (!segments_.column.empty()) {
    const auto input = input_named(program, segments_.column);
    const std::uint32_t port = input.value_or(program.n_inputs);
    if (!input) texts_.use_groups(table_, port);
    groups_.emplace(files_, port, !input, table_);
  }
  endpoints_ = plan_endpoints(Direction::in, arguments, options.format, files_, options.reading,
                              computed_ports(segments_.computed));
  refuse_inputs();
  if (!options.kept.empty() && (training_.shuffle || training_.passes() != 1))
    throw Failure("--keep " + options.kept[0] + ": its cells belong to rows that are read once and in order, without " +
                      training_.rereads(),
                  exit_usage);
}

void InputRows::refuse_inputs() const {
  const std::string again = training_.rereads();
  const bool several = training_.shuffle || training_.passes() != 1;
  for (const Endpoint& input : endpoints_) {
    const bool live = input.peer || input.silence;
    if (live && !again.empty())
      throw Failure(again + ": '" + input.path + "' is a live input, whose rows come once; give a file", exit_usage);
    if (live && segments_.computed.any())
      throw Failure(std::string(segments_.computed.last ? "--last" : "--segments-by") + ": '" + input.path +
                        "' is a live input, and only the next row shows whether a row is the last one; give a file",
                    exit_usage);
    if (training_.shuffle && input.table)
      throw Failure(
          "--shuffle: '" + input.path +
              "' is a Parquet or Arrow file, whose rows come in their order; convert it, "
              "for example in Python: pyarrow.csv.write_csv(pyarrow.parquet.read_table(\"x.parquet\"), \"x.csv\")",
          exit_usage);
    if (!several || is_regular(input)) continue;
    throw Failure(again + ": " + (input.path == "-" ? "standard input" : "'" + input.path + "'") +
                      " is no regular file, and can be read only once: give a file, --input FILE",
                  exit_usage);
  }
}

// The input whose true values end the segments that --shuffle moves; nothing if each row is one.
std::optional<std::uint32_t> InputRows::flag_of_segments() const {
  const auto flag = segment_end(program_);
  if (!flag && program_.n_cuts > 0)
    throw Failure(std::string("--shuffle: segments end where '") + program_.cuts[0].condition +
                      "' is true, which is no Boolean input; name the column of groups, --segments-by COLUMN",
                  exit_usage);
  return flag;
}

// The rows of all passes, one after the other.
class EpochRows final : public RowSource {
 public:
  EpochRows(InputRows& input, Waiting waiting) : input_(input), waiting_(std::move(waiting)) {
    if (::isatty(STDIN_FILENO) == 0) stdin_at_ = ::lseek(STDIN_FILENO, 0, SEEK_CUR);
    auto files = open_files();
    for (std::uint32_t i = 0; i < input_.row().size(); ++i) file_names_.push_back(files->file(i));
    name_ = files->name();
    if (input_.training_.shuffle) {
      const auto flag = input_.groups_ ? std::nullopt : input_.flag_of_segments();
      segments_.emplace(*files, input_.files_, groups(), flag);
      shuffled_ = std::move(files);
    }
    begin_pass(std::move(files));
  }

  bool read() override {
    const auto passes = input_.training_.passes();
    while (true) {
      if (pass_->read()) {
        ++rows_;
        return true;
      }
      end_pass();
      if (passes && done_ == *passes) return false;
      begin_pass(segments_ ? nullptr : open_files());
    }
  }
  Place where(std::uint32_t port) const override { return pass_->where(port); }
  const std::string& file(std::uint32_t port) const override { return file_names_[port]; }
  const std::string& name() const override { return name_; }
  double fraction() const override {
    const auto passes = input_.training_.passes();
    const double part = pass_->fraction();
    return passes && part >= 0 ? (static_cast<double>(done_) + part) / static_cast<double>(*passes) : -1;
  }

 private:
  Groups* groups() const { return input_.groups_ ? &*input_.groups_ : nullptr; }

  std::unique_ptr<RowSource> open_files() const {
    const bool reads_stdin = std::ranges::any_of(input_.endpoints_, [](const Endpoint& e) { return e.path == "-"; });
    if (reads_stdin && stdin_at_ >= 0 && done_ > 0 && ::lseek(STDIN_FILENO, stdin_at_, SEEK_SET) < 0)
      throw Failure(std::string("cannot read standard input again: ") + std::strerror(errno));
    return open_sources(input_.endpoints_, input_.files_, waiting_);
  }

  void begin_pass(std::unique_ptr<RowSource> files) {
    rows_ = 0;
    if (!segments_)
      pass_ = std::make_unique<PassInOrder>(std::move(files), input_.files_, input_.row(), input_.segments_.computed,
                                            groups());
    else
      pass_ = std::make_unique<PassInNewOrder>(*shuffled_, input_.files_, input_.row(), input_.segments_.computed,
                                               *segments_, order_of_epoch(segments_->count(), input_.seed_, done_ + 1));
  }

  void end_pass() {
    ++done_;
    const std::int64_t before = input_.rows_of_pass_.exchange(rows_);
    if (before >= 0 && before != rows_)
      throw Failure(name_ + ": pass " + std::to_string(done_) + " has " + std::to_string(rows_) + " rows, the first " +
                    std::to_string(before) + ": the file was changed during the run");
    if (rows_ == 0 && input_.training_.passes() != 1)
      throw Failure(name_ + ": " + input_.training_.rereads() + ": there are no rows to read again");
  }

  InputRows& input_;
  const Waiting waiting_;
  std::string name_;
  std::vector<std::string> file_names_;  // by port
  off_t stdin_at_ = -1;                  // position of the first row; -1: not a file
  std::unique_ptr<RowSource> shuffled_;  // the files, if segments move
  std::optional<Segments> segments_;
  std::unique_ptr<RowSource> pass_;
  std::int64_t done_ = 0;  // number of complete passes
  std::int64_t rows_ = 0;  // number of rows of this pass
};

std::unique_ptr<RowSource> InputRows::open(const Waiting& waiting, BadRows* skipped) {
  if (endpoints_.empty()) return nullptr;
  if (direct()) return open_sources(endpoints_, files_, waiting, skipped);
  if (skipped != nullptr)
    throw Failure(
        "--on-bad-row skip: the options of training read or count rows more than once; remove bad rows in a "
        "run of their own",
        exit_usage);
  return std::make_unique<EpochRows>(*this, waiting);
}

}  // namespace rml::rt

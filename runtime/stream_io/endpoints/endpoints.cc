// `a=b.csv` means that input a is read from b.csv, if there is an input a. A file with that name
// can be given as ./a=b.csv.
#include "runtime/stream_io/endpoints/endpoints.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "runtime/base/failure.h"
#include "runtime/base/file_identity.h"
#include "runtime/stream_io/endpoints/present_rows.h"
#include "runtime/stream_io/endpoints/silent_inputs.h"
#include "runtime/stream_io/formats/table_file.h"
#include "runtime/stream_io/live/peer_streams.h"
#include "runtime/stream_io/missing_cells.h"
#include "runtime/stream_io/spelling.h"
#include "runtime/stream_io/wanted_ports.h"

namespace rml::rt {
namespace {

const char* option_name(Direction direction) { return direction == Direction::in ? "--input" : "--output"; }
const char* port_word(Direction direction) { return direction == Direction::in ? "input" : "output"; }

bool has_suffix(const std::string& text, std::string_view suffix) {
  return text.size() > suffix.size() && text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0;
}

std::optional<Format> format_named(const std::string& name) {
  if (name == "csv") return Format::csv;
  if (name == "jsonl") return Format::jsonl;
  if (name == "chron") return Format::chron;
  if (name == "npy") return Format::npy;
  if (name == "npz") return Format::npz;
  return std::nullopt;
}

bool is_device_or_pipe(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

void choose_peer_format(Endpoint& endpoint, const std::string& stdio_format, const char* option) {
  // A message has no header, and JSON names its values, so JSON is the default.
  const std::string standard = endpoint.peer->kind == Address::Kind::mqtt ? "jsonl" : "csv";
  const std::string& given = endpoint.peer->format.empty() ? stdio_format : endpoint.peer->format;
  endpoint.format = *format_named(given.empty() ? standard : given);
  if (has_lines(endpoint.format)) return;
  throw Failure(std::string(option) + " " + endpoint.path + ": rows of a live stream are csv or jsonl, not " + given +
                    "; add ?format=csv to the address",
                exit_usage);
}

// Chooses CSV for an input that is a Parquet or Arrow file, and refuses such an output.
void choose_table(Endpoint& endpoint, Direction direction) {
  const std::string what = std::string(option_name(direction)) + " " + endpoint.path + ": Parquet and Arrow files ";
  if (direction == Direction::out)
    throw Failure(what +
                      "are read only; write .csv, and convert it, for example in Python: "
                      "pyarrow.parquet.write_table(pyarrow.csv.read_csv(\"x.csv\"), \"x.parquet\")",
                  exit_usage);
  if (endpoint.gzip) throw Failure(what + "are not compressed as a whole: gunzip it", exit_usage);
  endpoint.table = true;
  endpoint.format = Format::csv;
}

void choose_format(Endpoint& endpoint, const std::string& stdio_format, Direction direction) {
  const char* const option = option_name(direction);
  const Format stdio = format_named(stdio_format).value_or(Format::csv);
  endpoint.format = stdio;
  if (endpoint.path == "-") return;
  if (endpoint.peer) return choose_peer_format(endpoint, stdio_format, option);
  std::string path = endpoint.path;
  endpoint.gzip = has_suffix(path, ".gz");
  if (endpoint.gzip) path.resize(path.size() - 3);
  const std::size_t dot = path.rfind('.');
  const bool has_dot = dot != path.npos && path.find('/', dot) == path.npos;
  if (const auto format = has_dot ? format_named(path.substr(dot + 1)) : std::nullopt) {
    endpoint.format = *format;
  } else if (is_table_file(path)) {
    choose_table(endpoint, direction);
  } else if (stdio_format.empty() && !is_device_or_pipe(endpoint.path)) {
    throw Failure(std::string(option) + " " + endpoint.path +
                      ": the suffix does not name a format; use .csv, .jsonl, .chron, .npy or .npz (each also with "
                      ".gz)" +
                      (direction == Direction::in ? ", .parquet, .arrow or .feather" : "") + ", or --format",
                  exit_usage);
  }
}

std::optional<std::uint32_t> port_named(const Row& row, std::string_view name) {
  for (std::uint32_t i = 0; i < row.size(); ++i) {
    if (name == row.port(i).name) return i;
  }
  return std::nullopt;
}

bool is_identifier(std::string_view text) {
  for (const char c : text) {
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_')) return false;
  }
  return !text.empty();
}

std::string port_names(const Row& row, const Ports& ports) {
  std::string text;
  for (const std::uint32_t i : ports) text += (text.empty() ? "'" : ", '") + std::string(row.port(i).name) + "'";
  return text;
}

// Refuses a timer for anything but one Boolean input.
void check_timer(const Endpoint& endpoint, const Row& row) {
  if (!is_timer(endpoint)) return;
  const rml_port& port = row.port(endpoint.ports.front());
  const bool fits = endpoint.ports.size() == 1 && port.dtype == RML_BOOL && port.rank == 0 && port.always != 0;
  if (fits) return;
  throw Failure("--input " + endpoint.path + ": a timer gives one Boolean input that is present at every cycle, not " +
                    (endpoint.ports.size() == 1 ? "'" + std::string(port.name) + "', which is " + type_text(port) +
                                                      " (clock " + port.clock + ")"
                                                : port_names(row, endpoint.ports)) +
                    ": --input NAME=" + endpoint.path,
                exit_usage);
}

// Refuses a key of a topic that no input receives, or that is not the last value of a message of CSV.
void check_topic_key(const Endpoint& endpoint, const Row& row) {
  if (!endpoint.peer || endpoint.peer->topic_key.empty()) return;
  const std::string& key = endpoint.peer->topic_key;
  const std::string what = "--input " + endpoint.path + ": topic_key=" + key + ": ";
  std::vector<std::string> known;
  for (const std::uint32_t i : endpoint.ports) known.emplace_back(row.port(i).name);
  const auto found = std::find(known.begin(), known.end(), key);
  if (found == known.end())
    throw Failure(what + "this address has no input '" + key + "'" + did_you_mean(key, known) +
                      "; for a program with an instance for each key, give --key " + key,
                  exit_usage);
  const auto place = static_cast<std::size_t>(found - known.begin());
  if (row.port(endpoint.ports[place]).rank > 0)
    throw Failure(what + "'" + key + "' is " + type_text(row.port(endpoint.ports[place])) + ", not a scalar",
                  exit_usage);
  if (endpoint.format == Format::csv && found + 1 != known.end())
    throw Failure(what + "in a message of CSV the key follows the other values, so it must be the last input; use JSON",
                  exit_usage);
}

// Refuses ports that the format cannot represent.
void check_ports(Direction direction, const Endpoint& endpoint, const Row& row) {
  const std::string what = std::string(option_name(direction)) + " " + endpoint.path + ": ";
  const bool arrays = endpoint.format == Format::npy || endpoint.format == Format::npz;
  if (endpoint.format == Format::npy && endpoint.ports.size() != 1) {
    throw Failure(what + "a .npy holds one stream, not " + std::to_string(endpoint.ports.size()) + " (" +
                      port_names(row, endpoint.ports) + "); name one each (" + row.port(endpoint.ports[0]).name +
                      "=FILE.npy) or use .npz",
                  exit_usage);
  }
  for (const std::uint32_t i : endpoint.ports) {
    const rml_port& port = row.port(i);
    const std::string stream = "'" + std::string(port.name) + "'";
    if (arrays && port.dtype == RML_BF16) {
      throw Failure(what + stream + " is bf16, which NumPy files do not have; use .csv", exit_usage);
    }
    if (port.always || !arrays) continue;
    const std::string absent = stream + " is absent at some cycles (clock " + port.clock + ")";
    if (direction == Direction::in) {
      throw Failure(what + absent + ", which a NumPy file cannot express; use .csv, .jsonl or .chron", exit_usage);
    }
    if (endpoint.format == Format::npy) {
      throw Failure(what + absent + ", which a .npy cannot express; use .npz or .csv", exit_usage);
    }
  }
}

// Refuses ?present where it has no effect.
void check_present(const Endpoint& output, const Row& row) {
  if (!output.present) return;
  const std::string what = "--output " + output.path + "?present: ";
  if (output.format == Format::chron)
    throw Failure(what + "a chronogram shows every cycle; use .csv, .jsonl or .npz", exit_usage);
  if (sampled_ports(row, output.ports).empty())
    throw Failure(what + "its outputs (" + port_names(row, output.ports) +
                      ") are present at every cycle; remove ?present, or sample one of them (x when c)",
                  exit_usage);
}

struct Assignment {
  std::vector<Endpoint> endpoints;
  std::vector<bool> named;
  std::optional<std::size_t> rest;  // index of the endpoint for all other ports
};

void assign(Direction direction, const std::string& argument, const Row& row, Assignment& assignment) {
  const std::string option = std::string(option_name(direction)) + " " + argument;
  const std::size_t equals = argument.find('=');
  const std::string name = equals == argument.npos ? "" : argument.substr(0, equals);
  const auto port = port_named(row, name);
  Endpoint endpoint;
  if (port) {
    if (assignment.named[*port]) {
      throw Failure(option + ": " + port_word(direction) + " '" + name + "' was given before", exit_usage);
    }
    assignment.named[*port] = true;
    endpoint.path = argument.substr(equals + 1);
    endpoint.ports = {*port};
  } else if (is_identifier(name)) {
    std::vector<std::string> known;
    for (std::uint32_t i = 0; i < row.size(); ++i) known.emplace_back(row.port(i).name);
    throw Failure(option + ": the node has no " + port_word(direction) + " '" + name + "'" + did_you_mean(name, known),
                  exit_usage);
  } else {
    if (assignment.rest) {
      throw Failure(option + ": a file for all " + port_word(direction) + "s was given before ('" +
                        assignment.endpoints[*assignment.rest].path + "'); name the " + port_word(direction) +
                        ": NAME=" + argument,
                    exit_usage);
    }
    assignment.rest = assignment.endpoints.size();
    endpoint.path = argument;
  }
  Address file;
  if (is_address(endpoint.path)) {
    endpoint.peer = parse_address(direction, option_name(direction), endpoint.path);
  } else {
    file = parse_file(direction, option_name(direction), endpoint.path);
  }
  const Address& address = endpoint.peer ? *endpoint.peer : file;
  endpoint.path = address.name;
  endpoint.present = address.present;
  endpoint.append = address.append;
  if (!address.silent.empty() || address.timeout.count() > 0)
    endpoint.silence = MaybeSilent{address.silent, 0, address.timeout};
  if (endpoint.path.empty()) throw Failure(option + ": no file name", exit_usage);
  assignment.endpoints.push_back(std::move(endpoint));
}

// If the port is the flag of ports that an endpoint reads, adds it to that endpoint and returns
// true.
bool follows_from_cells(std::uint32_t flag, const Row& row, std::vector<Endpoint>& endpoints) {
  for (Endpoint& endpoint : endpoints) {
    if (!sampled_by(row, flag, endpoint.ports)) continue;
    endpoint.ports.push_back(flag);
    return true;
  }
  return false;
}

// The endpoints that the arguments name, or a standard stream if there are none, each with its ports.
std::vector<Endpoint> assign_ports(Direction direction, const std::vector<std::string>& arguments, const Row& row,
                                   const Reading& reading, const Ports& computed) {
  Assignment assignment;
  assignment.named.assign(row.size(), false);
  for (const std::uint32_t i : computed) assignment.named[i] = true;
  for (const std::string& argument : arguments) assign(direction, argument, row, assignment);
  if (arguments.empty()) assign(direction, "-", row, assignment);
  assign_silent_inputs(assignment.endpoints, assignment.named, row);
  Ports others;
  for (std::uint32_t i = 0; i < row.size(); ++i) {
    if (!assignment.named[i]) others.push_back(i);
  }
  std::vector<Endpoint>& endpoints = assignment.endpoints;
  if (assignment.rest) {
    if (others.empty())
      throw Failure(std::string(option_name(direction)) + " " + endpoints[*assignment.rest].path + ": every " +
                        port_word(direction) + " is given by name already",
                    exit_usage);
    endpoints[*assignment.rest].ports = others;
  } else if (direction == Direction::in) {
    if (reading.missing == Missing::absent)
      std::erase_if(others, [&](std::uint32_t flag) { return follows_from_cells(flag, row, endpoints); });
    if (!others.empty())
      throw Failure("no file for " + std::string(others.size() == 1 ? "input " : "inputs ") + port_names(row, others) +
                        ": add --input NAME=FILE, or --input FILE (or -) for all the rest",
                    exit_usage);
  }
  return std::move(endpoints);
}

// Refuses the option for missing values if no input has a format with missing values.
void require_missing(const std::vector<Endpoint>& inputs, const Reading& reading) {
  if (reading.missing == Missing::error) return;
  for (const Endpoint& input : inputs)
    if (has_lines(input.format) || input.format == Format::chron) return;
  throw Failure("--missing: all inputs are NumPy files, whose values are never missing", exit_usage);
}

void require_rows_of_text(const std::vector<Endpoint>& inputs) {
  for (const Endpoint& input : inputs)
    if (has_lines(input.format)) return;
  throw Failure("--on-bad-row skip: no input is CSV or JSON lines; other formats have no rows that could be skipped",
                exit_usage);
}

// The identity of a file; none for peers. Only files can be destroyed by writing to them.
std::optional<FileIdentity> file_of(const Endpoint& endpoint, int stdio) {
  if (endpoint.peer) return std::nullopt;
  return endpoint.path == "-" ? identity_of(stdio) : identity_of(endpoint.path);
}

}  // namespace

std::vector<Endpoint> plan_endpoints(Direction direction, const std::vector<std::string>& arguments,
                                     const std::string& stdio_format, const Row& row, const Reading& reading,
                                     const Ports& computed, std::optional<std::uint32_t> key) {
  if (row.size() == 0) {
    if (arguments.empty()) return {};
    throw Failure(
        std::string(option_name(direction)) + " " + arguments[0] + ": the node has no " + port_word(direction) + "s",
        exit_usage);
  }
  std::vector<Endpoint> endpoints = assign_ports(direction, arguments, row, reading, computed);
  for (Endpoint& endpoint : endpoints) {
    choose_format(endpoint, stdio_format, direction);
    endpoint.reading = reading;
    if (endpoint.peer || endpoint.table) endpoint.reading.separator = Reading().separator;
    if (direction == Direction::out && key && endpoint.format != Format::npy &&
        std::ranges::find(endpoint.ports, *key) == endpoint.ports.end())
      endpoint.ports.insert(endpoint.ports.begin(), *key);
    check_ports(direction, endpoint, row);
    check_present(endpoint, row);
    check_topic_key(endpoint, row);
    check_timer(endpoint, row);
  }
  if (direction == Direction::in && key) refuse_silent(endpoints, "--key", "a cycle without a row belongs to no key");
  if (direction == Direction::in) check_silent_inputs(endpoints, row);
  if (direction == Direction::in) require_missing(endpoints, reading);
  if (direction == Direction::in && reading.skip_bad_rows) require_rows_of_text(endpoints);
  if (std::ranges::count(endpoints, "-", &Endpoint::path) > 1)
    throw Failure(std::string(option_name(direction)) + ": '-' can be given once only", exit_usage);
  return endpoints;
}

namespace {

bool keeps_cells(const Endpoint& endpoint) { return has_lines(endpoint.format) || endpoint.format == Format::npz; }

}  // namespace

void keep_cells(KeptCells& kept, std::vector<Endpoint>& inputs, std::vector<Endpoint>& outputs, const Row& row) {
  if (!kept.any()) return;
  const std::string option = "--keep " + kept.names().front() + ": ";
  for (auto* endpoints : {&inputs, &outputs}) {
    const bool is_output = endpoints == &outputs;
    bool found = false;
    for (Endpoint& endpoint : *endpoints) {
      if (!keeps_cells(endpoint)) continue;
      if (endpoint.format == Format::csv && is_mqtt(endpoint))
        throw Failure(
            option + "messages of '" + endpoint.path + "' have no header that names columns; use ?format=jsonl",
            exit_usage);
      endpoint.kept = &kept;
      found = true;
    }
    if (!found && is_output)
      throw Failure(option + "no output is CSV, JSON lines or .npz; others have no texts", exit_usage);
    if (!found) throw Failure(option + "no input is CSV, JSON lines or .npz; others have no such columns", exit_usage);
  }
  for (const Endpoint& output : outputs) {
    if (output.kept == nullptr) continue;
    const auto elements = elements_by_name(row, output.ports);
    for (const std::string& name : kept.names())
      if (elements.contains(name) || port_named(row, name))
        throw Failure("--keep " + name + ": an output has that name; rename it in the program", exit_usage);
  }
}

void use_texts(const ColumnTexts& texts, const Row& in, std::vector<Endpoint>& inputs, const Row& out,
               std::vector<Endpoint>& outputs) {
  if (!texts.any()) return;
  const auto use = [&](const Row& row, Endpoint& endpoint, const auto& is_text, const auto& is_key) {
    const bool written = has_lines(endpoint.format);
    if (written) endpoint.texts = &texts;
    for (const std::uint32_t i : endpoint.ports) {
      if (is_key(i)) {
        const bool arrays = &row == &out && endpoint.format == Format::npz;
        if (!written && !arrays)
          throw Failure("--key " + std::string(row.port(i).name) + ": '" + endpoint.path +
                            "' has numbers, not texts: give the keys a type, --key " + row.port(i).name +
                            ":i64, or use .csv or .jsonl",
                        exit_usage);
        endpoint.texts = &texts;
        continue;
      }
      if (!written && is_text(i))
        throw Failure("--classes, --time: '" + std::string(row.port(i).name) + "' is in '" + endpoint.path +
                          "', which is neither CSV nor JSON lines; it has values, not texts",
                      exit_usage);
    }
  };
  for (Endpoint& input : inputs)
    use(
        in, input, [&](std::uint32_t i) { return texts.of_input(i); },
        [&](std::uint32_t i) { return texts.is_key(i); });
  for (Endpoint& output : outputs)
    use(
        out, output, [&](std::uint32_t i) { return texts.of_output_alone(i); },
        [&](std::uint32_t i) { return texts.keys_of(i) != nullptr; });
}

void refuse_overlap(const std::vector<Endpoint>& inputs, const std::vector<Endpoint>& outputs) {
  std::vector<const Address*> peers;
  for (const auto* endpoints : {&inputs, &outputs}) {
    for (const Endpoint& endpoint : *endpoints) {
      if (!endpoint.peer) continue;
      for (const Address* other : peers) refuse_clash(*other, *endpoint.peer);
      peers.push_back(&*endpoint.peer);
    }
  }
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const auto output = file_of(outputs[o], STDOUT_FILENO);
    for (std::size_t other = 0; other < o; ++other) {
      if (outputs[other].path == outputs[o].path || (output && output == file_of(outputs[other], STDOUT_FILENO))) {
        throw Failure("two outputs go to the same file '" + outputs[o].path + "'", exit_usage);
      }
    }
    for (const Endpoint& input : inputs) {
      if (output && output == file_of(input, STDIN_FILENO)) {
        throw Failure("output '" + outputs[o].path + "' is the same file as input '" + input.path + "'", exit_usage);
      }
    }
  }
}

}  // namespace rml::rt

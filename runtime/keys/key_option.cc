// Checks the option against the names of the node's ports, so that the key column cannot be
// confused with an input or output.
#include "runtime/keys/key_option.h"

#include <string_view>
#include <utility>

#include "runtime/base/failure.h"
#include "runtime/stream_io/row.h"

namespace rml::rt {
namespace {

constexpr std::string_view types_of_keys = "text, bool, i8, u8, i16, u16, i32, u32, i64 or u64";

// The number of the type with this name; 255 if there is none.
std::uint8_t dtype_named(std::string_view name) {
  for (std::uint8_t dtype = RML_BOOL; dtype <= RML_U64; ++dtype)
    if (dtype_name(dtype) == name) return dtype;
  return 255;
}

void refuse_ports(const rml_port* ports, std::uint32_t count, const std::string& name, const char* word) {
  // Finds the columns of the elements; those of a tensor `x` are named `x[0]`, `x[1]`, …
  for (std::uint32_t i = 0; i < count; ++i)
    if (name.substr(0, name.find('[')) == ports[i].name)
      throw Failure("--key " + name + ": the node has an " + word + " '" + ports[i].name +
                        "'; the keys need a column of their own, with a name that no input or output has",
                    exit_usage);
}

}  // namespace

KeyColumn key_column(const rml_program& program, const std::string& argument) {
  KeyColumn column;
  column.name = argument;
  const std::size_t colon = argument.rfind(':');
  const std::string type = colon == argument.npos ? "" : argument.substr(colon + 1);
  const std::uint8_t dtype = dtype_named(type);
  if (is_float(dtype) && dtype != 255)
    throw Failure("--key " + argument + ": a float cannot be a key, because NaN equals no value; use " +
                      std::string(types_of_keys),
                  exit_usage);
  if (type == "text" || dtype != 255) {
    column.name = argument.substr(0, colon);
    column.is_text = type == "text";
    if (!column.is_text) column.dtype = dtype;
  } else if (colon != argument.npos) {
    throw Failure("--key " + argument + ": '" + type + "' is not a type for keys: use " + std::string(types_of_keys),
                  exit_usage);
  }
  if (column.name.empty()) throw Failure("--key: expected NAME or NAME:TYPE, a column of the input", exit_usage);
  refuse_ports(program.inputs, program.n_inputs, column.name, "input");
  refuse_ports(program.outputs, program.n_outputs, column.name, "output");
  return column;
}

void require_keyable(const rml_program& program, const Options& options) {
  if (program.network != nullptr)
    throw Failure("--key: the program is a network, whose tasks share one state; build it without --parallel",
                  exit_usage);
  if (program.per_step > 0)
    throw Failure(
        "--key: the program is built for ranks, which share the steps of one instance; build it without --ranks",
        exit_usage);
  const std::string one_run =
      " is for the rows of one instance, but every key has its own instance; "
      "to use it, run one key alone, with --key-seed KEY";
  const std::pair<const char*, bool> others[] = {{"--epochs", options.training.epochs.has_value()},
                                                 {"--repeat", options.training.repeat},
                                                 {"--shuffle", options.training.shuffle},
                                                 {"--validate", !options.training.validate.empty()},
                                                 {"--metric", !options.training.metric.empty()},
                                                 {"--segments-by", !options.training.segments_by.empty()},
                                                 {"--last", !options.training.last.empty()},
                                                 {"--monitor", !options.monitored.empty()},
                                                 {"--watch", !options.watched.empty()},
                                                 {"--log", !options.log.empty()},
                                                 {"--plot", !options.plot.path.empty()},
                                                 {"--profile", !options.profile.empty()},
                                                 {"--on-nan", options.on_nan != OnNan::ignore}};
  for (const auto& [name, given] : others)
    if (given) throw Failure(std::string("--key: ") + name + one_run, exit_usage);
  if (!options.shared.empty() && (program.flow != nullptr || program.demand != nullptr || program.savable == 0))
    throw Failure(std::string("--share: rows of this program can wait for later rows, so no order is defined in which "
                              "the keys change the shared parameters") +
                      (program.savable == 0 ? " (nor in the reference engine)" : ""),
                  exit_usage);
}

}  // namespace rml::rt

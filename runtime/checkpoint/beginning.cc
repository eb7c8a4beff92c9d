// A parameter that has changed since the beginning has two tensors: its latest value under its
// own name, and the earlier value under another one.
#include "runtime/checkpoint/beginning.h"

#include <algorithm>

namespace rml::rt {

std::string input_name(const rml_port& input) { return std::string("input ") + input.name; }
std::string cycles_of(const std::string& stream) { return stream + " at"; }
std::string earlier_name(const std::string& path) { return "earlier " + path; }

void add_cycles(StateTensors& into, std::int64_t count) {
  constexpr std::int64_t all_true = 0x0101010101010101;
  add_owned(into, {cycles_name, RML_BOOL, {static_cast<std::uint64_t>(count)}, {}},
            std::vector<std::int64_t>(static_cast<std::size_t>(count + 7) / 8, all_true),
            static_cast<std::size_t>(count));
}

void add_latest(StateTensors& into, const rml_parameter& p, std::string_view latest) {
  const auto known = std::ranges::find(into.tensors, std::string(p.path), &TensorOut::name);
  if (known != into.tensors.end()) {
    if (known->pieces.size() == 1 && known->pieces[0] == latest) return;
    known->name = earlier_name(p.path);
  }
  into.tensors.push_back({p.path, p.dtype, {p.dims, p.dims + p.rank}, {latest}});
}

void expect_cycles(StateFile& from, const CyclesOfState& run, std::int64_t begins) {
  if (begins > run.rows) from.damaged("its cycle numbers contradict each other");
  if (from.tensor(cycles_name).shape[0] != static_cast<std::uint64_t>(run.cycles - begins))
    from.damaged("'cycles' does not have as many elements as there are cycles from " + std::to_string(begins) + " on");
}

void expect_stream(StateFile& from, const std::string& name, std::uint8_t dtype, std::vector<std::uint64_t> shape) {
  from.expect(name, dtype, std::move(shape), true);
  from.expect(cycles_of(name), RML_I64, {}, true);
}

void expect_memory(StateFile& from, const std::string& name, std::uint8_t dtype, std::vector<std::uint64_t> shape,
                   bool has_value) {
  if (from.has(earlier_name(name))) from.expect(earlier_name(name), dtype, shape, false);
  if (has_value || from.has(name)) from.expect(name, dtype, std::move(shape), false);
}

const TensorIn& memory_in(const StateFile& from, const std::string& name) {
  return from.tensor(from.has(earlier_name(name)) ? earlier_name(name) : name);
}

std::vector<std::int64_t> stream_cycles(const StateFile& from, const std::string& name, std::int64_t begins,
                                        std::int64_t cycles, bool dense) {
  std::vector<std::int64_t> all = from.counts(cycles_of(name));
  if (all.size() != from.tensor(name).shape[0])
    from.damaged("'" + name + "' does not have as many elements as '" + cycles_of(name) + "'");
  std::int64_t least = begins;
  for (const std::int64_t n : all) {
    if (n < least || n >= cycles)
      from.damaged("'" + cycles_of(name) + "' has " + std::to_string(n) + ", not " + std::to_string(least) + " to " +
                   std::to_string(cycles - 1));
    least = n + 1;
  }
  if (dense && all.size() != static_cast<std::uint64_t>(cycles - begins))
    from.damaged("'" + name + "' does not have an element for each cycle");
  return all;
}

}  // namespace rml::rt

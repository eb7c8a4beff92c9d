// The clock of an input is available as text ("base on c"), from which the name of its flag is
// taken.
#include "runtime/stream_io/missing_cells.h"

#include <algorithm>
#include <array>

#include "runtime/base/failure.h"
#include "runtime/stream_io/scalar_text.h"

namespace rml::rt {

bool is_missing_word(std::string_view text) {
  constexpr std::array<std::string_view, 7> words = {"na", "n/a", "<na>", "#n/a", "nan", "null", "none"};
  const auto same = [&](std::string_view word) {
    return std::equal(word.begin(), word.end(), text.begin(), text.end(),
                      [](char a, char b) { return a == (b >= 'A' && b <= 'Z' ? b - 'A' + 'a' : b); });
  };
  return std::any_of(words.begin(), words.end(), same);
}

std::optional<Sampler> sampler_of(const Row& row, std::uint32_t port) {
  std::string_view clock = row.port(port).clock;
  constexpr std::string_view on = "base on ", negation = "not ";
  if (clock.substr(0, on.size()) != on) return std::nullopt;
  clock.remove_prefix(on.size());
  Sampler sampler;
  sampler.positive = clock.substr(0, negation.size()) != negation;
  if (!sampler.positive) clock.remove_prefix(negation.size());
  for (; sampler.flag < row.size(); ++sampler.flag) {
    const rml_port& flag = row.port(sampler.flag);
    if (clock == flag.name && flag.dtype == RML_BOOL && flag.rank == 0) return sampler;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> sampled_by(const Row& row, std::uint32_t flag, const std::vector<std::uint32_t>& ports) {
  for (const std::uint32_t port : ports) {
    const auto sampler = sampler_of(row, port);
    if (sampler && sampler->flag == flag) return port;
  }
  return std::nullopt;
}

bool DerivedFlags::add(const Row& row, std::uint32_t flag, const std::vector<std::uint32_t>& ports) {
  Flag added{flag, {}};
  for (const std::uint32_t port : ports) {
    const auto sampler = sampler_of(row, port);
    if (sampler && sampler->flag == flag) added.sampled.push_back({port, sampler->positive});
  }
  if (added.sampled.empty()) return false;
  flags_.push_back(std::move(added));
  return true;
}

std::optional<std::pair<std::uint32_t, std::uint32_t>> DerivedFlags::settle(Row& row) const {
  for (const Flag& flag : flags_) {
    const auto truth = [&](const Sampled& s) { return row.is_present(s.port) == s.positive; };
    const bool first = truth(flag.sampled.front());
    for (const Sampled& s : flag.sampled)
      if (truth(s) != first) return std::pair{flag.sampled.front().port, s.port};
    *static_cast<std::uint8_t*>(row.data(flag.port)) = first ? 1 : 0;
    row.set_present(flag.port, true);
  }
  return std::nullopt;
}

void DerivedFlags::settle(Row& row, const std::function<std::string(std::uint32_t)>& place,
                          const std::string& where) const {
  const auto against = settle(row);
  if (!against) return;
  const auto text = [&](std::uint32_t port) {
    return std::string("'") + row.port(port).name + "' (clock " + row.port(port).clock + ") is " +
           (row.is_present(port) ? "present" : "missing");
  };
  throw Failure(place(against->second) + text(against->first) + ", and " + text(against->second) +
                ": they share one flag, which is " + where + "; give each its own flag");
}

void fill_with_nan(Row& row, std::uint32_t i) {
  const rml_port& port = row.port(i);
  char* to = static_cast<char*>(row.data(i));
  for (std::uint64_t k = 0; k < port.elements; ++k, to += dtype_bytes(port.dtype))
    parse_whole_scalar(port.dtype, "nan", to);
  row.set_present(i, true);
}

std::string mend_of_missing(const rml_port& port) {
  const std::string name = port.name;
  return "; if cells may be missing, declare the inputs `" + name + "_present: bool, " + name + ": " + type_text(port) +
         " when " + name + "_present` and add --missing absent";
}

}  // namespace rml::rt

// Cells without a value, and the inputs that say where a value is: the flag `c` of an input `x: f64 when c`.
//
// A flag that is no column of the file that `x` comes from is what the cells of `x` say: true at the rows at which `x`
// has a value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/stream_io/row.h"

namespace rml::rt {

// NA, N/A, <NA>, #N/A, NaN, null, None, in any case.
bool is_missing_word(std::string_view text);

// The input whose truth (positive) or falsity is the whole clock of another.
struct Sampler {
  std::uint32_t flag = 0;
  bool positive = true;
};
std::optional<Sampler> sampler_of(const Row& row, std::uint32_t port);

// Flags that follow from the cells of a file.
class DerivedFlags {
 public:
  // Whether the port is the flag of some of these; it is one from now on.
  bool add(const Row& row, std::uint32_t flag, const std::vector<std::uint32_t>& ports);
  bool none() const { return flags_.empty(); }
  // Sets them, all other ports being set. The inputs that contradict each other, if two do.
  std::optional<std::pair<std::uint32_t, std::uint32_t>> settle(Row& row) const;

 private:
  struct Sampled {
    std::uint32_t port;
    bool positive;
  };
  struct Flag {
    std::uint32_t port;
    std::vector<Sampled> sampled;
  };
  std::vector<Flag> flags_;
};

// The first of the ports whose flag this is; none: it is no flag.
std::optional<std::uint32_t> sampled_by(const Row& row, std::uint32_t flag, const std::vector<std::uint32_t>& ports);

// What to write for an input, and to give, so that cells of it may be missing.
std::string mend_of_missing(const rml_port& port);

}  // namespace rml::rt

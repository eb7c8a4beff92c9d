// Cells without a value, and the flags that they imply: the flag `c` of an input `x: f64 when c`.
//
// If the file of `x` has no column for the flag, the flag follows from the cells of `x`: it is
// true in rows in which `x` has a value.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/stream_io/row.h"

namespace rml::rt {

// NA, N/A, <NA>, #N/A, NaN, null or None, in upper or lower case.
bool is_missing_word(std::string_view text);

// The flag of an input whose clock consists of this flag (positive) or its negation only.
struct Sampler {
  std::uint32_t flag = 0;
  bool positive = true;
};
std::optional<Sampler> sampler_of(const Row& row, std::uint32_t port);

// Computes flags that follow from the cells of a file.
class DerivedFlags {
 public:
  // Registers the flag if it is the flag of some of these ports; returns whether it is.
  bool add(const Row& row, std::uint32_t flag, const std::vector<std::uint32_t>& ports);
  bool none() const { return flags_.empty(); }
  // Sets the flags, after all other ports are set. Returns two inputs that contradict each other,
  // if there are any.
  std::optional<std::pair<std::uint32_t, std::uint32_t>> settle(Row& row) const;
  // Sets the flags, or throws a Failure for two inputs that contradict each other. `place` is the
  // beginning of the message for an input; `where` says where the flag is missing: "not in the row".
  void settle(Row& row, const std::function<std::string(std::uint32_t)>& place, const std::string& where) const;

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

// The first of the ports that has this flag; none if the input is not a flag of any.
std::optional<std::uint32_t> sampled_by(const Row& row, std::uint32_t flag, const std::vector<std::uint32_t>& ports);

// Makes each element of a float input NaN, and marks the input as present.
void fill_with_nan(Row& row, std::uint32_t port);

// The fix-it for an input whose cells may be missing: the declaration and the option to use.
std::string mend_of_missing(const rml_port& port);

}  // namespace rml::rt

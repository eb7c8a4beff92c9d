// Small handwritten programs for rmlrt.h, for tests of the runtime.
//
// Each is like the compiler's output for the node in its comment. CopyProgram passes any list of
// streams through. The C table has no room for a closure, so only the CopyProgram made last may
// run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/rmlrt.h"

namespace rml::rt::test {

struct PortSpec {
  std::string name;
  std::uint8_t dtype = RML_F32;
  std::vector<std::uint64_t> dims = {};
  int sampled_by = -1;  // index of the Boolean input that is the clock of the port
};

// A condition, and an input that is present if it is true.
inline const std::vector<PortSpec> sampled = {{"c", RML_BOOL}, {"x", RML_F32, {}, 0}};

class CopyProgram {
 public:
  explicit CopyProgram(std::vector<PortSpec> specs);
  CopyProgram(const CopyProgram&) = delete;
  CopyProgram& operator=(const CopyProgram&) = delete;
  const rml_program& table() const { return table_; }

 private:
  std::vector<PortSpec> specs_;
  std::vector<std::string> clocks_;
  std::vector<rml_port> ports_;
  rml_program table_;
};

// node sums(x: f32) -> (sum: f32)   sum = x + (0 fby sum)
const rml_program& sums_program();
// The node `sums` with a different memory: its name, type or shape, or an additional one.
enum class Differing { name, dtype, shape, more };
rml_program sums_that_differ(Differing how);
// node scale(x: f64) -> (y: f64)   w = param(2.0); y = w * x
const rml_program& scale_program();
// node evens(x: i32) -> (y: i32 when c, c: bool)   c = x % 2 == 0; y = x when c
const rml_program& evens_program();
// node count() -> (n: i64)   n = 0 fby n + 1
const rml_program& count_program();
// node segment_max(end: bool, x: i32) -> (m: i32)   the largest x of the segment that ends where
// `end` is true
const rml_program& segment_max_program();
// node fail(x: i32) -> (y: i32)   stops at cycle 3 with the given fault
const rml_program& failing_program(std::int32_t fault);

}  // namespace rml::rt::test

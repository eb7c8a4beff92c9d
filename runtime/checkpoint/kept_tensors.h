// Saves the cells that wait for their rows (stream_io/cells/kept_cells.h) in a state, and reads them
// back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/checkpoint/safetensors.h"
#include "runtime/stream_io/cells/kept_cells.h"

namespace rml::rt {

class KeptTensors {
 public:
  // Adds tensors with the cells of the rows from `from` to `to`, which point into this object.
  // Adds nothing if no cells are kept.
  KeptTensors(const KeptCells& kept, std::int64_t from, std::int64_t to, std::vector<TensorOut>& into);
  // Adds tensors with these lines, the first of which is the header.
  KeptTensors(const std::vector<std::string>& lines, std::vector<TensorOut>& into) { add(lines, into); }
  KeptTensors(const KeptTensors&) = delete;
  KeptTensors& operator=(const KeptTensors&) = delete;

 private:
  void add(const std::vector<std::string>& lines, std::vector<TensorOut>& into);

  std::string text_;
  std::vector<std::int64_t> ends_;
};

bool is_kept_name(std::string_view tensor);
// The header and the cells of the rows, one line each; empty if there are no such tensors. Throws
// Failure, which names `file`.
std::vector<std::string> kept_lines(const std::string& file, const Safetensors& content);

}  // namespace rml::rt

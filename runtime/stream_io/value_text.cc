// Writes values as text; tensors have the form that chron_reader.cc describes.
#include "runtime/stream_io/value_text.h"

#include "runtime/stream_io/row.h"
#include "runtime/stream_io/scalar_text.h"

namespace rml::rt {

namespace {

void add_scalar(const rml_port& port, const char* value, std::string& text) {
  char buffer[longest_scalar];
  text.append(buffer, format_scalar(port.dtype, value, buffer, BoolText::letter));
}

void add_axis(const rml_port& port, std::uint32_t axis, const char*& value, std::string& text) {
  const bool last = axis + 1 == port.rank;
  const bool row_axis = axis + 2 == port.rank;
  for (std::uint64_t k = 0; k < port.dims[axis]; ++k) {
    if (k > 0) text += row_axis ? ';' : ',';
    if (last) {
      add_scalar(port, value, text);
      value += dtype_bytes(port.dtype);
    } else if (row_axis) {
      add_axis(port, axis + 1, value, text);
    } else {
      text += '[';
      add_axis(port, axis + 1, value, text);
      text += ']';
    }
  }
}

}  // namespace

void append_value(const rml_port& port, const void* data, std::string& text) {
  const char* value = static_cast<const char*>(data);
  if (port.rank == 0) return add_scalar(port, value, text);
  text += '[';
  if (port.elements > 0) add_axis(port, 0, value, text);
  text += ']';
}

}  // namespace rml::rt

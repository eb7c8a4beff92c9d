// The values of one cycle: readers fill a row and push reads it, or pop fills a row and writers
// read it.
//
// Every port has a block of elements, row-major, aligned to 64 bytes, at an address that never
// changes, so readers may keep pointers. The presence flags are adjacent, in port order. A Row
// does not grow after construction. A row made by `showing` has no memory of its own: it gives
// access to the rows of another object, one at a time.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/rmlrt.h"

namespace rml::rt {

std::string_view dtype_name(std::uint8_t dtype);
std::uint64_t dtype_bytes(std::uint8_t dtype);
inline bool is_float(std::uint8_t dtype) { return dtype >= RML_F16 && dtype <= RML_F64; }
inline bool is_unsigned(std::uint8_t dtype) { return dtype == RML_U8 || dtype >= RML_U16; }

// Copies a value; scalars without a call.
inline void copy_value(void* to, const void* from, std::uint64_t bytes) {
  if (bytes == 8)
    std::memcpy(to, from, 8);
  else if (bytes == 4)
    std::memcpy(to, from, 4);
  else
    std::memcpy(to, from, bytes);
}

// "f32", "i32[3,4]".
std::string type_text(const rml_port& port);
// The name of an element in a CSV header: "x" for a scalar, "x[0]", "x[1,2]".
std::string element_name(const rml_port& port, std::uint64_t element);

// Indices of ports of a row.
using Ports = std::vector<std::uint32_t>;

class Row {
 public:
  Row(const rml_port* ports, std::uint32_t count);
  // A row that gives access to the first ports of another row.
  static Row showing(const Row& other, std::uint32_t count);

  std::uint32_t size() const { return count_; }
  const rml_port& port(std::uint32_t i) const { return ports_[i]; }
  void* data(std::uint32_t i) const { return pointers_[i]; }
  void* element(std::uint32_t i, std::uint64_t k) const {
    return static_cast<char*>(pointers_[i]) + k * dtype_bytes(ports_[i].dtype);
  }
  bool is_present(std::uint32_t i) const { return flags_[i] != 0; }
  void set_present(std::uint32_t i, bool value) { flags_[i] = value ? 1 : 0; }
  // Sets the flags of the ports that are always present.
  void set_always_present() {
    for (const std::uint32_t i : always_) flags_[i] = 1;
  }

  void* const* pointers() const { return pointers_.data(); }
  const void* const* const_pointers() const { return pointers_.data(); }
  std::uint8_t* present() { return flags_; }
  const std::uint8_t* present() const { return flags_; }
  // From now on gives access to these values and flags. The address of an absent port may remain.
  void show(std::uint32_t i, void* data) { pointers_[i] = data; }
  void show_present(std::uint8_t* flags) { flags_ = flags; }
  // A checksum over the present values of the first ports, which continues `before`.
  std::uint32_t checksum(std::uint32_t before, std::uint32_t ports) const;
  std::uint32_t checksum(std::uint32_t before) const { return checksum(before, count_); }

 private:
  struct Free {
    void operator()(void* block) const;
  };
  Row() = default;
  const rml_port* ports_ = nullptr;
  std::uint32_t count_ = 0;
  std::unique_ptr<void, Free> block_;
  std::vector<void*> pointers_;
  std::vector<std::uint32_t> always_;
  std::vector<std::uint8_t> present_;  // presence flags; empty in a row made by `showing`
  std::uint8_t* flags_ = nullptr;
};

}  // namespace rml::rt

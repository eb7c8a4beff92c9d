// The common part of read_schedule and read_steps: both forms begin with a core, and their lines refer to its ids.
// Every id is checked when it is read. A fault is kept in `lines`, as by the operations of `lines` itself.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "semantics/core/core_text.h"
#include "semantics/time/segment.h"

namespace rml {

class FormReader {
 public:
  explicit FormReader(TextLines& lines) : lines_(lines) {}

 protected:
  // Reads the lines of the core. Returns false, and keeps a fault, if they are not a valid core.
  bool read_core_lines();
  void speak_of(std::shared_ptr<const Core> core) { core_ = std::move(core); }
  const Core& core() const { return *core_; }
  std::shared_ptr<const Core> shared_core() const { return core_; }
  std::size_t values() const { return core_->values.size(); }

  // Returns the first value after a fault, so a core without values must have been refused before.
  ValueId value();
  // Reads values up to the first token that is not a value.
  std::vector<ValueId> value_list();
  // Reads an optional equation such as `= add %1 %2`, which must equal the core's. `=` alone is accepted.
  void equation_of(ValueId);
  ClockId clock();
  Literal literal();
  std::vector<Literal> literals();
  // Reads a number below `size`. `what` names the counted thing in messages, for example "cell".
  std::uint32_t index(const char* what, std::size_t size);
  // Reads the number of a thing that is being defined: definitions are numbered in order.
  void next_index(const char* what, std::size_t size);
  // Reads an item such as `%4 = add %1 %2 at first last`.
  SweepItem item();
  std::int64_t extent();
  // Reads extents such as "(2, 3)".
  template <class... More>
  void extents(std::int64_t& first, More&... more) {
    lines_.expect("(");
    first = extent();
    ((lines_.expect(","), more = extent()), ...);
    lines_.expect(")");
  }
  std::pair<DType, Shape> type() { return read_type(lines_); }

  TextLines& lines_;

 private:
  std::shared_ptr<const Core> core_;
};

// True if both cores have the same number of ports, with the same types.
bool alike_ports(const Core&, const std::vector<Port>&, const Core& other, const std::vector<Port>& others);

// The text of a literal, for example "not %3".
std::string literal_text(Literal);
// For example " at first last"; empty if the item is computed at all classes of instants.
std::string classes_text(std::uint8_t classes);

}  // namespace rml

// What read_schedule and read_steps have in common: a form that begins with its core, and whose ids say something about
// it. Every id is checked when it is read; a fault is kept in `lines`, as its own operations do.
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
  // The lines of the core that follow; false (and a fault) if they are none.
  bool read_core_lines();
  void speak_of(std::shared_ptr<const Core> core) { core_ = std::move(core); }
  const Core& core() const { return *core_; }
  std::shared_ptr<const Core> shared_core() const { return core_; }
  std::size_t values() const { return core_->values.size(); }

  // After a fault the first one: where a core has none, there is nothing to look up.
  ValueId value();
  // Values up to the end of the line, or to something else.
  std::vector<ValueId> value_list();
  // `= add %1 %2`, perhaps: this is what the core has. `=` alone will do.
  void equation_of(ValueId);
  ClockId clock();
  Literal literal();
  std::vector<Literal> literals();
  // A number below `size`; `what` is "cell", say.
  std::uint32_t index(const char* what, std::size_t size);
  // The same, of a thing that is defined here: they are numbered in order.
  void next_index(const char* what, std::size_t size);
  // `%4 = add %1 %2 at first last`.
  PassItem item();
  std::int64_t extent();
  // "(2, 3)".
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

// As many ports, of the same types.
bool alike_ports(const Core&, const std::vector<Port>&, const Core& other, const std::vector<Port>& others);

// "not %3".
std::string literal_text(Literal);
// " at first last"; nothing where it is at all of them.
std::string classes_text(std::uint8_t classes);

}  // namespace rml

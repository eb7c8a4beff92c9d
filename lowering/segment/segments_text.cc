// Writes the complete text of a schedule's segments.
#include "lowering/segment/segments_text.h"

#include "lowering/schedule/form_reader.h"
#include "lowering/schedule/schedule_text.h"

namespace rml {

namespace {

std::string pair_text(std::int64_t a, std::int64_t b) {
  return " (" + std::to_string(a) + ", " + std::to_string(b) + ")";
}

std::string matrix_text(const BatchOperand& o) {
  return (o.held ? " held " : " ") + id_text(o.value) + pair_text(o.row, o.column);
}

std::string product_line(ValueId v, const Batch& b) {
  return "  product " + id_text(v) + (b.sum ? " sum (" : " rows (") + std::to_string(b.m) + ", " +
         std::to_string(b.inner) + ", " + std::to_string(b.n) + ")" + matrix_text(b.a) + " times" + matrix_text(b.b) +
         "\n";
}

std::string memory_line(ValueId v, const Memory& m) {
  std::string text = "  memory " + id_text(v);
  if (m.in_place) text += " in_place " + std::to_string(*m.in_place);
  if (m.begins) text += " begins";
  if (m.shares.valid()) text += " shares " + id_text(m.shares);
  return text + "\n";
}

std::string home_line(ValueId v, const Home& home) {
  const std::string text = "  home " + id_text(v);
  switch (home.kind) {
    case Home::array:
      return text + " array\n";
    case Home::cell:
      return text + " cell\n";
    case Home::memory:
      return text + " memory " + id_text(home.owner) + "\n";
    case Home::next:
      return text + " next " + id_text(home.owner) + "\n";
    case Home::settled:
      return text + " settled\n";
  }
  return {};
}

std::string segment_text(const Core& core, const Segment& segment) {
  std::string text = "segment of unit " + std::to_string(segment.unit) + "\n";
  for (const Sweep& sweep : segment.sweeps) {
    text += sweep.backward ? "  sweep backward\n" : "  sweep forward\n";
    for (const SweepItem& i : sweep.items)
      text += "    " + id_text(i.value) + " = " + equation_text(core, i.value) + classes_text(i.classes) + "\n";
  }
  for (const auto& [v, product] : segment.products) text += product_line(v, product);
  for (const auto& [v, memory] : segment.memories) text += memory_line(v, memory);
  for (const auto& [v, home] : segment.homes) text += home_line(v, home);
  return text;
}

}  // namespace

std::string segments_text(const Segments& s) {
  std::string text = form_line("segments") + inner_schedule_text(s.schedule);
  for (const Segment& segment : s.list) text += segment_text(*s.schedule.core, segment);
  return text;
}

}  // namespace rml

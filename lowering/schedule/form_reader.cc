// Reads ids, and checks that each one exists in the form.
#include "lowering/schedule/form_reader.h"

#include <algorithm>

namespace rml {

std::string literal_text(Literal l) { return (l.positive ? "" : "not ") + id_text(l.condition); }

bool alike_ports(const Core& core, const std::vector<Port>& ports, const Core& other, const std::vector<Port>& others) {
  return std::ranges::equal(ports, others, [&](const Port& p, const Port& q) {
    const Value &a = core[p.value], &b = other[q.value];
    return a.dtype == b.dtype && a.shape == b.shape;
  });
}

std::string classes_text(std::uint8_t classes) {
  if (classes == any_instant) return "";
  std::string text = " at";
  if (classes == 0) text += " nowhere";
  if ((classes & first_instant) != 0) text += " first";
  if ((classes & interior_instant) != 0) text += " interior";
  if ((classes & last_instant) != 0) text += " last";
  if ((classes & single_instant) != 0) text += " single";
  return text;
}

bool FormReader::read_core_lines() {
  auto core = read_inner_core(lines_);
  if (core) core_ = std::make_shared<const Core>(std::move(*core));
  return core_ != nullptr;
}

ValueId FormReader::value() {
  const std::size_t begin = lines_.next_place();
  const ValueId v = read_value_id(lines_);
  if (v.index < values()) return v;
  lines_.fail_at(begin, "there is no value " + id_text(v));
  return ValueId{0};
}

std::vector<ValueId> FormReader::value_list() {
  std::vector<ValueId> list;
  while (lines_.peek() == '%') {
    const ValueId v = value();
    if (lines_.ok()) list.push_back(v);
  }
  return list;
}

void FormReader::equation_of(ValueId v) {
  if (!lines_.take("=") || !lines_.ok() || lines_.at_end()) return;
  const std::string known = equation_text(core(), v);
  if (!lines_.take(known)) lines_.fail_at(lines_.next_place(), "the core has " + id_text(v) + " = " + known);
}

ClockId FormReader::clock() {
  const ClockId c = read_clock_id(lines_);
  if (c.index < core().clocks.size()) return c;
  lines_.fail("there is no clock " + id_text(c));
  return base_clock;
}

Literal FormReader::literal() {
  const bool positive = !lines_.take("not");
  return {value(), positive};
}

std::vector<Literal> FormReader::literals() {
  std::vector<Literal> list;
  while (lines_.peek() == '%' || lines_.next_is("not")) list.push_back(literal());
  return list;
}

std::uint32_t FormReader::index(const char* what, std::size_t size) {
  const auto i = lines_.integer<std::uint32_t>((std::string("the number of a ") + what).c_str());
  if (i < size) return i;
  lines_.fail(std::string("there is no ") + what + " " + std::to_string(i));
  return 0;
}

void FormReader::next_index(const char* what, std::size_t size) {
  const auto i = lines_.integer<std::uint32_t>((std::string("the number of a ") + what).c_str());
  if (i != size) lines_.fail(std::string(what) + "s are numbered in order: expected " + std::to_string(size));
}

SweepItem FormReader::item() {
  SweepItem item{value(), any_instant};
  equation_of(item.value);
  if (!lines_.take("at")) return item;
  item.classes = 0;
  if (lines_.take("nowhere")) return item;
  constexpr std::pair<const char*, std::uint8_t> names[] = {
      {"first", first_instant}, {"interior", interior_instant}, {"last", last_instant}, {"single", single_instant}};
  for (const auto& [name, bit] : names)
    if (lines_.take(name)) item.classes |= bit;
  if (item.classes == 0) lines_.fail_expecting("'first', 'interior', 'last' or 'single'");
  return item;
}

std::int64_t FormReader::extent() {
  const auto n = lines_.integer<std::int64_t>("an extent");
  if (n < 0 || n > max_elements) lines_.fail("a tensor cannot have this extent");
  return n;
}

}  // namespace rml

// Reads the text that segments_text writes.
#include "lowering/schedule/form_reader.h"
#include "lowering/schedule/schedule_text.h"
#include "lowering/segment/segments_text.h"

namespace rml {

namespace {

class SegmentsReader : FormReader {
 public:
  explicit SegmentsReader(TextLines& lines) : FormReader(lines) {}

  std::optional<Segments> read() {
    auto schedule = read_inner_schedule(lines_);
    if (!schedule) return std::nullopt;
    speak_of(schedule->core);
    s_.schedule = std::move(*schedule);
    const std::size_t begin = lines_.place();
    while (lines_.next()) line();
    if (lines_.ok())
      if (const std::string violation = verify(s_); !violation.empty()) lines_.fail_at(begin, violation);
    if (!lines_.ok()) return std::nullopt;
    return std::move(s_);
  }

 private:
  void line() {
    if (lines_.take("segment")) {
      lines_.expect("of");
      lines_.expect("unit");
      s_.list.emplace_back();
      s_.list.back().unit = index("unit", s_.schedule.units.size());
    } else if (s_.list.empty() || !part(s_.list.back())) {
      lines_.fail_expecting("a line of segments");
    }
  }

  bool part(Segment& segment) {
    if (lines_.take("sweep")) {
      const bool backward = lines_.take("backward");
      if (!backward) lines_.expect("forward");
      segment.sweeps.push_back({backward, {}});
    } else if (lines_.peek() == '%' && !segment.sweeps.empty()) {
      segment.sweeps.back().items.push_back(item());
    } else if (lines_.take("product")) {
      add(segment.products, &SegmentsReader::product);
    } else if (lines_.take("memory")) {
      add(segment.memories, &SegmentsReader::memory);
    } else if (lines_.take("home")) {
      add(segment.homes, &SegmentsReader::home);
    } else {
      return false;
    }
    return true;
  }

  // Adds a line about a value; a value may have only one such line.
  template <class T>
  void add(std::map<ValueId, T>& of, T (SegmentsReader::*read)()) {
    const ValueId v = value();
    if (of.contains(v)) lines_.fail("two lines describe " + id_text(v));
    of[v] = (this->*read)();
  }

  Batch product() {
    Batch b;
    b.sum = lines_.take("sum");
    if (!b.sum) lines_.expect("rows");
    extents(b.m, b.inner, b.n);
    b.a = matrix();
    lines_.expect("times");
    b.b = matrix();
    return b;
  }
  BatchOperand matrix() {
    BatchOperand o;
    o.held = lines_.take("held");
    o.value = value();
    extents(o.row, o.column);
    return o;
  }

  Memory memory() {
    Memory m;
    if (lines_.take("in_place")) m.in_place = index("sweep", s_.list.back().sweeps.size());
    m.begins = lines_.take("begins");
    if (lines_.take("shares")) m.shares = value();
    return m;
  }

  Home home() {
    if (lines_.take("array")) return {Home::array, {}};
    if (lines_.take("cell")) return {Home::cell, {}};
    if (lines_.take("settled")) return {Home::settled, {}};
    if (lines_.take("memory")) return {Home::memory, value()};
    if (lines_.take("next")) return {Home::next, value()};
    lines_.fail_expecting("'array', 'cell', 'settled', 'memory' or 'next'");
    return {};
  }

  Segments s_;
};

}  // namespace

std::optional<Segments> read_segments(std::string_view text, TextFault& fault) {
  TextLines lines(text);
  if (!lines.next()) lines.fail_expecting("'form segments'");
  lines.expect_form("segments");
  auto segments = lines.ok() ? SegmentsReader(lines).read() : std::nullopt;
  fault = lines.fault();
  return segments;
}

}  // namespace rml

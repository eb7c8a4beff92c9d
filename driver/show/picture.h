// A picture of a program in Graphviz's DOT language: boxes, arrows between them, frames for instances, and a legend.
//
// How much of it is drawn is a matter of the detail: instances beyond a depth become one box, which says how much it
// holds; parts of an equation join the box of the equation; and at the coarsest the boxes of an instance that have the
// same clock are one. Arrows between the same boxes are one arrow.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "semantics/core/core.h"

namespace rml {

enum class BoxKind : std::uint8_t { plain, state, segment, host };
enum class ArrowKind : std::uint8_t { data, previous, next, keeps };

struct Box {
  std::string name, rest;  // the lines of it
  std::string clock;
  InstanceId instance;  // invalid: the entry
  BoxKind kind = BoxKind::plain;
  std::optional<std::size_t> part_of;  // another box: of the equation that this one is a part of
};

struct Arrow {
  std::size_t from, to;  // boxes
  ArrowKind kind = ArrowKind::data;
  std::string label;
};

struct Picture {
  const Core& core;
  std::string noun;    // what a box is, in the plural: "equations"
  std::string labels;  // what is written at arrows; empty: nothing is
  std::vector<Box> boxes;
  std::vector<Arrow> arrows;
};

struct Detail {
  std::size_t depth = SIZE_MAX;  // instances within one another that are frames
  bool parts = true;             // each part of an equation is a box
  bool grouped = false;          // what has the same instance and clock is one box
  bool across = false;           // from left to right
  bool bounded = false;          // to the size of a page
};

// What a page takes, with letters that can be read.
inline constexpr std::size_t most_boxes = 40;

std::size_t count_boxes(const Picture& picture, const Detail& detail);
std::string dot_text(const Picture& picture, const Detail& detail);
// The depth of the innermost instance that has a box.
std::size_t deepest(const Picture& picture);
// Whether the smallest letters of this SVG, made of a bounded picture, can be read.
bool is_readable(const std::string& svg);

// The name without the path of the instance in which it stands.
std::string name_within(const Core& core, InstanceId instance, const std::string& name);

}  // namespace rml

// A picture of a program in Graphviz's DOT language: boxes, arrows between them, frames for instances, and a legend.
//
// The level of detail decides how much is drawn. An instance beyond a depth becomes one box, which says how much it
// holds. Parts of an equation join the box of the equation. At the coarsest level, the boxes of an instance with the
// same clock become one box. Arrows between the same boxes are one arrow.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "semantics/core/core.h"

namespace rml {

enum class BoxKind : std::uint8_t { plain, state, segment, host };
enum class ArrowKind : std::uint8_t { data, previous, next, keeps };

// The number of characters of a line that fits into a box on a page.
inline constexpr std::size_t longest_label = 34;

struct Box {
  std::string name;        // the first line
  std::string brief = {};  // the first line for a page; empty: the same
  std::string rest;        // the further lines
  std::string clock;
  InstanceId instance;  // instance that contains the box; invalid: the entry
  BoxKind kind = BoxKind::plain;
  std::optional<std::size_t> part_of;  // the box of the equation of which this box is a part
};

struct Arrow {
  std::size_t from, to;  // the boxes that the arrow connects, by index
  ArrowKind kind = ArrowKind::data;
  std::string label;
};

struct Picture {
  const Core& core;
  std::string noun;    // a name for boxes, in the plural: "equations"
  std::string labels;  // the meaning of the labels at arrows; empty: arrows have no labels
  std::vector<Box> boxes;
  std::vector<Arrow> arrows;
};

struct Detail {
  std::size_t depth = SIZE_MAX;  // nesting depth to which instances are drawn as frames
  bool parts = true;             // true: each part of an equation has a box of its own
  bool grouped = false;          // true: equations of the same instance and clock share a box
  bool across = false;           // true: the picture is drawn from left to right
  bool bounded = false;          // true: the picture is limited to the size of a page
};

// The number of boxes that fit on a page with readable letters.
inline constexpr std::size_t most_boxes = 40;

std::size_t count_boxes(const Picture& picture, const Detail& detail);
std::string dot_text(const Picture& picture, const Detail& detail);
// The depth of the innermost instance that has a box.
std::size_t deepest(const Picture& picture);
// True if the smallest letters of this SVG, made from a bounded picture, are readable.
bool is_readable(const std::string& svg);

// The name without the path of the instance that contains it.
std::string name_within(const Core& core, InstanceId instance, const std::string& name);

}  // namespace rml

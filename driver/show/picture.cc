// Draws a picture. A box is drawn at its place: itself, the equation of which it is a part, the outermost instance that
// is not expanded, or the group of its instance and clock. Places are numbered in the order in which they are found.
// The legend is the label of the graph, and explains only the elements that occur.
#include "driver/show/picture.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>

namespace rml {
namespace {

// Sizes in points: a page of 1,600 × 1,000 pixels has 1,200 × 750 points. Graphviz takes inches of 72 points.
constexpr const char* page_inches = "16.66,10.41";
constexpr double letter_points = 11, least_letter_points = 6.75;
constexpr std::size_t most_labels = 2;

// How boxes look. People with colour blindness can distinguish the colours (Okabe and Ito).
struct Look {
  const char* attributes;
  const char* colour;
  const char* sample;
  const char* means;
};
constexpr std::array<Look, 4> arrow_looks{{
    {"", "#000000", "──▶", "values of the same cycle"},
    {"style=dashed, color=\"#0072B2\"", "#0072B2", "╌╌▶", "values of the cycle before (fby)"},
    {"style=dashed, color=\"#D55E00\"", "#D55E00", "╌╌▶", "values of the cycle after (post)"},
    {"style=dotted, color=\"#009E73\"", "#009E73", "┈┈▶", "reads the memory of the other"},
}};
constexpr std::array<Look, 4> box_looks{{
    {"", "#FFFFFF", "", ""},
    {"fillcolor=\"#FFF2CC\"", "#FFF2CC", "", "keeps a value for the next cycle"},
    {"fillcolor=\"#FBE3D6\", peripheries=2", "#FBE3D6", "", "works on a whole segment"},
    {"shape=ellipse, fillcolor=\"#E2F0D9\"", "#E2F0D9", "", "input or output"},
}};
constexpr Look closed_look{"fillcolor=\"#D6E6F4\"", "#D6E6F4", "",
                           "an instance, or several boxes as one; --depth N opens more"};

std::string in_quotes(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n')
      result += "\\n";
    else
      result += c;
  }
  return result + "\"";
}

// Removes the middle of lines that are too long, without splitting a character.
std::string shortened(const std::string& line) {
  if (line.size() <= longest_label) return line;
  std::size_t head = longest_label / 2, tail = line.size() - longest_label / 2;
  const auto continues = [&](std::size_t at) { return (static_cast<unsigned char>(line[at]) & 0xC0) == 0x80; };
  while (head > 0 && continues(head)) --head;
  while (tail < line.size() && continues(tail)) ++tail;
  return line.substr(0, head) + "…" + line.substr(tail);
}

std::string shortened_lines(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out += (at > 0 ? "\n" : "") + shortened(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

struct Place {
  InstanceId frame;                  // the instance in which the place is drawn
  std::size_t box = 0;               // index of the first box of the place; an equation has only one
  InstanceId closed = InstanceId();  // the collapsed instance that the place stands for
  bool grouped = false;              // true if the place shares a box with others of the same clock
  std::size_t holds = 0, states = 0;
};

class Drawing {
 public:
  Drawing(const Picture& picture, const Detail& detail) : picture_(picture), core_(picture.core), detail_(detail) {
    for (std::size_t i = 0; i < picture_.boxes.size(); ++i) {
      const std::size_t at = place(i);
      place_of_.push_back(at);
      ++places_[at].holds;
      places_[at].states += picture_.boxes[i].kind == BoxKind::state ? 1 : 0;
    }
  }

  std::size_t boxes() const { return places_.size(); }

  std::string text() {
    collect_arrows();
    out_ =
        "digraph " + in_quotes(core_.entry) + " {\n  rankdir=" + (detail_.across ? "LR" : "TB") +
        ";\n  nodesep=0.2;\n  ranksep=0.3;\n" +
        (detail_.bounded ? "  size=\"" + std::string(page_inches) + "\";\n" : "") +
        "  graph [fontname=\"monospace\", fontsize=11, style=rounded, color=\"#888888\"];\n"
        "  node [shape=box, style=filled, fillcolor=white, fontname=\"monospace\", fontsize=11, margin=\"0.08,0.04\", "
        "height=0.3];\n"
        "  edge [fontname=\"monospace\", fontsize=10, arrowsize=0.7];\n";
    for (std::size_t p = 0; p < places_.size(); ++p) within_[places_[p].frame].push_back(p);
    note_frames();
    frame(InstanceId{}, "  ");
    for (const auto& [ends, labels] : arrows_) arrow(ends, labels);
    legend();
    return out_ + "}\n";
  }

 private:
  using Ends = std::tuple<std::size_t, std::size_t, ArrowKind>;

  // The instance and those around it, innermost first, without the entry.
  std::vector<InstanceId> around(InstanceId i) const {
    std::vector<InstanceId> all;
    for (; i.valid() && core_.instances[i.index].parent.valid(); i = core_.instances[i.index].parent) all.push_back(i);
    return all;
  }
  InstanceId frame_of(InstanceId i) const {
    return i.valid() && core_.instances[i.index].parent.valid() ? i : InstanceId{};
  }

  std::size_t place(std::size_t i) {
    std::size_t whole = i;
    if (!detail_.parts)
      while (picture_.boxes[whole].part_of) whole = *picture_.boxes[whole].part_of;
    const Box& box = picture_.boxes[whole];
    const auto chain = around(box.instance);
    if (chain.size() > detail_.depth) {
      const InstanceId closed = chain[chain.size() - 1 - detail_.depth];
      const auto [at, fresh] = closed_.try_emplace(closed, places_.size());
      if (fresh)
        places_.push_back({.frame = frame_of(core_.instances[closed.index].parent), .box = i, .closed = closed});
      return at->second;
    }
    if (detail_.grouped && box.kind != BoxKind::host) {
      const auto [at, fresh] = groups_.try_emplace({frame_of(box.instance), box.clock}, places_.size());
      if (fresh) places_.push_back({.frame = frame_of(box.instance), .box = whole, .grouped = true});
      return at->second;
    }
    const auto [at, fresh] = single_.try_emplace(whole, places_.size());
    if (fresh) places_.push_back({.frame = frame_of(box.instance), .box = whole});
    return at->second;
  }

  bool is_closed(const Place& p) const { return p.closed.valid() || (p.grouped && p.holds > 1); }

  // A box that keeps its own last value shows that. Connections inside a collapsed instance are not drawn.
  void collect_arrows() {
    for (const Arrow& a : picture_.arrows) {
      const std::size_t from = place_of_[a.from], to = place_of_[a.to];
      if (from == to && (is_closed(places_[from]) || (a.kind == ArrowKind::data && a.from != a.to))) continue;
      auto& labels = arrows_[{from, to, a.kind}];
      if (!a.label.empty() && std::ranges::find(labels, a.label) == labels.end()) labels.push_back(a.label);
    }
  }

  void note_frames() {
    std::set<InstanceId> noted;
    for (const Place& p : places_)
      for (InstanceId i = p.frame; i.valid() && noted.insert(i).second; i = frame_of(core_.instances[i.index].parent))
        frames_[frame_of(core_.instances[i.index].parent)].push_back(i);
  }

  void frame(InstanceId i, const std::string& indent) {
    for (const std::size_t p : within_[i]) box(p, indent);
    for (const InstanceId inner : frames_[i]) {
      const Instance& instance = core_.instances[inner.index];
      out_ += indent + "subgraph cluster_" + std::to_string(inner.index) + " {\n" + indent +
              "  label=" + in_quotes(shortened(name_within(core_, instance.parent, instance.path))) + ";\n" + indent +
              "  tooltip=" + in_quotes(instance.path) + ";\n";
      frame(inner, indent + "  ");
      out_ += indent + "}\n";
    }
  }

  void box(std::size_t p, const std::string& indent) {
    const Place& place = places_[p];
    const Box& first = picture_.boxes[place.box];
    const std::string held = std::to_string(place.holds) + " " + picture_.noun;
    // Without limits of detail nothing is left out, for readers who want every equation in DOT.
    const bool whole = detail_.parts && detail_.depth == SIZE_MAX;
    const std::string rest = first.rest.empty() ? "" : "\n" + first.rest;
    std::string tip = first.name + rest;
    std::string label = (whole || first.brief.empty() ? first.name : first.brief) + rest;
    const Look* look = &box_looks[static_cast<std::size_t>(first.kind)];
    if (is_closed(place)) {
      look = &closed_look;
      const Instance* instance = place.closed.valid() ? &core_.instances[place.closed.index] : nullptr;
      label = instance != nullptr ? name_within(core_, instance->parent, instance->path) + ": " + one(held, place.holds)
                                  : held + "\n" + ":: " + first.clock;
      if (place.states > 0)
        label += "\nkeeps " + std::to_string(place.states) + (place.states > 1 ? " values" : " value");
      tip = (instance != nullptr ? instance->path : core_.entry) + ": " + one(held, place.holds);
    } else if (place.holds > 1) {
      label += "\n" + held;
      if (place.states > 0 && first.kind == BoxKind::plain) look = &box_looks[static_cast<std::size_t>(BoxKind::state)];
    }
    used_.insert(look->means);
    out_ += indent + "b" + std::to_string(p) + " [label=" + in_quotes(whole ? label : shortened_lines(label)) +
            (*look->attributes != 0 ? ", " + std::string(look->attributes) : "") + ", tooltip=" + in_quotes(tip) +
            "];\n";
  }

  // A number with a noun, for example "1 equation".
  static std::string one(const std::string& held, std::size_t number) {
    return number == 1 ? held.substr(0, held.size() - 1) : held;
  }

  void arrow(const Ends& ends, const std::vector<std::string>& labels) {
    const auto& [from, to, kind] = ends;
    const Look& look = arrow_looks[static_cast<std::size_t>(kind)];
    used_.insert(look.means);
    std::string label, all;
    for (std::size_t k = 0; k < labels.size(); ++k) {
      all += (k > 0 ? "\n" : "") + labels[k];
      if (k < most_labels) label += (k > 0 ? "\n" : "") + shortened(labels[k]);
    }
    if (labels.size() > most_labels) label += "\n+ " + std::to_string(labels.size() - most_labels) + " more";
    std::string attributes = look.attributes;
    if (!labels.empty())
      attributes +=
          (attributes.empty() ? "" : ", ") + ("label=" + in_quotes(label)) + ", labeltooltip=" + in_quotes(all);
    out_ += "  b" + std::to_string(from) + " -> b" + std::to_string(to) +
            (attributes.empty() ? "" : " [" + attributes + "]") + ";\n";
  }

  void legend() {
    std::string rows;
    const auto row = [&](const std::string& sample, const std::string& means) {
      rows += "<TR>" + sample + "<TD ALIGN=\"LEFT\">" + means + "</TD></TR>";
    };
    for (const Look& look : box_looks)
      if (*look.means != 0 && used_.contains(look.means)) row(filled(look), look.means);
    if (used_.contains(closed_look.means)) row(filled(closed_look), closed_look.means);
    for (const Look& look : arrow_looks)
      if (used_.contains(look.means))
        row("<TD><FONT COLOR=\"" + std::string(look.colour) + "\">" + look.sample + "</FONT></TD>", look.means);
    if (!picture_.labels.empty()) row("<TD>a : f64 ≤ 9</TD>", picture_.labels);
    out_ +=
        "  labelloc=b;\n  labeljust=l;\n  label=<<TABLE BORDER=\"1\" CELLBORDER=\"0\" CELLSPACING=\"2\" "
        "COLOR=\"#888888\"><TR><TD COLSPAN=\"2\" ALIGN=\"LEFT\"><B>Legend</B>: a box is one of the " +
        picture_.noun + ", a frame an instance</TD></TR>" + rows + "</TABLE>>;\n";
  }
  static std::string filled(const Look& look) {
    return "<TD BORDER=\"1\" BGCOLOR=\"" + std::string(look.colour) + "\">    </TD>";
  }

  const Picture& picture_;
  const Core& core_;
  const Detail detail_;
  std::vector<Place> places_;
  std::vector<std::size_t> place_of_;  // indexed by box: its place
  std::map<InstanceId, std::size_t> closed_;
  std::map<std::pair<InstanceId, std::string>, std::size_t> groups_;
  std::map<std::size_t, std::size_t> single_;
  std::map<Ends, std::vector<std::string>> arrows_;
  std::map<InstanceId, std::vector<std::size_t>> within_;
  std::map<InstanceId, std::vector<InstanceId>> frames_;
  std::set<std::string> used_;  // kinds of elements that occur, which the legend explains
  std::string out_;
};

}  // namespace

std::size_t count_boxes(const Picture& picture, const Detail& detail) { return Drawing(picture, detail).boxes(); }

std::string dot_text(const Picture& picture, const Detail& detail) { return Drawing(picture, detail).text(); }

std::size_t deepest(const Picture& picture) {
  std::size_t most = 0;
  for (const Box& box : picture.boxes) {
    std::size_t depth = 0;
    for (InstanceId i = box.instance; i.valid() && picture.core.instances[i.index].parent.valid();
         i = picture.core.instances[i.index].parent)
      ++depth;
    most = std::max(most, depth);
  }
  return most;
}

// Graphviz fits a picture to its size by a scale, which is at the head of the file.
bool is_readable(const std::string& svg) {
  const std::string key = "scale(";
  const std::size_t at = svg.find(key);
  if (at == std::string::npos) return true;
  double scale = 0;
  std::from_chars(svg.data() + at + key.size(), svg.data() + svg.size(), scale);
  return scale * (letter_points - 1) >= least_letter_points;
}

std::string name_within(const Core& core, InstanceId instance, const std::string& name) {
  const std::string path = instance.valid() ? core.instances[instance.index].path : "";
  return !path.empty() && name.starts_with(path + ".") ? name.substr(path.size() + 1) : name;
}

}  // namespace rml

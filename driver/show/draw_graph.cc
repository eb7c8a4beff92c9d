// Builds the picture of a core. A box has its equation in the words of the source. An equation without a name is a part
// of its user, if it has only one in its instance.
#include "driver/show/draw_graph.h"

#include <map>
#include <set>

#include "semantics/core/expression_text.h"

namespace rml {
namespace {

constexpr std::size_t longest_whole = 80, shortest = 12;  // characters

class Graph {
 public:
  explicit Graph(const Core& core) : core_(core) {}

  Picture picture() {
    std::set<ValueId> wanted;  // constants that are outputs, and are therefore drawn
    for (const Port& p : core_.outputs)
      if (core_.is_const(p.value)) wanted.insert(p.value);
    for (std::size_t i = 0; i < core_.values.size(); ++i)
      if (!core_.is_const(ValueId{i}) || wanted.contains(ValueId{i})) add_box(ValueId{i});
    for (const auto& [v, at] : box_of_) add_arrows(v, at);
    for (const auto& [v, at] : box_of_) find_whole(v, at);
    for (const Port& p : core_.outputs) {
      const std::size_t from = box_of_.at(p.value);
      picture_.boxes.push_back(
          {.name = p.name, .rest = "", .clock = "", .instance = {}, .kind = BoxKind::host, .part_of = {}});
      picture_.arrows.push_back({from, picture_.boxes.size() - 1, ArrowKind::data, ""});
    }
    return std::move(picture_);
  }

 private:
  void add_box(ValueId v) {
    const Value& value = core_[v];
    const std::string name = value.name.empty() ? "" : name_within(core_, value.instance, value.name);
    const bool input = std::holds_alternative<core::Input>(value.rhs);
    const auto label = [&](std::size_t most) {
      if (input && !name.empty()) return name;
      const std::string start = name.empty() ? "" : name + " = ";
      return start + right_side(core_, v, most > start.size() + shortest ? most - start.size() : shortest);
    };
    const std::string clock = clock_string(core_, value.clock);
    box_of_[v] = picture_.boxes.size();
    picture_.boxes.push_back({.name = label(longest_whole),
                              .brief = label(longest_label),
                              .rest = type_string(value.dtype, value.shape) + " :: " + clock,
                              .clock = clock,
                              .instance = value.instance,
                              .kind = input                                          ? BoxKind::host
                                      : std::holds_alternative<core::Fby>(value.rhs) ? BoxKind::state
                                                                                     : BoxKind::plain,
                              .part_of = {}});
  }

  void add_arrows(ValueId v, std::size_t at) {
    const Value& value = core_[v];
    const bool fby = std::holds_alternative<core::Fby>(value.rhs);
    const bool post = std::holds_alternative<core::Post>(value.rhs);
    std::size_t position = 0;
    for_each_operand(value.rhs, [&](ValueId operand) {
      const bool previous = fby && position++ == 1;
      if (core_.is_const(operand)) return;
      picture_.arrows.push_back({box_of_.at(operand), at,
                                 previous ? ArrowKind::previous
                                 : post   ? ArrowKind::next
                                          : ArrowKind::data,
                                 ""});
      users_[operand].insert(v);
    });
  }

  // A cycle of equations that are all parts of each other stays as it is.
  void find_whole(ValueId v, std::size_t at) {
    if (!core_[v].name.empty() || picture_.boxes[at].kind == BoxKind::host) return;
    const auto users = users_.find(v);
    if (users == users_.end() || users->second.size() != 1) return;
    const ValueId user = *users->second.begin();
    if (core_[user].instance != core_[v].instance) return;
    for (std::size_t whole = box_of_.at(user);; whole = *picture_.boxes[whole].part_of) {
      if (whole == at) return;
      if (!picture_.boxes[whole].part_of) break;
    }
    picture_.boxes[at].part_of = box_of_.at(user);
  }

  const Core& core_;
  Picture picture_{.core = core_, .noun = "equations", .labels = "", .boxes = {}, .arrows = {}};
  std::map<ValueId, std::size_t> box_of_;
  std::map<ValueId, std::set<ValueId>> users_;
};

}  // namespace

Picture graph_picture(const Core& core) { return Graph(core).picture(); }

}  // namespace rml

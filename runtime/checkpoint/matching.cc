// The rules of matching.h are applied in order. Pairs that place and number confirm are made
// before pairs that only one of the two suggests.
#include "runtime/checkpoint/matching.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "runtime/checkpoint/state_file.h"

namespace rml::rt {

namespace {

std::string up_to(const std::string& text, const char* stop) { return text.substr(0, text.find_first_of(stop)); }

// The parts of a place, each up to `stop`: "total@a.cell@h" gives "total.cell." for "@".
std::string parts(const std::string& place, const char* stop) {
  std::string result;
  for (std::size_t at = 0; at <= place.size();) {
    const std::size_t end = std::min(place.find('.', at), place.size());
    result += up_to(place.substr(at, end - at), stop) + ".";
    at = end + 1;
  }
  return result;
}

std::string nodes_of(const NamedMemory& m) { return parts(m.place, "'@") + (m.is_parameter ? "p" : ""); }
std::string place_of(const NamedMemory& m) { return m.place + "/" + m.within; }
std::string group_of(const NamedMemory& m) { return parts(m.place, "#") + "/" + up_to(m.within, "#"); }
std::string content_of(const NamedMemory& m) { return nodes_of(m) + " " + m.content + " " + m.type; }
bool is_told(const NamedMemory& m) { return !m.content.empty(); }
// True for a memory that only records whether a parameter has been initialised.
bool only_begins(const NamedMemory& m) { return m.content.ends_with('!'); }
bool is_weak(const NamedMemory& m) { return place_of(m).find_first_of("#'") != std::string::npos; }

class MatchingMemories {
 public:
  MatchingMemories(const NamedMemories& file, const std::vector<bool>& mapped, const NamedMemories& program,
                   Names names)
      : file_(file), program_(program), names_(names), of_(program.size()), used_(file.size()) {
    for (const NamedMemory& m : file) in_file_.insert(content_of(m));
    for (const NamedMemory& m : program) in_program_.insert(content_of(m));
    for (std::size_t f = 0; f < file.size(); ++f)
      for (std::size_t p = 0; p < program.size(); ++p)
        if (file[f].name == program[p].name && (mapped[f] || !is_told(file[f]) || !is_told(program[p]))) pair(f, p);
  }

  Matched run() {
    by_places_and_numbers();
    left_over([](const NamedMemory& m) { return is_weak(m) ? group_of(m) + m.type : ""; });
    left_over(
        [](const NamedMemory& m) { return (m.is_parameter ? nodes_of(m) + m.type : content_of(m)) + " " + m.within; });
    if (names_ == Names::may_change) left_over([](const NamedMemory& m) { return content_of(m) + " " + m.place; });
    return result();
  }

 private:
  using Key = std::function<std::string(const NamedMemory&)>;

  void pair(std::size_t f, std::size_t p) {
    of_[p] = f;
    used_[f] = true;
  }
  bool is_free(std::size_t f) const { return !used_[f]; }

  // The memories of one side that are free and have a key that no other free memory of that side
  // has.
  std::map<std::string, std::size_t> alone(const NamedMemories& all, const std::function<bool(std::size_t)>& is_free,
                                           const Key& key) const {
    std::map<std::string, std::size_t> found;
    std::set<std::string> several;
    for (std::size_t k = 0; k < all.size(); ++k) {
      const std::string of = is_free(k) ? key(all[k]) : "";
      if (!of.empty() && !found.insert({of, k}).second) several.insert(of);
    }
    for (const std::string& of : several) found.erase(of);
    return found;
  }
  std::map<std::string, std::size_t> of_file(const Key& key) const {
    return alone(file_, [&](std::size_t f) { return !used_[f]; }, key);
  }
  std::map<std::string, std::size_t> of_program(const Key& key) const {
    return alone(program_, [&](std::size_t p) { return !of_[p]; }, key);
  }

  void by_places_and_numbers() {
    const auto place = [](const NamedMemory& m) { return place_of(m); };
    const auto number = [&](const NamedMemory& m) {
      if (only_begins(m)) return std::string();
      return content_of(m) + (names_ == Names::hold ? " " + m.within : "");
    };
    const auto places = of_file(place), numbers = of_file(number), here = of_program(number);
    std::vector<std::pair<std::size_t, std::size_t>> sure, likely;
    for (std::size_t p = 0; p < program_.size(); ++p) {
      if (of_[p]) continue;
      const NamedMemory& m = program_[p];
      const auto by_place = places.find(place_of(m));
      auto by_number = numbers.find(number(m));
      if (by_number != numbers.end() && !here.contains(by_number->first)) by_number = numbers.end();
      const bool same_place = by_place != places.end() && has_type(file_[by_place->second], m);
      const bool elsewhere = by_number == numbers.end() && !only_begins(m) && in_file_.contains(content_of(m));
      if (same_place && elsewhere && m.content != file_[by_place->second].content) {
        if (!is_weak(m)) refused_.insert(p);
      } else if (same_place && by_number != numbers.end() && by_place->second != by_number->second) {
        if (is_weak(m))
          sure.emplace_back(by_number->second, p);
        else
          refused_.insert(p);
      } else if (same_place && by_number != numbers.end()) {
        sure.emplace_back(by_place->second, p);
      } else if (same_place) {
        likely.emplace_back(by_place->second, p);
      } else if (by_number != numbers.end()) {
        likely.emplace_back(by_number->second, p);
      }
    }
    for (const auto* list : {&sure, &likely})
      for (const auto& [f, p] : *list)
        if (is_free(f)) pair(f, p);
  }

  static bool has_type(const NamedMemory& a, const NamedMemory& b) {
    return a.type.empty() || b.type.empty() || a.type == b.type;
  }

  void left_over(const Key& key) {
    const auto there = of_file(key);
    for (const auto& [of, p] : of_program(key))
      if (const auto f = there.find(of); f != there.end() && may_have_changed(f->second, p)) pair(f->second, p);
  }

  // True if memory `f` of the file and memory `p` of the program compute the same, or if neither
  // computes a value that another memory of the other side computes.
  bool may_have_changed(std::size_t f, std::size_t p) const {
    if (refused_.contains(p)) return false;
    if (file_[f].content == program_[p].content || only_begins(program_[p])) return true;
    return !in_file_.contains(content_of(program_[p])) && !in_program_.contains(content_of(file_[f]));
  }

  Matched result() const {
    Matched found;
    std::set<std::string> names;
    for (std::size_t p = 0; p < program_.size(); ++p) {
      names.insert(program_[p].name);
      if (!of_[p] || file_[*of_[p]].name == program_[p].name) continue;
      const NamedMemory& old = file_[*of_[p]];
      found.all.push_back({old.name, program_[p].name});
      if (place_of(old) != place_of(program_[p])) found.renamed.push_back(found.all.back());
    }
    for (std::size_t f = 0; f < file_.size(); ++f)
      if (!used_[f] && names.contains(file_[f].name)) found.all.push_back({file_[f].name, elsewhere(file_[f])});
    return found;
  }

  // A memory for messages, such as "total.y (of a)".
  static std::string elsewhere(const NamedMemory& m) {
    const std::string place = m.place.empty() ? m.within : m.place;
    const std::size_t at = place.rfind('@');
    return name_elsewhere(m.name, up_to(place.substr(at == place.npos ? 0 : at + 1), "#"));
  }

  const NamedMemories& file_;
  const NamedMemories& program_;
  const Names names_;
  // indexed by memory of the program: the memory of the file
  std::vector<std::optional<std::size_t>> of_;
  std::vector<bool> used_;  // one per memory of the file: true if a memory of the program has it
  std::set<std::size_t> refused_;
  std::set<std::string> in_file_, in_program_;  // the numbers of all memories
};

}  // namespace

void choose_numbers(NamedMemories& memories, const std::vector<Renamed>& map) {
  for (NamedMemory& m : memories) {
    const std::size_t colon = m.content.find(':');
    if (colon == std::string::npos) continue;
    const std::string end = m.content.ends_with('!') ? "!" : "";
    m.content = map.empty() ? m.content.substr(0, colon) + end : m.content.substr(colon + 1);
  }
}

Matched match(const NamedMemories& file, const std::vector<bool>& mapped, const NamedMemories& program, Names names) {
  return MatchingMemories(file, mapped, program, names).run();
}

}  // namespace rml::rt

// Reads the text of each equation around the span of a call, and composes places from it.
#include "semantics/time/places.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <tuple>

#include "semantics/time/memories.h"

namespace rml {

namespace {

constexpr std::uint32_t first_sum = 0x811c9dc5u, prime = 0x01000193u;  // FNV-1a

std::string in_hexadecimal(std::uint32_t sum) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (int shift = 28; shift >= 0; shift -= 4) text += digits[sum >> shift & 15];
  return text;
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Replaces comments and the contents of string literals by blanks.
std::string without_comments(std::string text) {
  bool comment = false, quoted = false;
  for (std::size_t k = 0; k < text.size(); ++k) {
    const char c = text[k];
    if (c == '\n') comment = quoted = false;
    if (!comment && !quoted && c == '-' && k + 1 < text.size() && text[k + 1] == '-') comment = true;
    const bool inside = comment || (quoted && c != '"');
    if (!comment && c == '"') quoted = !quoted;
    if (inside && c != '\n') text[k] = ' ';
  }
  return text;
}

std::string without_number(std::string name) {
  while (name.size() > 1 && std::isdigit(static_cast<unsigned char>(name.back())) != 0) name.pop_back();
  return name;
}

std::string last_part(const std::string &path) { return path.substr(path.rfind('.') + 1); }

// The position after the header of a node if the text begins with one, else 0.
std::size_t behind_header(std::string_view text) {
  const std::size_t arrow = text.find("->");
  if (arrow == text.npos) return 0;
  int depth = 0;
  for (std::size_t k = arrow; k < text.size(); ++k) {
    if (text[k] == '(') ++depth;
    if (text[k] == ')' && --depth == 0) return k + 1;
  }
  return 0;
}

}  // namespace

Places::Places(const Core &core, const SourceMap &sources) : core_(core), sources_(sources) {
  find_instances();
  find_memories();
}

const std::string &Places::code(std::uint32_t file) {
  const auto [at, is_new] = code_.try_emplace(file);
  if (is_new && file < sources_.size()) at->second = without_comments(sources_.text(file));
  return at->second;
}

// The equation's text extends from the previous semicolon to the next one.
const Places::Equation &Places::equation(Span at) {
  const auto [known, is_new] = equations_.try_emplace({at.file, at.begin});
  Equation &found = known->second;
  const std::string &all = code(at.file);
  if (!is_new || at.begin >= all.size() || at.begin == at.end) return found;
  const std::size_t before = at.begin == 0 ? all.npos : all.rfind(';', at.begin - 1);
  std::size_t begin = before == all.npos ? 0 : before + 1;
  const std::size_t end = std::min(all.find(';', at.begin), all.size());
  begin += behind_header(std::string_view(all).substr(begin, at.begin - begin));
  found.begin = static_cast<std::uint32_t>(begin);
  found.sum = first_sum;
  for (std::size_t k = begin; k < end; ++k)
    if (std::isspace(static_cast<unsigned char>(all[k])) == 0)
      found.sum = (found.sum ^ static_cast<unsigned char>(all[k])) * prime;
  while (found.variable.empty() || found.variable == "_") {  // a dropped result has no name, and the next word is tried
    while (begin < at.begin && !is_word(all[begin])) ++begin;
    std::size_t stop = begin;
    while (stop < at.begin && is_word(all[stop])) ++stop;
    if (stop == begin || stop >= at.begin) break;
    found.variable = all.substr(begin, stop - begin);
    begin = stop;
  }
  return found;
}

void Places::find_instances() {
  using Group = std::tuple<std::size_t, std::string, std::uint32_t, std::uint32_t>;
  std::map<Group, std::vector<std::size_t>> groups;
  std::vector<std::string> own(core_.instances.size());
  for (std::size_t i = 0; i < core_.instances.size(); ++i) {
    const Instance &instance = core_.instances[i];
    if (!instance.parent.valid()) continue;
    const std::string callee = without_number(last_part(instance.path));
    const Equation &in = equation(instance.call);
    own[i] = callee + (instance.derived ? "'@" : "@") + in.variable;
    groups[{instance.parent.index, callee, instance.call.file, in.begin}].push_back(i);
  }
  for (auto &[group, members] : groups) {
    if (members.size() < 2) continue;
    std::ranges::stable_sort(members, {}, [&](std::size_t i) { return core_.instances[i].call.begin; });
    for (std::size_t k = 0; k < members.size(); ++k)
      own[members[k]] +=
          "#" + std::to_string(k + 1) + "~" + in_hexadecimal(equation(core_.instances[members[k]].call).sum);
  }
  instances_.resize(core_.instances.size());
  for (std::size_t i = 0; i < core_.instances.size(); ++i) {
    const InstanceId parent = core_.instances[i].parent;
    if (!parent.valid()) continue;
    const std::string &above = instances_[parent.index];
    instances_[i] = above.empty() ? own[i] : above + "." + own[i];
  }
}

// The name without the path of its instance.
std::string Places::local_name(ValueId v, const std::string &name) const {
  const InstanceId i = core_[v].instance;
  const std::string path = i.valid() ? core_.instances[i.index].path : "";
  std::string local;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find(' ', at), name.size());
    std::string token = name.substr(at, end - at);
    if (!path.empty() && token == path) token.clear();
    if (!path.empty() && token.starts_with(path + ".")) token.erase(0, path.size() + 1);
    local += token + (end < name.size() ? " " : "");
    at = end + 1;
  }
  return local;
}

void Places::find_memories() {
  using Group = std::tuple<std::uint32_t, std::string, std::uint32_t>;
  std::map<Group, std::vector<ValueId>> groups;
  std::map<ValueId, std::string> names = memory_names(core_);
  std::map<ValueId, bool> is_parameter;
  for (const Parameter &p : core_.parameters)
    if (!p.path.empty()) names[p.value] = p.path, is_parameter[p.value] = true;
  for (const auto &[v, name] : names) {
    std::string local = local_name(v, name);
    memories_[v] = local;
    const Equation &in = equation(core_[v].span);
    if (is_parameter.contains(v)) local = "param";
    const std::size_t word = local.rfind(' ');
    const bool numbered = word != local.npos && std::ranges::all_of(local.substr(word + 1), [](unsigned char c) {
                            return std::isdigit(c) != 0;
                          });
    if (numbered) local.resize(word);
    const InstanceId i = core_[v].instance;
    groups[{i.valid() ? static_cast<std::uint32_t>(i.index) : 0u, local, in.begin}].push_back(v);
  }
  for (auto &[group, members] : groups) {
    const std::string &base = std::get<1>(group);
    const bool unnamed = base.starts_with("fby");
    if (members.size() < 2 && !unnamed && memories_[members[0]] == base) continue;
    if (members.size() < 2 && base == "param" && is_parameter.contains(members[0])) continue;
    std::ranges::stable_sort(members, {}, [&](ValueId v) { return core_[v].span.begin; });
    for (std::size_t k = 0; k < members.size(); ++k) {
      const Equation &in = equation(core_[members[k]].span);
      memories_[members[k]] = base + "@" + in.variable + "#" + std::to_string(k + 1) + "~" + in_hexadecimal(in.sum);
    }
  }
}

std::string Places::within(ValueId v) const {
  const auto at = memories_.find(v);
  return at == memories_.end() ? std::string() : at->second;
}

}  // namespace rml

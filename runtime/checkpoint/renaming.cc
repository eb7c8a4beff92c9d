// A pattern is split at its `*`. A name fits in only one way if the leftmost and the rightmost
// fit agree.
#include "runtime/checkpoint/renaming.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <sstream>

#include "runtime/base/failure.h"
#include "runtime/stream_io/row.h"
#include "runtime/stream_io/spelling.h"

namespace rml::rt {

namespace {

// True for a word in the name of a memory that is no variable's name.
bool is_word(const std::string& token) {
  static const std::set<std::string> words = {"before", "earlier", "first", "given", "input", "fby", "of",   "at",
                                              "result", "call",    "start", "base",  "on",    "not", "curve"};
  return words.contains(token);
}

bool is_within(const std::string& path, const std::string& instance) {
  return path == instance || path.starts_with(instance + ".");
}

const char* const of_memories[] = {"", "earlier ", "given ", "first "};

std::string text_of(const Renamed& r) { return "--map '" + r.old_name + "=" + r.new_name + "'"; }

bool is_pattern(const Renamed& r) { return r.old_name.find('*') != std::string::npos; }

// The texts between the `*` of a pattern.
std::vector<std::string> pieces_of(const std::string& pattern) {
  std::vector<std::string> pieces(1);
  for (const char c : pattern)
    if (c == '*')
      pieces.emplace_back();
    else
      pieces.back() += c;
  return pieces;
}

// The name with the pieces of `from` replaced by those of `to`. Each part between the pieces is
// as short as possible from the left, or, if `late`, as long as possible. The name fits in only
// one way if both results agree.
std::optional<std::string> carried(const std::string& name, const std::vector<std::string>& from,
                                   const std::vector<std::string>& to, bool late) {
  const std::size_t last = from.size() - 1;
  const std::size_t ends = name.size() - std::min(name.size(), from[last].size());
  if (!name.starts_with(from[0]) || !name.ends_with(from[last]) || ends < from[0].size()) return std::nullopt;
  std::vector<std::size_t> at(from.size());  // start of each piece in the name
  at[last] = ends;
  for (std::size_t k = 1; k < last && !late; ++k) {
    at[k] = name.find(from[k], at[k - 1] + from[k - 1].size());
    if (at[k] == name.npos || at[k] + from[k].size() > ends) return std::nullopt;
  }
  for (std::size_t k = last; late && k-- > 1;) {
    if (at[k + 1] < from[k].size()) return std::nullopt;
    at[k] = name.rfind(from[k], at[k + 1] - from[k].size());
    if (at[k] == name.npos || at[k] < from[0].size()) return std::nullopt;
  }
  std::string result = to[0];
  for (std::size_t k = 1; k <= last; ++k) {
    const std::size_t begins = at[k - 1] + from[k - 1].size();
    result += name.substr(begins, at[k] - begins) + to[k];
  }
  return result;
}

// Applies a pattern to a word of a name.
std::optional<std::string> carried(const std::string& name, const Renamed& r) {
  const std::vector<std::string> from = pieces_of(r.old_name), to = pieces_of(r.new_name);
  const auto early = carried(name, from, to, false), late = carried(name, from, to, true);
  if (early != late)
    throw Failure(text_of(r) + ": it matches '" + name + "' in several ways, which give '" + early.value_or("") +
                  "' and '" + late.value_or("") + "'");
  return early;
}

std::optional<std::string> fitting(const std::string& name, const Renamed& r) {
  for (const std::string of : of_memories)
    if (name == of + r.old_name) return of + r.new_name;
  if (is_word(r.old_name)) return std::nullopt;
  std::string result;
  bool fits = false;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find(' ', at), name.size());
    const std::string token = name.substr(at, end - at);
    std::optional<std::string> other;
    if (!is_pattern(r) && is_within(token, r.old_name)) other = r.new_name + token.substr(r.old_name.size());
    if (is_pattern(r) && (token.size() == name.size() || !is_word(token))) other = carried(token, r);
    const bool here = other.has_value();
    result += other.value_or(token);
    if (end < name.size()) result += ' ';
    fits = fits || here;
    at = end + 1;
  }
  return fits ? std::optional(result) : std::nullopt;
}

bool has_type(const TensorIn& tensor, const rml_memory& m) {
  return tensor.dtype == m.dtype && std::equal(tensor.shape.begin(), tensor.shape.end(), m.dims, m.dims + m.rank);
}

// The form of a name, which renaming keeps: "before *" for "before low.x".
std::string form_of(const NamedMemory& m) {
  std::string form = m.is_parameter ? "param" : "fby";
  std::istringstream tokens(m.name);
  for (std::string token; tokens >> token;) form += " " + (is_word(token) ? token : "*");
  return form;
}

// The memories of one instance in the file and in the program.
struct Side {
  NamedMemories file, program;
  std::vector<const rml_memory*> memories;  // memories of the file, indexed by memory of the program
};

std::vector<Renamed> by_place(const Side& side, const std::set<std::string>& in_file,
                              const std::set<std::string>& in_program, const Safetensors& tensors) {
  std::vector<Renamed> found;
  if (side.file.size() != side.program.size()) return {};
  for (std::size_t k = 0; k < side.file.size(); ++k) {
    const std::string &old_name = side.file[k].name, &new_name = side.program[k].name;
    const TensorIn* const tensor = tensors.find(old_name);
    if (tensor != nullptr && !has_type(*tensor, *side.memories[k])) return {};
    if (form_of(side.file[k]) != form_of(side.program[k])) return {};
    if (old_name == new_name) continue;
    if (in_program.contains(old_name) || in_file.contains(new_name)) return {};
    found.push_back({old_name, new_name});
  }
  return found;
}

// The text up to the next bar.
std::string next_part(std::istringstream& text) {
  std::string part;
  std::getline(text, part, '|');
  return part;
}

NamedMemory memory_of(const rml_program& program, const rml_origin& o) {
  const std::span parameters(program.parameters, program.n_parameters);
  const bool is_parameter =
      std::ranges::any_of(parameters, [&](const rml_parameter& p) { return p.path == std::string(o.name); });
  std::istringstream parts(o.instance);
  NamedMemory memory{next_part(parts), o.name, is_parameter};
  memory.place = next_part(parts);
  memory.within = next_part(parts);
  memory.content = next_part(parts);
  const rml_memory& m = program.memories[o.memory];
  memory.type = tensor_type_text(m.dtype, m.dims, m.rank);
  return memory;
}

}  // namespace

bool is_mapped(const std::string& name, const std::vector<Renamed>& map) {
  return std::ranges::any_of(map, [&](const Renamed& r) { return fitting(name, r).has_value(); });
}

std::vector<Renamed> parse_map(const std::vector<std::string>& texts) {
  std::vector<Renamed> map;
  for (const std::string& text : texts) {
    const std::size_t at = text.find('=');
    if (at == 0 || at == text.npos || at + 1 == text.size())
      throw Failure("--map " + text + ": write OLD=NEW, the name in the file and the name in this program", exit_usage);
    if (std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '*') !=
        std::count(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), '*'))
      throw Failure(
          "--map '" + text + "': OLD and NEW need equally many *; each * of NEW repeats the text of the same * of OLD",
          exit_usage);
    map.push_back({text.substr(0, at), text.substr(at + 1)});
  }
  return map;
}

std::string by_map(const std::string& name, const std::vector<Renamed>& map) {
  for (const Renamed& r : map)
    if (!is_pattern(r))
      if (const auto found = fitting(name, r)) return *found;
  const Renamed* by = nullptr;
  std::string result = name;
  for (const Renamed& r : map) {
    if (!is_pattern(r)) continue;
    const auto found = fitting(name, r);
    if (!found) continue;
    if (by != nullptr && *found != result)
      throw Failure("'" + name + "' becomes '" + result + "' by " + text_of(*by) + ", but '" + *found + "' by " +
                    text_of(r));
    by = &r;
    result = *found;
  }
  return result;
}

std::string by_list(const std::string& name, const std::vector<Renamed>& list) {
  for (const Renamed& r : list)
    for (const std::string of : of_memories)
      for (const std::string stream : {"", " at"})
        if (name == of + r.old_name + stream) return of + r.new_name + stream;
  return name;
}

void check_map(const std::vector<Renamed>& map, const std::vector<std::string>& names, const std::string& file) {
  for (const Renamed& r : map)
    if (std::ranges::none_of(names, [&](const std::string& name) { return fitting(name, r).has_value(); }))
      throw Failure(is_pattern(r) ? text_of(r) + ": no name in " + file + " matches '" + r.old_name + "'" +
                                        did_you_mean(r.old_name, names)
                                  : "--map " + r.old_name + "=" + r.new_name + ": no '" + r.old_name + "' in " + file +
                                        did_you_mean(r.old_name, names));
}

std::vector<const rml_origin*> named_origins(const rml_program& program) {
  std::vector<const rml_origin*> all;
  std::set<std::string> names;
  for (const rml_origin& o : std::span(program.origins, program.n_origins))
    if (o.then == nullptr && names.insert(o.name).second) all.push_back(&o);
  return all;
}

NamedMemories named_memories(const rml_program& program) {
  NamedMemories all;
  for (const rml_origin* o : named_origins(program)) all.push_back(memory_of(program, *o));
  return all;
}

std::vector<Renamed> by_place(const rml_program& program, const NamedMemories& file, const Safetensors& tensors) {
  std::map<std::string, Side> sides;
  std::set<std::string> in_file, in_program;
  for (const NamedMemory& m : file) {
    sides[m.instance].file.push_back(m);
    in_file.insert(m.name);
  }
  for (const rml_origin* o : named_origins(program)) {
    in_program.insert(o->name);
    const NamedMemory memory = memory_of(program, *o);
    Side& side = sides[memory.instance];
    side.program.push_back(memory);
    side.memories.push_back(&program.memories[o->memory]);
  }
  std::vector<Renamed> all;
  for (const auto& [instance, side] : sides)
    for (Renamed& r : by_place(side, in_file, in_program, tensors)) all.push_back(std::move(r));
  return all;
}

std::vector<std::string> told(const std::string& file, const std::vector<Renamed>& by_place) {
  std::vector<std::string> lines;
  for (const Renamed& r : by_place)
    lines.push_back(file + ": '" + r.old_name + "' is loaded as '" + r.new_name +
                    "', which has the same place in the source");
  return lines;
}

void rename_tensors(Safetensors& content, const std::string& file, const std::function<std::string(std::string)>& to) {
  std::map<std::string, std::string> taken;
  for (TensorIn& t : content.tensors) {
    const std::string old_name = t.name;
    t.name = to(old_name);
    const auto [other, is_new] = taken.insert({t.name, old_name});
    if (!is_new)
      throw Failure(file + ": --map gives both '" + other->second + "' and '" + old_name + "' the name '" + t.name +
                    "'");
  }
}

}  // namespace rml::rt

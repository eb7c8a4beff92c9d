// Finds the tensor of each parameter, collects all problems, and reports them together with a
// proposal for --map.
#include "runtime/checkpoint/parameter_file.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "runtime/base/failure.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/checkpoint/matching.h"
#include "runtime/checkpoint/renaming.h"
#include "runtime/checkpoint/state_file.h"
#include "runtime/checkpoint/whole_file.h"
#include "runtime/kernels/half_float.h"
#include "runtime/stream_io/row.h"
#include "runtime/stream_io/scalar_text.h"
#include "runtime/stream_io/spelling.h"

namespace rml::rt {
namespace {

bool is_float_type(std::uint8_t dtype) { return is_float(dtype) || dtype == RML_BF16; }

bool widens(std::uint8_t from, std::uint8_t to) {
  if (from == RML_F16 || from == RML_BF16) return to == RML_F32 || to == RML_F64;
  return from == RML_F32 && to == RML_F64;
}

double element(std::uint8_t dtype, const char* from) {
  if (dtype == RML_F64) {
    double value = 0;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  if (dtype == RML_F32) {
    float value = 0;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  std::uint16_t bits = 0;
  std::memcpy(&bits, from, sizeof bits);
  return dtype == RML_F16 ? float_from_f16(bits) : float_from_bf16(bits);
}

// The float that rounds to the same half float as the value: to nearest, ties to odd.
float rounded_to_odd(double value) {
  auto narrow = static_cast<float>(value);
  if (!std::isfinite(narrow) || static_cast<double>(narrow) == value) return narrow;
  if (std::fabs(static_cast<double>(narrow)) > std::fabs(value)) narrow = std::nextafter(narrow, 0.0f);
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(narrow) | 1u);
}

void store(std::uint8_t dtype, double value, char* to) {
  const auto narrow = static_cast<float>(value);
  const std::uint16_t half = dtype == RML_F16    ? f16_from_float(rounded_to_odd(value))
                             : dtype == RML_BF16 ? bf16_from_float(rounded_to_odd(value))
                                                 : std::uint16_t{0};
  if (dtype == RML_F64)
    std::memcpy(to, &value, sizeof value);
  else if (dtype == RML_F32)
    std::memcpy(to, &narrow, sizeof narrow);
  else
    std::memcpy(to, &half, sizeof half);
}

std::vector<char> converted(const TensorIn& tensor, const rml_parameter& to) {
  const std::uint64_t size = dtype_bytes(tensor.dtype), own = dtype_bytes(to.dtype);
  std::vector<char> bytes(to.elements * own);
  for (std::uint64_t k = 0; k < to.elements; ++k)
    store(to.dtype, element(tensor.dtype, tensor.data.data() + k * size), bytes.data() + k * own);
  return bytes;
}

// The first element that is finite in the file and not in the type of the parameter; nothing if
// there is none.
std::optional<double> beyond_type(const TensorIn& tensor, const std::vector<char>& bytes, std::uint8_t dtype) {
  const std::uint64_t size = dtype_bytes(tensor.dtype), own = dtype_bytes(dtype);
  for (std::uint64_t k = 0; k < bytes.size() / own; ++k) {
    const double value = element(tensor.dtype, tensor.data.data() + k * size);
    if (std::isfinite(value) && !std::isfinite(element(dtype, bytes.data() + k * own))) return value;
  }
  return std::nullopt;
}

std::string type_of(const rml_parameter& p) { return tensor_type_text(p.dtype, p.dims, p.rank); }

bool has_shape(const TensorIn& tensor, const rml_parameter& p) {
  return std::equal(tensor.shape.begin(), tensor.shape.end(), p.dims, p.dims + p.rank);
}

// The reason why the tensor cannot be the parameter; empty if it can.
std::string complaint(const TensorIn& tensor, const rml_parameter& p, bool cast) {
  const std::string types =
      "'" + tensor.name + "' is " + type_of(p) + " here, " + tensor_type_text(tensor) + " in the file";
  if (!has_shape(tensor, p)) return types;
  if (tensor.dtype == p.dtype) {
    const bool truths = std::all_of(tensor.data.begin(), tensor.data.end(), [](char c) { return c == 0 || c == 1; });
    return p.dtype != RML_BOOL || truths ? "" : "'" + tensor.name + "' holds a Boolean that is neither true nor false";
  }
  if (widens(tensor.dtype, p.dtype)) return "";
  if (!is_float_type(tensor.dtype) || !is_float_type(p.dtype))
    return types + ", which does not convert exactly: convert the file first";
  if (!cast) return types + ", which does not convert exactly: --cast-params rounds it";
  const auto beyond = beyond_type(tensor, converted(tensor, p), p.dtype);
  return beyond ? types + ", and its value " + double_text(*beyond) + " is too large for that type" : "";
}

// Finds the tensors of a file that are parameters of the program.
class Matching {
 public:
  Matching(const Safetensors& file, const std::vector<std::string>& names, const std::string& entry)
      : file_(file), names_(names), entry_(entry) {
    for (const TensorIn& tensor : file.tensors) tensors_[tensor.name] = &tensor;
    const auto program = file.metadata.find("program");
    of_another_ = program != file.metadata.end() && program->second != entry;
  }

  const TensorIn* find(const std::string& path) const {
    std::vector<std::string> candidates = {path, given_name(path), entry_ + "." + path,
                                           given_name(entry_ + "." + path)};
    if (of_another_) std::rotate(candidates.begin(), candidates.begin() + 2, candidates.end());
    for (const std::string& name : candidates)
      if (const auto at = tensors_.find(name); at != tensors_.end()) return at->second;
    return nullptr;
  }

  std::string missing(const rml_parameter& p) const {
    return "no parameter '" + std::string(p.path) + "' (" + type_of(p) + ") in the file" + did_you_mean(p.path, names_);
  }

  // A --map that would find the largest number of missing parameters; empty if there is none.
  // Names with the same last word are assumed to mean the same.
  std::string proposal(const std::vector<const rml_parameter*>& missing) const {
    std::multimap<std::string, const TensorIn*> by_end;
    for (const TensorIn& tensor : file_.tensors) by_end.insert({last_word(tensor.name), &tensor});
    std::map<std::string, int> votes;
    for (const rml_parameter* p : missing) {
      std::set<std::string> ways;
      const auto [first, last] = by_end.equal_range(last_word(p->path));
      for (auto at = first; at != last; ++at)
        if (has_shape(*at->second, *p)) ways.insert(way(at->second->name, p->path));
      for (const std::string& each : ways) ++votes[each];
    }
    const auto best = std::ranges::max_element(votes, {}, [](const auto& vote) { return vote.second; });
    return best == votes.end() ? "" : best->first;
  }

 private:
  static std::string last_word(const std::string& name) { return name.substr(name.rfind('.') + 1); }

  // The map entry that turns the old name into the new one; both have the same last word.
  static std::string way(std::string old_name, std::string new_name) {
    const auto cut = [](std::string& name) {
      const std::size_t dot = name.rfind('.');
      name.resize(dot == name.npos ? 0 : dot);
    };
    while (!old_name.empty() && !new_name.empty() && last_word(old_name) == last_word(new_name)) {
      cut(old_name);
      cut(new_name);
    }
    if (old_name.empty()) return "*=" + new_name + ".*";
    return new_name.empty() ? old_name + ".*=*" : old_name + "=" + new_name;
  }

  const Safetensors& file_;
  const std::vector<std::string>& names_;  // names in the file, before renaming
  const std::string& entry_;
  std::map<std::string, const TensorIn*> tensors_;
  bool of_another_ = false;
};

// The first few problems as lines.
std::string some_of(const std::vector<std::string>& problems) {
  constexpr std::size_t most_told = 8;
  std::string text;
  for (std::size_t k = 0; k < std::min(most_told, problems.size()); ++k) text += "\n  " + problems[k];
  if (problems.size() > most_told) text += "\n  … and " + std::to_string(problems.size() - most_told) + " more";
  return text;
}

std::vector<const rml_parameter*> first_of_each(std::span<const rml_parameter> rows) {
  std::vector<const rml_parameter*> list;
  for (const rml_parameter& p : rows)
    if (list.empty() || std::strcmp(list.back()->path, p.path) != 0) list.push_back(&p);
  return list;
}

NamedMemories parameters_among(const NamedMemories& all) {
  NamedMemories found;
  for (const NamedMemory& m : all)
    if (m.is_parameter && !m.content.empty()) found.push_back(m);
  return found;
}

// Returns the last `parts` parts of the place of a memory's instance, followed by the memory's place
// within the instance.
std::string end_of_place(const NamedMemory& m, std::size_t parts) {
  std::size_t at = m.place.size();
  for (std::size_t k = 0; k < parts && at != m.place.npos; ++k)
    at = at == 0 ? m.place.npos : m.place.rfind('.', at - 1);
  std::string end = (at == m.place.npos ? m.place : m.place.substr(at)) + "/" + m.within;
  std::erase(end, '\'');
  return end.starts_with('.') ? end.substr(1) : end;
}

std::size_t parts_alike(std::string a, std::string b) {
  std::size_t count = 0;
  while (!a.empty() && !b.empty() && a.substr(a.rfind('.') + 1) == b.substr(b.rfind('.') + 1)) {
    ++count;
    for (std::string* of : {&a, &b}) of->resize(of->rfind('.') == of->npos ? 0 : of->rfind('.'));
  }
  return count;
}

// The type with one word for all floats, because a parameter may be converted.
std::string of_any_width(const std::string& type) {
  for (const std::string_view name : {"f64", "f32", "bf16", "f16"})
    if (type.starts_with(name)) return "float" + type.substr(name.size());
  return type;
}

// Uses the places that a state lists for its parameters, in addition to their paths.
class Placed {
 public:
  Placed(const Safetensors& file, const std::string& name, const NamedMemories& program)
      : program_(parameters_among(program)), listed_(parameters_among(listed_memories(name, file))) {}

  bool any() const { return !listed_.empty() && !program_.empty(); }

  // For a state of the same node: the renamings from names in the file to names of the program.
  Matched match(const Safetensors& file, const std::vector<Renamed>& map) const {
    NamedMemories here = listed_;
    std::vector<bool> mapped;
    for (NamedMemory& m : here) {
      mapped.push_back(is_mapped(m.name, map));
      m.name = by_map(m.name, map);
      if (const TensorIn* const t = file.find(m.name); t != nullptr) m.type = of_any_width(tensor_type_text(*t));
    }
    NamedMemories program = program_;
    for (NamedMemory& m : program) m.type = of_any_width(m.type);
    choose_numbers(here, map);
    choose_numbers(program, map);
    return rt::match(here, mapped, program, Names::hold);
  }

  // For two paths with a common end: the reason, from their places, why they mean different
  // parameters; empty if they may be the same.
  std::string misplaced(const std::string& path, const std::string& in_file) const {
    const auto here = std::ranges::find(program_, path, &NamedMemory::name);
    const auto there = std::ranges::find(listed_, in_file, &NamedMemory::name);
    if (here == program_.end() || there == listed_.end()) return "";
    const std::size_t alike = parts_alike(path, in_file);
    if (alike == 0) return "";
    const std::string end = end_of_place(*here, alike - 1);
    if (end_of_place(*there, alike - 1) == end) return "";
    const auto other = std::ranges::find_if(listed_, [&](const NamedMemory& m) {
      return parts_alike(m.name, path) + 1 >= alike && end_of_place(m, alike - 1) == end;
    });
    if (other == listed_.end()) return "";
    return "'" + path + "' is at '" + end + "' in the source; in the source of the file, '" + other->name +
           "' is at that place, not '" + in_file + "': choose one with --map";
  }

 private:
  const NamedMemories program_, listed_;
};

// Reads the parameters of one file, and records which of them are found.
class ParameterReading {
 public:
  ParameterReading(const ParameterSource& source, const std::string& entry, LoadedParameters& to)
      : source_(source), entry_(entry), map_(parse_map(source.map)), to_(to) {
    to_.bytes = read_whole_file(source.file);
    file_ = read_safetensors(source.file, to_.bytes);
    check_checksum(source.file, to_.bytes, file_);
    if (const auto keys = file_.metadata.find(keys_key); keys != file_.metadata.end())
      throw Failure("--load-params " + source.file + ": the file has the states of " + keys->second +
                    " keys, each with its own parameters; load it in a run with --key, by --load");
  }

  // Gives the tensors the names that they have in the program. memories: those of the program.
  void rename(const NamedMemories& memories) {
    for (const TensorIn& tensor : file_.tensors) names_.push_back(tensor.name);
    check_map(map_, names_, source_.file);
    rename_tensors(file_, source_.file, [&](const std::string& name) { return by_map(name, map_); });
    placed_.emplace(file_, source_.file, memories);
    const auto program = file_.metadata.find("program");
    of_this_ = placed_->any() && program != file_.metadata.end() && program->second == entry_;
    if (of_this_) {
      const Matched found = placed_->match(file_, map_);
      rename_tensors(file_, source_.file, [&](const std::string& name) { return by_list(name, found.all); });
      for (std::size_t k = 0; k < names_.size(); ++k)
        if (file_.tensors[k].name.ends_with(')')) names_[k] = file_.tensors[k].name;
    }
    matching_.emplace(file_, names_, entry_);
  }

  void take(const rml_parameter& p) {
    const TensorIn* const tensor = matching_->find(p.path);
    if (tensor == nullptr) {
      missing_.push_back(&p);
      problems_.push_back(matching_->missing(p));
      return;
    }
    taken_.insert(tensor);
    const std::string& name = names_[static_cast<std::size_t>(tensor - file_.tensors.data())];
    std::string problem = complaint(*tensor, p, source_.cast);
    if (problem.empty() && (!of_this_ || is_mapped(name, map_))) problem = placed_->misplaced(p.path, name);
    if (problem.empty())
      give(p, *tensor, name);
    else
      problems_.push_back(problem);
  }

  // Throws Failure if not all parameters are found, and a partial load is not possible or not requested.
  void refuse_problems() const {
    if (problems_.empty() || (source_.partial && !to_.given.empty())) return;
    std::string mends;
    const std::string way = map_.empty() ? matching_->proposal(missing_) : "";
    if (!way.empty()) mends += "\n  --map '" + way + "' finds most of the missing parameters";
    if (way.empty() && !missing_.empty()) mends += "\n  --map OLD=NEW loads OLD of the file as NEW of the program";
    if (!to_.given.empty())
      mends += "\n  --partial loads the " + std::to_string(to_.given.size()) + " that fit, and lists them";
    throw Failure(source_.file +
                  (source_.partial ? ": nothing in it is a parameter of '" : ": not the parameters of '") + entry_ +
                  "':" + some_of(problems_) + mends);
  }

  void report() const {
    if (rounded_ > 0)
      to_.told.push_back(source_.file + ": " + std::to_string(rounded_) +
                         (rounded_ == 1 ? " parameter is" : " parameters are") + " rounded to the types of '" + entry_ +
                         "'");
    if (source_.partial) list_all();
  }

 private:
  void give(const rml_parameter& p, const TensorIn& tensor, const std::string& name) {
    found_.push_back("loaded: '" + std::string(p.path) + "' (" + type_of(p) + ")" +
                     (name == p.path ? "" : ": it is '" + name + "' in the file"));
    to_.given.push_back({&p, tensor.data});
    if (tensor.dtype == p.dtype) return;
    const std::vector<char>& own = to_.converted.emplace_back(converted(tensor, p));
    to_.given.back().elements = {own.data(), own.size()};
    if (!widens(tensor.dtype, p.dtype)) ++rounded_;
  }

  void list_all() const {
    to_.told.push_back(source_.file + ": " + std::to_string(found_.size()) + " of the " +
                       std::to_string(found_.size() + problems_.size()) + " parameters of '" + entry_ + "' are loaded");
    for (const std::string& line : found_) to_.told.push_back("  " + line);
    for (const std::string& problem : problems_) to_.told.push_back("  not loaded: " + problem);
    // Memories of a state that are not parameters are not loaded, so they are not reported.
    const NamedMemories in_file = listed_memories(source_.file, file_);
    const auto may_be_one = [&](const std::string& name) {
      return in_file.empty() || std::ranges::any_of(in_file, [&](const NamedMemory& m) {
               return m.is_parameter && (name == m.name || name == given_name(m.name));
             });
    };
    for (std::size_t k = 0; k < names_.size(); ++k)
      if (!taken_.contains(&file_.tensors[k]) && may_be_one(names_[k]))
        to_.told.push_back("  only in the file: '" + names_[k] + "' (" + tensor_type_text(file_.tensors[k]) + ")");
  }

  const ParameterSource& source_;
  const std::string& entry_;
  const std::vector<Renamed> map_;
  LoadedParameters& to_;
  Safetensors file_;
  std::vector<std::string> names_;  // for each tensor: its name in the file
  std::optional<Placed> placed_;
  bool of_this_ = false;  // the file is a state of the same node, with places
  std::optional<Matching> matching_;
  std::vector<std::string> problems_, found_;
  std::vector<const rml_parameter*> missing_;
  std::set<const TensorIn*> taken_;
  std::size_t rounded_ = 0;  // number of parameters that are rounded to narrower types
};

}  // namespace

void read_parameters(const ParameterSource& source, const std::string& entry, const NamedMemories& memories,
                     std::span<const rml_parameter> wanted, LoadedParameters& to) {
  ParameterReading reading(source, entry, to);
  if (wanted.empty()) throw Failure("--load-params " + source.file + ": '" + entry + "' has no parameters");
  reading.rename(memories);
  for (const rml_parameter* p : first_of_each(wanted)) reading.take(*p);
  reading.refuse_problems();
  reading.report();
}

}  // namespace rml::rt

// The tables of names and of their replacements.
#include "semantics/check/foreign_names.h"

#include <vector>

#include "frontend/diagnostic.h"
#include "semantics/operators/operator.h"
#include "semantics/values/type.h"

namespace rml {

namespace {

struct Meaning {
  std::string_view word, meant;
};

constexpr Meaning dtypes_elsewhere[] = {
    {"int8", "i8"},      {"uint8", "u8"},      {"byte", "u8"},     {"int16", "i16"},   {"short", "i16"},
    {"int32", "i32"},    {"int64", "i64"},     {"long", "i64"},    {"float16", "f16"}, {"half", "f16"},
    {"float32", "f32"},  {"single", "f32"},    {"float64", "f64"}, {"double", "f64"},  {"real", "f64"},
    {"boolean", "bool"}, {"bfloat16", "bf16"}, {"bool_", "bool"},  {"uint16", "u16"},  {"ushort", "u16"},
    {"uint32", "u32"},   {"uint", "u32"},      {"uint64", "u64"},
};

constexpr Meaning operators_elsewhere[] = {
    {"amax", "max"},
    {"amin", "min"},
    {"astype", "cast"},
    {"bmm", "matmul"},
    {"cat", "concat"},
    {"convert", "cast"},
    {"divide", "div"},
    {"equal", "eq"},
    {"expand", "broadcast_to"},
    {"fmod", "mod"},
    {"gather", "gather_elements"},
    {"greater", "gt"},
    {"greater_equal", "ge"},
    {"interpolate", "resize"},
    {"len", "size"},
    {"less", "lt"},
    {"less_equal", "le"},
    {"mm", "matmul"},
    {"multiply", "mul"},
    {"negative", "negate"},
    {"not_equal", "ne"},
    {"permute", "transpose"},
    {"power", "pow"},
    {"rand", "uniform"},
    {"randn", "normal"},
    {"remainder", "floor_mod"},
    {"scatter", "scatter_elements"},
    {"stack", "array"},
    {"subtract", "sub"},
    {"unsqueeze", "expand_dims"},
    {"upsample", "resize"},
    {"view", "reshape"},
};

constexpr Meaning nodes_elsewhere[] = {
    {"clip_by_global_norm", "optim.clip_global_norm"},
    {"clip_by_norm", "optim.clip_norm"},
    {"clip_by_value", "optim.clip_value"},
};

constexpr std::string_view no_none = "R(ML)² has no null value: `x when c` is absent at the cycles where `c` is false";

struct Value {
  std::string_view word;
  ForeignValue value;
};
constexpr Value values_elsewhere[] = {
    {"True", {"true", {}}},
    {"TRUE", {"true", {}}},
    {"False", {"false", {}}},
    {"FALSE", {"false", {}}},
    {"None", {{}, no_none}},
    {"null", {{}, no_none}},
    {"nil", {{}, no_none}},
    {"NULL", {{}, no_none}},
    {"nullptr", {{}, no_none}},
    {"NaN", {"nan", {}}},
    {"NAN", {"nan", {}}},
    {"Inf", {"inf", {}}},
    {"INF", {"inf", {}}},
    {"infinity", {"inf", {}}},
    {"Infinity", {"inf", {}}},
    {"pi", {{}, "write `const pi = 3.141592653589793;`"}},
    {"PI", {{}, "write `const pi = 3.141592653589793;`"}},
};

// The name in lower case, without underscores: LeakyReLU and leaky_relu become leakyrelu.
std::string plain(std::string_view name) {
  std::string text;
  for (const char c : name)
    if (c != '_') text += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

template <std::size_t n>
std::string_view find(const Meaning (&table)[n], std::string_view word) {
  for (const Meaning& row : table)
    if (row.word == word) return row.meant;
  return {};
}

// All nodes of the standard library; CMakeLists.txt makes the list from its modules.
constexpr std::string_view library_nodes[] = {
#include "semantics/library_nodes.inc"
};

}  // namespace

std::string dtype_meant(const std::string& word) {
  if (const std::string_view meant = find(dtypes_elsewhere, word); !meant.empty()) return std::string(meant);
  std::vector<std::string> candidates = {"int", "float"};
  for (int d = 0; d < dtype_count; ++d) candidates.emplace_back(name(static_cast<DType>(d)));
  return did_you_mean(word, candidates);
}

std::string operator_meant(std::string_view word) {
  if (const std::string_view meant = find(operators_elsewhere, word); !meant.empty()) return std::string(meant);
  for (const std::string& name : operators().names())
    if (name != word && plain(name) == plain(word)) return name;
  return {};
}

std::vector<std::string> nodes_of_library(std::string_view name) {
  std::vector<std::string> found;
  for (const std::string_view node : library_nodes)
    if (node.substr(node.find('.') + 1) == name) found.emplace_back(node);
  if (const std::string_view meant = find(nodes_elsewhere, name); !meant.empty()) found.emplace_back(meant);
  if (!found.empty()) return found;
  for (const std::string_view node : library_nodes)
    if (plain(node.substr(node.find('.') + 1)) == plain(name)) found.emplace_back(node);
  return found;
}

std::string advice_on(std::string_view node, std::string_view parameter) {
  if (parameter != "label" || (node != "cross_entropy" && node != "cross_entropy_with")) return {};
  return "a label is the number of a class; for one-hot targets or probabilities write `loss.soft_cross_entropy(…)`, "
         "or "
         "`argmax(t)` for the class of the largest element";
}

ForeignValue value_meant(std::string_view word) {
  for (const Value& row : values_elsewhere)
    if (row.word == word) return row.value;
  return {};
}

}  // namespace rml

// The names that are taken: those that C99 and a file's headers declare, and those of functions for operators.
#include "lowering/c/names.h"

#include <array>

#include "lowering/reserved.h"
#include "lowering/signature.h"
#include "semantics/operators/operator.h"

namespace rml::c99 {

namespace {

constexpr std::array functions = {
    "acos",   "asin",        "atan",   "atan2",    "cos",     "sin",       "tan",        "acosh",   "asinh",
    "atanh",  "cosh",        "sinh",   "tanh",     "exp",     "exp2",      "expm1",      "frexp",   "ilogb",
    "ldexp",  "log",         "log10",  "log1p",    "log2",    "logb",      "modf",       "scalbn",  "scalbln",
    "fabs",   "hypot",       "pow",    "sqrt",     "erf",     "erfc",      "lgamma",     "tgamma",  "ceil",
    "floor",  "nearbyint",   "rint",   "lrint",    "llrint",  "round",     "lround",     "llround", "trunc",
    "fmod",   "remainder",   "remquo", "copysign", "nan",     "nextafter", "nexttoward", "fdim",    "fmax",
    "fmin",   "fma",         "j0",     "j1",       "jn",      "y0",        "y1",         "yn",      "gamma",
    "drem",   "significand", "scalb",  "finite",   "memcpy",  "memmove",   "memset",     "memcmp",  "memchr",
    "strlen", "strcpy",      "strcat", "strcmp",   "strncpy", "index",     "rindex",     "bcopy",   "bzero",
    "ffs",    "exp10",       "pow10",  "sincos",   "abs",     "labs",      "div",        "abort",   "exit",
    "printf", "malloc",      "free",   "calloc",   "realloc", "rand",      "random",     "select",  "signal",
    "time",   "clock"};

// An identifier made from a name. A sequence of other characters becomes one separator.
std::string identifier(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (is_letter(c))
      text += c;
    else if (!text.empty() && text.back() != '_')
      text += '_';
  }
  while (!text.empty() && text.back() == '_') text.pop_back();
  if (text.empty()) return "value";
  return text[0] >= '0' && text[0] <= '9' ? "value_" + text : text;
}

// True for the names of helper functions, such as add_i32 and draw_key.
bool is_of_helpers(const std::string& name) {
  if (name.starts_with("draw_") || name == "philox" || name == "to_odd") return true;
  const std::size_t last = name.rfind('_');
  return last != std::string::npos && dtype_named(name.substr(last + 1)).has_value();
}

// `M_PI` becomes `M_PI_2_`, because a number alone could give another reserved name.
std::string numbered(const std::string& base, unsigned k) {
  const std::string name = base + "_" + std::to_string(k);
  return is_reserved(name) ? name + "_" : name;
}

}  // namespace

Names::Names() {
  taken_.insert("main");
  taken_.insert(own_words.begin(), own_words.end());
  taken_.insert(function_macros.begin(), function_macros.end());
  const auto take_all = [&](const std::string& function) {
    for (const char* const type : {"", "f", "l"}) taken_.insert(function + type);
  };
  for (const char* function : functions) take_all(function);
  for (OperatorId k = 0; k < operators().size(); ++k)
    if (!operators()[k].function.empty()) take_all(std::string(operators()[k].function));
}

bool Names::taken(const std::string& name) const {
  return taken_.contains(name) || is_reserved(name) || is_of_helpers(name);
}

std::string Names::unique(std::string_view wanted) {
  const std::string base = identifier(wanted);
  std::string name = is_of_helpers(base) ? numbered(base, 2) : base;
  if (!is_reserved(name) && taken_.insert(name).second) return name;
  unsigned& next = next_.try_emplace(base, 2).first->second;
  do {
    name = numbered(base, next++);
  } while (is_reserved(name) || !taken_.insert(name).second);
  return name;
}

}  // namespace rml::c99

// The messages replace those of CLI11, which would contain the largest double.
#include "runtime/options/complaints.h"

#include <CLI/CLI.hpp>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "runtime/base/duration.h"

namespace rml::rt {
namespace {

// The message for a wrong integer. CLI11's own one would contain the largest double, and CLI11 replaces an integer that
// is too large by the largest one.
std::string complaint_of_integer(const std::string& text, std::uint64_t most) {
  char* end = nullptr;
  errno = 0;
  const std::uint64_t number = std::strtoull(text.c_str(), &end, 0);
  if (text.empty() || end != text.c_str() + text.size()) return "'" + text + "' is not a whole number";
  if (text.find('-') != std::string::npos) return "'" + text + "': must be 0 or more";
  return errno == ERANGE || number > most ? "'" + text + "': must be at most " + std::to_string(most) : "";
}

}  // namespace

std::string complaint_of_name(const std::string& name) { return name.empty() ? "an empty name" : ""; }

std::string complaint_of_count(const std::string& text) {
  return complaint_of_integer(text, std::numeric_limits<std::int64_t>::max());
}

std::string complaint_of_seed(const std::string& text) {
  return complaint_of_integer(text, std::numeric_limits<std::uint64_t>::max());
}

std::string complaint_of_positive(const std::string& text) {
  const std::string complaint = complaint_of_count(text);
  if (!complaint.empty() || text.find_first_not_of("+0") != text.npos) return complaint;
  return "'" + text + "': must be 1 or more";
}

std::string complaint_of_save_every(const std::string& text) {
  if (duration_of(text)) return "";
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  if (!digits) return complaint_of_duration(text);
  if (text.find_first_not_of('0') == text.npos) return "'" + text + "': must be 1 or more";
  return complaint_of_count(text);
}

std::string complaint_of_delimiter(const std::string& text) {
  if (text == "tab" || text == "\t") return "";
  const bool fits = text.size() == 1 && std::ispunct(static_cast<unsigned char>(text[0])) != 0;
  if (fits && std::string_view("\"'.-+[]").find(text[0]) == std::string_view::npos) return "";
  return "'" + text + "' is not a delimiter: give a character such as ; or |, or tab";
}

}  // namespace rml::rt

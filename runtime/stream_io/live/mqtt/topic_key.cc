// In JSON, a key that is an integer or a Boolean is written without quotes, so that it may also be the
// value of an input of such a type. A key that is a text accepts all of them.
#include "runtime/stream_io/live/mqtt/topic_key.h"

#include <algorithm>
#include <cstdio>

#include "runtime/stream_io/cells/cell_lines.h"

namespace rml::rt {
namespace {

constexpr std::string_view blanks = " \t\r\n";

void append_json_text(std::string& line, std::string_view text) {
  line += '"';
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    char escaped[8];
    if (code >= 0x20 && c != '"' && c != '\\') {
      line += c;
    } else {
      std::snprintf(escaped, sizeof escaped, "\\u%04x", code);
      line += escaped;
    }
  }
  line += '"';
}

bool is_plain(std::string_view key) {
  if (key == "true" || key == "false") return true;
  const std::string_view digits = key.substr(key.starts_with('-') ? 1 : 0);
  if (digits.empty() || digits.size() > 18) return false;
  if (digits.front() == '0') return key == "0";
  return digits.find_first_not_of("0123456789") == digits.npos;
}

}  // namespace

std::string_view level_at_wildcard(std::string_view filter, std::string_view topic) {
  // $share/GROUP/FILTER: the topics of the messages begin with the filter.
  if (filter.starts_with("$share/")) filter.remove_prefix(std::min(filter.size(), filter.find('/', 7) + 1));
  const std::size_t wildcard = filter.find_first_of("+#");
  for (auto levels = std::count(filter.begin(), filter.begin() + static_cast<std::ptrdiff_t>(wildcard), '/');
       levels > 0; --levels)
    topic.remove_prefix(std::min(topic.size(), topic.find('/') + 1));
  return filter[wildcard] == '#' ? topic : topic.substr(0, topic.find('/'));
}

void append_with_key(std::string& line, std::string_view payload, const std::string& name, std::string_view key,
                     bool csv) {
  if (csv) {
    line += payload;
    line += ',';
    append_csv_cell(line, key, true);
    return;
  }
  const std::size_t brace = payload.find_first_not_of(blanks);
  if (brace == payload.npos || payload[brace] != '{') {
    line += payload;
    return;
  }
  line += '{';
  append_json_text(line, name);
  line += ':';
  if (is_plain(key))
    line += key;
  else
    append_json_text(line, key);
  const std::string_view rest = payload.substr(brace + 1);
  const std::size_t next = rest.find_first_not_of(blanks);
  if (next != rest.npos && rest[next] != '}') line += ',';
  line += rest;
}

}  // namespace rml::rt

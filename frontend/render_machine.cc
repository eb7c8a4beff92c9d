// Renders diagnostics for programs: JSON and SARIF 2.1.0.
//
// Both count lines and columns from 1, columns in code points; ends are exclusive. A diagnostic
// about no file, such as a wrong command line, has no place. The output is ASCII: names of files
// are escaped in full, so no control sequence reaches a terminal.
#include "frontend/render.h"

#include <nlohmann/json.hpp>
#include <string>

namespace rml {

namespace {

using nlohmann::json;

std::string text_of(const json& value) { return value.dump(2, ' ', true, json::error_handler_t::replace) + "\n"; }

bool placed(Span span) { return span.file != 0; }

std::string level(Code code) { return severity(code) == Severity::error ? "error" : "warning"; }

json place(Span span, const SourceMap& sources) {
  const LineColumn begin = sources.line_column(span.file, span.begin);
  const LineColumn end = sources.line_column(span.file, span.end);
  return {{"file", sources.path(span.file)}, {"line", begin.line},  {"column", begin.column}, {"end_line", end.line},
          {"end_column", end.column},        {"begin", span.begin}, {"end", span.end}};
}

json label_json(const Label& label, const SourceMap& sources) {
  json result = placed(label.span) ? place(label.span, sources) : json::object();
  result["text"] = label.text;
  return result;
}

json region(Span span, const SourceMap& sources) {
  const LineColumn begin = sources.line_column(span.file, span.begin);
  const LineColumn end = sources.line_column(span.file, span.end);
  return {{"startLine", begin.line}, {"startColumn", begin.column}, {"endLine", end.line}, {"endColumn", end.column}};
}

// SARIF requires a URI reference, so characters of a path that a URI may not contain are escaped.
std::string uri(const std::string& path) {
  static constexpr char hexadecimal[] = "0123456789ABCDEF";
  static constexpr std::string_view plain = "/-._~!$&'()*+,;=:@";
  std::string result = path.starts_with('/') ? "file://" : "";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool letter = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (letter || plain.find(c) != std::string_view::npos) {
      result += c;
    } else {
      result += {'%', hexadecimal[byte >> 4], hexadecimal[byte & 15]};
    }
  }
  return result;
}

json artifact(Span span, const SourceMap& sources) { return {{"uri", uri(sources.path(span.file))}}; }

json location(const Label& label, const SourceMap& sources) {
  json result = {{"physicalLocation",
                  {{"artifactLocation", artifact(label.span, sources)}, {"region", region(label.span, sources)}}}};
  if (!label.text.empty()) result["message"] = {{"text", label.text}};
  return result;
}

json sarif_fix(const FixIt& fix, const SourceMap& sources) {
  const json replacement = {{"deletedRegion", region(fix.span, sources)},
                            {"insertedContent", {{"text", fix.replacement}}}};
  const json change = {{"artifactLocation", artifact(fix.span, sources)}, {"replacements", json::array({replacement})}};
  return {{"description", {{"text", fix.title}}}, {"artifactChanges", json::array({change})}};
}

json sarif_result(const Diagnostic& d, const SourceMap& sources) {
  std::string message = d.message;
  for (const std::string& note : d.notes) message += "\nnote: " + note;
  json result = {{"ruleId", code_name(d.code)},
                 {"ruleIndex", static_cast<std::size_t>(d.code)},
                 {"level", level(d.code)},
                 {"message", {{"text", message}}}};
  if (placed(d.primary.span)) result["locations"] = json::array({location(d.primary, sources)});
  for (const Label& label : d.secondary) {
    if (placed(label.span)) result["relatedLocations"].push_back(location(label, sources));
  }
  for (const FixIt& fix : d.fixes) result["fixes"].push_back(sarif_fix(fix, sources));
  return result;
}

}  // namespace

std::string render_json(const Diagnostics& diagnostics, const SourceMap& sources) {
  json list = json::array();
  for (const Diagnostic& d : shown_diagnostics(diagnostics)) {
    json entry = {{"code", code_name(d.code)},
                  {"severity", level(d.code)},
                  {"title", code_title(d.code)},
                  {"message", d.message},
                  {"primary", label_json(d.primary, sources)},
                  {"secondary", json::array()},
                  {"notes", d.notes},
                  {"fixes", json::array()}};
    for (const Label& label : d.secondary) entry["secondary"].push_back(label_json(label, sources));
    for (const FixIt& fix : d.fixes) {
      json written = place(fix.span, sources);
      written.update({{"replacement", fix.replacement}, {"title", fix.title}, {"certain", fix.certain}});
      entry["fixes"].push_back(written);
    }
    list.push_back(entry);
  }
  return text_of({{"diagnostics", list}});
}

std::string render_sarif(const Diagnostics& diagnostics, const SourceMap& sources) {
  json rules = json::array();
  for (const Code code : all_codes()) {
    rules.push_back({{"id", code_name(code)},
                     {"shortDescription", {{"text", code_title(code)}}},
                     {"defaultConfiguration", {{"level", level(code)}}}});
  }
  json results = json::array();
  for (const Diagnostic& d : shown_diagnostics(diagnostics)) results.push_back(sarif_result(d, sources));
  const json run = {{"tool", {{"driver", {{"name", "rmlc"}, {"rules", rules}}}}},
                    {"columnKind", "unicodeCodePoints"},
                    {"results", results}};
  return text_of({{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                  {"version", "2.1.0"},
                  {"runs", json::array({run})}});
}

}  // namespace rml

// Lines of cells that are copied from an input to an output without being interpreted.
//
// A line has the form of its input: cells of CSV (RFC 4180), or a JSON array. Writers of the other
// form convert it. A cell without a value is empty in CSV and null in JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rml::rt {

enum class CellForm { csv, json };

// Appends a cell to a line of CSV, quoted if necessary. blanks_count: blanks at the ends of the
// text are significant, so it is quoted.
void append_csv_cell(std::string& line, std::string_view text, bool blanks_count = false);
// The content of a field, with its blanks.
std::string field_content(std::string_view raw);
// A text as a JSON string; bytes that are not UTF-8 are replaced.
std::string json_text(std::string_view text);

// The raw values of an object with these names, in their order; "null" for a name that the object
// lacks. line: one valid JSON object. lacking: receives the first name that it lacks, if any.
std::vector<std::string_view> raw_members(std::string_view line, const std::vector<std::string>& names,
                                          std::string* lacking = nullptr);

// The cells of a line: their texts in CSV, their raw values in JSON.
std::vector<std::string> cells_of(std::string_view line, CellForm form);
// A line in the other form, or the same line.
std::string converted(std::string_view line, CellForm from, CellForm to);
// The texts of the cells; none for a cell without a value.
std::vector<std::optional<std::string>> texts_of(std::string_view line, CellForm form);

}  // namespace rml::rt

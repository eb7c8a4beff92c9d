// The key of a message that is a level of its topic: plant/+/x?topic_key=machine.
//
// Readers know rows of text only, so the key becomes a value of the message: the first one of a JSON
// object, the last one of a line of CSV.
#pragma once

#include <string>
#include <string_view>

namespace rml::rt {

// The part of the topic that matches the wildcard of the filter. The broker has matched both.
std::string_view level_at_wildcard(std::string_view filter, std::string_view topic);

// Appends a message with its key to `line`. A payload that is no JSON object remains as it is: the
// reader refuses it.
void append_with_key(std::string& line, std::string_view payload, const std::string& name, std::string_view key,
                     bool csv);

}  // namespace rml::rt

// The file of a picture: .svg as it is, .png and .pdf by the program rsvg-convert of librsvg.
//
// A program is called rather than a library loaded, because compiled programs are static and
// cannot load libraries.
#pragma once

#include <string>

namespace rml::rt {

// Throws Failure with status 2 if the suffix is another one, or if rsvg-convert is needed and not
// installed.
void require_drawable(const std::string& path);

// Writes the file as a whole or not at all.
void write_picture(const std::string& path, const std::string& svg);

}  // namespace rml::rt

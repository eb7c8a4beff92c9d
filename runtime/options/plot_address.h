// The argument of --plot: FILE, optionally followed by ?FIELD=VALUE&FIELD=VALUE….
#pragma once

#include <optional>
#include <string>

namespace rml::rt {

struct PlotAddress {
  enum class Scale { automatic, linear, logarithmic };
  struct Size {
    unsigned width = 0, height = 0;  // in pixels
  };
  std::string path;  // empty: no picture
  Scale scale = Scale::automatic;
  std::optional<Size> size;
  std::string title;  // empty: the name of the program
};

// Throws Failure with status 2. The suffix of the file is checked later (monitor/picture_file.h).
PlotAddress parse_plot_address(const std::string& text);

}  // namespace rml::rt

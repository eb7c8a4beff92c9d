// The parameters that a caller of the C interface can set between two cycles: `param`, and constants
// that `--tunable` names.
//
//   gain of `heater`     double heater_get_gain(state);  void heater_set_gain(state, double value);
//
// A setting is stored in a cell that the generated code reads in each cycle, so a new value counts
// from the next cycle on and is part of the state.
#pragma once

#include <string>
#include <vector>

#include "lowering/steps/steps.h"

namespace rml::c99 {

struct Setting {
  std::string path;  // "heater.gain"
  std::string name;  // an identifier: "heater_gain"
  DType dtype{};
  Shape shape;
  CellId cell;
};

// In the order of the program's parameters. A parameter is left out if its first value is computed,
// which would replace a value that is set before the first cycle; or if rows wait, because then a
// new value would also reach cycles that were passed before.
std::vector<Setting> settings(const steps::Program&);

// Expressions for the address of a setting in the state, to read and to write it, and the statements
// that follow a change.
struct SettingPlace {
  std::string read, write, after;
};
// The two functions of each setting, for a header.
std::string settings_text(const std::vector<Setting>&, const std::vector<SettingPlace>&);

}  // namespace rml::c99

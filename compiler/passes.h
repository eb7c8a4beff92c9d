// The one list of passes: what each takes and makes, and what holds after it.
//
// Who runs passes runs them from here, by name: the compiler (pipeline.cc says in which order), `rmlc opt`, `rmlc show
// --after`. Their times, the table in the README and the golden tests that each must have come from here as well.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "compiler/translation.h"

namespace rml {

enum class Form : std::uint8_t { text, tree, checked, core, schedule, segments, steps, loops, llvm };
std::string_view name(Form);

struct Pass {
  std::string_view name;  // of a literal
  Form takes, makes;      // the same: another program in that form; or the pass only judges it
  std::string_view holds;
  std::string_view file;
  void (*run)(Translation&);
};

// In the order in which each comes first.
std::span<const Pass> passes();
// Null where there is none of that name.
const Pass* find_pass(std::string_view name);
// What to say then: "there is no pass 'fise'; did you mean 'fuse'?".
std::string no_such_pass(const std::string& name);

// Runs it, notes what it took and shows what it made (Session::watch). Whether it changed anything, if it can tell:
// else yes.
bool run(const Pass&, Translation&);

// The program in the form that the pass makes, as text. What reads back is whole.
std::string print(const Pass&, Translation&);

// Reads what print wrote: a core, a schedule, segments, steps or loops. False, and why not, with line and column.
bool read(Form, std::string_view text, Translation&, std::string& fault);
bool reads_back(Form);

}  // namespace rml

// The list of all passes, with the form that each pass takes, the form that it makes, and the
// property that holds after it.
//
// All passes run from here, by name: in the compiler (pipeline.cc has their order), in `rmlc opt`
// and in `rmlc show --after`. The list is also the source of the reported times, of the table in
// docs/design/1-pipeline.md, and of the set of golden tests.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "compiler/session.h"
#include "frontend/diagnostic.h"

namespace rml {

// A program between two passes (translation.h), which only the code that runs passes reads.
struct Translation;

enum class Form : std::uint8_t { text, tree, checked, core, schedule, segments, steps, loops, llvm };
std::string_view name(Form);

struct Pass {
  std::string_view name;  // name of the pass, a string literal
  Form takes, makes;      // equal if the pass changes a program within its form, or only checks it
  std::string_view holds;
  std::string_view file;
  void (*run)(Translation&);
};

// The passes, in the order of their first use.
std::span<const Pass> passes();
// Finds a pass by its name. Returns null if there is none.
const Pass* find_pass(std::string_view name);
// Returns the message for an unknown name: "there is no pass 'fise'; did you mean 'fuse'?".
std::string no_such_pass(const std::string& name);

// Runs the pass, records its time and passes the result to Session::watch. Returns whether the
// program changed; a pass that cannot detect this returns true.
bool run(const Pass&, Translation&);
// True if the pass, which has just run, made its form and reported no error.
bool has_result(const Pass&, const Translation&);

// Returns the result of the pass as text. If reads_back is true for its form, `read` restores the
// whole program from it.
std::string print(const Pass&, Translation&);

// Reads a text of `print`: a core, a schedule, segments, steps or loops. On failure sets `fault`,
// with line and column.
bool read(Form, std::string_view text, Translation&, std::string& fault);
bool reads_back(Form);

// The reason why passes could not run over a text, and the pass; null if the text was not read.
struct TextRefusal {
  const Pass* pass = nullptr;
  std::string why;
};
// Runs passes over the text of the form that the first one takes, up to the first error in `found`. Each pass takes the
// form that the one before makes. Returns the text of the last form; it is empty if an error was reported. On failure
// returns nothing and sets `refusal`.
std::optional<std::string> run_on_text(std::span<const Pass* const>, std::string_view text, bool keep_watches, Session&,
                                       Diagnostics& found, TextRefusal& refusal);

}  // namespace rml

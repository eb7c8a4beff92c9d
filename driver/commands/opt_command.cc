// `rmlc opt PASS…`: runs passes over the text of a form, from standard input to standard output.
#include <iostream>

#include "compiler/passes.h"
#include "compiler/read_file.h"
#include "driver/commands/commands.h"
#include "runtime/base/readable.h"

namespace rml {
namespace {

int wrong_usage(const std::string& why) {
  std::cerr << readable_message("rmlc: " + why) << "\n";
  return exit_usage;
}

// Prints each pass as a row of the table in the README.
int list_passes() {
  for (const Pass& p : passes()) {
    const std::string takes(name(p.takes)), makes(name(p.makes));
    std::cout << "| `" << p.name << "` | " << takes << " → " << makes << " | " << p.holds << " | `" << p.file
              << "` |\n";
  }
  return exit_success;
}

// The named passes in order. `why`: the reason, if one cannot follow another.
std::vector<const Pass*> chosen(const std::vector<std::string>& names, std::string& why) {
  std::vector<const Pass*> list;
  for (const std::string& name : names) {
    const Pass* const pass = find_pass(name);
    if (pass == nullptr) {
      why = no_such_pass(name);
      return {};
    }
    const Form here = list.empty() ? pass->takes : list.back()->makes;
    if (pass->takes != here || !reads_back(pass->takes))
      why = "pass '" + name + "' takes " + std::string(rml::name(pass->takes)) +
            (reads_back(pass->takes)
                 ? ", but '" + std::string(list.back()->name) + "' makes " + std::string(rml::name(here))
                 : ", which is not read from texts");
    if (!why.empty()) return {};
    list.push_back(pass);
  }
  return list;
}

// Spans in a form refer to files that were not read, so only the texts are kept.
void append_without_places(const Diagnostics& found, Diagnostics& diagnostics) {
  for (const Diagnostic& d : found.all()) {
    Diagnostic& told = diagnostics.report(d.code, {}, d.message);
    if (!d.primary.text.empty()) told.note(d.primary.text);
    for (const Label& label : d.secondary) told.note(label.text);
    for (const std::string& note : d.notes) told.note(note);
  }
}

}  // namespace

int run_passes(Invocation& invocation, const OptRequest& request) {
  if (request.list) return list_passes();
  std::string why;
  const std::vector<const Pass*> list = chosen(request.passes, why);
  if (list.empty()) return wrong_usage(why.empty() ? "name a pass; rmlc opt --list names them" : why);
  Session& session = invocation.session;
  Diagnostics found;
  const std::optional<std::string> text = read_file("-", why);
  if (!text) {
    session.diagnostics.report(Code::E0801, {}, "cannot read standard input: " + why);
    return exit_fault;
  }
  if (text->find_first_not_of(" \t\r\n") == std::string::npos) {
    std::cerr << "rmlc: standard input is empty\n";
    return exit_fault;
  }
  TextRefusal refusal;
  const std::optional<std::string> made = run_on_text(list, *text, request.keep_watches, session, found, refusal);
  if (!made) {
    const std::string where = refusal.pass == nullptr ? "standard input, " : std::string(refusal.pass->name) + ": ";
    std::cerr << readable_message("rmlc: " + where + refusal.why) << "\n";
    return exit_fault;
  }
  append_without_places(found, session.diagnostics);
  if (session.failed()) return exit_fault;
  std::cout << *made;
  return exit_success;
}

}  // namespace rml

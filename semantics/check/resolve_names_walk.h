// Where a walk over a node's body or a constant's value is: what names mean there, and what was found wrong.
//
// Variables hide constants. What is wrong is reported once per name and walk. A text with syntax errors is silent on
// what is missing, and so is one whose names may be in a file that could not be imported.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "semantics/check/checked.h"
#include "semantics/check/resolve_names_modules.h"

namespace rml {

class NameWalk {
 public:
  // `suggestions`: how many searches for what was meant are left to all walks; each looks at everything in scope.
  NameWalk(const Program& program, const ModuleScope& scope, ModuleId module, Diagnostics& diagnostics,
           int& suggestions)
      : program_(program), scope_(scope), module_(module), diagnostics_(diagnostics), suggestions_left_(suggestions) {}

  const Program& program() const { return program_; }
  const ModuleScope& scope() const { return scope_; }
  const std::string& text(Symbol s) const { return program_.text(s); }

  // ---- variables ----

  // The first of this name, and whether that is the one given.
  std::pair<Variable&, bool> declare(const Variable& variable);
  // A second one of a name that is declared: positions in an interface count it.
  void declare_again(const Variable& variable) { variables_.push_back(variable); }
  const std::vector<Variable>& variables() const { return variables_; }
  std::optional<std::uint32_t> variable(Symbol name) const;
  void use(std::uint32_t variable);
  bool used(std::uint32_t variable) const { return variable < used_.size() && used_[variable]; }

  // ---- errors ----

  Diagnostic& report(Code code, Span span, std::string message, std::string label = {});
  void fail() { failed_ = true; }
  bool failed() const { return failed_; }
  // The text has syntax errors.
  void break_off() { failed_ = broken_ = true; }
  bool broken() const { return broken_; }
  // A name behind this qualifier (none: unqualified) may be in a file whose import failed.
  bool lost_with_import(Symbol qualifier) const;
  void unknown_value(Symbol name, Span span);
  // What `m.k` means: a constant of a module; nothing, and an error, if there is none.
  std::optional<ConstId> qualified_constant(const ast::Name& constant, Span span);
  void unknown_callee(const std::string& name, Span span);
  // Whether `path` is `filters.audio.shelf`, where `import filters.audio;` made its name `audio.shelf`: an error.
  bool is_import_in_full(const std::string& path, Span span);

 private:
  bool may_search();
  void misplaced_collective(const std::string& name, Span span);

  const Program& program_;
  const ModuleScope& scope_;
  const ModuleId module_;
  Diagnostics& diagnostics_;
  int& suggestions_left_;
  std::vector<Variable> variables_;
  std::unordered_map<std::uint32_t, std::uint32_t> by_name_;  // Symbol to variable
  std::vector<bool> used_;                                    // by variable; those behind are not
  std::unordered_set<std::uint32_t> reported_;                // unknown names already told
  bool failed_ = false, broken_ = false;
};

}  // namespace rml

// The state of a walk over a node's body or a constant's value: the meaning of names, and the
// errors found.
//
// Variables hide constants. Each error is reported once per name and walk. Missing names are not
// reported if the text has syntax errors, or if a file that may define them could not be
// imported.
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
  // `suggestions`: the number of searches for similar names that all walks together may still
  // make; each search visits everything in scope.
  NameWalk(const Program& program, const ModuleScope& scope, ModuleId module, Diagnostics& diagnostics,
           int& suggestions)
      : program_(program), scope_(scope), module_(module), diagnostics_(diagnostics), suggestions_left_(suggestions) {}

  const Program& program() const { return program_; }
  const ModuleScope& scope() const { return scope_; }
  const std::string& text(Symbol s) const { return program_.text(s); }

  // ---- variables ----

  // The first variable of this name, and whether that is the given one.
  std::pair<Variable&, bool> declare(const Variable& variable);
  // Adds a second variable with a declared name, because positions in an interface count it.
  void declare_again(const Variable& variable) { variables_.push_back(variable); }
  const std::vector<Variable>& variables() const { return variables_; }
  std::optional<std::uint32_t> variable(Symbol name) const;
  void use(std::uint32_t variable);
  bool used(std::uint32_t variable) const { return variable < used_.size() && used_[variable]; }

  // ---- errors ----

  Diagnostic& report(Code code, Span span, std::string message, std::string label = {});
  void fail() { failed_ = true; }
  bool failed() const { return failed_; }
  // Marks the text as one with syntax errors, so that follow-up errors are not reported.
  void break_off() { failed_ = broken_ = true; }
  bool broken() const { return broken_; }
  // True if a name with this qualifier (or an unqualified one) may be in a file whose import
  // failed.
  bool lost_with_import(Symbol qualifier) const;
  void unknown_value(Symbol name, Span span);
  // The constant that `m.k` names. Reports an error and returns nothing if there is none.
  std::optional<ConstId> qualified_constant(const ast::Name& constant, Span span);
  void unknown_callee(const std::string& name, Span span);
  // True, with an error, if `path` is `filters.audio.shelf` although `import filters.audio;` made
  // its name `audio.shelf`.
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
  std::unordered_map<std::uint32_t, std::uint32_t> by_name_;  // maps the name of a variable to its index
  // True for each variable that is used; variables beyond the end are unused.
  std::vector<bool> used_;
  std::unordered_set<std::uint32_t> reported_;  // unknown names already reported
  bool failed_ = false, broken_ = false;
};

}  // namespace rml

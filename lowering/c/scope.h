// Keeps the variables of one C function, and its text.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "lowering/c/code.h"
#include "lowering/c/expression.h"
#include "lowering/c/file.h"
#include "lowering/c/plan.h"
#include "lowering/signature.h"

namespace rml::c99 {

Expression number(const Tensor&);

// An element of a ring, and the count of the elements taken from it.
struct Source {
  std::string element, address, cursor;
};

class Scope {
 public:
  Scope(File& f, const Plan& p, Code& c, Names n);

  File& file;
  const Plan& plan;
  Code& code;
  std::vector<Port> inputs, outputs;
  // Expressions that tell whether the instant is the first, and the last, of its segment.
  std::string first, last;
  std::string position;                       // position of the instant in its segment
  std::string last_flag;                      // the variable that MarkLast sets
  std::string cycle = "state->cycles";        // the current cycle, for messages of faults
  std::uint32_t body = UINT32_MAX;            // the body whose values are computed
  std::function<std::string(QueueId)> push;   // returns the name of the function that pushes to a queue
  std::function<Source(std::uint32_t)> take;  // yields the next element of an input; null: the input is a parameter

  // Must be called before the first statement. Names variables: first for values that the user named, then loop
  // indices.
  void name_variables();
  std::string variable(loops::BufferId);
  // Declares a variable that belongs to no buffer.
  std::string temporary(DType, const Expression&);
  // Marks a buffer as too large for the stack.
  void keep_in_state(loops::BufferId);
  void call_it(loops::BufferId b, std::string text) { variables_[b] = std::move(text); }

  // Reads an element. `index` counts elements; it is empty for a scalar.
  Expression read(loops::BufferId, const std::string& index);
  std::string place(loops::BufferId, const std::string& index);
  std::string array(loops::BufferId);  // address of the buffer's first element
  // Sets a scalar to an expression: by a variable, or by inlining the expression at its use.
  void define(loops::BufferId, const Expression&);
  void declare(Place);
  // Records a variable that other code declares; it may turn out to be unused.
  void declared(const std::string& name, bool constant) { (constant ? constants_ : hoisted_).push_back(name); }
  // After this, the definition of b returns its expression through captured() and emits nothing.
  void capture(loops::BufferId b) { captures_ = b; }
  Expression captured();

  // The names of loop variables, the outermost first.
  const std::string& letter(std::size_t depth);
  std::size_t depth = 0;

  // Must be called after the last statement. Removes unused variables.
  void finish() {
    code.drop_unused(begin_, constants_);
    code.excuse_unread(begin_, hoisted_);
  }

  // Adds a comment with the equation; `done` removes it if no statement was written after it.
  void explain(ValueId of);
  void done();
  void fail(const std::string& condition, int kind, std::size_t site, const std::string& value,
            const std::string& bound);

 private:
  std::string wanted_name(loops::BufferId) const;
  std::string memory_name(const Core&, ValueId) const;
  std::string field_of(loops::BufferId);

  Names names_;
  std::map<loops::BufferId, std::string> variables_;
  std::map<loops::BufferId, Expression> pending_;
  std::set<loops::BufferId> declared_, moved_;
  loops::BufferId captures_;
  Expression captured_;
  std::vector<std::string> letters_, constants_, hoisted_;
  std::size_t begin_;
  std::string explained_, before_;
  std::size_t commented_ = SIZE_MAX, written_ = 0;
};

}  // namespace rml::c99

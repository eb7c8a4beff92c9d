// The variables of one C function, and its text.
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

// An element of a ring, and the count of those that are taken.
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
  std::string first, last;                    // what says whether the instant is the first, the last of its segment
  std::string position;                       // of the instant in its segment
  std::string last_flag;                      // what MarkLast sets
  std::string cycle = "state->cycles";        // at hand, of which faults tell
  std::uint32_t body = UINT32_MAX;            // whose values are computed
  std::function<std::string(QueueId)> push;   // the function that does
  std::function<Source(std::uint32_t)> take;  // the next element of an input; null: it is a parameter

  // Before the first statement: names for what the user has names for, then the letters of loops.
  void name_variables();
  std::string variable(loops::BufferId);
  // A variable that is not a buffer's.
  std::string temporary(DType, const Expression&);
  // Too large for the stack.
  void keep_in_state(loops::BufferId);
  void call_it(loops::BufferId b, std::string text) { variables_[b] = std::move(text); }

  // `index`: in elements; of a scalar: none.
  Expression read(loops::BufferId, const std::string& index);
  std::string place(loops::BufferId, const std::string& index);
  std::string array(loops::BufferId);  // the address of the first element
  // A scalar becomes the expression: as a variable, or where it is looked at.
  void define(loops::BufferId, const Expression&);
  void declare(Place);
  // What is declared beside: nobody need look at it.
  void declared(const std::string& name, bool constant) { (constant ? constants_ : hoisted_).push_back(name); }
  // Whatever defines b says by which expression, instead.
  void capture(loops::BufferId b) { captures_ = b; }
  Expression captured();

  // Loop variables, the outermost first.
  const std::string& letter(std::size_t depth);
  std::size_t depth = 0;

  // After the last statement: variables that nobody looks at are none.
  void finish() {
    code.drop_unused(begin_, constants_);
    code.excuse_unread(begin_, hoisted_);
  }

  // A comment; `done` takes it away again where nothing was written after it.
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

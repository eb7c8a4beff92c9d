// Writes an R(ML)² program, operator by operator.
//
// The importer applies operators of the table to terms, which are expressions of known dtype and
// shape. The rules of the operator's row compute both, so the importer and the compiler agree on
// them. If all operands have known values, the reference kernel of the row computes the value of
// the result. Shapes that a model computes from shapes are therefore numbers when they are
// needed.
//
//     Term y = b.apply("add", {b.apply("matmul", {x, w}), bias});     text: matmul(x, w) + bias
//
// Equations are collected in scopes, one for each node of the program. Constants belong to the
// program.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "onnx/scope.h"
#include "onnx/term.h"
#include "semantics/operators/operator.h"

namespace rml::onnx {

// A tensor that the program loads from its weights file.
struct Weight {
  std::string name;
  std::shared_ptr<const Tensor> value;
};

class Builder {
 public:
  // Throws ModelError if the operator's row does not accept these operands. `result` is needed if
  // no operand determines the dtype of the result.
  Term apply(std::string_view op, std::vector<Term> operands, const Arguments& arguments = {},
             std::optional<DType> result = {});

  // The elements [begin, end) of x along an axis.
  Term part(const Term& x, std::int64_t axis, std::int64_t begin, std::int64_t end);

  Term constant(Tensor value, std::string hint = {});
  Term constant(std::shared_ptr<const Tensor> value, std::string hint = {});
  Term scalar(DType, double);
  Term integers(const std::vector<std::int64_t>&);  // returns a vector of type i64
  // Returns a term for a text that the caller has written.
  static Term written(std::string text, int precedence, DType, Shape);

  // Makes an expression of a known term: a literal if the context determines its type, else a
  // load from the file as `name`.
  Term stored(const Term&, const std::string& name);

  // Returns the term itself if it is known or is a name, else defines a variable near `name` and
  // returns that.
  Term bind(const Term&, const std::string& name);
  // Binds the term to a variable with a generic name.
  Term shared(const Term&);
  // Writes the equation `name = term` with its type.
  void define(const std::string& name, const Term&);
  void define(const std::vector<std::string>& names, std::string text);  // writes a call with several results
  void remember(const Term& held, const Term& init,
                const std::string& next);  // writes the equation `held = init fby next` with its type
  void comment(std::string text);          // writes a comment above the next equation

  // Returns an identifier near `wanted` that is free in this scope, and reserves it.
  std::string fresh(const std::string& wanted);
  std::string text_of(const Term&, bool typed_by_context);  // the text, with the name or the literal of a constant
  static std::string type_text(DType, const Shape&);

  void open(const std::string& node);  // opens a scope, until `close` returns to the scope before
  // Closes the scope and returns the name of its node. Nodes are written in the order in which
  // they are closed. If an equal node exists, its name is returned and nothing is written.
  std::string close();
  // Ports of the node: an input named near `wanted`, or an existing variable as input or output.
  Term input(const std::string& wanted, DType, const Shape&);
  void input(const Term& variable);
  void output(const std::string& name, DType, const Shape&);
  std::string call_text(const std::string& node, const std::vector<Term>& arguments);
  // Text of `scan[reverse] node(states; sequences; fixed)`. It becomes a `fold` if nothing is
  // stacked, and a `map` if there are no states.
  struct Iterated {
    std::vector<Term> states, sequences, fixed;
    bool reverse = false, stacks = true;
  };
  std::string call_text(const std::string& node, const Iterated& over);
  std::string fresh_node(const std::string& wanted);
  // In the open node, replaces repeated blocks by calls of a new node (onnx/repeated_blocks.h).
  void take_out_repeated_blocks();

  // True if each cycle is one step of the sequences of recurrent operators.
  bool streaming = false;

  // Budget of elements for computing known values. `spend` throws TooLarge when it is exhausted.
  std::int64_t known_work = INT64_MAX;
  void spend(std::int64_t elements);

  // The parts of the finished program: `const` items in order, the tensors that they load, and
  // the nodes.
  std::string weights_file;
  const std::vector<std::string>& constants() const { return constants_; }
  const std::vector<Weight>& weights() const { return weights_; }
  const std::vector<Scope>& nodes() const { return nodes_; }

 private:
  std::string load_text(const std::string& name) const;
  std::string constant_name(const Term&);
  std::string listed(const std::vector<Term>& arguments);

  Scope& scope() { return scopes_.back(); }

  std::vector<Scope> scopes_, nodes_;
  std::vector<std::string> constants_;
  std::vector<Weight> weights_;
  std::set<std::string> program_names_;  // names of constants and nodes
  std::map<std::string, int> counts_;    // how often each name was given (see Scope)
  // Names of constants by address of the elements, which copies of a tensor share, and by
  // preferred name. The tensor is kept so that its address stays valid.
  std::map<std::pair<const void*, std::string>, std::pair<std::string, std::shared_ptr<const Tensor>>> named_;
  std::unordered_map<std::string, std::string> written_;  // text of a node → its name
  std::map<std::string, std::string> small_;              // text of a small constant → its name
  std::string comment_;
};

// Makes an identifier of the language from `text`: letters, digits and _, and no keyword.
std::string identifier(const std::string& text);

}  // namespace rml::onnx

// Writing an R(ML)2 program, operator by operator.
//
// The importer applies operators of the table to terms: expressions of known dtype and shape. Both
// come from the rows' own rules, so that what is written means to the compiler what the importer
// took it for, and a term whose operands are known is known itself, evaluated by the row's
// reference kernel: shapes that a model computes from shapes are numbers when they are needed.
//
//     Term y = b.apply("add", {b.apply("matmul", {x, w}), bias});     text: matmul(x, w) + bias
//
// Equations collect in scopes, one for each node of the program; constants belong to the program.
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

#include "onnx/model.h"
#include "semantics/operators/operator.h"
#include "semantics/values/type.h"

namespace rml::onnx {

// An expression of the program. Of a known one `value` is there, and its text is made where it is used.
struct Term {
  std::string text;
  int precedence = 0;  // of its outermost operator; Builder::atom for what needs no parentheses
  DType dtype = DType::f32;
  Shape shape;
  std::shared_ptr<const Tensor> value;
  std::string hint;  // of a known one: the name it would like

  bool known() const { return value != nullptr; }
  std::int64_t rank() const { return static_cast<std::int64_t>(shape.size()); }
  std::int64_t elements() const;
};

using Argument = std::variant<std::int64_t, std::vector<std::int64_t>, double, DType, std::string>;
using Arguments = std::vector<std::pair<std::string_view, Argument>>;

// A tensor that the program takes from the file beside it.
struct Weight {
  std::string name;
  std::shared_ptr<const Tensor> value;
};

struct Equation {
  std::string comment;  // what it was in the model; "" to stay with the one before
  std::string text;
};

// A node of the program while its equations are written.
struct Scope {
  std::string name;
  std::vector<std::string> inputs, outputs;  // "x: f32[1, 3]"
  std::vector<Equation> equations;
  std::set<std::string> names;
  std::map<std::string, int> counts;  // of numbers that names near this one have had
};

class Builder {
 public:
  static constexpr int atom = 100;
  // Throws ModelError where the operator's row does not take these operands. `result` is needed where
  // the dtype of the result follows from no operand.
  Term apply(std::string_view op, std::vector<Term> operands, const Arguments& arguments = {},
             std::optional<DType> result = {});

  // x from `begin` up to, without, `end` along an axis.
  Term part(const Term& x, std::int64_t axis, std::int64_t begin, std::int64_t end);

  Term constant(Tensor value, std::string hint = {});
  Term constant(std::shared_ptr<const Tensor> value, std::string hint = {});
  Term scalar(DType, double);
  Term integers(const std::vector<std::int64_t>&);  // i64
  // A term for `text`, which the caller has written.
  static Term written(std::string text, int precedence, DType, Shape);

  // A known term as an expression of its own: a literal where the context types it, else loaded as `name`.
  Term stored(const Term&, const std::string& name);

  // The term by a name: itself if it is known or has one already, else what a new equation defines.
  Term bind(const Term&, const std::string& name);
  Term shared(const Term&);                                                    // bind to a name of no meaning
  void define(const std::string& name, const Term&);                           // the equation `name = term`, typed
  void define(const std::vector<std::string>& names, std::string text);        // several results of one call
  void remember(const Term& held, const Term& init, const std::string& next);  // `held = init fby next`, typed
  void comment(std::string text);                                              // above the next equation

  // A name near `wanted` that is an identifier and not taken in this scope; it is taken then.
  std::string fresh(const std::string& wanted);
  std::string text_of(const Term&, bool typed_by_context);  // with a constant's name or literal
  static std::string type_text(DType, const Shape&);

  void open(const std::string& node);  // a scope; the one before goes on when it is closed
  // Nodes are written in the order in which they are closed; one that is like another is written once.
  // What to call it by.
  std::string close();
  // Ports of the node: an input named near `wanted`, and the variable `name` as an output.
  Term input(const std::string& wanted, DType, const Shape&);
  void input(const Term& variable);
  void output(const std::string& name, DType, const Shape&);
  std::string call_text(const std::string& node, const std::vector<Term>& arguments);
  // `scan[reverse] node(states; sequences; fixed)`; `fold` where nothing is stacked, `map` where there are no states.
  struct Iterated {
    std::vector<Term> states, sequences, fixed;
    bool reverse = false, stacks = true;
  };
  std::string call_text(const std::string& node, const Iterated& over);
  std::string fresh_node(const std::string& wanted);
  // Of the open node, blocks that come again become nodes (onnx/repeated_blocks.h).
  void take_out_repeated_blocks();

  // A cycle is one step of the sequences that recurrent operators run through.
  bool streaming = false;

  // How many elements may still be computed of what is known beforehand. Throws TooLarge where they do not suffice.
  std::int64_t known_work = INT64_MAX;
  void spend(std::int64_t elements);

  // Of the program: `const` items, in order, and the tensors they load from `file`.
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
  std::set<std::string> program_names_;  // constants and nodes
  std::map<std::string, int> counts_;    // as in Scope
  // By where the elements are, which copies of a tensor share: its name, and what keeps them there.
  std::map<std::pair<const void*, std::string>, std::pair<std::string, std::shared_ptr<const Tensor>>> named_;
  std::unordered_map<std::string, std::string> written_;  // text of a node → its name
  std::map<std::string, std::string> small_;              // text of a small constant → its name
  std::string comment_;
};

// `text` as an identifier of the language: letters, digits and _, no keyword.
std::string identifier(const std::string& text);
// A literal of the tensor's dtype, if each element has one.
std::optional<std::string> literal(const Tensor&);

}  // namespace rml::onnx

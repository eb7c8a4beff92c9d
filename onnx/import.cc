// Writes the graph of a model as a program (import.h).
//
// The nodes are visited in order. The row of each operator returns terms for its outputs, and
// these get the names of the model's values. If a node cannot be written, the error is recorded
// and all nodes that depend on it are skipped, so that one run reports all errors. Graphs within
// nodes become nodes of the program.
#include "onnx/import.h"

#include <fnmatch.h>

#include <algorithm>
#include <unordered_map>

#include "onnx/call.h"

namespace rml::onnx {

namespace {

// The values in scope, by their names in the model.
struct Frame {
  Frame* outer = nullptr;
  bool own_node = false;  // the values that it uses from outer frames become inputs of its node
  std::map<std::string, Term> values;
  std::vector<std::pair<Term, Term>> captured;  // pairs of the outer term and the inner one
};

// Returns the length in bytes of the UTF-8 character at `at`, or 0 if there is none.
std::size_t character(const std::string& text, std::size_t at) {
  const auto byte = [&](std::size_t k) { return at + k < text.size() ? static_cast<unsigned char>(text[at + k]) : 0; };
  const unsigned first = byte(0);
  const std::size_t length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  for (std::size_t k = 1; k < length; ++k)
    if ((byte(k) & 0xc0) != 0x80) return 0;
  if (first == 0xe0 && byte(1) < 0xa0) return 0;   // refused, because the sequence is longer than necessary
  if (first == 0xed && byte(1) >= 0xa0) return 0;  // refused, because the bytes encode a surrogate
  if (length == 4 && (first > 0xf4 || (first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) >= 0x90)))
    return 0;
  return length;
}

// Makes text of the model fit for a comment: one line without control characters.
std::string printable(const std::string& text) {
  constexpr std::size_t most = 200;
  std::string clean;
  for (std::size_t at = 0; at < text.size() && clean.size() < most;) {
    const std::size_t length = character(text, at);
    const bool shown = length > 1 || (length == 1 && text[at] >= 0x20 && text[at] != 0x7f);
    clean += shown ? text.substr(at, length) : "?";
    at += std::max<std::size_t>(length, 1);
  }
  return clean;
}

// ---- used nodes

void add_used(const Graph& graph, std::set<std::string>& used);

void add_used(const Node& node, std::set<std::string>& used) {
  used.insert(node.inputs.begin(), node.inputs.end());
  for (const NodeAttribute& a : node.attributes)
    if (const auto* body = std::get_if<std::shared_ptr<const Graph>>(&a.value)) add_used(**body, used);
}

void add_used(const Graph& graph, std::set<std::string>& used) {
  for (const Node& n : graph.nodes) add_used(n, used);
  for (const ValueInfo& v : graph.outputs) used.insert(v.name);
}

// Returns the nodes that the outputs of the graph need, with their positions. Outputs without a
// use lose their names.
std::vector<std::pair<std::size_t, Node>> needed_nodes(const Graph& graph) {
  std::set<std::string> used;
  for (const ValueInfo& v : graph.outputs) used.insert(v.name);
  std::vector<std::pair<std::size_t, Node>> needed;
  for (std::size_t k = graph.nodes.size(); k-- > 0;) {
    const Node& n = graph.nodes[k];
    if (std::ranges::none_of(n.outputs, [&](const std::string& o) { return used.contains(o); })) continue;
    add_used(n, used);
    needed.emplace_back(k, n);
    for (std::string& output : needed.back().second.outputs)
      if (!used.contains(output)) output.clear();
  }
  std::ranges::reverse(needed);
  return needed;
}

// ---- elements with known values

std::int64_t known_elements(const Graph& graph);

std::int64_t known_elements(const std::vector<Node>& nodes) {
  std::int64_t count = 0;
  for (const Node& n : nodes)
    for (const NodeAttribute& a : n.attributes) {
      if (const auto* tensor = std::get_if<Tensor>(&a.value)) count += tensor->elements();
      if (const auto* body = std::get_if<std::shared_ptr<const Graph>>(&a.value)) count += known_elements(**body);
    }
  return count;
}

std::int64_t known_elements(const Graph& graph) {
  std::int64_t count = known_elements(graph.nodes);
  for (const Initializer& t : graph.initializers) count += t.value.elements();
  return count;
}

class Importer : public GraphWriter {
 public:
  Importer(const Model& model, const ImportOptions& options)
      : model_(model), options_(options), growth_(options.most_nodes) {
    b_.weights_file = options.weights_file;
    std::int64_t elements = known_elements(model.graph);
    for (const Function& f : model.functions) elements += known_elements(f.nodes);
    constexpr std::int64_t of_a_node = 512, of_an_element = 64;  // limits that exceed the needs of every real model
    b_.known_work = options.most_nodes * of_a_node + elements * of_an_element;
    b_.streaming = options.stream && options.stream->cycles;
    const auto at = model.opsets.find("");
    opset_ = at == model.opsets.end() ? last_opset : at->second;
  }

  std::variant<Imported, ImportFailure> run() {
    failure_.errors = check_model(model_);
    if (!failure_.errors.empty()) return failure_;
    try {
      const Graph graph = inline_functions(model_, growth_);
      main(graph);
    } catch (const ModelError& error) {
      failure_.errors.push_back(error);
    } catch (const TooLarge& error) {
      failure_ = {};
      failure_.errors.push_back({error.place, error.message});
      return failure_;
    }
    if (!failure_.errors.empty() || !failure_.needed.empty() || failure_.any_needed) return failure_;
    result_.source = source();
    result_.weights = b_.weights();
    result_.weights_file = options_.weights_file;
    return std::move(result_);
  }

  std::vector<Term> inlined(const Graph& graph, const std::vector<Term>& arguments) override {
    expect_inputs(graph, arguments.size());
    Frame frame{frame_, false, {}, {}};
    for (std::size_t k = 0; k < graph.inputs.size(); ++k) frame.values[graph.inputs[k].name] = arguments.at(k);
    return body(graph, frame);
  }

  WrittenNode node_of(const Graph& graph, const std::vector<Term>& like, const std::string& name) override {
    expect_inputs(graph, like.size());
    WrittenNode written{b_.fresh_node(name), {}, {}};
    b_.open(written.name);
    Frame frame{frame_, true, {}, {}};
    for (std::size_t k = 0; k < graph.inputs.size(); ++k)
      frame.values[graph.inputs[k].name] = b_.input(graph.inputs[k].name, like.at(k).dtype, like.at(k).shape);
    const std::vector<Term> outputs = body(graph, frame);
    for (const Term& t : outputs) {
      const std::string as = b_.fresh("y");
      b_.define(as, t);
      b_.output(as, t.dtype, t.shape);
      written.outputs.push_back(Builder::written(as, Term::atom, t.dtype, t.shape));
    }
    for (const auto& [outside, inside] : frame.captured) {
      written.captured.push_back(outside);
      b_.input(inside);
    }
    written.name = b_.close();
    return written;
  }

 private:
  static void expect_inputs(const Graph& graph, std::size_t given) {
    if (graph.inputs.size() != given)
      throw ModelError{"", "its graph " + in_quotes(graph.name) + " has " + std::to_string(graph.inputs.size()) +
                               " inputs, but " + std::to_string(given) + " are given"};
  }

  // Writes the equations of a graph within a node and returns its outputs.
  std::vector<Term> body(const Graph& graph, Frame& frame) {
    frame_ = &frame;
    for (const Initializer& tensor : graph.initializers)
      frame.values[tensor.name] = b_.constant(tensor.value, tensor.name);
    nodes(graph);
    std::vector<Term> outputs;
    for (const ValueInfo& v : graph.outputs) {
      const Term* t = find(frame, v.name);
      if (t == nullptr) {
        frame_ = frame.outer;
        throw Unwritten{};
      }
      outputs.push_back(*t);
    }
    frame_ = frame.outer;
    return outputs;
  }

  void main(const Graph& graph) {
    b_.open("main");
    Frame frame;
    frame_ = &frame;
    for (const Initializer& t : graph.initializers) initial_.insert(t.name);
    for (const auto& [in, out] : options_.states) state_names(graph, in, out);
    for (const ValueInfo& v : graph.inputs)
      if (!initial_.contains(v.name) || state_inputs_.contains(v.name) || options_.fixed.contains(v.name)) input(v);
    for (const ValueInfo& v : graph.outputs)
      if (!reserved_.contains(v.name)) reserved_[v.name] = b_.fresh(v.name);
    for (const Initializer& tensor : graph.initializers) {
      if (state_inputs_.contains(tensor.name))
        begin_.emplace(tensor.name, tensor.value);
      else if (!frame.values.contains(tensor.name))
        initializer(tensor);
    }
    if (!failure_.errors.empty()) return;
    nodes(graph);
    if (options_.all_values)
      every_output(graph);
    else
      for (const ValueInfo& v : graph.outputs) output(v);
    for (const auto& [in, out] : options_.states) memory(in, out);
    if (!options_.all_values) b_.take_out_repeated_blocks();
    b_.close();
  }

  void state_names(const Graph& graph, const std::string& in, const std::string& out) {
    const auto is_named = [](const auto& list, const std::string& name) {
      return std::ranges::any_of(list, [&](const ValueInfo& v) { return v.name == name; });
    };
    if (!is_named(graph.inputs, in))
      failure_.errors.push_back({"state " + in + "=" + out, "the model has no input " + in_quotes(in)});
    if (!is_named(graph.outputs, out))
      failure_.errors.push_back({"state " + in + "=" + out, "the model has no output " + in_quotes(out)});
    state_inputs_[in] = out;
    state_outputs_.insert(out);
  }

  // Returns the extent of a free dimension, or reports an error and returns -1.
  std::int64_t extent(const ValueInfo& v, std::size_t axis) {
    const Dimension& d = (*v.type.shape)[axis];
    const std::string own = v.name + "." + std::to_string(axis);
    if (options_.stream) {
      const auto streamed = options_.stream->axes.find(v.name);
      if (streamed != options_.stream->axes.end() && streamed->second == static_cast<std::int64_t>(axis))
        return options_.stream->steps;
    }
    if (const auto at = options_.dimensions.find(own); at != options_.dimensions.end()) return at->second;
    if (d.extent >= 0) return d.extent;
    if (const auto at = options_.dimensions.find(d.symbol); at != options_.dimensions.end()) return at->second;
    failure_.errors.push_back({"input " + in_quotes(v.name),
                               "dimension " + std::to_string(axis) + (d.symbol.empty() ? "" : ", '" + d.symbol + "',") +
                                   " is not known: set it with --dim " + (d.symbol.empty() ? own : d.symbol) + "=1"});
    return -1;
  }

  void input(const ValueInfo& v) {
    const std::string place = "input " + in_quotes(v.name);
    if (v.type.kind != "tensor") {
      failure_.errors.push_back({place, "it is a " + v.type.kind + ", which is not supported"});
      return;
    }
    const auto dtype = dtype_of(v.type.element_type);
    if (!dtype) {
      failure_.errors.push_back(
          {place, "elements of " + element_type_name(v.type.element_type) + " are not supported"});
      return;
    }
    Shape shape;
    if (const auto at = options_.shapes.find(v.name); at != options_.shapes.end()) {
      shape = at->second;
    } else if (!v.type.shape) {
      failure_.errors.push_back({place, "its shape is missing in the model"});
      return;
    } else {
      for (std::size_t axis = 0; axis < v.type.shape->size(); ++axis) shape.push_back(extent(v, axis));
    }
    if (std::ranges::find(shape, -1) != shape.end()) return;
    if (shape.size() > max_rank || !element_count(shape)) {
      failure_.errors.push_back({place, "its shape " + to_string(shape) + " is too large"});
      return;
    }
    if (const auto at = options_.fixed.find(v.name); at != options_.fixed.end()) {
      if (at->second->dtype() != *dtype)
        failure_.errors.push_back({place, "it is " + std::string(name(*dtype)) + ", but it is fixed to " +
                                              std::string(name(at->second->dtype()))});
      frame_->values[v.name] = b_.constant(at->second, v.name);
      // An initializer with the same name is a default value. Then the input is not a port of the
      // program.
      const std::size_t before = initial_.contains(v.name) ? SIZE_MAX : result_.inputs.size();
      result_.fixed.push_back({v.name, at->second, before});
      return;
    }
    Term term = Builder::written(b_.fresh(v.name), Term::atom, *dtype, shape);
    frame_->values[v.name] = term;
    if (state_inputs_.contains(v.name)) return;
    b_.input(term);
    result_.inputs.push_back({v.name, term.text, *dtype, shape, ""});
  }

  void initializer(const Initializer& tensor) {
    Term known = b_.constant(tensor.value, tensor.name);
    const auto matches = [&](const std::string& pattern) {
      return ::fnmatch(pattern.c_str(), tensor.name.c_str(), 0) == 0;
    };
    const bool trained = has_gradient(tensor.value.dtype()) && std::ranges::any_of(options_.trainable, matches);
    if (!trained) {
      frame_->values[tensor.name] = known;
      return;
    }
    const std::string as = b_.fresh(tensor.name);
    const Term begin = b_.stored(known, as);
    Term term = Builder::written("param(" + begin.text + ")", Term::atom, known.dtype, known.shape);
    b_.define(as, term);
    frame_->values[tensor.name] = Builder::written(as, Term::atom, known.dtype, known.shape);
  }

  void output(const ValueInfo& v) {
    const Term* t = find(*frame_, v.name);
    if (t == nullptr) return;  // the error was already reported
    const std::string place = "output " + in_quotes(v.name);
    const auto declared = dtype_of(v.type.element_type);
    if (v.type.kind != "tensor")
      failure_.errors.push_back({place, "it is a " + v.type.kind + ", which is not supported"});
    else if (v.type.element_type != 0 && declared != t->dtype)
      failure_.errors.push_back({place, "the model declares " + element_type_name(v.type.element_type) +
                                            ", but computes " + std::string(name(t->dtype))});
    if (v.type.shape) {
      bool same = v.type.shape->size() == t->shape.size();
      for (std::size_t k = 0; same && k < t->shape.size(); ++k)
        same = (*v.type.shape)[k].extent < 0 || (*v.type.shape)[k].extent == t->shape[k];
      if (!same && options_.shapes.empty() && options_.dimensions.empty() && !options_.stream)
        failure_.errors.push_back({place, "the model declares another shape than it computes, " + to_string(t->shape)});
    }
    const std::string& as = reserved_.at(v.name);
    if (t->text != as || t->known()) b_.define(as, *t);
    if (state_outputs_.contains(v.name)) return;
    b_.output(as, t->dtype, t->shape);
    result_.outputs.push_back({v.name, as, t->dtype, t->shape, ""});
  }

  // Values without a use are omitted, because a runtime need not compute them.
  void every_output(const Graph& graph) {
    for (const auto& [k, node] : needed_.at(&graph)) {
      for (const std::string& name : node.outputs) {
        if (name.empty()) continue;
        if (!reserved_.contains(name)) reserved_[name] = b_.fresh(name + "_out");
        output({name, {}});
        if (!result_.outputs.empty()) result_.outputs.back().place = describe(graph.nodes[k], k);
      }
    }
  }

  // The state input is the output of the cycle before. In the first cycle it is its default
  // value, or 0.
  void memory(const std::string& in, const std::string& out) {
    const Term *before = find(*frame_, in), *after = find(*frame_, out);
    if (before == nullptr || after == nullptr) return;
    if (before->dtype != after->dtype || before->shape != after->shape) {
      failure_.errors.push_back(
          {"state " + in + "=" + out, "the input is " + Builder::type_text(before->dtype, before->shape) +
                                          ", the output " + Builder::type_text(after->dtype, after->shape)});
      return;
    }
    const auto given = begin_.find(in);
    Tensor begin = given != begin_.end() ? given->second : Tensor(before->dtype, before->shape);
    if (begin.dtype() != before->dtype || begin.shape() != before->shape) {
      failure_.errors.push_back(
          {"initializer " + in_quotes(in), "its type differs from that of the input with the same name"});
      return;
    }
    b_.comment("state: '" + in + "' is '" + out + "' of the cycle before");
    b_.remember(*before, b_.constant(std::move(begin), in + "_0"), reserved_.at(out));
  }

  const Term* find(Frame& frame, const std::string& name) {
    if (const auto at = frame.values.find(name); at != frame.values.end()) return &at->second;
    if (frame.outer == nullptr) return nullptr;
    const Term* outside = find(*frame.outer, name);
    if (outside == nullptr || outside->known() || !frame.own_node) return outside;
    const Term inside = Builder::written(b_.fresh(name), Term::atom, outside->dtype, outside->shape);
    frame.captured.emplace_back(*outside, inside);
    return &(frame.values[name] = inside);
  }

  struct Unwritten {};  // a needed value could not be written; the error has been reported

  void nodes(const Graph& graph) {
    const auto [at, first] = needed_.try_emplace(&graph);
    if (first)
      at->second = needed_nodes(graph);
    else
      growth_.add(static_cast<std::int64_t>(1 + at->second.size() + graph.initializers.size() + graph.outputs.size()),
                  "");
    for (const auto& [position, needed] : at->second) {
      const std::string place = describe(graph.nodes[position], position);
      try {
        node(needed);
      } catch (TooLarge& error) {
        error.place = place + (error.place.empty() ? "" : ", " + error.place);
        throw;
      } catch (const Unwritten&) {
      } catch (ModelError& error) {
        if (error.place.empty()) error.place = place;
        failure_.errors.push_back(error);
      } catch (const NeedsValue& needs) {
        need(needs, place);
      }
    }
  }

  void need(const NeedsValue& needs, const std::string& place) {
    for (const ImportedPort& input : result_.inputs) {
      if (input.name != needs.input) continue;
      failure_.errors.push_back({place, std::string(needs.what) + " is the input '" + input.model_name +
                                            "', but must be known: give its value, --fix " + input.model_name + "=…"});
      failure_.needed.push_back(input.model_name);
      return;
    }
    failure_.any_needed = true;
    failure_.errors.push_back({place, needs.what + " follows from the values of inputs, but must be known"});
  }

  void node(const Node& n) {
    std::vector<std::optional<Term>> operands;
    for (const std::string& input : n.inputs) {
      operands.emplace_back();
      if (input.empty()) continue;
      const Term* t = find(*frame_, input);
      if (t == nullptr) throw Unwritten{};
      operands.back() = *t;
    }
    const Row* row = find_row(n.domain, n.op);
    if (row == nullptr) throw ModelError{"", "operator " + shortened(n.op) + " is not supported"};
    if (const std::string what = mismatch(*row, n); !what.empty()) throw ModelError{"", what};
    b_.comment(printable(n.op + (n.name.empty() ? "" : " '" + n.name + "'")));
    Call call(b_, n, n.domain.empty() ? opset_ : model_.opsets.at(n.domain), std::move(operands), *this);
    const std::vector<Term> outputs = row->lower(call);
    for (std::size_t k = 0; k < n.outputs.size(); ++k) {
      const std::string& output = n.outputs[k];
      if (output.empty()) continue;
      if (k >= outputs.size()) throw ModelError{"", "output " + std::to_string(k) + " is not supported"};
      frame_->values[output] = named(output, outputs[k]);
    }
    b_.comment("");
  }

  Term named(const std::string& output, const Term& term) {
    const auto at = frame_->outer == nullptr ? reserved_.find(output) : reserved_.end();
    if (at == reserved_.end() || term.known() || identifier(term.text) == term.text) return b_.bind(term, output);
    b_.define(at->second, term);
    return Builder::written(at->second, Term::atom, term.dtype, term.shape);
  }

  std::string source() const {
    std::string text = "-- Imported from an ONNX model";
    if (!model_.producer.empty()) text += " made by " + printable(model_.producer);
    text += ", operator set " + std::to_string(opset_) + ".\n\n";
    for (const std::string& c : b_.constants()) text += c + "\n";
    for (const Scope& s : b_.nodes()) {
      const auto list = [](const std::vector<std::string>& items) {
        std::string all;
        for (const std::string& item : items) all += (all.empty() ? "" : ", ") + item;
        return all;
      };
      text += "\nnode " + s.name + "(" + list(s.inputs) + ") -> (" + list(s.outputs) + ")\n";
      for (const Equation& e : s.equations) {
        if (!e.comment.empty()) text += "  -- " + e.comment + "\n";
        text += "  " + e.text + "\n";
      }
    }
    return text;
  }

  const Model& model_;
  const ImportOptions& options_;
  std::int64_t opset_ = last_opset;
  Builder b_;
  Frame* frame_ = nullptr;
  std::map<std::string, std::string> reserved_;  // variable of main for each output of the model
  std::set<std::string> initial_;                // initializers of the graph; an input of such a name has a default
  std::map<std::string, std::string> state_inputs_;
  std::set<std::string> state_outputs_;
  std::map<std::string, Tensor> begin_;  // default value of each state
  Growth growth_;
  // Nodes needed in each graph that was visited so far.
  std::unordered_map<const Graph*, std::vector<std::pair<std::size_t, Node>>> needed_;
  Imported result_;
  ImportFailure failure_;
};

}  // namespace

std::variant<Imported, ImportFailure> import(const Model& model, const ImportOptions& options) {
  return Importer(model, options).run();
}

std::string identifier(const std::string& text) {
  static const std::set<std::string, std::less<>> taken = [] {
    std::set<std::string, std::less<>> words = {"node", "const",  "import", "as",    "if",   "then",  "else",
                                                "fby",  "or",     "and",    "not",   "when", "merge", "post",
                                                "diff", "assert", "true",   "false", "map",  "fold",  "scan",
                                                "load", "param",  "int",    "float", "inf",  "nan",   "main"};
    for (int d = 0; d < dtype_count; ++d) words.insert(std::string(name(static_cast<DType>(d))));
    for (const std::string& op : operators().names()) words.insert(op);
    return words;
  }();
  std::string clean;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (plain)
      clean += c;
    else if (!clean.empty() && clean.back() != '_')
      clean += '_';
  }
  while (!clean.empty() && clean.back() == '_') clean.pop_back();
  if (clean.size() > 100) clean.resize(100);
  if (clean.empty() || (clean[0] >= '0' && clean[0] <= '9')) clean = "v" + clean;
  return taken.contains(clean) ? clean + "_" : clean;
}

}  // namespace rml::onnx

// Imports an ONNX model as a readable R(ML)² program that computes the same.
//
// The graph of the model becomes the node `main`. Its values become equations, with the same
// names if these are identifiers. Its tensors become constants or parameters, which the program
// loads from a weights file. Every shape is known: the options bind free dimensions, and shapes
// that the model computes from shapes are computed here.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "onnx/builder.h"
#include "onnx/growth.h"
#include "onnx/model.h"
#include "semantics/values/limits.h"

namespace rml::onnx {

// The axis of an input that becomes time; its extent is `steps`. With `cycles`, `steps` is 1, and
// recurrent operators keep their state from cycle to cycle.
struct StreamOptions {
  std::map<std::string, std::int64_t> axes;  // the axis along which each input is a stream
  std::int64_t steps = 1;
  bool cycles = true;
};

struct ImportOptions {
  // Extents from --dim, by N for `--dim N=1` or by INPUT.AXIS.
  std::map<std::string, std::int64_t> dimensions;
  std::map<std::string, Shape> shapes;  // shapes of inputs that override those in the model
  // Values of inputs that become constants of the program, from --fix.
  std::map<std::string, std::shared_ptr<const Tensor>> fixed;
  std::vector<std::pair<std::string, std::string>> states;  // pairs of names from --state IN=OUT
  std::vector<std::string> trainable;                       // patterns of initializers that become parameters
  std::optional<StreamOptions> stream;                      // from --stream AXIS
  std::string weights_file = "weights.safetensors";
  std::int64_t most_nodes = Limits{}.nodes;  // limit of nodes that functions and loops may insert
  bool all_values = false;  // every used value of the outermost graph is an output, in the model's order
};

struct ImportedPort {
  std::string model_name, name;  // name in the model, and in the program
  DType dtype = DType::f32;
  Shape shape;
  std::string place;  // name of the node that computes an output added by all_values
};

struct FixedInput {
  std::string model_name;
  std::shared_ptr<const Tensor> value;
  // Index of the first input that follows it in the model; SIZE_MAX if it has a default.
  std::size_t before;
};

struct Imported {
  std::string source;
  std::string weights_file;  // file from which the source loads them
  std::vector<Weight> weights;
  std::vector<ImportedPort> inputs, outputs;
  std::vector<FixedInput> fixed;
};

struct ImportFailure {
  std::vector<ModelError> errors;
  std::vector<std::string> needed;  // inputs whose values must be given by ImportOptions::fixed
  bool any_needed = false;          // true if a value that is computed from inputs must be known
};

std::variant<Imported, ImportFailure> import(const Model&, const ImportOptions&);

// Reports all errors in a model that do not depend on the rules of its operators: names, order,
// versions, unknown operators.
std::vector<ModelError> check_model(const Model&);
// The versions of ai.onnx that the importer supports.
inline constexpr std::int64_t first_opset = 1, last_opset = 27;

// Replaces calls of model-local functions by their bodies. Throws ModelError and TooLarge.
Graph inline_functions(const Model&, Growth&);

}  // namespace rml::onnx

// Import: an ONNX model to an R(ML)2 program that computes the same, as readable source.
//
// The model's graph becomes the node `main`, its values become equations of the same names (as far
// as they are identifiers), its tensors constants or parameters that the program loads from a file
// beside it. Every shape is known: free dimensions are bound by the options, and what a model
// computes from shapes is computed here.
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

// The axis of an input that becomes time: its extent is `steps`. With `cycles` steps is 1, and what
// recurrent operators remember goes from cycle to cycle.
struct StreamOptions {
  std::map<std::string, std::int64_t> axes;  // by input
  std::int64_t steps = 1;
  bool cycles = true;
};

struct ImportOptions {
  std::map<std::string, std::int64_t> dimensions;              // --dim N=1, or INPUT.AXIS=1
  std::map<std::string, Shape> shapes;                         // of inputs, before what the model says
  std::map<std::string, std::shared_ptr<const Tensor>> fixed;  // inputs that are constants of the program
  std::vector<std::pair<std::string, std::string>> states;     // --state IN=OUT
  std::vector<std::string> trainable;                          // initialisers that match one become parameters
  std::optional<StreamOptions> stream;                         // --stream AXIS
  std::string weights_file = "weights.safetensors";
  std::int64_t most_nodes = Limits{}.nodes;  // that functions and loops may insert
  bool all_values = false;  // every value of the outermost graph that is used is an output, in their order
};

struct ImportedPort {
  std::string model_name, name;  // in the model, and in the program
  DType dtype = DType::f32;
  Shape shape;
  std::string place;  // of an output that all_values added: the node
};

struct FixedInput {
  std::string model_name;
  std::shared_ptr<const Tensor> value;
  std::size_t before;  // an index into the inputs: the first one that comes after it in the model; beyond them where
                       // it has a default
};

struct Imported {
  std::string source;
  std::string weights_file;  // what the source loads them from
  std::vector<Weight> weights;
  std::vector<ImportedPort> inputs, outputs;
  std::vector<FixedInput> fixed;
};

struct ImportFailure {
  std::vector<ModelError> errors;
  std::vector<std::string> needed;  // inputs whose values are needed: ImportOptions::fixed mends it
  bool any_needed = false;          // some value computed from inputs is
};

std::variant<Imported, ImportFailure> import(const Model&, const ImportOptions&);

// What is wrong with a model, whatever its operators: names, order, versions, unknown operators. All of it.
std::vector<ModelError> check_model(const Model&);
// The versions of ai.onnx that the importer knows.
inline constexpr std::int64_t first_opset = 1, last_opset = 27;

// Model-local functions replaced by their bodies. Throws ModelError and TooLarge.
Graph inline_functions(const Model&, Growth&);

}  // namespace rml::onnx

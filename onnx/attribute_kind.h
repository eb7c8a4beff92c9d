// The kind of an attribute, with its number in the format (onnx.proto:
// AttributeProto.AttributeType).
#pragma once

namespace rml::onnx {

enum AttributeKind : int {
  undefined,
  one_float,
  one_int,
  one_text,
  one_tensor,
  one_graph,
  floats,
  ints,
  texts,
  tensors,
  graphs
};

}  // namespace rml::onnx

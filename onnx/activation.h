// Formulas of the activations that are both operators of ONNX and activations of its recurrent
// layers.
#pragma once

#include "onnx/builder.h"

namespace rml::onnx {

Term leaky_relu(Builder&, const Term& x, double alpha);        // alpha x if x < 0, otherwise x
Term elu(Builder&, const Term& x, double alpha);               // alpha (exp(x) - 1) if x < 0, otherwise x
Term thresholded_relu(Builder&, const Term& x, double alpha);  // 0 if x <= alpha, otherwise x
Term affine(Builder&, const Term& x, double alpha, double beta);
Term hard_sigmoid(Builder&, const Term& x, double alpha, double beta);  // alpha x + beta, clipped to [0, 1]
Term softsign(Builder&, const Term& x);

}  // namespace rml::onnx

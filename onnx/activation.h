// Activations that are operators of their own and belong to recurrent layers too, by their formulas.
#pragma once

#include "onnx/builder.h"

namespace rml::onnx {

Term leaky_relu(Builder&, const Term& x, double alpha);        // alpha x below 0
Term elu(Builder&, const Term& x, double alpha);               // alpha (exp(x) - 1) below 0
Term thresholded_relu(Builder&, const Term& x, double alpha);  // 0 up to alpha
Term affine(Builder&, const Term& x, double alpha, double beta);
Term hard_sigmoid(Builder&, const Term& x, double alpha, double beta);  // the affine within [0, 1]
Term softsign(Builder&, const Term& x);

}  // namespace rml::onnx

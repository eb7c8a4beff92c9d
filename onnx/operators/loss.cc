// Imports losses of classes: the negated score at the class of each sample, with weights and
// ignored classes.
#include "onnx/call.h"

namespace rml::onnx {

namespace {

using Integers = std::vector<std::int64_t>;

Term likelihood(const Call& c, const Term& x, Term classes) {
  const std::string how = c.text("reduction", "mean");
  if (how != "none" && how != "sum" && how != "mean")
    throw ModelError{"", "the reduction '" + how + "' is not known: none, sum, mean"};
  if (x.rank() < 2 || classes.rank() != x.rank() - 1)
    throw ModelError{
        "", "classes of shape " + to_string(classes.shape) + " do not fit scores of shape " + to_string(x.shape)};
  std::optional<Term> counts;  // weight of each sample, or 0 if it is ignored
  if (c.has("ignore_index")) {
    const Term ignored = c.b.shared(
        c.apply("eq", {classes, c.b.scalar(classes.dtype, static_cast<double>(c.integer("ignore_index", 0)))}));
    classes = c.b.shared(c.apply("select", {ignored, c.b.scalar(classes.dtype, 0), classes}));
    counts = c.apply("select", {ignored, c.b.scalar(x.dtype, 0), c.b.scalar(x.dtype, 1)});
    if (c.has(2))
      counts = c.apply("select", {ignored, c.b.scalar(x.dtype, 0),
                                  c.apply("take", {c.in(2), classes}, {{"axis", std::int64_t{0}}})});
  } else if (c.has(2)) {
    counts = c.apply("take", {c.in(2), classes}, {{"axis", std::int64_t{0}}});
  }
  Integers column(classes.shape);
  column.insert(column.begin() + 1, 1);
  const Term chosen =
      c.apply("gather_elements", {x, c.apply("reshape", {classes}, {{"shape", column}})}, {{"axis", std::int64_t{1}}});
  Term loss = c.apply("negate", {c.apply("reshape", {chosen}, {{"shape", Integers(classes.shape)}})});
  if (counts) {
    counts = c.b.shared(*counts);
    loss = c.apply("mul", {loss, *counts});
  }
  if (how == "none") return loss;
  if (how == "sum" || counts) loss = c.apply("sum", {loss});
  if (how == "sum") return loss;
  return counts ? c.apply("div", {loss, c.apply("sum", {*counts})}) : c.apply("mean", {loss});
}

std::vector<Term> negative_log(Call& c) { return {likelihood(c, c.in(0), c.in(1))}; }

std::vector<Term> softmax_cross_entropy(Call& c) {
  const Term log_probability = c.b.shared(c.apply("log_softmax", {c.in(0)}, {{"axis", std::int64_t{1}}}));
  return {likelihood(c, log_probability, c.in(1)), log_probability};
}

}  // namespace

std::vector<Row> loss_rows() {
  return {
      {"NegativeLogLikelihoodLoss", 12, 2, 3, 1, "ignore_index:i reduction:s", negative_log},
      {"SoftmaxCrossEntropyLoss", 12, 2, 3, 2, "ignore_index:i reduction:s", softmax_cross_entropy},
  };
}

}  // namespace rml::onnx

// Imports operators that select or place elements by indices.
#include "onnx/call.h"

namespace rml::onnx {

namespace {

std::vector<Term> gather(Call& c) {
  return {c.apply("take", {c.in(0), c.in(1)}, {{"axis", normalized(c.integer("axis", 0), c.in(0).rank())}})};
}

std::vector<Term> gather_elements(Call& c) {
  return {c.apply("gather_elements", {c.in(0), c.in(1)}, {{"axis", normalized(c.integer("axis", 0), c.in(0).rank())}})};
}

std::vector<Term> gather_nd(Call& c) {
  return {c.apply("gather_nd", {c.in(0), c.in(1)}, {{"batch_dims", c.integer("batch_dims", 0)}})};
}

std::string reduction(const Call& c) {
  const std::string how = c.text("reduction", "none");
  if (how != "none" && how != "add" && how != "mul" && how != "max" && how != "min")
    throw ModelError{"", "the reduction '" + how + "' is not known: none, add, mul, max, min"};
  return how;
}

std::vector<Term> scatter_elements(Call& c) {
  return {c.apply("scatter_elements", {c.in(0), c.in(1), c.in(2)},
                  {{"axis", normalized(c.integer("axis", 0), c.in(0).rank())}, {"reduction", reduction(c)}})};
}

std::vector<Term> scatter_nd(Call& c) {
  return {c.apply("scatter_nd", {c.in(0), c.in(1), c.in(2)}, {{"reduction", reduction(c)}})};
}

// A negative index counts from the end; an index out of range gives only off values.
std::vector<Term> one_hot(Call& c) {
  Term at = c.in(0);
  const Tensor& given = c.known(1, "the depth");
  if (given.elements() != 1) throw ModelError{"", "the depth must be a scalar"};
  const std::int64_t depth =
      c.apply("cast", {c.b.constant(given)}, {{"dtype", DType::i64}}).value->as<std::int64_t>()[0];
  if (depth < 0) throw ModelError{"", "the depth must not be negative, but is " + std::to_string(depth)};
  const Term values = c.in(2);
  if (values.shape != Shape{2}) throw ModelError{"", "there must be two values, off and on"};
  const std::int64_t axis = normalized(c.integer("axis", -1), at.rank() + 1);
  if (!is_integer(at.dtype)) at = c.apply("cast", {at}, {{"dtype", DType::i64}});
  if (byte_size(at.dtype) < 4) at = c.apply("cast", {at}, {{"dtype", DType::i32}});
  at = c.b.shared(at);
  at = c.b.shared(c.apply("select", {c.apply("lt", {at, c.b.scalar(at.dtype, 0)}),
                                     c.apply("add", {at, c.b.scalar(at.dtype, static_cast<double>(depth))}), at}));
  Term hot = c.apply("one_hot", {at}, {{"depth", depth}}, DType::u8);
  if (axis != at.rank()) {
    std::vector<std::int64_t> axes;
    for (std::int64_t k = 0, from = 0; k <= at.rank(); ++k) axes.push_back(k == axis ? at.rank() : from++);
    hot = c.apply("transpose", {hot}, {{"axes", axes}});
  }
  const auto value = [&](std::int64_t k) {
    const Term one = c.apply("slice", {values},
                             {{"starts", std::vector<std::int64_t>{k}}, {"stops", std::vector<std::int64_t>{k + 1}}});
    return c.apply("reshape", {one}, {{"shape", std::vector<std::int64_t>{}}});
  };
  return {c.apply("select", {c.apply("cast", {hot}, {{"dtype", DType::boolean}}), value(1), value(0)})};
}

std::vector<Term> top(Call& c) {
  const Term x = c.in(0);
  const std::int64_t axis = normalized(c.integer("axis", -1), x.rank());
  const std::int64_t k = c.version < 10 ? c.integer("k", 0) : c.known_integer(1, "the number of elements");
  const std::int64_t extent = x.shape[static_cast<std::size_t>(axis)];
  if (k < 0 || k > extent)
    throw ModelError{"", std::to_string(k) + " elements are needed, but there are only " + std::to_string(extent)};
  const Term at = c.b.shared(c.apply("argtopk", {x}, {{"k", k}, {"axis", axis}, {"largest", c.integer("largest", 1)}}));
  return {c.apply("gather_elements", {x, at}, {{"axis", axis}}), c.apply("cast", {at}, {{"dtype", DType::i64}})};
}

}  // namespace

std::vector<Row> indexing_rows() {
  return {
      {"Gather", 1, 2, 2, 1, "axis:i", gather},
      {"GatherElements", 11, 2, 2, 1, "axis:i", gather_elements},
      {"GatherND", 11, 2, 2, 1, "batch_dims:i", gather_nd},
      {"Scatter", 9, 3, 3, 1, "axis:i", scatter_elements},
      {"ScatterElements", 11, 3, 3, 1, "axis:i reduction:s", scatter_elements},
      {"ScatterND", 11, 3, 3, 1, "reduction:s", scatter_nd},
      {"OneHot", 9, 3, 3, 1, "axis:i", one_hot},
      {"TopK", 1, 1, 2, 2, "axis:i k:i largest:i sorted:i", top},
  };
}

}  // namespace rml::onnx

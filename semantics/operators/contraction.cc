// Converts subscripts and axis lists to contractions; defines the rows of einsum and tensordot.
//
// Subscripts are letters; `...` stands for the axes without a letter, which broadcast to each
// other from the last one. Without `->`, the result has the axes of `...`, then the letters that
// occur once, in alphabetical order.
#include "semantics/operators/contraction.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

#include "semantics/operators/indexing.h"
#include "semantics/operators/kernels.h"
#include "semantics/operators/rules.h"
#include "semantics/operators/scalar.h"

namespace rml {

namespace {

using Operands = std::span<const Tensor* const>;
using dtypes::number;
using Result = std::variant<Contraction, std::string>;

// ---- subscripts ------------------------------------------------------------------------------

struct Subscript {
  std::string letters;                   // letters of the axes, without the ellipsis
  std::size_t dots = std::string::npos;  // position of the ellipsis among the letters
};

struct Subscripts {
  std::vector<Subscript> operands;
  std::optional<Subscript> result;
};

std::variant<Subscripts, std::string> read_subscripts(const std::string& text) {
  Subscripts all;
  Subscript current;
  bool behind_arrow = false;
  const auto end_term = [&] {
    if (behind_arrow)
      all.result = std::exchange(current, {});
    else
      all.operands.push_back(std::exchange(current, {}));
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ') continue;
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      current.letters += c;
    } else if (c == ',' && !behind_arrow) {
      end_term();
    } else if (text.compare(i, 3, "...") == 0 && current.dots == std::string::npos) {
      current.dots = current.letters.size();
      i += 2;
    } else if (text.compare(i, 2, "->") == 0 && !behind_arrow) {
      end_term();
      behind_arrow = true;
      ++i;
    } else {
      return "subscripts \"" + text + "\": '" + text.substr(i, 3) + "' is not a letter, `,`, `...` or `->`";
    }
  }
  end_term();
  return all;
}

class FromSubscripts {
 public:
  FromSubscripts(std::string text, std::span<const Shape> shapes) : text_(std::move(text)), shapes_(shapes) {}

  Result contraction() {
    auto read = read_subscripts(text_);
    if (auto* error = std::get_if<std::string>(&read)) return std::move(*error);
    Subscripts subscripts = std::get<Subscripts>(std::move(read));
    if (subscripts.operands.size() != shapes_.size())
      return "subscripts \"" + text_ + "\" are for " + std::to_string(subscripts.operands.size()) +
             " operands, not for " + std::to_string(shapes_.size());
    for (std::size_t k = 0; k < shapes_.size(); ++k)
      if (std::string error = measure(subscripts.operands[k], k); !error.empty()) return error;
    for (std::size_t k = 0; k < shapes_.size(); ++k) made_.terms.push_back(term(subscripts.operands[k], &shapes_[k]));
    if (!subscripts.result) subscripts.result = implicit();
    if (std::string error = check_result(*subscripts.result); !error.empty()) return error;
    made_.result = term(*subscripts.result, nullptr);
    for (const int index : made_.result.indices) made_.result_shape.push_back(made_.extents[std::size_t(index)]);
    return std::move(made_);
  }

 private:
  int letter(char c) {
    const auto [at, is_new] = letters_.try_emplace(c, static_cast<int>(made_.extents.size()));
    if (is_new) made_.extents.push_back(-1);
    return at->second;
  }
  // The index of an axis that the ellipsis stands for; `from_end` counts from the last of these axes.
  int dotted(std::size_t from_end) {
    while (dots_.size() <= from_end) {
      dots_.push_back(static_cast<int>(made_.extents.size()));
      made_.extents.push_back(1);
    }
    return dots_[from_end];
  }

  std::string measure(const Subscript& s, std::size_t operand) {
    const Shape& shape = shapes_[operand];
    const bool open = s.dots != std::string::npos;
    if (open ? shape.size() < s.letters.size() : shape.size() != s.letters.size())
      return "operand " + std::to_string(operand) + " of \"" + text_ + "\" has " + std::to_string(s.letters.size()) +
             " indices and the shape " + to_string(shape);
    const std::size_t hidden = shape.size() - s.letters.size();
    for (std::size_t k = 0; k < shape.size(); ++k) {
      const std::int64_t extent = shape[k];
      if (open && k >= s.dots && k < s.dots + hidden) {
        std::int64_t& known = made_.extents[std::size_t(dotted(s.dots + hidden - 1 - k))];
        if (known != 1 && extent != 1 && known != extent)
          return "axes of `...` in \"" + text_ + "\" have extents " + std::to_string(known) + " and " +
                 std::to_string(extent);
        if (extent != 1) known = extent;
        continue;
      }
      const char c = s.letters[open && k >= s.dots + hidden ? k - hidden : k];
      std::int64_t& known = made_.extents[std::size_t(letter(c))];
      if (known >= 0 && known != extent)
        return std::string("index ") + c + " of \"" + text_ + "\" has extents " + std::to_string(known) + " and " +
               std::to_string(extent) + " (operand " + std::to_string(operand) + ", shape " + to_string(shape) + ")";
      known = extent;
      ++occurrences_[c];
    }
    return {};
  }

  // Axes of the dots that broadcast are left out. The shape of the result is not yet known; it
  // keeps them all.
  Contraction::Term term(const Subscript& s, const Shape* shape) {
    Contraction::Term t;
    const std::size_t hidden = s.dots == std::string::npos ? 0
                               : shape == nullptr          ? dots_.size()
                                                           : shape->size() - s.letters.size();
    const std::size_t rank = s.letters.size() + hidden;
    for (std::size_t k = 0; k < rank; ++k) {
      const bool inside = hidden > 0 && k >= s.dots && k < s.dots + hidden;
      const int index = inside ? dotted(s.dots + hidden - 1 - k)
                               : letter(s.letters[hidden > 0 && k >= s.dots + hidden ? k - hidden : k]);
      if (inside && shape != nullptr && (*shape)[k] == 1 && made_.extents[std::size_t(index)] != 1) continue;
      t.axes.push_back(k);
      t.indices.push_back(index);
    }
    return t;
  }

  Subscript implicit() const {
    Subscript s;
    s.dots = 0;
    for (const auto& [c, times] : occurrences_)
      if (times == 1) s.letters += c;
    return s;
  }

  std::string check_result(const Subscript& s) const {
    if (s.dots == std::string::npos && !dots_.empty())
      return "the result of \"" + text_ + "\" lacks the `...` of its operands";
    for (std::size_t k = 0; k < s.letters.size(); ++k) {
      const char c = s.letters[k];
      if (!occurrences_.contains(c))
        return std::string("index ") + c + " of the result of \"" + text_ + "\" is in no operand";
      if (s.letters.find(c) != k) return std::string("index ") + c + " is twice in the result of \"" + text_ + "\"";
    }
    return {};
  }

  std::string text_;
  std::span<const Shape> shapes_;
  Contraction made_;
  std::map<char, int> letters_;
  std::map<char, int> occurrences_;
  std::vector<int> dots_;  // indices of the axes that the ellipsis stands for, from the last one on
};

// ---- axis lists ------------------------------------------------------------------------------

// `axes`: the number of axes, or a's axes; `axes_b`: b's axes, if they are given.
Result from_axes(std::span<const Shape> shapes, const Attribute& axes, const Attribute& axes_b) {
  if (shapes.size() != 2) return "tensordot has two operands, not " + std::to_string(shapes.size());
  std::vector<std::int64_t> lists[2];
  if (axes_b.given) {
    lists[0] = axes.integers;
    lists[1] = axes_b.integers;
  } else {
    if (axes.integers.size() != 1) return "axes is one number of axes, unless axes_b is given";
    const std::int64_t n = axes.integers[0];
    for (const Shape& shape : shapes)
      if (n < 0 || n > static_cast<std::int64_t>(shape.size()))
        return "tensordot over " + std::to_string(n) + " axes of " + to_string(shape);
    for (std::int64_t k = 0; k < n; ++k) {
      lists[0].push_back(static_cast<std::int64_t>(shapes[0].size()) - n + k);
      lists[1].push_back(k);
    }
  }
  if (lists[0].size() != lists[1].size())
    return "axes " + to_string(lists[0]) + " and " + to_string(lists[1]) + " are not equally many";
  Contraction made;
  made.terms.resize(2);
  for (const std::size_t s : {0, 1}) {
    const Attribute list{.given = true, .integers = lists[s]};
    if (!reduced_axes(list, shapes[s].size())) return axes_error(list, shapes[s].size());
    made.terms[s].indices.assign(shapes[s].size(), -1);
    for (std::size_t k = 0; k < shapes[s].size(); ++k) made.terms[s].axes.push_back(k);
  }
  for (std::size_t k = 0; k < lists[0].size(); ++k) {
    const std::size_t a = *normalized_axis(lists[0][k], shapes[0].size());
    const std::size_t b = *normalized_axis(lists[1][k], shapes[1].size());
    if (shapes[0][a] != shapes[1][b])
      return "axis " + std::to_string(a) + " of " + to_string(shapes[0]) + " and axis " + std::to_string(b) + " of " +
             to_string(shapes[1]) + " have extents " + std::to_string(shapes[0][a]) + " and " +
             std::to_string(shapes[1][b]);
    made.terms[0].indices[a] = made.terms[1].indices[b] = static_cast<int>(made.extents.size());
    made.extents.push_back(shapes[0][a]);
  }
  for (const std::size_t s : {0, 1}) {
    for (std::size_t k = 0; k < shapes[s].size(); ++k) {
      int& index = made.terms[s].indices[k];
      if (index >= 0) continue;
      index = static_cast<int>(made.extents.size());
      made.extents.push_back(shapes[s][k]);
      made.result.axes.push_back(made.result.indices.size());
      made.result.indices.push_back(index);
      made.result_shape.push_back(shapes[s][k]);
    }
  }
  return made;
}

// ---- adjoints --------------------------------------------------------------------------------

// Applies each entry of `parts` to the contraction. Operands after the original ones are
// adjoints.
Result differentiated(Contraction made, std::span<const Shape> shapes, const std::vector<std::int64_t>& parts) {
  for (const std::int64_t part : parts) {
    const std::size_t adjoint = made.terms.size();
    if (part < 0 || part >= static_cast<std::int64_t>(adjoint))
      return "part " + std::to_string(part) + " of " + std::to_string(adjoint);
    if (shapes[adjoint] != made.result_shape)
      return "the result has the shape " + to_string(made.result_shape) + ", its adjoint " + to_string(shapes[adjoint]);
    Contraction::Term& by = made.terms[static_cast<std::size_t>(part)];
    made.zero = made.zero || !by.read;
    by.read = false;
    Contraction::Term result = by;
    made.terms.push_back(std::exchange(made.result, std::move(result)));
    made.terms.back().read = true;
    made.result_shape = shapes[static_cast<std::size_t>(part)];
  }
  return made;
}

bool contains(const std::vector<int>& list, int index) { return std::ranges::find(list, index) != list.end(); }

}  // namespace

Result contraction_of(const OperatorInfo& row, const Application& app) {
  const bool of_text = row.parameters[0].kind == ParameterKind::text;
  const std::size_t own = of_text ? 1 : 2;
  const bool adjoint = app.attributes.size() > own;
  const std::size_t parts = adjoint ? app.attributes[own].integers.size() : 0;
  if (parts >= app.operand_shapes.size()) return "more parts than operands";
  const std::span<const Shape> shapes = app.operand_shapes.first(app.operand_shapes.size() - parts);
  Result made = of_text ? FromSubscripts(app.attributes[0].text, shapes).contraction()
                        : from_axes(shapes, app.attributes[0], app.attributes[1]);
  if (!adjoint || std::holds_alternative<std::string>(made)) return made;
  return differentiated(std::get<Contraction>(std::move(made)), app.operand_shapes, app.attributes[own].integers);
}

std::vector<std::vector<int>> wanted_indices(const Contraction& c) {
  std::vector<std::vector<int>> wanted;
  for (std::size_t t = 0; t < c.terms.size(); ++t) {
    wanted.emplace_back();
    if (!c.terms[t].read) continue;
    for (const int index : c.terms[t].indices) {
      bool elsewhere = contains(c.result.indices, index);
      for (std::size_t u = 0; u < c.terms.size(); ++u)
        elsewhere = elsewhere || (u != t && c.terms[u].read && contains(c.terms[u].indices, index));
      if (elsewhere && !contains(wanted[t], index)) wanted[t].push_back(index);
    }
  }
  return wanted;
}

std::vector<ContractionStep> contraction_order(const Contraction& c, std::vector<std::vector<int>> terms) {
  std::vector<std::size_t> left;
  for (std::size_t t = 0; t < c.terms.size(); ++t)
    if (c.terms[t].read) left.push_back(t);
  const auto step_of = [&](std::size_t a, std::size_t b) {
    ContractionStep step{a, b, {}, {}, {}, {}, {}};
    const auto needed = [&](int index) {
      if (contains(c.result.indices, index)) return true;
      return std::ranges::any_of(left, [&](std::size_t t) { return t != a && t != b && contains(terms[t], index); });
    };
    for (const int index : terms[a])
      (!contains(terms[b], index) ? step.only_a : needed(index) ? step.common : step.summed).push_back(index);
    for (const int index : terms[b])
      if (!contains(terms[a], index)) step.only_b.push_back(index);
    for (const auto* list : {&step.common, &step.only_a, &step.only_b})
      step.kept.insert(step.kept.end(), list->begin(), list->end());
    return step;
  };
  const auto cost = [&](const ContractionStep& step) {
    double products = 1;
    for (const auto* list : {&step.kept, &step.summed})
      for (const int index : *list) products *= static_cast<double>(c.extents[std::size_t(index)]);
    return products;
  };
  std::vector<ContractionStep> order;
  while (left.size() > 1) {
    ContractionStep best = step_of(left[0], left[1]);
    for (std::size_t i = 0; i < left.size(); ++i) {
      for (std::size_t k = i + 1; k < left.size(); ++k)
        if (ContractionStep step = step_of(left[i], left[k]); cost(step) < cost(best)) best = std::move(step);
    }
    std::erase_if(left, [&](std::size_t t) { return t == best.a || t == best.b; });
    left.push_back(terms.size());
    terms.push_back(best.kept);
    order.push_back(std::move(best));
  }
  return order;
}

namespace {

ShapeResult contracted_shape(const Application& app, const OperatorInfo& row) {
  auto found = contraction_of(row, app);
  if (auto* error = std::get_if<std::string>(&found)) return std::move(*error);
  const Contraction& c = std::get<Contraction>(found);
  for (const ContractionStep& step : contraction_order(c, wanted_indices(c))) {
    Shape between;
    for (const int index : step.kept) between.push_back(c.extents[std::size_t(index)]);
    if (between.size() > max_rank || !element_count(between))
      return "a product of two operands, of shape " + to_string(between) + ", is too large";
  }
  return checked_shape(c.result_shape);
}

// By index: the stride of a term's elements.
std::vector<std::int64_t> strides_by_index(const Contraction& c, const Contraction::Term& term, const Shape& shape) {
  const kernels::Strides dense = kernels::dense_strides(shape);
  std::vector<std::int64_t> strides(c.extents.size(), 0);
  for (std::size_t k = 0; k < term.axes.size(); ++k) strides[std::size_t(term.indices[k])] += dense[term.axes[k]];
  return strides;
}

// Directly by the definition: one product per combination of indices, added to one element of the
// result.
Fault evaluate_contraction(const Application& app, Operands in, Tensor& result, const OperatorInfo& row) {
  const Contraction c = std::get<Contraction>(contraction_of(row, app));
  std::vector<std::vector<std::int64_t>> strides;
  std::vector<const Tensor*> read;
  for (std::size_t t = 0; t < c.terms.size(); ++t) {
    if (!c.terms[t].read) continue;
    strides.push_back(strides_by_index(c, c.terms[t], in[t]->shape()));
    read.push_back(in[t]);
  }
  strides.push_back(strides_by_index(c, c.result, result.shape()));
  kernels::dispatch<number>(result.dtype(), [&]<class T>(T) {
    T* out = result.as<T>();
    std::fill_n(out, result.elements(), T(0));
    if (c.zero || std::ranges::find(c.extents, 0) != c.extents.end()) return;
    std::vector<std::int64_t> at(c.extents.size(), 0), offset(strides.size(), 0);
    for (;;) {
      T factor = T(1);
      for (std::size_t t = 0; t < read.size(); ++t) factor = scalar::Mul{}(factor, read[t]->as<T>()[offset[t]]);
      out[offset.back()] = scalar::Add{}(out[offset.back()], factor);
      std::size_t k = c.extents.size();
      for (;;) {
        if (k-- == 0) return;
        for (std::size_t t = 0; t < offset.size(); ++t) offset[t] += strides[t][k];
        if (++at[k] < c.extents[k]) break;
        for (std::size_t t = 0; t < offset.size(); ++t) offset[t] -= strides[t][k] * c.extents[k];
        at[k] = 0;
      }
    }
  });
  return {};
}

// Rules and evaluation functions do not receive their row, so each row has functions of its own.
enum class Row { einsum, einsum_adjoint, tensordot, tensordot_adjoint };
const OperatorInfo& row_of(Row);

template <Row which>
ShapeResult shape_of_row(const Application& app) {
  return contracted_shape(app, row_of(which));
}
template <Row which>
Fault evaluate_row(const Application& app, const EvaluationContext&, Operands in, Tensor& result) {
  return evaluate_contraction(app, in, result, row_of(which));
}

template <Row which>
OperatorInfo contracting(std::string_view name, std::vector<OperatorParameter> parameters,
                         std::vector<std::string_view> vjp, RowText text) {
  return row(name, std::move(parameters), same(number), shape_of_row<which>, evaluate_row<which>, Lowering::contraction,
             std::move(vjp), text);
}

}  // namespace

std::vector<OperatorInfo> contraction_operators() {
  return {
      contracting<Row::einsum>(
          "einsum", {text_attribute("subscripts"), variadic("x", number)},
          {"einsum_adjoint(subscripts, x..., dy, parts=[part])"},
          {"Einsum",
           "Sums of products of elements with equal indices. The subscripts have a letter for each axis of each "
           "operand, then, after ->, the letters of the result. Indices that the result lacks are summed over. If a "
           "letter occurs twice in an operand, its diagonal is taken. `...` stands for all other axes, which "
           "broadcast. Without ->, the result has the letters that occur once, in alphabetical order.",
           "einsum(\"ij,j->i\", [[1, 2], [3, 4]], [1, 10]) -- [21,43]"}),
      contracting<Row::einsum_adjoint>(
          "einsum_adjoint", {text_attribute("subscripts"), variadic("x", number), integers("parts")},
          {"einsum_adjoint(subscripts, x..., dy, parts=concat(reshape([-1], parts), [part]))"},
          {"",
           "The adjoint of einsum. The operands are those of einsum, then the adjoint of the result; parts=[k] selects "
           "the operand whose adjoint is computed. More parts give the adjoint of that adjoint, and so on.",
           "einsum_adjoint(\"i,i->\", [1, 2], [3, 4], 10, parts=[0]) -- [30,40]"}),
      contracting<Row::tensordot>(
          "tensordot", {operand("a", number), operand("b", number), integers("axes", "2"), integers("axes_b", "all")},
          {"tensordot_adjoint(a, b, dy, axes=axes, axes_b=axes_b, parts=[0])",
           "tensordot_adjoint(a, b, dy, axes=axes, axes_b=axes_b, parts=[1])"},
          {"",
           "Sums of products over the last axes of a and the first axes of b; axes gives their number. With axes_b, "
           "the sums are over the axes listed in axes of a and in axes_b of b. The result has the other axes of a, "
           "then those of b.",
           "tensordot([[1, 2], [3, 4]], [1, 10], 1) -- [21,43]"}),
      contracting<Row::tensordot_adjoint>(
          "tensordot_adjoint",
          {variadic("x", number), integers("axes", "2"), integers("axes_b", "all"), integers("parts")},
          {"tensordot_adjoint(x..., dy, axes=axes, axes_b=axes_b, parts=concat(reshape([-1], parts), [part]))"},
          {"", "The adjoint of tensordot, with the arguments of einsum_adjoint.",
           "tensordot_adjoint([1, 2], [3, 4], 10, axes=1, parts=[0]) -- [30,40]"}),
  };
}

namespace {
const OperatorInfo& row_of(Row which) {
  static const std::vector<OperatorInfo> rows = contraction_operators();
  return rows[static_cast<std::size_t>(which)];
}
}  // namespace

}  // namespace rml

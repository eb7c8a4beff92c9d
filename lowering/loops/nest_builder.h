// Builds a nest, element by element, from loops over a shape.
//
// An axis of extent 1 gets no loop. At the end, axes become one axis if all accesses are contiguous across them:
//
//   loops over [2, 1, 3]:  store %5[3*i + j]  ⟹  store %5[i], i < 6
#pragma once

#include "lowering/loops/scope.h"
#include "lowering/steps/index_map.h"

namespace rml::loops {

class NestBuilder {
 public:
  // Begins a nest. `sums` marks the axes along which elements are combined.
  NestBuilder(Scope&, ValueId of, const Shape& loops, const std::vector<bool>& sums = {});

  // An access with the given strides along each axis of the loops.
  Access at(BufferId, std::int64_t start, const std::vector<std::int64_t>& strides) const;
  Access at(BufferId, const IndexMap&) const;

  // The element of x at the map: loaded, or computed here if x is computed in its users' loops.
  std::uint32_t read(ValueId x, const IndexMap&);
  std::uint32_t read_scalar(ValueId x) { return read(x, {}); }
  // The result of v's operator for these elements.
  std::uint32_t apply(ValueId v, const std::vector<std::uint32_t>& operands);
  // The body of an operator that is composed of others.
  std::uint32_t spell(OperatorId, const std::vector<std::uint32_t>& operands);

  std::uint32_t number(Tensor);
  std::uint32_t number(DType dtype, double value) { return number(Tensor::number(dtype, value)); }
  std::uint32_t index(std::size_t axis);  // yields the index of an axis of the loops
  std::uint32_t load(Access);
  std::uint32_t operation(ScalarOp, std::vector<std::uint32_t> operands);
  std::uint32_t convert(DType to, std::uint32_t operand);
  std::uint32_t is_nan(std::uint32_t operand);
  std::uint32_t call(std::string_view function, std::vector<std::uint32_t> operands);
  void store(Access to, std::uint32_t element) { add(Store{std::move(to), element}, DType::boolean); }
  void sum(Access onto, ScalarOp op, std::uint32_t element) {
    add(Sum{std::move(onto), op, dtype(element), element}, DType::boolean);
  }
  void check(Check c) { add(c, DType::boolean); }

  DType dtype(std::uint32_t element) const { return dtypes_[element]; }
  const Scope& scope() const { return scope_; }
  Nest finish();

 private:
  Access at(BufferId, const Shape&, const IndexMap&) const;
  std::uint32_t add(Element, DType);
  std::uint32_t spell(OperatorId, ValueId, const std::vector<std::uint32_t>& operands);
  std::uint32_t read_again(ValueId x, const IndexMap&);

  struct Seen {
    ValueId value;
    IndexMap map;
    std::uint32_t element;
  };

  Scope& scope_;
  Nest nest_;
  std::vector<std::size_t> axis_;  // by axis of the loops: the axis of the nest; SIZE_MAX: none
  std::vector<DType> dtypes_;      // dtype of each element
  std::vector<Seen> seen_;
};

bool is_half(DType);
Tensor element_of(const Tensor&, std::int64_t);

}  // namespace rml::loops

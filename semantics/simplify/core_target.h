// Writes the parts of definitions (semantics/operators/definition.h) as values of a core.
#pragma once

#include <utility>

#include "semantics/core/core.h"
#include "semantics/operators/definition.h"

namespace rml {

class CoreTarget : public DefinitionTarget {
 public:
  // The values get the clock, the place and the instance of the arguments. `core` must live longer.
  CoreTarget(Core& core, ClockId clock, Span span, InstanceId instance)
      : core_(core), clock_(clock), span_(span), instance_(instance) {}

  Operand constant(Tensor t) override {
    const DType dtype = t.dtype();
    const Shape shape = t.shape();
    return add(core::Const{std::move(t)}, dtype, shape, base_clock);
  }
  Operand apply(OperatorId op, const std::vector<Operand>& operands, std::vector<Attribute> attributes, DType dtype,
                Shape shape) override {
    core::Apply a{op, {}, std::move(attributes), 0};
    for (const Operand& x : operands) a.operands.push_back(ValueId{x.id});
    return add(std::move(a), dtype, std::move(shape));
  }
  Operand add(core::Rhs rhs, DType dtype, Shape shape) { return add(std::move(rhs), dtype, std::move(shape), clock_); }

 private:
  Operand add(core::Rhs rhs, DType dtype, Shape shape, ClockId clock) {
    core_.values.push_back({std::move(rhs), dtype, shape, clock, span_, instance_, {}});
    return {core_.values.size() - 1, dtype, std::move(shape)};
  }

  Core& core_;
  ClockId clock_;
  Span span_;
  InstanceId instance_;
};

}  // namespace rml

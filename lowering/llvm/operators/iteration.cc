// `map`, `fold` and `scan`: a loop over the elements, which calls the body.
//
// The body is a straight program of its own and becomes a function of the module. A large state lies in turns in
// its result and in a buffer beside it, such that what the last round writes is the result; the first round reads
// what the iteration begins with:
//
//   length 3:   begin -> result -> buffer -> result
//
// A small one lies in its result, and is copied back from the buffer: LLVM keeps both in registers.
#include <algorithm>

#include "lowering/llvm/function/function.h"
#include "lowering/llvm/program/program.h"

namespace rml::codegen {

const Emission::IterationBody& Emission::iteration_body(std::uint32_t external) {
  const auto [known, is_new] = bodies_.try_emplace(external);
  if (!is_new) return known->second;
  const ExternalNode& node = core.externals[external];
  const steps::Program& body_program = *program.bodies.at(external);
  EmitOptions own = options;
  own.with_program = own.with_main = own.with_c_interface = false;
  own.program_name = options.program_name + "." + node.symbol;
  Emission inner(body_program, sources, own, module, {target, numeric});
  inner.layout.bias = inner.layout.header_bytes;
  const std::size_t ports = node.inputs.size() + node.outputs.size();
  std::vector<llvm::Type*> types(3 + ports, pointer());
  types[2] = i64();
  llvm::Function* f = inner.function(own.program_name + ".body", i32(), types, false);
  f->addParamAttr(0, llvm::Attribute::NoAlias);
  for (std::size_t k = node.inputs.size(); k < ports; ++k)
    f->addParamAttr(static_cast<unsigned>(3 + k), llvm::Attribute::NoAlias);
  Body body(inner, f, node.symbol, node.span, f->getArg(0));
  body.other_header = f->getArg(1);
  body.cycle = [f]() -> IrValue { return f->getArg(2); };
  const auto argument = [&](std::size_t k) { return f->getArg(static_cast<unsigned>(3 + k)); };
  for (std::size_t k = 0; k < node.inputs.size(); ++k) body.ports.inputs.push_back({nullptr, argument(k), nullptr});
  for (std::size_t k = node.inputs.size(); k < ports; ++k) body.ports.outputs.push_back({argument(k), nullptr});
  emit_straight(body);
  body.finish();
  // Without memory, but constants among the results are kept in cells.
  llvm::Function* begin = nullptr;
  if (std::ranges::any_of(body_program.cells, [](const steps::CellInfo& cell) { return !cell.local; })) {
    begin = inner.function(own.program_name + ".begin", i32(), {pointer()}, false);
    Body first(inner, begin, node.symbol + " (begin)", node.span, begin->getArg(0));
    emit_initial_values(first);
    first.finish();
  }
  inner.debug.finish();
  known->second = {f, begin, inner.layout.state_bytes()};
  return known->second;
}

void Body::iterate(ValueId v, const core::Call& c) {
  const ExternalNode& node = module.core.externals[c.external];
  const Iteration& it = *node.iteration;
  const Emission::IterationBody body = module.iteration_body(c.external);
  const auto held = [&](ValueId operand) -> IrValue {  // its elements in memory
    prepare(operand);
    if (!info(operand).shape.empty()) return address(operand);
    auto* place = variable(memory_type(module.context, info(operand).dtype), "operand");
    store(info(operand).dtype, scalar(operand), place);
    return place;
  };
  std::vector<IrValue> operands, results, others;
  for (const ValueId operand : c.operands) operands.push_back(held(operand));
  const std::vector<ValueId>& used = module.results(v);
  const auto type_of = [&](std::size_t k) {
    return std::pair(it.body[it.body.outputs[k].value].dtype, it.body[it.body.outputs[k].value].shape);
  };
  for (std::size_t k = 0; k < node.outputs.size(); ++k) {
    const auto& [dtype, shape] = k < it.states ? node.outputs[k] : type_of(k);
    results.push_back(used[k].valid() ? result(used[k]) : scratch(dtype, shape, "unused"));
    if (k < it.states) others.push_back(scratch(dtype, shape, "state"));
  }
  const auto is_small = [&](std::size_t k) { return small(node.outputs[k].second); };
  const auto copy_state = [&](std::size_t k, IrValue from) {
    copy_bytes(results[k], from, node.outputs[k].first, node.outputs[k].second);
  };
  for (std::size_t k = 0; k < it.states; ++k)
    if (it.length == 0 || is_small(k)) copy_state(k, operands[k]);
  IrValue own =
      body.scratch_bytes == 0 ? llvm::ConstantPointerNull::get(module.pointer()) : scratch(body.scratch_bytes, now_);
  if (body.begin != nullptr) ir.CreateCall(body.begin, {own});
  IrValue now = it.can_fail ? cycle() : ir.getInt64(0);
  loop(it.length, [&](IrValue round) {
    IrValue position = it.reverse ? ir.CreateSub(constant(it.length - 1), round, "position", true, true) : round;
    IrValue first = ir.CreateICmpEQ(round, constant(0));
    IrValue odd = ir.CreateTrunc(ir.CreateSub(constant(it.length - 1), round), ir.getInt1Ty());
    const auto element = [&](const std::pair<DType, Shape>& whole, IrValue base) {
      Shape shape = whole.second;
      shape.erase(shape.begin());
      return offset(whole.first, base, ir.CreateMul(position, constant(elements(shape)), "", true, true));
    };
    std::vector<IrValue> arguments = {own, header(), now};
    for (std::size_t k = 0; k < operands.size(); ++k) {
      if (k < it.states && is_small(k))
        arguments.push_back(results[k]);
      else if (k < it.states)
        arguments.push_back(ir.CreateSelect(first, operands[k], ir.CreateSelect(odd, results[k], others[k]), "state"));
      else
        arguments.push_back(k < it.states + it.sequences ? element(node.inputs[k], operands[k]) : operands[k]);
    }
    for (std::size_t k = 0; k < results.size(); ++k) {
      if (k < it.states && is_small(k))
        arguments.push_back(others[k]);
      else if (k < it.states)
        arguments.push_back(ir.CreateSelect(odd, others[k], results[k], "next"));
      else
        arguments.push_back(used[k].valid() ? element(node.outputs[k], results[k]) : results[k]);
    }
    IrValue code = ir.CreateCall(body.function, arguments);
    if (it.can_fail) leave_unless_zero(code);
    for (std::size_t k = 0; k < it.states; ++k)
      if (is_small(k)) copy_state(k, others[k]);
  });
}

}  // namespace rml::codegen

// Emits `map`, `fold` and `scan` as a loop over the elements that calls the body.
//
// The body is a straight program of its own and becomes a function of the module. A large state alternates between its
// result and a separate buffer, so that the last round writes the result. The first round reads the initial state:
//
//   length 3:   begin -> result -> buffer -> result
//
// A small state stays in its result, and is copied back from the buffer: LLVM keeps both in registers.
#include "lowering/llvm/operators/iteration.h"

#include <algorithm>

#include "lowering/llvm/statements/initial.h"
#include "lowering/llvm/statements/straight.h"

namespace rml::codegen {

namespace {

const Emission::IterationBody& iteration_body(Emission& module, std::uint32_t external) {
  const auto [known, is_new] = module.iteration_bodies.try_emplace(external);
  if (!is_new) return known->second;
  const ExternalNode& node = module.core.externals[external];
  const steps::Program& body_program = *module.program.bodies.at(external);
  EmitOptions own = module.options;
  own.with_program = own.with_main = own.with_c_interface = false;
  own.program_name = module.options.program_name + "." + node.symbol;
  Emission inner(body_program, own, module);
  inner.layout.bias = inner.layout.header_bytes;
  const std::size_t ports = node.inputs.size() + node.outputs.size();
  std::vector<llvm::Type*> types(3 + ports, module.pointer());
  types[2] = module.i64();
  llvm::Function* f = inner.function(own.program_name + ".body", module.i32(), types, false);
  f->addParamAttr(0, llvm::Attribute::NoAlias);
  for (std::size_t k = node.inputs.size(); k < ports; ++k)
    f->addParamAttr(static_cast<unsigned>(3 + k), llvm::Attribute::NoAlias);
  Function body(inner, f, node.symbol, node.span, f->getArg(0));
  body.other_header = f->getArg(1);
  body.cycle = [f]() -> IrValue { return f->getArg(2); };
  const auto argument = [&](std::size_t k) { return f->getArg(static_cast<unsigned>(3 + k)); };
  for (std::size_t k = 0; k < node.inputs.size(); ++k) body.ports.inputs.push_back({nullptr, argument(k), nullptr});
  for (std::size_t k = node.inputs.size(); k < ports; ++k) body.ports.outputs.push_back({argument(k), nullptr});
  emit_straight(body);
  body.finish();
  // A function that sets the body's cells: a body has no memory, but cells hold its constant results.
  llvm::Function* begin = nullptr;
  if (std::ranges::any_of(body_program.cells, [](const steps::CellInfo& cell) { return !cell.local; })) {
    begin = inner.function(own.program_name + ".begin", module.i32(), {module.pointer()}, false);
    Function first(inner, begin, node.symbol + " (begin)", node.span, begin->getArg(0));
    emit_initial_values(first);
    first.finish();
  }
  inner.debug.finish();
  known->second = {f, begin, inner.layout.state_bytes()};
  return known->second;
}

// The addresses of the elements of an iteration.
struct Places {
  std::vector<IrValue> operands, results;
  std::vector<IrValue> others;  // one per state: the buffer that it uses besides its result
};

// The address of an operand's elements in memory.
IrValue held(Function& f, ValueId operand) {
  f.prepare(operand);
  if (!f.info(operand).shape.empty()) return f.address(operand);
  auto* place = f.variable(memory_type(f.module.context, f.info(operand).dtype), "operand");
  f.store(f.info(operand).dtype, f.scalar(operand), place);
  return place;
}

Places places_of(Function& f, ValueId v, const core::Call& c) {
  const ExternalNode& node = f.module.core.externals[c.external];
  const Iteration& it = *node.iteration;
  Places places;
  for (const ValueId operand : c.operands) places.operands.push_back(held(f, operand));
  const std::vector<ValueId>& used = f.module.results(v);
  const auto type_of = [&](std::size_t k) {
    return std::pair(it.body[it.body.outputs[k].value].dtype, it.body[it.body.outputs[k].value].shape);
  };
  for (std::size_t k = 0; k < node.outputs.size(); ++k) {
    const auto& [dtype, shape] = k < it.states ? node.outputs[k] : type_of(k);
    places.results.push_back(used[k].valid() ? f.result(used[k]) : f.scratch(dtype, shape, "unused"));
    if (k < it.states) places.others.push_back(f.scratch(dtype, shape, "state"));
  }
  return places;
}

bool is_small(const Function& f, const ExternalNode& node, std::size_t state) {
  return f.small(node.outputs[state].second);
}

// The arguments of the body: its scratch, the header, the cycle, then the inputs and outputs of this round.
std::vector<IrValue> arguments_of(Function& f, const ExternalNode& node, const std::vector<ValueId>& used,
                                  const Places& places, IrValue round, IrValue own, IrValue now) {
  auto& ir = f.ir;
  const Iteration& it = *node.iteration;
  const auto& [operands, results, others] = places;
  IrValue position = it.reverse ? ir.CreateSub(f.constant(it.length - 1), round, "position", true, true) : round;
  IrValue first = ir.CreateICmpEQ(round, f.constant(0));
  IrValue odd = ir.CreateTrunc(ir.CreateSub(f.constant(it.length - 1), round), ir.getInt1Ty());
  const auto element = [&](const std::pair<DType, Shape>& whole, IrValue base) {
    Shape shape = whole.second;
    shape.erase(shape.begin());
    return f.offset(whole.first, base, ir.CreateMul(position, f.constant(elements(shape)), "", true, true));
  };
  std::vector<IrValue> arguments = {own, f.header(), now};
  for (std::size_t k = 0; k < operands.size(); ++k) {
    if (k < it.states && is_small(f, node, k))
      arguments.push_back(results[k]);
    else if (k < it.states)
      arguments.push_back(ir.CreateSelect(first, operands[k], ir.CreateSelect(odd, results[k], others[k]), "state"));
    else
      arguments.push_back(k < it.states + it.sequences ? element(node.inputs[k], operands[k]) : operands[k]);
  }
  for (std::size_t k = 0; k < results.size(); ++k) {
    if (k < it.states && is_small(f, node, k))
      arguments.push_back(others[k]);
    else if (k < it.states)
      arguments.push_back(ir.CreateSelect(odd, others[k], results[k], "next"));
    else
      arguments.push_back(used[k].valid() ? element(node.outputs[k], results[k]) : results[k]);
  }
  return arguments;
}

}  // namespace

void emit_iteration(Function& f, ValueId v, const core::Call& c) {
  auto& ir = f.ir;
  const ExternalNode& node = f.module.core.externals[c.external];
  const Iteration& it = *node.iteration;
  const Emission::IterationBody body = iteration_body(f.module, c.external);
  const Places places = places_of(f, v, c);
  const auto copy_state = [&](std::size_t k, IrValue from) {
    f.copy_bytes(places.results[k], from, node.outputs[k].first, node.outputs[k].second);
  };
  for (std::size_t k = 0; k < it.states; ++k)
    if (it.length == 0 || is_small(f, node, k)) copy_state(k, places.operands[k]);
  IrValue own = llvm::ConstantPointerNull::get(f.module.pointer());
  if (body.scratch_bytes > 0) own = f.scratch(body.scratch_bytes, f.now);
  if (body.begin != nullptr) ir.CreateCall(body.begin, {own});
  IrValue now = it.can_fail ? f.cycle() : ir.getInt64(0);
  f.loop(it.length, [&](IrValue round) {
    IrValue code = ir.CreateCall(body.function, arguments_of(f, node, f.module.results(v), places, round, own, now));
    if (it.can_fail) f.leave_unless_zero(code);
    for (std::size_t k = 0; k < it.states; ++k)
      if (is_small(f, node, k)) copy_state(k, places.others[k]);
  });
}

}  // namespace rml::codegen

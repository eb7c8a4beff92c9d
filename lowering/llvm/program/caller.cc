// Accesses the pointers and flags that rmlrt.h passes to push and pop.
#include "lowering/llvm/program/caller.h"

#include "lowering/llvm/function/values.h"
#include "lowering/llvm/queues/operands.h"
#include "lowering/llvm/queues/queue.h"

namespace rml::codegen {

Span program_span(const Emission& module) {
  for (const Port& port : module.core.outputs) {
    if (port.span.file != 0) return port.span;
  }
  return {};
}

std::string program_symbol(const Emission& module, const char* what) {
  return module.options.program_name + "." + what;
}

IrValue caller_pointer(Function& body, IrValue pointers, std::size_t index) {
  return body.ir.CreateLoad(body.module.pointer(),
                            body.ir.CreateConstInBoundsGEP1_64(body.module.pointer(), pointers, index));
}

IrValue caller_flag(Function& body, IrValue flags, std::size_t index) {
  IrValue byte =
      body.ir.CreateLoad(body.ir.getInt8Ty(), body.ir.CreateConstInBoundsGEP1_64(body.ir.getInt8Ty(), flags, index));
  return body.ir.CreateICmpNE(byte, body.ir.getInt8(0), "present");
}

std::vector<IrValue> caller_arrays(llvm::IRBuilder<>& ir, const Emission& module, llvm::Function& f,
                                   const std::vector<c99::InterfaceParameter>& ports) {
  using c99::InterfaceParameter;
  std::vector<IrValue> arrays;
  for (const InterfaceParameter& p : ports) {
    const bool flag = p.role == InterfaceParameter::input_present || p.role == InterfaceParameter::output_present;
    IrValue addresses = f.getArg(2 + (p.of_input() ? 0 : 2) + (flag ? 1 : 0));
    IrValue place = ir.CreateConstInBoundsGEP1_64(module.pointer(), addresses, p.port);
    arrays.push_back(ir.CreateLoad(module.pointer(), place));
  }
  return arrays;
}

// In a network the flag is pushed last: a task that sees it also finds the value.
void enqueue(Function& body, std::size_t k, IrValue pointers, IrValue flags) {
  const Emission& module = body.module;
  const ValueId input = module.core.inputs[k].value;
  const Value& value = module.core[input];
  const QueueId values = module.program.input_queues[k];
  const auto push_value = [&] {
    IrValue from = caller_pointer(body, pointers, k);
    push(body, values, [&](IrValue to) { body.copy_bytes(to, from, value.dtype, value.shape); });
  };
  if (module.always_present(input)) {
    if (values.valid()) push_value();
    return;
  }
  IrValue present = caller_flag(body, flags, k);
  const auto push_if_present = [&] {
    if (values.valid()) body.when(present, push_value);
  };
  if (module.program.network) push_if_present();
  if (k < module.program.input_flags.size() && module.program.input_flags[k].valid())
    push(body, module.program.input_flags[k], [&](IrValue to) { body.store(DType::boolean, present, to); });
  if (!module.program.network) push_if_present();
}

void emit_row(Function& body, IrValue out, IrValue present) {
  auto& ir = body.ir;
  const steps::Emitter& emitter = body.module.program.emitter;
  const auto flag = [&](std::size_t output) { return ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), present, output); };
  // All flags are written, because the caller may use its arrays again. An output that is never present has no operand.
  for (std::size_t output = 0; output < body.module.core.outputs.size(); ++output)
    ir.CreateStore(ir.getInt8(0), flag(output));
  for (const auto& [output, index] : emitter.outputs) {
    const steps::Operand& operand = emitter.operands[index];
    IrValue flag_at = flag(output);
    auto* next = body.new_block("next");
    require(body, operand.when, next, [&](ValueId v) { return body.scalar(v); });
    ir.CreateStore(ir.getInt8(1), flag_at);
    store_value(body, operand.value, caller_pointer(body, out, output));
    ir.CreateBr(next);
    ir.SetInsertPoint(next);
  }
}

}  // namespace rml::codegen

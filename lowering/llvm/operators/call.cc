// Emits calls out of the generated code: external nodes, the kernels of random operators, and parameters that the host
// supplies.
//
// An external node is `void NAME(inputs…, outputs…)`: scalars by value (Booleans as uint8_t), tensors as pointers to
// const, outputs as pointers. Its effects are unknown, so calls keep their order.
#include "lowering/llvm/operators/call.h"

#include <algorithm>
#include <cstddef>

#include "lowering/llvm/function/values.h"
#include "lowering/llvm/operators/iteration.h"
#include "lowering/microcontroller.h"
#include "runtime/base/rmlrt.h"
#include "semantics/operators/definition.h"

namespace rml::codegen {

namespace {

// A way to do without the kernel of the operator.
std::string without_archive(const OperatorInfo& row) {
  const std::string all = std::to_string(most_elements_in_code);
  if (row.definition != nullptr)
    return "up to " + std::to_string(longest_axis_in_code) + " elements along the axis, and " + all +
           " in all, need no archive";
  if (row.matrix != MatrixForm::none)
    return "matrices of up to " + std::to_string(most_rows_in_code) + " rows, and " + all +
           " elements in all, need no archive";
  if (row.random)
    return "--emit c writes random numbers as C code, and --load-params gives parameters values that are not drawn";
  return "this operator needs the archive for operands of any size";
}

// Microcontrollers have no archive of the runtime.
void refuse_on_microcontroller(const Function& f, ValueId v, const core::Apply& a) {
  if (!is_microcontroller(f.module.options.target.triple)) return;
  const OperatorInfo& row = operators()[a.op];
  const Value& x = f.info(row.random || a.operands.empty() ? v : a.operands[0]);
  throw NeedsArchive{row.name, type_string(x.dtype, x.shape),
                     row.kernel.starts_with("rml_lapack_") ? "librmllapack.a" : "librmlrt.a", without_archive(row),
                     f.info(v).span};
}

// Marks how the C ABI widens an integer narrower than int.
void widen(llvm::Function* function, unsigned parameter, DType dtype) {
  if (dtype == DType::i8 || dtype == DType::i16) function->addParamAttr(parameter, llvm::Attribute::SExt);
  if (dtype == DType::u8 || dtype == DType::u16 || dtype == DType::boolean || is_half(dtype))
    function->addParamAttr(parameter, llvm::Attribute::ZExt);
}

// The header of the run. A task has another one of its own.
IrValue of_run(const Function& f) { return f.other_header != nullptr ? f.other_header : f.state; }

}  // namespace

void emit_call(Function& f, ValueId v, const core::Call& c) {
  auto& ir = f.ir;
  const ExternalNode& node = f.module.core.externals[c.external];
  if (node.iteration != nullptr) return emit_iteration(f, v, c);
  std::vector<llvm::Type*> types;
  std::vector<IrValue> arguments;
  if (node.calling != Calling::plain) {
    IrValue place = ir.CreateConstGEP1_64(ir.getInt8Ty(), of_run(f), offsetof(rml_header, ranks));
    arguments.push_back(ir.CreateLoad(f.module.pointer(), place));
    types.push_back(f.module.pointer());
  }
  const auto first = static_cast<unsigned>(arguments.size());
  for (const ValueId operand : c.operands) {
    const Value& x = f.info(operand);
    f.prepare(operand);
    if (x.shape.empty()) {
      IrValue value = f.scalar(operand);
      arguments.push_back(x.dtype == DType::boolean ? ir.CreateZExt(value, ir.getInt8Ty()) : value);
      types.push_back(memory_type(f.module.context, x.dtype));
    } else {
      arguments.push_back(f.address(operand));
      types.push_back(f.module.pointer());
    }
  }
  const std::vector<ValueId>& results = f.module.results(v);
  const bool returns = node.calling == Calling::asks;
  for (std::size_t k = 0; k < results.size() && !returns; ++k) {
    const auto& [dtype, shape] = node.outputs[k];
    arguments.push_back(results[k].valid() ? f.result(results[k]) : f.scratch(dtype, shape, "unused"));
    types.push_back(f.module.pointer());
  }
  llvm::Type* const returned = returns ? memory_type(f.module.context, node.outputs[0].first) : ir.getVoidTy();
  auto* type = llvm::FunctionType::get(returned, types, false);
  const bool apart = f.module.options.externals_apart && node.calling == Calling::plain;
  const std::string name = apart ? external_symbol(node.symbol) : node.symbol;
  // An internal function of the module (such as `grow`) gives up its name for the user's function, whose name is fixed
  // by the linker.
  if (auto* own = f.module.module.getFunction(name); own != nullptr && own->hasLocalLinkage())
    own->setName(name + ".own");
  auto callee = f.module.module.getOrInsertFunction(name, type);
  if (auto* function = llvm::dyn_cast<llvm::Function>(callee.getCallee())) {
    function->setDoesNotThrow();
    for (std::size_t k = 0; k < c.operands.size(); ++k) {
      if (f.info(c.operands[k]).shape.empty())
        widen(function, first + static_cast<unsigned>(k), f.info(c.operands[k]).dtype);
    }
  }
  IrValue answer = ir.CreateCall(callee, arguments);
  if (returns && results[0].valid()) ir.CreateStore(answer, f.result(results[0]));
}

void emit_random(Function& f, ValueId v, const core::Apply& a) {
  auto& ir = f.ir;
  const OperatorInfo& row = operators()[a.op];
  refuse_on_microcontroller(f, v, a);
  const Value& x = f.info(v);
  double parameters[2] = {0, 0};
  std::size_t attribute = 0, number = 0;
  for (const OperatorParameter& p : row.parameters) {
    if (p.kind == ParameterKind::number && number < 2) parameters[number++] = a.attributes[attribute].number;
    if (p.kind != ParameterKind::operand) ++attribute;
  }
  std::vector<llvm::Constant*> extents;
  for (const std::int64_t extent : x.shape) extents.push_back(ir.getInt64(static_cast<std::uint64_t>(extent)));
  auto* real = ir.getDoubleTy();
  auto* type = llvm::FunctionType::get(f.module.i32(),
                                       {f.module.pointer(), ir.getInt8Ty(), f.module.pointer(), f.module.i32(), real,
                                        real, f.module.i64(), f.module.i64(), f.module.i64()},
                                       false);
  auto callee = f.module.module.getOrInsertFunction(std::string(row.kernel), type);
  if (auto* function = llvm::dyn_cast<llvm::Function>(callee.getCallee())) {
    function->setDoesNotThrow();
    function->setOnlyAccessesArgMemory();
    widen(function, 1, DType::u8);
  }
  IrValue seed = ir.CreateLoad(f.module.i64(), f.module.header_field(ir, of_run(f), field::seed));
  IrValue code = ir.CreateCall(
      callee,
      {f.result(v), ir.getInt8(static_cast<std::uint8_t>(x.dtype)), f.module.table("extents", f.module.i64(), extents),
       ir.getInt32(static_cast<std::uint32_t>(x.shape.size())), llvm::ConstantFP::get(real, parameters[0]),
       llvm::ConstantFP::get(real, parameters[1]), seed, ir.getInt64(a.key), f.scalar(a.operands.back())});
  if (row.can_fail) f.check(ir.CreateICmpNE(code, ir.getInt32(0)), RML_FAULT_NUMERIC, f.module.site(v));
}

// A new rml_kernel_call is filled in on the stack for every call; everything but the addresses is constant.
void emit_kernel(Function& f, ValueId v, const core::Apply& a) {
  auto& ir = f.ir;
  const OperatorInfo& row = operators()[a.op];
  refuse_on_microcontroller(f, v, a);
  auto* pointer = f.module.pointer();
  auto *word = f.module.i32(), *wide = f.module.i64();
  const auto field = [&](llvm::StructType* type, IrValue base, unsigned k) {
    return ir.CreateStructGEP(type, base, k);
  };
  const auto integers = [&](const std::vector<std::int64_t>& values) {
    std::vector<llvm::Constant*> constants;
    for (const std::int64_t x : values) constants.push_back(ir.getInt64(static_cast<std::uint64_t>(x)));
    return f.module.table("integers", wide, constants);
  };
  auto* array = llvm::StructType::get(f.module.context, {pointer, pointer, word, word});
  const auto describe = [&](IrValue to, ValueId x, IrValue data) {
    ir.CreateStore(data, field(array, to, 0));
    ir.CreateStore(integers(f.info(x).shape), field(array, to, 1));
    ir.CreateStore(ir.getInt32(static_cast<std::uint32_t>(f.info(x).shape.size())), field(array, to, 2));
    ir.CreateStore(ir.getInt32(static_cast<std::uint32_t>(f.info(x).dtype)), field(array, to, 3));
  };
  auto* operands = f.variable(llvm::ArrayType::get(array, a.operands.size()), "operands");
  for (std::size_t k = 0; k < a.operands.size(); ++k) {
    f.prepare(a.operands[k]);
    describe(ir.CreateConstInBoundsGEP1_64(array, operands, k), a.operands[k], f.address(a.operands[k]));
  }
  auto* to = f.variable(array, "to");
  describe(to, v, f.result(v));

  std::vector<Shape> shapes;
  std::vector<DType> dtypes;
  for (const ValueId x : a.operands) shapes.push_back(f.info(x).shape), dtypes.push_back(f.info(x).dtype);
  const std::int64_t bytes = row.scratch == nullptr ? 0 : row.scratch({dtypes, shapes, a.attributes, f.info(v).dtype});
  IrValue memory = bytes == 0 ? llvm::ConstantPointerNull::get(pointer)
                              : f.at(f.module.layout.scratch(static_cast<std::uint64_t>(bytes), f.now));
  auto* attribute = llvm::StructType::get(f.module.context, {pointer, wide, ir.getDoubleTy()});
  std::vector<llvm::Constant*> attributes;
  for (const Attribute& x : a.attributes) {
    const std::vector<std::int64_t> list = kernel_integers(x);
    auto* count = ir.getInt64(x.given ? list.size() : std::uint64_t(-1));
    attributes.push_back(llvm::ConstantStruct::get(
        attribute, {integers(list), count, llvm::ConstantFP::get(ir.getDoubleTy(), x.number)}));
  }
  auto* type = llvm::StructType::get(f.module.context, {pointer, pointer, pointer, pointer, wide, wide, word, word});
  auto* call = f.variable(type, llvm::StringRef(row.name));
  ir.CreateStore(operands, field(type, call, 0));
  ir.CreateStore(to, field(type, call, 1));
  ir.CreateStore(f.module.table("attributes", attribute, attributes), field(type, call, 2));
  ir.CreateStore(memory, field(type, call, 3));
  ir.CreateStore(ir.getInt32(static_cast<std::uint32_t>(a.operands.size())), field(type, call, 6));
  ir.CreateStore(ir.getInt32(static_cast<std::uint32_t>(attributes.size())), field(type, call, 7));
  auto callee =
      f.module.module.getOrInsertFunction(std::string(row.kernel), llvm::FunctionType::get(word, {pointer}, false));
  if (auto* function = llvm::dyn_cast<llvm::Function>(callee.getCallee())) function->setDoesNotThrow();
  IrValue code = ir.CreateCall(callee, {call});
  if (!row.can_fail) return;
  IrValue value = ir.CreateLoad(wide, field(type, call, 4)), bound = ir.CreateLoad(wide, field(type, call, 5));
  f.check(ir.CreateICmpNE(code, ir.getInt32(0)), code, f.module.site(v), value, bound);
}

// Uses the elements to which the slot points, unless it points to itself, and clears the slot, which serves one
// instant. The unit that keeps the parameter may have to wait for its first instant. So the value is also stored to the
// cell now, for states that are saved in between.
void emit_parameter(Function& f, ValueId v, ValueId init) {
  auto& ir = f.ir;
  f.prepare(init);
  const std::vector<steps::ParameterInfo>& all = f.module.program.parameters;
  const auto row = std::find_if(all.begin(), all.end(), [&](const auto& p) { return p.site == v; });
  IrValue own = f.address(init);
  if (f.module.layout.slots.empty() || row == all.end()) return f.define_at(v, own);
  IrValue slot = f.at(f.module.layout.slots[static_cast<std::size_t>(row - all.begin())]);
  IrValue given = ir.CreateLoad(f.module.pointer(), slot, "given");
  if (!f.module.leads) ir.CreateStore(llvm::ConstantPointerNull::get(f.module.pointer()), slot);
  IrValue nothing = ir.CreateOr(ir.CreateICmpEQ(given, slot), ir.CreateIsNull(given));
  f.define_at(v, ir.CreateSelect(nothing, own, given));
  const auto sites = std::count_if(all.begin(), all.end(), [&](const auto& p) { return p.path == row->path; });
  if (f.module.program.straight || sites != 1 || !row->cell.valid()) return;
  f.forget_packs(row->cell);
  store_value(f, v, f.cell_address(row->cell));
}

}  // namespace rml::codegen

// What comes from outside the equations: external nodes, the kernels of random operators, and
// parameters that the host has given.
//
// An external node is `void NAME(inputs…, outputs…)`: scalars by value (Booleans as
// uint8_t), tensors as pointers to const, outputs as pointers. Its effects are unknown, so
// calls keep their order.
#include <algorithm>
#include <cstddef>

#include "lowering/llvm/function/function.h"
#include "runtime/base/rmlrt.h"

namespace rml::codegen {

namespace {
// How the C ABI widens an integer narrower than int.
void widen(llvm::Function* f, unsigned parameter, DType dtype) {
  if (dtype == DType::i8 || dtype == DType::i16) f->addParamAttr(parameter, llvm::Attribute::SExt);
  if (dtype == DType::u8 || dtype == DType::u16 || dtype == DType::boolean || is_half(dtype))
    f->addParamAttr(parameter, llvm::Attribute::ZExt);
}
}  // namespace

void Body::call(ValueId v, const core::Call& c) {
  const ExternalNode& node = module.core.externals[c.external];
  if (node.iteration != nullptr) return iterate(v, c);
  std::vector<llvm::Type*> types;
  std::vector<IrValue> arguments;
  if (node.calling != Calling::plain) {
    IrValue place = ir.CreateConstGEP1_64(ir.getInt8Ty(), of_run(), offsetof(rml_header, ranks));
    arguments.push_back(ir.CreateLoad(module.pointer(), place));
    types.push_back(module.pointer());
  }
  const auto first = static_cast<unsigned>(arguments.size());
  for (const ValueId operand : c.operands) {
    const Value& x = info(operand);
    prepare(operand);
    if (x.shape.empty()) {
      IrValue value = scalar(operand);
      arguments.push_back(x.dtype == DType::boolean ? ir.CreateZExt(value, ir.getInt8Ty()) : value);
      types.push_back(memory_type(module.context, x.dtype));
    } else {
      arguments.push_back(address(operand));
      types.push_back(module.pointer());
    }
  }
  const std::vector<ValueId>& results = module.results(v);
  const bool returns = node.calling == Calling::asks;
  for (std::size_t k = 0; k < results.size() && !returns; ++k) {
    const auto& [dtype, shape] = node.outputs[k];
    arguments.push_back(results[k].valid() ? result(results[k]) : scratch(dtype, shape, "unused"));
    types.push_back(module.pointer());
  }
  llvm::Type* const returned = returns ? memory_type(module.context, node.outputs[0].first) : ir.getVoidTy();
  auto* type = llvm::FunctionType::get(returned, types, false);
  auto callee = module.module.getOrInsertFunction(node.symbol, type);
  if (auto* f = llvm::dyn_cast<llvm::Function>(callee.getCallee())) {
    f->setDoesNotThrow();
    for (std::size_t k = 0; k < c.operands.size(); ++k) {
      if (info(c.operands[k]).shape.empty()) widen(f, first + static_cast<unsigned>(k), info(c.operands[k]).dtype);
    }
  }
  IrValue answer = ir.CreateCall(callee, arguments);
  if (returns && results[0].valid()) ir.CreateStore(answer, result(results[0]));
}

// The header of the run; that of a task is another.
IrValue Body::of_run() const { return other_header != nullptr ? other_header : state; }

void Body::random(ValueId v, const core::Apply& a) {
  const OperatorInfo& row = operators()[a.op];
  const Value& x = info(v);
  double parameters[2] = {0, 0};
  std::size_t attribute = 0, number = 0;
  for (const OperatorParameter& p : row.parameters) {
    if (p.kind == ParameterKind::number && number < 2) parameters[number++] = a.attributes[attribute].number;
    if (p.kind != ParameterKind::operand) ++attribute;
  }
  std::vector<llvm::Constant*> extents;
  for (const std::int64_t extent : x.shape) extents.push_back(ir.getInt64(static_cast<std::uint64_t>(extent)));
  auto* real = ir.getDoubleTy();
  auto* type = llvm::FunctionType::get(module.i32(),
                                       {module.pointer(), ir.getInt8Ty(), module.pointer(), module.i32(), real, real,
                                        module.i64(), module.i64(), module.i64()},
                                       false);
  auto callee = module.module.getOrInsertFunction(std::string(row.kernel), type);
  if (auto* f = llvm::dyn_cast<llvm::Function>(callee.getCallee())) {
    f->setDoesNotThrow();
    f->setOnlyAccessesArgMemory();
    widen(f, 1, DType::u8);
  }
  IrValue seed = ir.CreateLoad(module.i64(), module.header_field(ir, of_run(), field::seed));
  IrValue code = ir.CreateCall(
      callee,
      {result(v), ir.getInt8(static_cast<std::uint8_t>(x.dtype)), module.table("extents", module.i64(), extents),
       ir.getInt32(static_cast<std::uint32_t>(x.shape.size())), llvm::ConstantFP::get(real, parameters[0]),
       llvm::ConstantFP::get(real, parameters[1]), seed, ir.getInt64(a.key), scalar(a.operands.back())});
  if (row.can_fail) check(ir.CreateICmpNE(code, ir.getInt32(0)), RML_FAULT_NUMERIC, module.site(v));
}

// The rml_kernel_call is made anew for every call, in the frame; all but the addresses is constant.
void Body::kernel(ValueId v, const core::Apply& a) {
  const OperatorInfo& row = operators()[a.op];
  auto* pointer = module.pointer();
  auto *word = module.i32(), *wide = module.i64();
  const auto field = [&](llvm::StructType* type, IrValue base, unsigned k) {
    return ir.CreateStructGEP(type, base, k);
  };
  const auto integers = [&](const std::vector<std::int64_t>& values) {
    std::vector<llvm::Constant*> constants;
    for (const std::int64_t x : values) constants.push_back(ir.getInt64(static_cast<std::uint64_t>(x)));
    return module.table("integers", wide, constants);
  };
  auto* array = llvm::StructType::get(module.context, {pointer, pointer, word, word});
  const auto describe = [&](IrValue to, ValueId x, IrValue data) {
    ir.CreateStore(data, field(array, to, 0));
    ir.CreateStore(integers(info(x).shape), field(array, to, 1));
    ir.CreateStore(ir.getInt32(static_cast<std::uint32_t>(info(x).shape.size())), field(array, to, 2));
    ir.CreateStore(ir.getInt32(static_cast<std::uint32_t>(info(x).dtype)), field(array, to, 3));
  };
  auto* operands = variable(llvm::ArrayType::get(array, a.operands.size()), "operands");
  for (std::size_t k = 0; k < a.operands.size(); ++k) {
    prepare(a.operands[k]);
    describe(ir.CreateConstInBoundsGEP1_64(array, operands, k), a.operands[k], address(a.operands[k]));
  }
  auto* to = variable(array, "to");
  describe(to, v, result(v));

  std::vector<Shape> shapes;
  std::vector<DType> dtypes;
  for (const ValueId x : a.operands) shapes.push_back(info(x).shape), dtypes.push_back(info(x).dtype);
  const std::int64_t bytes = row.scratch == nullptr ? 0 : row.scratch({dtypes, shapes, a.attributes, info(v).dtype});
  IrValue memory = bytes == 0 ? llvm::ConstantPointerNull::get(pointer)
                              : at(module.layout.scratch(static_cast<std::uint64_t>(bytes), now_));
  auto* attribute = llvm::StructType::get(module.context, {pointer, wide, ir.getDoubleTy()});
  std::vector<llvm::Constant*> attributes;
  for (const Attribute& x : a.attributes) {
    const std::vector<std::int64_t> list = kernel_integers(x);
    auto* count = ir.getInt64(x.given ? list.size() : std::uint64_t(-1));
    attributes.push_back(llvm::ConstantStruct::get(
        attribute, {integers(list), count, llvm::ConstantFP::get(ir.getDoubleTy(), x.number)}));
  }
  auto* type = llvm::StructType::get(module.context, {pointer, pointer, pointer, pointer, wide, wide, word, word});
  auto* call = variable(type, llvm::StringRef(row.name));
  ir.CreateStore(operands, field(type, call, 0));
  ir.CreateStore(to, field(type, call, 1));
  ir.CreateStore(module.table("attributes", attribute, attributes), field(type, call, 2));
  ir.CreateStore(memory, field(type, call, 3));
  ir.CreateStore(ir.getInt32(static_cast<std::uint32_t>(a.operands.size())), field(type, call, 6));
  ir.CreateStore(ir.getInt32(static_cast<std::uint32_t>(attributes.size())), field(type, call, 7));
  auto callee =
      module.module.getOrInsertFunction(std::string(row.kernel), llvm::FunctionType::get(word, {pointer}, false));
  if (auto* f = llvm::dyn_cast<llvm::Function>(callee.getCallee())) f->setDoesNotThrow();
  IrValue code = ir.CreateCall(callee, {call});
  if (!row.can_fail) return;
  IrValue value = ir.CreateLoad(wide, field(type, call, 4)), bound = ir.CreateLoad(wide, field(type, call, 5));
  check(ir.CreateICmpNE(code, ir.getInt32(0)), code, module.site(v), value, bound);
}

// The elements behind the slot, unless it points to itself; it is emptied, as its one instant is this one.
// The unit that keeps the parameter may have to wait for its first instant: the cell has the value from
// now on, for states that are saved meanwhile.
void Body::parameter(ValueId v, ValueId init) {
  prepare(init);
  const std::vector<steps::ParameterInfo>& all = module.program.parameters;
  const auto row = std::find_if(all.begin(), all.end(), [&](const auto& p) { return p.site == v; });
  IrValue own = address(init);
  if (module.layout.slots.empty() || row == all.end()) return define_at(v, own);
  IrValue slot = at(module.layout.slots[static_cast<std::size_t>(row - all.begin())]);
  IrValue given = ir.CreateLoad(module.pointer(), slot, "given");
  if (!module.leads) ir.CreateStore(llvm::ConstantPointerNull::get(module.pointer()), slot);
  IrValue nothing = ir.CreateOr(ir.CreateICmpEQ(given, slot), ir.CreateIsNull(given));
  define_at(v, ir.CreateSelect(nothing, own, given));
  const auto sites = std::count_if(all.begin(), all.end(), [&](const auto& p) { return p.path == row->path; });
  if (module.program.straight || sites != 1 || !row->cell.valid()) return;
  forget_packs(row->cell);
  store_value(v, cell_address(row->cell));
}

}  // namespace rml::codegen

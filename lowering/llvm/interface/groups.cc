// Emits the functions on groups of states (groups.h). If some lanes may not be stepped together, the group is stepped
// on a copy, which replaces it only on success.
#include "lowering/llvm/interface/groups.h"

#include <algorithm>
#include <utility>

#include "lowering/llvm/function/function.h"
#include "lowering/llvm/interface/each_group.h"
#include "lowering/llvm/interface/faults.h"
#include "lowering/llvm/interface/pieces.h"
#include "lowering/llvm/interface/step_many.h"
#include "lowering/llvm/interface/wide_step.h"

namespace rml::codegen {

namespace {

struct Groups {
  Emission& module;
  llvm::Function* step;
  const std::vector<InterfaceParameter>& ports;
  const std::vector<Piece> pieces, copied = joined(pieces);
  const std::uint64_t kept_bytes = bytes_of(pieces);
  const WideStep in_lanes = emit_wide_step(module, *step, kept_bytes, symbol("_group_wide"));
  const std::uint64_t lanes = in_lanes.lanes;
  const bool faults = can_fault(module.program);

  std::string symbol(const char* what) const { return module.options.program_name + what; }
  DType dtype(const InterfaceParameter& p) const { return dtype_of(module.core, p); }
  llvm::Type* type(const InterfaceParameter& p) const { return memory_type(module.context, dtype(p)); }

  // Copies between lane `lane` (i64) of a group and a state.
  void copy_lane(Function& f, IrValue group, IrValue lane, IrValue state, bool out) const;
  IrValue lane_of(Function& f, IrValue groups, IrValue k, IrValue& group) const;
  llvm::AllocaInst* state_variable(Function& f) const;
  void export_as(const char* what, llvm::Function* inner, bool returns) const;
  llvm::Function* declare(const std::string& name, llvm::Type* result, unsigned before) const;
  void emit_init() const;
  void emit_copy(const char* what, bool out) const;
  llvm::Function* emit_lane() const;
  llvm::Function* emit_group() const;
  void emit_step() const;
};

// Elements of lane `lane`, `distance` (i64) apart, which are copied to consecutive memory, or back.
struct LaneElements {
  llvm::Type* type;
  std::int64_t count;
  llvm::Align align;
  IrValue first, distance;
};

void copy_elements(Function& f, const LaneElements& e, IrValue lane, IrValue own, bool out) {
  auto& ir = f.ir;
  f.loop(e.count, [&](IrValue i) {
    IrValue index = ir.CreateZExtOrTrunc(i, ir.getInt64Ty());
    IrValue to = ir.CreateInBoundsGEP(e.type, e.first, ir.CreateAdd(ir.CreateMul(index, e.distance), lane));
    IrValue from = ir.CreateInBoundsGEP(e.type, own, index);
    if (out) std::swap(to, from);
    ir.CreateAlignedStore(ir.CreateAlignedLoad(e.type, from, e.align), to, e.align);
  });
}

void Groups::copy_lane(Function& f, IrValue group, IrValue lane, IrValue state, bool out) const {
  auto& ir = f.ir;
  for (const Piece& piece : copied) {
    IrValue first = ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), group, piece.offset * lanes);
    IrValue own = ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), state, piece.offset);
    llvm::Type* const type = ir.getIntNTy(static_cast<unsigned>(8 * piece.bytes));
    copy_elements(f, {type, piece.count, llvm::Align(piece.bytes), first, ir.getInt64(lanes)}, lane, own, out);
  }
}

llvm::AllocaInst* Groups::state_variable(Function& f) const {
  auto* state =
      f.variable(llvm::ArrayType::get(f.ir.getInt8Ty(), std::max(module.layout.state_bytes(), kept_bytes)), "state");
  state->setAlignment(llvm::Align(StateLayout::state_align));
  return state;
}

llvm::Function* Groups::declare(const std::string& name, llvm::Type* result, unsigned before) const {
  std::vector<llvm::Type*> types(before + ports.size(), module.i64());
  types[0] = module.pointer();
  for (std::size_t k = 0; k < ports.size(); ++k) types[before + k] = module.pointer();
  auto* f = module.function(name, result, types, false);
  f->addParamAttr(0, llvm::Attribute::NoAlias);
  for (unsigned k = 0; k < ports.size(); ++k) f->addParamAttr(before + k, llvm::Attribute::NoAlias);
  return f;
}

// Exports the function under its name. If it cannot fault, the exported function returns nothing.
void Groups::export_as(const char* what, llvm::Function* inner, bool returns) const {
  if (returns) {
    inner->setName(symbol(what));
    inner->setLinkage(llvm::GlobalValue::ExternalLinkage);
    return;
  }
  inner->addFnAttr(llvm::Attribute::AlwaysInline);
  std::vector<llvm::Type*> types;
  for (const llvm::Argument& a : inner->args()) types.push_back(a.getType());
  auto* outer = module.function(symbol(what), llvm::Type::getVoidTy(module.context), types, true);
  llvm::IRBuilder<> ir(llvm::BasicBlock::Create(module.context, "entry", outer));
  std::vector<IrValue> arguments;
  for (llvm::Argument& a : outer->args()) arguments.push_back(&a);
  ir.CreateCall(inner, arguments);
  ir.CreateRetVoid();
}

IrValue Groups::lane_of(Function& f, IrValue groups, IrValue k, IrValue& group) const {
  IrValue width = f.ir.getInt64(lanes);
  group = f.ir.CreateInBoundsGEP(f.ir.getInt8Ty(), groups,
                                 f.ir.CreateMul(f.ir.CreateUDiv(k, width), f.ir.getInt64(in_lanes.group_bytes)));
  return f.ir.CreateURem(k, width);
}

void Groups::emit_init() const {
  auto* inner = module.function(symbol("_group_init.body"), module.i32(), {module.pointer(), module.i64()}, false);
  Function f(module, inner, module.core.entry + " (group)", {}, inner->getArg(0));
  auto* state = state_variable(f);
  f.ir.CreateCall(module.module.getFunction(symbol("_init")), {state});
  IrValue width = f.ir.getInt64(lanes);
  f.loop(f.ir.CreateMul(count_groups(f, inner->getArg(1), lanes), width), [&](IrValue k) {
    IrValue group = nullptr;
    IrValue lane = lane_of(f, inner->getArg(0), k, group);
    copy_lane(f, group, lane, state, false);
  });
  f.finish();
  export_as("_group_init", inner, false);
}

void Groups::emit_copy(const char* what, bool out) const {
  auto* inner =
      module.function(symbol(what) + ".body", module.i32(), {module.pointer(), module.i64(), module.pointer()}, false);
  Function f(module, inner, module.core.entry + " (group)", {}, inner->getArg(0));
  IrValue group = nullptr;
  IrValue lane = lane_of(f, inner->getArg(0), inner->getArg(1), group);
  copy_lane(f, group, lane, inner->getArg(2), out);
  f.finish();
  export_as(what, inner, false);
}

// i32 (group, lane, distance, ports…): NODE_step for one lane; ports point to those of the group's first lane.
llvm::Function* Groups::emit_lane() const {
  auto* made = declare(symbol("_group_lane"), module.i32(), 3);
  made->addFnAttr(llvm::Attribute::NoInline);
  Function f(module, made, module.core.entry + " (lane)", {}, made->getArg(0));
  auto& ir = f.ir;
  IrValue lane = made->getArg(1), distance = made->getArg(2);
  auto* state = state_variable(f);
  copy_lane(f, made->getArg(0), lane, state, true);
  std::vector<IrValue> arguments = {state};
  const auto transfer = [&](unsigned k, IrValue own, bool out) {
    const llvm::Align align(byte_size(dtype(ports[k])));
    copy_elements(f, {type(ports[k]), ports[k].elements, align, made->getArg(k + 3), distance}, lane, own, out);
  };
  for (unsigned k = 0; k < ports.size(); ++k) {
    auto* own =
        f.variable(llvm::ArrayType::get(type(ports[k]), static_cast<std::uint64_t>(ports[k].elements)), ports[k].name);
    transfer(k, own, true);  // outputs are copied in too: an absent output keeps its memory
    const bool by_value = ports[k].of_input() && !step->getArg(k + 1)->getType()->isPointerTy();
    arguments.push_back(by_value ? static_cast<IrValue>(ir.CreateLoad(type(ports[k]), own)) : own);
  }
  IrValue code = ir.CreateCall(step, arguments);
  for (unsigned k = 0; k < ports.size(); ++k)
    if (!ports[k].of_input()) transfer(k, arguments[k + 1], false);
  copy_lane(f, made->getArg(0), lane, state, false);
  f.leave_unless_zero(code);
  f.finish();
  return made;
}

// i1 (group, distance, ports…): returns whether all lanes were stepped together. If that may be refused, it works on a
// copy, which is then discarded.
llvm::Function* Groups::emit_group() const {
  llvm::Function* const wide = in_lanes.wide;
  const bool gives_up = std::ranges::any_of(*wide, [](const llvm::BasicBlock& block) {
    const auto* ret = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator());
    return ret != nullptr && llvm::cast<llvm::ConstantInt>(ret->getReturnValue())->isOne() && !llvm::pred_empty(&block);
  });
  wide->addFnAttr(llvm::Attribute::AlwaysInline);
  auto* made = declare(symbol("_group_lanes"), llvm::Type::getInt1Ty(module.context), 2);
  made->addFnAttr(llvm::Attribute::AlwaysInline);
  llvm::IRBuilder<> ir(llvm::BasicBlock::Create(module.context, "entry", made));
  std::vector<IrValue> arguments;
  for (llvm::Argument& a : made->args()) arguments.push_back(&a);
  if (!gives_up) {
    ir.CreateCall(wide, arguments);
    ir.CreateRet(ir.getTrue());
    return made;
  }
  const llvm::Align align(8);
  auto* copy = ir.CreateAlloca(llvm::ArrayType::get(ir.getInt8Ty(), in_lanes.group_bytes));
  copy->setAlignment(llvm::Align(StateLayout::state_align));
  ir.CreateMemCpy(copy, align, made->getArg(0), align, in_lanes.group_bytes);
  arguments[0] = copy;
  IrValue given_up = ir.CreateCall(wide, arguments);
  auto* done = llvm::BasicBlock::Create(module.context, "done", made);
  auto* leave = llvm::BasicBlock::Create(module.context, "leave", made);
  ir.CreateCondBr(given_up, leave, done);
  ir.SetInsertPoint(done);
  ir.CreateMemCpy(made->getArg(0), align, copy, align, in_lanes.group_bytes);
  ir.CreateBr(leave);
  ir.SetInsertPoint(leave);
  ir.CreateRet(ir.CreateNot(given_up));
  return made;
}

void Groups::emit_step() const {
  llvm::Function *group_step = emit_group(), *lane_step = emit_lane();
  auto* inner = declare(symbol("_group_step.body"), module.i32(), 2);
  Function f(module, inner, module.core.entry + " (group)", {}, inner->getArg(0));
  auto& ir = f.ir;
  IrValue n = inner->getArg(1);
  const auto add_places = [&](std::vector<IrValue>& arguments, IrValue g, IrValue first) {
    arguments[0] = ir.CreateInBoundsGEP(ir.getInt8Ty(), f.state, ir.CreateMul(g, ir.getInt64(in_lanes.group_bytes)));
    for (unsigned k = 0; k < ports.size(); ++k)
      arguments.push_back(ir.CreateInBoundsGEP(type(ports[k]), inner->getArg(k + 2), first));
  };
  step_groups(f, n, lanes,
              {[&](IrValue g, IrValue first) -> IrValue {
                 std::vector<IrValue> arguments = {nullptr, n};
                 add_places(arguments, g, first);
                 return ir.CreateCall(group_step, arguments);
               },
               [&](IrValue g, IrValue first, IrValue lane) -> IrValue {
                 std::vector<IrValue> arguments = {nullptr, lane, n};
                 add_places(arguments, g, first);
                 return ir.CreateCall(lane_step, arguments);
               }});
  export_as("_group_step", inner, faults);
}

}  // namespace

void emit_groups(Emission& module, llvm::Function* step, const std::vector<InterfaceParameter>& ports,
                 const std::vector<std::pair<std::size_t, std::uint64_t>>& kept, StateStruct& found) {
  const Groups groups{module, step, ports, pieces_of(module, kept)};
  groups.emit_init();
  groups.emit_copy("_group_get", true);
  groups.emit_copy("_group_put", false);
  groups.emit_step();
  const StepInLanes apart{groups.in_lanes, *step, ports, groups.pieces};
  llvm::Function* const many = emit_step_many(module, apart);
  if (many != nullptr) groups.export_as("_step_many", many, groups.faults);
  groups.in_lanes.scalar->eraseFromParent();
  found.has_step_many = many != nullptr;
  found.lanes = static_cast<std::uint32_t>(groups.lanes);
  found.group_bytes = groups.in_lanes.group_bytes;
}

}  // namespace rml::codegen

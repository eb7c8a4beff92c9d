// Widens a scalar form instruction by instruction (widen.h).
#include "lowering/llvm/lanes/widen.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include <vector>

#include "lowering/llvm/lanes/refused.h"
#include "lowering/llvm/lanes/scalar_form.h"
#include "lowering/llvm/lanes/varying.h"

namespace rml::codegen {

namespace {

// The layout of an object in lanes: an element at `offset` bytes from its beginning moves to scale times that.
struct Object {
  llvm::Value* begin = nullptr;
  llvm::Value* scale = nullptr;  // the scale in lanes; null: the scale is a constant, the same for all lanes
};

class Widening {
 public:
  Widening(llvm::Function& scalar, const Masks& masks, unsigned lanes, const llvm::Twine& name);
  llvm::Function* run();

 private:
  llvm::FixedVectorType* wide(llvm::Type* type) const { return llvm::FixedVectorType::get(type, lanes_); }
  bool varies(const llvm::Value* v) const { return varying_.contains(v); }
  // The value of all lanes as a vector. `uniform`: a value that is the same in all lanes, as a scalar.
  llvm::Value* vector(llvm::Value* v);
  llvm::Value* uniform(llvm::Value* v);
  llvm::Value* operand(llvm::Value* v, bool as_vector) { return as_vector ? vector(v) : uniform(v); }
  // The mask of the current block; null: all lanes.
  llvm::Value* mask() { return mask_ == nullptr ? nullptr : vector(mask_); }
  llvm::Value* all_or_mask() {
    return mask_ == nullptr ? llvm::Constant::getAllOnesValue(wide(ir_.getInt1Ty())) : vector(mask_);
  }

  void place_arguments();
  void widen_block(llvm::BasicBlock& block);
  void fill_phis();
  void widen(llvm::Instruction& i);
  llvm::Value* compute(llvm::Instruction& i, bool as_vector);
  llvm::Value* compute_call(llvm::CallInst& call, bool as_vector);
  llvm::Value* call_by_lane(llvm::CallInst& call);
  llvm::Value* divide(llvm::BinaryOperator& division);
  void check(llvm::CallInst& call);
  void branch(llvm::BranchInst& branch);

  Object object(llvm::Value* address, const llvm::Instruction& user);
  bool offset_varies(const llvm::Value* address) const;
  // The distance (i64) of the address from the beginning of its object.
  llvm::Value* offset(llvm::Value* address, bool as_vector);
  // The address of the first lane's element, which the other lanes follow; `places`: one address per lane.
  llvm::Value* place(const Object& o, llvm::Value* address);
  llvm::Value* places(const Object& o, llvm::Value* address, std::uint64_t size);
  llvm::Value* load(llvm::LoadInst& load);
  void store(llvm::StoreInst& store);
  llvm::Align align_of(const Object& o, llvm::Align one, std::uint64_t size) const;

  llvm::Function& scalar_;
  const Masks& masks_;
  const unsigned lanes_;
  const llvm::DataLayout& data_;
  const Varying varying_;
  llvm::Function* const made_;
  llvm::IRBuilder<> ir_;
  llvm::BasicBlock* leave_ = nullptr;
  llvm::Value* mask_ = nullptr;
  llvm::DenseMap<const llvm::Value*, llvm::Value*> values_;
  llvm::DenseMap<const llvm::Value*, Object> objects_;
  llvm::DenseMap<const llvm::BasicBlock*, llvm::BasicBlock*> begins_, ends_;
};

llvm::Function* declare(llvm::Function& scalar, const llvm::Twine& name) {
  llvm::LLVMContext& context = scalar.getContext();
  auto* pointer = llvm::PointerType::get(context, 0);
  std::vector<llvm::Type*> types(scalar.arg_size() + 1, pointer);
  types[1] = llvm::Type::getInt64Ty(context);
  auto* type = llvm::FunctionType::get(llvm::Type::getInt1Ty(context), types, false);
  auto* made = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, scalar.getParent());
  for (llvm::Argument& argument : made->args())
    if (argument.getType()->isPointerTy()) argument.addAttr(llvm::Attribute::NoAlias);
  made->setDoesNotThrow();
  return made;
}

Widening::Widening(llvm::Function& scalar, const Masks& masks, unsigned lanes, const llvm::Twine& name)
    : scalar_(scalar),
      masks_(masks),
      lanes_(lanes),
      data_(scalar.getDataLayout()),
      varying_(scalar),
      made_(declare(scalar, name)),
      ir_(scalar.getContext()) {}

llvm::Value* Widening::uniform(llvm::Value* v) {
  if (llvm::isa<llvm::Constant>(v)) return v;
  return values_.at(v);
}

llvm::Value* Widening::vector(llvm::Value* v) {
  if (varies(v)) return values_.at(v);
  if (auto* constant = llvm::dyn_cast<llvm::Constant>(v))
    return llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(lanes_), constant);
  return ir_.CreateVectorSplat(lanes_, values_.at(v));
}

// ---- memory ----

Object Widening::object(llvm::Value* address, const llvm::Instruction& user) {
  llvm::SmallVector<const llvm::Value*> all;
  llvm::getUnderlyingObjects(address, all);
  if (all.size() != 1) throw NoLanes("it selects between addresses in memory", &user);
  if (const auto known = objects_.find(all.front()); known != objects_.end()) return known->second;
  const auto* global = llvm::dyn_cast<llvm::GlobalVariable>(all.front());
  if (global == nullptr || !global->isConstant()) throw NoLanes("it uses memory outside of the state", &user);
  return {const_cast<llvm::GlobalVariable*>(global), nullptr};
}

bool Widening::offset_varies(const llvm::Value* address) const {
  if (varies(address)) return true;
  const auto* gep = llvm::dyn_cast<llvm::GEPOperator>(address);
  return gep != nullptr && offset_varies(gep->getPointerOperand());
}

llvm::Value* Widening::offset(llvm::Value* address, bool as_vector) {
  const auto in_lanes = [&](llvm::Value* v) { return as_vector ? ir_.CreateVectorSplat(lanes_, v) : v; };
  if (llvm::isa<llvm::PHINode>(address) || llvm::isa<llvm::SelectInst>(address)) {
    llvm::Value* const found = values_.at(address);
    return found->getType()->isVectorTy() || !as_vector ? found : in_lanes(found);
  }
  auto* gep = llvm::dyn_cast<llvm::GEPOperator>(address);
  if (gep == nullptr) return in_lanes(ir_.getInt64(0));
  llvm::Value* sum = offset(gep->getPointerOperand(), as_vector);
  const unsigned bits = data_.getIndexSizeInBits(0);
  llvm::MapVector<llvm::Value*, llvm::APInt> variable;
  llvm::APInt constant(bits, 0);
  if (!gep->collectOffset(data_, bits, variable, constant))
    throw NoLanes("it computes an address that is not a base plus an index",
                  llvm::dyn_cast<llvm::Instruction>(address));
  for (const auto& [index, size] : variable) {
    llvm::Value* i = operand(index, as_vector);
    i = ir_.CreateSExtOrTrunc(i, as_vector ? static_cast<llvm::Type*>(wide(ir_.getInt64Ty())) : ir_.getInt64Ty());
    sum = ir_.CreateAdd(sum, ir_.CreateMul(i, in_lanes(ir_.getInt64(size.getZExtValue()))));
  }
  return ir_.CreateAdd(sum, in_lanes(ir_.getInt64(static_cast<std::uint64_t>(constant.getSExtValue()))));
}

llvm::Value* Widening::place(const Object& o, llvm::Value* address) {
  llvm::Value* distance = offset(address, false);
  if (o.scale != nullptr) distance = ir_.CreateMul(distance, o.scale);
  return ir_.CreateInBoundsGEP(ir_.getInt8Ty(), o.begin, distance);
}

llvm::Value* Widening::places(const Object& o, llvm::Value* address, std::uint64_t size) {
  llvm::Value* distance = offset(address, true);
  if (o.scale != nullptr) {
    std::vector<llvm::Constant*> own;
    for (unsigned lane = 0; lane < lanes_; ++lane) own.push_back(ir_.getInt64(lane * size));
    distance =
        ir_.CreateAdd(ir_.CreateMul(distance, ir_.CreateVectorSplat(lanes_, o.scale)), llvm::ConstantVector::get(own));
  }
  return ir_.CreateGEP(ir_.getInt8Ty(), o.begin, distance);
}

// Variables are allocated here and can be aligned. States and ports are aligned as the caller likes.
llvm::Align Widening::align_of(const Object& o, llvm::Align one, std::uint64_t size) const {
  const bool own = llvm::isa<llvm::AllocaInst>(o.begin) && one.value() >= size;
  return own ? llvm::Align(std::min<std::uint64_t>(size * lanes_, 64)) : one;
}

llvm::Value* Widening::load(llvm::LoadInst& load) {
  llvm::Type* const type = load.getType();
  if (type->isPointerTy() || type->isAggregateType()) throw NoLanes("it stores an address in memory", &load);
  llvm::Value* const address = load.getPointerOperand();
  const Object o = object(address, load);
  const std::uint64_t size = data_.getTypeStoreSize(type);
  if (!offset_varies(address)) {
    if (o.scale == nullptr) return ir_.CreateAlignedLoad(type, place(o, address), load.getAlign());
    return ir_.CreateAlignedLoad(wide(type), place(o, address), align_of(o, load.getAlign(), size));
  }
  return ir_.CreateMaskedGather(wide(type), places(o, address, size), load.getAlign(), all_or_mask());
}

void Widening::store(llvm::StoreInst& store) {
  llvm::Value* const address = store.getPointerOperand();
  llvm::Type* const type = store.getValueOperand()->getType();
  if (type->isPointerTy() || type->isAggregateType()) throw NoLanes("it stores an address in memory", &store);
  const Object o = object(address, store);
  if (o.scale == nullptr) throw NoLanes("it uses memory outside of the state", &store);
  const std::uint64_t size = data_.getTypeStoreSize(type);
  llvm::Value* value = vector(store.getValueOperand());
  if (offset_varies(address)) {
    ir_.CreateMaskedScatter(value, places(o, address, size), store.getAlign(), all_or_mask());
    return;
  }
  llvm::Value* const to = place(o, address);
  const llvm::Align align = align_of(o, store.getAlign(), size);
  if (llvm::Value* const in = mask()) value = ir_.CreateSelect(in, value, ir_.CreateAlignedLoad(wide(type), to, align));
  ir_.CreateAlignedStore(value, to, align);
}

// ---- instructions ----

// Replaces divisors in inactive lanes, which may be anything, by 1.
llvm::Value* Widening::divide(llvm::BinaryOperator& division) {
  llvm::Value* divisor = vector(division.getOperand(1));
  if (llvm::Value* const in = mask())
    divisor = ir_.CreateSelect(in, divisor, llvm::ConstantInt::get(divisor->getType(), 1));
  return ir_.CreateBinOp(division.getOpcode(), vector(division.getOperand(0)), divisor);
}

llvm::Value* Widening::call_by_lane(llvm::CallInst& call) {
  llvm::Value* all = llvm::PoisonValue::get(wide(call.getType()));
  std::vector<llvm::Value*> operands;
  for (llvm::Value* argument : call.args()) operands.push_back(vector(argument));
  for (unsigned lane = 0; lane < lanes_; ++lane) {
    std::vector<llvm::Value*> own;
    for (llvm::Value* v : operands) own.push_back(ir_.CreateExtractElement(v, lane));
    auto* one = ir_.CreateCall(call.getCalledFunction(), own);
    one->setAttributes(call.getAttributes());
    all = ir_.CreateInsertElement(all, one, lane);
  }
  return all;
}

llvm::Value* Widening::compute_call(llvm::CallInst& call, bool as_vector) {
  const llvm::Intrinsic::ID id = call.getIntrinsicID();
  if (lanes::is_any(call)) return ir_.CreateOrReduce(vector(call.getArgOperand(0)));
  if (as_vector && !llvm::isTriviallyVectorizable(id)) return call_by_lane(call);
  std::vector<llvm::Value*> operands;
  std::vector<llvm::Type*> types;
  if (as_vector && llvm::isVectorIntrinsicWithOverloadTypeAtArg(id, -1)) types.push_back(wide(call.getType()));
  for (unsigned k = 0; k < call.arg_size(); ++k) {
    llvm::Value* const argument = call.getArgOperand(k);
    operands.push_back(operand(argument, as_vector && !llvm::isVectorIntrinsicWithScalarOpAtArg(id, k)));
    if (as_vector && llvm::isVectorIntrinsicWithOverloadTypeAtArg(id, static_cast<int>(k)))
      types.push_back(operands.back()->getType());
  }
  llvm::Function* const called =
      as_vector ? llvm::Intrinsic::getDeclaration(scalar_.getParent(), id, types) : call.getCalledFunction();
  return ir_.CreateCall(called, operands);
}

llvm::Value* Widening::compute(llvm::Instruction& i, bool as_vector) {
  const auto in = [&](unsigned k) { return operand(i.getOperand(k), as_vector); };
  if (auto* call = llvm::dyn_cast<llvm::CallInst>(&i)) return compute_call(*call, as_vector);
  if (auto* loaded = llvm::dyn_cast<llvm::LoadInst>(&i)) return load(*loaded);
  if (auto* choice = llvm::dyn_cast<llvm::SelectInst>(&i)) {
    if (i.getType()->isPointerTy())
      return ir_.CreateSelect(in(0), offset(choice->getTrueValue(), as_vector),
                              offset(choice->getFalseValue(), as_vector));
    return ir_.CreateSelect(in(0), in(1), in(2));
  }
  if (auto* binary = llvm::dyn_cast<llvm::BinaryOperator>(&i))
    return binary->isIntDivRem() && as_vector ? divide(*binary) : ir_.CreateBinOp(binary->getOpcode(), in(0), in(1));
  if (auto* unary = llvm::dyn_cast<llvm::UnaryOperator>(&i)) return ir_.CreateUnOp(unary->getOpcode(), in(0));
  if (auto* compared = llvm::dyn_cast<llvm::CmpInst>(&i)) {
    if (i.getOperand(0)->getType()->isPointerTy()) throw NoLanes("it compares addresses", &i);
    return ir_.CreateCmp(compared->getPredicate(), in(0), in(1));
  }
  if (auto* converted = llvm::dyn_cast<llvm::CastInst>(&i)) {
    if (i.getType()->isPointerTy() || i.getOperand(0)->getType()->isPointerTy())
      throw NoLanes("it computes with an address", &i);
    return ir_.CreateCast(converted->getOpcode(), in(0),
                          as_vector ? static_cast<llvm::Type*>(wide(i.getType())) : i.getType());
  }
  if (llvm::isa<llvm::FreezeInst>(i)) return ir_.CreateFreeze(in(0));
  throw NoLanes(std::string("it contains an instruction that has no lanes, ") + i.getOpcodeName(), &i);
}

void Widening::check(llvm::CallInst& call) {
  llvm::Value* bad = call.getArgOperand(0);
  if (const std::string called = lanes::called_for_one(call); !called.empty() && mask_ == nullptr)
    throw NoLanes(called + " is called, which serves one state", &call);
  if (varies(bad) || mask_ != nullptr) {
    bad = vector(bad);
    if (llvm::Value* const in = mask()) bad = ir_.CreateLogicalAnd(in, bad);
    bad = ir_.CreateOrReduce(bad);
  } else {
    bad = uniform(bad);
  }
  auto* const on = llvm::BasicBlock::Create(made_->getContext(), "sound", made_);
  ir_.CreateCondBr(bad, leave_, on);
  ir_.SetInsertPoint(on);
}

void Widening::widen(llvm::Instruction& i) {
  if (llvm::isa<llvm::GetElementPtrInst>(i)) return;  // an address is computed where it is used
  if (lanes::is_check(i)) return check(llvm::cast<llvm::CallInst>(i));
  if (auto* stored = llvm::dyn_cast<llvm::StoreInst>(&i)) return store(*stored);
  if (auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
      intrinsic != nullptr && (intrinsic->isAssumeLikeIntrinsic() || intrinsic->isLifetimeStartOrEnd()))
    return;
  if (auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&i)) {
    const auto size = variable->getAllocationSize(data_);
    if (!size || size->isScalable()) throw NoLanes("it has a variable whose size is not known", &i);
    llvm::IRBuilder<> entry(&made_->getEntryBlock(), made_->getEntryBlock().begin());
    auto* own = entry.CreateAlloca(llvm::ArrayType::get(ir_.getInt8Ty(), size->getFixedValue() * lanes_));
    own->setAlignment(llvm::Align(64));
    objects_[variable] = {own, ir_.getInt64(lanes_)};
    return;
  }
  if (auto* ended = llvm::dyn_cast<llvm::ReturnInst>(&i)) {
    const auto* code = llvm::dyn_cast<llvm::ConstantInt>(ended->getReturnValue());
    if (code == nullptr || !code->isZero()) throw NoLanes("it raises a fault within a called function", &i);
    ir_.CreateRet(ir_.getFalse());
    return;
  }
  if (auto* jump = llvm::dyn_cast<llvm::BranchInst>(&i)) return branch(*jump);
  const bool as_vector = varies(&i);
  llvm::FastMathFlags flags;
  if (llvm::isa<llvm::FPMathOperator>(i)) flags = i.getFastMathFlags();
  ir_.setFastMathFlags(flags);
  values_[&i] = compute(i, as_vector);
}

void Widening::branch(llvm::BranchInst& jump) {
  if (jump.isUnconditional())
    ir_.CreateBr(begins_.at(jump.getSuccessor(0)));
  else
    ir_.CreateCondBr(uniform(jump.getCondition()), begins_.at(jump.getSuccessor(0)), begins_.at(jump.getSuccessor(1)));
}

void Widening::widen_block(llvm::BasicBlock& block) {
  ir_.SetInsertPoint(begins_.at(&block));
  mask_ = masks_.lookup(&block);
  for (llvm::Instruction& i : block) {
    if (auto* phi = llvm::dyn_cast<llvm::PHINode>(&i)) {
      llvm::Type* const type = i.getType()->isPointerTy() ? ir_.getInt64Ty() : i.getType();
      values_[&i] =
          ir_.CreatePHI(varies(&i) ? static_cast<llvm::Type*>(wide(type)) : type, phi->getNumIncomingValues());
    } else {
      widen(i);
    }
  }
  ends_[&block] = ir_.GetInsertBlock();
}

void Widening::fill_phis() {
  for (llvm::BasicBlock& block : scalar_)
    for (llvm::PHINode& phi : block.phis()) {
      auto* made = llvm::cast<llvm::PHINode>(values_.at(&phi));
      for (unsigned k = 0; k < phi.getNumIncomingValues(); ++k) {
        llvm::BasicBlock* const from = ends_.at(phi.getIncomingBlock(k));
        ir_.SetInsertPoint(from->getTerminator());
        llvm::Value* const v = phi.getIncomingValue(k);
        const bool poison = llvm::isa<llvm::PoisonValue>(v) && v->getType()->isPointerTy();
        made->addIncoming(poison                        ? llvm::PoisonValue::get(made->getType())
                          : v->getType()->isPointerTy() ? offset(v, varies(&phi))
                                                        : operand(v, varies(&phi)),
                          from);
      }
    }
}

// Loads inputs that are passed by value from their ports.
void Widening::place_arguments() {
  llvm::Value* const distance = made_->getArg(1);
  objects_[scalar_.getArg(0)] = {made_->getArg(0), ir_.getInt64(lanes_)};
  for (unsigned k = 1; k < scalar_.arg_size(); ++k) {
    llvm::Argument* const port = scalar_.getArg(k);
    llvm::Argument* const given = made_->getArg(k + 1);
    if (port->getType()->isPointerTy())
      objects_[port] = {given, distance};
    else
      values_[port] =
          ir_.CreateAlignedLoad(wide(port->getType()), given, llvm::Align(data_.getTypeStoreSize(port->getType())));
  }
}

llvm::Function* Widening::run() {
  try {
    auto* const entry = llvm::BasicBlock::Create(made_->getContext(), "entry", made_);
    leave_ = llvm::BasicBlock::Create(made_->getContext(), "leave", made_);
    ir_.SetInsertPoint(leave_);
    ir_.CreateRet(ir_.getTrue());
    ir_.SetInsertPoint(entry);
    place_arguments();
    const llvm::ReversePostOrderTraversal<llvm::Function*> order(&scalar_);
    for (llvm::BasicBlock* block : order) begins_[block] = llvm::BasicBlock::Create(made_->getContext(), "", made_);
    ir_.CreateBr(begins_.at(&scalar_.getEntryBlock()));
    for (llvm::BasicBlock* block : order) widen_block(*block);
    fill_phis();
  } catch (const NoLanes&) {
    made_->eraseFromParent();
    throw;
  }
  return made_;
}

}  // namespace

llvm::Function* widen(llvm::Function& scalar, const Masks& masks, unsigned lanes, const llvm::Twine& name) {
  return Widening(scalar, masks, lanes, name).run();
}

}  // namespace rml::codegen

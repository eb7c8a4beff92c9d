// Rewrites selects between floats with unpredictable conditions into the form of x86 blends.
//
// LLVM turns `select (fcmp …), a, b` into a comparison that yields a mask, and a blend by it, if the comparison has no
// other use. Otherwise it makes a jump or, with AVX-512, uses flags, an integer register and a mask, which takes as
// long as the arithmetic around it. It also evaluates a compound condition in the order of the text, so that the part
// that is known last may have to pass all blends. Therefore, when all else is optimised:
//
//   select (p and q), a, b           select q, (select p, a, b), b       q is known later than p
//   select q, a, b; select q, c, d   select q, a, b; select !q, d, c     q, !q: a comparison each
//
// Results stay the same to the bit. Other selects, for example in rare cases of functions, are left to LLVM's jumps.
#include "lowering/llvm/toolchain/blends.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Local.h>

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace rml::codegen {

namespace {

using namespace llvm::PatternMatch;

// A comparison that is one instruction on any x86 and can be a mask for a blend of this type; otherwise null.
llvm::FCmpInst* comparison(llvm::Value* condition, const llvm::Type* type) {
  auto* c = llvm::dyn_cast<llvm::FCmpInst>(condition);
  if (c == nullptr || c->getOperand(0)->getType() != type) return nullptr;
  const auto p = c->getPredicate();
  return p == llvm::FCmpInst::FCMP_ONE || p == llvm::FCmpInst::FCMP_UEQ ? nullptr : c;
}

// True for a minimum or maximum, which has an instruction of its own.
bool is_extremum(const llvm::SelectInst& s, const llvm::FCmpInst& c) {
  const llvm::Value *a = c.getOperand(0), *b = c.getOperand(1), *yes = s.getTrueValue(), *no = s.getFalseValue();
  return (yes == a && no == b) || (yes == b && no == a);
}

bool is_guessed(const llvm::SelectInst& s) { return s.getMetadata(llvm::LLVMContext::MD_unpredictable) == nullptr; }

class Blends {
 public:
  explicit Blends(llvm::Function& f) : function_(f) {}

  void make() {
    for (llvm::SelectInst* s : all<llvm::SelectInst>())
      if (!is_guessed(*s) && (s->getType()->isFloatTy() || s->getType()->isDoubleTy())) take_apart(*s);
    for (llvm::FCmpInst* c : all<llvm::FCmpInst>()) tell_apart(*c);
  }

 private:
  static constexpr int most_parts = 4;

  template <class Kind>
  std::vector<Kind*> all() {
    std::vector<Kind*> list;
    for (llvm::Instruction& i : llvm::instructions(function_))
      if (auto* found = llvm::dyn_cast<Kind>(&i)) list.push_back(found);
    return list;
  }

  // The two parts of a condition without other uses; `both`: true for a conjunction.
  static bool is_compound(llvm::Value* condition, llvm::Value*& a, llvm::Value*& b, bool& both) {
    if (!condition->hasOneUse()) return false;
    both = match(condition, m_LogicalAnd(m_Value(a), m_Value(b)));
    return both || match(condition, m_LogicalOr(m_Value(a), m_Value(b)));
  }

  // The number of comparisons in a condition of `s`. A number above the limit if the condition contains anything else,
  // or `s` is a minimum or maximum that treats NaN specially.
  static int count_parts(llvm::Value* condition, const llvm::SelectInst& s) {
    llvm::Value *a = nullptr, *b = nullptr;
    bool both = false;
    if (is_compound(condition, a, b, both)) return count_parts(a, s) + count_parts(b, s);
    const llvm::FCmpInst* c = comparison(condition, s.getType());
    return c != nullptr && !is_extremum(s, *c) ? 1 : most_parts + 1;
  }

  void take_apart(llvm::SelectInst& s) {
    llvm::Value* condition = s.getCondition();
    const int parts = count_parts(condition, s);
    if (parts < 2 || parts > most_parts) return;
    measure_depths(*s.getParent());
    llvm::IRBuilder<> ir(&s);
    s.replaceAllUsesWith(blend(ir, condition, s.getTrueValue(), s.getFalseValue(), s));
    s.eraseFromParent();
    llvm::RecursivelyDeleteTriviallyDeadInstructions(condition);
  }

  // Emits the selections. The part of the condition that is known last decides last.
  llvm::Value* blend(llvm::IRBuilder<>& ir, llvm::Value* condition, llvm::Value* yes, llvm::Value* no,
                     llvm::SelectInst& like) {
    llvm::Value *early = nullptr, *late = nullptr;
    bool both = false;
    if (!is_compound(condition, early, late, both)) return ir.CreateSelect(condition, yes, no, "", &like);
    if (depth(early) > depth(late)) std::swap(early, late);
    llvm::Value* inner = blend(ir, early, yes, no, like);
    return both ? blend(ir, late, inner, no, like) : blend(ir, late, yes, inner, like);
  }

  // The length of the longest chain of instructions of its block on which the value depends.
  int depth(const llvm::Value* v) const {
    const auto at = depths_.find(v);
    return at == depths_.end() ? 0 : at->second;
  }

  void measure_depths(const llvm::BasicBlock& block) {
    if (&block == measured_) return;
    measured_ = &block;
    depths_.clear();
    for (const llvm::Instruction& i : block) {
      if (llvm::isa<llvm::PHINode>(i)) continue;
      int most = 0;
      for (const llvm::Value* o : i.operands()) most = std::max(most, depth(o));
      depths_[&i] = most + 1;
    }
  }

  // Gives each blend a comparison without other uses. One can have the reverse comparison. If no operand is a constant,
  // two more can have exchanged operands; LLVM would exchange a constant back.
  void tell_apart(llvm::FCmpInst& c) {
    std::vector<llvm::SelectInst*> blends;
    for (llvm::User* user : c.users()) {
      auto* s = llvm::dyn_cast<llvm::SelectInst>(user);
      if (s == nullptr || s->getCondition() != &c || is_guessed(*s)) continue;
      if (comparison(&c, s->getType()) != nullptr && !is_extremum(*s, c)) blends.push_back(s);
    }
    if (!c.hasNUsesOrMore(static_cast<unsigned>(blends.size()) + 1) && !blends.empty()) blends.pop_back();
    const bool constant = llvm::isa<llvm::Constant>(c.getOperand(1));
    unsigned form = 1;
    for (llvm::SelectInst* s : blends) {
      if (form == (constant ? 2U : 4U)) return;
      auto* own = llvm::cast<llvm::FCmpInst>(c.clone());
      own->insertBefore(&c);
      if ((form & 1) != 0) {
        own->setPredicate(c.getInversePredicate());
        s->swapValues();
        s->swapProfMetadata();
      }
      if ((form & 2) != 0) own->swapOperands();
      s->setCondition(own);
      ++form;
    }
  }

  llvm::Function& function_;
  const llvm::BasicBlock* measured_ = nullptr;
  std::unordered_map<const llvm::Value*, int> depths_;  // depths of the values in the block `measured_`
};

}  // namespace

void make_blends(llvm::Module& module) {
  for (llvm::Function& f : module)
    if (!f.isDeclaration()) Blends(f).make();
}

}  // namespace rml::codegen

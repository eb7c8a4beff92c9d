// Emits steps of separate states in lanes (step_many.h), and decides whether they pay.
#include "lowering/llvm/interface/step_many.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "lowering/llvm/function/function.h"
#include "lowering/llvm/interface/each_group.h"
#include "lowering/llvm/interface/executed.h"
#include "lowering/llvm/interface/side_by_side.h"
#include "lowering/llvm/lanes/touched.h"
#include "lowering/llvm/program/caller.h"

namespace rml::codegen {

namespace {

struct Touched {
  Piece piece;
  bool written;
};

// Joins pieces that directly follow one another.
std::vector<Touched> joined(std::vector<Touched> pieces) {
  std::ranges::sort(pieces, {}, [](const Touched& t) { return t.piece.offset; });
  std::vector<Touched> found;
  for (const Touched& t : pieces) {
    Touched* const last = found.empty() ? nullptr : &found.back();
    if (last != nullptr && last->piece.goes_on_in(t.piece) && last->written == t.written)
      last->piece.count += t.piece.count;
    else
      found.push_back(t);
  }
  return found;
}

// The pieces that a step reads or writes; nothing if that is unknown.
std::optional<std::vector<Touched>> touched_pieces(const StepInLanes& of) {
  struct Part {
    std::uint64_t end = 0;
    bool touched = false, written = false;
  };
  std::map<std::uint64_t, Part> parts;  // parts by their offsets
  for (const Piece& p : of.pieces) parts[p.of].end = std::max(parts[p.of].end, p.end());
  const auto places = touched_places(*of.in.scalar);
  if (!places) return std::nullopt;
  for (const TouchedPlace& place : *places) {
    const auto behind = parts.upper_bound(place.offset);
    if (behind == parts.begin() || std::prev(behind)->second.end <= place.offset) return std::nullopt;
    Part& part = std::prev(behind)->second;
    part.touched = true;
    part.written = part.written || place.written;
  }
  std::vector<Touched> found;
  for (const Piece& p : of.pieces)
    if (const Part& part = parts.at(p.of); part.touched) found.push_back({p, part.written});
  return joined(std::move(found));
}

std::vector<Touched> all_pieces(const StepInLanes& of) {
  std::vector<Touched> found;
  for (const Piece& p : of.pieces) found.push_back({p, true});
  return joined(std::move(found));
}

// True if the port must be copied in: inputs, and outputs that may be absent, because an absent output keeps its
// memory.
bool is_laid_in(const Emission& module, const InterfaceParameter& p) {
  return p.of_input() || module.core[module.core.outputs[p.port].value].clock != base_clock;
}

struct StepMany {
  const StepInLanes& of;
  const std::vector<Touched>& touched;
  Function& f;                       // the function; its state is the array of the states' addresses
  std::vector<IrValue> arrays = {};  // arrays of the ports, with an element for each state

  DType dtype(const InterfaceParameter& p) const { return dtype_of(f.module.core, p); }
  llvm::Type* type(const InterfaceParameter& p) const { return memory_type(f.module.context, dtype(p)); }
  // The element of the port for state k (i64).
  IrValue row(std::size_t port, IrValue k) const;
  IrValue state(IrValue k) const;
  llvm::AllocaInst* aligned(llvm::Type*, std::uint64_t count, const char* name) const;
  std::vector<ElementsOfLanes> lay_states(IrValue group, IrValue first) const;
  IrValue together(IrValue first) const;
  IrValue alone(IrValue k) const;
  void prefetch(IrValue first, IrValue n) const;
};

IrValue StepMany::row(std::size_t port, IrValue k) const {
  const InterfaceParameter& p = of.ports[port];
  auto* row = llvm::ArrayType::get(type(p), static_cast<std::uint64_t>(p.elements));
  return f.ir.CreateInBoundsGEP(row, arrays[port], k);
}

IrValue StepMany::state(IrValue k) const {
  llvm::Type* const pointer = f.module.pointer();
  return f.ir.CreateLoad(pointer, f.ir.CreateInBoundsGEP(pointer, f.state, k));
}

llvm::AllocaInst* StepMany::aligned(llvm::Type* type, std::uint64_t count, const char* name) const {
  auto* made = f.variable(llvm::ArrayType::get(type, count), name);
  made->setAlignment(llvm::Align(StateLayout::state_align));
  return made;
}

// Copies the parts that a step reads into the group. Returns the parts to be copied back.
std::vector<ElementsOfLanes> StepMany::lay_states(IrValue group, IrValue first) const {
  auto& ir = f.ir;
  std::vector<IrValue> own;
  for (std::uint64_t lane = 0; lane < of.in.lanes; ++lane) own.push_back(state(ir.CreateAdd(first, ir.getInt64(lane))));
  std::vector<ElementsOfLanes> back;
  for (const Touched& t : touched) {
    llvm::Type* const type = ir.getIntNTy(static_cast<unsigned>(8 * t.piece.bytes));
    ElementsOfLanes e{type, t.piece.bytes, t.piece.count, {}, nullptr};
    for (IrValue state : own)
      e.own.push_back(ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), state, static_cast<std::uint64_t>(t.piece.own)));
    e.side = ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), group, t.piece.offset * of.in.lanes);
    lay_side_by_side(f, e);
    if (t.written) back.push_back(std::move(e));
  }
  return back;
}

// i1: true if the states from `first` on were stepped in lanes.
IrValue StepMany::together(IrValue first) const {
  auto& ir = f.ir;
  auto* group = aligned(ir.getInt8Ty(), of.in.group_bytes, "group");
  std::vector<ElementsOfLanes> back = lay_states(group, first);
  std::vector<IrValue> arguments = {group, ir.getInt64(of.in.lanes)};
  for (std::size_t port = 0; port < of.ports.size(); ++port) {
    const InterfaceParameter& p = of.ports[port];
    if (p.elements == 1) {  // the states' elements are adjacent
      arguments.push_back(row(port, first));
      continue;
    }
    ElementsOfLanes e{type(p), byte_size(dtype(p)), p.elements, {}, nullptr};
    for (std::uint64_t lane = 0; lane < of.in.lanes; ++lane)
      e.own.push_back(row(port, ir.CreateAdd(first, ir.getInt64(lane))));
    e.side = aligned(e.type, static_cast<std::uint64_t>(p.elements) * of.in.lanes, p.name.c_str());
    if (is_laid_in(f.module, p)) lay_side_by_side(f, e);
    arguments.push_back(e.side);
    if (!p.of_input()) back.push_back(std::move(e));
  }
  IrValue done = ir.CreateNot(ir.CreateCall(of.in.wide, arguments));
  f.when(done, [&] {
    for (const ElementsOfLanes& e : back) lay_apart(f, e);
  });
  return done;
}

// Prefetches the states of the group after the next one while this group is stepped, because states may be anywhere in
// memory.
void StepMany::prefetch(IrValue first, IrValue n) const {
  auto& ir = f.ir;
  std::uint64_t begin = std::numeric_limits<std::uint64_t>::max(), end = 0;
  for (const Touched& t : touched) {
    begin = std::min(begin, t.piece.offset);
    end = std::max(end, t.piece.end());
  }
  const std::uint64_t line = f.module.target.line_bytes;
  end = std::min(end, begin + f.module.target.lines_ahead * line);
  IrValue ahead = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smin, ir.CreateAdd(first, ir.getInt64(2 * of.in.lanes)),
                                           ir.CreateSub(n, ir.getInt64(of.in.lanes)));
  for (std::uint64_t lane = 0; lane < of.in.lanes; ++lane) {
    IrValue at = state(ir.CreateAdd(ahead, ir.getInt64(lane)));
    for (std::uint64_t offset = begin; offset < end; offset += line) {
      IrValue address = ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), at, offset);
      ir.CreateIntrinsic(llvm::Intrinsic::prefetch, {f.module.pointer()},
                         {address, ir.getInt32(1), ir.getInt32(3), ir.getInt32(1)});
    }
  }
}

// i32: the fault of state k, or 0.
IrValue StepMany::alone(IrValue k) const {
  auto& ir = f.ir;
  std::vector<IrValue> arguments = {state(k)};
  for (std::size_t port = 0; port < of.ports.size(); ++port) {
    const InterfaceParameter& p = of.ports[port];
    const bool by_value = !of.step.getArg(static_cast<unsigned>(port) + 1)->getType()->isPointerTy();
    IrValue place = row(port, k);
    arguments.push_back(by_value ? static_cast<IrValue>(ir.CreateLoad(type(p), place)) : place);
  }
  return ir.CreateCall(&of.step, arguments);
}

// Number of elements that are copied into the group, or back.
std::int64_t moved(const Emission& module, const StepInLanes& of, const std::vector<Touched>& touched) {
  std::int64_t all = 0;
  for (const Touched& t : touched) all += (t.written ? 2 : 1) * t.piece.count;
  for (const InterfaceParameter& p : of.ports)
    if (p.elements > 1) all += (p.of_input() || !is_laid_in(module, p) ? 1 : 2) * p.elements;
  return all;
}

// Bytes of stack for ports of several elements, besides those for a group.
std::uint64_t bytes_of_ports(const Emission& module, const StepInLanes& of) {
  std::uint64_t all = 0;
  for (const InterfaceParameter& p : of.ports)
    if (p.elements > 1)
      all += static_cast<std::uint64_t>(p.elements) * byte_size(dtype_of(module.core, p)) * of.in.lanes;
  return all;
}

// Compares instructions. To move an element of all lanes takes a load or a store, and for each halving of the square a
// selection from two vectors. LLVM vectorises the loops of one state; in lanes they consist of vectors already.
bool is_faster(const Emission& module, const StepInLanes& of, const std::vector<Touched>& touched) {
  const auto lanes = static_cast<double>(of.in.lanes), each = static_cast<double>(1 + std::bit_width(of.in.lanes - 1));
  const double in_lanes = executed_instructions(*of.in.scalar) + each * static_cast<double>(moved(module, of, touched));
  return in_lanes < executed_instructions(of.step, lanes) * lanes;
}

bool is_worth(const Emission& module, const StepInLanes& of, const std::vector<Touched>& touched) {
  return bytes_of_ports(module, of) <= module.target.most_group_bytes && is_faster(module, of, touched);
}

}  // namespace

llvm::Function* emit_step_many(Emission& module, const StepInLanes& of) {
  auto known = touched_pieces(of);
  const std::vector<Touched> touched = known ? std::move(*known) : all_pieces(of);
  if (!is_worth(module, of, touched)) return nullptr;
  std::vector<llvm::Type*> types(of.ports.size() + 2, module.pointer());
  types[1] = module.i64();
  auto* made = module.function(module.options.program_name + "_step_many.body", module.i32(), types, false);
  Function f(module, made, module.core.entry + " (many)", {}, made->getArg(0));
  IrValue n = made->getArg(1);
  StepMany many{of, touched, f};
  for (unsigned k = 0; k < of.ports.size(); ++k) {
    made->addParamAttr(k + 2, llvm::Attribute::NoAlias);
    many.arrays.push_back(made->getArg(k + 2));
  }
  step_groups(f, n, of.in.lanes,
              {[&](IrValue, IrValue first) {
                 many.prefetch(first, n);
                 return many.together(first);
               },
               [&](IrValue, IrValue first, IrValue lane) { return many.alone(f.ir.CreateAdd(first, lane)); }});
  return made;
}

llvm::Function* emit_step_together(Emission& module, const StepInLanes& of) {
  const auto touched = touched_pieces(of);
  if (!touched || !is_worth(module, of, *touched)) return nullptr;
  std::vector<llvm::Type*> types(6, module.pointer());
  types[0] = module.i64();
  auto* made = module.function(program_symbol(module, "together"), module.i32(), types, false);
  Function f(module, made, module.core.entry + " (together)", {}, made->getArg(1));
  const StepMany many{of, *touched, f, caller_arrays(f.ir, module, *made, of.ports)};
  f.leave_unless_zero(f.ir.CreateZExt(f.ir.CreateNot(many.together(made->getArg(0))), module.i32()));
  f.finish();
  return made;
}

}  // namespace rml::codegen

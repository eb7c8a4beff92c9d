// The data that all emitters of one module share: the program, the module under construction, the layout of the state,
// constants, and functions that all code calls.
#pragma once

#include <llvm/IR/Module.h>

#include <map>
#include <utility>

#include "lowering/llvm/module/debug_info.h"
#include "lowering/llvm/module/emit_options.h"
#include "lowering/llvm/module/ir_types.h"
#include "lowering/llvm/module/state_layout.h"

namespace rml::codegen {

// The value of Program::value_sites and header.site for code without a place in the source.
inline constexpr std::uint32_t no_site = UINT32_MAX;

// How matrices in a tensor are packed into panels. The matrices are `distance` elements apart. Each has `blocks` times
// `inner` rows, whose first elements are `block` and `row` apart, and n columns, which are `column` apart. A panel has
// `widths` columns and is stored row by row; missing columns are zeros.
struct Panels {
  std::int64_t matrices = 1, distance = 0;
  std::int64_t blocks = 1, block = 0, inner = 1, row = 1;
  std::int64_t n = 1, column = 1;
  std::vector<std::int64_t> widths = {};
  auto operator<=>(const Panels&) const = default;
};

class Function;

class Emission {
 public:
  // Emits the computation of an operator's or call's result (operators/compute.h). It also serves a user whose operand
  // has not been computed yet.
  using Compute = void (*)(Function&, ValueId);
  Emission(const steps::Program&, const SourceMap&, const EmitOptions&, llvm::Module&,
           const std::pair<Target, Numeric>&, Compute);
  // An emission of another program into the same module.
  Emission(const steps::Program&, const EmitOptions&, const Emission& outer);

  const steps::Program& program;
  const Core& core;
  const SourceMap& sources;
  const EmitOptions& options;
  llvm::Module& module;
  llvm::LLVMContext& context;
  AbiTypes abi;
  const Target target;
  const Numeric numeric;
  const Compute compute;
  const std::map<ValueId, steps::Window> windows;
  const steps::Packs packs;  // empty if the target has no vectors
  StateLayout layout;
  DebugInfo debug;

  bool leads = false;  // true for a lead: its functions run between cycles and leave the state unchanged

  bool inlined(ValueId v) const { return v.index < program.inlined.size() && program.inlined[v.index]; }
  std::uint32_t site(ValueId v) const {
    return v.index < program.value_sites.size() ? program.value_sites[v.index] : no_site;
  }
  // The window that uses the cell; null if none does.
  const steps::Window* window_of(CellId cell) const { return cell_windows_.at(cell.index); }
  bool always_present(ValueId v) const { return core[v].clock == base_clock; }
  // The values of a call's outputs, one per output; invalid ids for unused outputs.
  const std::vector<ValueId>& results(ValueId call) const { return results_.at(call.index); }

  // A place that profiles attribute time to (rml_place). The header refers to it by a number, from 1.
  struct Place {
    Span span;
    ValueId value;     // if it is valid, the place is the equation of this value
    std::string text;  // if `value` is invalid: the name of the place
  };
  std::uint32_t place_of(ValueId v);
  std::uint32_t new_place(Span, std::string text);
  const std::vector<Place>& places() const { return places_; }

  llvm::PointerType* pointer() const { return llvm::PointerType::get(context, 0); }
  llvm::IntegerType* i32() const { return llvm::Type::getInt32Ty(context); }
  llvm::IntegerType* i64() const { return llvm::Type::getInt64Ty(context); }
  llvm::IntegerType* index_type() const { return index_type_; }

  llvm::Function* function(const llvm::Twine& name, llvm::Type* result, llvm::ArrayRef<llvm::Type*> parameters,
                           bool exported);
  llvm::Constant* text(const std::string&);
  llvm::Constant* tensor(const Tensor&);  // a copy in read-only memory
  llvm::Constant* panels(const Tensor&, const Panels&);
  llvm::Constant* table(const std::string& name, llvm::Type* element, llvm::ArrayRef<llvm::Constant*>);

  // i32 raise(state, kind, site, cycle, value, bound): fills the header; returns the kind.
  llvm::Function* raise();
  // ptr grow(state, old, old_bytes, new_bytes): allocates through the header; null if refused.
  llvm::Function* grow();
  // i64 grow_ring(state, ring, element_bytes): doubles a ring; returns the refused bytes, or 0.
  llvm::Function* grow_ring();
  // i64 grow_segment(state, records, capacity, sizes, n): doubles the arrays of a unit; returns
  // the refused bytes, or 0.
  llvm::Function* grow_segment();

  // i32 body(scratch, header, cycle, addresses of its inputs, then of its outputs): one round of an iteration
  // (operators/iteration.cc).
  struct IterationBody {
    llvm::Function* function = nullptr;
    llvm::Function* begin = nullptr;  // i32 begin(scratch), before the first round; null: nothing to do
    std::uint64_t scratch_bytes = 0;
  };
  std::map<std::uint32_t, IterationBody> iteration_bodies;  // bodies that were emitted so far, by external node

  // The columns of a pack's panels, except for the last panel.
  std::int64_t panel_width(const steps::Pack&) const;
  std::int64_t pack_elements(const steps::Pack&) const;

  IrValue header_field(llvm::IRBuilder<>&, IrValue state, unsigned field);

 private:
  std::vector<std::uint64_t> pack_sizes() const;
  llvm::IntegerType* index_type_;
  std::map<std::uint32_t, std::vector<ValueId>> results_;
  std::vector<Place> places_;
  std::vector<const steps::Window*> cell_windows_;
  std::map<ValueId, std::uint32_t> place_of_;
  std::map<std::string, llvm::Constant*> texts_;
  std::map<const void*, llvm::Constant*> tensors_;
  std::map<std::pair<const void*, Panels>, Tensor> panels_;
  llvm::Function *raise_ = nullptr, *grow_ = nullptr, *grow_ring_ = nullptr, *grow_segment_ = nullptr;
};

}  // namespace rml::codegen

// A generated function under construction: its insertion point, its exits, and the storage of its values.
//
// Every value has a slot in the function's entry block. The slot of a scalar, or of a tensor of at most
// Target::unrolled_elements elements, is an array; that of a larger tensor is a pointer to its elements. Slots are
// allocas, which SROA turns into registers and phis:
//
//   if c { %7 := copy %5 } else { %7 := copy %6 }      =>      %7 = phi [%5, then], [%6, else]
//
// A larger tensor that is computed has its own scratch buffer, or is computed where it is stored. A tensor that is
// loaded or popped is used in place, if Aliasing allows.
//
// Free functions in the neighbouring folders emit the code (scalars, loops, products, statements).
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>

#include "lowering/llvm/function/access.h"
#include "lowering/llvm/module/aliasing.h"
#include "lowering/llvm/module/emission.h"

namespace rml::codegen {

// How a block accesses the caller's data.
struct PortPlaces {
  struct Input {
    IrValue scalar = nullptr;  // the value, if the port is passed by value
    // Address of the elements; if this and `scalar` are null, the element is popped from its queue.
    IrValue address = nullptr;
    IrValue present = nullptr;  // i1 that tells whether the input is present; only set if its clock is not base
  };
  struct Output {
    IrValue address = nullptr;
    IrValue flag = nullptr;  // address of the presence flag, if the clock is not base
  };
  std::vector<Input> inputs;
  std::vector<Output> outputs;
};

// The rounds begin … end - 1 of a loop, of index_type. Null bounds: all rounds.
struct Rounds {
  IrValue begin = nullptr, end = nullptr;
};

class Function {
 public:
  // The function is empty and returns i32: 0 or a fault. Debug locations lead to `span`.
  Function(Emission&, llvm::Function*, const std::string& title, Span span, IrValue state);

  Emission& module;
  llvm::IRBuilder<> ir;
  IrValue state;
  IrValue cells = nullptr;  // address of the cells that are apart from the state
  PortPlaces ports;
  std::uint64_t header_at = 0;     // offset in the state of the header that records faults
  IrValue other_header = nullptr;  // if set: the header of another state, which records faults instead
  IrValue given = nullptr;         // addresses of the caller's inputs, while a cycle is pushed
  IrValue key = nullptr;           // for networks: the key of the pushed element
  const Aliasing* aliasing = nullptr;
  std::function<IrValue()> cycle;  // emits the current cycle (i64), for messages of faults
  // For segmented units, as i64; the length is unknown while a segment grows.
  IrValue position = nullptr, length = nullptr;
  llvm::AllocaInst* last_flag = nullptr;  // variable that MarkLast sets at the end of a segment
  bool can_fault = false;                 // true after code that can raise a fault was emitted
  bool tells_places = false;              // true if the code records in the header which place is computed

  // The LLVM function into which code is written. A piece of a parallel loop, a part, and the filling of a pack are
  // LLVM functions of their own. A caller that emits such a function saves this frame, installs its own, and restores
  // it.
  struct Frame {
    llvm::Function* function = nullptr;
    llvm::DISubprogram* subprogram = nullptr;
    llvm::BasicBlock* exit = nullptr;
    llvm::AllocaInst* code = nullptr;  // variable with the code that the function returns
    IrValue worker = nullptr;          // inside a loop that threads share: the number of the thread, of index_type
    std::uint64_t stack_used = 0;
  };
  Frame frame;
  struct Slot {
    llvm::AllocaInst* storage = nullptr;
    bool pointer = false;
  };
  // The function that owns the slots and buffers of values. All other functions are parts of it.
  struct Whole {
    llvm::Function* function;
    IrValue state;
    std::unordered_map<std::uint32_t, Slot> slots = {};
    // Addresses of buffers that values are computed in, by value.
    std::unordered_map<std::uint32_t, IrValue> homes = {};
    // By small tensor: the lanes of the vectors in which it was stored.
    std::unordered_map<std::uint32_t, std::int64_t> lanes = {};
  };
  Whole whole;
  const std::string title;
  Span here;                                // place in the source of the code that is being written
  Lifetime now;                             // lifetime of the current statement
  std::vector<llvm::Function*> parts = {};  // parts that were emitted so far (parts.h)
  std::function<void()> at_end;             // called when all code is written

  // ---- places in the source
  void enter(std::uint32_t place);  // records the place in the header from here on
  void locate(Span);

  // ---- control Returns `result` here, or the code of a fault through the common exit.
  void finish(const std::function<void()>& before_return = {}, int result = 0);
  void end_frame(const std::function<void()>& before_return = {}, int result = 0);  // returns from this frame only
  void check(IrValue bad, int kind, std::uint32_t site, IrValue value = nullptr, IrValue bound = nullptr);
  void check(IrValue bad, IrValue kind, std::uint32_t site, IrValue value, IrValue bound);
  void leave_with(IrValue code);  // the code of a fault that was raised elsewhere
  void leave_unless_zero(IrValue code);
  void fail_memory(IrValue bytes_refused);  // raises a fault unless the argument is 0
  void when(IrValue condition, const std::function<void()>& then, const std::function<void()>& otherwise = {});
  llvm::BasicBlock* new_block(const llvm::Twine& name);
  // Calls body(index) for 0 … extent - 1. The index has index_type, unless extent is an i64 instruction.
  void loop(std::int64_t extent, const std::function<void(IrValue)>& body);
  void loop(IrValue extent, const std::function<void(IrValue)>& body);
  void loop(const Rounds&, IrValue extent, const std::function<void(IrValue)>& body);
  llvm::MDNode* independent = nullptr;      // the group of accesses of the loops that are being written
  std::vector<llvm::Metadata*> about_loop;  // further properties of the next loop that is closed
  llvm::MDNode* not_unrolled();             // the property that a loop is not unrolled

  // ---- storage
  llvm::AllocaInst* variable(llvm::Type*, const llvm::Twine& name);  // a variable of the current function
  IrValue at(std::uint64_t offset);                                  // address in the state, or of a cell that is apart
  IrValue find_cells(IrValue state);                                 // a value for `cells`
  IrValue header();
  IrValue load_i64(std::uint64_t offset);
  void store_i64(IrValue, std::uint64_t offset);
  IrValue load(DType, IrValue address, Access = {});  // loads an element in register form
  IrValue load_truth(IrValue address);                // loads a Boolean of a cell as an i1
  void store(DType, IrValue value, IrValue address, Access = {});
  IrValue offset(DType, IrValue base, IrValue index);  // the address of an element
  void copy_bytes(IrValue to, IrValue from, DType, const Shape&);
  IrValue cell_address(CellId);  // for a window: the address of its current value
  IrValue window_address(std::uint64_t offset);
  IrValue array_address(ArrayId);  // address of the element at `position`
  void place_cell(CellId cell, IrValue address) { cell_places_[cell.index] = address; }
  void place_array(ArrayId array, IrValue data) { array_places_[array.index] = data; }
  void forget_packs(CellId);  // must be called before the cell is written
  // A buffer that lives while the current statement runs, or longer.
  IrValue scratch(DType, const Shape&, const llvm::Twine& name);
  IrValue scratch(DType, const Shape&, const llvm::Twine& name, Lifetime);
  IrValue scratch(std::uint64_t bytes, Lifetime);
  void begin_region() { whole.homes.clear(); }  // must be called when `aliasing` enters another region

  // ---- values
  const Value& info(ValueId v) const { return module.core[v]; }
  bool small(const Shape& shape) const { return elements(shape) <= module.target.unrolled_elements; }
  bool small(ValueId v) const { return small(info(v).shape); }
  // Number of lanes of a vector; 1 if there are no vectors.
  std::int64_t lanes(DType dtype) const { return module.target.lanes(dtype); }
  IrValue scalar(ValueId);
  IrValue element(ValueId, IrValue index, Access = {});
  IrValue address(ValueId);  // address of the value's elements, for reading
  IrValue zeros(ValueId);    // the address of as many zeros as the value has elements
  void define(ValueId, IrValue scalar);
  void define_at(ValueId, IrValue address);  // sets the address of the value's elements, which do not move
  void define_copy(ValueId, IrValue address);
  bool is_defined(ValueId v) const { return whole.slots.contains(v.index); }
  IrValue result(ValueId);                               // the address at which to compute the value's elements
  void compute(ValueId v) { module.compute(*this, v); }  // emits an operator or a call
  void prepare(ValueId v) {
    if (module.inlined(v)) compute(v);  // computes the inlined value, because it is needed in memory
  }
  CellId home(ValueId v) const { return aliasing == nullptr ? CellId{} : aliasing->home(v); }
  std::optional<std::uint32_t> home_output(ValueId v) const {
    return aliasing == nullptr ? std::nullopt : aliasing->home_output(v);
  }
  bool copied(const void* load) const { return aliasing == nullptr || aliasing->must_copy(load); }
  IrValue constant(std::int64_t index) {
    return llvm::ConstantInt::get(module.index_type(), static_cast<std::uint64_t>(index));
  }

 private:
  Slot& slot(ValueId);
  llvm::BasicBlock* open_loop(IrValue extent, llvm::PHINode*& index);
  void close_loop(llvm::BasicBlock* header, llvm::PHINode* index, IrValue extent);

  std::unordered_map<std::uint32_t, IrValue> cell_places_, array_places_;
};

}  // namespace rml::codegen

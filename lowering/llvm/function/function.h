// One generated function while it is written: where code goes, how it leaves, and where its values lie.
//
// Every value has a slot in the function's entry block: scalars and tensors of at most
// Target::unrolled_elements elements an array, larger tensors a pointer to wherever their elements
// are. Slots are allocas, and SROA makes them registers and phis:
//
//   if c { %7 := copy %5 } else { %7 := copy %6 }      =>      %7 = phi [%5, then], [%6, else]
//
// A larger tensor that is computed lies in its own scratch buffer, or where it is stored; one that is
// loaded or popped is used where it lies, if Aliasing allows.
//
// What is written into it (scalars, loops, products, statements) is the matter of free functions in the rooms beside.
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>

#include "lowering/llvm/function/access.h"
#include "lowering/llvm/module/aliasing.h"
#include "lowering/llvm/module/emission.h"

namespace rml::codegen {

// How a block reaches the caller's data.
struct PortPlaces {
  struct Input {
    IrValue scalar = nullptr;   // by value, or
    IrValue address = nullptr;  // of its elements; neither: popped from its queue
    IrValue present = nullptr;  // i1; where the clock is not base
  };
  struct Output {
    IrValue address = nullptr;
    IrValue flag = nullptr;  // address of the presence flag; where the clock is not base
  };
  std::vector<Input> inputs;
  std::vector<Output> outputs;
};

// Rounds of a loop: begin … end - 1, index_type; null: all of them.
struct Rounds {
  IrValue begin = nullptr, end = nullptr;
};

class Function {
 public:
  // The function is empty and returns i32, 0 or a fault; debug locations lead to `span`.
  Function(Emission&, llvm::Function*, const std::string& title, Span span, IrValue state);

  Emission& module;
  llvm::IRBuilder<> ir;
  IrValue state;
  IrValue cells = nullptr;  // where those lie that are apart from the state
  PortPlaces ports;
  std::uint64_t header_at = 0;     // in the state: which header is told of faults
  IrValue other_header = nullptr;  // that of another state
  IrValue given = nullptr;         // addresses of the caller's inputs, while a cycle is pushed
  IrValue key = nullptr;           // networks: of what is pushed
  const Aliasing* aliasing = nullptr;
  std::function<IrValue()> cycle;                // i64, for faults
  IrValue position = nullptr, length = nullptr;  // segmented units: i64; length is unknown while one grows,
  llvm::AllocaInst* last_flag = nullptr;         // and MarkLast says where it ends
  bool can_fault = false;                        // so far
  bool tells_places = false;                     // into the header, what is computed

  // Where code goes. A piece of a parallel loop, a part, and what fills a pack are LLVM functions of their own: who
  // writes one puts its frame in the place of this one, and this one back.
  struct Frame {
    llvm::Function* function = nullptr;
    llvm::DISubprogram* subprogram = nullptr;
    llvm::BasicBlock* exit = nullptr;
    llvm::AllocaInst* code = nullptr;  // that is returned
    IrValue worker = nullptr;          // in a piece: the thread that does it, index_type
    std::uint64_t stack_used = 0;
  };
  Frame frame;
  struct Slot {
    llvm::AllocaInst* storage = nullptr;
    bool pointer = false;
  };
  // What holds the slots and buffers of values: the function of which all others are parts.
  struct Whole {
    llvm::Function* function;
    IrValue state;
    std::unordered_map<std::uint32_t, Slot> slots = {};
    std::unordered_map<std::uint32_t, IrValue> homes = {};       // buffers
    std::unordered_map<std::uint32_t, std::int64_t> lanes = {};  // of the vectors that a small tensor was stored as
  };
  Whole whole;
  const std::string title;
  Span here;                                // of what is written
  Lifetime now;                             // of the statement at hand
  std::vector<llvm::Function*> parts = {};  // so far (parts.h)
  std::function<void()> at_end;             // is called when all is written

  // ---- places in the source
  void enter(std::uint32_t place);  // which the header tells from now on
  void locate(Span);

  // ---- control
  // Returns `result` here, or through the common exit the code of a fault.
  void finish(const std::function<void()>& before_return = {}, int result = 0);
  void end_frame(const std::function<void()>& before_return = {}, int result = 0);  // of this frame alone
  void check(IrValue bad, int kind, std::uint32_t site, IrValue value = nullptr, IrValue bound = nullptr);
  void check(IrValue bad, IrValue kind, std::uint32_t site, IrValue value, IrValue bound);
  void leave_with(IrValue code);  // of a fault raised elsewhere
  void leave_unless_zero(IrValue code);
  void fail_memory(IrValue bytes_refused);  // faults unless it is 0
  void when(IrValue condition, const std::function<void()>& then, const std::function<void()>& otherwise = {});
  llvm::BasicBlock* new_block(const llvm::Twine& name);
  // Calls body(index) for 0 … extent - 1; index_type unless extent is an i64 instruction.
  void loop(std::int64_t extent, const std::function<void(IrValue)>& body);
  void loop(IrValue extent, const std::function<void(IrValue)>& body);
  void loop(const Rounds&, IrValue extent, const std::function<void(IrValue)>& body);
  llvm::MDNode* independent = nullptr;      // the group of accesses of the loops being written
  std::vector<llvm::Metadata*> about_loop;  // further properties of the next loop that is closed
  llvm::MDNode* not_unrolled();             // one of them

  // ---- storage
  llvm::AllocaInst* variable(llvm::Type*, const llvm::Twine& name);  // of the function at hand
  IrValue at(std::uint64_t offset);                                  // address in the state, or of a cell that is apart
  IrValue find_cells(IrValue state);                                 // here, for `cells`
  IrValue header();
  IrValue load_i64(std::uint64_t offset);
  void store_i64(IrValue, std::uint64_t offset);
  IrValue load(DType, IrValue address, Access = {});  // register form
  IrValue load_truth(IrValue address);                // of a Boolean cell
  void store(DType, IrValue value, IrValue address, Access = {});
  IrValue offset(DType, IrValue base, IrValue index);  // address of an element
  void copy_bytes(IrValue to, IrValue from, DType, const Shape&);
  IrValue cell_address(CellId);  // of a window: as it was loaded
  IrValue window_address(std::uint64_t offset);
  IrValue array_address(ArrayId);  // at `position`
  void place_cell(CellId cell, IrValue address) { cell_places_[cell.index] = address; }
  void place_array(ArrayId array, IrValue data) { array_places_[array.index] = data; }
  void forget_packs(CellId);  // before it is written
  // A buffer: while the statement at hand runs, or for longer.
  IrValue scratch(DType, const Shape&, const llvm::Twine& name);
  IrValue scratch(DType, const Shape&, const llvm::Twine& name, Lifetime);
  IrValue scratch(std::uint64_t bytes, Lifetime);
  void begin_region() { whole.homes.clear(); }  // another one than before of `aliasing`

  // ---- values
  const Value& info(ValueId v) const { return module.core[v]; }
  bool small(const Shape& shape) const { return elements(shape) <= module.target.unrolled_elements; }
  bool small(ValueId v) const { return small(info(v).shape); }
  std::int64_t lanes(DType dtype) const { return module.target.lanes(dtype); }  // 1: the target has no vectors
  IrValue scalar(ValueId);
  IrValue element(ValueId, IrValue index, Access = {});
  IrValue address(ValueId);  // of its elements, to be read
  IrValue zeros(ValueId);    // address of as many zeros as it has elements
  void define(ValueId, IrValue scalar);
  void define_at(ValueId, IrValue address);  // its elements lie there and stay
  void define_copy(ValueId, IrValue address);
  bool is_defined(ValueId v) const { return whole.slots.contains(v.index); }
  IrValue result(ValueId);                               // where to compute its elements
  void compute(ValueId v) { module.compute(*this, v); }  // whatever is applied
  void prepare(ValueId v) {
    if (module.inlined(v)) compute(v);  // here after all
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

// Statements into instructions: the inside of one generated function.
//
// Every value has a slot in the function's entry block: scalars and tensors of at most
// Target::unrolled_elements elements an array, larger tensors a pointer to wherever their elements
// are. Slots are allocas, and SROA makes them registers and phis:
//
//   if c { %7 := copy %5 } else { %7 := copy %6 }      =>      %7 = phi [%5, then], [%6, else]
//
// A larger tensor that is computed lies in its own scratch buffer, or where it is stored; one that is
// loaded or popped is used where it lies, if Aliasing allows. Code on tensors is written once, as a
// walk over a shape with a body per element: the walk is unrolled for small ones and a loop
// nest otherwise.
#pragma once

#include <functional>
#include <span>
#include <unordered_map>

#include "lowering/llvm/module/aliasing.h"
#include "lowering/llvm/module/emission.h"
#include "lowering/steps/index_map.h"
#include "semantics/operators/windows.h"

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

// Scopes under which a load or store is known not to overlap with others of its loop; the group
// of those that may overlap, but with none of another round.
struct Access {
  llvm::MDNode* scope = nullptr;
  llvm::MDNode* noalias = nullptr;
  llvm::MDNode* group = nullptr;
};

// A pointwise value over the tensors that are in memory: its operands with the inlined
// ones replaced by theirs. Operands come before what is computed from them, the root last.
struct Expression {
  struct Leaf {
    ValueId value;
    Strides strides;  // by axis of the loop
    std::int64_t base = 0;
  };
  struct Node {
    ValueId value;
    IndexMap map;
    std::vector<std::size_t> operands;
    std::size_t leaf = SIZE_MAX;  // SIZE_MAX: computed from the operands
  };
  std::size_t rank = 0;  // of the loop
  std::vector<Node> nodes;
  std::vector<Leaf> leaves;
};

class PoolCode;

// What is computed of the operand's elements; then, of a mean, the quotient.
Lowering reduction_of(const Value&);
// What leaves the first element as it is. The type is that of registers, or vectors of it.
llvm::Constant* neutral(Lowering reduction, DType, llvm::Type*);

class Body {
 public:
  // The function is empty and returns i32, 0 or a fault; debug locations lead to `span`.
  Body(Emission&, llvm::Function*, const std::string& title, Span span, IrValue state);

  Emission& module;
  llvm::IRBuilder<> ir;
  IrValue state;
  PortPlaces ports;
  std::uint64_t header_at = 0;     // in the state: which header is told of faults
  IrValue other_header = nullptr;  // that of another state
  IrValue given = nullptr;         // addresses of the caller's inputs, while a cycle is pushed
  const Aliasing* aliasing = nullptr;
  std::function<IrValue()> cycle;                // i64, for faults
  IrValue position = nullptr, length = nullptr;  // segmented units: i64; length is unknown while one grows,
  llvm::AllocaInst* last_flag = nullptr;         // and MarkLast says where it ends
  bool can_fault = false;                        // so far
  bool tells_places = false;                     // into the header, what is computed

  void block(const steps::Block&);
  void enter(std::uint32_t place);
  void locate(Span);

  // ---- control (body.cc)
  // Returns `result` here, or through the common exit the code of a fault.
  void finish(const std::function<void()>& before_return = {}, int result = 0);
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
  // One call per element, in row-major order, with its offset in each of the strided views.
  using Visit = std::function<void(const std::vector<IrValue>&)>;
  void walk(const Shape&, const std::vector<Strides>& views, bool unrolled, const Visit&);
  // Its loops: axes along which all views advance evenly are one.
  struct Nest {
    Shape extents;
    std::vector<Strides> strides;  // by view
  };
  static Nest nest(const Shape&, const std::vector<Strides>& views);
  // The same where the first views are written, in several threads if that is worth it.
  struct Work {
    std::size_t written = 0;
    double nanoseconds = 0;     // of one call
    std::int64_t together = 1;  // calls along the last axis that one thread does
    double least = 0;           // calls
  };
  void walk(const Shape&, const std::vector<Strides>& views, bool unrolled, Work, const Visit&);
  void walk(const Nest&, bool unrolled, Work, const Visit&);

  // ---- threads (emit_parallel.cc)
  // Rounds of a loop: begin … end - 1, index_type; null: all of them.
  struct Rounds {
    IrValue begin = nullptr, end = nullptr;
  };
  // Whether so many rounds, of so many nanoseconds each, are worth several threads.
  bool splits(std::int64_t count, double nanoseconds) const;
  double nanoseconds_of_product(DType) const;  // and its addition
  // Calls body for the rounds 0 … count - 1, which are independent, in pieces, each done by some thread. What body
  // writes is a function of its own: nothing in it can fail, and values defined in it are not seen behind it.
  void parallel(std::int64_t count, double nanoseconds, const std::function<void(const Rounds&)>& body);
  void parallel(IrValue count, IrValue grain, const std::function<void(const Rounds&)>& body);
  IrValue grain(double nanoseconds);  // rounds of so many that are worth a thread
  void loop(const Rounds&, IrValue extent, const std::function<void(IrValue)>& body);

  // ---- parts (emit_part.cc)
  // What body writes becomes a function of its own, called here, which shares its values with the rest.
  void part(const std::function<void()>& body);

  // ---- storage (body.cc)
  llvm::AllocaInst* variable(llvm::Type*, const llvm::Twine& name);  // of the function at hand
  IrValue at(std::uint64_t offset);                                  // address in the state
  IrValue header();
  IrValue load_i64(std::uint64_t offset);
  void store_i64(IrValue, std::uint64_t offset);
  static void mark(llvm::Instruction*, Access);
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
  // A buffer: while the statement at hand runs, or for longer.
  IrValue scratch(DType, const Shape&, const llvm::Twine& name);
  IrValue scratch(DType, const Shape&, const llvm::Twine& name, Lifetime);
  IrValue scratch(std::uint64_t bytes, Lifetime);
  void begin_region() { homes_.clear(); }  // another one than before of `aliasing`

  // ---- values (body.cc)
  const Value& info(ValueId v) const { return module.core[v]; }
  bool small(const Shape& shape) const { return elements(shape) <= module.target.unrolled_elements; }
  bool small(ValueId v) const { return small(info(v).shape); }
  IrValue scalar(ValueId);
  IrValue element(ValueId, IrValue index, Access = {});
  IrValue address(ValueId);  // of its elements, to be read
  IrValue zeros(ValueId);    // address of as many zeros as it has elements
  void define(ValueId, IrValue scalar);
  void define_at(ValueId, IrValue address);  // its elements lie there and stay
  void define_copy(ValueId, IrValue address);
  IrValue result(ValueId);  // where to compute its elements
  void prepare(ValueId);    // an inlined value is computed here after all
  IrValue constant(std::int64_t index) {
    return llvm::ConstantInt::get(module.index_type(), static_cast<std::uint64_t>(index));
  }

  // ---- queues (emit_queue.cc)
  IrValue waiting(QueueId, std::uint32_t reader);  // i1: an element is there
  IrValue front(QueueId, std::uint32_t reader);    // its address
  void advance(QueueId, std::uint32_t reader);
  void advance(const steps::Operand&);
  IrValue past_all(const steps::Operand&);  // i1: the reader of the first element only has read it
  // Makes room, has the element written, counts it.
  void push(QueueId, const std::function<void(IrValue)>& write);
  void store_value(ValueId, IrValue address);  // all elements
  // i1: every operand that is present has an element waiting.
  IrValue ready(const std::vector<steps::Operand>&);
  // Networks (emit_network.cc): returns what is missing, if anything is; the greatest key goes to `key`.
  void leave_unless_ready(const std::vector<steps::Operand>&, IrValue key);
  void leave_unless_waiting(QueueId, std::uint32_t reader, IrValue key);
  void advance_operands(const std::vector<steps::Operand>&);
  void release(IrValue, std::uint64_t offset);  // stores; who acquires it sees what was stored before
  IrValue acquire(std::uint64_t offset);
  IrValue network_element(QueueId, IrValue number);  // its address
  IrValue network_key(QueueId, IrValue number);
  void network_push(QueueId, const std::function<void(IrValue)>& write);
  IrValue key = nullptr;  // of what is pushed
  // Those that are belated, or those that are not.
  void pop_operands(const std::vector<steps::Operand>&, bool belated = false);
  // Branches to `absent` unless all conditions hold; goes on in a new block where they do.
  void require(const std::vector<std::pair<ValueId, bool>>& when, llvm::BasicBlock* absent,
               const std::function<IrValue(ValueId)>& value_of);

  // ---- operators
  void compute(ValueId);
  IrValue scalar_operation(ValueId, const std::vector<IrValue>& operands);  // emit_scalar.cc

 private:
  struct Slot {
    llvm::AllocaInst* storage = nullptr;
    bool pointer = false;
  };
  Slot& slot(ValueId);
  llvm::BasicBlock* open_loop(IrValue extent, llvm::PHINode*& index);
  void close_loop(llvm::BasicBlock* header, llvm::PHINode* index, IrValue extent);
  CellId home(ValueId v) const { return aliasing == nullptr ? CellId{} : aliasing->home(v); }
  std::optional<std::uint32_t> home_output(ValueId v) const {
    return aliasing == nullptr ? std::nullopt : aliasing->home_output(v);
  }
  bool copied(const void* load) const { return aliasing == nullptr || aliasing->must_copy(load); }

  void end_function(const std::function<void()>& before_return, int result);
  void join_parts();  // emit_part.cc

  // emit_statements.cc
  std::size_t statement(const steps::Block&, std::size_t at);
  std::size_t grouped(const steps::Block&, std::size_t at, std::vector<ValueId>& members) const;
  bool may_lie_in_cell(ValueId) const;
  void begin(ValueId);
  void emit(const steps::Compute&);
  void emit(const steps::Copy&);
  void emit(const steps::LoadCell&);
  void emit(const steps::StoreCell&);
  void emit(const steps::MoveCell&);
  void emit(const steps::LoadArray&);
  void emit(const steps::StoreArray&);
  void emit(const steps::Push&);
  void emit(const steps::LoadInput&);
  void emit(const steps::StoreOutput&);
  void emit(const steps::Expect&);
  void emit(const steps::Assert&);
  void emit(const steps::SideCell&);
  void emit(const steps::MarkLast&);
  void emit(const steps::SegmentProduct&);
  void emit(const steps::Branch&);

  // emit_branch.cc
  struct Side {  // of a branch: what it defines, and what it leaves in cells
    std::map<ValueId, IrValue> values;
    std::map<CellId, IrValue> cells;
  };
  IrValue test(const steps::Test&);
  bool is_choice(const steps::Branch&) const;
  Side choose(const steps::Branch&);
  Side compute_side(const steps::Block&);
  std::map<ValueId, IrValue> defined_before(const steps::Branch&);
  IrValue choice(IrValue condition, IrValue yes, IrValue no);
  IrValue load_cell(CellId);

  // emit_elementwise.cc
  Expression expression(ValueId, bool root);
  std::size_t gather(Expression&, ValueId, const IndexMap&, bool root) const;
  std::size_t epilogue(const Expression&, const Shape&) const;
  bool can_be_epilogue(const Expression&, std::size_t leaf, const Shape&) const;
  std::vector<IrValue> evaluate(const Expression&, const std::function<IrValue(std::size_t)>& leaf);
  std::vector<IrValue> evaluate(const Expression&, std::span<const IrValue> offsets, std::span<const Access>);
  bool fits_vector(const Expression&, const Shape&) const;
  std::vector<IrValue> as_vectors(const Expression&, std::int64_t count);
  std::vector<Strides> leaf_views(const Expression&) const;
  std::vector<Access> separate(std::size_t count, std::size_t written = 1);
  Work work(const Expression&, std::size_t written) const;  // emit_parallel.cc
  std::size_t split_axis(const Shape& extents, const std::vector<Strides>& views, const Work&) const;
  void pointwise(ValueId);
  void loops(const std::vector<ValueId>& members);
  struct Strips {
    std::size_t kept = 0;    // axes in front of those that are reduced
    std::int64_t width = 0;  // columns of each; 0: none
  };
  Strips find_strips(const std::vector<ValueId>& members, const Shape&, const std::vector<Strides>& views) const;
  void strips(Strips, const std::vector<ValueId>& members, const Shape&, const std::vector<Strides>& views,
              const std::vector<IrValue>& to, Work,
              const std::function<void(const std::vector<IrValue>&, const std::vector<IrValue>&)>& body);
  void product_pointwise(ValueId, const Expression&, std::size_t product, std::size_t other);

  // emit_scalar.cc
  IrValue division(bool remainder, DType, ValueId, IrValue a, IrValue b);
  IrValue comparison(ScalarOp, DType, IrValue a, IrValue b);
  IrValue convert(DType to, DType from, IrValue x);
  IrValue from_half(DType from, IrValue);  // as f32
  IrValue to_half(DType to, DType from, IrValue);
  IrValue integer_power(DType, IrValue a, IrValue b);
  bool is_written_out(const OperatorInfo&, DType) const;
  IrValue library(std::string_view name, DType, const std::vector<IrValue>&);
  IrValue add(DType, IrValue a, IrValue b);
  IrValue multiply(DType, IrValue a, IrValue b);

  // spell_scalar.cc
  friend class Instructions;
  IrValue spell(scalar::Term (*body)(std::span<const scalar::Term>), DType, ValueId,
                const std::vector<IrValue>& operands);
  IrValue extremum(bool maximum, DType, IrValue a, IrValue b);

  // emit_product.cc
  struct Matrix {  // an operand: its last two axes' strides
    ValueId value;
    Shape shape;
    std::int64_t row, column;
  };
  struct Product {  // C[m, n] = A[m, inner] B[inner, n]
    DType dtype{};
    IrValue a = nullptr, b = nullptr;  // addresses
    IrValue c = nullptr;               // offset of C among all elements of the result
    std::int64_t m = 0, inner = 0, n = 0;
    std::int64_t a_row = 0, a_inner = 0, b_inner = 0, b_column = 0;  // strides
    // Where an extent is known only while running: it, in index_type; m or inner is then very large.
    IrValue all_m = nullptr, all_inner = nullptr;
    IrValue so_far = nullptr;  // address of sums that these are added to
    // Of one row or column: the other operand, where it is a constant of so many elements that its order matters.
    const Tensor* constant = nullptr;
    IrValue packed = nullptr;  // B in panels, one behind the other, as `tiles` takes them
    // Where the element (i, j) that is computed lies, if not there: in row j of a single column, or in
    // column i of this row.
    bool turned = false;
    IrValue row = nullptr;
    Rounds panels, row_tiles;  // of gemm: those that are computed
  };
  struct Panel {  // some columns of B: element (k, j) lies at k * inner_stride + (column + j) * column_stride
    IrValue data = nullptr, column = nullptr;
    std::int64_t inner_stride = 0, column_stride = 0;
    std::int64_t columns = 0, width = 0;  // those there are, and those computed
    IrValue column_of_c = nullptr;        // where it is not `column`
  };
  struct Spot {  // an element of C: its offset in the whole result, its place in the matrix
    IrValue offset, row, column;
  };
  // Takes each element of the result once: `count` neighbouring ones from a spot on, along its row, or along its column
  // if it has only one: the first ones of a vector, or a scalar.
  using Sink = std::function<void(const Spot&, IrValue elements, std::int64_t count)>;
  std::int64_t lanes(DType) const;  // of a vector register; 1: the target has none
  IrValue multiply_add(DType, IrValue a, IrValue b, IrValue sum);
  IrValue no_terms(DType, llvm::Type*);
  IrValue place(IrValue base, IrValue index, std::int64_t stride);
  Matrix matrix(ValueId, bool transposable);
  void matmul(ValueId, ValueId a, ValueId b);
  void products(ValueId, ValueId a, ValueId b, bool unrolled, const Sink&);
  Product product_of(ValueId, Matrix& a, Matrix& b) const;
  void product_unrolled(const Product&, ValueId a, ValueId b, const std::vector<IrValue>& offsets, const Sink&);
  void product(const Product&, const Sink&);
  const Tensor* resting(const Product&, const Matrix& x, const Matrix& y) const;
  void packed_constant(const Product&, const Sink&);
  Spot spot(const Product&, IrValue row, IrValue column);
  void store_elements(DType, IrValue vector, std::int64_t count, IrValue to, Access);
  bool is_transposition(ValueId) const;

  // emit_gemm.cc
  void each_row_tile(const Product&, std::int64_t size, const std::function<void(IrValue, std::int64_t)>& body);
  void each_tile(const Rounds&, std::int64_t extent, std::int64_t size,
                 const std::function<void(IrValue, std::int64_t)>& body);
  std::int64_t widest_tile(const Product&) const;
  void tiles(const Product&, const Sink&);
  std::int64_t block_depth(DType) const;
  double nanoseconds_of_sum(const Product&, std::int64_t sums) const;  // of so many that read the same elements of B
  void share_out(const Product&, const std::function<void(const Product&)>& part);
  void gemm(const Product&, const Sink&);
  void gemm_panels(const Product&, const Sink&);
  void gemm_by_unknown_blocks(const Product&, IrValue to, const Sink&);
  void gemm_by_blocks(const Product&, IrValue sums, const Sink&);
  void gemm_into(const Product&, IrValue to);
  void gemm_onto(const Product&, IrValue sums, IrValue to);
  void rows_into(const Product&, std::int64_t m, IrValue to);
  void fill_panel(const Product&, IrValue pack, IrValue column, std::int64_t columns, std::int64_t width);
  void fill_panel_transposed(const Product&, IrValue pack, IrValue from, std::int64_t columns, std::int64_t width);
  void transpose_square(std::vector<IrValue>& vectors);
  // More terms: of the same sums.
  using Terms = std::vector<std::pair<const Product*, Panel>>;
  void tile(const Product&, const Panel&, IrValue row, std::int64_t height, const Sink&, const Terms& more = {});
  IrValue load_elements(DType, unsigned lanes, std::int64_t count, IrValue from);

  // emit_packed.cc
  struct PackedTerm {
    Product product;
    std::size_t pack;
  };
  Product with_pack_right(Product);
  void packed_product(const Product&, std::size_t pack, const Sink&);
  void packed_sum(std::vector<PackedTerm>, const Sink&, const std::function<void()>& otherwise);
  llvm::Function* filler(const Product&, std::int64_t width);
  void fill_pack(const PackedTerm&);
  PackedTerm packed_term(ValueId);
  std::size_t summed_leaf(const Expression&, std::size_t product, const Shape&) const;
  void forget_packs(CellId);  // before it is written

  // emit_matvec.cc
  void dots(const Product&, const Sink&);
  IrValue dots_of(const Product&, IrValue row, std::int64_t rows);
  IrValue fold(DType, std::vector<IrValue> vectors);

  // emit_reduction.cc
  Strides reduced_view(ValueId) const;
  std::int64_t reduced_count(ValueId) const;
  void each_result(ValueId, IrValue base, const std::function<IrValue(IrValue)>& f);
  void begin_reduction(ValueId, IrValue base);
  IrValue combined(Lowering, DType, IrValue a, IrValue b);
  void combine(ValueId, IrValue element, IrValue place, Access);
  void end_reduction(ValueId, IrValue base);

  // emit_sums.cc
  struct Sum {
    ValueId value;
    std::size_t member;       // of its loop
    std::int64_t run, lanes;  // elements of a run, and over how many sums they are spread
    std::vector<IrValue> parts = {};
  };
  using LoopBody = std::function<void(const std::vector<IrValue>& places, const std::vector<IrValue>& offsets)>;
  std::vector<Sum> sums_in_lanes(const std::vector<ValueId>& members) const;
  std::vector<Sum> store_sums(std::vector<Sum>&, const Shape&, std::vector<Strides>& views, std::vector<IrValue>& to);
  void combine_written_out(Sum&, std::int64_t element, IrValue value, IrValue place);
  void rows(const Nest&, const std::vector<Sum>&, const std::vector<IrValue>& to, Work, const LoopBody&);
  void stored_rows(const Sum&, const Shape&, IrValue elements, IrValue result, Work);
  void lane_loop(std::int64_t count, DType, const std::function<void(IrValue)>& body);
  IrValue folded(ValueId, std::vector<IrValue> parts);
  void extremum_place(ValueId, const core::Apply&, bool maximum);

  // emit_convolution.cc, emit_pooling.cc: whether code was generated, instead of a call of the kernel
  friend class WindowCode;
  bool windows(ValueId, const core::Apply&);
  const Tensor* constant_filter(const core::Apply&) const;
  bool convolution(ValueId, const core::Apply&);
  std::optional<Convolution> generated_convolution(ValueId, const core::Apply&) const;
  bool convolution_pooled(ValueId, PoolCode&, std::int64_t outputs, IrValue to);
  bool pooling(ValueId, const core::Apply&);

  // emit_structure.cc
  void apply(ValueId, const core::Apply&);
  void copy_strided(const Shape&, DType, IrValue to, IrValue to_offset, const Strides& to_strides, ValueId from,
                    IrValue from_offset, const Strides& from_strides);
  void fill_zero(ValueId, IrValue address);
  void reshape(ValueId, ValueId x);
  void concat(ValueId, const core::Apply&);
  void move_window(ValueId, const steps::Window&);
  void array(ValueId, const core::Apply&);
  void copy_into(ValueId, IrValue to, std::int64_t begin, const Strides& to_strides, ValueId x);
  void place_slice(ValueId, const core::Apply&);
  void index(ValueId, const core::Apply&);
  void place(ValueId, const core::Apply&);
  IrValue checked_offset(ValueId, const Shape& whole, const std::vector<ValueId>& operands);
  void iota(ValueId);
  void one_hot(ValueId, ValueId at);

  // emit_indexing.cc
  void move(ValueId, const core::Apply&);
  void sum_moves(ValueId, const core::Apply&);

  // emit_call.cc: what is not in the equations
  IrValue of_run() const;
  void random(ValueId, const core::Apply&);
  void kernel(ValueId, const core::Apply&);
  void parameter(ValueId, ValueId init);
  void call(ValueId, const core::Call&);
  void iterate(ValueId, const core::Call&);  // emit_iteration.cc

  llvm::Function* function_;
  IrValue worker_ = nullptr;  // in a piece of a parallel loop: the thread that does it, index_type
  llvm::BasicBlock* exit_;
  llvm::AllocaInst* code_;
  llvm::DISubprogram* subprogram_;
  std::string title_;
  Span here_;
  std::uint64_t stack_used_ = 0;
  Lifetime now_;                             // the statement at hand
  llvm::MDNode* independent_ = nullptr;      // the group of accesses of the loops being written
  std::vector<llvm::Metadata*> about_loop_;  // further properties of the next loop that is closed
  std::unordered_map<std::uint32_t, Slot> slots_;
  std::unordered_map<std::uint32_t, IrValue> homes_, cell_places_, array_places_;
  // What holds the slots and buffers of values: the function of which all others are parts.
  struct Whole {
    llvm::Function* function;
    IrValue state;
  } whole_;
  std::vector<llvm::Function*> parts_;
};

}  // namespace rml::codegen

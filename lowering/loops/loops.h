// Loops: the form below steps, in which whatever is computed is computed element by element.
//
// A statement of steps computes whole tensors; here it is a nest of loops over buffers, whose body loads elements,
// operates on them and stores them. A program keeps its units, its branches and the order of its statements:
//
//   %5 := matmul %3 %4          nest i:2 j:3 { store %5[3*i + j] -0 }
//                               nest i:2 j:3 sum k:4 { t0 = load %3[4*i + k]  t1 = load %4[3*k + j]
//                                                      t2 = mul f32 t0 t1     sum %5[3*i + j] add f32 t2 }
//
// Loops run in the order of their axes, the last one innermost, and their indices upwards. Bits depend on that order
// and on what the body says alone: whoever spells a program decides nothing that is seen in its rows.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "lowering/steps/steps.h"
#include "semantics/operators/operator.h"

namespace rml::loops {

using BufferId = Id<struct BufferTag>;

enum class Space : std::uint8_t {
  constant,  // elements that never change: of the Const `value`, or those that cell `index` begins with
  value,     // of `value`, at the instant at hand
  scratch,   // between the statements of one value, and of what a round of an iteration takes and gives
  cell,      // of the state: `index` is the CellId; one that is local is set before it is looked at
  array,     // of the segment, at its position: `index` is the ArrayId
  input,     // what the caller gave: `index` is the input; in units, a Copy of it takes the next one that was given
  output,    // what the caller gets: `index` is the output
};

// Dense, row-major elements of one dtype.
struct Buffer {
  Space space = Space::value;
  DType dtype{};
  Shape shape;
  ValueId value;                    // whose elements they are; invalid where there is none
  std::uint32_t index = 0;          // of what the space says
  std::uint32_t body = UINT32_MAX;  // in Program::bodies, to which values and scratch belong; UINT32_MAX: the program
};

// The element at start + steps[k] * (index of axis k) + …, in elements of the buffer; indices that are computed come in
// addition, each times its step. These were checked before.
struct Access {
  BufferId buffer;
  std::int64_t start = 0;
  std::vector<std::int64_t> steps;                               // by axis of the nest
  std::vector<std::pair<std::uint32_t, std::int64_t>> computed;  // (element of the body, step)
};

// ---- the elements of a nest's body: each that yields something is named by its position, its operands come before it

struct Number {
  Tensor value;  // a scalar
};
struct Index {  // of the loop, i64
  std::size_t axis = 0;
};
struct Load {
  Access from;
};
// One operation that is not made of others, of operands of one dtype (but the condition of select).
struct Operation {
  ScalarOp op = ScalarOp::none;
  DType dtype{};  // of the operands
  std::vector<std::uint32_t> operands;
};
struct Convert {  // as scalar::convert does
  DType to{}, from{};
  std::uint32_t operand = 0;
};
struct LibraryCall {  // of the C library, by its name for doubles
  std::string function;
  DType dtype{};
  std::vector<std::uint32_t> operands;
};
struct IsNan {  // bool
  DType dtype{};
  std::uint32_t operand = 0;
};
struct Store {
  Access to;
  std::uint32_t element = 0;
};
// The element at `onto` becomes itself `op` the operand, in the order of the loops.
struct Sum {
  Access onto;
  ScalarOp op = ScalarOp::add;
  DType dtype{};
  std::uint32_t element = 0;
};
// Stops the run where the element is true: a fault of `kind` (rmlrt.h) at a site of the program.
struct Check {
  std::uint32_t bad = 0;
  int kind = 0;
  std::uint32_t site = 0;
  std::uint32_t value = UINT32_MAX, bound = UINT32_MAX;  // elements that the message tells, i64; UINT32_MAX: none (0)
};
using Element = std::variant<Number, Index, Load, Operation, Convert, LibraryCall, IsNan, Store, Sum, Check>;

enum class Role : std::uint8_t {
  each,  // its rounds are independent of one another
  sum,   // they are combined, or the order matters otherwise
};
struct Axis {
  std::int64_t extent = 0;
  Role role = Role::each;
};
struct Nest {
  std::vector<Axis> axes;  // none: the body once
  std::vector<Element> body;
  ValueId of;  // the value that is computed: whose equation a reader is shown
};

// ---- around nests

struct Block;

// All elements, in order; buffers of the same number of them that do not overlap. An output that need not be present is
// present where it is copied to, and nothing else writes it.
struct Copy {
  BufferId to, from;
};
// A kernel of the runtime (runtime/kernels/kernel.h), by its C symbol.
struct Kernel {
  std::string symbol;
  ValueId of;  // whose application tells shapes and attributes
  BufferId result;
  std::vector<BufferId> operands;
};
// Of a C function of the user: an ExternalNode of the core at hand.
struct ExternalCall {
  std::uint32_t external = 0;
  ValueId of;
  std::vector<BufferId> operands, results;
};
// The rounds of an iteration, 0 to length - 1, or the other way round. What a round needs and hands on is in `block`
// and around the statement, but for elements of sequences.
struct Rounds {
  ValueId of;
  std::uint32_t body = 0;  // in Program::bodies: whose values the block computes
  std::int64_t length = 0;
  bool reverse = false;
  // Copies of elements along the first axis, those of the round's number: of a sequence before the round, into a
  // stacked one after it.
  struct Slice {
    BufferId whole, element;
  };
  std::vector<Slice> taken, stacked;
  std::unique_ptr<Block> block;  // never null
};
struct Branch {
  steps::Test::Kind kind = steps::Test::value;  // of what is tested
  BufferId condition;                           // Test::value: a Boolean scalar
  bool positive = true;
  std::unique_ptr<Block> then_block, else_block;  // never null; may be empty
};
struct Push {
  QueueId queue;
  BufferId from;
};
// As in steps, of a Boolean scalar in a buffer.
struct Assert {
  BufferId condition;
  std::uint32_t site = 0;
};
struct MarkLast {
  BufferId condition;
  bool positive = true;
};
using steps::Expect;
using steps::SideCell;

using Statement =
    std::variant<Nest, Copy, Kernel, ExternalCall, Rounds, Branch, Push, Expect, Assert, SideCell, MarkLast>;
struct Block {
  std::vector<Statement> statements;
};

struct Pass {
  bool backward = false;
  Block prologue, body;
};
// What the unit of the same number in steps does; flags and queues are told there.
struct Unit {
  std::vector<BufferId> operands;  // where those of the unit in steps go, in the same order
  Block instant, before;
  std::vector<Pass> passes;
  Block commit;
};

struct Program {
  std::shared_ptr<const steps::Program> steps;
  std::vector<std::shared_ptr<const steps::Program>>
      bodies;  // of iterations, one for each call; their values are theirs
  std::vector<Buffer> buffers;
  std::vector<Unit> units;
  std::vector<BufferId> rows;  // of the emitter's operands
};

// Of each element of the nest; of what yields nothing, DType::boolean.
std::vector<DType> dtypes(const Program&, const Nest&);

// What cannot be made of a program, with its place in the source.
struct Refusal {
  Span span;
  std::string what;  // "`fft`, a kernel of the runtime"
};

// Text form (`rmlc show loops`), and its inverse.
std::string print(const Program&);

// What a program must be; the first violation as text, or empty.
std::string verify(const Program&);

}  // namespace rml::loops

// Loops: the form below steps, in which every computation is expressed element by element.
//
// A statement of steps computes whole tensors. Here it becomes a nest of loops over buffers, whose body loads elements,
// operates on them and stores them. A program keeps its units, its branches and the order of its statements:
//
//   %5 := matmul %3 %4          nest i:2 j:3 { store %5[3*i + j] -0 }
//                               nest i:2 j:3 sum k:4 { t0 = load %3[4*i + k]  t1 = load %4[3*k + j]
//                                                      t2 = mul f32 t0 t1     sum %5[3*i + j] add f32 t2 }
//
// Loops run in the order of their axes, the last one innermost, and their indices count upwards. The bits of results
// depend only on that order and on the body. So a back end makes no decision that is visible in a row.
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
  constant,  // elements that never change: of the Const `value`, or the initial elements of cell `index`
  value,     // elements of `value`, at the current instant
  scratch,   // temporary: between the statements of one value, or an argument or a result of a round of an iteration
  cell,      // in the state: `index` is the CellId; a local cell is written before it is read
  array,     // in the segment, at the current position: `index` is the ArrayId
  input,     // elements from the caller: `index` is the input; in units, a Copy from it takes the next element that was
             // given
  output,    // elements for the caller: `index` is the output
};

// Dense, row-major elements of one dtype.
struct Buffer {
  Space space = Space::value;
  DType dtype{};
  Shape shape;
  ValueId value;            // the value that the elements belong to; invalid if there is none
  std::uint32_t index = 0;  // number whose meaning depends on the space
  // Index in Program::bodies of the body that owns a value or scratch; UINT32_MAX: the program itself.
  std::uint32_t body = UINT32_MAX;
};

// The element at start + steps[k] * (index of axis k) + …, counted in elements of the buffer. Computed indices are
// added, each times its step; they must have been checked before.
struct Access {
  BufferId buffer;
  std::int64_t start = 0;
  std::vector<std::int64_t> steps;  // stride for each axis of the nest
  // Pairs: an element of the body, and the step that it is multiplied by.
  std::vector<std::pair<std::uint32_t, std::int64_t>> computed;
};

// ---- The elements of a nest's body. An element that yields a result is named by its position, and follows its
// operands.

struct Number {
  Tensor value;  // a constant scalar
};
struct Index {  // yields the index of a loop, as an i64
  std::size_t axis = 0;
};
struct Load {
  Access from;
};
// An operation that is not composed of others. Its operands have one dtype (except the condition of select).
struct Operation {
  ScalarOp op = ScalarOp::none;
  DType dtype{};  // dtype of the operands
  std::vector<std::uint32_t> operands;
};
struct Convert {  // converts an element, as scalar::convert does
  DType to{}, from{};
  std::uint32_t operand = 0;
};
struct LibraryCall {  // calls a function of the C library, by its name for doubles
  std::string function;
  DType dtype{};
  std::vector<std::uint32_t> operands;
};
struct IsNan {  // yields true for NaN, as a bool
  DType dtype{};
  std::uint32_t operand = 0;
};
struct Store {
  Access to;
  std::uint32_t element = 0;
};
// Combines the element at `onto` with the operand by `op`, in the order of the loops.
struct Sum {
  Access onto;
  ScalarOp op = ScalarOp::add;
  DType dtype{};
  std::uint32_t element = 0;
};
// Stops the run if the element `bad` is true: a fault of `kind` (rmlrt.h) at a site of the program.
struct Check {
  std::uint32_t bad = 0;
  int kind = 0;
  std::uint32_t site = 0;
  // Elements of type i64 that the message shows; UINT32_MAX: 0 is shown.
  std::uint32_t value = UINT32_MAX, bound = UINT32_MAX;
};
using Element = std::variant<Number, Index, Load, Operation, Convert, LibraryCall, IsNan, Store, Sum, Check>;

enum class Role : std::uint8_t {
  each,  // the rounds of the axis are independent of one another
  sum,   // the rounds are combined, or their order matters otherwise
};
struct Axis {
  std::int64_t extent = 0;
  Role role = Role::each;
};
struct Nest {
  std::vector<Axis> axes;  // axes of the loops; empty: the body runs once
  std::vector<Element> body;
  ValueId of;  // the value that is computed; messages and texts show its equation
};

// ---- statements around nests

struct Block;

// Copies all elements, in order, between buffers of the same size that do not overlap. If an output may be absent, it
// is present exactly where it is copied to, and nothing else writes it.
struct Copy {
  BufferId to, from;
};
// A call of a kernel of the runtime (runtime/kernels/kernel.h), by its C symbol.
struct Kernel {
  std::string symbol;
  ValueId of;  // the value whose application determines shapes and attributes
  BufferId result;
  std::vector<BufferId> operands;
};
// A call of a C function of the user: an ExternalNode of the current core.
struct ExternalCall {
  std::uint32_t external = 0;
  ValueId of;
  std::vector<BufferId> operands, results;
};
// The rounds of an iteration, from 0 to length - 1, or in reverse. `block` holds the statements of a round; `take` and
// `stack` copy the elements of sequences.
struct Rounds {
  ValueId of;
  std::uint32_t body = 0;  // index in Program::bodies: the block computes the values of this body
  std::int64_t length = 0;
  bool reverse = false;
  // Copies elements along the first axis at the number of the round: from a sequence before the round, or into a
  // stacked sequence after it.
  struct Slice {
    BufferId whole, element;
  };
  std::vector<Slice> taken, stacked;
  std::unique_ptr<Block> block;  // never null
};
struct Branch {
  steps::Test::Kind kind = steps::Test::value;  // the kind of test
  BufferId condition;                           // for Test::value: a Boolean scalar
  bool positive = true;
  std::unique_ptr<Block> then_block, else_block;  // never null; may be empty
};
struct Push {
  QueueId queue;
  BufferId from;
};
// The assert of steps, whose condition is here a Boolean scalar in a buffer.
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

struct Sweep {
  bool backward = false;
  Block prologue, body;
};
// The statements of the unit of the same number in steps. Flags and queues are described there.
struct Unit {
  std::vector<BufferId> operands;  // where the operands of the unit in steps are put, in the same order
  Block instant, before;
  std::vector<Sweep> sweeps;
  Block commit;
};

struct Program {
  std::shared_ptr<const steps::Program> steps;
  std::vector<std::shared_ptr<const steps::Program>>
      bodies;  // bodies of iterations, one for each call; each body has values of its own
  std::vector<Buffer> buffers;
  std::vector<Unit> units;
  std::vector<BufferId> rows;  // buffers into which the emitter's operands are put
};

// The dtype of each element of the nest; DType::boolean for elements without a result.
std::vector<DType> dtypes(const Program&, const Nest&);

// A part of a program that cannot be lowered, with its place in the source.
struct Refusal {
  Span span;
  std::string what;  // the refused operation, for example "`fft`, a kernel of the runtime"
};

// The text form of a program (`rmlc show loops`).
std::string print(const Program&);

// Checks what must hold of a program; returns the first violation as text, or empty.
std::string verify(const Program&);

}  // namespace rml::loops

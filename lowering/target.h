// The machine that code is made for, as data: made once of what the user asks for, completed where LLVM knows the
// processor, and handed down to all that decides by it.
//
// Every size, limit and cost that code generation decides by stands here, and nowhere else in lowering (tests/lint
// holds it). Those by which passes before code generation decide are the same for all processors: steps do not depend
// on one. Whatever the bits of results depend on, but for the orders of sums that follow the vectors, is in Numeric.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>

#include "semantics/operators/operator.h"
#include "semantics/values/type.h"

namespace rml {

// What the user asks for.
struct TargetOptions {
  std::string triple;           // empty: the host's
  std::string cpu = "generic";  // "native": the host's
  int optimization = 2;         // 0…3
  bool small = false;           // code is short before it is fast, where it is optimised
  bool fast_math = false;
  bool strict_math = false;         // products, reductions and functions exactly as in the reference engine
  std::uint32_t threads = 1;        // at most so many, for loops that are worth it (runtime/base/parallel.h)
  std::uint32_t part = 2000;        // statements of a function: a list of more than twice as many is several
  std::uint32_t large_step = 5000;  // instructions: NODE_run calls a larger one
  double work_of_thread = 2500;     // nanoseconds: less is not worth another thread
};

// How results are rounded, and in which order sums run.
struct Numeric {
  bool strict = false;               // products, reductions and functions exactly as in the reference engine
  bool fast = false;                 // LLVM may reorder
  bool fused = false;                // a product and a sum are one instruction, rounded once
  bool calls_libm = false;           // functions are those of the C library, not the instructions of functions.cc
  std::int64_t sum_bytes = 128;      // a sum along a row is spread over as many lanes as fit
  std::int64_t fewest_lanes = 4;     // … and is in order where a row has fewer elements
  std::int64_t fewest_extrema = 32;  // … as extrema are: to put lanes together takes longer than for sums
  std::int64_t chains = 4;           // a sum in registers is at most so many, so as not to wait for each addition
  // … of one with so many terms: each chain has two of them at least.
  std::int64_t chains_of(std::int64_t terms) const {
    const auto most = static_cast<std::uint64_t>(std::max<std::int64_t>(terms / 2, 1));
    return std::min(static_cast<std::int64_t>(std::bit_floor(most)), chains);
  }
  std::int64_t blocks_onto = 8;  // a product of more blocks is summed up before it is added to what is there
};

// Nanoseconds, but where instructions are said. What decides is mostly their order.
struct Costs {
  // An operation on one element: alone, or a lane's part of a vector where there are vectors of it.
  double simple = 0.3, division = 2, root = 2, elementary = 6, power = 12;
  // Vectors do not help: a division of integers, a call of the C library.
  double integer_division = 3, call = 8;
  double fused_product = 0.3, product = 0.5;  // of floats and its addition: two a cycle, or one
  double byte = 0.015;                        // read or written, in a second-level cache
  double work_of_thread = TargetOptions().work_of_thread;
  double uneven_rows = 0.9;  // how much of its use is left where each thread packs all panels of a product
  double pooling = 4;        // of a byte that is pooled, in bytes read or written
  double tap = 2;            // of a convolution, beside its products, in products of vectors: loads and indices
  double channels = 0.95;    // how much of its use is left where a convolution transposes its results

  // An element of f32 in its loop, from memory to memory: tasks are cut before there is a processor with vectors of a
  // known size, so that these figures are not made of those above. They are rough, and only balance tasks.
  struct OfTask {
    double simple = 0.3, function = 2, product = 0.06, other = 4;
    double worth = 5'000;  // a hand-over with its wake-ups (benchmarks/channels) is a few hundredths of it
  } of_task;

  // Instructions.
  int wrong_guess = 24;                   // … take less than a jump that was guessed wrong
  std::size_t written_out_function = 12;  // a function that is not called
};

struct Target {
  // Code is short before it is fast: that of microcontrollers, unless all optimisation is asked for, or none.
  bool size_first = false;

  // ---- what LLVM knows of the processor
  unsigned vector_bits = 0;  // of a vector register
  unsigned loop_bits = 0;    // of the vectors that LLVM makes loops of
  bool guesses = false;      // where jumps lead: a wrong guess takes as long as many instructions

  bool has_vectors() const { return vector_bits >= 128; }
  // Elements of a vector; 1: there are no vectors of them.
  std::int64_t lanes(DType dtype) const {
    return std::max<std::int64_t>(vector_bits / 8 / static_cast<std::int64_t>(byte_size(dtype)), 1);
  }

  // … of one that is divided, or whose root is taken: 512 bits take as long as 256 twice.
  std::int64_t divided_lanes(DType dtype) const {
    return std::min(lanes(dtype), most_divided_bytes / static_cast<std::int64_t>(byte_size(dtype)));
  }
  std::int64_t most_divided_bytes = 32;

  // ---- registers: of 16 vectors 12 hold sums, of 32 (which come with 512 bits) 24
  std::int64_t sums() const { return vector_bits >= 512 ? 2 * sums_of_16 : sums_of_16; }
  std::int64_t sums_of_16 = 12;
  std::int64_t sums_under_way = 8;  // additions that do not wait for each other hide how long one takes
  // A tile of a product: its rows, of two vectors each.
  std::int64_t tile_rows(DType dtype) const { return lanes(dtype) > 1 ? sums() / 2 : 2; }
  // … and vectors in a row of a product that has so many rows and packs nothing, or has a pack.
  std::int64_t row_vectors(std::int64_t rows) const { return rows == 1 ? 8 : rows == 2 ? 4 : 2; }
  // Vectors of columns that so many reductions add up side by side.
  std::int64_t strip_vectors(std::int64_t reductions) const {
    const auto fitting = static_cast<std::uint64_t>(std::max<std::int64_t>(sums_of_16 / reductions, 1));
    return std::min<std::int64_t>(static_cast<std::int64_t>(std::bit_floor(fitting)), sums_under_way);
  }

  // ---- caches
  std::uint64_t line_bytes = 64;
  std::int64_t near_bytes = 32 * 1024;     // of a first-level cache, with room for what streams through
  std::int64_t second_bytes = 256 * 1024;  // of a second-level cache: half of the smaller ones
  std::int64_t page_bytes = 4096;          // within which processors read ahead by themselves
  std::int64_t near_elements = 512;        // a smaller matrix is near in any order, and stays there
  std::int64_t longest_strip = 512;        // columns that reductions add up in strips: more leave the near cache
  std::int64_t longest_image_row = 200;    // columns of an image seen as a row, so that a row's sums lie near by
  std::int64_t constant_bytes() const { return near_bytes / 2; }  // smaller constants share it with what they meet

  // ---- storage
  std::int64_t unrolled_elements = 16;         // tensors of at most so many live in registers: code on them is unrolled
  std::int64_t stack_elements = 64;            // … and of at most so many, on the stack,
  std::uint64_t stack_bytes = 16 * 1024;       // while there is room
  std::uint64_t most_group_bytes = 64 * 1024;  // states that are stepped in lanes
  std::uint64_t lines_ahead = 4;               // of a state that is stepped soon: further ones follow by themselves
  std::uint64_t first_of_ring = 4;    // elements, a power of two: more where they do not fill a line of a cache
  std::int64_t asked_elements = 512;  // a larger tensor is not kept for others at every instant: they ask for it

  // ---- how much is written out
  std::uint32_t loop_values = 128;        // in one loop: longer basic blocks take LLVM too long
  std::uint32_t repeated_operations = 8;  // of a chain on one tensor that each reader computes again
  // Rows and columns of a square that is transposed in registers: of more, LLVM looks for better ways at length.
  std::int64_t fewest_transposed = 4, most_transposed = 8;
  std::int64_t fewest_in_vector = 4;             // elements of a small tensor that is computed as one vector
  std::int64_t unrolled_taps = 16;               // of a convolution's row
  std::int64_t stride_places = 36;               // of a convolution's gradient, for each of which there is code
  std::int64_t pool_taps = 64, pool_stride = 4;  // of a pooling window: more are left to the kernel
  std::int64_t filter_taps = 3;  // of a row: so many are worth a tile of their own in a filter's gradient
  std::uint32_t part = TargetOptions().part, large_step = TargetOptions().large_step;
  std::uint32_t small_step = 300;  // instructions: to compile one of fewer twice takes no time to speak of
  double long_step = 20000;        // instructions executed: more than a hundred times what a call takes

  std::size_t worth_a_question = 12;  // instructions that lanes execute for none of them otherwise

  // ---- products
  static constexpr std::uint64_t moved_bytes = 2048;  // of a shift register whose rows are moved where it lies
  static constexpr std::int64_t few_rows = 4;  // of so many, a copy of the matrix in panels is not worth its while
  std::int64_t fewest_packed_columns = 8;
  std::int64_t fewest_row_columns = 64;  // of a single packed row: its sums fill registers, or wait for each other
  std::int64_t fewest_moves = 4;         // of a window, until all rows are new
  // Over a segment: at least so many rows and columns, at most so many rows at an instant.
  std::int64_t fewest_batched = 4, most_batched_rows = 16;

  // ---- threads
  std::uint32_t threads = TargetOptions().threads;
  std::int64_t pieces_of_thread = 4;    // enough for all threads to be done at about the same time
  std::int64_t elements_together = 64;  // along the last axis: whole vectors, and no line of a cache in two threads
  // A loop of a body so long, with all its rounds so long, is not written out; of more than that many rounds, none is.
  std::size_t unrolled_body = 80, unrolled_loop = 900;
  std::uint64_t rounds_looked_at = 10;
  // LLVM may unroll so few rounds, or a nest of so few, as a whole.
  std::int64_t unrolled_by_llvm = 128;
  double nest_unrolled_by_llvm = 1024;

  Costs costs;
};

// Without what LLVM knows.
Target target_for(const TargetOptions&);
Numeric numeric_for(const TargetOptions&);

}  // namespace rml

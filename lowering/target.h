// The machine that code is generated for, as data: sizes, limits and costs. A Target is made once from the options, is
// completed by LLVM's knowledge of the processor, and is handed to every function that decides by it.
//
// Every number that code generation decides by is in this file, and nowhere else in lowering (tests/lint checks that).
// The numbers that passes before code generation use are the same for all processors, so steps do not depend on the
// processor. Numeric holds everything that affects the bits of results, except that orders of sums also follow the
// vectors of the target.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>

#include "semantics/operators/operator.h"
#include "semantics/values/type.h"

namespace rml {

// The options that the user sets.
struct TargetOptions {
  std::string triple;           // LLVM's target triple; empty: the host's
  std::string cpu = "generic";  // name of the processor; "native": the host's
  int optimization = 2;         // 0…3
  bool small = false;           // prefer short code to fast code, where code is optimised
  bool fast_math = false;
  bool strict_math = false;   // products, reductions and functions exactly as in the reference engine
  std::uint32_t threads = 1;  // largest number of threads for a loop (runtime/base/parallel.h)
  // Statements of a function: a list of more than twice as many is split over several functions.
  std::uint32_t part = 2000;
  std::uint32_t large_step = 5000;  // instructions: NODE_run calls a step that is larger, instead of inlining it
  double work_of_thread = 2500;     // nanoseconds; a loop with less work is not worth another thread
};

// How results are rounded, and in which order sums run.
struct Numeric {
  bool strict = false;            // products, reductions and functions exactly as in the reference engine
  bool fast = false;              // LLVM may reorder operations on floats
  bool fused = false;             // a product and a sum are one instruction, rounded once
  bool calls_libm = false;        // functions are those of the C library, not the operations of functions.cc
  std::int64_t sum_bytes = 128;   // bytes: a sum along a row is spread over as many lanes as fit
  std::int64_t fewest_lanes = 4;  // a row with fewer elements is summed in order
  // A row with fewer elements has its minimum or maximum computed in order, because combining lanes takes longer than
  // for sums.
  std::int64_t fewest_extrema = 32;
  // A sum in registers has at most this many partial sums, which hide the latency of an addition.
  std::int64_t chains = 4;
  // Partial sums for a sum of this many terms: each has at least two terms.
  std::int64_t chains_of(std::int64_t terms) const {
    const auto most = static_cast<std::uint64_t>(std::max<std::int64_t>(terms / 2, 1));
    return std::min(static_cast<std::int64_t>(std::bit_floor(most)), chains);
  }
  std::int64_t blocks_onto = 8;  // a product of more blocks is summed up before it is added to its destination
};

// Costs in nanoseconds, unless instructions are stated. Decisions mostly depend on their order, not on exact values.
struct Costs {
  // An operation on one element: alone, or one lane's share of a vector operation.
  double simple = 0.3, division = 2, root = 2, elementary = 6, power = 12;
  // Operations without vector forms: a division of integers, a call of the C library.
  double integer_division = 3, call = 8;
  // A multiplication of floats with its addition: fused (two a cycle), or separate.
  double fused_product = 0.3, product = 0.5;
  double byte = 0.015;  // nanoseconds to read or write a byte in a second-level cache
  double work_of_thread = TargetOptions().work_of_thread;
  // Factor for sharing a product by rows: each thread packs all panels, which wastes some of the gain.
  double uneven_rows = 0.9;
  double pooling = 4;      // cost of pooling a byte, in multiples of `byte`
  double tap = 2;          // extra work for each tap of a convolution (loads and indices), in vector products
  double channels = 0.95;  // factor for a convolution along channels, which must transpose its results

  // Per f32 element in a loop from memory to memory. Tasks are divided before the vector size of the processor is
  // known, so these figures do not derive from those above. They are rough, and only balance tasks.
  struct OfTask {
    double simple = 0.3, function = 2, product = 0.06, other = 4;
    // Nanoseconds: a hand-over with its wake-ups (benchmarks/channels) is a few hundredths of this.
    double worth = 5'000;
  } of_task;

  // In instructions:
  int wrong_guess = 24;                   // size of an elementary function that is computed inline, per vector
  std::size_t written_out_function = 12;  // size of a function that is inlined rather than called
};

struct Target {
  // Prefer short code to fast code: true for microcontrollers, unless full optimisation or none is requested.
  bool size_first = false;

  // ---- filled in from LLVM's knowledge of the processor
  unsigned vector_bits = 0;  // bits of a vector register
  unsigned loop_bits = 0;    // bits of the vectors in loops that LLVM vectorises
  bool guesses = false;      // true if the processor predicts jumps, and a misprediction costs many instructions

  bool has_vectors() const { return vector_bits >= 128; }
  // Elements of a vector; 1 if there are no vectors of this type.
  std::int64_t lanes(DType dtype) const {
    return std::max<std::int64_t>(vector_bits / 8 / static_cast<std::int64_t>(byte_size(dtype)), 1);
  }

  // Elements of a vector in divisions and square roots: 512 bits take as long as 256 bits twice.
  std::int64_t divided_lanes(DType dtype) const {
    return std::min(lanes(dtype), most_divided_bytes / static_cast<std::int64_t>(byte_size(dtype)));
  }
  std::int64_t most_divided_bytes = 32;

  // ---- registers: sums use 12 of 16 vector registers, or 24 of 32 (processors with 512-bit vectors)
  std::int64_t sums() const { return vector_bits >= 512 ? 2 * sums_of_16 : sums_of_16; }
  std::int64_t sums_of_16 = 12;
  std::int64_t sums_under_way = 8;  // independent additions in flight, to hide the latency of an addition
  // Rows of a tile of a product; each row has two vectors.
  std::int64_t tile_rows(DType dtype) const { return lanes(dtype) > 1 ? sums() / 2 : 2; }
  // Vectors in a row of a tile, if the product has this many rows and packs nothing, or reads a pack.
  std::int64_t row_vectors(std::int64_t rows) const { return rows == 1 ? 8 : rows == 2 ? 4 : 2; }
  // Vectors of columns that are summed side by side for this many reductions.
  std::int64_t strip_vectors(std::int64_t reductions) const {
    const auto fitting = static_cast<std::uint64_t>(std::max<std::int64_t>(sums_of_16 / reductions, 1));
    return std::min<std::int64_t>(static_cast<std::int64_t>(std::bit_floor(fitting)), sums_under_way);
  }

  // ---- caches
  std::uint64_t line_bytes = 64;
  std::int64_t near_bytes = 32 * 1024;     // a first-level cache, with room left for streamed data
  std::int64_t second_bytes = 256 * 1024;  // a second-level cache: half of the smaller ones
  std::int64_t page_bytes = 4096;          // processors prefetch only within a page
  std::int64_t near_elements = 512;  // a smaller matrix stays in the first-level cache, in whichever order it is read
  // Columns that are reduced together in strips: more of them leave the first-level cache.
  std::int64_t longest_strip = 512;
  // Columns of an image that is treated as one row, so that a row's sums stay in the cache.
  std::int64_t longest_image_row = 200;
  // Smaller constants share the cache with the data they meet.
  std::int64_t constant_bytes() const { return near_bytes / 2; }

  // ---- storage
  std::int64_t unrolled_elements = 16;  // a tensor of at most this many elements is kept in registers, by unrolled code
  std::int64_t stack_elements = 64;     // a tensor of at most this many elements is kept on the stack
  std::uint64_t stack_bytes = 16 * 1024;       // limit of the tensors on the stack of a function
  std::uint64_t most_group_bytes = 64 * 1024;  // limit of a group of states that are stepped in lanes
  // Cache lines of a state that are prefetched before its step; hardware prefetches further ones.
  std::uint64_t lines_ahead = 4;
  // First capacity in elements, a power of two; more, if they do not fill a cache line.
  std::uint64_t first_of_ring = 4;
  std::int64_t asked_elements = 512;  // a larger tensor is sampled in the unit that computes it, instead of being kept
                                      // for readers at every instant

  // ---- limits on unrolling and duplication
  std::uint32_t loop_values = 128;        // values computed in one loop: longer basic blocks take LLVM too long
  std::uint32_t repeated_operations = 8;  // operations of a chain on one tensor that each reader computes again
  // Rows and columns of a square that is transposed in registers. For larger ones, LLVM searches for a long time.
  std::int64_t fewest_transposed = 4, most_transposed = 8;
  std::int64_t fewest_in_vector = 4;  // elements of a small tensor that is computed as one vector
  std::int64_t unrolled_taps = 16;    // taps in a row of a convolution that is unrolled
  std::int64_t stride_places = 36;    // places in a convolution's gradient for which separate code is generated
  std::int64_t pool_taps = 64, pool_stride = 4;  // larger pooling windows are left to the runtime's kernel
  // Taps in a row of a filter that make a tile of its own worthwhile in the filter's gradient.
  std::int64_t filter_taps = 3;
  std::uint32_t part = TargetOptions().part, large_step = TargetOptions().large_step;
  std::uint32_t small_step = 300;  // instructions: compiling a step this small a second time takes negligible time
  double long_step = 20000;        // executed instructions: more than a hundred times the cost of a call

  std::size_t worth_a_question = 12;  // instructions: a longer side of a branch is skipped if no lane takes it

  // ---- products
  static constexpr std::uint64_t moved_bytes = 2048;  // limit of a shift register whose rows are moved in place
  // For a product of so few rows, copying the matrix into panels is not worthwhile.
  static constexpr std::int64_t few_rows = 4;
  std::int64_t fewest_packed_columns = 8;
  // For a single packed row: fewer columns leave registers empty, so that sums wait for each other.
  std::int64_t fewest_row_columns = 64;
  std::int64_t fewest_moves = 4;  // steps until all rows of a shift register are new: below this it is no window
  // Products over a segment: the fewest rows and columns, and the most rows at an instant.
  std::int64_t fewest_batched = 4, most_batched_rows = 16;

  // ---- threads
  std::uint32_t threads = TargetOptions().threads;
  std::int64_t pieces_of_thread = 4;  // pieces of work per thread, so that all threads finish at about the same time
  // Elements along the last axis of a piece: whole vectors, and no cache line in two threads.
  std::int64_t elements_together = 64;
  // LLVM may unroll a loop if its body has fewer instructions than `unrolled_body`, or if it has at most
  // `rounds_looked_at` rounds with fewer than `unrolled_loop` instructions in total.
  std::size_t unrolled_body = 80, unrolled_loop = 900;
  std::uint64_t rounds_looked_at = 10;
  // LLVM may fully unroll loops of at most this many rounds, and nests of at most this many in total.
  std::int64_t unrolled_by_llvm = 128;
  double nest_unrolled_by_llvm = 1024;

  Costs costs;
};

// The target according to the options, without LLVM's knowledge of the processor.
Target target_for(const TargetOptions&);
Numeric numeric_for(const TargetOptions&);

}  // namespace rml

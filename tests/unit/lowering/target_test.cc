// The properties of a machine that passes and code generation use, with worked figures.
#include "lowering/target.h"

#include <gtest/gtest.h>

namespace rml {

namespace {

Target with_vectors(unsigned bits) {
  Target target;
  target.vector_bits = bits;
  return target;
}

}  // namespace

TEST(Target, is_made_of_the_options) {
  TargetOptions options;
  options.threads = 7, options.part = 3, options.large_step = 11, options.work_of_thread = 13;
  const Target target = target_for(options);
  EXPECT_EQ(target.threads, 7u);
  EXPECT_EQ(target.part, 3u);
  EXPECT_EQ(target.large_step, 11u);
  EXPECT_EQ(target.costs.work_of_thread, 13);
  EXPECT_FALSE(target.has_vectors());
}

TEST(Target, counts_lanes_and_registers) {
  EXPECT_EQ(with_vectors(0).lanes(DType::f32), 1);
  EXPECT_EQ(with_vectors(0).tile_rows(DType::f32), 2);
  EXPECT_EQ(with_vectors(128).lanes(DType::f64), 2);
  EXPECT_EQ(with_vectors(256).lanes(DType::f32), 8);
  EXPECT_EQ(with_vectors(256).tile_rows(DType::f32), 6);
  EXPECT_EQ(with_vectors(256).sums(), 12);
  EXPECT_EQ(with_vectors(512).tile_rows(DType::f64), 12);
  EXPECT_EQ(with_vectors(512).sums(), 24);
  EXPECT_EQ(with_vectors(128).divided_lanes(DType::f32), 4);
  EXPECT_EQ(with_vectors(512).divided_lanes(DType::f32), 8);
}

// The accumulators of all reductions of a strip fit in twelve registers.
TEST(Target, divides_registers_among_reductions) {
  const std::int64_t vectors[] = {8, 4, 4, 2, 2, 2, 1, 1};
  for (std::int64_t reductions = 1; reductions <= 8; ++reductions)
    EXPECT_EQ(Target().strip_vectors(reductions), vectors[reductions - 1]) << reductions;
  EXPECT_EQ(Target().strip_vectors(100), 1);
}

TEST(Numeric, is_made_of_the_options) {
  TargetOptions options;
  EXPECT_FALSE(numeric_for(options).calls_libm);
  options.optimization = 0;
  EXPECT_TRUE(numeric_for(options).calls_libm);
  EXPECT_FALSE(numeric_for(options).strict);
  options.optimization = 3, options.strict_math = true;
  EXPECT_TRUE(numeric_for(options).calls_libm);
  EXPECT_TRUE(numeric_for(options).strict);
  options.fast_math = true;
  EXPECT_TRUE(numeric_for(options).fast);
}

TEST(Numeric, gives_each_chain_two_terms) {
  const std::int64_t chains[] = {1, 1, 1, 1, 2, 2, 2, 2, 4, 4};
  for (std::int64_t terms = 0; terms < 10; ++terms) EXPECT_EQ(Numeric().chains_of(terms), chains[terms]) << terms;
  EXPECT_EQ(Numeric().chains_of(1000), 4);
}

}  // namespace rml

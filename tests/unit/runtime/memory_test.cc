// The allocator from which programs grow their buffers.
#include "runtime/base/memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

namespace rml::rt {
namespace {

TEST(Memory, grows_and_keeps_contents) {
  Memory memory(1 << 20);
  void* block = Memory::grow(&memory, nullptr, 0, 100);
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 64, 0u);
  std::memset(block, 7, 100);
  void* larger = Memory::grow(&memory, block, 100, 1000);
  ASSERT_NE(larger, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(larger) % 64, 0u);
  for (int k = 0; k < 100; ++k) EXPECT_EQ(static_cast<unsigned char*>(larger)[k], 7);
  EXPECT_EQ(memory.used(), 1000u);
  EXPECT_EQ(memory.peak(), 1100u);
  EXPECT_EQ(Memory::grow(&memory, larger, 1000, 0), nullptr);
  EXPECT_EQ(memory.used(), 0u);
}

TEST(Memory, refuses_to_pass_its_ceiling) {
  Memory memory(1000);
  void* block = Memory::grow(&memory, nullptr, 0, 600);
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(Memory::grow(&memory, block, 600, 700), nullptr);
  EXPECT_EQ(Memory::grow(&memory, nullptr, 0, ~std::uint64_t{0}), nullptr);
  EXPECT_EQ(memory.used(), 600u);
  EXPECT_EQ(Memory::grow(&memory, nullptr, 0, 0), nullptr);
  Memory::grow(&memory, block, 600, 0);
}

TEST(Memory, hands_out_again_what_it_keeps) {
  Memory memory(1 << 20);
  void* const small = Memory::grow(&memory, nullptr, 0, 1000);
  void* const large = Memory::grow(&memory, nullptr, 0, 5000);
  memory.keep_spare();
  std::memset(small, 7, 1000);
  std::memset(large, 7, 5000);
  Memory::grow(&memory, small, 1000, 0);
  Memory::grow(&memory, large, 5000, 0);
  EXPECT_EQ(memory.used(), 0u);
  // The smallest sufficient block, filled with zeros. It grows in place, or moves to the next
  // size.
  void* block = Memory::grow(&memory, nullptr, 0, 100);
  EXPECT_EQ(block, small);
  for (int k = 0; k < 100; ++k) EXPECT_EQ(static_cast<unsigned char*>(block)[k], 0);
  std::memset(block, 5, 100);
  block = Memory::grow(&memory, block, 100, 900);
  EXPECT_EQ(block, small);
  block = Memory::grow(&memory, block, 900, 4000);
  EXPECT_EQ(block, large);
  for (int k = 0; k < 4000; ++k) EXPECT_EQ(static_cast<unsigned char*>(block)[k], k < 100 ? 5 : 0);
  EXPECT_EQ(memory.used(), 4000u);
  // Requests more than the spare memory.
  block = Memory::grow(&memory, block, 4000, 1 << 16);
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(static_cast<unsigned char*>(block)[99], 5);
  EXPECT_EQ(memory.used(), std::uint64_t{1} << 16);
  Memory::grow(&memory, block, 1 << 16, 0);
  EXPECT_EQ(memory.used(), 0u);
}

TEST(Memory, default_ceiling_is_sensible) {
  EXPECT_GE(default_memory_ceiling(), std::uint64_t{1} << 20);
  EXPECT_LE(default_memory_ceiling(), std::uint64_t{1} << 50);
  EXPECT_GT(peak_resident_bytes(), 0u);
}

}  // namespace
}  // namespace rml::rt

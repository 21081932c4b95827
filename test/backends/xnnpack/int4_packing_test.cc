// Compares packed int4 weights with those of XNNPACK.
#include "backends/xnnpack/runtime/weights/int4_packing.h"
#include "backends/xnnpack/runtime/weights/packing_threads.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "vitrine/thread_pool.h"

namespace vitrine::xnnpack {
namespace {

struct FilterShape {
  size_t rows, columns, nr, kr, block;
};

TEST(Int4Packing, MatchesXnnpack) {
  if (fast_int4_packing() == nullptr) GTEST_SKIP() << "this build lacks XNNPACK's private headers";
  const auto pool = ThreadPool::create(3, ThreadPool::Use::kAlways);
  ASSERT_TRUE(pool.ok());
  std::mt19937 random(3);
  const auto bytes = [&](size_t count) {
    std::vector<uint8_t> result(count);
    for (uint8_t& byte : result) byte = static_cast<uint8_t>(random());
    return result;
  };
  constexpr int8_t kParams[] = {1, 8};  // zero points of inputs and of weights
  // The last tile of rows is full only in the first shape. Vitrine has fast code for all layouts
  // except the last one (kr = 2).
  for (const FilterShape& s : {FilterShape{16, 64, 16, 8, 32},
                               {37, 96, 16, 8, 32},
                               {5, 256, 8, 8, 64},
                               {33, 64, 16, 4, 32},
                               {7, 128, 4, 4, 128},
                               {9, 64, 8, 2, 32}}) {
    SCOPED_TRACE(testing::Message() << s.rows << " x " << s.columns << " by " << s.nr << ", "
                                    << s.kr << ", " << s.block);
    const std::vector<uint8_t> kernel = bytes(s.rows * s.columns / 2);
    std::vector<uint16_t> scales(s.rows * s.columns / s.block);
    for (uint16_t& scale : scales) scale = static_cast<uint16_t>(0x3C00 + random() % 0x300);
    const size_t extra_of_block = s.nr * sizeof(uint16_t);
    const size_t extra_of_row = s.nr * sizeof(float);
    const size_t row_groups = (s.rows + s.nr - 1) / s.nr;
    const size_t size = row_groups * (s.nr * (sizeof(float) + s.columns / 2) +
                                      s.columns / s.block * extra_of_block + extra_of_row);
    std::vector<uint8_t> expected(size);
    const auto pack = [&](PackInt4 packer, std::vector<uint8_t>& to) {
      packer(1, s.rows, s.columns, s.nr, s.kr, 1, s.block, kernel.data(), nullptr, scales.data(),
             to.data(), extra_of_block, extra_of_row, kParams);
    };
    pack(xnnpack_int4_packing(), expected);
    for (ThreadPool* threads : {static_cast<ThreadPool*>(nullptr), pool->get()}) {
      const PackingThreads packing(threads);
      std::vector<uint8_t> packed(size);
      pack(fast_int4_packing(), packed);
      EXPECT_EQ(packed, expected) << (threads == nullptr ? 1 : threads->threads()) << " threads";
    }
  }
}

}  // namespace
}  // namespace vitrine::xnnpack

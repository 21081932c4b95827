// Tests copies that are large enough for several threads. Checks every element of each result.

#include <algorithm>
#include <vector>

#include "test/kernels/kernel_call.h"

namespace vitrine::test {
namespace {

using Indices = std::vector<int64_t>;

class ThreadedCopy : public testing::Test {
 protected:
  ThreadedCopy() { call.use_threads(); }

  // Makes a tensor whose elements identify their positions.
  template <class Element>
  Tensor& numbered(const std::vector<int32_t>& sizes, std::vector<uint8_t> order = {}) {
    Tensor& tensor = call.make(scalar_type_of<Element>, sizes, std::move(order));
    auto* const data = tensor.unchecked_mutable_data<Element>();
    for (int64_t i = 0; i < tensor.numel(); ++i) data[i] = static_cast<Element>(i * 7 + i / 256);
    return tensor;
  }

  KernelCall call;
};

int64_t offset_of(const Tensor& tensor, const Indices& index) {
  int64_t result = 0;
  for (size_t i = 0; i < index.size(); ++i) result += index[i] * tensor.strides()[i];
  return result;
}

// Expects out[index] == from(index) for all indices of `out`.
template <class Element, class From>
void expect_elements(const Tensor& out, const From& from) {
  Indices index(out.rank());
  for (int64_t i = 0; i < out.numel(); ++i) {
    int64_t rest = i;
    for (size_t k = out.rank(); k-- > 0;) {
      index[k] = rest % out.size(k);
      rest /= out.size(k);
    }
    const Element got = out.unchecked_data<Element>()[offset_of(out, index)];
    if (got != from(index)) {
      FAIL() << "element " << i << ": expected " << +from(index) << ", found " << +got;
    }
  }
}

// Permutes the dims in every order. If an order has few planes, each plane is divided among the
// threads. If an order has many planes, each thread copies whole planes. Orders that keep the last
// dim copy runs of elements. The sizes give full and partial tiles.
template <class Element>
void permute_in_every_order(KernelCall& call, Tensor& self) {
  Indices order = {0, 1, 2, 3};
  do {
    SCOPED_TRACE(testing::PrintToString(order));
    std::vector<int32_t> sizes;
    for (const int64_t dim : order) sizes.push_back(self.size(static_cast<size_t>(dim)));
    Tensor& out = call.make(self.dtype(), sizes);
    ASSERT_TRUE(succeeds(call.run("aten::permute_copy.out", self, call.ints(order), out)));
    Indices from(4);
    expect_elements<Element>(out, [&](const Indices& index) {
      for (size_t k = 0; k < 4; ++k) from[static_cast<size_t>(order[k])] = index[k];
      return self.unchecked_data<Element>()[offset_of(self, from)];
    });
  } while (std::ranges::next_permutation(order).found);
}

TEST_F(ThreadedCopy, PermutesInEveryOrderWithAndWithoutThreads) {
  permute_in_every_order<uint8_t>(call, numbered<uint8_t>({3, 67, 18, 50}));
  permute_in_every_order<int32_t>(call, numbered<int32_t>({12, 37, 5, 21}));
  call.pool = nullptr;
  const std::vector<int32_t> sizes = {3, 37, 18, 16};
  permute_in_every_order<uint8_t>(call, numbered<uint8_t>(sizes));
  permute_in_every_order<int16_t>(call, numbered<int16_t>(sizes));
  permute_in_every_order<int32_t>(call, numbered<int32_t>(sizes));
  permute_in_every_order<int64_t>(call, numbered<int64_t>(sizes));
}

TEST_F(ThreadedCopy, TransposesMatrixLargerThanCache) {
  Tensor& self = numbered<int32_t>({2052, 2080});
  Tensor& out =
      call.output_of(ScalarType::kInt, {2080, 2052}, "aten::transpose_copy.int_out", self, 0, 1);
  expect_elements<int32_t>(
      out, [&](const Indices& index) { return self.data<int32_t>()[index[1] * 2080 + index[0]]; });
}

TEST_F(ThreadedCopy, ConvertsDimOrders) {
  const std::vector<int32_t> sizes = {2, 3, 130, 131};
  for (const std::vector<uint8_t>& order : {std::vector<uint8_t>{0, 2, 3, 1}, {0, 1, 2, 3}}) {
    const bool last = order[1] == 2;
    Tensor& self = numbered<float>(
        sizes, last ? std::vector<uint8_t>{0, 1, 2, 3} : std::vector<uint8_t>{0, 2, 3, 1});
    Tensor& out = call.make(ScalarType::kFloat, sizes, order);
    ASSERT_TRUE(succeeds(call.run("aten::clone.out", self, call.none(), out)));
    expect_elements<float>(
        out, [&](const Indices& index) { return self.data<float>()[offset_of(self, index)]; });
  }
}

TEST_F(ThreadedCopy, ConcatenatesAlongEveryDim) {
  const std::vector<int32_t> sizes = {5, 40, 300};
  for (size_t dim = 0; dim < 3; ++dim) {
    SCOPED_TRACE(dim);
    Tensor& a = numbered<float>(sizes);
    Tensor& b = numbered<float>(sizes);
    for (int64_t i = 0; i < b.numel(); ++i) b.mutable_data<float>()[i] += 0.5F;
    std::vector<int32_t> doubled = sizes;
    doubled[dim] *= 2;
    Tensor& out = call.make(ScalarType::kFloat, doubled);
    const auto signed_dim = static_cast<int64_t>(dim);
    ASSERT_TRUE(succeeds(call.run("aten::cat.out", call.tensors({&a, &b}), signed_dim, out)));
    expect_elements<float>(out, [&](Indices index) {
      const Tensor& part = index[dim] < sizes[dim] ? a : b;
      index[dim] %= sizes[dim];
      return part.data<float>()[offset_of(part, index)];
    });
  }
}

TEST_F(ThreadedCopy, SlicesExpandsAndConvertsTensors) {
  Tensor& self = numbered<int32_t>({301, 600});
  Tensor& halves = call.output_of(ScalarType::kInt, {301, 300}, "aten::slice_copy.Tensor_out", self,
                                  1, 1, 600, 2);
  expect_elements<int32_t>(halves, [&](const Indices& index) {
    return self.data<int32_t>()[index[0] * 600 + 2 * index[1] + 1];
  });

  Tensor& column = numbered<int32_t>({301, 1});
  Tensor& wide = call.output_of(ScalarType::kInt, {2, 301, 600}, "aten::expand_copy.out", column,
                                call.ints({2, -1, 600}), false);
  expect_elements<int32_t>(wide,
                           [&](const Indices& index) { return column.data<int32_t>()[index[1]]; });

  Tensor& transposed = call.make(ScalarType::kFloat, {301, 600}, {1, 0});
  EXPECT_TRUE(succeeds(call.run("dim_order_ops::_to_dim_order_copy.out", self, false,
                                call.ints({1, 0}), transposed)));
  expect_elements<float>(transposed, [&](const Indices& index) {
    return static_cast<float>(self.data<int32_t>()[offset_of(self, index)]);
  });
}

// If several threads copied, some would overwrite elements before others read them.
TEST_F(ThreadedCopy, CopyBetweenOverlappingTensorsReadsOriginalValues) {
  constexpr int32_t kCount = 1 << 20;
  for (const int64_t offset : {int64_t{-4}, int64_t{4}, int64_t{4000}}) {
    SCOPED_TRACE(offset);
    Tensor& self = numbered<int32_t>({kCount});
    Tensor& out = call.make(ScalarType::kInt, {kCount});
    const std::vector<int32_t> values(self.data<int32_t>(), self.data<int32_t>() + kCount);
    call.overlap(out, self, offset);
    ASSERT_TRUE(succeeds(call.run("aten::clone.out", self, call.none(), out)));
    expect_elements<int32_t>(
        out, [&](const Indices& index) { return values[static_cast<size_t>(index[0])]; });
  }
}

}  // namespace
}  // namespace vitrine::test

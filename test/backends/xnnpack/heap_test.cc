// Tests how many bytes a delegate charges to the method's budget, apart from tensors and packed
// weights.
#include <gmock/gmock.h>

#include <algorithm>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "test/backends/xnnpack/delegate_fixture.h"

namespace vitrine::test {
namespace {

using testing::HasSubstr;

// Returns the number of bytes in use on the heap, or a constant if this number is unknown, as in
// builds with sanitizers.
size_t heap_in_use() {
#ifdef __GLIBC__
  const struct mallinfo2 now = mallinfo2();
  return now.uordblks + now.hblkhd;
#else
  return 0;
#endif
}

class HeapTest : public DelegateTest {
 protected:
  HeapTest() { memory_budget = &budget; }
  Budget budget;
  uint64_t taken_at_load = 0;
};

struct AddedNode {
  const char* name;
  void (*add)(PayloadBuilder& b, uint32_t x, uint32_t y);
  uint32_t result;  // number of elements of the result
};
constexpr AddedNode kAddedNodes[] = {
    {"abs", [](PayloadBuilder& b, uint32_t x, uint32_t y) { b.unary(Tag::XNNAbs, x, y); }, 8},
    {"add", [](PayloadBuilder& b, uint32_t x, uint32_t y) { b.binary(Tag::XNNAdd, x, x, y); }, 8},
    {"cat",
     [](PayloadBuilder& b, uint32_t x, uint32_t y) {
       b.concatenate(Tag::XNNConcatenate4, 1, {x, x, x, x}, y);
     },
     32},
};

// A network with `count` nodes y = f(x).
PayloadBuilder repeated(const AddedNode& kind, int count) {
  PayloadBuilder b;
  const uint32_t x = b.input({1, 8});
  for (int i = 0; i < count; ++i) kind.add(b, x, b.output({1, kind.result}));
  return b;
}

TEST_F(HeapTest, OperatorMemoryCountsTowardTheBudget) {
  for (const AddedNode& kind : kAddedNodes) {
    for (const int count : {1, 1000}) {
      SCOPED_TRACE(testing::Message() << count << " of " << kind.name);
      const std::vector<std::byte> payload = repeated(kind, count).build();
      ASSERT_TRUE(init(payload).ok());  // makes the allocations that happen once per process
      EXPECT_EQ(budget.used(), 0u);
      const size_t before = heap_in_use();
      const auto loaded = init(payload);
      const size_t after = heap_in_use();
      ASSERT_TRUE(loaded.ok()) << loaded.error().message();
      EXPECT_GE(budget.used(), after > before ? after - before : 0);
      EXPECT_GE(budget.used(), 3000u * static_cast<size_t>(count));
    }
    EXPECT_EQ(budget.used(), 0u);
  }
}

// A node on images of 32 x 32 pixels and 2 channels, with a 3 x 3 window and a padding of 1.
struct WindowNode {
  const char* name;
  void (*add)(PayloadBuilder& b, uint32_t x, uint32_t filter);
  size_t bytes;  // minimum size of XNNPACK's tables for one node
  size_t batch = 1;
};

constexpr uint32_t kSide = 32;
constexpr size_t kPointer = sizeof(void*);
constexpr size_t kAllPointers = kPointer * 9 * kSide * kSide;
constexpr WindowSpec kWindow = window_of(3, 3, 2, 2).padded(1);

uint32_t image(PayloadBuilder& b, uint32_t side = kSide) { return b.output({1, side, side, 2}); }

constexpr WindowNode kWindowNodes[] = {
    {"convolution",
     [](PayloadBuilder& b, uint32_t x, uint32_t filter) {
       b.convolution(Tag::XNNConv2d, kWindow, x, filter, kInvalidId, image(b));
     },
     kAllPointers},
    {"depthwise",
     [](PayloadBuilder& b, uint32_t x, uint32_t) {
       const WindowSpec w = window_of(3, 3, 1, 1, 2).padded(1);
       const uint32_t filter = b.constant({1, 3, 3, 2}, std::vector<float>(18, 1));
       b.convolution(Tag::XNNDepthwiseConv2d, w, x, filter, kInvalidId, image(b));
     },
     kAllPointers / 3},
    {"transposed",
     [](PayloadBuilder& b, uint32_t x, uint32_t filter) {
       b.convolution(Tag::XNNConvTranspose2d, kWindow.strided(2, 2), x, filter, kInvalidId,
                     image(b, 2 * kSide - 1));
     },
     kPointer * 9 * (2 * kSide - 1) * (2 * kSide - 1)},
    {"dynamically quantized",
     [](PayloadBuilder& b, uint32_t x, uint32_t) {
       const uint32_t quantized = b.dynamically_quantized(x, 3);
       const uint32_t filter =
           b.constant<int8_t>({2, 3, 3, 2}, std::vector<int8_t>(36, 1), Type::xnn_datatype_qcint8);
       b.values[filter].per_channel = PerChannel{{1, 1}};
       b.convolution(Tag::XNNConv2d, kWindow, quantized, filter, b.constant<float>({2}, {0, 0}),
                     image(b));
     },
     kAllPointers + 200 * (kPointer + 2 + XNN_EXTRA_BYTES), 200},
    {"maximum",
     [](PayloadBuilder& b, uint32_t x, uint32_t) {
       b.pooling(Tag::XNNMaxPooling2d, kWindow, x, image(b));
     },
     kAllPointers / 3},
    {"mean",
     [](PayloadBuilder& b, uint32_t x, uint32_t) {
       const WindowSpec w = kWindow.dilated(0, 0);  // as in payloads of ExecuTorch
       b.pooling(Tag::XNNAvgPooling2d, w, x, image(b));
     },
     kSide* kSide * sizeof(float) + kPointer * 3 * 3 * kSide},
    {"place of the maximum",
     [](PayloadBuilder& b, uint32_t x, uint32_t) {
       const uint32_t side = kSide / 2;
       b.argmax(window_of(2, 2), x, image(b, side),
                b.output({1, side, side, 2}, Type::xnn_datatype_int32));
     },
     kPointer* kSide* kSide},
    {"resized", [](PayloadBuilder& b, uint32_t x, uint32_t) { b.resize(20, 20, x, image(b, 20)); },
     20 * 20 * (4 * kPointer + 2 * sizeof(float))},
    {"mean of all",
     [](PayloadBuilder& b, uint32_t x, uint32_t) {
       b.unary(Tag::XNNGlobalAvgPooling2d, x, b.output({1, 1, 1, 2}), /*flags: keep dims=*/0x40);
     },
     2 * sizeof(float) + XNN_EXTRA_BYTES},
};

TEST_F(HeapTest, TablesOfWindowNodesCountTowardTheBudget) {
  for (const WindowNode& kind : kWindowNodes) {
    for (const size_t count : {size_t{1}, size_t{8}}) {
      SCOPED_TRACE(testing::Message() << count << " of " << kind.name);
      PayloadBuilder b;
      const uint32_t x = b.input({1, kSide, kSide, 2});
      const uint32_t filter = b.constant({2, 3, 3, 2}, std::vector<float>(36, 1));
      for (size_t i = 0; i < count; ++i) kind.add(b, x, filter);
      const std::vector<std::byte> payload = b.build();
      std::vector<Tensor*> tensors;
      for (const PayloadValue& value : b.values) {
        if (value.external_id == kInvalidId) continue;
        std::vector<int32_t> sizes(value.dims.begin(), value.dims.end());
        sizes[0] = static_cast<int32_t>(kind.batch);
        const bool is_int = value.type == Type::xnn_datatype_int32;
        tensors.push_back(&factory.make(is_int ? ScalarType::kLong : ScalarType::kFloat, sizes));
        std::memset(tensors.back()->mutable_raw_data(), 0, tensors.back()->nbytes());
      }
      const auto load_and_run = [&] {
        auto loaded = init(payload);
        ASSERT_TRUE(loaded.ok()) << loaded.error().message();
        delegate = std::move(*loaded);
        taken_at_load = budget.used();
        run(tensors);
      };
      load_and_run();  // makes the allocations that happen once per process
      delegate.reset();
      EXPECT_EQ(budget.used(), 0u);
      const size_t before = heap_in_use();
      load_and_run();
      const size_t after = heap_in_use();
      if (xnnpack::operator_times_are_measured()) {  // otherwise the workspace is not counted
        EXPECT_GE(budget.used(), after > before ? after - before : 0);
      }
      const uint64_t tables = budget.used() - taken_at_load;
      EXPECT_EQ(memory_bytes(DelegateMemory::Kind::kWorkspace), tables);
      EXPECT_GE(tables, kind.bytes * count);
      delegate.reset();
    }
    EXPECT_EQ(budget.used(), 0u);
  }
}

TEST_F(HeapTest, BudgetIncludesTablesForTheSizesOfTheLastCall) {
  PayloadBuilder b;
  const uint32_t x = b.input({1, 64, 64, 2}), y = b.output({1, 64, 64, 2});
  b.convolution(Tag::XNNConv2d, kWindow, x, b.constant({2, 3, 3, 2}, std::vector<float>(36, 1)),
                kInvalidId, y);
  load(b);
  const auto run_on = [&](int32_t side) {
    const std::vector<int32_t> sizes = {1, side, side, 2};
    const std::vector<float> ones(static_cast<size_t>(side * side * 2), 1);
    Tensor& out = factory.make(ScalarType::kFloat, sizes);
    Error error = execute({&factory.make<float>(sizes, ones), &out});
    if (error.ok()) {
      EXPECT_EQ(out.data<float>()[0], 8);  // a corner
    }
    return error;
  };
  const auto pointers = [](uint64_t side) { return kPointer * 9 * side * side; };
  ASSERT_TRUE(run_on(16).ok());
  const uint64_t small = budget.used();
  ASSERT_TRUE(run_on(48).ok());
  EXPECT_EQ(budget.used(), small + pointers(48) - pointers(16));
  ASSERT_TRUE(run_on(16).ok());
  EXPECT_EQ(budget.used(), small);

  const uint64_t rest = budget.left() - 100'000;
  ASSERT_TRUE(budget.take(rest));
  const Error error = run_on(48);
  EXPECT_EQ(error.code(), ErrorCode::kOutOfResources);
  EXPECT_THAT(error.message(), HasSubstr("xnodes[0] (Conv2d): the live tensors and the "
                                         "operators' tables exceed the bound of"));
  EXPECT_THAT(error.message(), HasSubstr("max_memory_bytes"));
  EXPECT_EQ(budget.used(), small + rest);
  ASSERT_TRUE(run_on(16).ok());
  budget.give_back(rest);
  ASSERT_TRUE(run_on(48).ok());
  delegate.reset();
  EXPECT_EQ(budget.used(), 0u);
}

// Each node needs 800 MB of pointers.
TEST_F(HeapTest, RejectsOperatorTablesAboveTheMemoryLimit) {
  PayloadBuilder b;
  const uint32_t x = b.input({1, 199, 199, 1});
  const uint32_t filter = b.constant({1, 100, 100, 1}, std::vector<float>(10'000, 1));
  for (int i = 0; i < 100; ++i) {
    b.convolution(Tag::XNNConv2d, {.kernel_height = 100, .kernel_width = 100}, x, filter,
                  kInvalidId, b.output({1, 100, 100, 1}));
  }
  EXPECT_LE(b.build().size(), 100'000u);
  EXPECT_THAT(load_error(b), HasSubstr("xnodes[5] (Conv2d): the live tensors and the "
                                       "operators' tables exceed the bound of 4294967296 bytes"));
  budget = Budget(1'000'000'000);
  EXPECT_THAT(load_error(b), HasSubstr("xnodes[1] (Conv2d): the live tensors and the"));
  EXPECT_EQ(budget.used(), 0u);
}

TEST_F(HeapTest, LimitsMemoryOfDelegatesThatShareAPayload) {
  const std::vector<std::byte> payload = repeated(kAddedNodes[0], 100).build();
  budget = Budget(2'000'000);
  std::vector<std::unique_ptr<Delegate>> delegates;
  Error error;
  while (error.ok() && delegates.size() < 1000) {
    auto loaded = init(payload);
    error = loaded.take_error();
    if (error.ok()) delegates.push_back(std::move(*loaded));
  }
  EXPECT_EQ(error.code(), ErrorCode::kOutOfResources);
  EXPECT_THAT(error.message(), HasSubstr("its 100 nodes need about"));
  EXPECT_GE(delegates.size(), 2u);
  delegates.clear();
  EXPECT_EQ(budget.used(), 0u);
}

// The addition reads its constant in each run, but the payload is valid only during loading. So the
// delegate copies the constant during loading.
TEST_F(HeapTest, CopiesOfConstantsCountTowardTheBudget) {
  const auto sum = [](uint32_t count) {
    PayloadBuilder b;
    const uint32_t x = b.input({count}), y = b.output({count});
    b.binary(Tag::XNNAdd, x, b.constant({count}, std::vector<float>(count, 1)), y);
    return b;
  };
  PayloadBuilder small = sum(1);
  PayloadBuilder large = sum(100'000);
  load(small);
  const uint64_t without = budget.used();
  load(large);
  EXPECT_GE(budget.used(), without + 400'000 - 4);
  delegate.reset();
  EXPECT_EQ(budget.used(), 0u);
  budget = Budget(300'000);
  EXPECT_THAT(load_error(large), HasSubstr("constant 1: needs a copy of 4000"));
  EXPECT_EQ(budget.used(), 0u);
}

// Named data that was read from a file into memory. The file is not mapped.
class OwnedData final : public BuilderData {
 public:
  using BuilderData::BuilderData;
  Result<DataBuffer> get(std::string_view key) const override {
    VITRINE_ASSIGN_OR_RETURN(const DataBuffer view, BuilderData::get(key));
    VITRINE_ASSIGN_OR_RETURN(DataBuffer copy, DataBuffer::allocate(view.size()));
    std::ranges::copy(view.bytes(), copy.owned_data());
    return copy;
  }
};

TEST_F(HeapTest, UnpackedWeightsCountTowardTheBudgetDuringLoading) {
  constexpr size_t kBytes = 299 * 301 * sizeof(float);
  PayloadBuilder b(PayloadBuilder::Constants::kNamed);
  const uint32_t x = b.input({1, 301}), y = b.output({1, 299});
  b.fully_connected(x, b.constant({299, 301}, std::vector<float>(299 * 301, 1)), kInvalidId, y);
  const OwnedData data(b);
  named_data = &data;
  load(b);
  const uint64_t loaded = budget.used();
  EXPECT_GE(loaded, kBytes);
  EXPECT_LE(loaded, kBytes * 3 / 2);
  delegate.reset();
  EXPECT_EQ(budget.used(), 0u);
  budget = Budget(loaded);
  EXPECT_THAT(load_error(b), HasSubstr("out of memory"));
  EXPECT_EQ(budget.used(), 0u);
  budget = Budget(loaded + kBytes);
  EXPECT_EQ(load_error(b), "(none)");
}

}  // namespace
}  // namespace vitrine::test

// What a delegate takes from the method's budget beside tensors and packed weights.
#include <gmock/gmock.h>

#include <algorithm>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "test/backends/xnnpack/delegate_fixture.h"

namespace vitrine::test {
namespace {

using testing::HasSubstr;

// On the heap; does not change where this is unknown, as with sanitizers.
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
};

using AddNode = void (*)(BlobBuilder& b, uint32_t x, uint32_t y);
struct AddedNode {
  const char* name;
  AddNode add;
  uint32_t result;  // elements
};

// y = f(x), `count` times.
BlobBuilder repeated(const AddedNode& kind, int count) {
  BlobBuilder b;
  const uint32_t x = b.input({1, 8});
  for (int i = 0; i < count; ++i) kind.add(b, x, b.output({1, kind.result}));
  return b;
}

TEST_F(HeapTest, HoldsWhatOperatorsAndListsTake) {
  constexpr AddedNode kKinds[] = {
      {"abs", [](BlobBuilder& b, uint32_t x, uint32_t y) { b.unary(Tag::XNNAbs, x, y); }, 8},
      {"add", [](BlobBuilder& b, uint32_t x, uint32_t y) { b.binary(Tag::XNNAdd, x, x, y); }, 8},
      {"cat",
       [](BlobBuilder& b, uint32_t x, uint32_t y) {
         b.concatenate(Tag::XNNConcatenate4, 1, {x, x, x, x}, y);
       },
       32},
  };
  for (const AddedNode& kind : kKinds) {
    for (const int count : {1, 1000}) {
      SCOPED_TRACE(testing::Message() << count << " of " << kind.name);
      BlobBuilder b = repeated(kind, count);
      const std::vector<std::byte> blob = b.build();
      ASSERT_TRUE(init(blob).ok());  // what is allocated once a process
      EXPECT_EQ(budget.used(), 0u);
      const size_t before = heap_in_use();
      const auto loaded = init(blob);
      const size_t after = heap_in_use();
      ASSERT_TRUE(loaded.ok()) << loaded.error().message();
      EXPECT_GE(budget.used(), after > before ? after - before : 0);
      EXPECT_GE(budget.used(), 3000u * static_cast<size_t>(count));
    }
    EXPECT_EQ(budget.used(), 0u);
  }
}

TEST_F(HeapTest, BoundsDelegatesThatShareAPayload) {
  BlobBuilder b = repeated(
      {"", [](BlobBuilder& to, uint32_t x, uint32_t y) { to.unary(Tag::XNNAbs, x, y); }, 8}, 100);
  const std::vector<std::byte> blob = b.build();
  budget = Budget(2'000'000);
  std::vector<std::unique_ptr<Delegate>> delegates;
  Error error;
  while (error.ok() && delegates.size() < 1000) {
    auto loaded = init(blob);
    error = loaded.take_error();
    if (error.ok()) delegates.push_back(std::move(*loaded));
  }
  EXPECT_EQ(error.code(), ErrorCode::kOutOfResources);
  EXPECT_THAT(error.message(), HasSubstr("its 100 nodes take about"));
  EXPECT_GE(delegates.size(), 2u);
  delegates.clear();
  EXPECT_EQ(budget.used(), 0u);
}

// The sum reads the constant of the payload, which is gone by then, so that it is copied.
TEST_F(HeapTest, HoldsCopiesOfConstants) {
  const auto sum = [](uint32_t count) {
    BlobBuilder b;
    const uint32_t x = b.input({count}), y = b.output({count});
    b.binary(Tag::XNNAdd, x, b.constant({count}, std::vector<float>(count, 1)), y);
    return b;
  };
  BlobBuilder small = sum(1);
  BlobBuilder large = sum(100'000);
  load(small);
  const uint64_t without = budget.used();
  load(large);
  EXPECT_GE(budget.used(), without + 400'000 - 4);
  delegate.reset();
  EXPECT_EQ(budget.used(), 0u);
  budget = Budget(300'000);
  EXPECT_THAT(load_error(large), HasSubstr("constant 1: a copy of 4000"));
  EXPECT_EQ(budget.used(), 0u);
}

// As of a file that is read, not mapped.
class OwnedData final : public NamedDataMap {
 public:
  explicit OwnedData(const BlobBuilder& builder) : data_(builder) {}
  size_t size() const override { return data_.size(); }
  std::string_view key(size_t index) const override { return data_.key(index); }
  Result<DataBuffer> get(std::string_view key) const override {
    VITRINE_ASSIGN_OR_RETURN(const DataBuffer view, data_.get(key));
    VITRINE_ASSIGN_OR_RETURN(DataBuffer copy, DataBuffer::allocate(view.size()));
    std::ranges::copy(view.bytes(), copy.owned_data());
    return copy;
  }
  Result<std::optional<TensorLayout>> layout(std::string_view) const override {
    return std::optional<TensorLayout>();
  }

 private:
  BuilderData data_;
};

TEST_F(HeapTest, HoldsWeightsUntilTheyArePacked) {
  constexpr size_t kBytes = 299 * 301 * sizeof(float);
  BlobBuilder b(BlobBuilder::Constants::kNamed);
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

// Tests a cache that two methods share: one writes it with llama::update_cache, and the other only
// reads it.
#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "aot/pipeline/lower.h"
#include "examples/models/model_builder.h"
#include "test/support/scratch_folder.h"
#include "tools/common/files.h"
#include "tools/common/session.h"
#include "vitrine/array.h"

namespace vitrine {
namespace {

using aot::ModelBuilder;
using aot::Node;

constexpr int64_t kHeads = 2;
constexpr int64_t kLength = 5;
constexpr int64_t kWidth = 3;

void set(Method& method, size_t index, Array array) {
  ASSERT_TRUE(method.set_input(index, EValue(&array.mutable_tensor())).ok());
}

Node* cache_of(ModelBuilder& build) {
  return build.buffer("cache",
                      aot::make_tensor_data(ScalarType::kFloat, {1, kHeads, kLength, kWidth},
                                            std::vector<std::byte>(kHeads * kLength * kWidth * 4)));
}

aot::Methods methods() {
  aot::Methods made;
  ModelBuilder write("Write");
  Node* row = write.input("row", ScalarType::kFloat, {1, kHeads, 1, kWidth});
  Node* at = write.input("position", ScalarType::kLong, {1});
  write.call("aten.index_copy_.default", {cache_of(write), 2, at, row});
  made.emplace("write", write.finish({write.call("aten.mul.Tensor", {row, 1})}));
  ModelBuilder read("Read");
  Node* factor = read.input("factor", ScalarType::kFloat, {1});
  made.emplace("read", read.finish({read.call("aten.mul.Tensor", {cache_of(read), factor})}));
  return made;
}

TEST(SharedCaches, ReadMethodSeesRowsThatTheWriteMethodStored) {
  aot::LowerOptions options;
  options.attention = aot::AttentionOperator::kCustomSdpa;
  options.emit.memory_planning.share_mutable_buffers = true;
  const std::vector<std::byte> bytes = aot::lower(methods(), options).emitted.pte;
  const test::ScratchFolder folder;
  tools::write_file(folder / "model.pte", std::span(bytes));
  tools::Session session({folder / "model.pte", {}, 1});
  const auto write = session.load_method("write");
  const auto read = session.load_method("read");

  std::array<float, kHeads * kWidth> row{};
  std::iota(row.begin(), row.end(), 1.0F);
  const int64_t position = 3;
  const float factor = 2;
  const Array rows = *Array::copy_of<float>(row, {1, 2, 1, 3});
  const Array positions = *Array::copy_of<int64_t>({&position, 1}, {1});
  const Array factors = *Array::copy_of<float>({&factor, 1}, {1});
  set(*write, 0, rows);
  set(*write, 1, positions);
  set(*read, 0, factors);
  ASSERT_TRUE(write->execute().ok());
  ASSERT_TRUE(read->execute().ok());

  const Tensor& seen = read->output(read->num_outputs() - 1).unchecked_tensor();
  ASSERT_EQ(seen.numel(), kHeads * kLength * kWidth);
  for (int64_t head = 0; head < kHeads; ++head) {
    for (int64_t at = 0; at < kLength; ++at) {
      for (int64_t i = 0; i < kWidth; ++i) {
        const auto index = static_cast<size_t>((head * kLength + at) * kWidth + i);
        const float expected = at == position ? 2 * row[static_cast<size_t>(head * kWidth + i)] : 0;
        EXPECT_EQ(seen.data<float>()[index], expected) << head << ", " << at << ", " << i;
      }
    }
  }
}

}  // namespace
}  // namespace vitrine

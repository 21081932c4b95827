#include "formats/flat_tensor/flat_tensor_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "schema/flat_tensor_generated.h"
#include "test/support/corpus.h"
#include "test/support/file_bytes.h"
#include "test/support/results.h"
#include "vitrine/flat_tensor.h"

namespace vitrine {
namespace {

using test::AlignedBytes;
using testing::AllOf;
using testing::HasSubstr;

std::vector<std::byte> copy(std::span<const std::byte> bytes) {
  return {bytes.begin(), bytes.end()};
}

AlignedBytes written(std::span<const NamedBytes> entries) {
  const std::vector<std::byte> file = test::require(write_flat_tensor(entries));
  return {file.begin(), file.end()};
}

std::unique_ptr<NamedDataMap> loaded(const AlignedBytes& file) {
  return test::require(load_flat_tensor(*view_buffer(file)));
}

template <class T>
T number(const AlignedBytes& file, size_t at) {
  T value;
  std::memcpy(&value, file.data() + at, sizeof value);
  return value;
}

const schema::flat_tensor::FlatTensor* table(const AlignedBytes& file) {
  return schema::flat_tensor::GetFlatTensor(file.data());
}

TEST(FlatTensorWriter, PreservesAllTensorsWhenWrittenAndRead) {
  const std::vector<float> weight = {1, 2, 3, 4, 5, 6};
  const std::vector<int32_t> sizes = {2, 3};
  const std::vector<uint8_t> dim_order = {1, 0};
  const std::vector<std::byte> payload = test::bytes_of("opaque");
  const std::vector<NamedBytes> entries = {
      {.key = "w",
       .data = std::as_bytes(std::span(weight)),
       .layout = TensorLayout{ScalarType::kFloat, sizes, dim_order}},
      {.key = "payload", .data = payload},
      {.key = "empty", .data = {}}};
  const AlignedBytes file = written(entries);
  const auto map = loaded(file);
  ASSERT_EQ(map->size(), 3u);
  for (size_t i = 0; i < entries.size(); ++i) {
    EXPECT_EQ(map->key(i), entries[i].key);
    EXPECT_EQ(copy((*map->get(entries[i].key)).bytes()), copy(entries[i].data));
    EXPECT_EQ((*map->layout(entries[i].key)).has_value(), entries[i].layout.has_value());
  }
  const TensorLayout layout = **map->layout("w");
  EXPECT_EQ(layout.dtype, ScalarType::kFloat);
  EXPECT_TRUE(std::ranges::equal(layout.sizes, sizes));
  EXPECT_TRUE(std::ranges::equal(layout.dim_order, dim_order));
  EXPECT_EQ(loaded(written({}))->size(), 0u);
}

// The expected offsets follow the rules of ExecuTorch's Python writer
// (docs/formats/flat_tensor.md).
TEST(FlatTensorWriter, FileLayoutMatchesExecuTorch) {
  const std::vector<std::byte> odd = test::bytes_of("odd");
  const std::vector<std::byte> other = test::bytes_of("other");
  const std::vector<NamedBytes> entries = {{.key = "a", .data = odd},
                                           {.key = "b", .data = other, .alignment = 512},
                                           {.key = "c", .data = odd},
                                           {.key = "d", .data = other, .alignment = 16}};
  const AlignedBytes file = written(entries);
  EXPECT_EQ(number<uint32_t>(file, 12), 40u);
  EXPECT_EQ(number<uint64_t>(file, 16), 48u);
  const auto base = number<uint64_t>(file, 32);
  EXPECT_EQ(base % 128, 0u);
  const auto table_end = 48 + number<uint64_t>(file, 24);
  EXPECT_LE(table_end, base);
  EXPECT_LT(base - table_end, 128u);
  EXPECT_EQ(number<uint64_t>(file, 40), 512u + other.size()) << "the last segment has no padding";
  EXPECT_EQ(file.size(), base + 512 + other.size());
  ASSERT_EQ(table(file)->segments()->size(), 2u) << "equal bytes are kept once";
  EXPECT_EQ(table(file)->segments()->Get(1)->offset(), 512u);
  for (size_t i = 0; i < entries.size(); ++i) {
    EXPECT_EQ(table(file)->named_data()->Get(static_cast<uint32_t>(i))->segment_index(), i % 2);
  }
  for (size_t i = base + odd.size(); i < base + 512; ++i) EXPECT_EQ(file[i], std::byte{0});
}

TEST(FlatTensorWriter, ErrorNamesTheEntryThatReadersReject) {
  const std::vector<std::byte> data(24);
  const std::vector<int32_t> sizes = {2, 3};
  const std::vector<uint8_t> order = {0, 1};
  const std::vector<uint8_t> twice = {0, 0};
  const std::vector<int32_t> negative = {-2, 3};
  const auto failure = [&](const NamedBytes& entry) {
    const std::vector<NamedBytes> entries = {{.key = "first", .data = data}, entry};
    const Error error = write_flat_tensor(entries).take_error();
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return std::string(error.message());
  };
  EXPECT_THAT(failure({.key = "first", .data = data}),
              AllOf(HasSubstr("entry 1 (first)"), HasSubstr("same key")));
  EXPECT_THAT(failure({.key = "", .data = data}), HasSubstr("no key"));
  EXPECT_THAT(failure({.key = "w", .data = data, .alignment = 48}), HasSubstr("48"));
  const auto with = [&](ScalarType dtype, std::span<const int32_t> s, std::span<const uint8_t> o) {
    return failure({.key = "w", .data = data, .layout = TensorLayout{dtype, s, o}});
  };
  EXPECT_THAT(with(ScalarType::kHalf, sizes, order),
              HasSubstr("requires 12 bytes, but its data has 24"));
  EXPECT_THAT(with(ScalarType::kFloat, sizes, twice), HasSubstr("permutation"));
  EXPECT_THAT(with(ScalarType::kFloat, negative, order), HasSubstr("negative"));
  EXPECT_THAT(with(static_cast<ScalarType>(99), sizes, order), HasSubstr("dtype"));
}

TEST(FlatTensorWriterCorpus, RewritesExecuTorchFilesWithTheSameLayout) {
  VITRINE_CORPUS_CASE(corpus, "");
  size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(corpus)) {
    if (entry.path().extension() != ".ptd") continue;
    SCOPED_TRACE(entry.path().string());
    const AlignedBytes stock = test::read_file_bytes(entry.path());
    const auto map = loaded(stock);
    std::vector<DataBuffer> kept;
    std::vector<NamedBytes> entries;
    for (size_t i = 0; i < map->size(); ++i) {
      kept.push_back(*map->get(map->key(i)));
      entries.push_back(
          {.key = map->key(i), .data = kept.back().bytes(), .layout = *map->layout(map->key(i))});
    }
    const AlignedBytes ours = written(entries);
    const auto read = loaded(ours);
    ASSERT_EQ(read->size(), map->size());
    for (const NamedBytes& one : entries) {
      EXPECT_EQ(copy((*read->get(one.key)).bytes()), copy(one.data)) << one.key;
    }
    ++files;
    // ExecuTorch 0.7 aligned segments to 16 bytes.
    if (entry.path().string().find("/compat/") != std::string::npos) continue;
    // The header and the data are the same bytes as in ExecuTorch's file. The table may be ordered
    // differently.
    for (const size_t field : {size_t{12}, size_t{16}}) {
      EXPECT_EQ(number<uint32_t>(ours, field), number<uint32_t>(stock, field));
    }
    EXPECT_EQ(number<uint64_t>(ours, 40), number<uint64_t>(stock, 40));
    const std::span stock_data = std::span(stock).subspan(number<uint64_t>(stock, 32));
    const std::span our_data = std::span(ours).subspan(number<uint64_t>(ours, 32));
    EXPECT_TRUE(std::ranges::equal(our_data, stock_data));
  }
  EXPECT_GE(files, 2u);
}

}  // namespace
}  // namespace vitrine

#include "vitrine/flat_tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "schema/flat_tensor_generated.h"
#include "test/support/corpus.h"
#include "test/support/damaged_bytes.h"
#include "test/support/file_bytes.h"
#include "test/support/program_builder.h"
#include "test/support/results.h"

namespace vitrine {
namespace {

namespace flat = schema::flat_tensor;
using test::AlignedBytes;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr size_t kHeaderBytes = 48;

struct Layout {
  ScalarType dtype = ScalarType::kFloat;
  std::vector<int32_t> sizes = {2, 3};
  std::vector<uint8_t> dim_order = {0, 1};
  bool has_sizes = true;
};

struct Entry {
  bool has_key = true;
  uint32_t segment = 0;
  bool has_layout = true;
  Layout layout = {};
};

// One tensor "w" of 24 bytes in one segment.
struct FileSpec {
  Entry entry = {};
  uint64_t segment_offset = 0;
  uint64_t segment_size = 24;
  bool has_segments = true;
  uint32_t version = 0;
};

AlignedBytes write(const FileSpec& spec) {
  flatbuffers::FlatBufferBuilder fbb;
  const Layout& from = spec.entry.layout;
  flatbuffers::Offset<flat::TensorLayout> layout;
  if (spec.entry.has_layout) {
    const auto sizes = from.has_sizes ? fbb.CreateVector(from.sizes)
                                      : flatbuffers::Offset<flatbuffers::Vector<int32_t>>();
    layout = flat::CreateTensorLayout(fbb, static_cast<schema::ScalarType>(from.dtype), sizes,
                                      fbb.CreateVector(from.dim_order));
  }
  const auto key =
      spec.entry.has_key ? fbb.CreateString("w") : flatbuffers::Offset<flatbuffers::String>();
  const std::vector entries{flat::CreateNamedData(fbb, key, spec.entry.segment, layout)};
  const std::vector segments{flat::CreateDataSegment(fbb, spec.segment_offset, spec.segment_size)};
  const auto all_segments =
      spec.has_segments
          ? fbb.CreateVector(segments)
          : flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<flat::DataSegment>>>();
  flat::FinishFlatTensorBuffer(
      fbb, flat::CreateFlatTensor(fbb, spec.version, all_segments, fbb.CreateVector(entries)));

  const auto* body = reinterpret_cast<const std::byte*>(fbb.GetBufferPointer());
  AlignedBytes file(body, body + fbb.GetSize());
  file.insert(file.begin() + 8, kHeaderBytes - 8, std::byte{0});
  const auto store = [&file](size_t at, auto value) {
    std::memcpy(file.data() + at, &value, sizeof value);
  };
  uint32_t root = 0;
  std::memcpy(&root, file.data(), sizeof root);
  store(0, root + uint32_t{kHeaderBytes} - 8);
  std::memcpy(file.data() + 8, "FH01", 4);
  store(12, uint32_t{40});
  store(16, uint64_t{kHeaderBytes});
  store(24, uint64_t{file.size() - kHeaderBytes});
  const size_t base = (file.size() + 127) / 128 * 128;
  store(32, uint64_t{base});
  store(40, uint64_t{24});
  file.resize(base);
  for (const float value : {1.f, 2.f, 3.f, 4.f, 5.f, 6.f}) {
    file.resize(file.size() + sizeof value);
    std::memcpy(file.data() + file.size() - sizeof value, &value, sizeof value);
  }
  file.shrink_to_fit();
  return file;
}

Result<std::unique_ptr<NamedDataMap>> load_data(const AlignedBytes& file) {
  return load_flat_tensor(*view_buffer(file));
}

std::string failure(const AlignedBytes& file) {
  const Error error = load_data(file).take_error();
  EXPECT_EQ(error.code(), ErrorCode::kInvalidExternalData);
  return error.message();
}

std::string patched_failure(size_t at, uint64_t value, size_t bytes = 8) {
  AlignedBytes file = write({});
  std::memcpy(file.data() + at, &value, bytes);
  return failure(file);
}

TEST(FlatTensor, ReturnsTensorsAndLayouts) {
  const AlignedBytes file = write({});
  const auto map = test::require(load_data(file));
  ASSERT_EQ(map->size(), 1u);
  EXPECT_EQ(map->key(0), "w");
  EXPECT_EQ(map->key(map->size()), "");
  const auto layout = map->layout("w");
  ASSERT_TRUE(layout.ok() && layout->has_value());
  EXPECT_EQ((*layout)->dtype, ScalarType::kFloat);
  EXPECT_THAT((*layout)->sizes, ElementsAre(2, 3));
  const auto data = test::require(map->get("w"));
  ASSERT_EQ(data.size(), 24u);
  float last = 0;
  std::memcpy(&last, data.data() + 20, sizeof last);
  EXPECT_EQ(last, 6.f);
  EXPECT_EQ(map->get("other").error().code(), ErrorCode::kNotFound);
  EXPECT_THAT(map->layout("other").error().message(), HasSubstr("other"));
}

TEST(FlatTensor, OpaqueBytesHaveNoLayout) {
  const AlignedBytes file = write({.entry = {.has_layout = false}});
  const auto map = test::require(load_data(file));
  EXPECT_FALSE(test::require(map->layout("w")).has_value());
}

TEST(FlatTensor, RejectsInvalidHeaders) {
  EXPECT_THAT(patched_failure(4, 0, 4), HasSubstr("byte 4"));
  EXPECT_THAT(patched_failure(8, 0, 4), HasSubstr("byte 8"));
  EXPECT_THAT(patched_failure(12, 39, 4), HasSubstr("fewer than 40"));
  EXPECT_THAT(patched_failure(24, 1 << 20), HasSubstr("flatbuffer extends past"));
  EXPECT_THAT(patched_failure(24, UINT64_MAX - 8), HasSubstr("flatbuffer extends past"));
  EXPECT_THAT(patched_failure(32, 1 << 20), HasSubstr("segments extend past"));
  EXPECT_THAT(patched_failure(40, UINT64_MAX - 8), HasSubstr("segments extend past"));
  AlignedBytes file = write({});
  std::memset(file.data() + 16, 0, 16);  // offset and size
  EXPECT_THAT(failure(file), HasSubstr("ends inside the header"));
}

TEST(FlatTensor, RejectsInvalidEntriesSegmentsAndVersions) {
  const std::pair<FileSpec, const char*> cases[] = {
      {{.entry = {.has_key = false}}, "named_data[0]: not a valid .ptd file: key is missing"},
      {{.entry = {.segment = 1}}, "no such segment"},
      {{.entry = {.layout = {.has_sizes = false}}}, "no sizes or dim_order"},
      {{.entry = {.layout = {.dim_order = {0, 0}}}}, "not a permutation"},
      {{.entry = {.layout = {.dim_order = {0}}}}, "not a permutation"},
      {{.entry = {.layout = {.sizes = {2, -3}}}}, "negative"},
      {{.entry = {.layout = {.dtype = static_cast<ScalarType>(77)}}}, "scalar_type is unknown"},
      {{.entry = {.layout = {.sizes = {2, 4}}}}, "larger than its segment"},
      {{.segment_offset = 1}, "segments[0]"},
      {{.segment_offset = UINT64_MAX}, "segments[0]"},
      {{.has_segments = false}, "named_data or segments is missing"},
      {{.version = 1}, "version: the .ptd file has version 1, but the latest supported one is 0"}};
  for (const auto& [spec, message] : cases) {
    EXPECT_THAT(failure(write(spec)), HasSubstr(message));
  }
}

TEST(FlatTensor, RejectsEveryTruncation) {
  test::for_each_truncation(write({}), [](const AlignedBytes& file, const auto& damage) {
    const Error error = load_data(file).take_error();
    ASSERT_FALSE(error.ok()) << damage;
    ASSERT_STRNE(error.message(), "") << damage;
  });
}

TEST(FlatTensor, SurvivesEveryFlippedByte) {
  test::for_each_changed_byte(write({}), [](const AlignedBytes& file, const auto& damage) {
    const auto map = load_data(file);
    if (!map.ok()) {
      ASSERT_STRNE(map.error().message(), "") << damage;
      return;
    }
    for (size_t i = 0; i < (*map)->size(); ++i) {
      (void)(*map)->get((*map)->key(i)).ok();
      (void)(*map)->layout((*map)->key(i)).ok();
    }
  });
}

TEST(FlatTensor, ReadsFilesWrittenByExecuTorch) {
  VITRINE_CORPUS_CASE(folder, "ptd_weights");
  const AlignedBytes file = test::read_file_bytes(folder / "_default_external_constant.ptd");
  const auto map = test::require(load_data(file));
  ASSERT_GT(map->size(), 0u);
  for (size_t i = 0; i < map->size(); ++i) {
    const auto layout = map->layout(map->key(i));
    ASSERT_TRUE(layout.ok() && layout->has_value()) << map->key(i);
    size_t nbytes = element_size((*layout)->dtype);
    for (const int32_t size : (*layout)->sizes) nbytes *= static_cast<size_t>(size);
    const auto data = test::require(map->get(map->key(i)));
    EXPECT_GE(data.size(), nbytes);
  }
}

}  // namespace
}  // namespace vitrine

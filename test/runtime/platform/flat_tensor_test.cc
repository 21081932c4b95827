#include "vitrine/flat_tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/platform/key_index.h"
#include "schema/flat_tensor_generated.h"
#include "test/support/corpus.h"
#include "test/support/damaged_bytes.h"
#include "test/support/file_bytes.h"
#include "test/support/program_builder.h"
#include "test/support/results.h"
#include "vitrine/named_data.h"

namespace vitrine {
namespace {

namespace flat = schema::flat_tensor;
using test::AlignedBytes;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::StartsWith;

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
  const test::Bytes elements = test::bytes_of<float>({1, 2, 3, 4, 5, 6});
  file.insert(file.end(), elements.begin(), elements.end());
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
  EXPECT_THAT(data.bytes(), ElementsAreArray(test::bytes_of<float>({1, 2, 3, 4, 5, 6})));
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

// A map from keys to bytes. If a key has no bytes, get() fails. Every layout has the given dtype.
class FakeMap final : public NamedDataMap {
 public:
  using Entries = std::map<std::string, test::Bytes, std::less<>>;

  // If `asked` is not null, it counts the lookups of keys.
  FakeMap(Entries entries, ScalarType dtype, size_t* asked = nullptr)
      : entries_(std::move(entries)), dtype_(dtype), asked_(asked) {}
  size_t size() const override { return entries_.size(); }
  std::string_view key(size_t index) const override {
    if (index >= size()) return {};
    return std::next(entries_.begin(), static_cast<ptrdiff_t>(index))->first;
  }
  Result<DataBuffer> get(std::string_view key) const override {
    count();
    const auto found = entries_.find(key);
    if (found == entries_.end()) return Error::make(ErrorCode::kNotFound, "not here");
    if (found->second.empty()) return Error::make(ErrorCode::kAccessFailed, "cannot be read");
    return DataBuffer(found->second);
  }
  Result<std::optional<TensorLayout>> layout(std::string_view key) const override {
    count();
    if (!entries_.contains(key)) return Error::make(ErrorCode::kNotFound, "not here");
    return std::optional<TensorLayout>({dtype_, {}, {}});
  }
  void release(std::string_view /*key*/) const override { count(); }

 private:
  void count() const {
    if (asked_ != nullptr) ++*asked_;
  }

  Entries entries_;
  ScalarType dtype_;
  size_t* asked_;
};

std::string text_of(const Result<DataBuffer>& data) {
  if (!data.ok()) return data.error().message();
  return {reinterpret_cast<const char*>(data->data()), data->size()};
}

class MergedNamedDataTest : public testing::Test {
 protected:
  FakeMap first_{{{"a", test::bytes_of("first a")}, {"broken", {}}}, ScalarType::kFloat};
  FakeMap second_{{{"a", test::bytes_of("second a")},
                   {"b", test::bytes_of("second b")},
                   {"broken", test::bytes_of("sound")}},
                  ScalarType::kInt};
};

TEST_F(MergedNamedDataTest, SearchesTheFirstMapBeforeTheSecond) {
  const MergedNamedData merged(&first_, &second_);
  EXPECT_EQ(text_of(merged.get("a")), "first a");
  EXPECT_EQ(text_of(merged.get("b")), "second b");
  EXPECT_EQ((*merged.layout("a"))->dtype, ScalarType::kFloat);
  EXPECT_EQ((*merged.layout("b"))->dtype, ScalarType::kInt);
  EXPECT_EQ(merged.get("broken").error().code(), ErrorCode::kAccessFailed);
  // The merged list has all keys of both maps, so two keys occur twice.
  ASSERT_EQ(merged.size(), 5u);
  EXPECT_EQ(merged.key(0), "a");
  EXPECT_EQ(merged.key(3), "b");
  EXPECT_EQ(merged.key(5), "");
}

// A method that uses several data files merges their maps in the same way.
TEST_F(MergedNamedDataTest, EachNestedMapIsSearchedOnce) {
  constexpr size_t kMaps = 20;
  const FakeMap::Entries none;
  std::vector<std::unique_ptr<const NamedDataMap>> maps;
  size_t asked = 0;
  const NamedDataMap* all = nullptr;
  for (size_t i = 0; i < kMaps; ++i) {
    maps.push_back(std::make_unique<FakeMap>(
        i == 0 ? FakeMap::Entries{{"a", test::bytes_of("first a")}} : none, ScalarType::kFloat,
        &asked));
    const NamedDataMap* added = maps.back().get();
    if (all != nullptr) {
      maps.push_back(std::make_unique<MergedNamedData>(all, added));
      added = maps.back().get();
    }
    all = added;
  }
  const auto cost = [&asked](auto&& look_up) {
    asked = 0;
    look_up();
    return asked;
  };
  EXPECT_EQ(cost([&] { EXPECT_EQ(text_of(all->get("a")), "first a"); }), 1u);
  EXPECT_EQ(cost([&] { EXPECT_TRUE(all->layout("a").ok()); }), 1u);
  EXPECT_EQ(cost([&] { EXPECT_FALSE(all->get("none").ok()); }), kMaps);
  EXPECT_EQ(cost([&] { EXPECT_FALSE(all->layout("none").ok()); }), kMaps);
  EXPECT_LE(cost([&] { all->release("a"); }), kMaps);
}

TEST_F(MergedNamedDataTest, EitherMapMayBeNull) {
  EXPECT_EQ(text_of(MergedNamedData(nullptr, &second_).get("a")), "second a");
  EXPECT_EQ(text_of(MergedNamedData(&first_, nullptr).get("a")), "first a");
  EXPECT_EQ(MergedNamedData(&first_, nullptr).get("b").error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(MergedNamedData(nullptr, &second_).key(1), "b");
  const MergedNamedData none(nullptr, nullptr);
  EXPECT_EQ(none.size(), 0u);
  EXPECT_EQ(none.key(0), "");
  EXPECT_THAT(none.get("x").error().message(), HasSubstr("x"));
  EXPECT_EQ(none.layout("x").error().code(), ErrorCode::kNotFound);
}

// A map that counts the calls of key().
class CountingMap final : public NamedDataMap {
 public:
  explicit CountingMap(std::vector<std::string> keys) : keys_(std::move(keys)) {}
  size_t size() const override { return keys_.size(); }
  std::string_view key(size_t index) const override {
    ++looks;
    return keys_[index];
  }
  Result<DataBuffer> get(std::string_view) const override { return DataBuffer(); }
  Result<std::optional<TensorLayout>> layout(std::string_view) const override {
    return std::optional<TensorLayout>();
  }
  mutable uint64_t looks = 0;

 private:
  std::vector<std::string> keys_;
};

std::vector<std::string> numbered(size_t count) {
  std::vector<std::string> keys;
  // The keys are not sorted.
  for (size_t i = 0; i < count; ++i) keys.push_back("layer." + std::to_string(i * 7919 % count));
  return keys;
}

TEST(KeyIndexTest, FindsEachKeyAndTheFirstDuplicate) {
  const CountingMap map({"b", "a", "", "b", "a.b", "a"});
  KeyIndex index;
  Budget steps;
  ASSERT_TRUE(index.build(map, steps).ok());
  EXPECT_EQ(index.find("b"), 0u);
  EXPECT_EQ(index.find("a"), 1u);
  EXPECT_EQ(index.find(""), 2u);
  EXPECT_EQ(index.find("a.b"), 4u);
  for (const char* unknown : {"a.", "c", "B", "bb"}) {
    EXPECT_EQ(index.find(unknown), KeyIndex::kNotFound) << unknown;
  }
}

TEST(KeyIndexTest, FindsNothingInAnEmptyMap) {
  const CountingMap map({});
  KeyIndex index;
  EXPECT_EQ(index.find("a"), KeyIndex::kNotFound) << "before it is built";
  Budget steps;
  ASSERT_TRUE(index.build(map, steps).ok());
  EXPECT_EQ(index.find("a"), KeyIndex::kNotFound);
}

// Indexes `count` keys and looks up each of them. Returns the number of calls of key().
uint64_t looks_for(size_t count) {
  const CountingMap map(numbered(count));
  KeyIndex index;
  Budget steps;
  EXPECT_TRUE(index.build(map, steps).ok());
  EXPECT_EQ(steps.used(), count);
  for (const std::string& key : numbered(count)) EXPECT_NE(index.find(key), KeyIndex::kNotFound);
  return map.looks;
}

TEST(KeyIndexTest, LookupsGrowAlmostLinearlyWithKeys) {
  EXPECT_LE(looks_for(16384), 5 * looks_for(4096));
}

TEST(KeyIndexTest, LongKeysTakeMoreThanOneStepEach) {
  const CountingMap map(std::vector<std::string>(100, std::string(64000, 'x')));
  KeyIndex index;
  Budget steps(64000 + 100);
  EXPECT_THAT(
      index.build(map, steps),
      test::FailsWith(ErrorCode::kOutOfResources,
                      StartsWith("named_data[64]: checking the file takes more than 64100 steps")));
}

}  // namespace
}  // namespace vitrine

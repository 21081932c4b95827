#include "formats/etrecord/recorded_tensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "formats/etrecord/record_members.h"
#include "runtime/platform/memory.h"
#include "test/support/corpus.h"
#include "test/support/file_bytes.h"
#include "test/support/record_builder.h"

namespace vitrine::etrecord {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Opcodes of protocol 2 for small numbers.
std::string number(int value) { return "J" + std::string(reinterpret_cast<char*>(&value), 4); }
std::string text(const std::string& content) {
  const auto size = static_cast<uint32_t>(content.size());
  return "X" + std::string(reinterpret_cast<const char*>(&size), 4) + content;
}
std::string tuple(const std::vector<int>& values) {
  std::string result = "(";
  for (const int value : values) result += number(value);
  return result + "t";
}
std::string tensor(const std::vector<int>& sizes, const std::vector<int>& strides, int offset,
                   const std::string& storage = "FloatStorage") {
  return "ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") + "ctorch\n" + storage + "\n" +
         text("0") + text("cpu") + number(6) + "tQ" + number(offset) + tuple(sizes) +
         tuple(strides) + "\x89" + "ccollections\nOrderedDict\n)RtR";
}
// Returns an archive with a storage of the floats 0 to 5 and a list of values. The opcodes in
// `value` make the values.
std::string archive(const std::string& value, const std::string& order = "little") {
  const float storage[] = {0, 1, 2, 3, 4, 5};
  return text_of(test::make_archive(
      {{"archive/data.pkl", "\x80\x02](" + value + "e."},
       {"archive/byteorder", order},
       {"archive/data/0", std::string(reinterpret_cast<const char*>(storage), sizeof storage)}}));
}

std::vector<float> floats(const RecordedValue& value) {
  const auto& data = std::get<RecordedTensor>(value).data;
  std::vector<float> result(data.size() / sizeof(float));
  if (!data.empty()) std::memcpy(result.data(), data.data(), data.size());
  return result;
}

std::string error_of_inputs(const std::string& bytes) {
  try {
    parse_representative_inputs(bytes, "x");
  } catch (const FormatError& error) {
    return error.what();
  }
  return "";
}

TEST(RecordedTensors, ReturnsElementsInLogicalOrder) {
  const auto values = parse_representative_inputs(
      archive(tensor({2, 3}, {3, 1}, 0) + tensor({3, 2}, {1, 3}, 0) + tensor({2}, {2}, 1) +
              tensor({}, {}, 5) + tensor({0, 4}, {4, 1}, 0) + tensor({2, 2}, {0, 1}, 0)));
  ASSERT_EQ(values.size(), 6u);
  EXPECT_THAT(floats(values[0]), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(floats(values[1]), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(floats(values[2]), ElementsAre(1, 3));
  EXPECT_THAT(floats(values[3]), ElementsAre(5));
  EXPECT_THAT(floats(values[4]), ElementsAre());
  EXPECT_THAT(floats(values[5]), ElementsAre(0, 1, 0, 1)) << "an expanded tensor";
}

TEST(RecordedTensors, ReadsNumbersAndNone) {
  const auto values = parse_representative_inputs(
      archive(std::string("N\x88\x89K\x07M\x01\x02", 8) + std::string("\x8a\x01\xff", 3) +
              std::string("G\x3f\xf8\0\0\0\0\0\0", 9)));
  ASSERT_EQ(values.size(), 7u);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(values[0]));
  EXPECT_TRUE(std::get<bool>(values[1]));
  EXPECT_FALSE(std::get<bool>(values[2]));
  EXPECT_EQ(std::get<int64_t>(values[3]), 7);
  EXPECT_EQ(std::get<int64_t>(values[4]), 0x201);
  EXPECT_EQ(std::get<int64_t>(values[5]), -1);
  EXPECT_EQ(std::get<double>(values[6]), 1.5);
}

TEST(RecordedTensors, RejectsInvalidAndUnsupportedValues) {
  EXPECT_THAT(error_of_inputs("\x80\x04whatever"),
              AllOf(HasSubstr("x: "), HasSubstr("plain pickle")));
  EXPECT_THAT(error_of_inputs("no zip"), HasSubstr("x: "));
  EXPECT_THAT(error_of_inputs(archive(tensor({2, 3}, {3, 1}, 1))), HasSubstr("beyond its storage"));
  EXPECT_THAT(error_of_inputs(archive(tensor({2, 3}, {3, 1}, -1))),
              HasSubstr("beyond its storage"));
  EXPECT_THAT(error_of_inputs(archive(tensor({2, 3}, {3}, 0))), HasSubstr("strides"));
  EXPECT_THAT(error_of_inputs(archive(tensor({2}, {-1}, 0))), HasSubstr("negative"));
  EXPECT_THAT(error_of_inputs(archive(tensor({1 << 20, 1 << 20}, {0, 0}, 0))),
              HasSubstr("far larger"));
  EXPECT_THAT(error_of_inputs(archive(tensor({2}, {1}, 0, "UntypedStorage"))),
              HasSubstr("UntypedStorage"));
  EXPECT_THAT(error_of_inputs(archive("cos\nsystem\n(" + text("ls") + "tR")),
              HasSubstr("os system"));
  EXPECT_THAT(error_of_inputs(archive(tensor({2}, {1}, 0), "big")), HasSubstr("little-endian"));
  EXPECT_THAT(error_of_inputs(archive("I")),
              AllOf(HasSubstr("data.pkl: byte 4"), HasSubstr("0x49")));
  EXPECT_THAT(error_of_inputs(archive("h\x05")), HasSubstr("the memo has no entry"));
  EXPECT_THAT(error_of_inputs(archive("(X")), HasSubstr("data.pkl: byte"));
}

// A few opcodes can build the long name of a global from a text that the pickle contains only once.
TEST(RecordedTensors, RejectsGlobalsWithLongNames) {
  const std::string memo = "q" + std::string(1, '\0');
  const std::string again = "h" + std::string(1, '\0');
  const std::string from_memo = again + again + "\x93";
  EXPECT_THAT(error_of_inputs(archive(text(std::string(256, 'a')) + memo + from_memo)),
              HasSubstr("neither a tensor"));
  EXPECT_THAT(error_of_inputs(archive(text(std::string(257, 'a')) + memo + from_memo)),
              AllOf(HasSubstr("data.pkl: byte "),
                    HasSubstr("the name of a global has 514 bytes; the maximum is 512")));
  EXPECT_THAT(
      error_of_inputs(archive("c" + std::string(500, 'a') + "\n" + std::string(13, 'b') + "\n")),
      HasSubstr("the name of a global has 513 bytes; the maximum is 512"));
}

TEST(RecordedTensors, RejectsTooManyValues) {
  EXPECT_EQ(error_of_inputs(archive(std::string((size_t{1} << 20) - 16, 'N'))), "");
  EXPECT_THAT(error_of_inputs(archive(std::string((size_t{1} << 20) + 1, 'N'))),
              AllOf(HasSubstr("data.pkl: byte "), HasSubstr("more than 1048576 values")));
}

TEST(RecordedTensors, RejectsTooManyMemoEntries) {
  constexpr size_t kMax = size_t{1} << 20;
  EXPECT_EQ(error_of_inputs(archive("N" + std::string(kMax, '\x94'))), "");
  EXPECT_THAT(
      error_of_inputs(archive("N" + std::string(kMax + 1, '\x94'))),
      AllOf(HasSubstr("data.pkl: byte "), HasSubstr("the memo has more than 1048576 entries")));
}

// The first list contains itself; the second one is shared many times.
TEST(RecordedTensors, LimitsMemoryForCyclicAndSharedLists) {
  EXPECT_THAT(error_of_inputs(text_of(test::make_archive(
                  {{"archive/data.pkl",
                    "\x80\x02]q" + std::string(1, '\0') + "h" + std::string(1, '\0') + "a."}}))),
              HasSubstr("neither a tensor"));
  std::string sets;
  for (int i = 0; i < 50000; ++i) sets += "h\x01";
  std::string items;
  for (int i = 0; i < 50000; ++i) items += "N";
  const std::string pickle =
      "\x80\x02}" + text("forward") + "](](" + items + "eq\x01" + sets + "es.";
  const std::string bytes = text_of(test::make_archive({{"archive/data.pkl", pickle}}));
  const uint64_t before = platform::resident_memory().peak;
  EXPECT_THAT([&] { parse_reference_outputs(bytes); },
              ThrowsMessage<FormatError>(HasSubstr("far larger than the archive")));
  EXPECT_LT(platform::resident_memory().peak - before, uint64_t{512} << 20);
}

// ExecuTorch copied the bundle's inputs and outputs into the record.
TEST(RecordedTensorsCorpus, MatchesTheInputsAndOutputsOfTheBundle) {
  VITRINE_CORPUS_CASE(corpus, "");
  for (const char* name : {"bundled_linear_relu", "bundled_linear_relu_portable"}) {
    const auto folder = corpus / name;
    const auto bytes = [&](const char* file) {
      const auto aligned = test::read_file_bytes(folder / file);
      return std::vector<std::byte>(aligned.begin(), aligned.end());
    };
    const RecordMembers members = read_record_members(folder / "etrecord_bundled.bin");
    const auto outputs = parse_reference_outputs(members.reference_outputs.value());
    ASSERT_EQ(outputs.size(), 1u);
    const auto& sets = outputs.at("forward");
    ASSERT_EQ(sets.size(), 2u);
    EXPECT_EQ(std::get<RecordedTensor>(sets[0].at(0)).data, bytes("expected_0.bin"));
    EXPECT_EQ(std::get<RecordedTensor>(sets[1].at(0)).data, bytes("expected_0_c1.bin"));
    EXPECT_THAT(std::get<RecordedTensor>(sets[0].at(0)).sizes, ElementsAre(4, 5));
    const auto inputs = parse_representative_inputs(members.representative_inputs.value());
    ASSERT_EQ(inputs.size(), 1u);
    EXPECT_EQ(std::get<RecordedTensor>(inputs[0]).data, bytes("input_0.bin"));
    EXPECT_EQ(std::get<RecordedTensor>(inputs[0]).dtype, ScalarType::kFloat);
  }
  const RecordMembers old =
      read_record_members(corpus / "compat/v0.7.0/bundled_linear_relu/etrecord_bundled.bin");
  EXPECT_THROW(parse_reference_outputs(old.reference_outputs.value()), FormatError);
}

}  // namespace
}  // namespace vitrine::etrecord

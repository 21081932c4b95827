// Tests that the reader on the host restores the values that the device wrote to its debug buffer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "formats/etdump/etdump_reader.h"
#include "formats/etdump/etdump_writer.h"
#include "formats/etdump/extensions.h"
#include "schema/etdump_generated.h"
#include "test/support/results.h"
#include "test/support/tensor_factory.h"

namespace vitrine::etdump {
namespace {

namespace fb = ::flatbuffers;
namespace wire = ::vitrine::schema::etdump;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class DebugValuesTest : public testing::Test {
 protected:
  void record(EValue& value, int32_t instruction, bool is_output = false) {
    TracedValue traced{.value = &value, .chain_index = 0, .instruction_id = instruction};
    if (is_output) traced = {.value = &value, .is_method_output = true};
    trace_.record_value(traced);
  }
  void record_kernel(int32_t instruction) {
    trace_.record({.name = "aten::add.out",
                   .chain_index = 0,
                   .instruction_id = instruction,
                   .kind = TraceRecord::Kind::kKernelCall});
  }
  EtDump read_back() const {
    const std::vector<uint8_t> bytes = test::require(write_etdump(trace_));
    EtDump dump = parse_etdump(std::as_bytes(std::span(bytes)));
    attach_debug_data(dump, values_.data());
    return dump;
  }
  EValue& list(const std::vector<EValue*>& items, bool optional) {
    items_.push_back(items);
    scratch_.emplace_back(items.size());
    bodies_.push_back({items_.back(), scratch_.back().data()});
    return lists_.emplace_back(&bodies_.back(), optional);
  }
  EValue none_;
  test::TensorFactory factory_;
  std::deque<std::vector<EValue*>> items_;
  std::deque<std::vector<Tensor*>> scratch_;
  std::deque<TensorListBody> bodies_;
  std::deque<EValue> lists_;
  ValueBuffer values_{1024, 16};
  TraceBuffer trace_{16, 4, &values_};
};

template <class T>
std::vector<T> elements(const DebugTensor& tensor) {
  const std::vector<std::byte> bytes = row_major_bytes(tensor);
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

TEST_F(DebugValuesTest, ReadsBackATensor) {
  trace_.begin_block("Execute");
  Tensor& x = factory_.make<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  record(factory_.value(x), 7);
  const EtDump dump = read_back();
  x.mutable_data<float>()[0] = 100;  // the buffer holds a copy
  ASSERT_EQ(dump.blocks.at(0).debug_events.size(), 1u);
  const DebugEvent& event = dump.blocks[0].debug_events[0];
  EXPECT_EQ(event.chain_index, 0);
  EXPECT_EQ(event.instruction_id, 7);
  EXPECT_EQ(event.delegate_debug_id, kUnset);
  EXPECT_FALSE(event.is_output);
  const auto& tensor = std::get<DebugTensor>(event.value);
  EXPECT_EQ(tensor.dtype, ScalarType::kFloat);
  EXPECT_THAT(tensor.sizes, ElementsAre(2, 3));
  EXPECT_THAT(tensor.strides, ElementsAre(3, 1));
  EXPECT_THAT(elements<float>(tensor), ElementsAre(1, 2, 3, 4, 5, 6));
}

// The tensor [1,2,2,2] is channels last: in memory, the channel varies fastest.
TEST_F(DebugValuesTest, ReturnsElementsInLogicalOrderForAnyDimOrder) {
  Tensor& x = factory_.make<int32_t>({1, 2, 2, 2}, {0, 10, 1, 11, 2, 12, 3, 13}, {0, 2, 3, 1});
  record(factory_.value(x), 0);
  const EtDump dump = read_back();
  const auto& tensor = std::get<DebugTensor>(dump.blocks.at(0).debug_events.at(0).value);
  EXPECT_THAT(tensor.strides, ElementsAre(8, 1, 4, 2));
  EXPECT_THAT(elements<int32_t>(tensor), ElementsAre(0, 1, 2, 3, 10, 11, 12, 13));
}

// FlatBuffers omits fields that equal their default. A writer could omit -0.0 by mistake, because
// -0.0 == 0.0.
TEST_F(DebugValuesTest, KeepsTheSignOfZero) {
  trace_.begin_block("Execute");
  EValue positive(0.0);
  EValue negative(-0.0);
  record(positive, 0);
  record(negative, 1);
  const EtDump dump = read_back();
  const std::vector<DebugEvent>& events = dump.blocks.at(0).debug_events;
  ASSERT_EQ(events.size(), 2u);
  EXPECT_FALSE(std::signbit(std::get<double>(events[0].value)));
  EXPECT_TRUE(std::signbit(std::get<double>(events[1].value)));
}

TEST_F(DebugValuesTest, KeepsOrderAndPositionOfValuesOfEveryKind) {
  trace_.begin_block("Execute");
  Tensor& a = factory_.make<int64_t>({2}, {1, 2});
  Tensor& b = factory_.make<float>({0}, {});
  Tensor& c = factory_.make<uint8_t>({}, {9});
  EValue& tensor_a = factory_.value(a);
  EValue& tensor_b = factory_.value(b);
  EValue& tensor_c = factory_.value(c);
  EValue number(int64_t{-5});
  EValue real(0.5);
  EValue truth(true);
  EValue text(std::string_view("text"));
  record_kernel(0);
  record(list({&tensor_a, &none_, &tensor_b}, true), 0);
  record(number, 1);
  record(real, 2);
  record_kernel(1);
  record(truth, 3);
  record(text, 4);   // ignored: the format has no such kind
  record(none_, 4);  // ignored too
  record(tensor_c, 0, true);
  record(list({}, false), 0, true);
  const EtDump dump = read_back();
  const std::vector<DebugEvent>& events = dump.blocks.at(0).debug_events;
  ASSERT_EQ(events.size(), 6u);
  const auto& items = std::get<std::vector<DebugTensor>>(events[0].value);
  ASSERT_EQ(items.size(), 2u);
  EXPECT_THAT(elements<int64_t>(items[0]), ElementsAre(1, 2));
  EXPECT_THAT(items[1].sizes, ElementsAre(0));
  EXPECT_EQ(items[1].offset, -1) << "an empty tensor has no data";
  EXPECT_EQ(std::get<int64_t>(events[1].value), -5);
  EXPECT_EQ(std::get<double>(events[2].value), 0.5);
  EXPECT_TRUE(std::get<bool>(events[3].value));
  EXPECT_THAT(elements<uint8_t>(std::get<DebugTensor>(events[4].value)), ElementsAre(9));
  EXPECT_TRUE(std::get<std::vector<DebugTensor>>(events[5].value).empty());
  for (size_t i = 0; i < events.size(); ++i) EXPECT_EQ(events[i].is_output, i >= 4) << i;
  EXPECT_EQ(events[4].chain_index, kUnset);
  EXPECT_EQ(events[4].instruction_id, 0);
  // The two kernel calls take positions 0, 1, 5 and 6, because each call counts as two events.
  const std::vector<size_t> positions{2, 3, 4, 7, 8, 9};
  for (size_t i = 0; i < events.size(); ++i) EXPECT_EQ(events[i].position, positions[i]) << i;
}

// ExecuTorch's writer also aligns data to 64 bytes and fills gaps with zeros.
TEST_F(DebugValuesTest, AlignsDataAndFillsGapsWithZeros) {
  for (int i = 0; i < 3; ++i) {
    record(factory_.value(factory_.make<uint8_t>({3}, {0xff, 0xff, 0xff})), i);
  }
  EXPECT_EQ(values_.data().size(), 2 * 64u + 3u);
  for (size_t i = 0; i < values_.data().size(); ++i) {
    EXPECT_EQ(values_.data()[i], i % 64 < 3 ? std::byte{0xff} : std::byte{0}) << i;
  }
}

TEST_F(DebugValuesTest, CountsValuesThatDoNotFitAndDropsPartialLists) {
  trace_.begin_block("Execute");
  EValue& small = factory_.value(factory_.make<uint8_t>({1}, {1}));
  EValue& large = factory_.value(factory_.make(ScalarType::kByte, {2000}));
  record(small, 0);
  record(large, 1);
  record(list({&small, &large}, false), 2);
  record(small, 3);
  trace_.begin_block("Execute");
  for (int i = 0; i < 20; ++i) record(small, i);
  EXPECT_EQ(values_.entries().size(), 16u);
  const EtDump dump = read_back();
  EXPECT_EQ(dump.blocks.at(0).debug_events.size(), 2u);
  EXPECT_EQ(dump.blocks[0].debug_events[1].instruction_id, 3);
  EXPECT_EQ(dump.blocks[0].profile_events.back().name, kDroppedValues);
  EXPECT_EQ(dump.blocks[0].profile_events.back().metadata, "2");
  EXPECT_EQ(dump.blocks.at(1).debug_events.size(), 14u);
  EXPECT_EQ(dump.blocks[1].profile_events.back().metadata, "6");
  trace_.clear();
  EXPECT_EQ(values_.entries().size(), 0u);
  EXPECT_EQ(values_.dropped(), 0u);
}

TEST_F(DebugValuesTest, KeepsTheBundledInputIndexOfEachBlock) {
  trace_.begin_block("Default");
  trace_.set_bundled_input_index(3);
  trace_.begin_block("Execute");
  const EtDump dump = read_back();
  EXPECT_EQ(dump.blocks.at(0).bundled_input_index, -1);
  EXPECT_EQ(dump.blocks.at(1).bundled_input_index, 3);
}

// Reads a dump with one debug event of `value`, and a debug buffer of `buffer` bytes. Returns the
// error.
std::string error_of(fb::FlatBufferBuilder& builder, fb::Offset<wire::Value> value,
                     size_t buffer = 64) {
  const auto event = wire::CreateEvent(builder, 0, 0, wire::CreateDebugEvent(builder, 0, 4, value));
  const auto block =
      wire::CreateRunData(builder, 0, -1, 0, builder.CreateVector(std::vector{event}));
  builder.Finish(wire::CreateETDump(builder, 0, builder.CreateVector(std::vector{block})),
                 wire::ETDumpIdentifier());
  return test::thrown<EtDumpError>([&] {
    EtDump dump =
        parse_etdump(std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize())));
    attach_debug_data(dump, std::vector<std::byte>(buffer), "x.data");
  });
}

std::string error_of_tensor(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides,
                            int64_t offset, int dtype = 6) {
  fb::FlatBufferBuilder builder;
  const auto tensor =
      wire::CreateTensor(builder, static_cast<schema::ScalarType>(dtype),
                         builder.CreateVector(sizes), builder.CreateVector(strides), offset);
  return error_of(builder, wire::CreateValue(builder, wire::ValueType::Tensor, tensor));
}

TEST(DebugValues, ReportsThePathOfAnInvalidTensor) {
  constexpr int64_t kHuge = INT64_MAX;
  EXPECT_EQ(error_of_tensor({4, 4}, {4, 1}, 0), "");
  EXPECT_EQ(error_of_tensor({0}, {1}, -1), "");
  EXPECT_EQ(error_of_tensor({0, kHuge, kHuge}, {1, 1, 1}, -1), "");
  const auto place = HasSubstr("run_data[0].events[0].debug_event.debug_entry.tensor");
  EXPECT_THAT(error_of_tensor({4}, {1, 1}, 0), AllOf(place, HasSubstr("1 sizes and 2 strides")));
  EXPECT_THAT(error_of_tensor({4}, {-1}, 0), AllOf(place, HasSubstr("stride -1")));
  EXPECT_THAT(error_of_tensor({-4}, {1}, 0), AllOf(place, HasSubstr("size -4")));
  EXPECT_THAT(error_of_tensor({kHuge, kHuge}, {1, 1}, 0), AllOf(place, HasSubstr("overflow")));
  EXPECT_THAT(error_of_tensor({3, 2}, {kHuge, 1}, 0), AllOf(place, HasSubstr("overflow")));
  EXPECT_THAT(error_of_tensor({1000000}, {0}, 0), AllOf(place, HasSubstr("overflow")))
      << "a small buffer must not expand to a large tensor";
  EXPECT_THAT(error_of_tensor({4}, {1}, -1), AllOf(place, HasSubstr("negative")));
  EXPECT_THAT(error_of_tensor({4}, {1}, 0, 77), AllOf(place, HasSubstr("scalar_type")));
  const std::vector<int64_t> deep(17, 1);
  EXPECT_THAT(error_of_tensor(deep, deep, 0), AllOf(place, HasSubstr("17 sizes")));
  for (const int64_t offset : {int64_t{1}, int64_t{64}, kHuge}) {
    EXPECT_THAT(error_of_tensor({4, 4}, {4, 1}, offset),
                AllOf(HasSubstr("x.data"), HasSubstr("run_data[0].events[0]"),
                      HasSubstr("beyond the buffer's 64 bytes")));
  }
}

TEST(DebugValues, ReportsAMissingFieldOfAValue) {
  for (const auto& [kind, name] : {std::pair{wire::ValueType::Tensor, "no tensor"},
                                   {wire::ValueType::TensorList, "no tensor_list"},
                                   {wire::ValueType::Int, "no int_value"},
                                   {wire::ValueType::Bool, "no bool_value"},
                                   {wire::ValueType::Float, "no float_value"},
                                   {wire::ValueType::Double, "no double_value"},
                                   {static_cast<wire::ValueType>(50), "kind 50"}}) {
    fb::FlatBufferBuilder builder;
    EXPECT_THAT(error_of(builder, wire::CreateValue(builder, kind)),
                AllOf(HasSubstr("run_data[0].events[0].debug_event.debug_entry"), HasSubstr(name)));
  }
}

TEST(DebugValues, ReadsExecuTorchEventsWithoutValueOrChainIndex) {
  fb::FlatBufferBuilder builder;
  const auto real =
      wire::CreateValue(builder, wire::ValueType::Float, 0, 0, 0, wire::CreateFloat(builder, 1.5f));
  std::vector<fb::Offset<wire::Event>> events;
  for (const auto& [chain, value] : {std::pair{UINT64_MAX, real},
                                     {uint64_t{UINT32_MAX}, wire::CreateValue(builder)},
                                     {uint64_t{2}, fb::Offset<wire::Value>()}}) {
    events.push_back(
        wire::CreateEvent(builder, 0, 0, wire::CreateDebugEvent(builder, chain, 0, value)));
  }
  const auto block = wire::CreateRunData(builder, 0, -1, 0, builder.CreateVector(events));
  builder.Finish(wire::CreateETDump(builder, 0, builder.CreateVector(std::vector{block})),
                 wire::ETDumpIdentifier());
  const EtDump dump =
      parse_etdump(std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize())));
  const auto& read = dump.blocks.at(0).debug_events;
  EXPECT_EQ(std::get<float>(read.at(0).value), 1.5f);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(read.at(1).value));
  EXPECT_TRUE(std::holds_alternative<std::monostate>(read.at(2).value));
  EXPECT_EQ(read[0].chain_index, kUnset);
  EXPECT_EQ(read[1].chain_index, kUnset);
  EXPECT_EQ(read[2].chain_index, 2);
}

}  // namespace
}  // namespace vitrine::etdump

#include "vitrine/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <string>

#include "runtime/program/program_access.h"
#include "test/support/program_builder.h"
#include "test/support/results.h"
#include "test/support/temporary_file.h"
#include "vitrine/extended_header.h"
#include "vitrine/method_meta.h"

namespace vitrine {
namespace {

using Tag = EValue::Tag;
using test::AlignedBytes;
using test::bytes_of;
using test::MethodSpec;
using test::Planned;
using test::ProgramBuilder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

Result<std::shared_ptr<const Program>> load(const AlignedBytes& file,
                                            Verification verification = Verification::kFull) {
  return Program::load(*view_buffer(file), verification);
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A program that has two methods and every kind of segment data.
ProgramBuilder sample() {
  ProgramBuilder builder;
  builder.constant(bytes_of("constant"));
  builder.initial_state(bytes_of("a"));
  builder.initial_state(bytes_of("state"));
  builder.named_data("weights", bytes_of("named"));
  builder.method("forward").delegate(
      {.id = "B", .location = schema::program::DataLocation::SEGMENT, .payload = bytes_of("seg")});
  builder.method("encode").delegate({.id = "B", .payload = bytes_of("inline payload")});
  return builder;
}

TEST(Program, ListsMethods) {
  const AlignedBytes file = sample().build();
  const auto program = test::require(load(file));
  ASSERT_EQ(program->num_methods(), 2u);
  EXPECT_EQ(program->method_name(0), "forward");
  EXPECT_EQ(program->method_name(1), "encode");
  EXPECT_EQ(program->method_name(2), "");
  EXPECT_EQ(program->method_name(SIZE_MAX), "");
  EXPECT_EQ(program->method_meta("encode")->name(), "encode");
}

TEST(Program, ReportsTruncatedFiles) {
  const test::TemporaryFile file(sample().build());
  const auto program = test::require(Program::load(*open_file(file.path())));
  auto opened = open_file(file.path());
  std::filesystem::resize_file(file.path(), 100);
  const Error errors[] = {Program::load(std::move(*opened)).take_error(),
                          ProgramAccess::mutable_data(*program, 2, 5).take_error()};
  for (const Error& error : errors) {
    EXPECT_EQ(error.code(), ErrorCode::kAccessFailed);
    EXPECT_THAT(error.message(), HasSubstr("the file is too short"));
  }
}

TEST(Program, UnknownMethodErrorListsExistingMethods) {
  const AlignedBytes file = sample().build();
  const auto program = test::require(load(file));
  EXPECT_THAT(program->method_meta("decode"),
              test::FailsWith(ErrorCode::kInvalidArgument,
                              "the program has no method decode; it has: forward, encode"));
}

TEST(Program, ReturnsEachKindOfSegmentData) {
  const AlignedBytes file = sample().build();
  const auto loaded = test::require(load(file));
  const Program& program = *loaded;
  EXPECT_EQ(text_of(*ProgramAccess::constant_data(program, 1, 8)), "constant");
  EXPECT_EQ(text_of(ProgramAccess::mutable_data(program, 2, 5)->bytes()), "state");
  const auto reference = [&program](uint32_t plan) -> const auto& {
    const auto& plans = *ProgramAccess::root(program).execution_plan();
    return *plans.Get(plan)->delegates()->Get(0)->processed();
  };
  EXPECT_EQ(text_of(ProgramAccess::payload(program, reference(0))->bytes()), "seg");
  EXPECT_EQ(text_of(ProgramAccess::payload(program, reference(1))->bytes()), "inline payload");
  ASSERT_EQ(program.named_data().size(), 1u);
  EXPECT_EQ(program.named_data().key(0), "weights");
  EXPECT_EQ(program.named_data().key(1), "");
  EXPECT_EQ(text_of(program.named_data().get("weights")->bytes()), "named");
  EXPECT_FALSE(program.named_data().layout("weights")->has_value());
  EXPECT_THAT(program.named_data().get("other").error().message(), HasSubstr("other"));
}

TEST(Program, LoadsFromFilesAndMappedFiles) {
  const AlignedBytes file = sample().build();
  const test::TemporaryFile temporary(file);
  for (const auto open : {open_file, map_file}) {
    const auto program = test::require(Program::load(*open(temporary.path())));
    EXPECT_EQ(text_of(*ProgramAccess::constant_data(*program, 1, 8)), "constant");
    EXPECT_EQ(text_of(program->named_data().get("weights")->bytes()), "named");
  }
}

TEST(Program, SegmentsOfOldHeadersEndAtTheEndOfTheFile) {
  ProgramBuilder builder = sample();
  builder.header_length = 24;
  const AlignedBytes file = builder.build();
  const auto program = test::require(load(file));
  EXPECT_EQ(text_of(program->named_data().get("weights")->bytes()), "named");
  // Without its last byte, the file is too short for the last segment.
  const AlignedBytes cut(file.begin(), file.end() - 1);
  EXPECT_THAT(load(cut).error().message(), HasSubstr("segments[3]"));
}

TEST(Program, ReadsConstantsOfProgramsWithoutAConstantSegment) {
  ProgramBuilder builder;
  builder.legacy_constants = true;
  builder.constant(bytes_of("constant"));
  builder.method("forward");
  const AlignedBytes file = builder.build();
  const auto program = test::require(load(file));
  EXPECT_EQ(text_of(*ProgramAccess::constant_data(*program, 1, 8)), "constant");
}

TEST(Program, AlignsPayloads) {
  ProgramBuilder builder;
  builder.segment_alignment = 1;
  builder.named_data("odd", bytes_of("x"));
  builder.constant(bytes_of("xyz"));
  builder.method("forward").delegate(
      {.id = "B", .location = schema::program::DataLocation::SEGMENT, .payload = bytes_of("seg")});
  const AlignedBytes file = builder.build();
  const auto program = test::require(load(file));
  const auto& reference =
      *ProgramAccess::root(*program).execution_plan()->Get(0)->delegates()->Get(0)->processed();
  const auto payload = test::require(ProgramAccess::payload(*program, reference));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(payload.data()) % 16, 0u);
  EXPECT_EQ(text_of(payload.bytes()), "seg");
}

TEST(Program, ReportsFilesThatAreNotPrograms) {
  const AlignedBytes tiny(63);
  EXPECT_THAT(load(tiny), test::FailsWith(ErrorCode::kInvalidProgram, HasSubstr("63 bytes")));
  const AlignedBytes zeros(100);
  EXPECT_THAT(load(zeros).error().message(), HasSubstr("no identifier ET12"));
  AlignedBytes other = sample().build();
  std::memcpy(other.data() + 4, "ET99", 4);
  EXPECT_THAT(load(other).error().message(), HasSubstr("format version ET99 is not supported"));
}

// The fields of the header are the program size, the segment offset and the segment size.
TEST(Program, ChecksTheExtendedHeader) {
  const AlignedBytes sound = sample().build();
  const auto refusal = [&sound](size_t at, uint64_t number) {
    AlignedBytes file = sound;
    std::memcpy(file.data() + at, &number, sizeof number);
    const Error error = load(file).take_error();
    EXPECT_EQ(error.code(), ErrorCode::kInvalidProgram);
    return std::string(error.message());
  };
  EXPECT_THAT(refusal(16, sound.size() + 1), HasSubstr("extended header: a program of"));
  EXPECT_THAT(refusal(16, 63), HasSubstr("extended header: a program of 63 bytes"));
  const auto begins = [](uint64_t at) {
    return HasSubstr("at offset " + std::to_string(at) + " do not fit");
  };
  EXPECT_THAT(refusal(24, sound.size()), begins(sound.size()));
  EXPECT_THAT(refusal(24, 64), begins(64));
  EXPECT_THAT(refusal(32, sound.size()),
              HasSubstr("segments of " + std::to_string(sound.size()) + " bytes"));
  EXPECT_THAT(refusal(32, UINT64_MAX), HasSubstr("segments of 18446744073709551615 bytes"));
}

TEST(Program, RejectsUnalignedBuffers) {
  AlignedBytes file = sample().build();
  file.insert(file.begin(), std::byte{0});
  EXPECT_THAT(Program::load(*view_buffer(std::span<const std::byte>(file).subspan(1))),
              test::FailsWith(ErrorCode::kInvalidArgument, HasSubstr("aligned")));
}

TEST(Program, LoadsUnverifiedProgramsOnRequest) {
  ProgramBuilder builder;
  builder.method("forward").inputs = {5};  // the method has no values
  const AlignedBytes file = builder.build();
  EXPECT_FALSE(load(file).ok());
  EXPECT_TRUE(load(file, Verification::kNone).ok());
}

std::array<std::byte, kProgramHeadBytes> head(const char* magic, uint32_t length) {
  std::array<std::byte, kProgramHeadBytes> bytes{};
  std::memcpy(bytes.data() + 8, magic, 4);
  std::memcpy(bytes.data() + 12, &length, sizeof length);
  const std::array<uint64_t, 3> numbers{1000, 1024, 77};
  std::memcpy(bytes.data() + 16, numbers.data(), sizeof numbers);
  return bytes;
}

TEST(ExtendedHeader, ReadsAllFields) {
  const auto header = read_extended_header(head("eh00", 32));
  ASSERT_TRUE(header.ok() && header->has_value());
  EXPECT_EQ((*header)->program_size, 1000u);
  EXPECT_EQ((*header)->segment_base, 1024u);
  EXPECT_EQ((*header)->segment_data_size, 77u);
}

TEST(ExtendedHeader, OldHeadersHaveNoSegmentSize) {
  const auto header = read_extended_header(head("eh00", 24));
  ASSERT_TRUE(header.ok() && header->has_value());
  EXPECT_EQ((*header)->segment_base, 1024u);
  EXPECT_EQ((*header)->segment_data_size, 0u);
}

TEST(ExtendedHeader, AcceptsLongerHeaders) {
  EXPECT_TRUE(read_extended_header(head("eh00", 100)).ok());
}

TEST(ExtendedHeader, IsEmptyWithoutTheMagicNumber) {
  EXPECT_FALSE(test::require(read_extended_header(head("eh01", 32))).has_value());
}

TEST(ExtendedHeader, RejectsHeadersThatAreTooShort) {
  EXPECT_THAT(read_extended_header(head("eh00", 23)),
              test::FailsWith(ErrorCode::kInvalidProgram,
                              "extended header (byte 12): length 23 is below 24"));
}

class MethodMetaTest : public testing::Test {
 protected:
  MethodMetaTest() {
    const uint32_t constant = builder_.constant(test::Bytes(24));
    MethodSpec& forward = builder_.method("forward");
    forward.buffer_sizes = {0, 96, 32};
    const int planned =
        forward.tensor({.dtype = ScalarType::kHalf,
                        .sizes = {1, 2, 3, 4},
                        .dim_order = {0, 2, 3, 1},
                        .planned = Planned{1, 0},
                        .dynamism = schema::program::TensorShapeDynamism::DYNAMIC_BOUND});
    const int given = forward.tensor({.sizes = {2, 3}});
    const int weights = forward.tensor({.sizes = {2, 3}, .data = constant});
    const int external = forward.tensor({.sizes = {2}, .external = "key"});
    const int three = forward.integer(3);
    forward.inputs = {planned,
                      given,
                      three,
                      forward.none(),
                      forward.boolean(true),
                      forward.real(1),
                      forward.string("s")};
    forward.outputs = {weights,
                       external,
                       forward.int_list({three}),
                       forward.double_list({1}),
                       forward.bool_list({1}),
                       forward.tensor_list({planned}),
                       forward.optional_tensor_list({-1})};
    forward.op("aten::add", "out");
    forward.op("aten::sym_size", "");
    forward.delegate({.id = "XnnpackBackend"});
    forward.free(planned);
    forward.chains.emplace_back();
    forward.free(planned);
    file_ = builder_.build();
    program_ = test::require(load(file_));
  }
  MethodMeta meta() const { return *program_->method_meta("forward"); }

  ProgramBuilder builder_;
  AlignedBytes file_;
  std::shared_ptr<const Program> program_;
};

TEST_F(MethodMetaTest, DescribesInputsAndOutputs) {
  std::vector<Tag> inputs, outputs;
  for (size_t i = 0; i < meta().num_inputs(); ++i) inputs.push_back(meta().input_tag(i));
  for (size_t i = 0; i < meta().num_outputs(); ++i) outputs.push_back(meta().output_tag(i));
  EXPECT_THAT(inputs, ElementsAre(Tag::kTensor, Tag::kTensor, Tag::kInt, Tag::kNone, Tag::kBool,
                                  Tag::kDouble, Tag::kString));
  EXPECT_THAT(outputs, ElementsAre(Tag::kTensor, Tag::kTensor, Tag::kListInt, Tag::kListDouble,
                                   Tag::kListBool, Tag::kListTensor, Tag::kListOptionalTensor));

  const TensorInfo info = meta().input_tensor(0);
  EXPECT_EQ(info.dtype, ScalarType::kHalf);
  EXPECT_THAT(info.sizes, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(info.dim_order, ElementsAre(0, 2, 3, 1));
  EXPECT_EQ(info.dynamism, ShapeDynamism::kDynamicBound);
  EXPECT_EQ(info.nbytes, 48u);
  EXPECT_TRUE(info.is_memory_planned);
  EXPECT_FALSE(meta().input_tensor(1).is_memory_planned);
  EXPECT_EQ(meta().input_tensor(1).dynamism, ShapeDynamism::kStatic);
  EXPECT_TRUE(meta().output_tensor(0).is_memory_planned)
      << "a constant needs no memory from the caller";
  EXPECT_TRUE(meta().output_tensor(1).is_memory_planned)
      << "an external constant needs no memory from the caller";
}

TEST_F(MethodMetaTest, DescribesBuffersOperatorsAndDelegates) {
  ASSERT_EQ(meta().num_planned_buffers(), 2u);
  EXPECT_EQ(meta().planned_buffer_size(0), 96u);
  EXPECT_EQ(meta().planned_buffer_size(1), 32u);
  ASSERT_EQ(meta().num_operators(), 2u);
  EXPECT_THAT(meta().operator_name(0), Pair("aten::add", "out"));
  EXPECT_THAT(meta().operator_name(1), Pair("aten::sym_size", ""));
  ASSERT_EQ(meta().num_delegates(), 1u);
  EXPECT_EQ(meta().delegate_id(0), "XnnpackBackend");
  EXPECT_EQ(meta().num_instructions(), 2u);
}

TEST_F(MethodMetaTest, ReturnsEmptyDescriptionsForIndicesOutOfRange) {
  for (const size_t past : {size_t{7}, SIZE_MAX}) {
    EXPECT_EQ(meta().input_tag(past), Tag::kNone);
    EXPECT_EQ(meta().output_tag(past), Tag::kNone);
    EXPECT_EQ(meta().input_tensor(past).nbytes, 0u);
    EXPECT_EQ(meta().output_tensor(past).nbytes, 0u);
  }
  for (const size_t past : {size_t{2}, SIZE_MAX}) {
    EXPECT_EQ(meta().planned_buffer_size(past), 0u);
    EXPECT_THAT(meta().operator_name(past), Pair("", ""));
    EXPECT_EQ(meta().delegate_id(past - 1), "");
  }
}

TEST(MethodMeta, ConstantMethodsHaveNoBuffersOrOperators) {
  ProgramBuilder builder;
  MethodSpec& spec = builder.method("get_version");
  spec.outputs = {spec.integer(3)};
  const AlignedBytes file = builder.build();
  const auto program = test::require(Program::load(*view_buffer(file)));
  const MethodMeta meta = *program->method_meta("get_version");
  EXPECT_EQ(meta.num_inputs(), 0u);
  EXPECT_EQ(meta.num_planned_buffers(), 0u);
  EXPECT_EQ(meta.num_instructions(), 0u);
}

}  // namespace
}  // namespace vitrine

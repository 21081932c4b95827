#include "formats/bundled_program/bundled_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "schema/bundled_program_generated.h"
#include "test/support/corpus.h"
#include "test/support/program_builder.h"
#include "test/support/read_json.h"
#include "test/support/read_text.h"
#include "test/support/results.h"

namespace vitrine::bundled {
namespace {

namespace fb = ::flatbuffers;
namespace wire = ::vitrine::schema::bundled_program;
using test::Bytes;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

Bytes read_bytes(const std::filesystem::path& file) {
  return test::bytes_of(test::read_text(file));
}

Bytes copy(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

// A bundle with values of every kind, and the memory that it refers to.
struct Sample {
  std::vector<float> x = {1, 2, 3, 4, 5, 6};
  std::vector<int64_t> y = {-7};
  Bytes program = Bytes(100, std::byte{0x5a});
  BundledProgram bundle;

  Sample() {
    const BundledTensor tensor{ScalarType::kFloat, {2, 3}, {1, 0}, std::as_bytes(std::span(x))};
    const BundledTensor scalar{ScalarType::kLong, {}, {}, std::as_bytes(std::span(y))};
    const BundledTensor empty{ScalarType::kHalf, {0, 4}, {0, 1}, {}};
    bundle.suites = {{"second", {{{tensor, int64_t{-3}, true, 2.5}, {tensor, empty}}}},
                     {"first", {{{scalar}, {}}, {{}, {scalar}}}}};
    bundle.program = program;
  }
};

std::string error_of(std::span<const std::byte> bytes) {
  return test::thrown<BundledProgramError>([&] { parse_bundled_program(bytes, "x.bpte"); });
}

std::string error_of_writing(const BundledProgram& bundle) {
  return test::thrown<BundledProgramError>([&] { write_bundled_program(bundle); });
}

const BundledTensor& tensor(const BundledValue& value) { return std::get<BundledTensor>(value); }

TEST(BundledProgram, PreservesAllValuesWhenWrittenAndRead) {
  const Sample sample;
  const Bytes file = write_bundled_program(sample.bundle);
  ASSERT_TRUE(is_bundled_program(file));
  const BundledProgram read = parse_bundled_program(file);
  EXPECT_EQ(read.version, 2u);
  EXPECT_EQ(copy(read.program), sample.program);
  ASSERT_EQ(read.suites.size(), 2u);
  EXPECT_EQ(read.suites[0].method, "first") << "in the order of their names";
  EXPECT_EQ(read.suites[1].method, "second");
  EXPECT_EQ(read.suite("third"), nullptr);
  const TestSet& set = read.suite("second")->sets.at(0);
  ASSERT_EQ(set.inputs.size(), 4u);
  EXPECT_EQ(tensor(set.inputs[0]).dtype, ScalarType::kFloat);
  EXPECT_THAT(tensor(set.inputs[0]).sizes, ElementsAre(2, 3));
  EXPECT_THAT(tensor(set.inputs[0]).dim_order, ElementsAre(1, 0));
  EXPECT_EQ(copy(tensor(set.inputs[0]).data), copy(std::as_bytes(std::span(sample.x))));
  EXPECT_EQ(std::get<int64_t>(set.inputs[1]), -3);
  EXPECT_TRUE(std::get<bool>(set.inputs[2]));
  EXPECT_EQ(std::get<double>(set.inputs[3]), 2.5);
  ASSERT_EQ(set.expected_outputs.size(), 2u);
  EXPECT_TRUE(tensor(set.expected_outputs[1]).data.empty());
  EXPECT_TRUE(read.suite("first")->sets.at(0).expected_outputs.empty());
  EXPECT_TRUE(tensor(read.suite("first")->sets.at(1).expected_outputs[0]).sizes.empty());
}

// FlatBuffers omits fields that equal their default. A writer could omit -0.0 by mistake, because
// -0.0 == 0.0.
TEST(BundledProgram, KeepsTheSignOfZero) {
  for (const double zero : {0.0, -0.0}) {
    Sample sample;
    sample.bundle.suites[0].sets[0].inputs[3] = zero;
    const Bytes file = write_bundled_program(sample.bundle);
    const BundledProgram read = parse_bundled_program(file);
    const double found = std::get<double>(read.suite("second")->sets.at(0).inputs[3]);
    EXPECT_EQ(found, 0);
    EXPECT_EQ(std::signbit(found), std::signbit(zero));
  }
}

// ExecuTorch's schema requires the data of tensors and the program to be aligned.
TEST(BundledProgram, WritesAlignedDataAndProgram) {
  for (size_t size = 1; size < 40; ++size) {
    Sample sample;
    sample.program.resize(size);
    sample.bundle.program = sample.program;
    const Bytes file = write_bundled_program(sample.bundle);
    fb::Verifier verifier(reinterpret_cast<const uint8_t*>(file.data()), file.size());
    ASSERT_TRUE(wire::VerifyBundledProgramBuffer(verifier));
    const auto* root = wire::GetBundledProgram(file.data());
    const auto offset = [&](const uint8_t* at) {
      return at - reinterpret_cast<const uint8_t*>(file.data());
    };
    EXPECT_EQ(offset(root->program()->data()) % 32, 0) << size;
    for (const auto* suite : *root->method_test_suites()) {
      for (const auto* set : *suite->test_cases()) {
        for (const auto* value : *set->inputs()) {
          if (const auto* held = value->val_as_Tensor()) {
            EXPECT_EQ(offset(held->data()->data()) % 16, 0) << size;
          }
        }
      }
    }
  }
}

TEST(BundledProgram, ReadsUnalignedBytes) {
  const Bytes file = write_bundled_program(Sample().bundle);
  Bytes shifted(file.size() + 1);
  std::copy(file.begin(), file.end(), shifted.begin() + 1);
  const BundledProgram read = parse_bundled_program(std::span(shifted).subspan(1));
  EXPECT_EQ(read.suites.size(), 2u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(read.program.data()) % 32, 0u);
}

TEST(BundledProgram, RejectsBytesThatAreNotABundle) {
  EXPECT_THAT(error_of({}), AllOf(HasSubstr("x.bpte"), HasSubstr("not a bundled program")));
  EXPECT_THAT(error_of(std::as_bytes(std::span("1234BP0"))), HasSubstr("not a bundled program"));
  EXPECT_THAT(error_of(std::as_bytes(std::span("1234BP08"))), HasSubstr("does not verify"));
  EXPECT_THROW(read_bundled_program("/no/such/file.bpte"), BundledProgramError);
}

struct BadTensor {
  schema::ScalarType dtype = schema::ScalarType::FLOAT;
  std::vector<int32_t> sizes = {2};
  std::vector<uint8_t> dim_order = {0};
  size_t data = 8;
};

// A bundle of one suite with one input.
Bytes with_input(const BadTensor& bad, bool with_program = true) {
  fb::FlatBufferBuilder builder;
  const auto held = wire::CreateTensor(builder, bad.dtype, builder.CreateVector(bad.sizes),
                                       builder.CreateVector(std::vector<uint8_t>(bad.data)),
                                       builder.CreateVector(bad.dim_order));
  const auto value = wire::CreateValue(builder, wire::ValueUnion::Tensor, held.Union());
  const auto set =
      wire::CreateBundledMethodTestCase(builder, builder.CreateVector(std::vector{value}));
  const auto suite = wire::CreateBundledMethodTestSuite(builder, builder.CreateString("forward"),
                                                        builder.CreateVector(std::vector{set}));
  const auto suites = builder.CreateVector(std::vector{suite});
  fb::Offset<fb::Vector<uint8_t>> program;
  if (with_program) program = builder.CreateVector(std::vector<uint8_t>(4));
  builder.Finish(wire::CreateBundledProgram(builder, 2, suites, program),
                 wire::BundledProgramIdentifier());
  const auto bytes = std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
  return copy(bytes);
}

// ExecuTorch's own reader does not check the fields of tensors.
TEST(BundledProgram, ReportsThePathOfAnInvalidTensor) {
  EXPECT_EQ(error_of(with_input({})), "");
  const auto expect_error = [](const BadTensor& bad, const char* what) {
    EXPECT_THAT(error_of(with_input(bad)),
                AllOf(HasSubstr("method_test_suites[0].test_cases[0].inputs[0]"), HasSubstr(what)));
  };
  expect_error({.data = 7}, "data has 7 bytes");
  expect_error({.data = 9}, "data has 9 bytes");
  expect_error({.sizes = {-2}}, "negative");
  expect_error({.sizes = {1 << 30, 1 << 30, 1 << 30}, .dim_order = {0, 1, 2}}, "overflows");
  expect_error({.dim_order = {}}, "dim_order");
  expect_error({.dim_order = {1}}, "dim_order");
  expect_error({.sizes = {1, 2}, .dim_order = {0, 0}}, "dim_order");
  expect_error({.dtype = static_cast<schema::ScalarType>(99)}, "scalar_type");
  expect_error({.sizes = std::vector<int32_t>(17, 1), .dim_order = std::vector<uint8_t>(17)},
               "more than 16");
  EXPECT_THAT(error_of(with_input({}, false)), HasSubstr("program: is missing"));
}

TEST(BundledProgram, RejectsSharedTablesAndTwoTestSuitesForOneMethod) {
  for (const size_t count : {size_t{2}, size_t{1000}}) {
    fb::FlatBufferBuilder other;
    const auto suites = other.CreateVector(std::vector(
        count, wire::CreateBundledMethodTestSuite(other, other.CreateString("forward"))));
    const auto body = other.CreateVector(std::vector<uint8_t>(4));
    other.Finish(wire::CreateBundledProgram(other, 2, suites, body),
                 wire::BundledProgramIdentifier());
    EXPECT_THAT(error_of(std::as_bytes(std::span(other.GetBufferPointer(), other.GetSize()))),
                testing::AnyOf(HasSubstr("method forward already has a test suite"),
                               HasSubstr("does not verify")));
  }
}

TEST(BundledProgram, WriterRejectsValuesThatReadersReject) {
  Sample sample;
  sample.bundle.suites[0].sets[0].expected_outputs = {true};
  EXPECT_THAT(error_of_writing(sample.bundle),
              AllOf(HasSubstr("second, test set 0"), HasSubstr("tensors")));
  sample = Sample();
  auto& scalar = std::get<BundledTensor>(sample.bundle.suites[1].sets[0].inputs[0]);
  scalar.sizes = {2};
  scalar.dim_order = {0};
  EXPECT_THAT(error_of_writing(sample.bundle),
              AllOf(HasSubstr("first, test set 0, input 0"), HasSubstr("16")));
  sample = Sample();
  sample.bundle.suites[1].method = "second";
  EXPECT_THAT(error_of_writing(sample.bundle), HasSubstr("two suites"));
  sample = Sample();
  sample.bundle.program = {};
  EXPECT_THAT(error_of_writing(sample.bundle), HasSubstr("program"));
}

// Checks that a bundle from ExecuTorch contains the same bytes as the separate files in its folder,
// before and after we rewrite the bundle.
TEST(BundledProgramCorpus, BundlesContainTheBytesOfTheSeparateFiles) {
  VITRINE_CORPUS_CASE(corpus, "");
  size_t bundles = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(corpus)) {
    if (entry.path().extension() != ".bpte") continue;
    SCOPED_TRACE(entry.path().string());
    const BundledProgram stock = read_bundled_program(entry.path());
    const Bytes rewritten = write_bundled_program(stock);
    ++bundles;
    for (const BundledProgram& bundle : {stock, parse_bundled_program(rewritten)}) {
      const auto folder = entry.path().parent_path();
      // ExecuTorch 0.5 serialized the bundled program differently from model.pte: with inline
      // payloads and without a header.
      if (folder.string().find("/v0.5.0/bundled_linear_relu") == std::string::npos) {
        EXPECT_EQ(copy(bundle.program), read_bytes(folder / "model.pte"));
      }
      const auto info = test::read_json(folder / "case.json");
      ASSERT_EQ(bundle.suites.size(), 1u);
      ASSERT_EQ(bundle.suites[0].sets.size(), info["calls"].size());
      const auto expect_tensors = [&](const std::vector<BundledValue>& values,
                                      const nlohmann::json& files) {
        ASSERT_EQ(values.size(), files.size());
        for (size_t i = 0; i < values.size(); ++i) {
          EXPECT_EQ(tensor(values[i]).dtype, ScalarType::kFloat);
          EXPECT_EQ(tensor(values[i]).sizes, files[i]["shape"].get<std::vector<int32_t>>());
          EXPECT_EQ(copy(tensor(values[i]).data),
                    read_bytes(folder / files[i]["file"].get<std::string>()));
        }
      };
      for (size_t call = 0; call < info["calls"].size(); ++call) {
        EXPECT_EQ(info["calls"][call]["method"], bundle.suites[0].method);
        expect_tensors(bundle.suites[0].sets[call].inputs, info["calls"][call]["inputs"]);
        expect_tensors(bundle.suites[0].sets[call].expected_outputs,
                       info["calls"][call]["outputs"]);
      }
    }
  }
  EXPECT_GE(bundles, 8u);
}

}  // namespace
}  // namespace vitrine::bundled

// Which values and constants are refused, and in which words: one damaged payload a check.
#include <gmock/gmock.h>

#include <algorithm>
#include <limits>
#include <string>

#include "test/backends/xnnpack/damaged_payloads.h"

namespace vitrine::test {
namespace {

using testing::HasSubstr;

TEST_P(ChecksTest, NamesThePlace) {
  BlobBuilder b;
  GetParam().make(b);
  EXPECT_THAT(load_error(b), HasSubstr(GetParam().error));
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

INSTANTIATE_TEST_SUITE_P(
    Values, ChecksTest,
    testing::Values(
        simple(
            "SameId", [](BlobBuilder& b) { b.values[1].id = 0; },
            "xvalues[1]: id_out 0 is that of xvalues[0]"),
        simple(
            "NoDims", [](BlobBuilder& b) { b.values[0].dims.clear(); },
            "xvalues[0]: dims: 0 dimensions"),
        simple(
            "SevenDims", [](BlobBuilder& b) { b.values[0].dims.assign(7, 1); },
            "xvalues[0]: dims: 7 dimensions, not 1 to 6"),
        simple(
            "ZeroDim", [](BlobBuilder& b) { b.values[0].dims[1] = 0; }, "xvalues[0]: dims[1] is 0"),
        simple(
            "DimsOverflow", [](BlobBuilder& b) { b.values[0].dims.assign(6, UINT32_MAX); },
            "xvalues[0]: dims: their product overflows"),
        simple(
            "UnknownDatatype", [](BlobBuilder& b) { b.values[0].type = Type{99}; },
            "xvalues[0]: datatype 99 ("),
        simple(
            "InvalidDatatype", [](BlobBuilder& b) { b.values[0].type = Type{0}; },
            "xvalues[0]: datatype 0 (xnn_datatype_invalid) is not supported"),
        simple(
            "UnknownFlags", [](BlobBuilder& b) { b.values[0].flags = 5; },
            "xvalues[0]: flags are 0x5"),
        simple(
            "InputAndOutput", [](BlobBuilder& b) { b.values[0].flags = 3; },
            "xvalues[0]: is both input and output"),
        simple(
            "ExternalIdTooLarge", [](BlobBuilder& b) { b.values[1].external_id = 2; },
            "xvalues[1]: external_id 2, but num_externs is 2"),
        simple(
            "ExternalIdTwice", [](BlobBuilder& b) { b.values[1].external_id = 0; },
            "xvalues[1]: external_id 0 is that of xvalues[0]"),
        simple(
            "ExternalIdOfInternal", [](BlobBuilder& b) { b.values[1].flags = 0; },
            "xvalues[1]: external_id 1, but neither input nor output"),
        simple(
            "TooManyExternals", [](BlobBuilder& b) { b.external_count = 4097; },
            "num_externs is 4097"),
        simple(
            "ConstantArgument",
            [](BlobBuilder& b) { b.values[0].constant = b.add_constant(std::vector<float>(6)); },
            "xvalues[0]: a constant cannot be an argument"),
        simple(
            "PerChannelArgument",
            [](BlobBuilder& b) {
              b.values[0].type = Type::xnn_datatype_qcint8;
              b.values[0].per_channel = PerChannel{{1, 1}, 0};
            },
            "xvalues[0]: an argument of the delegate cannot be qcint8"),
        simple(
            "Unquantised", [](BlobBuilder& b) { b.values[0].type = Type::xnn_datatype_qint8; },
            "xvalues[0]: qint8 without quantisation parameters"),
        simple(
            "QuantisedFloat",
            [](BlobBuilder& b) {
              b.values[0].per_tensor = PerTensor{1, 0};
            },
            "xvalues[0]: fp32 with quantisation parameters of another kind"),
        simple(
            "OutputThatNobodyMakes", [](BlobBuilder& b) { b.output({1}); },
            "xvalues[2]: is an output, but no node makes it"),
        quantised(
            "ScaleZero", [](BlobBuilder& b) { b.values[0].per_tensor->scale = 0; },
            "xvalues[0]: scale 0 is not positive and normal"),
        quantised(
            "ScaleNan", [](BlobBuilder& b) { b.values[0].per_tensor->scale = kNan; },
            "xvalues[0]: scale nan"),
        quantised(
            "ScaleInfinite", [](BlobBuilder& b) { b.values[0].per_tensor->scale = kInfinity; },
            "xvalues[0]: scale inf"),
        quantised(
            "ZeroPoint", [](BlobBuilder& b) { b.values[0].per_tensor->zero_point = 128; },
            "xvalues[0]: zero_point 128 is out of range for qint8"),
        quantised(
            "ChannelDim", [](BlobBuilder& b) { b.values[2].per_channel->channel_dim = 2; },
            "xvalues[2]: channel_dim 2, but rank 2"),
        quantised(
            "NegativeChannelDim", [](BlobBuilder& b) { b.values[2].per_channel->channel_dim = -1; },
            "xvalues[2]: channel_dim -1"),
        quantised(
            "ScaleCount", [](BlobBuilder& b) { b.values[2].per_channel->scales = {1}; },
            "xvalues[2]: 1 scales for 2 channels"),
        quantised(
            "InlineScale",
            [](BlobBuilder& b) {
              b.values[2].per_channel->scales = {1, -1};
            },
            "xvalues[2]: a scale is not positive and normal"),
        quantised(
            "ScaleConstantTooShort",
            [](BlobBuilder& b) {
              b.values[2].scale_constant = b.add_constant(std::vector<float>{1});
              b.values[2].scale_count = 2;
            },
            "xvalues[2]: constant 2: has 4 bytes, but its value needs 8"),
        quantised(
            "NonbatchDims",
            [](BlobBuilder& b) {
              b.internal({2, 3}, Type::xnn_datatype_qdint8);
              b.values[3].nonbatch_dims = 3;
            },
            "xvalues[3]: num_nonbatch_dims 3, but rank 2")),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Constants, ChecksTest,
    testing::Values(layer(
                        "TooShort", [](BlobBuilder& b) { b.constants[0].resize(20); },
                        "xvalues[2]: constant 1: has 20 bytes, but its value needs 24"),
                    layer(
                        "TooLong", [](BlobBuilder& b) { b.constants[0].resize(28); },
                        "xvalues[2]: constant 1: has 28 bytes, but its value needs 24"),
                    layer(
                        "UnknownIndex", [](BlobBuilder& b) { b.values[2].constant = 9; },
                        "xvalues[2]: constant 9: is not among 3 entries")),
    name_of);

class LimitsTest : public DelegateTest {};

TEST_F(LimitsTest, BoundTensorsAndWorkspace) {
  BlobBuilder b;
  const uint32_t x = b.input({100}), y = b.internal({100}), z = b.internal({100});
  const uint32_t out = b.output({100});
  b.unary(Tag::XNNAbs, x, y);
  b.unary(Tag::XNNNegate, y, z);
  b.binary(Tag::XNNAdd, z, b.constant({100}, std::vector<float>(100)), out);
  xnnpack::Limits limits;
  limits.max_tensor_bytes = 400;
  limits.max_workspace_bytes = 800;
  EXPECT_EQ(load_error(b, limits), "(none)");
  limits.max_tensor_bytes = 399;
  EXPECT_THAT(load_error(b, limits),
              HasSubstr("xnodes[0] (Abs): its output exceeds the bound of 399"));
  limits.max_tensor_bytes = 400;
  limits.max_workspace_bytes = 799;
  EXPECT_THAT(
      load_error(b, limits),
      HasSubstr("xnodes[1] (Negate): the tensors alive here and the operators' tables exceed "
                "the bound of 799 bytes"));
}

TEST_F(LimitsTest, AreTheDefaultsWhereNoneAreGiven) {
  constexpr uint32_t kFloatsOfAGiB = 1 << 28;
  BlobBuilder tensor;
  tensor.unary(Tag::XNNAbs, tensor.input({kFloatsOfAGiB + 1}), tensor.output({kFloatsOfAGiB + 1}));
  EXPECT_THAT(load_error(tensor), HasSubstr("xnodes[0] (Abs): its output exceeds the bound of "
                                            "1073741824 bytes"));
  BlobBuilder workspace;
  const uint32_t x = workspace.input({kFloatsOfAGiB});
  std::vector<uint32_t> alive(5);
  for (uint32_t& value : alive) {
    value = workspace.internal({kFloatsOfAGiB});
    workspace.unary(Tag::XNNAbs, x, value);
  }
  for (const uint32_t value : alive) {
    workspace.unary(Tag::XNNNegate, value, workspace.output({kFloatsOfAGiB}));
  }
  const uint64_t bound = std::min<uint64_t>(uint64_t{4} << 30, SIZE_MAX / 2);  // of 32 bits: less
  EXPECT_THAT(load_error(workspace),
              HasSubstr("the tensors alive here and the operators' tables exceed the bound of " +
                        std::to_string(bound) + " bytes"));
}

}  // namespace
}  // namespace vitrine::test

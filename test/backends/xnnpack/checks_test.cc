// Tests the checks of values and constants, and the error messages of these checks. Each check has
// one damaged payload.
#include <gmock/gmock.h>

#include <algorithm>
#include <limits>
#include <string>

#include "test/backends/xnnpack/damaged_payloads.h"

namespace vitrine::test {
namespace {

using testing::HasSubstr;

TEST_P(ChecksTest, ErrorNamesTheInvalidPartOfThePayload) {
  PayloadBuilder b;
  GetParam().make(b);
  EXPECT_THAT(load_error(b), HasSubstr(GetParam().error));
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

INSTANTIATE_TEST_SUITE_P(
    Values, ChecksTest,
    testing::Values(
        simple("SameId", "xvalues[1]: id_out 0 is already used by xvalues[0]",
               [](auto& b) { b.values[1].id = 0; }),
        simple("NoDims", "xvalues[0]: dims has 0 entries",
               [](auto& b) { b.values[0].dims.clear(); }),
        simple("SevenDims", "xvalues[0]: dims has 7 entries, not 1 to 6",
               [](auto& b) { b.values[0].dims.assign(7, 1); }),
        simple("ZeroDim", "xvalues[0]: dims[1] is 0", [](auto& b) { b.values[0].dims[1] = 0; }),
        simple("DimsOverflow", "xvalues[0]: the size in bytes overflows",
               [](auto& b) { b.values[0].dims.assign(6, UINT32_MAX); }),
        simple("UnknownDatatype", "xvalues[0]: datatype 99 (",
               [](auto& b) { b.values[0].type = Type{99}; }),
        simple("InvalidDatatype", "xvalues[0]: datatype 0 (xnn_datatype_invalid) is not supported",
               [](auto& b) { b.values[0].type = Type{0}; }),
        simple("UnknownFlags", "xvalues[0]: flags are 0x5", [](auto& b) { b.values[0].flags = 5; }),
        simple("InputAndOutput", "xvalues[0]: is both input and output",
               [](auto& b) { b.values[0].flags = 3; }),
        simple("ExternalIdTooLarge", "xvalues[1]: external_id is 2, but num_externs is 2",
               [](auto& b) { b.values[1].external_id = 2; }),
        simple("ExternalIdTwice", "xvalues[1]: external_id 0 is already used by xvalues[0]",
               [](auto& b) { b.values[1].external_id = 0; }),
        simple("ExternalIdOfInternal",
               "xvalues[1]: has external_id 1, but is neither an input nor an output",
               [](auto& b) { b.values[1].flags = 0; }),
        simple("TooManyExternals", "num_externs is 4097", [](auto& b) { b.external_count = 4097; }),
        simple("ConstantArgument", "xvalues[0]: a constant cannot be an argument",
               [](auto& b) { b.values[0].constant = b.add_constant(std::vector<float>(6)); }),
        simple("PerChannelArgument", "xvalues[0]: an argument of the delegate cannot be qcint8",
               [](auto& b) {
                 b.values[0].type = Type::xnn_datatype_qcint8;
                 b.values[0].per_channel = PerChannel{{1, 1}, 0};
               }),
        simple("Unquantized", "xvalues[0]: qint8 needs quantization parameters",
               [](auto& b) { b.values[0].type = Type::xnn_datatype_qint8; }),
        simple("QuantizedFloat", "xvalues[0]: the type of quant_params does not match fp32",
               [](auto& b) { b.values[0].per_tensor = PerTensor{}; }),
        simple("OutputThatNoNodeWrites", "xvalues[2]: no node writes this output",
               [](auto& b) { b.output({1}); }),
        quantized("ScaleZero", "xvalues[0]: scale 0 is not positive and normal",
                  [](auto& b) { b.values[0].per_tensor->scale = 0; }),
        quantized("ScaleNan", "xvalues[0]: scale nan",
                  [](auto& b) { b.values[0].per_tensor->scale = kNan; }),
        quantized("ScaleInfinite", "xvalues[0]: scale inf",
                  [](auto& b) { b.values[0].per_tensor->scale = kInfinity; }),
        quantized("ZeroPoint", "xvalues[0]: zero_point 128 is out of range for qint8",
                  [](auto& b) { b.values[0].per_tensor->zero_point = 128; }),
        quantized("ChannelDim", "xvalues[2]: channel_dim is 2, but the rank is 2",
                  [](auto& b) { b.values[2].per_channel->channel_dim = 2; }),
        quantized("NegativeChannelDim", "xvalues[2]: channel_dim is -1, but the rank is 2",
                  [](auto& b) { b.values[2].per_channel->channel_dim = -1; }),
        quantized("ScaleCount", "xvalues[2]: 1 scales for 2 channels",
                  [](auto& b) { b.values[2].per_channel->scales = {1}; }),
        quantized("InlineScale", "xvalues[2]: a scale is not positive and normal",
                  [](auto& b) {
                    b.values[2].per_channel->scales = {1, -1};
                  }),
        quantized("ScaleConstantTooShort",
                  "xvalues[2]: constant 2: has 4 bytes, but its value needs 8",
                  [](auto& b) {
                    b.values[2].scale_constant = b.add_constant(std::vector<float>{1});
                    b.values[2].scale_count = 2;
                  }),
        quantized("NonbatchDims", "xvalues[3]: num_nonbatch_dims is 3, but the rank is 2",
                  [](auto& b) {
                    b.internal({2, 3}, Type::xnn_datatype_qdint8);
                    b.values[3].nonbatch_dims = 3;
                  })),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Constants, ChecksTest,
    testing::Values(layer("TooShort",
                          "xvalues[2]: constant 1: has 20 bytes, but its value needs 24",
                          [](auto& b) { b.constants[0].resize(20); }),
                    layer("TooLong", "xvalues[2]: constant 1: has 28 bytes, but its value needs 24",
                          [](auto& b) { b.constants[0].resize(28); }),
                    layer("UnknownIndex",
                          "xvalues[2]: constant 9: the index is too large: the payload has 3 "
                          "entries",
                          [](auto& b) { b.values[2].constant = 9; })),
    name_of);

class LimitsTest : public DelegateTest {};

TEST_F(LimitsTest, RejectsTensorsAndWorkspacesAboveTheirLimits) {
  PayloadBuilder b;
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
  EXPECT_THAT(load_error(b, limits),
              HasSubstr("xnodes[1] (Negate): the live tensors and the operators' tables exceed "
                        "the bound of 799 bytes"));
}

TEST_F(LimitsTest, DefaultsApplyWithoutOptions) {
  constexpr uint32_t kFloatsOfAGiB = 1 << 28;
  PayloadBuilder tensor;
  tensor.unary(Tag::XNNAbs, tensor.input({kFloatsOfAGiB + 1}), tensor.output({kFloatsOfAGiB + 1}));
  EXPECT_THAT(load_error(tensor), HasSubstr("xnodes[0] (Abs): its output exceeds the bound of "
                                            "1073741824 bytes"));
  PayloadBuilder workspace;
  const uint32_t x = workspace.input({kFloatsOfAGiB});
  std::vector<uint32_t> alive(5);
  for (uint32_t& value : alive) {
    value = workspace.internal({kFloatsOfAGiB});
    workspace.unary(Tag::XNNAbs, x, value);
  }
  for (const uint32_t value : alive) {
    workspace.unary(Tag::XNNNegate, value, workspace.output({kFloatsOfAGiB}));
  }
  const uint64_t bound =
      std::min<uint64_t>(uint64_t{4} << 30, SIZE_MAX / 2);  // 32-bit builds have a lower bound
  EXPECT_THAT(load_error(workspace),
              HasSubstr("the live tensors and the operators' tables exceed the bound of " +
                        std::to_string(bound) + " bytes"));
}

}  // namespace
}  // namespace vitrine::test

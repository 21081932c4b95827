// Tests the checks of nodes, and the error messages of these checks. Each check has one damaged
// payload.

#include <limits>

#include "backends/xnnpack/runtime/reader/node_definition.h"
#include "test/backends/xnnpack/damaged_payloads.h"

namespace vitrine::test {
namespace {

// An int8 node whose inputs and result have these scales.
Damage scaled(const char* name, Type type, const std::vector<float>& inputs, float result,
              std::function<void(PayloadBuilder&)> add_node, const char* error) {
  return {name,
          [=](PayloadBuilder& b) {
            for (const float scale : inputs) b.input({3}, type, PerTensor{scale, 0});
            b.output({3}, type, PerTensor{result, 0});
            add_node(b);
          },
          error};
}

// If the ratio of two scales exceeds these limits, XNNPACK's results are undefined.
INSTANTIATE_TEST_SUITE_P(
    Scales, ChecksTest, testing::ValuesIn([] {
      constexpr auto kInt8 = Type::xnn_datatype_qint8;
      constexpr auto kUint8 = Type::xnn_datatype_quint8;
      const auto binary = [](Tag tag) {
        return [tag](PayloadBuilder& b) { b.binary(tag, 0, 1, 2); };
      };
      const auto leaky = [](float slope) {
        return [slope](PayloadBuilder& b) { b.leaky_relu(0, 1, slope); };
      };
      const auto convert = [](PayloadBuilder& b) { b.unary(Tag::XNNConvert, 0, 1); };
      const auto add = binary(Tag::XNNAdd);
      const auto sub = binary(Tag::XNNSubtract);
      const auto mul = binary(Tag::XNNMultiply);
      const char* const of_sum = "xnodes[0] (Add): its scales are too far apart";
      const char* const of_product = "xnodes[0] (Multiply): its scales are too far apart";
      const char* const of_slope = "xnodes[0] (LeakyReLU): its scales are too far apart";
      const char* const of_copy = "xnodes[0] (Convert): its scales are too far apart";
      return std::vector{scaled("AddDown", kInt8, {1, 1}, 0x1.000002p11f, add, of_sum),
                         scaled("AddUp", kUint8, {1, 1}, 0x1p-20f, add, of_sum),
                         scaled("AddUpFar", kInt8, {1e30f, 1}, 1e-30f, add, of_sum),
                         scaled("SubtractUp", kInt8, {1, 0x1p20f}, 1, sub,
                                "xnodes[0] (Subtract): its scales are too far apart"),
                         scaled("MultiplyUp", kInt8, {0x1p4f, 0x1p4f}, 1, mul, of_product),
                         scaled("ConvertUp", kUint8, {0x1.000002p7f}, 1, convert, of_copy),
                         scaled("LeakyUp", kUint8, {0x1.000002p7f}, 1, leaky(0.5f), of_slope),
                         scaled("LeakySteep", kInt8, {1}, 1, leaky(0x1.000002p7f), of_slope),
                         scaled("LeakyFalling", kInt8, {1}, 1, leaky(-0x1p7f), of_slope),
                         scaled("LeakyNan", kInt8, {1}, 1,
                                leaky(std::numeric_limits<float>::quiet_NaN()), of_slope)};
    }()),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Nodes, ChecksTest,
    testing::Values(
        simple("UnknownValue", "xnodes[1] (Abs): value 7 is not defined",
               [](auto& b) { b.unary(Tag::XNNAbs, 7, 1); }),
        simple("ReadBeforeMade", "xnodes[1] (Abs): reads value",
               [](auto& b) { b.unary(Tag::XNNAbs, b.internal(kDims), b.internal(kDims)); }),
        simple("MadeTwice", "xnodes[1] (Abs): writes value 1, which xnodes[0] already writes",
               [](auto& b) { b.unary(Tag::XNNAbs, 0, 1); }),
        simple("WritesItsInput", "xnodes[1] (Abs): writes value 0, which is an input",
               [](auto& b) { b.unary(Tag::XNNAbs, 1, 0); }),
        layer("WritesAConstant", "xnodes[1] (Abs): writes value 2, which is a constant",
              [](auto& b) { b.unary(Tag::XNNAbs, 0, 2); }),
        simple("UnknownTag", "xnodes[1]: node type 99 is unknown",
               [](auto& b) { b.unary(Tag{99}, 0, 1); }),
        simple("Flags", "xnodes[1] (Abs): flags are 0x1",
               [](auto& b) { b.unary(Tag::XNNAbs, 0, b.internal(kDims), 1); }),
        simple("Handle", "xnodes[0] (Negate): debug_handle 4294967295",
               [](auto& b) { b.handles = {UINT32_MAX}; }),
        simple("BoundsSwapped", "xnodes[1] (Clamp): output_min_max is not a range: 2 to 1",
               [](auto& b) {
                 b.clamp(0, b.internal(kDims), {2, 1});
               }),
        simple("BoundsNan", "xnodes[1] (Clamp): output_min_max is not a range: nan to 1",
               [](auto& b) {
                 b.clamp(0, b.internal(kDims), {std::numeric_limits<float>::quiet_NaN(), 1});
               }),
        simple("BoundsUnsupported", "xnodes[1] (Minimum): output_min_max is not supported",
               [](auto& b) {
                 b.binary(Tag::XNNMinimum, 0, 0, b.internal(kDims), Bounds{0, 1});
               }),
        simple("MixedDatatypes", "xnodes[2] (Add): datatypes fp32, fp16 -> fp32 are not supported",
               [](auto& b) {
                 const uint32_t half = b.internal(kDims, Type::xnn_datatype_fp16);
                 b.unary(Tag::XNNConvert, 0, half);
                 b.binary(Tag::XNNAdd, 0, half, b.internal(kDims));
               }),
        simple("NoBroadcast", "xnodes[1] (Add): sizes 3 and 2 of the inputs do not broadcast",
               [](PayloadBuilder& b) {
                 b.binary(Tag::XNNAdd, 0, b.constant<float>({2}, {1, 2}), b.output(kDims));
               }),
        simple("Permutation", "xnodes[1] (StaticTranspose): perm is not a permutation",
               [](auto& b) {
                 b.transpose({0, 0}, 0, b.output(kDims));
               }),
        simple("PermutationRange", "xnodes[1] (StaticTranspose): perm is not a permutation",
               [](auto& b) {
                 b.transpose({0, 40}, 0, b.output(kDims));
               }),
        simple("PermutationRank", "xnodes[1] (StaticTranspose): its input has rank 2, not 1",
               [](auto& b) { b.transpose({0}, 0, b.output(kDims)); }),
        simple("TwoFreeDims", "xnodes[1] (StaticReshape): new_shape has more than one 0",
               [](auto& b) {
                 b.reshape({0, 0}, 0, b.output(kDims));
               }),
        simple("ReshapeCount", "xnodes[1] (StaticReshape): its new_shape does not fit 6 elements",
               [](auto& b) { b.reshape({4}, 0, b.output({4})); }),
        simple("ReshapeRest", "xnodes[1] (StaticReshape): its new_shape does not fit 6 elements",
               [](auto& b) {
                 b.reshape({4, 0}, 0, b.output({4}));
               }),
        simple("SliceOutside",
               "xnodes[1] (StaticSlice): offset 2 and size 2 are not inside dimension 1 of size 3",
               [](auto& b) {
                 b.slice({0, 2}, {2, 2}, 0, b.output({2, 2}));
               }),
        simple("SliceLists", "xnodes[1] (StaticSlice): it has 2 offsets, but 1 sizes",
               [](auto& b) {
                 b.slice({0, 2}, {2}, 0, b.output({2, 2}));
               }),
        simple("PadLists",
               "xnodes[1] (StaticConstantPad): it has 2 pre_paddings, but 1 post_paddings",
               [](auto& b) {
                 b.pad({0, 2}, {2}, 0, 0, b.output({2, 2}));
               }),
        simple("PadTooMuch", "xnodes[1] (StaticConstantPad): its output exceeds the bound",
               [](auto& b) {
                 b.pad({0, 2}, {4000000000, 0}, 0, 0, b.output({2, 2}));
               }),
        simple("Axis", "xnodes[1] (Concatenate2): axis is 2, but the rank is 2",
               [](auto& b) {
                 b.concatenate(Tag::XNNConcatenate2, 2, {0, 0}, b.output(kDims));
               }),
        simple("ConcatenatedShapes",
               "xnodes[1] (Concatenate2): its inputs differ in a dimension other than axis 0",
               [](PayloadBuilder& b) {
                 const uint32_t other = b.constant<float>({1, 2}, {1, 2});
                 b.concatenate(Tag::XNNConcatenate2, 0, {0, other}, b.output({3, 3}));
               }),
        simple(
            "MatrixSizes",
            "xnodes[1] (BatchMatrixMultiply): its first input has 3 columns, but its second has 2 "
            "rows",
            [](auto& b) { b.binary(Tag::XNNBatchMatrixMultiply, 0, 0, b.output(kDims)); }),
        simple("ResizeToNothing", "xnodes[1] (StaticResizeBilinear2D): new_height is 0",
               [](auto& b) { b.resize(0, 1, 0, b.output(kDims)); }),
        simple(
            "ResizeHugely",
            "xnodes[1] (StaticResizeBilinear2D): its tables exceed the bound of 1073741824 bytes",
            [](auto& b) {
              const uint32_t image = b.input({1, 1, 1, 1});
              b.resize(1 << 20, 1 << 20, image, b.output({1, 1, 1, 1}));
            }),
        simple("ArgMaxHalfUsed", "xnodes[1] (ArgMaxPooling2d): some of its outputs are not used",
               [](auto& b) {
                 const uint32_t image = b.input({1, 2, 2, 1});
                 b.argmax(window_of(2, 2), image, b.output({1, 1, 1, 1}),
                          b.internal({1, 1, 1, 1}, Type::xnn_datatype_int32));
               })),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Weights, ChecksTest,
    testing::Values(
        layer("FilterRank", "xnodes[0] (FullyConnected): its filter has rank 1, not 2",
              [](auto& b) { b.values[2].dims = {6}; }),
        layer("InputChannels",
              "xnodes[0] (FullyConnected): its input has 4 channels, but its filter has 3",
              [](auto& b) { b.values[0].dims[1] = 4; }),
        layer("BiasCount", "xnodes[0] (FullyConnected): it has 1 biases for 2 output channels",
              [](auto& b) {
                b.values[3].dims = {1};
                b.constants[1].resize(4);
              }),
        quantized("FilterDatatype", "xnodes[0] (FullyConnected): datatypes qint8, qcint8 -> quint8",
                  [](auto& b) { b.values[1].type = Type::xnn_datatype_quint8; }),
        Damage{"UnsignedFilterScale",
               [](PayloadBuilder& b) {
                 constexpr auto kUint8 = Type::xnn_datatype_quint8;
                 b.input({2, 3}, kUint8, PerTensor{0x1p-17f, 0});
                 b.output({2, 2}, kUint8, PerTensor{1, 0});
                 b.constant<uint8_t>({2, 3}, {1, 2, 3, 4, 5, 6}, kUint8,
                                     PerTensor{0x1.FFFFFEp-16f, 0});
                 b.fully_connected(0, 2, kInvalidId, 1);
               },
               "xnodes[0] (FullyConnected): its scales are too far apart"},
        quantized("FilterNotConstant", "xnodes[0] (FullyConnected): its filter is not a constant",
                  [](auto& b) { b.values[2].constant = 0; }),
        window("KernelWidth", Tag::XNNConv2d, "xnodes[0] (Conv2d): kernel_width is 0",
               [](auto& w, auto&) { w.kernel_width = 0; }),
        window("Stride", Tag::XNNConv2d, "xnodes[0] (Conv2d): subsampling_height is 0",
               [](auto& w, auto&) { w.stride_height = 0; }),
        window("Dilation", Tag::XNNConv2d, "xnodes[0] (Conv2d): dilation_width is 0",
               [](auto& w, auto&) { w.dilation_width = 0; }),
        window("Groups", Tag::XNNConv2d, "xnodes[0] (Conv2d): groups is 0",
               [](auto& w, auto&) { w.groups = 0; }),
        window("GroupInputChannels", Tag::XNNDepthwiseConv2d,
               "xnodes[0] (DepthwiseConv2d): group_input_channels is 0",
               [](auto& w, auto&) { w.group_in = 0; }),
        window("DepthwiseChannels", Tag::XNNDepthwiseConv2d,
               "xnodes[0] (DepthwiseConv2d): group_input_channels is 2, not 1",
               [](auto& w, auto&) { w.group_in = 2; }),
        window("Channels", Tag::XNNConv2d, "xnodes[0] (Conv2d): its input has 2 channels, not 3",
               [](auto& w, auto&) { w.group_in = 3; }),
        window("FilterShape", Tag::XNNConv2d,
               "xnodes[0] (Conv2d): its filter is [2, 2, 2, 2], not [2, 3, 2, 2]",
               [](auto& w, auto&) { w.kernel_height = 3; }),
        window("Padding", Tag::XNNConv2d,
               "xnodes[0] (Conv2d): a padding, kernel, stride or dilation is 4294967295",
               [](auto& w, auto&) { w.left = UINT32_MAX; }),
        window("KernelBeyondInput", Tag::XNNConv2d,
               "xnodes[0] (Conv2d): its window covers 5 elements, but the padded input's "
               "height is 4",
               [](auto& w, auto&) { w.dilation_height = 4; }),
        window("InputRank", Tag::XNNConv2d, "xnodes[0] (Conv2d): its input has rank 2, not 4",
               [](auto&, auto& b) {
                 b.values[0].dims = {4, 8};
               }),
        window("Adjustment", Tag::XNNConvTranspose2d,
               "xnodes[0] (ConvTranspose2d): adjustment_height 1 is not below the stride 1",
               [](auto& w, auto&) { w.adjustment_height = 1; }),
        window("PaddingLeavesNothing", Tag::XNNConvTranspose2d,
               "xnodes[0] (ConvTranspose2d): its padding is so large that its output has no height",
               [](auto& w, auto&) { w.top = 5; }),
        window("PoolingWidth", Tag::XNNMaxPooling2d, "xnodes[0] (MaxPooling2d): pooling_width is 0",
               [](auto& w, auto&) { w.kernel_width = 0; }),
        window("HugePooling", Tag::XNNMaxPooling2d,
               "xnodes[0] (MaxPooling2d): its tables exceed the bound of 1073741824 bytes",
               [](auto& w, auto&) {
                 w.kernel_height = w.kernel_width = w.top = w.left = 1u << 20;
                 w.bottom = w.right = 1u << 20;
               }),
        // The input has only rows 0 to 3. For the windows in the fifth row, XNNPACK would read
        // memory at row 4 instead of the padding.
        window("DilatedPoolingPastItsInput", Tag::XNNMaxPooling2d,
               "xnodes[0] (MaxPooling2d): its dilated window would read index 4 of an input with "
               "height 4",
               [](auto& w, auto&) {
                 w.top = w.bottom = w.left = w.right = 1;
                 w.dilation_width = 2;
               }),
        window("DilatedPoolingBeforeItsInput", Tag::XNNMaxPooling2d,
               "xnodes[0] (MaxPooling2d): its dilated window would read index 4 of an input with "
               "width 4",
               [](auto& w, auto&) {
                 w.left = w.right = 1;
                 w.dilation_width = 5;
               }),
        window("RejectedByXnnpack", Tag::XNNMaxPooling2d,
               xnnpack::optional_nodes().sparse_max_pooling
                   ? "(none)"
                   : "xnodes[0] (MaxPooling2d): XNNPACK rejects it with the datatypes fp32 -> fp32",
               [](auto& w, auto&) { w.stride_height = 3; })),
    name_of);

}  // namespace
}  // namespace vitrine::test

// Tests the readers of other backends' payloads. The test writes the payloads itself, following the
// descriptions of the formats.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>

#include "base/format_error.h"
#include "formats/delegates/delegate_reader.h"
#include "test/support/expect_error.h"
#include "test/support/foreign_payloads.h"

namespace vitrine {
namespace {

using delegates::PayloadDescription;
using delegates::PayloadInput;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

class MapData final : public NamedDataMap {
 public:
  explicit MapData(std::map<std::string, test::AlignedBytes, std::less<>> entries)
      : entries_(std::move(entries)) {}
  size_t size() const override { return entries_.size(); }
  std::string_view key(size_t index) const override {
    return index < entries_.size() ? std::next(entries_.begin(), static_cast<long>(index))->first
                                   : std::string_view();
  }
  Result<DataBuffer> get(std::string_view key) const override {
    const auto found = entries_.find(key);
    if (found == entries_.end()) return Error::make(ErrorCode::kNotFound, "no such key");
    return DataBuffer(std::span<const std::byte>(found->second));
  }
  Result<std::optional<TensorLayout>> layout(std::string_view) const override {
    return std::optional<TensorLayout>();
  }

 private:
  std::map<std::string, test::AlignedBytes, std::less<>> entries_;
};

PayloadDescription describe(std::string_view backend, const test::AlignedBytes& bytes,
                            const NamedDataMap* data = nullptr) {
  PayloadInput input{backend, bytes};
  input.data = data;
  return delegates::describe_payload(input);
}

std::string type_of(const PayloadDescription& payload, size_t tensor) {
  return delegates::tensor_text(payload.tensors.at(tensor));
}

std::vector<std::string> operators_of(const PayloadDescription& payload) {
  std::vector<std::string> names;
  for (const auto& graph : payload.graphs) {
    for (const auto& op : graph.operators) names.push_back(op.name);
  }
  return names;
}

TEST(DelegateReaders, DescribeAndRecognizeSamplePayloads) {
  for (const test::ForeignPayload& sample : test::foreign_payloads()) {
    SCOPED_TRACE(sample.backend);
    const PayloadDescription payload = describe(sample.backend, sample.bytes);
    EXPECT_NE(payload.kind, "");
    EXPECT_TRUE(payload.operators != 0 || !payload.closed.empty());
    if (std::string_view(sample.backend) == "NeutronBackend") continue;  // has no identifier
    const delegates::DelegateReader* reader = delegates::recognize_payload(sample.bytes);
    ASSERT_NE(reader, nullptr);
    EXPECT_EQ(reader, delegates::find_reader(sample.backend));
  }
}

TEST(DelegateReaders, DescribeUnknownBackendsAndRejectMismatchedPayloads) {
  const PayloadDescription payload = describe("SecretBackend", test::AlignedBytes(17));
  EXPECT_THAT(payload.closed, HasSubstr("17 bytes"));
  EXPECT_EQ(payload.operators, 0u);
  EXPECT_ERROR(FormatError, describe("VulkanBackend", test::mlx_payload()), "VH00");
  EXPECT_ERROR(FormatError, describe("MLXBackend", test::vulkan_payload()), "MLX0");
}

TEST(VulkanReader, ListsOperatorsTensorsAndConstants) {
  const MapData data({{"bias_key", test::AlignedBytes(8)}});
  const PayloadDescription payload = describe("VulkanBackend", test::vulkan_payload(), &data);
  EXPECT_THAT(operators_of(payload), ElementsAre("aten.linear.default", "aten.relu.default"));
  const auto& linear = payload.graphs[0].operators[0];
  EXPECT_THAT(linear.inputs, ElementsAre(0, 1, 2));
  EXPECT_THAT(linear.outputs, ElementsAre(3));
  EXPECT_EQ(linear.arguments.at(1).text, "%1");
  EXPECT_EQ(type_of(payload, 1), "f32[2,4]");
  EXPECT_EQ(payload.tensors[1].storage, "texture 3D, width packed");
  EXPECT_EQ(payload.constants, 2u);
  EXPECT_EQ(payload.constant_bytes, 32u + 8u);
  EXPECT_EQ(payload.missing_constants, 0u);
  EXPECT_THAT(payload.graphs[0].inputs, ElementsAre(0));
  EXPECT_THAT(payload.graphs[0].outputs, ElementsAre(4));
  // Both intermediate tensors share one allocation, which counts once.
  EXPECT_THAT(payload.facts, Contains("planned activations 8 B in 1 allocation"));
}

TEST(VulkanReader, ReportsMissingConstants) {
  const PayloadDescription payload = describe("VulkanBackend", test::vulkan_payload());
  // The payload omits the constant id of tensor 1, so the id has its default value, 0.
  ASSERT_TRUE(payload.tensors[1].constant.has_value());
  EXPECT_EQ(payload.tensors[1].constant->location, "payload constants, byte 0");
  EXPECT_EQ(payload.missing_constants, 1u);
  EXPECT_THAT(payload.notes, Contains(HasSubstr("1 of 2 constants are missing")));
  EXPECT_EQ(payload.constant_bytes, 32u + 8u) << "the payload says the size of a missing constant";
}

TEST(VulkanReader, RejectsInvalidConstants) {
  test::AlignedBytes bytes = test::vulkan_payload();
  bytes.resize(bytes.size() - 16);
  EXPECT_ERROR(FormatError, describe("VulkanBackend", bytes), "Vulkan constants");
  const MapData data({{"bias_key", test::AlignedBytes(7)}});
  EXPECT_ERROR(FormatError, describe("VulkanBackend", test::vulkan_payload(), &data),
               "has 7 bytes, but the tensor takes 8");
  // The sum of the flatbuffer's offset and size in the header overflows 32 bits.
  bytes = test::vulkan_payload();
  const uint32_t size = 0xFFFFFFF0;
  std::memcpy(bytes.data() + 14, &size, sizeof size);
  EXPECT_THROW(describe("VulkanBackend", bytes), FormatError);
}

TEST(VulkanReader, PrintsOptionsAccordingToType) {
  const uint32_t limit = 16384;
  const std::byte flag{1};
  const test::AlignedBytes bytes = test::vulkan_payload();
  PayloadInput input{"VulkanBackend", bytes};
  input.options = {{"texture_limits_x", std::as_bytes(std::span(&limit, 1))},
                   {"require_dynamic_shapes", std::span(&flag, 1)},
                   {"newer", std::as_bytes(std::span(&limit, 1))}};
  const PayloadDescription payload = delegates::describe_payload(input);
  ASSERT_EQ(payload.options.size(), 3u);
  EXPECT_EQ(payload.options[0].text, "16384");
  EXPECT_EQ(payload.options[1].text, "true");
  EXPECT_EQ(payload.options[2].text, "4 B");
  EXPECT_THAT(payload.facts, Contains("shapes are upper bounds"));
}

TEST(MlxReader, ListsInstructionsWithTheirArguments) {
  const MapData data({{"ab12/weight", test::AlignedBytes(32)}});
  const PayloadDescription payload = describe("MLXBackend", test::mlx_payload(), &data);
  EXPECT_THAT(operators_of(payload), ElementsAre("Addmm", "Silu"));
  const auto& addmm = payload.graphs[0].operators[0];
  EXPECT_EQ(addmm.arguments.at(2).name, "bias");
  EXPECT_EQ(addmm.arguments.at(2).text, "none");
  EXPECT_EQ(addmm.arguments.at(3).text, "1") << "the default of alpha";
  EXPECT_THAT(addmm.outputs, ElementsAre(3));
  EXPECT_EQ(type_of(payload, 1), "f32[1..16,4]");
  EXPECT_EQ(payload.tensors[0].name, "ab12/weight");
  EXPECT_EQ(payload.tensors[3].storage, "temporary");
  EXPECT_EQ(payload.constants, 1u);
  EXPECT_EQ(payload.constant_bytes, 32u);
  EXPECT_THAT(operators_of(describe("MLXBackend", test::mlx_payload(200))),
              ElementsAre("Addmm", "operator 200 (newer schema)"));
}

TEST(CoreMlReader, ReadsFunctionsAndWeightsOfAModel) {
  const PayloadDescription payload = describe("CoreMLBackend", test::core_ml_payload());
  EXPECT_EQ(payload.version, "8 (iOS17)");
  EXPECT_THAT(operators_of(payload), ElementsAre("matmul", "relu"));
  const auto& matmul = payload.graphs[0].operators[0];
  EXPECT_EQ(matmul.arguments.at(2).name, "transpose_x");
  EXPECT_EQ(matmul.arguments.at(2).text, "true") << "a small constant is printed";
  EXPECT_EQ(payload.constants, 1u);
  EXPECT_EQ(payload.constant_bytes, 24u);
  EXPECT_EQ(type_of(payload, payload.graphs[0].outputs.at(0)), "f32[1,2]");
  EXPECT_THAT(payload.facts, Contains("inputs [x], outputs [out]"));
}

TEST(CoreMlReader, ReadsACompiledModelInTextForm) {
  const PayloadDescription payload = describe("CoreMLBackend", test::core_ml_text_payload());
  EXPECT_THAT(operators_of(payload), ElementsAre("mul"));
  EXPECT_EQ(payload.constants, 1u);
  EXPECT_EQ(payload.constant_bytes, 20u);
  EXPECT_THAT(payload.graphs[0].operators[0].debug_handles, ElementsAre(3, 5));
  EXPECT_THAT(payload.facts, Contains("debug handles of 2 operations"));
  EXPECT_EQ(type_of(payload, payload.graphs[0].outputs.at(0)), "f16[1,10]");
}

TEST(CoreMlReader, FollowsAReferenceIntoNamedData) {
  const std::string text = R"(CMJR{"version":1,"key":"k","functionName":"prefill"})";
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  const test::AlignedBytes bytes(begin, begin + text.size());
  const MapData data({{"k", test::core_ml_payload()}});
  EXPECT_EQ(describe("CoreMLBackend", bytes, &data).operators, 2u);
  const PayloadDescription missing = describe("CoreMLBackend", bytes);
  EXPECT_EQ(missing.operators, 0u);
  EXPECT_THAT(missing.notes, Contains(HasSubstr("named data k is missing")));
}

TEST(CoreMlReader, RejectsAWeightWithoutMarker) {
  test::AlignedBytes bytes = test::core_ml_payload();
  const std::string marker = "\xEF\xBE\xAD\xDE";
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  bytes[text.find(marker)] = std::byte{0};
  EXPECT_ERROR(FormatError, describe("CoreMLBackend", bytes), "deadbeef");
}

TEST(EthosUReader, CountsMultiplicationsAndTransfers) {
  const PayloadDescription payload = describe("EthosUBackend", test::ethos_u_payload());
  EXPECT_THAT(operators_of(payload), ElementsAre("DMA", "CONV"));
  // 4 x 4 x 16 outputs, each with 3 x 3 x 8 products.
  EXPECT_EQ(payload.graphs[0].operators[1].arguments.back().text, std::to_string(256 * 72));
  EXPECT_THAT(payload.facts, Contains("DMA of 64 B"));
  EXPECT_THAT(payload.facts, Contains("128 MACs per cycle, architecture 1.0.6"));
  EXPECT_EQ(payload.constant_bytes, 48u);
  EXPECT_THAT(payload.closed, HasSubstr("compressed"));
}

TEST(VgfReader, ReadsOperatorsFromSpirv) {
  const PayloadDescription payload = describe("VgfBackend", test::vgf_payload());
  EXPECT_EQ(payload.version, "0.4.0");
  EXPECT_THAT(operators_of(payload), ElementsAre("CONV2D", "CLAMP"));
  EXPECT_EQ(type_of(payload, payload.graphs[0].outputs.at(0)), "i8[2,3]");
  EXPECT_EQ(payload.constants, 1u);
  EXPECT_EQ(payload.constant_bytes, 6u);
}

TEST(TosaReader, ListsOperatorsWithoutConstants) {
  const PayloadDescription payload = describe("TOSABackend", test::tosa_payload());
  EXPECT_EQ(payload.version, "1.0.0");
  EXPECT_THAT(operators_of(payload), ElementsAre("ADD"));
  EXPECT_EQ(type_of(payload, 2), "i8[2,3]");
  EXPECT_EQ(payload.constant_bytes, 6u);
}

TEST(OpenVinoReader, ReadsAGraphInMaskedXml) {
  const PayloadDescription payload = describe("OpenvinoBackend", test::openvino_payload());
  EXPECT_THAT(operators_of(payload), ElementsAre("Multiply"));
  EXPECT_EQ(payload.graphs[0].operators[0].arguments.at(2).text,
            "aten_mul_tensor/aten.mul.Tensor/Multiply");
  EXPECT_EQ(payload.constant_bytes, 4u);
  EXPECT_THAT(payload.graphs[0].inputs, ElementsAre(0));
}

TEST(OpenVinoReader, RejectsXmlEntitiesAndDeepNestingAndReportsUnknownEncodings) {
  const auto read = [](const std::string& xml) {
    return describe("OpenvinoBackend", test::openvino_payload(xml));
  };
  EXPECT_ERROR(FormatError, read("<?xml?><!DOCTYPE a [<!ENTITY b \"c\">]><net/>"), "document type");
  EXPECT_THAT([&] { read("<net name=\"&b;\"/>"); },
              ThrowsMessage<FormatError>(HasSubstr("entity")));
  std::string deep;
  for (int i = 0; i < 40; ++i) deep += "<net>";
  EXPECT_ERROR(FormatError, read(deep), "32 levels deep");
  test::AlignedBytes bytes = test::openvino_payload();
  bytes[67] ^= std::byte{1};
  EXPECT_THAT(describe("OpenvinoBackend", bytes).closed, HasSubstr("unknown encoding"));
}

TEST(QnnReader, ListsInputAndOutputNamesInTheContext) {
  const PayloadDescription payload = describe("QnnBackend", test::qnn_payload());
  EXPECT_THAT(payload.facts, Contains(HasSubstr("2 names of inputs and outputs [input_0_x@0, "
                                                "output_y_3@0]")));
  EXPECT_THAT(payload.closed, HasSubstr("64 bytes"));
}

TEST(NeutronReader, ReadsTheHeader) {
  const PayloadDescription payload = describe("NeutronBackend", test::neutron_payload());
  EXPECT_EQ(payload.version, "0");
  EXPECT_EQ(payload.constant_bytes, 16u);
  EXPECT_THAT(payload.facts, Contains("working memory 1024 B, SRAM 512 B"));
}

TEST(MpsReader, ListsNodesAndConstants) {
  const PayloadDescription payload = describe("MPSBackend", test::mps_payload());
  EXPECT_THAT(operators_of(payload), ElementsAre("Add"));
  EXPECT_THAT(payload.graphs[0].operators[0].outputs, ElementsAre(2));
  EXPECT_EQ(payload.constant_bytes, 16u);
}

TEST(NativeReader, ListsNodesWithTheirArguments) {
  const PayloadDescription payload = describe("NativeBackend", test::native_payload());
  EXPECT_THAT(operators_of(payload), ElementsAre("torch.ops.aten.add.Tensor"));
  EXPECT_EQ(payload.graphs[0].operators[0].arguments.at(2).text, "1");
  EXPECT_EQ(payload.constant_bytes, 16u);
  EXPECT_EQ(payload.missing_constants, 1u);
}

TEST(AotInductorReader, ReportsTheLibraryAndTheWeights) {
  const std::string text = "abc_so_blob\nabc_weights_blob";
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  const test::AlignedBytes bytes(begin, begin + text.size());
  test::AlignedBytes library(20);
  std::memcpy(library.data(), "\177ELF", 4);
  const MapData data({{"abc_so_blob", library}, {"abc_weights_blob", test::AlignedBytes(100)}});
  const PayloadDescription payload = describe("CudaBackend", bytes, &data);
  EXPECT_THAT(payload.closed, HasSubstr("ELF library (20 bytes)"));
  EXPECT_EQ(payload.constant_bytes, 100u);
  EXPECT_THAT(payload.notes, IsEmpty());
}

TEST(NeuropilotReader, RejectsANetworkOfTheWrongSize) {
  test::AlignedBytes bytes(13 + 5);
  bytes[0] = std::byte{1};
  bytes[9] = std::byte{5};
  EXPECT_THAT(describe("NeuropilotBackend", bytes).closed, HasSubstr("MediaTek (5 bytes)"));
  bytes[9] = std::byte{6};
  EXPECT_THROW(describe("NeuropilotBackend", bytes), FormatError);
}

}  // namespace
}  // namespace vitrine

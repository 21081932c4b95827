// Tests how the demo backend lowers a model: the delegated calls, the text of the payload, and the
// delegate map.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "aot/graph/aot_error.h"
#include "aot/import/pt2.h"
#include "aot/lowering/lowered_modules.h"
#include "aot/lowering/to_backend.h"
#include "aot/passes/pipelines.h"
#include "demo_backend/lowering.h"
#include "test/examples/demo_backend/demo_model.h"
#include "test/support/corpus.h"
#include "test/support/read_text.h"

namespace demo {
namespace {

namespace aot = vitrine::aot;
namespace test = vitrine::test;

using aot::AotError;
using aot::DelegateIdentifier;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::SizeIs;
using testing::ThrowsMessage;

const test::ConvolutionSpec kSmall = {{1, 1, 2, 2}, {2, 1, 1, 1}, {1, 2, 2, 2}};

std::string text_of(const aot::LoweredBackendModule& module) {
  return reinterpret_cast<const char*>(module.payload->data());  // up to the first zero byte
}

TEST(DemoBackend, MapsFusedAndDecomposedNodesToIdentifiers) {
  const auto module = aot::to_backend(DemoLowering(), test::demo_model(kSmall));
  EXPECT_EQ(text_of(*module),
            "4#conv_relu_op,0,sin_decomp_from_tan,1,cos_decomp_from_tan,2,div_decomp_from_tan,3,");
  EXPECT_THAT(module->delegate_map, ElementsAre(Pair(DelegateIdentifier(0U), ElementsAre(1U, 2U)),
                                                Pair(DelegateIdentifier(1U), ElementsAre(3U)),
                                                Pair(DelegateIdentifier(2U), ElementsAre(3U)),
                                                Pair(DelegateIdentifier(3U), ElementsAre(3U))));
}

TEST(DemoBackend, PayloadAndMapMatchExecuTorch) {
  const std::filesystem::path folder = test::samples_dir() / "conv_relu_tan";
  aot::ExportedProgram program = aot::import_pt2(folder / "model.pt2");
  aot::to_edge(program);
  const auto module = aot::to_backend(DemoLowering(), program);
  const std::string pte = test::read_text(folder / "model.pte");
  EXPECT_NE(pte.find(text_of(*module)), std::string::npos);
  const auto expected = nlohmann::json::parse(
      std::ifstream(folder / "delegate_map.json"))["forward"]["0"]["delegate_map"];
  EXPECT_EQ(module->delegate_map.size(), expected.size());
  for (const auto& [id, handles] : module->delegate_map) {
    EXPECT_EQ(handles,
              expected[std::to_string(std::get<uint32_t>(id))].get<std::vector<uint32_t>>());
  }
}

TEST(DemoBackend, ErrorNamesUnsupportedCall) {
  aot::ExportedProgram program = test::demo_model(kSmall);
  program.graph->find("aten_tan_default")
      ->set_target(aot::Target::of("aten.erf.default", aot::Dialect::kEdge));
  EXPECT_THAT(
      [&] { aot::to_backend(DemoLowering(), program); },
      ThrowsMessage<AotError>(
          "BackendWithDelegateMappingDemo: node aten_tan_default: aten.erf.default: the demo "
          "backend supports only tan, and convolution followed by relu"));
}

struct PartitionerTest : testing::Test {
  aot::ExportedProgram program = test::demo_model(kSmall);
  aot::Node* conv = program.graph->find("aten_convolution_default");
  aot::Node* relu = program.graph->find("aten_relu_default");
  aot::Node* tan = program.graph->find("aten_tan_default");

  std::vector<aot::Rejection> lower() { return aot::to_backend(program, DemoPartitioner()); }
};

TEST_F(PartitionerTest, DelegatesAllCallsWithTheirWeights) {
  EXPECT_THAT(lower(), SizeIs(0));
  EXPECT_THAT(program.state_dict, SizeIs(0));
  ASSERT_THAT(program.graph->lowered_modules(), SizeIs(1));
  EXPECT_THAT(program.graph->lowered_modules().begin()->second->original.state_dict, SizeIs(2));
}

TEST_F(PartitionerTest, RejectsConvolutionWithoutRelu) {
  tan->set_arg(0, conv);  // a second user
  const std::vector<aot::Rejection> rejections = lower();
  ASSERT_THAT(rejections, SizeIs(2));
  EXPECT_THAT(rejections[0].rule, HasSubstr("must have one user, a relu"));
}

TEST_F(PartitionerTest, ExplainsWhyACallIsRejected) {
  conv->set_arg(6, true);
  std::vector<aot::Rejection> rejections = lower();
  ASSERT_THAT(rejections, SizeIs(2));
  EXPECT_EQ(rejections[0].rule, "it is transposed");
  EXPECT_EQ(rejections[1].node, relu);
  EXPECT_THAT(rejections[1].rule, HasSubstr("does not follow a delegated convolution"));
  EXPECT_THAT(program.graph->lowered_modules(), SizeIs(1));  // tan
}

TEST_F(PartitionerTest, RejectsTanOfAConstant) {
  tan->set_arg(0, program.graph->find("p_bias"));
  const std::vector<aot::Rejection> rejections = DemoPartitioner().partition(program).rejections;
  ASSERT_THAT(rejections, SizeIs(1));
  EXPECT_EQ(rejections[0].rule, "its input is a constant");
}

TEST_F(PartitionerTest, RejectsDynamicSizes) {
  program.range_constraints["s0"] = {1, 8};
  aot::TensorSpec spec = *relu->tensor();
  spec.sizes[0] = aot::SymInt(aot::Expression::symbol("s0"));
  tan->meta.value = spec;
  const std::vector<aot::Rejection> rejections = lower();
  ASSERT_THAT(rejections, SizeIs(1));
  EXPECT_THAT(rejections[0].rule, HasSubstr("is f32[s0, 2, 2, 2]; its sizes must be fixed"));
  EXPECT_EQ(rejections[0].remedy, "export with static shapes");
}

}  // namespace
}  // namespace demo

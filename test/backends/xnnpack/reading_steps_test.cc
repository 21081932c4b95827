// The work of reading a payload grows with it and no faster, whatever it shares: counted in steps.
#include <gtest/gtest.h>

#include <vector>

#include "backends/xnnpack/runtime/graph_reader.h"
#include "test/backends/xnnpack/blob_builder.h"

namespace vitrine::test {
namespace {

struct Cost {
  uint64_t steps;
  ErrorCode code;
};

// As many values as each has scales; they share the list.
Cost shared_scales(uint32_t size) {
  flatbuffers::FlatBufferBuilder out;
  const auto scales = out.CreateVector(std::vector<float>(size, 1.0f));
  const auto dims = out.CreateVector(std::vector<uint32_t>{size, 1});
  const auto quant = fb::CreatePerChannelQuant(out, scales);
  std::vector<flatbuffers::Offset<fb::XValue>> values;
  for (uint32_t i = 0; i < size; ++i) {
    const auto tensor =
        fb::CreateXNNTensorValue(out, Type::xnn_datatype_qcint8, 2, dims, 1, kInvalidId, 0, i);
    const auto quantised = fb::CreateXNNQuantizedTensorValue(
        out, tensor, fb::XNNQuantParams::PerChannelQuant, quant.Union());
    values.push_back(
        fb::CreateXValue(out, fb::XValueUnion::XNNQuantizedTensorValue, quantised.Union()));
  }
  const auto nodes = out.CreateVector(std::vector<flatbuffers::Offset<fb::XNode>>());
  out.Finish(fb::CreateXNNGraph(out, 0, nodes, out.CreateVector(values)));
  Budget steps(uint64_t{16} * out.GetSize());  // as Method::load gives
  const auto graph =
      xnnpack::read_graph(*flatbuffers::GetRoot<fb::XNNGraph>(out.GetBufferPointer()), steps);
  return {steps.used(), graph.ok() ? ErrorCode::kOk : graph.error().code()};
}

TEST(ReadingSteps, AreLinearInScalesThatAreShared) {
  const Cost small = shared_scales(4000);
  const Cost large = shared_scales(16000);
  EXPECT_EQ(large.code, ErrorCode::kOutOfResources);
  EXPECT_LE(large.steps, 5 * small.steps);
  EXPECT_EQ(shared_scales(10).code, ErrorCode::kOk);
}

}  // namespace
}  // namespace vitrine::test

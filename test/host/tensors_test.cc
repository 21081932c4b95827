#include "host/host_tensor.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "host/tool_error.h"

namespace vitrine::tools {
namespace {

TEST(HostTensorTest, KeepsLogicalOrderWhateverTheDimOrder) {
  HostTensor tensor(ScalarType::kFloat, std::array<int32_t, 4>{1, 2, 2, 3},
                    std::array<uint8_t, 4>{0, 2, 3, 1});
  std::array<float, 12> logical;
  for (size_t i = 0; i < logical.size(); ++i) logical[i] = static_cast<float>(i);
  tensor.set_from_logical(std::as_bytes(std::span(logical)));
  // Channels last: the two channels of a pixel are adjacent.
  const float* memory = tensor.tensor().data<float>();
  EXPECT_EQ(memory[0], 0.0f);
  EXPECT_EQ(memory[1], 6.0f);
  EXPECT_EQ(memory[2], 1.0f);
  const std::vector<std::byte> back = logical_bytes(tensor.tensor());
  EXPECT_EQ(std::memcmp(back.data(), logical.data(), sizeof logical), 0);
}

TEST(HostTensorTest, RefusesTheWrongNumberOfBytes) {
  HostTensor tensor(ScalarType::kInt, std::array<int32_t, 1>{2}, std::array<uint8_t, 1>{0});
  const std::array<std::byte, 4> bytes{};
  EXPECT_THROW(tensor.set_from_logical(bytes), ToolError);
}

}  // namespace
}  // namespace vitrine::tools

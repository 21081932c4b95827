#include "inspector/report/row_texts.h"

#include <gtest/gtest.h>

namespace vitrine::inspector {
namespace {

TEST(CommonPath, ReturnsCommonComponents) {
  EXPECT_EQ(common_path({}), "");
  EXPECT_EQ(common_path({"", "a.b"}), "a.b");
  EXPECT_EQ(common_path({"features.0.0", "features.0.1", "features.0.2"}), "features.0");
  EXPECT_EQ(common_path({"a.b", "a.b.c"}), "a.b");
  EXPECT_EQ(common_path({"a.bc", "a.bd"}), "a");
  EXPECT_EQ(common_path({"a.b", "a.bc"}), "a");
  EXPECT_EQ(common_path({"conv1", "bn1"}), "");
}

TEST(RowTexts, KeepsTheMainModuleIfTheCommonModuleIsTooGeneral) {
  ProfileRow row;
  row.source_ops = {"aten.convolution.default"};
  row.modules = {"conv1"};
  row.folded_ops = {"aten.relu.default"};
  row.folded_modules = {"act"};
  EXPECT_EQ(row_texts(row).module, "conv1");
  row.modules = {"block.conv1"};
  row.folded_modules = {"block"};
  EXPECT_EQ(row_texts(row).module, "block");
  row.modules = {"net.block.conv1"};
  row.folded_modules = {"net"};
  EXPECT_EQ(row_texts(row).module, "net.block.conv1");
}

}  // namespace
}  // namespace vitrine::inspector

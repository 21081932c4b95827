#include "inspector/report/graph_picture.h"
#include "inspector/report/picture_changes.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

namespace vitrine::inspector {
namespace {

size_t add_op(GraphPicture& picture, const std::string& module) {
  GraphPicture::Node& node = picture.nodes.emplace_back();
  node.label = "op";
  node.module_path = module;
  return picture.nodes.size() - 1;
}

// Returns a chain of ops, one for each element of `modules`. The element is the op's module.
GraphPicture chain(const std::vector<std::string>& modules) {
  GraphPicture picture;
  for (const std::string& module : modules) {
    const size_t node = add_op(picture, module);
    if (node != 0) picture.edges.push_back({node - 1, node, "f32[1]"});
  }
  return picture;
}

// Returns the labels of the boxes around a node, from the innermost to the outermost. For example,
// "b < a" means that box b is in box a.
std::string boxes_around(const GraphPicture& picture, size_t node) {
  std::string text;
  for (size_t at = picture.nodes[node].parent; at != GraphPicture::kNoParent;
       at = picture.nodes[at].parent) {
    text += (text.empty() ? "" : " < ") + picture.nodes[at].label;
  }
  return text;
}

TEST(BytesOfType, IsExactForStaticTypesAndZeroOtherwise) {
  EXPECT_EQ(bytes_of_type("f32[1,3,224,224]"), 4u * 3 * 224 * 224);
  EXPECT_EQ(bytes_of_type("f32[]"), 4u);
  EXPECT_EQ(bytes_of_type("bool[2, 3]"), 6u);
  EXPECT_EQ(bytes_of_type("qcint4[5]"), 3u) << "20 bits";
  for (const char* type : {"", "?", "f32", "f32[s0]", "f32[1..4]", "dtype 77[1]", "x[2]",
                           "f32[4294967295,4294967295,4294967295]", "f32[-1]"}) {
    EXPECT_EQ(bytes_of_type(type), 0u) << type;
  }
}

TEST(AddModuleBoxes, NestsModules) {
  GraphPicture picture = chain({"a.x", "a.x", "a.y", "a.y", "b", "b"});
  add_module_boxes(picture);
  EXPECT_EQ(boxes_around(picture, 0), "x < a");
  EXPECT_EQ(boxes_around(picture, 3), "y < a");
  EXPECT_EQ(boxes_around(picture, 5), "b");
  EXPECT_EQ(picture.nodes.size(), 6u + 4);
  EXPECT_EQ(picture.nodes[picture.nodes[0].parent].module_path, "a.x");
}

TEST(AddModuleBoxes, OmitsSingleNodeBoxesAndJoinsChainsOfModules) {
  GraphPicture picture = chain({"a.b.c", "a.b.c", "d.e", ""});
  add_module_boxes(picture);
  EXPECT_EQ(boxes_around(picture, 0), "a.b.c");
  EXPECT_EQ(boxes_around(picture, 2), "");
  EXPECT_EQ(boxes_around(picture, 3), "");
}

TEST(AddModuleBoxes, SplitsAModuleIfOneBoxWouldMakeACycle) {
  GraphPicture picture = chain({"a", "a", "b", "b", "a", "a"});
  add_module_boxes(picture);
  EXPECT_EQ(boxes_around(picture, 0), "a");
  EXPECT_EQ(boxes_around(picture, 4), "a");
  EXPECT_NE(picture.nodes[0].parent, picture.nodes[4].parent);
}

TEST(AddModuleBoxes, DrawsOneBoxPerModuleIfTheOrderAllowsIt) {
  GraphPicture picture;
  for (const char* module : {"a", "b", "a", "b"}) add_op(picture, module);
  picture.edges = {{0, 2, "f32[1]"}, {1, 3, "f32[1]"}};
  add_module_boxes(picture);
  EXPECT_EQ(picture.nodes[0].parent, picture.nodes[2].parent);
  EXPECT_EQ(picture.nodes[1].parent, picture.nodes[3].parent);
}

TEST(AddModuleBoxes, AddsBoxesInsideDelegates) {
  GraphPicture picture = chain({"a", "a", "b", "b"});
  picture.nodes.emplace_back().kind = GraphPicture::Kind::kDelegate;
  for (size_t i = 0; i < 4; ++i) picture.nodes[i].parent = 4;
  picture.nodes[4].label = "XNNPACK";
  add_module_boxes(picture);
  EXPECT_EQ(boxes_around(picture, 0), "a < XNNPACK");
  EXPECT_EQ(boxes_around(picture, 3), "b < XNNPACK");
}

TEST(AddModuleBoxes, LimitsTheChildrenOfEachBox) {
  GraphPicture picture = chain(std::vector<std::string>(5000));
  add_module_boxes(picture);
  std::map<size_t, size_t> children;
  for (const GraphPicture::Node& node : picture.nodes) ++children[node.parent];
  for (const auto& [parent, count] : children) EXPECT_LE(count, kMaxChildren) << parent;
  std::set<std::string> ends;
  for (size_t i = 0; i < 5000; ++i) ends.insert(boxes_around(picture, i));
  EXPECT_GT(ends.size(), 5000 / kMaxChildren);
}

TEST(AddModuleBoxes, VeryDeepModulesShareABox) {
  std::string deep;
  for (int i = 0; i < 10'000; ++i) deep += "a.";
  GraphPicture picture = chain({deep + "x", deep + "x", deep + "y", "b"});
  add_module_boxes(picture);
  EXPECT_LT(picture.nodes.size(), 50u);
}

TEST(PictureChanges, DescribesDifferencesBetweenTwoPrograms) {
  const auto op = [](const char* source, const char* backend) {
    GraphPicture::Node node;
    node.sources = {source};
    node.backend = backend;
    return node;
  };
  GraphPicture a, b;
  a.nodes = {op("conv m", "kernels"), op("relu m", "kernels"), op("add m", "kernels"),
             op("add m", "kernels"), op("exp m", "kernels")};
  b.nodes = {op("conv m", "Some"), op("add m", "kernels"), op("add m", "kernels")};
  GraphPicture::Node& delegate = b.nodes.emplace_back();
  delegate.kind = GraphPicture::Kind::kDelegate;
  delegate.sources = {"conv m", "relu m"};
  const std::vector<std::string> summary = mark_changes(a, b);
  std::vector<std::string> changes;
  for (const GraphPicture::Node& node : a.nodes) changes.push_back(node.change);
  EXPECT_EQ(changes,
            (std::vector<std::string>{"not delegated here", "fused in the other program's delegate",
                                      "same", "same", "absent in the other program"}));
  EXPECT_EQ(b.nodes[0].change, "delegated only here");
  EXPECT_EQ(a.nodes[3].partner, 2u);
  EXPECT_EQ(summary[1], "B: 1 delegated only here, 2 same");
}

}  // namespace
}  // namespace vitrine::inspector

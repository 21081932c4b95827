// Tests that conformance tests cover every XNNPACK node, and that the backend rejects the types
// that it cannot run.
#include <gmock/gmock.h>

#include <set>

#include "backends/xnnpack/runtime/reader/node_table.h"
#include "test/backends/xnnpack/delegate_fixture.h"

namespace vitrine::test {
namespace {

// Returns the nodes with a conformance test. The name of such a test begins with the name of the
// node.
std::set<std::string> compared_nodes() {
  std::set<std::string> names;
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *all.GetTestSuite(i);
    for (int k = 0; k < suite.total_test_count(); ++k) {
      std::string name = suite.GetTestInfo(k)->name();
      name = name.substr(name.find('/') + 1);
      names.insert(name.substr(0, name.find('_')));
    }
  }
  return names;
}

TEST(Conformance, TestsCoverEveryNodeKind) {
  const std::set<std::string> compared = compared_nodes();
  for (int tag = 1; tag <= static_cast<int>(Tag::MAX); ++tag) {
    const xnnpack::NodeKind* kind = xnnpack::find_node_kind(static_cast<Tag>(tag));
    ASSERT_NE(kind, nullptr) << tag;
    EXPECT_TRUE(compared.contains(kind->name)) << kind->name;
  }
}

// Packed types need an XNNPACK with KleidiAI, which this build lacks.
TEST_F(DelegateTest, RejectsPackedDatatypes) {
  for (const Type type : {Type::xnn_datatype_qpint8, Type::xnn_datatype_pfp32}) {
    PayloadBuilder b;
    const uint32_t x = b.input({2, 3}), packed = b.internal({2, 3}, type), y = b.output({2, 3});
    b.unary(Tag::XNNConvert, x, packed);
    b.unary(Tag::XNNAbs, packed, y);
    EXPECT_THAT(load_error(b), AllOf(testing::StartsWith("xvalues[1]: datatype "),
                                     testing::HasSubstr(fb::EnumNameXNNDatatype(type)),
                                     testing::HasSubstr("XNNPACK of ExecuTorch 1.4")));
  }
}

}  // namespace
}  // namespace vitrine::test

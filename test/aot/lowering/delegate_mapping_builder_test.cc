#include "aot/lowering/delegate_mapping_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aot/graph/aot_error.h"
#include "test/aot/lowering/program_builder.h"

namespace vitrine::aot {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::ThrowsMessage;

struct DelegateMappingTest : testing::Test {
  test::ProgramBuilder b;
  Node* x = b.input("x");                          // has no handle
  Node* first = b.call("aten.relu.default", {x});  // 1
  Node* second = b.call("aten.abs.default", {x});  // 2
  const std::vector<const Node*> both = {second, first, second, x};
};

TEST_F(DelegateMappingTest, GeneratesIdentifiers) {
  DelegateMappingBuilder builder(true);
  EXPECT_EQ(builder.insert(both), DelegateIdentifier(0U));
  EXPECT_EQ(builder.insert(*second), DelegateIdentifier(1U));
  EXPECT_EQ(builder.insert(*second), DelegateIdentifier(2U));
  EXPECT_THAT(builder.mapping(), ElementsAre(Pair(DelegateIdentifier(0U), ElementsAre(1U, 2U)),
                                             Pair(DelegateIdentifier(1U), ElementsAre(2U)),
                                             Pair(DelegateIdentifier(2U), ElementsAre(2U))));
}

TEST_F(DelegateMappingTest, RejectsAnExplicitIdentifierIfIdentifiersAreGenerated) {
  DelegateMappingBuilder builder(true);
  EXPECT_THAT([&] { builder.insert(*first, DelegateIdentifier(4U)); },
              ThrowsMessage<AotError>(HasSubstr("the identifier 4 must not be set")));
  EXPECT_THAT(builder.mapping(), IsEmpty());
}

TEST_F(DelegateMappingTest, AcceptsNumbersAndStringsAsIdentifiers) {
  DelegateMappingBuilder builder;
  EXPECT_EQ(builder.insert(*first, DelegateIdentifier("conv")), DelegateIdentifier("conv"));
  const std::vector<uint32_t> handles = {9, 0, 3};
  EXPECT_EQ(builder.insert_handles(handles, DelegateIdentifier(7U)), DelegateIdentifier(7U));
  EXPECT_THAT(builder.mapping(), ElementsAre(Pair(DelegateIdentifier("conv"), ElementsAre(1U)),
                                             Pair(DelegateIdentifier(7U), ElementsAre(3U, 9U))));
}

TEST_F(DelegateMappingTest, RejectsMissingAndRepeatedIdentifiers) {
  DelegateMappingBuilder builder;
  EXPECT_THAT([&] { builder.insert(*first); },
              ThrowsMessage<AotError>(HasSubstr("needs an identifier")));
  builder.insert(*first, DelegateIdentifier("conv"));
  EXPECT_THAT([&] { builder.insert(*second, DelegateIdentifier("conv")); },
              ThrowsMessage<AotError>(HasSubstr("the identifier \"conv\" already has an entry")));
}

TEST_F(DelegateMappingTest, RejectedEntriesStillConsumeAnIdentifier) {
  DelegateMappingBuilder builder(true);
  EXPECT_THAT([&] { builder.insert(*x); },
              ThrowsMessage<AotError>(
                  HasSubstr("the entry 0 needs at least one node with a debug handle")));
  EXPECT_THAT([&] { builder.insert_handles({}); },
              ThrowsMessage<AotError>(HasSubstr("the entry 1 needs")));
  EXPECT_EQ(builder.insert(*first), DelegateIdentifier(2U));
}

}  // namespace
}  // namespace vitrine::aot

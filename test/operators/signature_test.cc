#include "operators/signature.h"

#include <gmock/gmock.h>

#include <deque>
#include <stdexcept>

#include "test/support/expect_error.h"

namespace vitrine {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;
using testing::SizeIs;

TEST(Signature, KeepsTheOrderOfArguments) {
  const Signature add =
      parse_signature("aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor");
  EXPECT_EQ(add.name, "aten::add.Tensor");
  ASSERT_THAT(add.arguments, SizeIs(3));
  EXPECT_EQ(add.arguments[0].name, "self");
  EXPECT_EQ(add.arguments[1].name, "other");
  EXPECT_FALSE(add.arguments[1].is_keyword_only);
  EXPECT_EQ(add.arguments[2].name, "alpha");
  EXPECT_EQ(add.arguments[2].type, ArgumentType::kScalar);
  EXPECT_TRUE(add.arguments[2].is_keyword_only);
  ASSERT_THAT(add.results, SizeIs(1));
  EXPECT_EQ(add.results[0].type, ArgumentType::kTensor);
}

// A returned string is a view into the signature, so this function keeps all signatures.
DefaultValue default_of(const std::string& argument) {
  static std::deque<std::string> signatures;
  signatures.push_back("x::f(" + argument + ") -> ()");
  return parse_signature(signatures.back()).arguments.at(0).default_value;
}

TEST(Signature, ReadsDefaults) {
  EXPECT_EQ(default_of("int? dim=None"), DefaultValue());
  EXPECT_EQ(default_of("bool keepdim=False"), DefaultValue(false));
  EXPECT_EQ(default_of("bool largest=True"), DefaultValue(true));
  EXPECT_EQ(default_of("int dim=-1"), DefaultValue(int64_t{-1}));
  EXPECT_EQ(default_of("float eps=1e-05"), DefaultValue(1e-5));
  EXPECT_EQ(default_of("float p=2"), DefaultValue(2.0));
  EXPECT_EQ(default_of("Scalar alpha=1"), DefaultValue(int64_t{1}));
  EXPECT_EQ(default_of("Scalar negative_slope=0.01"), DefaultValue(0.01));
  EXPECT_EQ(default_of("str approximate='none'"), DefaultValue("none"));
  EXPECT_EQ(default_of("ScalarType? dtype=long"), DefaultValue("long"));
  EXPECT_EQ(default_of("int[2] stride=[]"), DefaultValue(std::vector<int64_t>{}));
  EXPECT_EQ(default_of("int[] dims=[0, 1]"), DefaultValue(std::vector<int64_t>{0, 1}));
}

TEST(Signature, SingleNumberIsTheDefaultOfEveryListItem) {
  EXPECT_EQ(default_of("int[2] padding=0"), DefaultValue(std::vector<int64_t>{0, 0}));
  EXPECT_EQ(default_of("SymInt[3] stride=1"), DefaultValue(std::vector<int64_t>{1, 1, 1}));
}

TEST(Signature, DistinguishesOptionalItemsAndOptionalLists) {
  const Signature some =
      parse_signature("x::f(Tensor?[] indices, int[1]? dim, int? n) -> Tensor[]");
  EXPECT_TRUE(some.arguments[0].has_optional_items);
  EXPECT_FALSE(some.arguments[0].is_optional);
  EXPECT_FALSE(some.arguments[1].has_optional_items);
  EXPECT_TRUE(some.arguments[1].is_optional);
  EXPECT_TRUE(some.arguments[1].is_list);
  EXPECT_TRUE(some.arguments[2].is_optional);
  EXPECT_FALSE(some.arguments[2].is_list);
  EXPECT_TRUE(some.results[0].is_list);
}

TEST(Signature, ParsesAliasAndWriteAnnotations) {
  const Signature view = parse_signature("x::v(Tensor(a) self, Tensor other) -> Tensor(a)");
  EXPECT_EQ(view.arguments[0].alias, 'a');
  EXPECT_FALSE(view.arguments[0].is_written);
  EXPECT_EQ(view.arguments[1].alias, '\0');
  EXPECT_EQ(view.results[0].alias, 'a');
  const Signature write = parse_signature("x::w_(Tensor(a!) self) -> Tensor(a!)");
  EXPECT_TRUE(write.arguments[0].is_written);
  EXPECT_TRUE(write.results[0].is_written);
  const Signature pieces = parse_signature("x::p(Tensor(a) self) -> Tensor(a)[]");
  EXPECT_EQ(pieces.results[0].alias, 'a');
  EXPECT_TRUE(pieces.results[0].is_list);
}

TEST(Signature, AcceptsSignaturesWithoutResultsAndWithNamedResults) {
  EXPECT_THAT(parse_signature("x::check(Tensor self) -> ()").results, IsEmpty());
  EXPECT_THAT(parse_signature("x::f() -> (Tensor values, Tensor indices)").results,
              ElementsAre(Field(&OperatorArgument::name, "values"),
                          Field(&OperatorArgument::name, "indices")));
}

TEST(Signature, ErrorsDescribeTheProblem) {
  const std::pair<const char*, const char*> cases[] = {
      {"x::f(Tensr self) -> ()", "unknown type at character 10"},
      {"x::f(Tensor self", "expected \", \" or \")\""},
      {"x::f", "expected one of \"(\""},
      {"x::f(int n=1x) -> ()", "invalid number"},
      {"x::f(int[two] n) -> ()", "invalid number"},
      {"x::f(Tensor) -> ()", "expected \" \""},
      {"x::f(int[2) -> ()", "expected one of \"]\""},
      {"x::f() -> Tensor x y", "expected the end of the signature"},
  };
  for (const auto& row : cases) {
    SCOPED_TRACE(row.first);
    EXPECT_ERROR(std::invalid_argument, parse_signature(row.first), row.second);
  }
}

}  // namespace
}  // namespace vitrine

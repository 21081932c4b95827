#include <string>

#include "test/runtime/executor/method_fixture.h"

namespace vitrine {
namespace {

using test::multiply_by;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class MethodLoadingTest : public test::MethodTest {};

TEST_F(MethodLoadingTest, ErrorNamesEverythingThatIsMissing) {
  forward_.op("aten::missing", "out");
  forward_.op("test::add", "out");
  forward_.op("aten::also_missing", "");
  forward_.op("aten::missing", "out");
  forward_.delegate({.id = "LongBackend", .payload = multiply_by(1)});
  forward_.delegate({.id = "Long", .payload = multiply_by(1)});  // prefix of the other id
  forward_.delegate({.id = "TestBackend", .payload = multiply_by(1)});
  EXPECT_THAT(
      try_load(),
      test::FailsWith(
          ErrorCode::kOperatorMissing,
          "forward: this build lacks the operators aten::also_missing, aten::missing.out and "
          "the backends Long, LongBackend: register, link or select them (VITRINE_SELECT_OPS)"));
}

TEST_F(MethodLoadingTest, ErrorNamesAHundredMissingOperators) {
  for (int i = 0; i < 100; ++i) forward_.op("aten::an_operator_number_" + std::to_string(i), "out");
  const Error error = try_load().take_error();
  for (int i = 0; i < 100; ++i) {
    EXPECT_THAT(error.message(),
                HasSubstr("aten::an_operator_number_" + std::to_string(i) + ".out"));
  }
}

TEST_F(MethodLoadingTest, ErrorNamesMissingBackends) {
  forward_.delegate({.id = "NoBackend", .payload = multiply_by(1)});
  EXPECT_THAT(try_load(),
              test::FailsWith(ErrorCode::kNotFound, AllOf(HasSubstr("lacks the backends NoBackend"),
                                                          Not(HasSubstr("operators")))));
}

// The comparison of ids must not stop at a NUL.
TEST_F(MethodLoadingTest, ComparesBackendIdsBeyondAnEmbeddedNul) {
  forward_.delegate({.id = std::string("TestBackend\0x", 13), .payload = multiply_by(1)});
  EXPECT_EQ(try_load().take_error().code(), ErrorCode::kNotFound);
}

TEST_F(MethodLoadingTest, ReportsMissingOperatorsWithoutRegistries) {
  build_scaling();
  EXPECT_THAT(Method::load(build(), "forward", {}).take_error().message(),
              HasSubstr("test::scale.out"));
}

TEST_F(MethodLoadingTest, UnknownMethodErrorListsExistingMethods) {
  EXPECT_THAT(Method::load(build(), "backward", {}),
              test::FailsWith(ErrorCode::kInvalidArgument,
                              "the program has no method backward; it has: forward"));
}

TEST_F(MethodLoadingTest, ChecksTheNumberOfKernelArguments) {
  build_scaling();
  forward_.chains[0][0].args.pop_back();
  EXPECT_THAT(try_load(),
              test::FailsWith(
                  ErrorCode::kInvalidProgram,
                  "forward, chains[0].instructions[0]: test::scale.out needs 4 arguments, got 3"));
}

TEST_F(MethodLoadingTest, LoadsEveryKindOfValue) {
  const int one = forward_.integer(1);
  const int tensor = forward_.tensor({.sizes = {0}});
  forward_.outputs = {forward_.none(),
                      one,
                      forward_.boolean(true),
                      forward_.real(2.5),
                      forward_.string("text"),
                      forward_.int_list({one, one}),
                      forward_.double_list({1.5}),
                      forward_.bool_list({1, 0, 255}),
                      forward_.tensor_list({tensor}),
                      forward_.optional_tensor_list({-1, tensor})};
  const auto method = load();
  EXPECT_TRUE(method->output(0).is_none());
  EXPECT_EQ(method->output(1).unchecked_int(), 1);
  EXPECT_TRUE(method->output(2).unchecked_bool());
  EXPECT_EQ(method->output(3).unchecked_double(), 2.5);
  EXPECT_EQ(method->output(4).unchecked_string(), "text");
  std::span<const int64_t> ints;
  ASSERT_TRUE(method->output(5).read_int_list(&ints));
  EXPECT_THAT(ints, ElementsAre(1, 1));
  EXPECT_THAT(method->output(6).unchecked_double_list(), ElementsAre(1.5));
  EXPECT_THAT(method->output(7).unchecked_bool_list(), ElementsAre(true, false, true));
  std::span<Tensor* const> tensors;
  ASSERT_TRUE(method->output(8).read_tensor_list(&tensors));
  EXPECT_EQ(tensors.size(), 1u);
  ASSERT_TRUE(method->output(9).read_tensor_list(&tensors));
  EXPECT_EQ(tensors[0], nullptr);
  EXPECT_NE(tensors[1], nullptr);
}

TEST_F(MethodLoadingTest, ReturnsNoneForInputAndOutputIndicesOutOfRange) {
  build_scaling();
  const auto method = load();
  for (const size_t index : {size_t{0}, size_t{1}, SIZE_MAX}) {
    EXPECT_EQ(method->input(index).is_none(), index > 0) << index;
    EXPECT_EQ(method->output(index).is_none(), index > 0) << index;
  }
}

TEST_F(MethodLoadingTest, LimitsTheMemoryOfTheMethod) {
  build_scaling();
  for (int i = 0; i < 2000; ++i) forward_.integer(i);
  EXPECT_THAT(try_load({.limits = {.max_memory_bytes = 20000}}),
              test::FailsWith(ErrorCode::kMemoryAllocationFailed, HasSubstr("max_memory_bytes")));
  EXPECT_TRUE(try_load({.limits = {.max_memory_bytes = 100000}}).ok());
}

TEST_F(MethodLoadingTest, MemoryBudgetExcludesTheProgramFile) {
  constexpr int32_t kCount = 1 << 18;
  build_scaling();
  forward_.tensor({.sizes = {kCount}, .data = builder_.constant(test::Bytes(kCount * 4))});
  EXPECT_GT(builder_.build().size(), kCount * 4);
  EXPECT_TRUE(try_load({.limits = {.max_memory_bytes = 100000}}).ok());
}

TEST_F(MethodLoadingTest, ErrorNamesTheFailingKernelAndInstruction) {
  build_scaling();
  forward_.kernel_call(forward_.op("test::fail", "out"), {x_, out_, out_});
  const auto method = load();
  for (int run = 0; run < 2; ++run) {
    ASSERT_TRUE(method->set_input(0, value({2, 3}, std::vector<float>(6))).ok());
    EXPECT_THAT(method->execute(),
                test::FailsWith(
                    ErrorCode::kInvalidArgument,
                    "forward, chain 0, instruction 1 (kernel test::fail.out): this kernel always "
                    "fails"));
  }
}

class MethodDelegatesTest : public test::MethodTest {
 protected:
  // The backend computes out = x * factor.
  void build_delegate(test::DelegateSpec spec) {
    add_x_and_out({2, 3});
    forward_.free(x_);
    forward_.delegate_call(forward_.delegate(std::move(spec)), {x_, out_});
  }
  EValue x_value() { return value({2, 3}, {1, 2, 3, 4, 5, 6}); }
};

TEST_F(MethodDelegatesTest, RunWithInlineAndSegmentPayloads) {
  for (const auto location :
       {schema::program::DataLocation::INLINE, schema::program::DataLocation::SEGMENT}) {
    start_over();
    build_delegate({.id = "TestBackend", .location = location, .payload = multiply_by(3)});
    const auto method = load();
    EXPECT_THAT(run(*method, x_value()), ElementsAre(3, 6, 9, 12, 15, 18));
    EXPECT_TRUE(backend_.last_init().payload_is_aligned);
  }
}

TEST_F(MethodDelegatesTest, ReceiveArgumentsFromTheProgramAndTheCaller) {
  build_delegate({.id = "TestBackend",
                  .payload = multiply_by(3),
                  .compile_specs = {{"level", test::bytes_of("9")}, {"empty", {}}}});
  builder_.named_data("weights", test::bytes_of("w"));
  const auto method = load();
  const test::TestBackend::Init& init = backend_.last_init();
  EXPECT_THAT(init.compile_specs, ElementsAre(testing::Pair("level", test::bytes_of("9")),
                                              testing::Pair("empty", test::Bytes())));
  ASSERT_NE(init.context.named_data, nullptr);
  EXPECT_TRUE(init.context.named_data->get("weights").ok());
  EXPECT_EQ(init.context.tracer, nullptr);
  EXPECT_EQ(init.context.pool, nullptr);
  EXPECT_EQ(init.context.chain_index, 0);
  EXPECT_EQ(init.context.instruction_id, 1);
}

TEST_F(MethodDelegatesTest, AreDestroyedWithTheMethod) {
  build_delegate({.id = "TestBackend", .payload = multiply_by(3)});
  auto method = load();
  EXPECT_EQ(backend_.live_delegates(), 1);
  method.reset();
  EXPECT_EQ(backend_.live_delegates(), 0);
}

TEST_F(MethodDelegatesTest, ErrorNamesADelegateThatDoesNotLoad) {
  build_delegate({.id = "TestBackend", .payload = multiply_by(3)});
  forward_.delegate({.id = "TestBackend", .payload = test::bytes_of("??")});
  EXPECT_THAT(
      try_load(),
      test::FailsWith(
          ErrorCode::kDelegateInvalidCompatibility,
          "forward, delegates[1] (TestBackend): byte 0 of the payload: it must start with TB"));
  EXPECT_EQ(backend_.live_delegates(), 0) << "the delegates that loaded must be destroyed";
}

TEST_F(MethodDelegatesTest, ErrorNamesAFailingDelegateAndInstruction) {
  build_delegate({.id = "TestBackend", .payload = multiply_by(3), .compile_specs = {{"fail", {}}}});
  const auto method = load();
  ASSERT_TRUE(method->set_input(0, x_value()).ok());
  EXPECT_STREQ(method->execute().message(),
               "forward, chain 0, instruction 1 (delegate TestBackend): told to fail");
}

}  // namespace
}  // namespace vitrine

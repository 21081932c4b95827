#include "test/runtime/executor/method_fixture.h"

namespace vitrine {
namespace {

using test::Planned;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class MethodControlFlowTest : public test::MethodTest {
 protected:
  MethodControlFlowTest() { build_scaling(); }

  // f32[2,3] with separate planned memory.
  int planned_tensor() {
    const auto offset = static_cast<uint64_t>(forward_.buffer_sizes[1]);
    forward_.buffer_sizes[1] += 32;
    return forward_.tensor({.sizes = {2, 3}, .planned = Planned{1, offset}});
  }
  std::unique_ptr<Method> run(const MethodOptions& options = {}) {
    auto method = load(options);
    EXPECT_TRUE(method->set_input(0, value({2, 3}, {1, 2, 3, 4, 5, 6})).ok());
    error_ = method->execute();
    return method;
  }

  std::unique_ptr<Method> run_without_error() {
    auto method = run();
    EXPECT_TRUE(error_.ok()) << error_.message();
    return method;
  }

  Error error_;
};

TEST_F(MethodControlFlowTest, MoveInstructionsCopyValues) {
  const int moved = planned_tensor();
  const int number = forward_.integer(1);
  forward_.move(out_, moved);
  forward_.move(forward_.integer(9), number);
  forward_.outputs = {moved, number};
  const auto method = run_without_error();
  EXPECT_THAT(output(*method), ElementsAre(2, 4, 6, 8, 10, 12));
  EXPECT_EQ(method->output(1).unchecked_int(), 9);
}

// Moves must not change the kind, dtype or rank of a value, so that inputs and outputs stay as the
// program declares them.
TEST_F(MethodControlFlowTest, MoveInstructionsMustKeepKindDtypeAndRank) {
  const auto refusal = [this](int from, int to) {
    start_over();
    build_scaling();
    const int kinds[] = {out_,
                         forward_.integer(1),
                         forward_.none(),
                         forward_.tensor({.dtype = ScalarType::kInt, .sizes = {2, 3}}),
                         forward_.tensor({.sizes = {6}}),
                         forward_.tensor({.sizes = {3, 2}})};
    forward_.move(kinds[from], kinds[to]);
    const Error error = try_load().take_error();
    EXPECT_TRUE(error.ok() || error.code() == ErrorCode::kInvalidProgram);
    return std::string(error.message());
  };
  for (int from = 0; from < 6; ++from) {
    for (int to = 0; to < 6; ++to) {
      const bool is_alike = from == to || (from + to == 5 && from % 5 == 0);
      EXPECT_EQ(refusal(from, to),
                is_alike ? ""
                         : "forward, chains[0].instructions[1]: a move must be between values of "
                           "the same kind, dtype and rank")
          << from << " to " << to;
    }
  }
}

TEST_F(MethodControlFlowTest, KernelsCannotReplaceATensorWithANumber) {
  const int one = forward_.integer(1);
  forward_.kernel_call(forward_.op("test::sub", "Scalar"), {one, one, out_});
  const auto method = run();
  EXPECT_EQ(error_.code(), ErrorCode::kInvalidProgram);
  EXPECT_THAT(error_.message(), HasSubstr("argument 2 is of kind Tensor"));
  EXPECT_TRUE(method->output(0).is_tensor());
}

// count = 5; do { out = out + x; count = count - 1; } while (!(count < 1))
TEST_F(MethodControlFlowTest, JumpsFormLoops) {
  forward_.chains[0].clear();
  const int one = forward_.integer(1);
  const int count = forward_.integer(0);
  const int done = forward_.boolean(false);
  forward_.move(forward_.integer(5), count);
  const int body = forward_.next_instruction();
  add(out_, x_, out_);
  call("test::sub.Scalar", {count, one, count});
  call("test::less.Scalar", {count, one, done});
  forward_.jump_false(done, body);
  const auto method = run_without_error();
  EXPECT_THAT(output(*method), ElementsAre(5, 10, 15, 20, 25, 30));
}

TEST_F(MethodControlFlowTest, JumpsFormBranches) {
  for (const bool condition : {true, false}) {
    start_over();
    build_scaling(10);
    forward_.chains[0].insert(forward_.chains[0].begin(),
                              {.kind = schema::program::InstructionArguments::JumpFalseCall,
                               .first = forward_.boolean(condition),
                               .second = 2});
    const auto method = run_without_error();
    // The jump skips the kernel, so the output keeps the zeros of its planned memory.
    EXPECT_EQ(output(*method)[1], condition ? 20 : 0);
  }
}

TEST_F(MethodControlFlowTest, BoolTensorIsTrueIfAllElementsAreTrue) {
  for (const auto& [elements, holds] : std::vector<std::pair<std::vector<uint8_t>, bool>>{
           {{1, 1}, true}, {{1, 0}, false}, {{1, 2}, true}, {{}, true}}) {
    start_over();
    const uint32_t data = builder_.constant(test::bytes_of(elements));
    const int condition = forward_.tensor({.dtype = ScalarType::kBool,
                                           .sizes = {static_cast<int32_t>(elements.size())},
                                           .data = data});
    const int result = forward_.integer(0);
    forward_.outputs = {result};
    forward_.jump_false(condition, 2);
    forward_.move(forward_.integer(1), result);
    const auto method = load();
    ASSERT_TRUE(method->execute().ok());
    EXPECT_EQ(method->output(0).unchecked_int(), holds ? 1 : 0) << elements.size();
  }
}

TEST_F(MethodControlFlowTest, RejectsConditionsThatAreNotBool) {
  forward_.outputs = {x_};
  for (const int condition : {x_, forward_.integer(1), forward_.none(),
                              forward_.tensor({.dtype = ScalarType::kBool, .sizes = {1}})}) {
    forward_.chains[0].clear();
    forward_.jump_false(condition, 1);
    run();
    EXPECT_THAT(error_,
                test::FailsWith(ErrorCode::kInvalidProgram,
                                "forward, chain 0, instruction 0 (jump): the condition must be a "
                                "Bool or a bool tensor with memory"));
  }
}

TEST_F(MethodControlFlowTest, StopsEndlessLoops) {
  forward_.jump_false(forward_.boolean(false), 0);
  run({.limits = {.max_instructions_per_run = 1000}});
  EXPECT_THAT(error_, test::FailsWith(ErrorCode::kInvalidProgram,
                                      AllOf(HasSubstr("stopped after 1000 instructions"),
                                            HasSubstr("chain 0, instruction 0"))));
  run();
  EXPECT_THAT(error_.message(), HasSubstr("stopped after 10000000 instructions"));
}

TEST_F(MethodControlFlowTest, InstructionLimitIsExactAndAppliesToEachRun) {
  forward_.free(x_);
  const auto method = run({.limits = {.max_instructions_per_run = 2}});
  EXPECT_TRUE(error_.ok()) << error_.message();
  EXPECT_TRUE(method->execute().ok());
  run({.limits = {.max_instructions_per_run = 1}});
  EXPECT_FALSE(error_.ok());
}

TEST_F(MethodControlFlowTest, InstructionLimitCoversAllChains) {
  forward_.chains.push_back(forward_.chains[0]);
  run({.limits = {.max_instructions_per_run = 1}});
  EXPECT_THAT(error_.message(), HasSubstr("chain 1, instruction 0"));
}

TEST_F(MethodControlFlowTest, FreeInstructionKeepsPlannedMemoryAllocated) {
  forward_.free(out_);
  const auto method = run_without_error();
  EXPECT_EQ(output(*method)[5], 12);
  EXPECT_TRUE(method->execute().ok()) << "planned memory must stay allocated";
}

TEST_F(MethodControlFlowTest, ChainsRunInOrder) {
  forward_.chains.emplace_back();
  forward_.kernel_call(forward_.op("test::add", "out"), {out_, out_, out_, out_});
  const auto method = run_without_error();
  EXPECT_THAT(output(*method), ElementsAre(4, 8, 12, 16, 20, 24));
}

TEST_F(MethodControlFlowTest, AcceptsMethodsWithoutInstructions) {
  forward_.outputs = {x_};
  forward_.chains[0].clear();
  run();
  EXPECT_TRUE(error_.ok());
}

TEST_F(MethodControlFlowTest, OperatorsCanSetNumbers) {
  const int rows = forward_.integer(0);
  forward_.kernel_call(forward_.op("test::size", "int"), {x_, forward_.integer(0), rows});
  const int less = forward_.none();
  forward_.kernel_call(forward_.op("test::less", "Scalar"), {rows, forward_.integer(3), less});
  forward_.outputs = {rows, less};
  const auto method = run_without_error();
  EXPECT_EQ(method->output(0).unchecked_int(), 2);
  ASSERT_TRUE(method->output(1).is_bool());
  EXPECT_TRUE(method->output(1).unchecked_bool());
}

// A list refers to values; reading the list returns their current contents.
TEST_F(MethodControlFlowTest, ListsReturnTheCurrentValues) {
  const int rows = forward_.integer(0);
  forward_.kernel_call(forward_.op("test::size", "int"), {x_, forward_.integer(1), rows});
  forward_.outputs = {forward_.int_list({rows, forward_.integer(7)})};
  const auto method = run_without_error();
  std::span<const int64_t> list;
  ASSERT_TRUE(method->output(0).read_int_list(&list));
  EXPECT_THAT(list, ElementsAre(3, 7));
}

}  // namespace
}  // namespace vitrine

// Tests core ATen programs that change buffers and inputs. Only the signatures of these programs
// describe the changes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aot/emit/emit.h"
#include "aot/passes/pipelines.h"
#include "kernels/portable/portable_kernels.h"
#include "test/aot/optimize/lowered_call.h"
#include "test/aot/passes/lowered_program.h"
#include "test/support/tensor_factory.h"
#include "vitrine/method.h"

namespace vitrine::aot {
namespace {

using testing::ElementsAre;

const std::vector<int64_t> kSizes = {2};

TensorData two(double first, double second) { return floats(kSizes, {first, second}); }
Node* two_input(ModelBuilder& build, const char* name) {
  return build.input(name, ScalarType::kFloat, {2});
}

struct Mutation {
  Node* input;
  Node* value;
};

// A program whose outputs are the new values of buffers and inputs, followed by the results.
// torch.export also puts the results last.
ExportedProgram core_program(ModelBuilder& build, const std::vector<Mutation>& mutations,
                             const std::vector<Node*>& results) {
  std::vector<Node*> outputs;
  for (const Mutation& mutation : mutations) outputs.push_back(mutation.value);
  outputs.insert(outputs.end(), results.begin(), results.end());
  ExportedProgram program = build.finish(outputs);
  for (size_t i = 0; i < mutations.size(); ++i) {
    const InputSpec& input = *program.input_of(mutations[i].input->name());
    const bool is_buffer = input.kind == InputSpec::Kind::kBuffer;
    OutputSpec& output = program.signature.outputs[i];
    output.kind =
        is_buffer ? OutputSpec::Kind::kBufferMutation : OutputSpec::Kind::kUserInputMutation;
    output.target = is_buffer ? input.target : input.name;
  }
  return program;
}

using Runs = std::vector<std::vector<Values>>;

// Runs the program once for each set of inputs. Returns the results of each run.
Runs runs(ExportedProgram program, const std::vector<std::vector<TensorData>>& inputs,
          const ExecutableOptions& options = {}) {
  to_edge(program);
  to_executable(program, options);
  Methods methods;
  methods.emplace("forward", std::move(program));
  EmitOptions emit_options;
  emit_options.emit_debug_maps = false;
  const EmittedProgram emitted = emit(methods, emit_options);
  const auto loaded = *Program::load(*view_buffer(emitted.pte));
  KernelRegistry kernels;
  EXPECT_TRUE(kernels.add("portable", portable::kernels()).ok());
  const auto method = *Method::load(loaded, "forward", {.kernels = &kernels});
  Runs found;
  for (const std::vector<TensorData>& set : inputs) {
    test::TensorFactory factory;
    for (size_t i = 0; i < set.size(); ++i) {
      const Values values = values_of(set[i]);
      const auto size = static_cast<int32_t>(values.size());
      Tensor& input = factory.make<float>({size}, {values.begin(), values.end()});
      EXPECT_TRUE(method->set_input(i, EValue(&input)).ok());
    }
    EXPECT_TRUE(method->execute().ok());
    std::vector<Values>& results = found.emplace_back();
    for (size_t i = 0; i < method->num_outputs(); ++i) {
      results.push_back(values_of(copy_of(method->output(i).unchecked_tensor())));
    }
  }
  return found;
}

// Each run writes old2 = old1 and old1 = x. The signature names either old1 or old2 first.
TEST(WriteBackBuffers, MovesValuesBetweenBuffers) {
  for (const bool newest_first : {true, false}) {
    ModelBuilder build("Delay");
    Node* x = two_input(build, "x");
    Node* old1 = build.buffer("old1", two(1, 2));
    Node* old2 = build.buffer("old2", two(3, 4));
    Node* sum = build.call("aten.add.Tensor", {old1, old2});
    std::vector<Mutation> mutations = {{old1, x}, {old2, old1}};
    if (!newest_first) std::swap(mutations[0], mutations[1]);
    EXPECT_EQ(
        runs(core_program(build, mutations, {sum}), {{two(10, 20)}, {two(30, 40)}, {two(0, 0)}}),
        (Runs{{{4, 6}}, {{11, 22}}, {{40, 60}}}));
  }
}

TEST(WriteBackBuffers, ChainOfBuffersNeedsNoTemporaryCopies) {
  ModelBuilder build("Delay");
  Node* x = two_input(build, "x");
  Nodes old;
  for (const char* name : {"a", "b", "c", "d"}) old.push_back(build.buffer(name, two(0, 1)));
  Node* last = build.call("aten.neg.default", {old[3]});
  ExportedProgram program = core_program(
      build, {{old[0], x}, {old[2], old[1]}, {old[1], old[0]}, {old[3], old[2]}}, {last});
  ExportedProgram executable = program.copy();
  to_edge(executable);
  to_executable(executable);
  EXPECT_THAT(calls(executable), ElementsAre("neg", "copy_", "copy_", "copy_", "copy_"));
  std::vector<std::vector<TensorData>> inputs;
  Runs expected;
  for (int run = 0; run < 6; ++run) {
    inputs.push_back({two(run + 1, 5)});
    expected.push_back({run < 4 ? Values{-0.0, -1} : Values{3.0 - run, -5}});
  }
  EXPECT_EQ(runs(std::move(program), inputs), expected);
}

// A program in which buffer i gets the old value of buffer sources[i]. The initial value of buffer
// i is (i, 10 i). The results are the sums of the old values and x.
ExportedProgram moving_program(const std::vector<size_t>& sources) {
  ModelBuilder build("Moves");
  Node* x = two_input(build, "x");
  Nodes all, sums;
  for (int i = 0; i < static_cast<int>(sources.size()); ++i) {
    all.push_back(build.buffer("b" + std::to_string(i), two(i, 10 * i)));
    sums.push_back(build.call("aten.add.Tensor", {all.back(), x}));
  }
  std::vector<Mutation> mutations;
  for (size_t i = 0; i < all.size(); ++i) mutations.push_back({all[i], all[sources[i]]});
  return core_program(build, mutations, sums);
}

TEST(WriteBackBuffers, CycleOfThreeBuffersRotates) {
  EXPECT_EQ(runs(moving_program({1, 2, 0}), {{two(0, 0)}, {two(0, 0)}, {two(0, 1)}, {two(0, 0)}}),
            (Runs{{{0, 0}, {1, 10}, {2, 20}},
                  {{1, 10}, {2, 20}, {0, 0}},
                  {{2, 21}, {0, 1}, {1, 11}},
                  {{0, 0}, {1, 10}, {2, 20}}}));
}

// Buffers 0 and 1 swap their values.
TEST(WriteBackBuffers, SupportsAChainAfterACycle) {
  EXPECT_EQ(runs(moving_program({1, 0, 0, 2}), {{two(0, 0)}, {two(0, 0)}, {two(0, 0)}}),
            (Runs{{{0, 0}, {1, 10}, {2, 20}, {3, 30}},
                  {{1, 10}, {0, 0}, {0, 0}, {2, 20}},
                  {{0, 0}, {1, 10}, {1, 10}, {0, 0}}}));
}

TEST(WriteBackBuffers, SwapsInputs) {
  ModelBuilder build("Swap");
  Node* a = two_input(build, "a");
  Node* b = two_input(build, "b");
  Node* difference = build.call("aten.sub.Tensor", {a, b});
  EXPECT_EQ(runs(core_program(build, {{a, b}, {b, a}}, {difference}), {{two(5, 7), two(1, 2)}}),
            (Runs{{{1, 2}, {5, 7}, {4, 5}}}));
}

// Old values that are results must be copied, because the caller reads them after the writes.
TEST(WriteBackBuffers, ReturnsOldValuesOfOverwrittenBuffers) {
  ModelBuilder build("Old");
  Node* x = two_input(build, "x");
  Node* y = two_input(build, "y");
  Node* state = build.buffer("state", two(1, 2));
  Node* flat = build.call("aten.view.default", {state, Dims{2, 1}});
  EXPECT_EQ(
      runs(core_program(build, {{state, x}, {x, y}}, {state, x, state, flat}),
           {{two(3, 4), two(5, 6)}, {two(0, 0), two(7, 8)}}),
      (Runs{{{5, 6}, {1, 2}, {3, 4}, {1, 2}, {1, 2}}, {{7, 8}, {3, 4}, {0, 0}, {3, 4}, {3, 4}}}));
}

TEST(WriteBackBuffers, CopiesViewsOfOverwrittenBuffers) {
  ModelBuilder build("View");
  Node* x = two_input(build, "x");
  Node* old1 = build.buffer("old1", two(1, 2));
  Node* old2 = build.buffer("old2", floats({2, 1}, {3, 4}));
  Node* column = build.call("aten.view.default", {old1, Dims{2, 1}});
  Node* doubled = build.call("aten.mul.Tensor", {old2, 2});
  EXPECT_EQ(runs(core_program(build, {{old1, x}, {old2, column}}, {doubled}),
                 {{two(10, 20)}, {two(0, 0)}, {two(0, 0)}}),
            (Runs{{{6, 8}}, {{2, 4}}, {{20, 40}}}));
}

// `put` is computed in the memory of `state`. Then `state` gets the value of x, but the results
// must still contain the value of `put`.
TEST(WriteBackBuffers, ResultsOfInPlaceWritesKeepTheirValues) {
  ModelBuilder build("InPlace");
  Node* x = two_input(build, "x");
  Node* state = build.buffer("state", two(1, 2));
  Node* other = build.buffer("other", two(3, 4));
  Node* at = build.buffer("at", integers({1}, {1}));
  Node* nine = build.buffer("nine", floats({1}, {9}));
  Node* put = build.call("aten.index_put.default", {state, Argument::list({at}), nine});
  Node* view = build.call("aten.view.default", {put, Dims{2, 1}});
  Node* twice = build.call("aten.mul.Tensor", {view, 2});
  Node* old = build.call("aten.neg.default", {other});
  EXPECT_EQ(runs(core_program(build, {{state, x}, {other, put}}, {put, twice, old}),
                 {{two(5, 6)}, {two(0, 0)}}, {.elide_views = true, .reinplace = true}),
            (Runs{{{1, 9}, {2, 18}, {-3, -4}}, {{5, 9}, {10, 18}, {-1, -9}}}));
}

// The second write changes the result of the first one. A view of that result, taken between the
// writes, must keep its values.
TEST(WriteBackBuffers, ViewsTakenBetweenWritesKeepTheirValues) {
  ModelBuilder build("InPlace");
  Node* state = build.buffer("state", two(1, 2));
  Node* x = build.input("x", ScalarType::kFloat, {1});
  Node* at = build.buffer("at", integers({1}, {1}));
  Node* first = build.call("aten.index_put.default", {state, Argument::list({at}), x});
  Node* view = build.call("aten.view.default", {first, Dims{2, 1}});
  Node* twice = build.call("aten.mul.Tensor", {x, 2});
  Node* second = build.call("aten.index_put.default", {first, Argument::list({at}), twice});
  Node* column = build.call("aten.view.default", {second, Dims{2, 1}});
  Node* change = build.call("aten.sub.Tensor", {column, view});
  EXPECT_EQ(runs(core_program(build, {{state, second}}, {change}), {{floats({1}, {5})}},
                 {.elide_views = true, .reinplace = true}),
            (Runs{{{0, 5}}}));
}

}  // namespace
}  // namespace vitrine::aot

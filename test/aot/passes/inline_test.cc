// Tests the inlining of wrapped calls and of torch.vmap.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aot/graph/aot_error.h"
#include "aot/graph/lint.h"
#include "aot/passes/passes.h"
#include "test/aot/optimize/run_loop.h"
#include "test/aot/passes/lowered_program.h"
#include "test/support/expect_error.h"

namespace vitrine::aot {
namespace {

using testing::ElementsAre;

// A program that calls a subgraph (a) -> (relu(a), neg(relu(a))) and returns its second result.
ExportedProgram wrapped_in(const char* wrapper, const ArgumentList& mode) {
  Net build({2});
  Node* sum = build.call("aten.add.Tensor", {build.x, build.x});
  const TensorSpec spec = *build.x->tensor();
  ExportedProgram program = build.finish({sum});
  Body body;
  Node* a = body.input({2});
  Node* positive = body.call("aten.relu.default", {a}, {2});
  Node* negative = body.call("aten.neg.default", {positive}, {2});
  Graph& graph = *program.graph;
  Node* place = graph.output();
  Node* attribute = graph.get_attr("submod_1", place);
  graph.subgraphs()[attribute->attribute()] = body.finish({positive, negative});
  ArgumentList args = mode;
  args.emplace_back(attribute);
  args.emplace_back(graph.find(sum->name()));
  Node* call = graph.call(Target::of(wrapper, Dialect::kHigherOrder), args, {}, place);
  call->meta.value = Value::Items{spec, spec};
  Node* second = graph.call(getitem(), {call, 1}, {}, place);
  second->meta.value = spec;
  graph.output()->set_args({Argument::tuple({second})});
  program.signature.outputs[0].name = second->name();
  return program;
}

TEST(InlineWrapped, InlinesCallsWrappedInGradAndAutocastModes) {
  std::vector<ExportedProgram> programs;
  programs.push_back(wrapped_in("wrap_with_set_grad_enabled", {false}));
  programs.push_back(wrapped_in("wrap_with_autocast", {"cpu", Argument(), false, Argument()}));
  for (ExportedProgram& program : programs) {
    inline_wrapped(program);
    lint(program);
    EXPECT_THAT(calls(program), ElementsAre("add.Tensor", "relu", "neg"));
    EXPECT_TRUE(program.graph->subgraphs().empty());
    EXPECT_EQ(program.signature.outputs[0].name, "neg");
  }
}

TEST(InlineWrapped, RejectsEnabledAutocast) {
  ExportedProgram program = wrapped_in("wrap_with_autocast", {"cpu", Argument(), true, Argument()});
  EXPECT_THROW(inline_wrapped(program), AotError);
}

// Builds the calls that an export contains for torch.vmap. Their shapes are those of one sample.
class Vmap {
 public:
  explicit Vmap(ModelBuilder& build) : build_(build) {}

  Node* call(const char* function, ArgumentList args, ScalarType dtype, std::vector<SymInt> sizes) {
    return build_.call_as(std::string("torch._functorch.predispatch.") + function, std::move(args),
                          {}, contiguous_spec(dtype, std::move(sizes)));
  }
  Node* sample(Node* x, int dim, int level) {
    std::vector<SymInt> sizes = x->tensor()->sizes;
    sizes.erase(sizes.begin() + dim);
    return call("_add_batch_dim", {x, dim, level}, x->tensor()->dtype, sizes);
  }
  // The batch dim becomes dim `out` of the result.
  Node* batch(Node* x, int level, int size, int out) {
    std::vector<SymInt> sizes = x->tensor()->sizes;
    sizes.insert(sizes.begin() + out, size);
    return call("_remove_batch_dim", {x, level, size, out}, x->tensor()->dtype, sizes);
  }

 private:
  ModelBuilder& build_;
};

Values vmapped(const std::vector<TensorData>& inputs,
               const std::function<Node*(ModelBuilder&, Vmap&, const Nodes&)>& make) {
  return values_of(run(inputs, [&](ModelBuilder& build, const Nodes& in) {
    Vmap vmap(build);
    return make(build, vmap, in);
  })[0]);
}

const TensorData kMatrix = floats({2, 3}, {1, 2, 3, 4, 5, 6});

TEST(InlineVmap, AcceptsAnyBatchDim) {
  const TensorData row = floats({3}, {10, 20, 30});
  // Multiplies column i of the matrix by element i of the row.
  EXPECT_EQ(vmapped({kMatrix, row},
                    [](ModelBuilder& build, Vmap& vmap, const Nodes& in) {
                      Node* column = vmap.sample(in[0], 1, 1);
                      Node* number = vmap.sample(in[1], 0, 1);
                      return vmap.batch(build.call("aten.mul.Tensor", {column, number}), 1, 3, 0);
                    }),
            (Values{10, 40, 40, 100, 90, 180}));
  // An unbatched tensor is broadcast to all samples.
  EXPECT_EQ(vmapped({kMatrix, row},
                    [](ModelBuilder& build, Vmap& vmap, const Nodes& in) {
                      Node* sample = vmap.sample(in[0], 0, 1);
                      return vmap.batch(build.call("aten.add.Tensor", {sample, in[1]}), 1, 2, 1);
                    }),
            (Values{11, 14, 22, 25, 33, 36}));
  // An unbatched result is repeated for all samples.
  EXPECT_EQ(vmapped({kMatrix, row},
                    [](ModelBuilder& build, Vmap& vmap, const Nodes& in) {
                      vmap.sample(in[0], 0, 1);
                      return vmap.batch(build.call("aten.neg.default", {in[1]}), 1, 2, 0);
                    }),
            (Values{-10, -20, -30, -10, -20, -30}));
}

// Hugging Face's transformers computes masks with nested vmaps over batch, query and key. The
// function inside the vmaps indexes a mask of valid tokens.
TEST(InlineVmap, SupportsNestingAndIndexing) {
  const TensorData batch = integers({2}, {0, 1});
  const TensorData query = integers({2}, {1, 2});
  const TensorData key = integers({3}, {0, 1, 2});
  const TensorData tokens = floats({2, 3}, {1, 1, 1, 0, 1, 1});
  const Values found =
      vmapped({batch, query, key, tokens}, [](ModelBuilder& build, Vmap& vmap, const Nodes& in) {
        Node* b = vmap.sample(in[0], 0, 1);
        Node* q = vmap.sample(in[1], 0, 2);
        Node* k = vmap.sample(in[2], 0, 3);
        Node* causal = build.call("aten.le.Tensor", {k, q});
        Node* all =
            build.call_as("aten.new_ones.default", {q, Dims{}}, {{"dtype", ScalarType::kBool}},
                          contiguous_spec(ScalarType::kBool, {}));
        Node* both = build.call_as("aten.__and__.Tensor", {all, causal}, {},
                                   contiguous_spec(ScalarType::kBool, {}));
        Node* token = build.call("aten.index.Tensor", {in[3], Argument::list({b, k})});
        Node* masked = build.call("aten.mul.Tensor", {token, both});
        Node* result = vmap.batch(masked, 3, 3, 0);
        result = vmap.batch(result, 2, 2, 0);
        return vmap.batch(result, 1, 2, 0);
      });
  Values expected;
  const double token[2][3] = {{1, 1, 1}, {0, 1, 1}};
  for (int b = 0; b < 2; ++b) {
    for (int q = 1; q <= 2; ++q) {
      for (int k = 0; k < 3; ++k) expected.push_back(k <= q ? token[b][k] : 0);
    }
  }
  EXPECT_EQ(found, expected);
}

TEST(InlineVmap, DimArgumentsDoNotCountTheBatchDim) {
  EXPECT_EQ(vmapped({kMatrix},
                    [](ModelBuilder& build, Vmap& vmap, const Nodes& in) {
                      Node* row = vmap.sample(in[0], 0, 1);
                      Node* last = build.call("aten.select.int", {row, 0, 2});
                      Node* wide = build.call("aten.unsqueeze.default", {last, -1});
                      return vmap.batch(build.call("aten.sub.Tensor", {row, wide}), 1, 2, 0);
                    }),
            (Values{-2, -1, 0, -2, -1, 0}));
}

TEST(InlineVmap, RejectsUnsupportedOperatorsAndSamplesUsedOutsideOfVmap) {
  const auto reduce = [](ModelBuilder& build, Vmap& vmap, const Nodes& in) {
    Node* row = vmap.sample(in[0], 0, 1);
    Node* sum = build.call("aten.sum.dim_IntList", {row, Dims{0}});
    return vmap.batch(sum, 1, 2, 0);
  };
  EXPECT_ERROR(AotError, vmapped({kMatrix}, reduce),
               "aten.sum.dim_IntList is not supported inside torch.vmap");
  const auto escape = [](ModelBuilder&, Vmap& vmap, const Nodes& in) {
    return vmap.sample(in[0], 0, 1);
  };
  EXPECT_ERROR(AotError, vmapped({kMatrix}, escape), "is used outside of its vmap");
  const auto wrong_dim = [](ModelBuilder& build, Vmap& vmap, const Nodes& in) {
    Node* row = vmap.call("_add_batch_dim", {in[0], 7, 1}, ScalarType::kFloat, {3});
    return vmap.batch(build.call("aten.relu.default", {row}), 1, 2, 0);
  };
  EXPECT_THROW(vmapped({kMatrix}, wrong_dim), AotError);
}

}  // namespace
}  // namespace vitrine::aot

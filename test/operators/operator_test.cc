#include "operators/operator.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "kernels/llm/llm_kernels.h"
#include "kernels/optimized/optimized_kernels.h"
#include "kernels/portable/portable_kernels.h"
#include "kernels/quantized/quantized_kernels.h"

namespace vitrine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

const Operator& operator_of(std::string_view target) {
  const Operator* found = find_operator(target);
  EXPECT_NE(found, nullptr) << target;
  static const Operator kNone;
  return found == nullptr ? kNone : *found;
}

std::vector<std::string_view> names(const std::vector<OperatorArgument>& arguments) {
  std::vector<std::string_view> found;
  for (const OperatorArgument& argument : arguments) found.push_back(argument.name);
  return found;
}

TEST(Operators, RandomAndUninitializedResultsAreNondeterministic) {
  for (const char* target :
       {"aten.rand.default", "aten.randn_like.default", "aten.native_dropout.default",
        "aten.empty.memory_format", "dim_order_ops._empty_dim_order.default"}) {
    EXPECT_TRUE(operator_of(target).is_nondeterministic) << target;
  }
  for (const char* target : {"aten.zeros.default", "aten.arange.start_step", "aten.relu.default"}) {
    EXPECT_FALSE(operator_of(target).is_nondeterministic) << target;
  }
}

TEST(Operators, NamesAreUnique) {
  std::set<std::string_view> names;
  for (const Operator& op : operators()) EXPECT_TRUE(names.insert(op.name).second) << op.name;
  EXPECT_GT(names.size(), 700u);
}

// All signatures of the operator table, in one list per file of operators/table.
const std::vector<std::vector<std::string_view>>& signatures_by_file() {
  static const std::vector<std::vector<std::string_view>> kRows = {
#define OP(signature, ...) signature,
      {
#include "operators/table/creation.inc"
      },
      {
#include "operators/table/elementwise.inc"
      },
      {
#include "operators/table/fourier.inc"
      },
      {
#include "operators/table/images.inc"
      },
      {
#include "operators/table/layers.inc"
      },
      {
#include "operators/table/llm.inc"
      },
      {
#include "operators/table/losses.inc"
      },
      {
#include "operators/table/numbers.inc"
      },
      {
#include "operators/table/products.inc"
      },
      {
#include "operators/table/quantized.inc"
      },
      {
#include "operators/table/reductions.inc"
      },
      {
#include "operators/table/selections.inc"
      },
      {
#include "operators/table/views.inc"
      },
#undef OP
  };
  return kRows;
}

TEST(Operators, RowsOfEachFileAreSorted) {
  size_t rows = 0;
  for (const std::vector<std::string_view>& file : signatures_by_file()) {
    std::vector<std::string_view> found;
    for (const std::string_view row : file) found.push_back(row.substr(0, row.find('(')));
    EXPECT_TRUE(std::ranges::is_sorted(found)) << *std::ranges::is_sorted_until(found);
    rows += found.size();
  }
  EXPECT_EQ(rows, operators().size()) << "signatures_by_file() lacks a file";
}

std::set<std::string> all_kernels() {
  std::set<std::string> names;
  for (const KernelTable& table :
       {optimized::kernels(), portable::kernels(), quantized::kernels(), llm::kernels()}) {
    for (const Kernel* kernel : table.kernels) names.insert(kernel->name);
  }
  return names;
}

TEST(Operators, EveryKernelHasOneRowAndEveryRowNamesAKernel) {
  const std::set<std::string> kernels = all_kernels();
  ASSERT_GT(kernels.size(), 250u);
  std::multiset<std::string> rows;
  for (const Operator& op : operators()) {
    if (!op.kernel.empty()) rows.insert(op.kernel);
  }
  // Kernels without a row, rows without a kernel, and kernels that several rows name.
  std::vector<std::string> wrong;
  std::ranges::set_symmetric_difference(rows, kernels, std::back_inserter(wrong));
  EXPECT_THAT(wrong, IsEmpty());
}

TEST(Operators, DerivesKernelNamesFromOperatorNames) {
  EXPECT_EQ(operator_of("aten.relu.default").kernel, "aten::relu.out");
  EXPECT_EQ(operator_of("aten.add.Scalar").kernel, "aten::add.Scalar_out");
  EXPECT_EQ(operator_of("quantized_decomposed.embedding_byte.dtype").kernel,
            "quantized_decomposed::embedding_byte.dtype_out");
  EXPECT_EQ(operator_of("aten.copy_.default").kernel, "aten::copy_") << "it writes its argument";
  EXPECT_EQ(operator_of("aten.sym_size.int").kernel, "aten::sym_size.int") << "it returns a number";
  EXPECT_EQ(operator_of("aten.reshape.default").kernel, "") << "it has no kernel";
}

TEST(Operators, TableRowsCanSpecifyOtherKernelNames) {
  EXPECT_EQ(operator_of("aten.add.Tensor").kernel, "aten::add.out");
  EXPECT_EQ(operator_of("aten.max.dim").kernel, "aten::max.dim_max");
  EXPECT_EQ(operator_of("_operator.add").kernel, "executorch_prim::add.Scalar");
}

TEST(Operators, KernelArgumentsAreOperatorArgumentsAndOutputs) {
  const Operator& add = operator_of("aten.add.Tensor");
  EXPECT_THAT(names(add.kernel_arguments), ElementsAre("self", "other", "alpha", "out"));
  EXPECT_TRUE(add.kernel_arguments[3].is_written);
  EXPECT_TRUE(add.kernel_arguments[3].is_keyword_only);
  EXPECT_THAT(names(operator_of("aten.topk.default").kernel_arguments),
              ElementsAre("self", "k", "dim", "largest", "sorted", "values", "indices"));
  EXPECT_THAT(names(operator_of("aten.native_dropout.default").kernel_arguments),
              ElementsAre("input", "p", "train", "out0", "out1"));
  EXPECT_THAT(names(operator_of("aten.max.dim").kernel_arguments),
              ElementsAre("self", "dim", "keepdim", "max", "max_values"));
  const Operator& split = operator_of("aten.split_copy.Tensor");
  EXPECT_TRUE(split.kernel_arguments.back().is_list);
  EXPECT_THAT(names(operator_of("aten.copy_.default").kernel_arguments),
              ElementsAre("self", "src", "non_blocking"));
}

TEST(Operators, KernelArgumentsOmitStorageArguments) {
  EXPECT_THAT(names(operator_of("aten._to_copy.default").kernel_arguments),
              ElementsAre("self", "non_blocking", "memory_format", "out"));
  EXPECT_THAT(names(operator_of("aten.mean.dim").kernel_arguments),
              ElementsAre("self", "dim", "keepdim", "dtype", "out"))
      << "a dtype alone is the dtype of the computation";
}

TEST(Operators, CoreOperatorsHaveKernels) {
  EXPECT_TRUE(operator_of("aten.add.Tensor").is_core);
  EXPECT_FALSE(operator_of("aten.linear.default").is_core);
  EXPECT_FALSE(operator_of("aten.linear.default").kernel.empty());
  EXPECT_FALSE(operator_of("aten.silu.default").is_core);
}

TEST(Operators, AliasAnnotationsIdentifyViews) {
  const Operator& view = operator_of("aten.view.default");
  EXPECT_TRUE(view.may_alias());
  ASSERT_TRUE(view.is_view());
  EXPECT_EQ(view.copy->target, "aten.view_copy.default");
  EXPECT_TRUE(operator_of("aten.split_with_sizes.default").is_view());
  EXPECT_TRUE(operator_of("aten.reshape.default").may_alias());
  EXPECT_FALSE(operator_of("aten.reshape.default").is_view());
  EXPECT_FALSE(operator_of("aten.view_copy.default").may_alias());
  EXPECT_FALSE(operator_of("aten.copy_.default").may_alias());
}

TEST(Operators, FindsFunctionalFormOfInPlaceOperators) {
  EXPECT_TRUE(operator_of("aten.copy_.default").is_in_place());
  EXPECT_EQ(find_operator("aten.add_.Tensor"), nullptr);
  EXPECT_EQ(find_functional("aten.add_.Tensor"), find_operator("aten.add.Tensor"));
  EXPECT_EQ(find_functional("aten.no_such_.Tensor"), nullptr);
  EXPECT_EQ(find_functional("aten.add.Tensor"), nullptr);
  EXPECT_EQ(find_functional("aten.__ior__.Tensor"), nullptr);
  EXPECT_FALSE(operator_of("aten._native_batch_norm_legit.default").is_in_place());
}

TEST(Operators, DeclaresOperatorsOutsideTheTable) {
  const Operator& op = declared_operator("my::op(Tensor(a!) x, *, float y=1.0) -> Tensor");
  EXPECT_EQ(op.target, "my.op.default");
  EXPECT_EQ(op.kernel, "my::op.out");
  EXPECT_THAT(names(op.kernel_arguments), ElementsAre("x", "y", "out"));
  EXPECT_FALSE(op.is_in_place()) << "its result is a new tensor";
  EXPECT_EQ(&op, &declared_operator("my::op(Tensor(a!) x, *, float y=1.0) -> Tensor"));
  EXPECT_EQ(find_operator(op.target), nullptr) << "the table must not change";
  EXPECT_EQ(declared_operator("my::op.two(Tensor x) -> (Tensor, Tensor)").kernel, "my::op.two_out");
  EXPECT_EQ(declared_operator("my::op_(Tensor(a!) x) -> ()").kernel, "my::op_");
}

TEST(Operators, EquivalentOperatorsHaveTheSameArguments) {
  for (const Operator& op : operators()) {
    if (op.same_as.empty()) continue;
    const Operator* found = find_operator(op.same_as);
    if (found == nullptr) found = find_functional(op.same_as);
    ASSERT_NE(found, nullptr) << op.name << " -> " << op.same_as;
    const Operator& same = *found;
    for (size_t i = 0; i < std::min(op.arguments.size(), same.arguments.size()); ++i) {
      EXPECT_EQ(op.arguments[i].is_list, same.arguments[i].is_list) << op.name << " " << i;
      if (!op.is_in_place()) continue;
      EXPECT_EQ(op.arguments[i].type, same.arguments[i].type) << op.name << " " << i;
    }
    EXPECT_THAT(op.results, SizeIs(same.results.size())) << op.name;
  }
}

TEST(Operators, ReturnsNullForUnknownOperators) {
  EXPECT_EQ(find_operator("aten.no_such.default"), nullptr);
  EXPECT_EQ(find_operator(""), nullptr);
}

// The expected signatures are from aten/src/ATen/native/native_functions.yaml.
TEST(Operators, SignaturesMatchPyTorch) {
  const Operator& norm = operator_of("aten.linalg_vector_norm.default");
  EXPECT_THAT(names(norm.arguments), ElementsAre("self", "ord", "dim", "keepdim", "dtype"));
  EXPECT_TRUE(norm.argument("dtype")->is_keyword_only);
  const Operator& attention = operator_of("aten.scaled_dot_product_attention.default");
  EXPECT_FALSE(attention.argument("is_causal")->is_keyword_only);
  EXPECT_TRUE(attention.argument("scale")->is_keyword_only);
  EXPECT_EQ(attention.argument("no_such"), nullptr);
  EXPECT_THAT(operator_of("aten._assert_scalar.default").results, IsEmpty());
}

}  // namespace
}  // namespace vitrine

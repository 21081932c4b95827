// Writes to a cache by llama::update_cache, and attention over it, give what the model's own form
// gives: its results, and what the cache holds afterwards.
#include "aot/passes/kv_caches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "aot/builder/seeded_weights.h"
#include "aot/graph/lint.h"
#include "aot/passes/pipelines.h"
#include "aot/passes/replace_attention.h"
#include "test/aot/evaluation/lowered_call.h"
#include "test/aot/passes/lowered_program.h"

namespace vitrine::aot {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr int64_t kLength = 6;
constexpr int64_t kWidth = 4;
constexpr double kLowest = -3.4028234663852886e38;

enum class Write { kIndexPut, kIndexCopy, kNarrowCopy, kSliceCopy, kSelectCopy, kCopyOfIndexCopy };
enum class Mask {
  kTable,
  kCompared,
  kAddedTable,
  kNarrowedTable,
  kInverted,
  kMultiplied,
  kJoined,
  kWindow,
  kNone
};
enum class Repeat { kInterleave, kExpand, kShared, kNone };

struct Form {
  const char* name;
  Write write = Write::kIndexPut;
  Mask mask = Mask::kTable;
  Repeat repeat = Repeat::kInterleave;
  bool positions_first = false;
  int64_t batch = 1;
  int64_t heads = 4;  // of queries
  int64_t key_heads = 2;
  int64_t count = 1;  // positions of a call
  bool is_symbolic = false;
  bool counted = false;       // positions are arange(count) + the first one
  bool is_spelled = false;    // attention is products around a softmax
  bool takes_prefix = false;  // only positions up to the last query's
  double fill = -kInfinity;   // of spelled attention, where keys are hidden
};

TensorData causal_table(bool added) {
  std::vector<std::byte> bools;
  Values numbers;
  for (int64_t i = 0; i < kLength * kLength; ++i) {
    const bool seen = i % kLength <= i / kLength;
    bools.push_back(static_cast<std::byte>(seen));
    numbers.push_back(seen ? 0 : -kInfinity);
  }
  if (added) return floats({kLength, kLength}, numbers);
  return make_tensor_data(ScalarType::kBool, {kLength, kLength}, std::move(bools));
}

// A step of a decoder: writes keys and values, attends to them.
class Step {
 public:
  explicit Step(const Form& form) : f_(form) {}

  ExportedProgram build() {
    count_ = f_.is_symbolic ? build_.dynamic_size(1, kLength - 1) : SymInt(f_.count);
    Node* query = build_.input("query", ScalarType::kFloat, {f_.batch, f_.heads, count_, kWidth});
    Node* key = build_.input("key", ScalarType::kFloat, {f_.batch, f_.key_heads, count_, kWidth});
    Node* value =
        build_.input("value", ScalarType::kFloat, {f_.batch, f_.key_heads, count_, kWidth});
    const bool is_list = !f_.counted && (f_.is_symbolic || f_.count > 1) &&
                         f_.write != Write::kNarrowCopy && f_.write != Write::kSliceCopy;
    position_ = build_.input("position", ScalarType::kLong, {is_list ? count_ : SymInt(1)});
    if (f_.is_symbolic) size_ = number("aten.sym_size.int", {query, 2}, count_);
    if (f_.counted) {
      Node* range = build_.call("aten.arange.default", {size_}, {{"dtype", ScalarType::kLong}});
      position_ = build_.call("aten.add.Tensor", {range, position_});
    }
    Node* mask = make_mask();
    Node* keys = write("keys", key);
    Node* values = write("values", value);
    if (f_.takes_prefix) {
      keys = prefix(keys, f_.positions_first ? 1 : 2, false);
      values = prefix(values, f_.positions_first ? 1 : 2, true);
      if (mask != nullptr && f_.mask != Mask::kJoined) mask = prefix(mask, -1, true);
    }
    keys = repeated(keys);
    values = repeated(values);
    Node* made =
        f_.is_spelled ? spelled(query, keys, values, mask) : attention(query, keys, values, mask);
    const auto kept = [&](const char* name) {
      return build_.call("aten.clone.default", {build_.buffer(name, zeros({1}))});
    };
    return build_.finish({made, kept("keys"), kept("values")});
  }

 private:
  Node* number(const char* target, ArgumentList args, SymInt value) {
    Value::Number made;
    made.value = std::move(value);
    return build_.call_as(target, std::move(args), {}, made);
  }
  Node* first() {
    if (first_ == nullptr) {
      Node* one = build_.call("aten.select.int", {position_, 0, 0});
      first_ = number("aten.item.default", {one}, build_.dynamic_size(0, kLength - 1));
    }
    return first_;
  }
  // The end of what this call writes.
  Node* end() {
    if (end_ != nullptr) return end_;
    Node* begin = first();
    return end_ =
               number("_operator.add", {begin, size()}, begin->meta.value.number()->value + count_);
  }
  Node* prefix(Node* rows, int64_t dim, bool slices) {
    if (!slices) return build_.call("aten.narrow.default", {rows, dim, 0, end()});
    TensorSpec spec = *rows->tensor();
    spec.sizes[dim < 0 ? spec.rank() - 1 : static_cast<size_t>(dim)] =
        end()->meta.value.number()->value;
    return build_.call_as("aten.slice.Tensor", {rows, dim, 0, end()}, {}, spec);
  }
  Argument size() const { return size_ != nullptr ? Argument(size_) : Argument(f_.count); }
  // The positions of the queries, [count, 1].
  Node* rows() { return build_.call("aten.unsqueeze.default", {position_, 1}); }

  Node* attention(Node* query, Node* keys, Node* values, Node* mask) {
    ArgumentMap kwargs;
    if (f_.repeat == Repeat::kShared) kwargs.emplace_back("enable_gqa", true);
    ArgumentList args = {query, keys, values};
    if (mask != nullptr) args.emplace_back(mask);
    return build_.call("aten.scaled_dot_product_attention.default", std::move(args), kwargs);
  }
  Node* spelled(Node* query, Node* keys, Node* values, Node* mask) {
    keys = build_.call("aten.transpose.int", {keys, -1, -2});
    Node* scores = build_.call("aten.matmul.default", {query, keys});
    scores = build_.call("aten.div.Tensor", {scores, 2.0});
    if (mask->tensor()->dtype == ScalarType::kBool) {
      Node* hidden = build_.call("aten.bitwise_not.default", {mask});
      scores = build_.call("aten.masked_fill.Scalar", {scores, hidden, f_.fill});
    } else {
      scores = build_.call("aten.add.Tensor", {scores, mask});
    }
    Node* weights = build_.call("aten.softmax.int", {scores, -1});
    weights = build_.call("aten.dropout.default", {weights, 0.5, false});
    return build_.call("aten.matmul.default", {weights, values});
  }

  Node* make_mask() {
    if (f_.mask == Mask::kNone) return nullptr;
    if (f_.mask == Mask::kTable || f_.mask == Mask::kAddedTable ||
        f_.mask == Mask::kNarrowedTable) {
      Node* table = build_.buffer("mask", causal_table(f_.mask == Mask::kAddedTable), false);
      if (f_.mask == Mask::kNarrowedTable) {
        return build_.call("aten.narrow.default", {table, 0, first(), size()});
      }
      return build_.call("aten.index.Tensor", {table, Argument::list({position_})});
    }
    Node* keys = build_.call("aten.arange.default", {kLength}, {{"dtype", ScalarType::kLong}});
    if (f_.mask == Mask::kInverted) {
      Node* hidden = build_.call("aten.gt.Tensor", {keys, rows()});
      Node* lowest = build_.call("aten.scalar_tensor.default", {kLowest});
      Node* none = build_.call("aten.scalar_tensor.default", {0.0});
      Node* added = build_.call("aten.where.self", {hidden, lowest, none});
      added = build_.call("aten.unsqueeze.default", {added, 0});
      return build_.call("aten.unsqueeze.default", {added, 0});
    }
    if (f_.mask == Mask::kMultiplied) return multiplied(keys);
    if (f_.mask == Mask::kJoined) return joined();
    Node* seen = build_.call("aten.le.Tensor", {keys, rows()});
    if (f_.mask != Mask::kWindow) return seen;
    Node* near = build_.call("aten.add.Tensor", {keys, 2});
    near = build_.call("aten.gt.Tensor", {near, rows()});
    return build_.call("aten.bitwise_and.Tensor", {seen, near});
  }

  // As older models of Hugging Face's transformers make it, in place.
  Node* multiplied(Node* keys) {
    Node* added = build_.call("aten.full.default", {Argument::list({size(), kLength}), kLowest});
    if (f_.is_symbolic || f_.count > 1) added = build_.call("aten.triu.default", {added, 1});
    Node* hidden = build_.call(
        "aten.gt.Tensor",
        {keys, build_.call("aten.reshape.default", {position_, std::vector<int64_t>{-1, 1}})});
    added = build_.call("aten.mul_.Tensor", {added, hidden});
    for (int i = 0; i < 2; ++i) added = build_.call("aten.unsqueeze.default", {added, i});
    return added;
  }
  // As Meta's Llama makes it: zeros for the keys before, a triangle for those of this call.
  Node* joined() {
    Node* zeros = build_.call("aten.zeros.default", {Argument::list({size(), first()})});
    Node* added = build_.call("aten.full.default", {Argument::list({size(), size()}), -kInfinity});
    added = build_.call("aten.triu.default", {added, 1});
    return build_.call("aten.cat.default", {Argument::list({zeros, added}), -1});
  }

  Node* write(const char* name, Node* row) {
    const int64_t at = f_.positions_first ? 1 : 2;
    if (f_.positions_first) row = build_.call("aten.transpose.int", {row, 1, 2});
    std::vector<int64_t> sizes = {f_.batch, f_.key_heads, kLength, kWidth};
    if (f_.positions_first) std::swap(sizes[1], sizes[2]);
    Node* cache = build_.buffer(name, seeded_weights(name, 5, sizes, 1));
    ArgumentList before(static_cast<size_t>(at));
    switch (f_.write) {
      case Write::kIndexPut:
        before.emplace_back(position_);
        return build_.call("aten.index_put_.default",
                           {cache, Argument::list(std::move(before)), row});
      case Write::kIndexCopy:
        return build_.call("aten.index_copy_.default", {cache, at, position_, row});
      case Write::kCopyOfIndexCopy: {
        Node* next = build_.call("aten.index_copy.default", {cache, at, position_, row});
        build_.call("aten.copy_.default", {cache, next});
        return next;
      }
      case Write::kNarrowCopy:
        build_.call("aten.copy_.default",
                    {build_.call("aten.narrow.default", {cache, at, first(), size()}), row});
        return cache;
      case Write::kSliceCopy: {
        const int64_t start = kLength - f_.count;
        build_.call("aten.copy_.default",
                    {build_.call("aten.slice.Tensor", {cache, at, start, kLength}), row});
        return cache;
      }
      case Write::kSelectCopy:
        break;
    }
    Node* one = build_.call("aten.select.int", {row, at, 0});
    build_.call("aten.copy_.default", {build_.call("aten.select.int", {cache, at, first()}), one});
    return cache;
  }

  Node* repeated(Node* rows) {
    const int64_t times = f_.heads / f_.key_heads;
    if (f_.positions_first) rows = build_.call("aten.transpose.int", {rows, 1, 2});
    if (f_.repeat == Repeat::kInterleave) {
      return build_.call("aten.repeat_interleave.self_int", {rows, times, 1});
    }
    if (f_.repeat != Repeat::kExpand) return rows;
    rows = build_.call("aten.unsqueeze.default", {rows, 2});
    rows =
        build_.call("aten.expand.default",
                    {rows, std::vector<int64_t>{f_.batch, f_.key_heads, times, kLength, kWidth}});
    return build_.call("aten.reshape.default",
                       {rows, std::vector<int64_t>{f_.batch, f_.heads, kLength, kWidth}});
  }

  const Form f_;
  ModelBuilder build_{"Step"};
  SymInt count_;
  Node* size_ = nullptr;
  Node* position_ = nullptr;
  Node* first_ = nullptr;
  Node* end_ = nullptr;
};

std::vector<TensorData> inputs_of(const Form& form, int64_t start) {
  const int64_t count = form.count;
  const auto rows = [&](const char* name, int64_t heads) {
    return seeded_weights(name, 7, {form.batch, heads, count, kWidth}, 2);
  };
  const bool is_list =
      !form.counted && form.write != Write::kNarrowCopy && form.write != Write::kSliceCopy;
  std::vector<int64_t> positions(static_cast<size_t>(is_list ? count : 1));
  std::iota(positions.begin(), positions.end(), start);
  const auto listed = static_cast<int64_t>(positions.size());
  return {rows("q", form.heads), rows("k", form.key_heads), rows("v", form.key_heads),
          integers({listed}, positions)};
}

// Form by form: the same results and caches, whatever the position.
void expect_same(const Form& form, const ExportedProgram& own, const ExportedProgram& replaced) {
  const int64_t last = kLength - form.count;
  for (const int64_t start : {int64_t{0}, last / 2, last}) {
    const std::vector<TensorData> inputs = inputs_of(form, start);
    const std::vector<TensorData> expected = evaluate(own, inputs);
    const std::vector<TensorData> found = evaluate(replaced, inputs);
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].sizes, expected[i].sizes);
      expect_near(found[i], values_of(expected[i]));
    }
  }
}

// Forms whose mask is proven causal by position.
std::vector<Form> causal_forms() {
  return {
      {.name = "IndexPut"},
      {.name = "IndexCopy", .write = Write::kIndexCopy, .mask = Mask::kCompared},
      {.name = "CopyOfIndexCopy", .write = Write::kCopyOfIndexCopy, .mask = Mask::kInverted},
      {.name = "Narrow", .write = Write::kNarrowCopy, .mask = Mask::kNarrowedTable, .count = 3},
      {.name = "NarrowOfAnyLength",
       .write = Write::kNarrowCopy,
       .mask = Mask::kNarrowedTable,
       .count = 2,
       .is_symbolic = true},
      {.name = "Select", .write = Write::kSelectCopy, .mask = Mask::kAddedTable},
      {.name = "Counted",
       .write = Write::kIndexCopy,
       .mask = Mask::kCompared,
       .repeat = Repeat::kExpand,
       .count = 3,
       .is_symbolic = true,
       .counted = true},
      {.name = "PositionsFirst", .positions_first = true},
      {.name = "PositionsFirstInOneCall",
       .write = Write::kNarrowCopy,
       .mask = Mask::kNarrowedTable,
       .repeat = Repeat::kExpand,
       .positions_first = true,
       .count = 4},
      {.name = "Expanded", .mask = Mask::kInverted, .repeat = Repeat::kExpand},
      {.name = "Shared", .repeat = Repeat::kShared, .heads = 6},
      {.name = "OneKeyHead", .repeat = Repeat::kShared, .heads = 3, .key_heads = 1},
      {.name = "EachItsKeyHead", .repeat = Repeat::kNone, .heads = 3, .key_heads = 3},
      {.name = "Batch", .batch = 2},
      {.name = "Spelled", .is_spelled = true},
      {.name = "SpelledWithTheLowestNumber", .is_spelled = true, .fill = kLowest},
      {.name = "SpelledWithAddedMask", .mask = Mask::kInverted, .is_spelled = true},
      {.name = "Multiplied", .mask = Mask::kMultiplied},
      {.name = "MultipliedTriangle",
       .write = Write::kIndexCopy,
       .mask = Mask::kMultiplied,
       .repeat = Repeat::kExpand,
       .count = 3,
       .is_symbolic = true,
       .counted = true},
      {.name = "PrefixOfOneQuery",
       .write = Write::kNarrowCopy,
       .mask = Mask::kNone,
       .takes_prefix = true},
      {.name = "PrefixWithATable",
       .write = Write::kNarrowCopy,
       .mask = Mask::kNarrowedTable,
       .positions_first = true,
       .count = 2,
       .is_symbolic = true,
       .takes_prefix = true},
      {.name = "PrefixWithAJoinedMask",
       .write = Write::kNarrowCopy,
       .mask = Mask::kJoined,
       .repeat = Repeat::kShared,
       .count = 3,
       .takes_prefix = true},
      {.name = "PrefixSpelled",
       .write = Write::kNarrowCopy,
       .mask = Mask::kJoined,
       .positions_first = true,
       .count = 2,
       .is_spelled = true,
       .takes_prefix = true},
      {.name = "BatchPositionsFirst", .positions_first = true, .batch = 3},
      {.name = "BatchInOneCall",
       .write = Write::kNarrowCopy,
       .mask = Mask::kNarrowedTable,
       .batch = 2,
       .count = 3},
  };
}

class CausalCache : public testing::TestWithParam<Form> {};

TEST_P(CausalCache, GivesTheSame) {
  ExportedProgram replaced = Step(GetParam()).build();
  Form plain = GetParam();
  // Lowering alone does not support a write to a place that is a number of the graph.
  if (plain.write == Write::kSelectCopy) plain.write = Write::kIndexPut;
  // Nor tensors whose sizes are such numbers: all keys are the same, where a table hides the
  // others.
  if (plain.takes_prefix) {
    plain.takes_prefix = false;
    plain.mask = Mask::kNarrowedTable;
  }
  ExportedProgram own = Step(plain).build();
  const AttentionResult result = replace_attention(replaced);
  EXPECT_EQ(result.replaced, 1U);
  EXPECT_EQ(result.writes, 2U);
  EXPECT_THAT(result.kept, IsEmpty());
  lint(replaced);
  to_edge(own);
  to_edge(replaced);
  expect_same(GetParam(), own, replaced);
  // No more is left of the mask, nor of copies of the cache by head.
  EXPECT_THAT(calls(replaced), Not(Contains("where.self")));
  EXPECT_THAT(calls(replaced), Not(Contains("index.Tensor")));
  EXPECT_THAT(calls(replaced), Not(Contains("expand_copy")));
  to_executable(replaced);
  EXPECT_EQ(std::ranges::count(calls(replaced), "update_cache"), 2);
  EXPECT_THAT(calls(replaced), Not(Contains("copy_")));
}

INSTANTIATE_TEST_SUITE_P(Forms, CausalCache, testing::ValuesIn(causal_forms()),
                         [](const auto& test) { return std::string(test.param.name); });

// Forms whose mask says more, or of which too little is known: it stays.
std::vector<Form> masked_forms() {
  return {
      {.name = "Window", .mask = Mask::kWindow},
      {.name = "SpelledWindow", .mask = Mask::kWindow, .is_spelled = true},
      {.name = "ListOfPositions", .mask = Mask::kCompared, .count = 3},
      {.name = "ListOfPositionsInABatch", .mask = Mask::kTable, .batch = 2, .count = 2},
      {.name = "ListOfAnyLength",
       .write = Write::kIndexCopy,
       .mask = Mask::kCompared,
       .positions_first = true,
       .count = 2,
       .is_symbolic = true},
  };
}

class MaskedCache : public testing::TestWithParam<Form> {};

TEST_P(MaskedCache, GivesTheSame) {
  ExportedProgram own = Step(GetParam()).build();
  ExportedProgram replaced = own.copy();
  const AttentionResult result = replace_attention(replaced);
  EXPECT_EQ(result.replaced, 1U);
  EXPECT_EQ(result.writes, 2U);
  EXPECT_THAT(result.kept, ElementsAre(HasSubstr("mask stays")));
  to_edge(own);
  to_edge(replaced);
  expect_same(GetParam(), own, replaced);
}

INSTANTIATE_TEST_SUITE_P(Forms, MaskedCache, testing::ValuesIn(masked_forms()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(KvCaches, WritesAtAFixedPlace) {
  const Form form = {.name = "",
                     .write = Write::kSliceCopy,
                     .mask = Mask::kNone,
                     .repeat = Repeat::kShared,
                     .count = 2};
  ExportedProgram own = Step(form).build();
  ExportedProgram replaced = own.copy();
  const AttentionResult result = replace_attention(replaced);
  EXPECT_EQ(result.writes, 2U);
  EXPECT_EQ(result.replaced, 1U);
  to_edge(own);
  to_edge(replaced);
  expect_same(form, own, replaced);
}

// Of a row that is hidden wholly, the lowest number makes a mean.
TEST(KvCaches, LeavesSpelledAttentionThatMayHideAll) {
  const Form form = {.name = "", .mask = Mask::kWindow, .is_spelled = true, .fill = kLowest};
  ExportedProgram program = Step(form).build();
  const AttentionResult result = replace_attention(program);
  EXPECT_EQ(result.replaced, 0U);
  EXPECT_EQ(result.writes, 2U);
  EXPECT_EQ(std::ranges::count(calls(program), "matmul"), 2);
  lint(program);
}

TEST(KvCaches, RefusesNegativePositions) {
  const Form form = {.name = ""};
  ExportedProgram replaced = Step(form).build();
  replace_attention(replaced);
  to_edge(replaced);
  EXPECT_ANY_THROW(evaluate(replaced, inputs_of(form, -1)));
  EXPECT_ANY_THROW(evaluate(replaced, inputs_of(form, kLength)));
}

}  // namespace
}  // namespace vitrine::aot

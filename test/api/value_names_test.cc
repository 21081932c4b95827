#include "api/value_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/support/corpus.h"
#include "test/support/results.h"
#include "vitrine/module.h"

namespace vitrine {
namespace {

using testing::ElementsAre;

// Trees in the format of torch.utils._pytree.treespec_dumps.
const std::string kLeaf = R"({"type": null, "context": null, "children_spec": []})";

std::string node(const std::string& type, const std::string& context,
                 const std::vector<std::string>& children) {
  std::string text =
      R"({"type": ")" + type + R"(", "context": )" + context + R"(, "children_spec": [)";
  for (size_t i = 0; i < children.size(); ++i) text += (i == 0 ? "" : ", ") + children[i];
  return text + "]}";
}
std::string tuple(const std::vector<std::string>& children) {
  return node("builtins.tuple", R"("null")", children);
}
std::string dict(const std::string& keys, const std::vector<std::string>& children) {
  return node("builtins.dict", '"' + keys + '"', children);
}

std::vector<std::string> names_in(const std::string& tree, size_t count) {
  const ValueNames names = test::require(ValueNames::of_tree(tree, count));
  std::vector<std::string> list;
  for (size_t i = 0; i < count; ++i) list.emplace_back(names.at(i));
  return list;
}
std::vector<std::string> names_of(const std::string& root, size_t count) {
  return names_in("[1, " + root + "]", count);
}

TEST(ValueNames, AreTheKeysOfKeywordArguments) {
  const std::string arguments =
      tuple({tuple({kLeaf}), dict(R"([\"mask\", \"state\"])", {kLeaf, tuple({kLeaf, kLeaf})})});
  EXPECT_THAT(names_of(arguments, 4), ElementsAre("", "mask", "state[0]", "state[1]"));
}

TEST(ValueNames, ContainThePathFromTheFirstKey) {
  const std::string inner = dict(R"([\"k\", \"v\"])", {tuple({kLeaf}), kLeaf});
  const std::string outer = tuple({tuple({kLeaf, dict(R"([\"past\"])", {inner})}), dict("[]", {})});
  EXPECT_THAT(names_of(outer, 3), ElementsAre("", "past.k[0]", "past.v"));
  EXPECT_THAT(names_of(dict("[7, 9]", {kLeaf, kLeaf}), 2), ElementsAre("[7]", "[9]"));
}

TEST(ValueNames, UseTheKeysOfANodeIfTheirCountMatchesTheChildren) {
  EXPECT_THAT(names_of(node("collections.OrderedDict", R"("[\"a\"]")", {kLeaf}), 1),
              ElementsAre("a"));
  EXPECT_THAT(
      names_of(node("collections.defaultdict",
                    R"({"default_factory_module": "builtins", "dict_context": ["b"]})", {kLeaf}),
               1),
      ElementsAre("b"));
  EXPECT_THAT(names_of(node("a.user.Type", R"("[\"a\", \"b\"]")", {kLeaf}), 1), ElementsAre(""));
  EXPECT_THAT(names_of(node("collections.deque", R"("3")", {kLeaf}), 1), ElementsAre(""));
}

// Keys are escaped twice: in the JSON list of the context, and again in the JSON of the tree.
TEST(ValueNames, DecodeEscapeSequences) {
  EXPECT_THAT(
      names_of(dict(R"([\"\\u00e9\\ud83d\\ude00\", \"a\\\"b\\\\c\\n\"])", {kLeaf, kLeaf}), 2),
      ElementsAre("\u00e9\U0001F600", "a\"b\\c\n"));
}

TEST(ValueNames, AreEmptyIfTheTreeOrTheCountIsInvalid) {
  const std::string named = dict(R"([\"a\"])", {kLeaf});
  ASSERT_THAT(names_of(named, 1), ElementsAre("a"));
  EXPECT_THAT(names_of(named, 2), ElementsAre("", ""));
  EXPECT_THAT(names_of("T1#1($)", 1), ElementsAre(""));
  EXPECT_THAT(names_in("[2, " + named + "]", 1), ElementsAre(""));
  const std::string whole = "[1, " + named + "]";
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THAT(names_in(whole.substr(0, length), 1), ElementsAre("")) << length;
  }
}

TEST(ValueNames, AreLimitedInLength) {
  const std::string key(100, 'k');
  const std::string short_one = dict(R"([\")" + key + R"(\"])", {kLeaf});
  EXPECT_THAT(names_of(short_one, 1), ElementsAre(key));
  EXPECT_THAT(names_of(dict(R"([\")" + key + R"(\", \"b\"])", {short_one, kLeaf}), 2),
              ElementsAre("", "b"));
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += R"({"type": "x", "context": "", "children_spec": [)";
  EXPECT_THAT(names_of(deep, 1), ElementsAre(""));
  EXPECT_THAT(names_of(dict("[" + std::string(100000, '['), {kLeaf}), 1), ElementsAre(""));
}

// A tree: a root with this context, then `num_tuples` nested tuples, and one leaf in the innermost.
std::string deep_tree(const std::string& context, int num_tuples) {
  std::string tree = kLeaf;
  for (int i = 0; i < num_tuples; ++i) tree = tuple({tree});
  return node("a.user.Type", context, {tree});
}

// Trees may have at most 32 levels below the root. Each level of a tree takes two levels of nesting
// in the JSON text.
TEST(ValueNames, AreEmptyForTreesWithMoreThan32Levels) {
  for (int num_tuples = 10; num_tuples <= 34; ++num_tuples) {
    std::string path = "a";
    for (int i = 0; i < num_tuples; ++i) path += "[0]";
    if (num_tuples + 1 > 32) path.clear();
    EXPECT_THAT(names_of(deep_tree(R"("[\"a\"]")", num_tuples), 1), ElementsAre(path));
    EXPECT_THAT(names_of(deep_tree(R"("[]")", num_tuples), 1), ElementsAre(""));
    EXPECT_THAT(names_of(deep_tree(R"("[\"a\", \"b\"]")", num_tuples), 1), ElementsAre(""));
  }
}

// The JSON of the child exceeds the limit on nesting, so the children of the root cannot be
// counted.
TEST(ValueNames, IgnoreKeysIfChildrenCannotBeCounted) {
  std::string deep = "null";
  for (int i = 0; i < 100; ++i) deep = "[" + deep + "]";
  const std::string child = R"({"type": null, "context": )" + deep + R"(, "children_spec": []})";
  for (const char* context : {R"("[]")", R"("[\"a\"]")"}) {
    EXPECT_THAT(names_of(node("a.user.Type", context, {child}), 1), ElementsAre(""));
  }
}

std::vector<std::string> names_in_file(const std::string& path, bool inputs) {
  auto module = test::require(Module::load(path.c_str()));
  const MethodMeta meta = test::require(module.method_meta("forward"));
  std::vector<std::string> names;
  for (size_t i = 0; i < (inputs ? meta.num_inputs() : meta.num_outputs()); ++i) {
    names.emplace_back(
        *(inputs ? module.input_name("forward", i) : module.output_name("forward", i)));
  }
  return names;
}

// ExecuTorch wrote these programs.
TEST(ValueNames, AreReadFromPrograms) {
  const std::string language_model = test::sample("kjv_8da4w/model.pte");
  EXPECT_THAT(names_in_file(language_model, true), ElementsAre("", "input_pos"));
  EXPECT_THAT(names_in_file(language_model, false), ElementsAre(""));
  auto module = test::require(Module::load(language_model.c_str()));
  EXPECT_EQ(*module.input_name("forward", 7), "");
  EXPECT_EQ(module.input_name("backward", 0).error().code(), ErrorCode::kInvalidArgument);
}

TEST(ValueNames, AreReadFromCorpusPrograms) {
  VITRINE_CORPUS_CASE(folder, "compat");
  for (const char* release : {"v0.5.0", "v0.6.0", "v0.7.0"}) {
    const std::string model = folder / release / "pt2_dict_io/model.pte";
    EXPECT_THAT(names_in_file(model, true), ElementsAre("a", "b[0]", "b[1]")) << model;
    EXPECT_THAT(names_in_file(model, false), ElementsAre("sum", "pair[0]", "pair[1]", "none"))
        << model;
  }
}

}  // namespace
}  // namespace vitrine

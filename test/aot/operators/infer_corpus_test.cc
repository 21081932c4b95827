// Compares inferred results with those that PyTorch recorded in exported programs.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "aot/graph/aot_error.h"
#include "aot/import/pt2.h"
#include "aot/operators/infer.h"
#include "aot/operators/strides.h"
#include "test/support/corpus.h"

namespace vitrine::aot {
namespace {

enum class Verdict { kSame, kOtherStrides, kDifferent };

Verdict compare(const Value& a, const Value& b) {
  if (const Value::Items* items = b.items()) {
    if (a.items() == nullptr || a.items()->size() < items->size()) return Verdict::kDifferent;
    Verdict worst = Verdict::kSame;
    for (size_t i = 0; i < items->size(); ++i) {
      if ((*items)[i].tensor() == nullptr) continue;  // unused results are not recorded
      worst = std::max(worst, compare((*a.items())[i], (*items)[i]));
    }
    return worst;
  }
  const TensorSpec* ours = a.tensor();
  const TensorSpec* theirs = b.tensor();
  if (ours == nullptr || theirs == nullptr) return Verdict::kDifferent;
  if (ours->dtype != theirs->dtype || !same(ours->sizes, theirs->sizes)) return Verdict::kDifferent;
  for (size_t i = 0; i < ours->rank(); ++i) {
    if (!(ours->sizes[i] == SymInt(1)) && !same(ours->strides[i], theirs->strides[i])) {
      return Verdict::kOtherStrides;
    }
  }
  return Verdict::kSame;
}

std::string text(const Value& value) {
  std::string made;
  if (const TensorSpec* spec = value.tensor()) {
    made = to_text(*spec) + " strides";
    for (const SymInt& stride : spec->strides) made += " " + to_text(stride);
  } else if (const Value::Items* items = value.items()) {
    for (const Value& item : *items) made += "(" + text(item) + ") ";
  }
  return made;
}

TEST(InferCorpus, MatchesResultsRecordedByPyTorch) {
  VITRINE_NEEDS_CORPUS();
  size_t known = 0;
  size_t other_strides = 0;
  std::map<std::string, size_t> unknown;
  for (const std::filesystem::path& file : test::files_below(test::corpus_dir(), ".pt2")) {
    SCOPED_TRACE(file.string());
    ExportedProgram program = import_pt2(file);
    for (const Node& node : program.graph->nodes()) {
      if (!node.is_call() || node.target() == getitem()) continue;
      if (node.tensor() == nullptr && node.meta.value.items() == nullptr) continue;
      const bool is_mask =
          node.target().is("aten.index.Tensor") &&
          std::ranges::any_of(node.inputs(), [](const Node* input) {
            return input->tensor() != nullptr && input->tensor()->dtype == ScalarType::kBool;
          });
      if (!can_infer(node.target()) || is_mask) {
        ++unknown[node.target().name()];
        continue;
      }
      ++known;
      try {
        const Value found = infer(node.target(), node.args(), node.kwargs());
        const Verdict verdict = compare(found, node.meta.value);
        if (verdict == Verdict::kOtherStrides) {
          ++other_strides;
          std::printf("%s %s: %s, PyTorch: %s\n", file.parent_path().filename().c_str(),
                      node.target().name().c_str(), text(found).c_str(),
                      text(node.meta.value).c_str());
        }
        EXPECT_NE(verdict, Verdict::kDifferent)
            << node.name() << " = " << node.target().name() << ": " << text(found) << ", not "
            << text(node.meta.value);
      } catch (const AotError& error) {
        ADD_FAILURE() << node.name() << ": " << error.what();
      }
    }
  }
  for (const auto& [name, count] : unknown)
    std::printf("cannot infer: %s, %zu times\n", name.c_str(), count);
  std::printf("%zu calls have PyTorch's shapes; %zu of these have other strides\n", known,
              other_strides);
  EXPECT_GE(known, 5500U);
  EXPECT_EQ(other_strides, 0U);
}

}  // namespace
}  // namespace vitrine::aot

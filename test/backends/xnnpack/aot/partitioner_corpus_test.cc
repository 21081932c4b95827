// What is delegated, against the counts of ExecuTorch's own lowering.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "aot/graph/aot_error.h"
#include "test/backends/xnnpack/aot/corpus_cases.h"

namespace vitrine::aot::test {
namespace {

struct Counts {
  int delegated = 0;
  int rest = 0;
  friend bool operator==(const Counts&, const Counts&) = default;
};
using CountsByOp = std::map<std::string, Counts>;

CountsByOp read_counts(const std::filesystem::path& file) {
  CountsByOp counts;
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  while (std::getline(stream, line)) {
    std::istringstream cells(line);
    std::string op, delegated, rest;
    std::getline(cells, op, ',');
    std::getline(cells, delegated, ',');
    std::getline(cells, rest, ',');
    if (op != "Total") counts[op] = {std::stoi(delegated), std::stoi(rest)};
  }
  return counts;
}

std::string op_type(const Node& node) {
  std::string name = node.name();
  const size_t line = name.rfind('_');
  if (line != std::string::npos && line + 1 < name.size() &&
      name.find_first_not_of("0123456789", line + 1) == std::string::npos) {
    name.resize(line);
  }
  return name;
}

// As lowering would leave it: each result of a partition is a getitem of its call.
CountsByOp count(const ExportedProgram& program) {
  CountsByOp counts;
  for (const Node& node : program.graph->nodes()) {
    if (!node.is_call()) continue;
    const std::string& tag = node.meta.delegation_tag;
    Counts& of_op = counts[op_type(node)];
    (tag.empty() ? of_op.rest : of_op.delegated) += 1;
    if (tag.empty()) continue;
    for (const Node* user : node.users()) {
      if (user->meta.delegation_tag == tag) continue;
      counts["getitem"].rest += 1;
      break;
    }
  }
  return counts;
}

std::string text(const CountsByOp& counts) {
  std::string all;
  for (const auto& [op, of_op] : counts) {
    all += op + "," + std::to_string(of_op.delegated) + "," + std::to_string(of_op.rest) + "\n";
  }
  return all;
}

TEST(XnnpackPartitionerCorpus, DelegatesWhatExecuTorchDelegates) {
  const std::vector<XnnpackCase> cases = xnnpack_cases();
  if (cases.empty()) GTEST_SKIP() << "needs the corpus of real programs";
  size_t same = 0;
  for (const XnnpackCase& each : cases) {
    SCOPED_TRACE(each.exported.string());
    try {
      const auto partitioners = partitioners_of(each);
      ExportedProgram program = edge_program(each, partitioners);
      size_t number = 0;
      std::set<std::string> tags;
      for (const auto& partitioner : partitioners) {
        std::map<const Node*, std::string> before;
        for (Node& node : program.graph->nodes()) {
          before[&node] = node.meta.delegation_tag;
          node.meta.delegation_tag.clear();
        }
        const PartitionResult result = partitioner->partition(program);
        // A call in an earlier partition stays there.
        for (Node& node : program.graph->nodes()) {
          std::string& tag = node.meta.delegation_tag;
          if (!tag.empty()) tag = std::to_string(number) + tag;
          if (!before[&node].empty()) tag = before[&node];
          if (node.is_call() && !tag.empty()) tags.insert(tag);
        }
        ++number;
        for (const Rejection& rejection : result.rejections) {
          EXPECT_FALSE(rejection.rule.empty()) << rejection.node->name();
        }
      }
      CountsByOp found = count(program);
      const CountsByOp expected = read_counts(each.counts);
      EXPECT_EQ(text(found), text(expected));
      same += found == expected ? 1 : 0;
    } catch (const AotError& error) {
      ADD_FAILURE() << error.what();
    }
  }
  std::printf("%zu of %zu programs are delegated as ExecuTorch does\n", same, cases.size());
}

}  // namespace
}  // namespace vitrine::aot::test

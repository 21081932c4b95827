// A partitioner that reproduces the delegates of a printed lowered graph (delegated_graph.txt).
#pragma once

#include <set>
#include <string>
#include <vector>

#include "test/aot/lowering/program_builder.h"

namespace vitrine::aot::test {

struct PrintedDelegate {
  std::string backend_id;
  std::set<std::string> calls;    // node names in the graph before lowering
  std::set<std::string> weights;  // placeholders that are not inputs of the delegate
};

// Parses the delegates, in the order of the text.
std::vector<PrintedDelegate> printed_delegates(const std::string& text);

class PrintedPartitioner final : public Partitioner {
 public:
  explicit PrintedPartitioner(std::vector<PrintedDelegate> delegates)
      : delegates_(std::move(delegates)) {}
  PartitionResult partition(ExportedProgram& program) const override;

 private:
  std::vector<PrintedDelegate> delegates_;
};

}  // namespace vitrine::aot::test

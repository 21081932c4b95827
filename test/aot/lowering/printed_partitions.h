// A partitioner that takes what a printed lowered graph (delegated_graph.txt) has inside delegates.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "aot/lowering/partitioner.h"

namespace vitrine::aot::test {

struct PrintedDelegate {
  std::string backend_id;
  std::set<std::string> calls;    // names of nodes of the graph before it was lowered
  std::set<std::string> weights;  // placeholders that the delegate is not given from outside
};

// In the order of the print.
std::vector<PrintedDelegate> printed_delegates(const std::string& text);

// A backend with a name and without payloads.
class EmptyBackend final : public Backend {
 public:
  explicit EmptyBackend(std::string id) : id_(std::move(id)) {}
  std::string id() const override { return id_; }
  PreprocessResult preprocess(ExportedProgram&, std::span<const CompileSpec>) const override {
    return {};
  }

 private:
  std::string id_;
};

class PrintedPartitioner final : public Partitioner {
 public:
  explicit PrintedPartitioner(std::vector<PrintedDelegate> delegates)
      : delegates_(std::move(delegates)) {}
  PartitionResult partition(ExportedProgram& program) const override;

 private:
  std::vector<PrintedDelegate> delegates_;
};

}  // namespace vitrine::aot::test

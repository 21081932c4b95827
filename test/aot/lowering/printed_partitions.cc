#include "test/aot/lowering/printed_partitions.h"

#include <fmt/format.h>

#include <sstream>

namespace vitrine::aot::test {
namespace {

std::string node_name(const std::string& line) {
  const size_t begin = line.find('%') + 1;
  return line.substr(begin, line.find(' ', begin) - begin);
}

}  // namespace

std::vector<PrintedDelegate> printed_delegates(const std::string& text) {
  constexpr std::string_view kBackend = "    backend_id: ";
  std::vector<PrintedDelegate> delegates;
  std::vector<std::string> names;  // names of the lowered modules
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (line.find("%lowered_module_") == 2) names.push_back(node_name(line));
    if (line.starts_with(kBackend)) {
      delegates.push_back({line.substr(kBackend.size()), {}, {}});
    } else if (line.starts_with("      %")) {
      const bool is_input = line.find("= placeholder[") != std::string::npos;
      (is_input ? delegates.back().weights : delegates.back().calls).insert(node_name(line));
    } else if (line.starts_with("  %executorch_call_delegate")) {
      // A user input is not a weight, even if it has the name of a weight.
      const size_t begin = line.find("(args = (%") + 10;
      std::string args = line.substr(begin, line.find("), kwargs") - begin);
      const std::string name = args.substr(0, args.find_first_of(",)"));
      for (size_t i = 0; i < names.size(); ++i) {
        if (names[i] != name) continue;
        std::erase_if(delegates[i].weights, [&](const std::string& weight) {
          return (args + ",").find("%" + weight + ",") != std::string::npos;
        });
      }
    }
  }
  return delegates;
}

PartitionResult PrintedPartitioner::partition(ExportedProgram& program) const {
  PartitionResult result;
  for (size_t i = 0; i < delegates_.size(); ++i) {
    // The capability-based partitioner numbers partitions from the end of the graph.
    const std::string tag = fmt::format("tag{}", delegates_.size() - i);
    const PrintedDelegate& delegate = delegates_[i];
    result.tags[tag] = {std::make_shared<NamedBackend>(delegate.backend_id), {}};
    for (Node& node : program.graph->nodes()) {
      if (node.is_call() && delegate.calls.contains(node.name())) node.meta.delegation_tag = tag;
      const InputSpec* spec =
          node.kind() == Node::Kind::kPlaceholder ? program.input_of(node.name()) : nullptr;
      if (spec != nullptr && has_data(spec->kind) && delegate.weights.contains(node.name())) {
        node.meta.delegation_tag = tag;
      }
    }
  }
  return result;
}

}  // namespace vitrine::aot::test

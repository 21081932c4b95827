// Compares the join with an independent reference: corpus/*/xnn_nodes.json contains the source ops
// and modules of the debug handle of every node of every XNNPACK payload.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "formats/etdump/etdump_reader.h"
#include "formats/etrecord/etrecord.h"
#include "inspector/join/source_join.h"
#include "inspector/join/trace_rows.h"
#include "test/support/corpus.h"
#include "test/support/joined_profile.h"
#include "test/support/read_json.h"
#include "test/support/trace_builder.h"

namespace vitrine::inspector {
namespace {

using etrecord::DebugHandle;
using etrecord::EtRecord;
using etrecord::MethodRecord;
using nlohmann::json;
using test::TraceBuilder;

constexpr int kInserted = 65535;
constexpr size_t kRuns = 2;

// Ways in which the backend can run the nodes of a payload.
enum class Execution {
  kNoOperatorMap,
  kPlain,   // each node is an operator
  kFused,   // XNNPACK fuses clamps into the previous operator
  kElided,  // XNNPACK drops clamps
};

struct ExpectedRow {
  int32_t instruction;
  json node;  // from xnn_nodes.json
};

struct TraceCase {
  etdump::EtDump dump;
  std::vector<ExpectedRow> rows;  // rows of delegates, in run order
};

bool is_clamp(const json& node) { return node.at("type") == "XNNClamp"; }

std::vector<int32_t> delegate_instructions(const MethodRecord& method) {
  std::vector<int32_t> instructions;
  for (const auto& [instruction, entry] : method.delegates) instructions.push_back(instruction);
  return instructions;
}

// Maps instructions to kernel names, from ExecuTorch's trace in the folder. Returns an empty map if
// the folder does not have a trace.
std::map<int32_t, std::string> kernels_of(const std::filesystem::path& folder) {
  std::map<int32_t, std::string> kernels;
  const auto file = folder / "etdump.etdp";
  if (!std::filesystem::exists(file)) return kernels;
  constexpr std::string_view kPrefix = "native_call_";
  const etdump::EtDump dump = etdump::read_etdump(file);
  for (const etdump::Block& block : dump.blocks) {
    for (const etdump::ProfileEvent& event : block.profile_events) {
      if (!event.name.starts_with(kPrefix)) continue;
      kernels[event.instruction_id] = "aten::" + std::string(event.name.substr(kPrefix.size()));
    }
  }
  return kernels;
}

TraceCase make_case(const json& delegates, const std::vector<int32_t>& instructions,
                    const std::map<int32_t, std::string>& kernels, Execution execution) {
  TraceCase result;
  TraceBuilder trace;
  std::map<int32_t, std::vector<TraceBuilder::Operator>> operators;
  for (const json& delegate : delegates) {
    const int32_t instruction = instructions.at(delegate.at("delegate_index").get<size_t>());
    std::string map = "xnnpack-plan 1 measured\n";
    const json& nodes = delegate.at("nodes");
    size_t op = 0;
    for (size_t i = 0; i < nodes.size(); ++i) {
      const int handle = nodes[i].at("debug_handle");
      map += std::to_string(i) + " " + nodes[i].at("type").get<std::string>() + " " +
             std::to_string(handle);
      if (op > 0 && is_clamp(nodes[i]) && execution == Execution::kFused) {
        map += " in=" + std::to_string(op - 1) + " -\n";
      } else if (op > 0 && is_clamp(nodes[i]) && execution == Execution::kElided) {
        map += " none -\n";
      } else {
        map += " op=" + std::to_string(op++) + " -\n";
        operators[instruction].push_back({.id = handle, .metadata = "K", .ns = 10 + i});
        result.rows.push_back({instruction, nodes[i]});
      }
    }
    if (execution != Execution::kNoOperatorMap) trace.operator_map(instruction, map);
  }
  for (size_t run = 0; run < kRuns; ++run) {
    auto kernel = kernels.begin();
    for (const auto& [instruction, its_operators] : operators) {
      for (; kernel != kernels.end() && kernel->first < instruction; ++kernel) {
        trace.kernel(kernel->first, kernel->second, 7);
      }
      trace.delegate(instruction, "XnnpackBackend", its_operators);
    }
    for (; kernel != kernels.end(); ++kernel) trace.kernel(kernel->first, kernel->second, 7);
    trace.end_run();
  }
  result.dump = trace.dump();
  return result;
}

std::vector<std::string> texts(const json& sources, const char* field) {
  std::vector<std::string> texts;
  for (const json& source : sources) texts.push_back(source.at(field));
  return texts;
}

void expect_rows_of_reference(const Profile& profile, const TraceCase& expected) {
  EXPECT_THAT(profile.notes, testing::IsEmpty());
  std::vector<const ProfileRow*> rows;
  for (const ProfileRow& row : profile.rows) {
    if (row.where == Where::kDelegate) rows.push_back(&row);
  }
  ASSERT_EQ(rows.size(), expected.rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const json& node = expected.rows[i].node;
    EXPECT_EQ(rows[i]->instruction, expected.rows[i].instruction);
    EXPECT_EQ(rows[i]->source_ops, texts(node.at("source"), "target"));
    EXPECT_EQ(rows[i]->modules, texts(node.at("source"), "module"));
    EXPECT_EQ(rows[i]->join, Join::kExact);
    EXPECT_DOUBLE_EQ(rows[i]->calls, 1);
    const bool is_inserted = node.at("debug_handle") == kInserted;
    EXPECT_EQ(rows[i]->is_inserted, is_inserted);
    EXPECT_EQ(rows[i]->folded_ops.size(), rows[i]->folded_modules.size());
    if (is_inserted) {
      ASSERT_TRUE(rows[i]->inserted_for_row.has_value());
      const ProfileRow& served = profile.rows.at(*rows[i]->inserted_for_row - 1);
      EXPECT_EQ(served.instruction, rows[i]->instruction);
      EXPECT_FALSE(served.is_inserted);
      EXPECT_EQ(rows[i]->inserted_for, served.source_ops);
      EXPECT_THAT(rows[i]->folded_ops, testing::IsEmpty());
    } else {
      EXPECT_EQ(rows[i]->debug_handles.at(0), node.at("debug_handle").get<DebugHandle>());
    }
  }
}

// Checks every delegated op: it must be a source op of a row, or it must be folded into exactly one
// row. This row must belong to a call that contains the op.
void expect_every_op_once(const MergedTrace& trace, const MethodRecord& method) {
  const SourceJoin join = join_sources(trace, &method, test::known_delegates());
  std::map<size_t, size_t> own, folded;
  for (size_t i = 0; i < join.rows.size(); ++i) {
    for (const size_t node : join.rows[i].nodes) ++own[node];
    for (const size_t node : join.rows[i].folded_nodes) {
      ++folded[node];
      const auto& taken = method.handles_of_instruction.at(trace.rows[i].instruction.index);
      EXPECT_THAT(taken, testing::Contains(method.graph.nodes[node].debug_handle));
    }
  }
  size_t delegated = 0;
  for (const auto& [instruction, call] : trace.calls) {
    for (const DebugHandle handle : method.handles_of_instruction.at(instruction.index)) {
      const auto nodes = method.graph.nodes_of_handle.find(handle);
      if (nodes == method.graph.nodes_of_handle.end()) continue;
      for (const size_t node : nodes->second) {
        ++delegated;
        if (own.contains(node)) {
          EXPECT_FALSE(folded.contains(node)) << method.graph.nodes[node].name;
        } else {
          EXPECT_EQ(folded[node], 1u) << method.graph.nodes[node].name;
        }
      }
    }
  }
  EXPECT_GT(delegated, 0u);
}

TEST(JoinCorpus, RowsMatchTheIndependentReference) {
  VITRINE_CORPUS_CASE(corpus, "");
  size_t methods = 0;
  for (const std::filesystem::path& file : test::files_below(corpus, "xnn_nodes.json")) {
    const std::filesystem::path folder = file.parent_path();
    if (!std::filesystem::exists(folder / "etrecord.bin")) continue;
    const EtRecord record = etrecord::read_etrecord(folder / "etrecord.bin");
    const json reference = test::read_json(file);
    for (const auto& [name, delegates] : reference.at("methods").items()) {
      if (delegates.empty()) continue;
      ++methods;
      const MethodRecord& method = record.methods.at(name);
      const auto kernels =
          name == "forward" ? kernels_of(folder) : std::map<int32_t, std::string>();
      for (const Execution execution :
           {Execution::kNoOperatorMap, Execution::kPlain, Execution::kFused, Execution::kElided}) {
        SCOPED_TRACE(folder.string() + " " + name + " execution " +
                     std::to_string(static_cast<int>(execution)));
        const TraceCase expected =
            make_case(delegates, delegate_instructions(method), kernels, execution);
        const Profile profile = test::joined_profile(expected.dump, &record, {.method = name});
        expect_rows_of_reference(profile, expected);
        expect_every_op_once(merge_runs(expected.dump, test::known_delegates()), method);
        double sum = profile.unattributed.avg;
        for (const ProfileRow& row : profile.rows) sum += row.time.avg;
        EXPECT_NEAR(sum, profile.wall.avg, 1e-6);
      }
    }
  }
  EXPECT_GE(methods, 18u);
}

Profile profile_of(const std::filesystem::path& folder, Execution execution) {
  const EtRecord record = etrecord::read_etrecord(folder / "etrecord.bin");
  const json reference = test::read_json(folder / "xnn_nodes.json");
  const TraceCase made =
      make_case(reference.at("methods").at("forward"),
                delegate_instructions(record.methods.at("forward")), kernels_of(folder), execution);
  return test::joined_profile(made.dump, &record);
}

// Returns "features.1.conv.0.1" for "features.1.conv.0.0" and offset 1.
std::string sibling(const std::string& module, int offset) {
  const size_t dot = module.rfind('.');
  return module.substr(0, dot + 1) + std::to_string(std::stoi(module.substr(dot + 1)) + offset);
}

// In torchvision's MobileNetV2, the children of Conv2dNormActivation are 0 (convolution), 1 (batch
// norm) and 2 (ReLU6). The projection at the end of a block is a convolution and a batch norm,
// which are consecutive children of the block.
TEST(JoinCorpus, FoldsBatchNormsAndActivationsOfMobileNetIntoConvolutions) {
  VITRINE_CORPUS_CASE(folder, "mv2_xnnpack");
  const Profile profile = profile_of(folder, Execution::kPlain);
  ASSERT_EQ(profile.rows.size(), 67u);
  size_t convolutions = 0, activations = 0;
  for (const ProfileRow& row : profile.rows) {
    if (row.source_ops != std::vector<std::string>{"aten.convolution.default"}) continue;
    ++convolutions;
    std::vector<std::string> ops = {"aten._native_batch_norm_legit_no_training.default"};
    std::vector<std::string> modules = {sibling(row.modules[0], 1)};
    if (row.folded_ops.size() == 2) {
      ++activations;
      ops.push_back("aten.hardtanh.default");
      modules.push_back(sibling(row.modules[0], 2));
    }
    EXPECT_EQ(row.folded_ops, ops) << row.modules[0];
    EXPECT_EQ(row.folded_modules, modules);
  }
  EXPECT_EQ(convolutions, 52u);
  EXPECT_EQ(activations, 35u) << "17 blocks end in a projection without activation";
}

TEST(JoinCorpus, FoldsOpsOnlyWithinTheSameDelegateCall) {
  VITRINE_CORPUS_CASE(folder, "mlp_dynq");
  const Profile profile = profile_of(folder, Execution::kPlain);
  ASSERT_EQ(profile.rows.size(), 5u);
  // No op in the delegate call produces the input of choose_qparams. The join therefore folds
  // choose_qparams into its user, the quantization.
  for (const size_t i : {0u, 3u}) {
    EXPECT_THAT(profile.rows[i].folded_ops,
                testing::Contains("quantized_decomposed.choose_qparams.tensor"));
  }
  EXPECT_THAT(profile.rows[2].source_ops, testing::ElementsAre("aten.relu.default"));
  EXPECT_THAT(profile.rows[2].folded_ops, testing::IsEmpty());
}

// The demo backend logs integers and has a delegate map. A convolution with a relu is one operator,
// and a tan is three operators (docs/formats/etdump.md, "Joining").
TEST(JoinCorpus, UsesTheDelegateMapOfTheDemoBackend) {
  VITRINE_CORPUS_CASE(corpus, "");
  for (const char* name : {"conv_relu_tan", "compat/v0.5.0/conv_relu_tan"}) {
    SCOPED_TRACE(name);
    const EtRecord record = etrecord::read_etrecord(corpus / name / "etrecord.bin");
    TraceBuilder trace;
    std::vector<TraceBuilder::Operator> operators;
    for (int32_t id = 0; id < 5; ++id) operators.push_back({.id = id, .ns = 5});
    trace.delegate(0, "BackendWithDelegateMappingDemo", operators);
    const Profile profile = test::joined_profile(trace.dump(), &record);
    ASSERT_EQ(profile.rows.size(), 5u);
    for (size_t i = 0; i < 5; ++i) {
      EXPECT_EQ(profile.rows[i].source_ops,
                i < 2 ? (std::vector<std::string>{"aten.convolution.default", "aten.relu.default"})
                      : std::vector<std::string>{"aten.tan.default"});
      EXPECT_THAT(profile.rows[i].folded_ops, testing::IsEmpty());
    }
  }
}

// Traces from ExecuTorch have XNNPACK's kernel names but no debug handles. Most of the nodes that
// the join infers must equal the payload's nodes.
TEST(JoinCorpus, InfersOperatorsOfExecuTorchTraces) {
  VITRINE_CORPUS_CASE(corpus, "");
  size_t operators = 0, known = 0, cases = 0;
  for (const std::filesystem::path& trace : test::files_below(corpus, "etdump.etdp")) {
    const std::filesystem::path folder = trace.parent_path();
    if (!std::filesystem::exists(folder / "xnn_nodes.json") ||
        !std::filesystem::exists(folder / "etrecord.bin")) {
      continue;
    }
    SCOPED_TRACE(folder.string());
    const EtRecord record = etrecord::read_etrecord(folder / "etrecord.bin");
    if (!record.methods.contains("forward")) continue;
    ++cases;
    const Profile profile = test::joined_profile(etdump::read_etdump(trace), &record);
    const json reference = test::read_json(folder / "xnn_nodes.json");
    for (const json& delegate : reference.at("methods").at("forward")) {
      std::vector<int> nodes;
      for (const json& node : delegate.at("nodes")) nodes.push_back(node.at("debug_handle"));
      std::vector<const ProfileRow*> rows;
      for (const ProfileRow& row : profile.rows) {
        if (row.where == Where::kDelegate && row.partition == delegate.at("delegate_index")) {
          rows.push_back(&row);
        }
      }
      operators += rows.size();
      // The handles of the rows are, in order, the handles of the nodes that were not fused or
      // elided.
      size_t at = 0;
      for (const ProfileRow* row : rows) {
        EXPECT_EQ(row->join, Join::kInferred);
        const int handle = row->is_inserted           ? kInserted
                           : row->has_all_ops_of_call ? -1
                                                      : static_cast<int>(row->debug_handles.at(0));
        size_t found = at;
        while (found < nodes.size() && nodes[found] != handle) ++found;
        if (found == nodes.size()) continue;
        ++known;
        at = found + 1;
      }
    }
  }
  EXPECT_GE(cases, 15u);
  EXPECT_GE(operators, 199u);
  RecordProperty("inferred", std::to_string(known) + " of " + std::to_string(operators));
  EXPECT_GE(known, 189u)
      << "the others are reshapes and transpositions that cannot be distinguished";
}

TEST(JoinCorpus, JoinsTheRowsOfExecuTorchTraces) {
  VITRINE_CORPUS_CASE(corpus, "");
  size_t traces = 0;
  for (const std::filesystem::path& trace : test::files_below(corpus, "etdump.etdp")) {
    SCOPED_TRACE(trace.string());
    const auto file = trace.parent_path() / "etrecord.bin";
    const etdump::EtDump dump = etdump::read_etdump(trace);
    EtRecord record;
    if (std::filesystem::exists(file)) record = etrecord::read_etrecord(file);
    const bool is_joined = record.methods.contains("forward");
    const Profile profile = test::joined_profile(dump, is_joined ? &record : nullptr);
    ++traces;
    EXPECT_EQ(profile.runs, 3u);
    EXPECT_THAT(profile.notes, testing::Not(testing::Contains(testing::HasSubstr("this program"))));
    for (const ProfileRow& row : profile.rows) {
      if (row.where == Where::kDelegate) {
        EXPECT_EQ(row.join, is_joined ? Join::kInferred : Join::kNone) << row.kernel;
      }
      if (row.where != Where::kKernel || !is_joined) continue;
      // The edge program does not contain a node for copy_, which writes back a mutated buffer.
      EXPECT_EQ(row.join, row.kernel == "copy_" ? Join::kInferred : Join::kExact) << row.kernel;
      EXPECT_FALSE(row.source_ops.empty()) << row.kernel;
    }
  }
  EXPECT_GE(traces, 30u);
}

}  // namespace
}  // namespace vitrine::inspector

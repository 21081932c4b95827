// Compares the operator maps of real payloads with the nodes that an independent reader found in
// the same payloads.

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "backends/xnnpack/runtime/reader/node_definition.h"
#include "runtime/program/program_access.h"
#include "test/backends/xnnpack/delegate_fixture.h"
#include "test/support/corpus.h"
#include "test/support/f16_products.h"
#include "test/support/results.h"
#include "vitrine/program.h"

namespace vitrine::test {
namespace {

struct OperatorMapLine {
  std::string type;
  uint32_t handle;
  std::string where;
  std::string serves;
};

std::vector<OperatorMapLine> parse_operator_map(const TraceRecord& record) {
  std::istringstream text(std::string(record.metadata, record.metadata_size));
  std::string line;
  std::getline(text, line);
  EXPECT_EQ(line, operator_map_head());
  std::vector<OperatorMapLine> operator_map;
  size_t index;
  OperatorMapLine entry;
  while (text >> index >> entry.type >> entry.handle >> entry.where >> entry.serves) {
    EXPECT_EQ(index, operator_map.size());
    operator_map.push_back(entry);
  }
  return operator_map;
}

class CorpusTest : public DelegateTest, public testing::WithParamInterface<const char*> {
 protected:
  void check_delegate(const Program& program,
                      const schema::program::BackendDelegate& delegate_table,
                      const nlohmann::json& expected) {
    const DataBuffer payload =
        require(ProgramAccess::payload(program, *delegate_table.processed()));
    RecordingTracer recorded;
    tracer = &recorded;
    named_data = &program.named_data();
    const Result<std::unique_ptr<Delegate>> loaded = init(payload.bytes());
    if (!loaded.ok() && test::lacks_f16_products(loaded.error())) {
      GTEST_SKIP() << "this processor lacks f16 arithmetic: " << loaded.error().message();
    }
    ASSERT_TRUE(loaded.ok()) << loaded.error().message();
    ASSERT_EQ(recorded.records.size(), 1u);
    const std::vector<OperatorMapLine> operator_map = parse_operator_map(recorded.records[0]);
    const nlohmann::json& nodes = expected.at("nodes");
    ASSERT_EQ(operator_map.size(), nodes.size());
    const bool is_empty = std::ranges::all_of(
        operator_map, [](const OperatorMapLine& line) { return line.where == "none"; });
    if (is_empty && !xnnpack::operator_times_are_measured() && !xnnpack::fusion_confuses_bounds()) {
      GTEST_SKIP() << "without the private headers of the pin `upstream`, the backend cannot tell "
                      "which nodes of this model XNNPACK fuses (docs/dependencies.md)";
    }
    size_t next_op = 0;
    for (size_t i = 0; i < operator_map.size(); ++i) {
      EXPECT_EQ("XNN" + operator_map[i].type, nodes[i].at("type").get<std::string>()) << i;
      EXPECT_EQ(operator_map[i].handle, nodes[i].at("debug_handle").get<uint32_t>()) << i;
      EXPECT_NE(operator_map[i].where, "none") << i;
      EXPECT_EQ(operator_map[i].handle == 65535, operator_map[i].serves != "-") << i;
      if (operator_map[i].where.starts_with("op=")) {
        const size_t op = std::stoul(operator_map[i].where.substr(3));
        EXPECT_GE(op, next_op) << i;
        next_op = op + 1;
      }
    }
  }
};

TEST_P(CorpusTest, OperatorMapsListAllNodes) {
  VITRINE_CORPUS_CASE(folder, GetParam());
  const nlohmann::json expected = nlohmann::json::parse(std::ifstream(folder / "xnn_nodes.json"));
  const auto program = require(Program::load(require(map_file((folder / "model.pte").c_str()))));
  size_t checked = 0;
  for (const auto* plan : *ProgramAccess::root(*program).execution_plan()) {
    for (const nlohmann::json& delegate_nodes : expected.at("methods").at(plan->name()->str())) {
      const auto index = delegate_nodes.at("delegate_index").get<uint32_t>();
      check_delegate(*program, *plan->delegates()->Get(index), delegate_nodes);
      ++checked;
    }
  }
  EXPECT_GT(checked, 0u);
}

INSTANTIATE_TEST_SUITE_P(
    All, CorpusTest,
    testing::Values("bundled_linear_relu", "channels_last_conv", "conv_relu_tan_xnnpack",
                    "digits_xnnpack", "digits_xnnpack_q8", "dynamic_batch_xnnpack",
                    "encoder_layer_sdpa", "f16_conv", "kv_cache_xnnpack", "linear_relu", "mlp_dynq",
                    "multi_method", "multi_method_shared_xnnpack", "mv2_025_xnnpack", "mv2_xnnpack",
                    "mv2_xnnpack_q8", "softmax_layernorm_attention", "split_concat_pool"),
    [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace vitrine::test

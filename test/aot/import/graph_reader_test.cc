#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "aot/import/pt2.h"
#include "test/aot/import/pt2_writer.h"

namespace vitrine::aot {
namespace {

using nlohmann::json;

TEST(GraphReader, UnnamedNodesAvoidNamesOfLaterSymbolicValues) {
  const std::pair<const char*, const char*> kinds[] = {{"as_sym_int", "sym_int_values"},
                                                       {"as_sym_float", "sym_float_values"},
                                                       {"as_sym_bool", "sym_bool_values"}};
  for (const auto& [kind, values] : kinds) {
    SCOPED_TRACE(kind);
    json program = json::parse(test::small_program_json());
    json& graph = program["graph_module"]["graph"];
    graph[values]["later"] = {{"as_int", 1}};
    json unnamed = graph["nodes"][0];
    unnamed["name"] = "later";
    unnamed["outputs"] = json::array();
    json number = unnamed;
    number["outputs"] = json::array({{{kind, {{"as_name", "later"}}}}});
    graph["nodes"].insert(graph["nodes"].begin(), {unnamed, number});
    const std::vector<std::byte> bytes = test::write_zip(test::small_pt2(program.dump()));
    const ExportedProgram imported = parse_pt2(bytes, nullptr, "model.pt2");
    EXPECT_NE(imported.graph->find("later_1"), nullptr);
    ASSERT_NE(imported.graph->find("later"), nullptr);
    EXPECT_NE(imported.graph->find("later")->meta.value.number(), nullptr);
  }
}

}  // namespace
}  // namespace vitrine::aot

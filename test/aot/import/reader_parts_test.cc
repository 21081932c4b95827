// Tests the parts of the reader of .pt2 archives.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "aot/import/expression_parser.h"
#include "aot/import/import_error.h"
#include "aot/import/pt2.h"
#include "test/aot/import/pt2_writer.h"

namespace vitrine::aot {
namespace {

using nlohmann::json;

TEST(ExpressionParser, ReadsSymPyText) {
  EXPECT_EQ(to_text(*parse_expression("Symbol('s77', positive=True, integer=True)")), "s77");
  EXPECT_EQ(
      to_text(*parse_expression("Add(Symbol('s1', positive=True, integer=True), Integer(-1))")),
      "s1 + -1");
  EXPECT_EQ(to_text(*parse_expression("Mul(Integer(2), FloorDiv(Symbol('s1'), Integer(3)))")),
            "2*(s1//3)");
  EXPECT_EQ(to_text(*parse_expression("GreaterThan(Symbol('u0', integer=True), Integer(0))")),
            "u0 >= 0");
  EXPECT_EQ(to_text(*parse_expression("Float('0.5', precision=53)")), "0.5");
}

TEST(ExpressionParser, RejectsInvalidText) {
  std::string deep;
  for (int i = 0; i < 1000; ++i) deep += "Add(";
  for (const std::string& text :
       {std::string(), std::string("s0"), std::string("Symbol("), std::string("Symbol('s0'"),
        std::string("Integer(x)"), std::string("Integer(99999999999999999999)"),
        std::string("Integer(1) "), std::string("Rational(1, 0)"), std::string("__import__('os')"),
        std::string("Add(Integer(1),)"), deep}) {
    if (text == "Integer(1) ") {
      EXPECT_NO_THROW(parse_expression(text));
    } else {
      EXPECT_THROW(parse_expression(text), ImportError) << text;
    }
  }
}

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

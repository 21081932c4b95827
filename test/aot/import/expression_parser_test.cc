#include "aot/import/expression_parser.h"

#include <gtest/gtest.h>

#include <string>

#include "aot/import/import_error.h"

namespace vitrine::aot {
namespace {

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

}  // namespace
}  // namespace vitrine::aot

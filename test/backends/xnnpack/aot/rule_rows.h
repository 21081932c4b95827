// Rows for the tests of delegation rules. Each row builds a call and names the expected reason for
// its rejection.
#pragma once

#include <gmock/gmock.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "backends/xnnpack/aot/rules.h"
#include "test/backends/xnnpack/aot/test_program.h"

namespace vitrine::aot::test {

// Returns the rule that the call breaks, or an empty string if it passes all rules.
inline std::string reason_for_rejection(TestProgram& t, Node* node,
                                        uint8_t precisions = xnnpack::kAnyPrecision) {
  const xnnpack::Parameters parameters(t.program);
  const auto rejection = xnnpack::check({parameters, *node, precisions});
  return rejection ? rejection->rule : "";
}

// `part` is a part of the expected reason, or empty if no reason is expected.
inline void expect_reason(const std::string& reason, const char* part) {
  EXPECT_THAT(reason, testing::HasSubstr(part));
  EXPECT_EQ(reason.empty(), *part == '\0') << reason;
}

using MakeNode = std::function<Node*(TestProgram& t)>;

struct RuleRow {
  const char* name;
  MakeNode make;
  const char* reason;  // a part of the expected reason; empty if the call passes
};

// rules_test.cc defines the test that uses this fixture.
class Rules : public testing::TestWithParam<RuleRow> {};

inline std::string row_name(const testing::TestParamInfo<RuleRow>& info) { return info.param.name; }

inline Node* images(TestProgram& t) { return t.input("x", {1, 4, 8, 8}); }
using Ints = std::vector<int64_t>;
inline const std::vector<int64_t> kOnes = {1, 1};
inline const std::vector<int64_t> kZeros = {0, 0};

// An argument of a row's call: a value, or a function that adds a node to the program.
class RowArgument {
 public:
  RowArgument(MakeNode make)
      : make_([make = std::move(make)](TestProgram& t) { return Argument(make(t)); }) {}
  template <class T>
  requires std::constructible_from<Argument, T> RowArgument(T value)
      : make_([value = std::move(value)](TestProgram&) { return Argument(value); }) {}
  Argument operator()(TestProgram& t) const { return make_(t); }

 private:
  std::function<Argument(TestProgram& t)> make_;
};

inline MakeNode input_of(const char* name, Ints sizes, ScalarType dtype = ScalarType::kFloat) {
  return [=](TestProgram& t) { return t.input(name, sizes, dtype); };
}
inline MakeNode dynamic_input_of(Ints sizes, int64_t max) {
  return [=](TestProgram& t) { return t.dynamic_input("x", sizes, max); };
}
inline MakeNode channels_last_input_of(Ints sizes) {
  return [=](TestProgram& t) { return t.input_in_order("x", sizes, {0, 2, 3, 1}); };
}
inline MakeNode parameter_of(const char* name, Ints sizes) {
  return [=](TestProgram& t) { return t.parameter(name, sizes); };
}
inline const MakeNode kMatrix = matrix;
inline const MakeNode kImages = images;

inline MakeNode call_of(const char* target, std::vector<RowArgument> arguments, Ints sizes,
                        ScalarType dtype = ScalarType::kFloat, ArgumentMap kwargs = {}) {
  return [=](TestProgram& t) {
    ArgumentList list;
    for (const RowArgument& argument : arguments) list.push_back(argument(t));
    return t.call(target, std::move(list), sizes, dtype, kwargs);
  };
}

}  // namespace vitrine::aot::test

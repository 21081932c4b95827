#include "backends/xnnpack/aot/translate.h"

#include <gmock/gmock.h>

#include "aot/graph/aot_error.h"
#include "backends/xnnpack/aot/operator_table.h"
#include "backends/xnnpack/aot/rules.h"
#include "test/backends/xnnpack/aot/delegate_runner.h"
#include "test/support/expect_error.h"

namespace vitrine::aot::test {
namespace {

using testing::ElementsAre;

TEST(Translation, OutputsMayRepeatAndMayBeInputs) {
  TestProgram t;
  Node* x = t.input("x", {3});
  Node* y = t.call("aten.abs.default", {x}, {3});
  t.output({x, y, y});
  EXPECT_THAT(run(*lowered(t), {{-1, 2, -3}}),
              ElementsAre(ElementsAre(-1, 2, -3), ElementsAre(1, 2, 3), ElementsAre(1, 2, 3)));
}

TEST(Translation, ErrorNamesASizeThatIsTooLarge) {
  TestProgram t;
  Node* x = t.dynamic_input("x", {1, 4}, int64_t{1} << 31);
  Node* call = t.call("aten.relu.default", {x}, {1, 4});
  call->meta.value = *x->tensor();
  t.output({call});
  EXPECT_ERROR(AotError, lowered(t),
               "its size s0 may be 2147483648, but sizes in programs must be");
}

TEST(Translation, ErrorNamesANodeWithAnUnsupportedOperator) {
  TestProgram t;
  Node* x = t.input("x", {3});
  t.output({t.call("aten.tan.default", {x}, {3})});
  EXPECT_ERROR(AotError, lowered(t), "aten_tan_default");
}

// Graphs are read from files, so arguments may be missing or have any type.
TEST(Translation, RejectsMissingAndMistypedArguments) {
  const std::vector<ArgumentList> lists = {
      {}, {1, 2, 3}, {"text"}, {Argument(), Argument(), Argument(), Argument(), Argument()}};
  for (const xnnpack::Operator& each : xnnpack::operators()) {
    if (!each.is_delegated()) continue;
    for (const ArgumentList& args : lists) {
      for (const bool has_input : {false, true}) {
        TestProgram t;
        Node* x = t.input("x", {1, 2, 4, 4});
        ArgumentList all = args;
        if (has_input) all.insert(all.begin(), x);
        Node* node = t.call("aten." + std::string(each.op), all, {1, 2, 4, 4});
        t.output({node});
        const xnnpack::Parameters parameters(t.program);
        const bool is_delegated = !xnnpack::check({parameters, *node});
        try {
          lowered(t);
        } catch (const AotError& error) {
          EXPECT_FALSE(is_delegated && has_input && args.empty())
              << each.op << ": " << error.what();
        }
      }
    }
  }
}

}  // namespace
}  // namespace vitrine::aot::test

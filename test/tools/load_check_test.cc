// Tests the check in which pte_lower loads each program with delegates.
#include "tools/pte_lower/load_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/support/corpus.h"
#include "tools/common/tool_error.h"

namespace vitrine::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(LoadCheck, AcceptsProgramsThatLoad) {
  EXPECT_FALSE(tools::check_loading(samples_dir() / "linear_relu/model.pte", {}));
}

TEST(LoadCheck, RefusesADelegateThatDoesNotLoad) {
  EXPECT_THAT([] { tools::check_loading(samples_dir() / "lost_output/model.pte", {}); },
              testing::ThrowsMessage<tools::ToolError>(
                  AllOf(HasSubstr("the program does not load: "), HasSubstr("outputs[1]"),
                        HasSubstr("use --no-load-check"))));
}

}  // namespace
}  // namespace vitrine::test

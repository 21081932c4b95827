#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/architecture/include_rules.h"

namespace vitrine::architecture {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Includes that the table in docs/architecture.md must not allow, directly or indirectly.
struct Ban {
  std::string_view from;
  std::string_view to;
};
constexpr Ban kBans[] = {
    {"runtime/core", "runtime/platform"},
    {"runtime/core", "schema"},
    {"runtime/platform", "runtime/program"},
    {"runtime/program", "runtime/extension"},
    {"runtime/extension", "runtime/program"},
    {"runtime/extension", "runtime/executor"},
    {"runtime/extension", "backends/xnnpack/runtime"},
    {"runtime/extension", "formats"},
    {"runtime/executor", "kernels/portable"},
    {"runtime/executor", "backends/xnnpack/runtime"},
    {"runtime/executor", "formats"},
    {"kernels/portable", "backends/xnnpack/runtime"},
    {"kernels/portable", "kernels/optimized"},
    {"kernels/optimized", "backends/xnnpack/runtime"},
    {"backends/xnnpack/runtime", "runtime/executor"},
    {"backends/xnnpack/runtime", "kernels/portable"},
    {"backends/xnnpack/aot", "runtime/executor"},
    {"inspector/join", "runtime/executor"},
    {"inspector/join", "inspector/report"},
    {"inspector/join", "backends/profiles"},
    {"inspector/join", "backends/xnnpack/runtime"},
    {"inspector/report", "backends/xnnpack/runtime"},
    {"inspector/report", "api"},
    {"backends/xnnpack/runtime", "inspector/join"},
    {"backends/xnnpack/aot", "inspector/join"},
    {"aot/emit", "backends/xnnpack/aot"},
    {"formats", "aot/graph"},
    {"kernels/util", "base"},
    {"aot/pipeline", "backends/xnnpack/aot"},
    {"tools/common", "tools"},
    {"formats", "runtime/executor"},
    {"aot/graph", "aot/passes"},
    {"aot/lowering", "backends/xnnpack/aot"},
    {"tools", "test"},
};

TEST(IncludeRules, TableForbidsListedIncludes) {
  for (const Ban& ban : kBans) {
    ASSERT_EQ(room_of(ban.from)->folder, ban.from);
    ASSERT_EQ(room_of(ban.to)->folder, ban.to);
    EXPECT_FALSE(may_include(*room_of(ban.from), *room_of(ban.to))) << ban.from << " -> " << ban.to;
  }
}

TEST(IncludeRules, FindsTheInnermostListedFolder) {
  EXPECT_EQ(room_of("vitrine/tensor.h")->folder, "runtime/core");
  EXPECT_EQ(room_of("kernels/portable/prim/op_x.cc")->folder, "kernels/portable");
  EXPECT_EQ(room_of("test/runtime/core/tensor_test.cc")->folder, "test");
  EXPECT_EQ(room_of("include/vitrine/tensor.h")->folder, "runtime/core");
  EXPECT_EQ(room_of("vitrine/kernel.h")->folder, "runtime/extension");
  EXPECT_EQ(room_of("include/vitrine/stray.h"), nullptr);
  EXPECT_EQ(room_of("runtime/corelike/x.h"), nullptr);
  EXPECT_EQ(room_of("vector"), nullptr);
}

TEST(IncludeRules, AcceptsAllowedIncludes) {
  EXPECT_THAT(violations("runtime/executor/method.cc", R"(
#include "vitrine/method.h"
#include "vitrine/kernel.h"
#include "schema/program_generated.h"
#  include "runtime/platform/clock.h"
)"),
              IsEmpty());
  EXPECT_THAT(violations("runtime/program/program.cc", "#include \"vitrine/error.h\"\n"), IsEmpty())
      << "must be allowed through runtime/platform";
}

TEST(IncludeRules, ReportsForbiddenIncludes) {
  EXPECT_THAT(violations("runtime/core/tensor.cc", "#include \"vitrine/kernel.h\"\n"),
              ElementsAre("runtime/core/tensor.cc: includes vitrine/kernel.h, which is in "
                          "runtime/extension"));
  EXPECT_THAT(
      violations("runtime/executor/method.cc",
                 "#include <cmath>\n  #  include  \"formats/etdump/etdump_writer.h\""),
      ElementsAre(
          "runtime/executor/method.cc: includes formats/etdump/etdump_writer.h, which is in "
          "formats"));
  EXPECT_THAT(violations("tools/x.cc", "#include <test/support/corpus.h>\n"),
              ElementsAre("tools/x.cc: includes test/support/corpus.h, which is in test"));
}

TEST(IncludeRules, ReportsHostHeadersInDeviceCode) {
  for (const std::string header : {"iostream", "exception", "stdexcept", "sstream"}) {
    const std::string source = "#include <" + header + ">\n";
    for (const std::string path :
         {"runtime/core/x.h", "include/vitrine/tensor.h", "kernels/portable/op_x.cc",
          "backends/xnnpack/runtime/x.cc", "runtime/extension/trace_buffer.cc"}) {
      EXPECT_THAT(violations(path, source),
                  ElementsAre(path + ": includes " + header + ", which is only for the host side"));
    }
    EXPECT_THAT(violations("formats/etdump/etdump_reader.cc", source), IsEmpty());
    EXPECT_THAT(violations("tools/x.cc", source), IsEmpty());
  }
}

TEST(IncludeRules, ReportsForbiddenLibraries) {
  EXPECT_THAT(
      violations("kernels/portable/op_add.cc", "#include <xnnpack.h>\n"),
      ElementsAre("kernels/portable/op_add.cc: includes xnnpack.h, a library that this room "
                  "must not include"));
  EXPECT_THAT(violations("kernels/util/x.h", "#include <hwy/highway.h>\n"), testing::SizeIs(1));
  EXPECT_THAT(violations("runtime/platform/x.cc", "#include <cpuinfo.h>\n"), testing::SizeIs(1));
  EXPECT_THAT(violations("runtime/executor/x.cc", "#include <fmt/format.h>\n"), testing::SizeIs(1));
  EXPECT_THAT(violations("backends/xnnpack/runtime/x.cc", "#include <xnnpack.h>\n"), IsEmpty());
}

TEST(IncludeRules, ReportsPathsThatDoNotStartAtTheRoot) {
  EXPECT_THAT(
      violations("kernels/util/x.h", "#include \"box_loop.h\"\n"),
      ElementsAre("kernels/util/x.h: includes box_loop.h, which is not a path from the root"));
}

TEST(IncludeRules, IgnoresTextThatIsNotAnIncludeDirective) {
  EXPECT_THAT(violations("runtime/core/x.h",
                         "// #include \"tools/x.h\"\n#define include \"tools/x.h\"\n#includes\n#"),
              IsEmpty());
}

TEST(IncludeRules, ReportsFilesOutsideOfListedFolders) {
  EXPECT_THAT(violations("runtime/stray.cc", ""), ElementsAre("runtime/stray.cc: is in no room"));
}

}  // namespace
}  // namespace vitrine::architecture

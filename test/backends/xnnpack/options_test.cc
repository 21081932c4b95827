#include "backends/xnnpack/runtime/execution/options.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>

namespace vitrine::xnnpack {
namespace {

using testing::HasSubstr;

Result<Options> read(std::string_view key, OptionValue value) {
  const BackendOption option{"XnnpackBackend", key, value};
  return read_options({&option, 1}, {});
}

TEST(Options, ReadsAllKeys) {
  const BackendOption given[] = {
      {"XnnpackBackend", "workspace_sharing_mode", int64_t{2}},
      {"XnnpackBackend", "weight_cache_enabled", false},
      {"XnnpackBackend", "packed_cache_path", "a/b"},
      {"XnnpackBackend", "exact", true},
      {"XnnpackBackend", "choices", "c/d"},
      {"AnotherBackend", "key of its own", int64_t{7}},
      {"XnnpackBackend", "workspace_sharing_mode", int64_t{0}},
  };
  const Result<Options> options = read_options(given, {});
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->workspace_sharing, WorkspaceSharing::kOff);  // the last one
  EXPECT_FALSE(options->weights_cache);
  EXPECT_EQ(options->packed_cache_path, "a/b");
  EXPECT_TRUE(options->exact);
  EXPECT_EQ(options->choices, "c/d");
}

TEST(Options, AbsentKeysHaveTheDefaults) {
  const Options defaults{.workspace_sharing = WorkspaceSharing::kGlobal,
                         .weights_cache = false,
                         .packed_cache_path = "x",
                         .choices = "y"};
  const Result<Options> options = read_options({}, defaults);
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->workspace_sharing, WorkspaceSharing::kGlobal);
  EXPECT_FALSE(options->weights_cache);
  EXPECT_EQ(options->packed_cache_path, "x");
  EXPECT_EQ(options->choices, "y");
}

TEST(Options, RejectsInvalidValuesAndUnknownKeys) {
  const std::pair<OptionValue, const char*> no_modes[] = {
      {int64_t{3}, "3"}, {int64_t{-1}, "-1"}, {true, "true"}, {"global", "\"global\""}};
  for (const auto& [value, text] : no_modes) {
    const Result<Options> options = read("workspace_sharing_mode", value);
    ASSERT_FALSE(options.ok());
    EXPECT_EQ(options.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(options.error().message(), HasSubstr("workspace_sharing_mode must be 0 (none), 1"));
    EXPECT_THAT(options.error().message(), testing::EndsWith(std::string(", got ") + text));
  }
  EXPECT_THAT(read("weight_cache_enabled", int64_t{1}).error().message(),
              HasSubstr("weight_cache_enabled must be true or false, got 1"));
  EXPECT_THAT(read("exact", int64_t{1}).error().message(),
              HasSubstr("exact must be true or false, got 1"));
  EXPECT_THAT(read("packed_cache_path", true).error().message(), HasSubstr("must be a path"));
  EXPECT_THAT(read("choices", true).error().message(), HasSubstr("must be a path"));
  EXPECT_THAT(read("workspace", true).error().message(),
              HasSubstr("unknown option workspace; known options are workspace_sharing_mode"));
}

}  // namespace
}  // namespace vitrine::xnnpack

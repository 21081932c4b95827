#include "tools/common/interrupt.h"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

#include "test/support/scratch_folder.h"
#include "tools/common/files.h"

namespace vitrine::tools {
namespace {

TEST(RemoveFilesOnInterrupt, LeavesNoTemporaryFile) {
  const test::ScratchFolder scratch;
  for (const int signal : {SIGINT, SIGTERM}) {
    EXPECT_EXIT(
        {
          NewFile file(scratch / "out.pte");
          file.append("bytes");
          remove_files_on_interrupt();
          std::raise(signal);
        },
        testing::KilledBySignal(signal), "");
    EXPECT_TRUE(std::filesystem::is_empty(scratch / ""));
  }
}

TEST(RemoveFilesOnInterrupt, KeepsFinishedFiles) {
  const test::ScratchFolder scratch;
  EXPECT_EXIT(
      {
        for (int i = 0; i < 20; ++i) write_file(scratch / "out.pte", "bytes");
        remove_files_on_interrupt();
        std::raise(SIGINT);
      },
      testing::KilledBySignal(SIGINT), "");
  EXPECT_TRUE(std::filesystem::exists(scratch / "out.pte"));
}

TEST(StopOnInterrupt, SecondSignalCancels) {
  EXPECT_EXIT(
      {
        stop_on_interrupt();
        std::raise(SIGINT);
        if (!stop_flag() || cancel_flag()) std::_Exit(1);
        std::raise(SIGINT);
        std::_Exit(cancel_flag() ? 0 : 2);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace vitrine::tools

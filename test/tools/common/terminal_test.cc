#include "tools/common/interrupt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>

#include "test/support/scratch_folder.h"
#include "tools/common/files.h"
#include "tools/common/progress.h"

namespace vitrine::tools {
namespace {

using testing::HasSubstr;

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

TEST(ProgressText, EstimatesTheRemainingTime) {
  EXPECT_EQ(progress_text("running", 0, 10, 5), "running: 0 %");
  EXPECT_EQ(progress_text("running", 1, 4, 10), "running: 25 %, 30 s left");
  EXPECT_EQ(progress_text("running", 1, 100, 1), "running: 1 %, 1 min 39 s left");
  EXPECT_EQ(progress_text("running", 999, 1000, 10), "running: 99 %, 1 s left");
}

TEST(Progress, PrintsNothingIfStderrIsNotATerminal) {
  testing::internal::CaptureStderr();
  {
    Progress progress("running");
    std::this_thread::sleep_for(std::chrono::milliseconds(2300));
    progress.update(1, 2);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

// Replaces stderr with a terminal until the object is destroyed. text() returns what was written to
// this terminal since the last call.
class StderrTerminal {
 public:
  StderrTerminal() : before_(dup(STDERR_FILENO)), main_(posix_openpt(O_RDWR | O_NOCTTY)) {
    if (main_ < 0 || grantpt(main_) != 0 || unlockpt(main_) != 0) return;
    const int terminal = open(ptsname(main_), O_RDWR | O_NOCTTY);
    is_open_ = terminal >= 0 && dup2(terminal, STDERR_FILENO) >= 0;
    if (terminal >= 0) close(terminal);
  }
  ~StderrTerminal() {
    dup2(before_, STDERR_FILENO);
    close(before_);
    if (main_ >= 0) close(main_);
  }
  StderrTerminal(const StderrTerminal&) = delete;
  StderrTerminal& operator=(const StderrTerminal&) = delete;

  bool is_open() const { return is_open_; }
  std::string text() const {
    fcntl(main_, F_SETFL, O_NONBLOCK);
    char bytes[1000];
    const ssize_t count = read(main_, bytes, sizeof bytes);
    return {bytes, count > 0 ? static_cast<size_t>(count) : 0};
  }

 private:
  int before_;
  int main_;
  bool is_open_ = false;
};

TEST(Progress, ShowsALineOnATerminalAfterTwoSeconds) {
  const StderrTerminal terminal;
  if (!terminal.is_open()) GTEST_SKIP() << "this machine has no pseudoterminals";
  {
    Progress progress("running");
    progress.update(1, 4);
    EXPECT_EQ(terminal.text(), "");
    std::this_thread::sleep_for(std::chrono::milliseconds(2300));
    progress.update(1, 4);
    EXPECT_THAT(terminal.text(), HasSubstr("running: 25 %, 7 s left"));
  }
  EXPECT_EQ(terminal.text(), "\r\033[K");
}

}  // namespace
}  // namespace vitrine::tools

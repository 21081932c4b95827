#include "tools/common/interrupt.h"

#include <unistd.h>

#include <climits>
#include <csignal>
#include <cstring>

namespace vitrine::tools {
namespace {

// The signal handler reads `temporary_files`, so the paths are in static memory.
struct TemporaryFile {
  std::atomic<bool> is_used = false;
  char path[PATH_MAX];
};
constinit TemporaryFile temporary_files[8] = {};

}  // namespace

std::atomic<bool>& cancel_flag() {
  static constinit std::atomic<bool> flag = false;
  return flag;
}

void cancel_executions() {
  cancel_flag() = true;
  std::signal(SIGINT, SIG_DFL);
}

void cancel_on_interrupt() {
  std::signal(SIGINT, [](int) { cancel_executions(); });
}

std::atomic<bool>& stop_flag() {
  static constinit std::atomic<bool> flag = false;
  return flag;
}

void stop_on_interrupt() {
  std::signal(SIGINT, [](int) {
    stop_flag() = true;
    cancel_on_interrupt();
  });
}

void remove_files_on_interrupt() {
  for (const int signal : {SIGINT, SIGTERM}) {
    std::signal(signal, [](int number) {
      for (const TemporaryFile& file : temporary_files) {
        if (file.is_used) unlink(file.path);
      }
      std::signal(number, SIG_DFL);
      std::raise(number);
    });
  }
}

void stop_then_remove_files_on_interrupt() {
  remove_files_on_interrupt();
  std::signal(SIGINT, [](int) {
    stop_flag() = true;
    remove_files_on_interrupt();
  });
}

void add_temporary_file(const char* path) {
  for (TemporaryFile& file : temporary_files) {
    const size_t bytes = std::strlen(path) + 1;
    if (file.is_used || bytes > sizeof file.path) continue;
    std::memcpy(file.path, path, bytes);
    file.is_used = true;
    return;
  }
}

void forget_temporary_file(const char* path) {
  for (TemporaryFile& file : temporary_files) {
    if (file.is_used && std::strcmp(file.path, path) == 0) file.is_used = false;
  }
}

}  // namespace vitrine::tools

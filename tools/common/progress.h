#pragma once

#include <cstdint>
#include <string>

namespace vitrine::tools {

// After two seconds, prints a line on stderr with the percentage and the remaining time. Prints
// nothing if stderr is not a terminal. The destructor removes the line.
class Progress {
 public:
  explicit Progress(std::string what);  // "running"
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Reports that `done` of `all` steps are complete. Most calls print nothing and are cheap.
  void update(size_t done, size_t all);
  void clear();

 private:
  std::string what_;
  bool is_terminal_;
  bool is_shown_ = false;
  uint64_t start_ns_;
  uint64_t last_ns_;  // time of the last text
};

// Formats the progress: "running: 45 %, 1 min 05 s left".
std::string progress_text(const std::string& what, size_t done, size_t all, double elapsed_s);

}  // namespace vitrine::tools

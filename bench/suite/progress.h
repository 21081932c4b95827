// Runs the steps of a long job, and prints its progress and the estimated time left.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace vitrine::bench {

class Progress {
 public:
  // `seconds` is an estimate. The time left is computed from the estimates and from the time so
  // far.
  void add(std::string name, double seconds, std::function<void()> run);
  // Prints to standard error: one line that changes on a terminal, otherwise one line per step.
  void run();

 private:
  struct Step {
    std::string name;
    double seconds;
    std::function<void()> run;
  };
  std::vector<Step> steps_;
};

}  // namespace vitrine::bench

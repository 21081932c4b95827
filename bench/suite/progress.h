// Runs the steps of a long job, and prints its progress and the estimated time left.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace vitrine::bench {

class Progress {
 public:
  // Adds a step that takes about `seconds`.
  void add(std::string name, double seconds, std::function<void()> run);
  // Prints one line per step to standard error. On a terminal, each line replaces the previous
  // line.
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

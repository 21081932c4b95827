// Runs the steps of a long job and says how far it is, and how long it still takes.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace vitrine::bench {

class Progress {
 public:
  // `seconds` is a guess; the time left follows from guesses and the time taken so far.
  void add(std::string name, double seconds, std::function<void()> run);
  // Prints to standard error: on a terminal one line that changes, else one line a step.
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

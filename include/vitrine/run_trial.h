// Finds by trying whether runs of one kind are faster on all threads of a pool or on the caller's
// alone. What single operators gain does not tell: what several threads wrote has to come from
// their caches later.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace vitrine {

// What the runs of one Method took. After the first few, seven are on all threads and seven on the
// caller's alone, twice; fewer if being alone takes a quarter longer. Then the way with the lower
// median is taken for inputs of this shape, until some hundred runs are over, and the next times
// some thousand. Long runs end the trial: they gain from threads.
class RunTrial {
 public:
  static constexpr uint32_t kRuns = 32;  // of a whole trial
  static constexpr uint64_t kLongRunNs = 5'000'000;

  // A run begins. `shape` tells inputs of one size from others; the last few are remembered.
  void begin(uint64_t shape);
  // Whether this run is to be on the caller's thread alone.
  bool is_alone() const { return is_alone_; }
  // Whether end() needs the time.
  bool is_timed() const;
  void end(uint64_t took_ns);

 private:
  static constexpr size_t kTimed = 14;  // runs of each way
  // The first trial may be of runs in which the process and its threads have only begun.
  static constexpr uint32_t kFirstValid = 256;
  struct Kind {
    uint64_t shape = 0;
    uint32_t runs = 0;
    uint32_t valid = kFirstValid;  // runs after which it is tried again
    bool is_alone = false;         // once decided
  };

  void decide(bool alone);

  std::array<Kind, 4> kinds_;
  size_t current_ = 0;
  size_t next_ = 1;  // to be forgotten
  bool is_alone_ = false;
  std::array<std::array<uint32_t, kTimed>, 2> times_ns_;  // on all threads; alone; set before read
};

}  // namespace vitrine

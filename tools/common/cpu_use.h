// Measures if this process got as much processor time as it needed.
#pragma once

#include <cstddef>
#include <string>

namespace vitrine::tools {

// Times of a measurement. Processor times are summed over all threads of the process.
struct CpuUse {
  double wall_ns = 0;
  double cpu_ns = 0;
  double waited_ns = 0;  // time that ready threads waited for a processor; 0 if unknown
};

// Measures the process's use of processors since construction.
class CpuMeter {
 public:
  CpuMeter();
  CpuUse read() const;

 private:
  CpuUse start_;
};

// Returns the number of processors that the process's affinity and control groups allow.
size_t allowed_processors();

// Returns a warning if the process got too little processor time for `threads` threads, else an
// empty string. Assumes that at least one thread computes at any time. Ignores losses of less than
// 5 ms.
std::string cpu_shortage(const CpuUse& use, size_t threads, size_t processors);

}  // namespace vitrine::tools

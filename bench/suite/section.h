// Defines the options and the state that the sections of the suite share.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/report/results.h"
#include "bench/suite/interleave.h"
#include "bench/suite/progress.h"
#include "vitrine/thread_pool.h"

namespace vitrine::bench {

// The amount of work in a run of the suite. kCheck runs each variant once, without timing, and
// compares outputs.
enum class Extent : uint8_t { kCheck, kShort, kFull };

struct SuiteOptions {
  Extent extent = Extent::kFull;
  std::string filter;  // runs only subjects whose names contain this text
  std::vector<std::filesystem::path>
      files;                          // .pte and .pt2 files; if not empty, only these are measured
  std::filesystem::path corpus;       // folder of the corpus; may be empty
  std::vector<std::string> sections;  // empty: all
  std::vector<size_t> threads;        // ascending

  bool is_full() const { return extent == Extent::kFull; }
  bool is_short() const { return extent == Extent::kShort; }
  bool is_check() const { return extent == Extent::kCheck; }
  bool wants(const std::string& name) const {
    return filter.empty() || name.find(filter) != std::string::npos;
  }
};

struct Suite {
  const SuiteOptions& options;
  std::filesystem::path scratch;
  std::map<size_t, std::shared_ptr<ThreadPool>> pools;
  Progress progress = {};
  Results results = {};
};

// Each function adds the steps of a section to Suite::progress, which runs them later.
void add_limits(Suite& suite);
void add_models(Suite& suite);
void add_operators(Suite& suite);
void add_runtime(Suite& suite);

}  // namespace vitrine::bench

// Options and state that the sections of the suite share.
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

// kCheck runs each variant once without timing and compares outputs.
enum class Extent : uint8_t { kCheck, kShort, kFull };

struct SuiteOptions {
  Extent extent = Extent::kFull;
  std::string filter;  // part of the names of the subjects to run
  std::vector<std::filesystem::path>
      files;                     // .pte and .pt2 files; if not empty, no other models are measured
  std::filesystem::path corpus;  // folder of the corpus; may be empty
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

// These functions add steps to Suite::progress, which runs the steps later.
void add_limits(Suite& suite);
void add_models(Suite& suite);
void add_operators(Suite& suite);
void add_runtime(Suite& suite);

}  // namespace vitrine::bench

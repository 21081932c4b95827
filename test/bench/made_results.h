// Makes up benchmark results for tests.
#pragma once

#include <string>
#include <utility>

#include "bench/report/results.h"

namespace vitrine::test {

inline bench::Result made_result(std::string section, std::string name, std::string variant,
                                 double p50, double noise = 0.01) {
  bench::Result result;
  result.section = std::move(section);
  result.name = std::move(name);
  result.variant = std::move(variant);
  result.time = {
      .p50 = p50, .p90 = 1.1 * p50, .p99 = 1.5 * p50, .min = 0.9 * p50, .noise = noise, .runs = 50};
  return result;
}

// Returns the results of an operator and of two models. For n elements, the delegate of the
// operator takes 1000 + n ns. The optimized kernel takes 3 n ns, so both are equally fast at 500
// elements.
inline bench::Results made_results() {
  bench::Results results;
  results.facts = {{"machine", "A <fast> machine"}, {"compiler", "GNU 12"}, {"mode", "short"}};
  results.copy_bytes_per_s[1] = 2e10;
  results.multiply_adds_per_s[1] = 1e11;
  results.narrow_multiply_adds_per_s = {{"bf16", {{1, 2e11}}}, {"i8", {{1, 1.08e12}, {2, 2.1e12}}}};
  for (const double size : {100.0, 250.0, 1000.0}) {
    for (const auto& [variant, ns] :
         {std::pair("portable", 9 * size), {"optimized", 3 * size}, {"xnnpack", 1000 + size}}) {
      bench::Result result = made_result("operators", "add", variant, ns);
      result.work = size;
      result.limit = "copy";
      results.results.push_back(result);
    }
  }
  results.results.push_back(made_result("models", "net", "optimized", 2e6));
  results.results.push_back(made_result("models", "net", "xnnpack", 1e6));
  bench::Result& missing = results.results.emplace_back();
  missing.section = "models";
  missing.name = "net|2";
  missing.variant = "xnnpack";
  missing.note = "outputs differ <b>";
  return results;
}

}  // namespace vitrine::test

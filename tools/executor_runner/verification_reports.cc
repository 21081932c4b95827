#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tools/executor_runner/verification.h"

namespace vitrine::tools {
namespace {

constexpr int kSchemaVersion = 1;

std::string tolerance_text(const OutputCheck& check) {
  return fmt::format("{:.0e} + {:.0e} rel", check.tolerance.atol, check.tolerance.rtol);
}

// Infinity (such as the SQNR of equal tensors) and NaN become null.
nlohmann::json number(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
}

nlohmann::json to_json(const OutputCheck& check) {
  nlohmann::json json = {{"method", check.method},         {"test_set", check.test_set},
                         {"output", check.output},         {"type", check.description},
                         {"rtol", check.tolerance.rtol},   {"atol", check.tolerance.atol},
                         {"passed", check.failure.empty()}};
  if (check.min_sqnr_db) json["min_sqnr_db"] = *check.min_sqnr_db;
  if (!check.failure.empty()) json["failure"] = check.failure;
  if (!check.difference) return json;
  json["elements"] = check.difference->elements;
  json["mismatches"] = check.difference->mismatches;
  json["max_abs"] = number(check.difference->max_abs);
  json["mean_abs"] = number(check.difference->mean_abs);
  json["max_rel"] = number(check.difference->max_rel);
  json["sqnr_db"] = number(check.difference->sqnr_db);
  json["cosine"] = number(check.difference->cosine);
  return json;
}

}  // namespace

std::string verification_table(const VerificationReport& report) {
  size_t method_width = 6;
  size_t type_width = 4;
  for (const OutputCheck& check : report.checks) {
    method_width = std::max(method_width, check.method.size());
    type_width = std::max(type_width, check.description.size());
  }
  std::string text = fmt::format("{}\n{:<{}}  set  out  {:<{}}  {:>9}  {:>9}  {:>7}  {:>8}  {}\n",
                                 report.model, "method", method_width, "type", type_width,
                                 "max abs", "max rel", "SQNR dB", "cosine", "tolerance");
  for (const OutputCheck& check : report.checks) {
    text += fmt::format("{:<{}}  {:>3}  {:>3}  {:<{}}  ", check.method, method_width,
                        check.test_set, check.output, check.description, type_width);
    if (check.difference) {
      text += fmt::format("{:>9.2e}  {:>9.2e}  {:>7.1f}  {:>8.6f}  {}  ", check.difference->max_abs,
                          check.difference->max_rel, check.difference->sqnr_db,
                          check.difference->cosine, tolerance_text(check));
    }
    text += check.failure.empty() ? "pass\n" : fmt::format("FAIL: {}\n", check.failure);
  }
  text +=
      fmt::format("{} of {} outputs pass, {} test set{}", report.checks.size() - report.failures(),
                  report.checks.size(), report.test_sets, report.test_sets == 1 ? "" : "s");
  if (report.without_expected != 0) {
    text += fmt::format(", {} without expected outputs", report.without_expected);
  }
  return text + '\n';
}

std::string verification_json(const VerificationReport& report) {
  nlohmann::json json = {{"schema_version", kSchemaVersion},
                         {"model", report.model},
                         {"passed", report.passed()},
                         {"test_sets", report.test_sets},
                         {"test_sets_without_expected_outputs", report.without_expected},
                         {"outputs", nlohmann::json::array()}};
  for (const OutputCheck& check : report.checks) json["outputs"].push_back(to_json(check));
  return json.dump(2) + '\n';
}

}  // namespace vitrine::tools

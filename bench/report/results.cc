#include "bench/report/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "tools/common/files.h"

namespace vitrine::bench {
namespace {

using Json = nlohmann::ordered_json;

struct OptionalField {
  const char* name;
  std::optional<double> Result::*member;
};
constexpr std::array<OptionalField, 11> kOptional = {{{"work", &Result::work},
                                                      {"first_ns", &Result::first_ns},
                                                      {"load_ns", &Result::load_ns},
                                                      {"init_ns", &Result::init_ns},
                                                      {"peak_bytes", &Result::peak_bytes},
                                                      {"file_bytes", &Result::file_bytes},
                                                      {"instructions", &Result::instructions},
                                                      {"delegates", &Result::delegates},
                                                      {"planned_bytes", &Result::planned_bytes},
                                                      {"of_limit", &Result::of_limit},
                                                      {"sqnr_db", &Result::sqnr_db}}};
struct TextField {
  const char* name;
  std::string Result::*member;
};
constexpr std::array<TextField, 5> kTexts = {{{"section", &Result::section},
                                              {"name", &Result::name},
                                              {"variant", &Result::variant},
                                              {"limit", &Result::limit},
                                              {"note", &Result::note}}};
struct TimeField {
  const char* name;
  double Timing::*member;
};
constexpr std::array<TimeField, 5> kTimes = {{{"p50_ns", &Timing::p50},
                                              {"p90_ns", &Timing::p90},
                                              {"p99_ns", &Timing::p99},
                                              {"min_ns", &Timing::min},
                                              {"noise", &Timing::noise}}};

Json result_json(const Result& result) {
  Json json = {{"id", result.id()}};
  for (const TextField& field : kTexts) {
    if (!(result.*field.member).empty()) json[field.name] = result.*field.member;
  }
  json["threads"] = result.threads;
  if (result.has_time()) {
    for (const TimeField& field : kTimes) json[field.name] = result.time.*field.member;
    json["runs"] = result.time.runs;
  }
  for (const OptionalField& field : kOptional) {
    if (const auto& value = result.*field.member) json[field.name] = *value;
  }
  return json;
}

Result parse_result(const JsonValue& json) {
  Result result;
  for (const TextField& field : kTexts) {
    if (json.holds(field.name)) result.*field.member = json.at(field.name).string();
  }
  result.threads = json.at("threads").integer<size_t>();
  if (json.holds("runs")) {
    result.time.runs = json.at("runs").integer<size_t>();
    for (const TimeField& field : kTimes) {
      result.time.*field.member = json.at(field.name).number();
    }
  }
  for (const OptionalField& field : kOptional) {
    if (json.holds(field.name)) result.*field.member = json.at(field.name).number();
  }
  return result;
}

Json limits_json(const std::map<size_t, double>& by_threads) {
  Json json = Json::object();
  for (const auto& [threads, rate] : by_threads) json[std::to_string(threads)] = rate;
  return json;
}

std::map<size_t, double> parse_limits(const JsonValue& json) {
  std::map<size_t, double> by_threads;
  json.each_member([&](const std::string& key, const JsonValue& rate) {
    const size_t threads = std::strtoul(key.c_str(), nullptr, 10);
    if (threads == 0)
      json.fail(fmt::format("has the key \"{}\"; expected a number of threads", key));
    by_threads[threads] = rate.number();
  });
  return by_threads;
}

Json crossing_json(const Crossing& crossing) {
  return {{"op", crossing.op},
          {"threads", crossing.threads},
          {"unit", crossing.unit},
          {"from", crossing.work ? Json(*crossing.work) : Json()}};
}

}  // namespace

std::string Result::id() const {
  std::string text = fmt::format("{}/{}", section, name);
  if (work) text += fmt::format("/{:.0f}", *work);
  return fmt::format("{}/{}/{}", text, variant, threads);
}

const Result* Results::find(std::string_view id) const {
  const auto found =
      std::ranges::find_if(results, [&](const Result& result) { return result.id() == id; });
  return found == results.end() ? nullptr : &*found;
}

std::string results_json(const Results& results) {
  Json json = {{"format", "vitrine-bench"}, {"version", kResultsVersion}};
  json["facts"] = results.facts;
  json["limits"] = {{"copy_bytes_per_s", limits_json(results.copy_bytes_per_s)},
                    {"multiply_adds_per_s", limits_json(results.multiply_adds_per_s)},
                    {"narrow_multiply_adds_per_s", Json::object()}};
  for (const auto& [dtype, by_threads] : results.narrow_multiply_adds_per_s) {
    json["limits"]["narrow_multiply_adds_per_s"][dtype] = limits_json(by_threads);
  }
  json["crossings"] = Json::array();
  for (const Crossing& crossing : crossings_of(results)) {
    json["crossings"].push_back(crossing_json(crossing));
  }
  json["results"] = Json::array();
  for (const Result& result : results.results) json["results"].push_back(result_json(result));
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Results parse_results(std::string_view text, const std::string& name) {
  const JsonDocument document(text, name);
  const JsonValue root = document.root();
  if (!root.holds("format") || root.at("format").string() != "vitrine-bench") {
    root.fail("is not a results file of the benchmark suite");
  }
  if (const auto version = root.at("version").integer(); version != kResultsVersion) {
    root.at("version").fail(fmt::format("is {}; this tool reads {}", version, kResultsVersion));
  }
  Results results;
  root.at("facts").each_member(
      [&](const std::string& key, const JsonValue& value) { results.facts[key] = value.string(); });
  results.copy_bytes_per_s = parse_limits(root.at("limits").at("copy_bytes_per_s"));
  results.multiply_adds_per_s = parse_limits(root.at("limits").at("multiply_adds_per_s"));
  if (root.at("limits").holds("narrow_multiply_adds_per_s")) {
    root.at("limits")
        .at("narrow_multiply_adds_per_s")
        .each_member([&](const std::string& dtype, const JsonValue& by_threads) {
          results.narrow_multiply_adds_per_s[dtype] = parse_limits(by_threads);
        });
  }
  root.at("results").each_item(
      [&](const JsonValue& item) { results.results.push_back(parse_result(item)); });
  return results;
}

Results read_results(const std::filesystem::path& file) {
  const std::vector<std::byte> bytes = tools::read_file(file);
  return parse_results({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, file.string());
}

}  // namespace vitrine::bench

#include "test/corpus_check/known_failures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace vitrine::corpus {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 3> kRuns = {"program", "training", "core"};
#if defined(__arm__)
constexpr std::string_view kMachine = "arm32";
#else
constexpr std::string_view kMachine = "";
#endif

// True if an entry applies to this machine.
bool applies_here(const json& entry) {
  if (!entry.contains("machine")) return true;
  if (entry["machine"] != "arm32") throw std::runtime_error("\"machine\" can only be \"arm32\"");
  return entry["machine"] == kMachine;
}

KnownFailure parse_entry(const json& from) {
  KnownFailure made;
  made.cases = from.at("cases").get<std::vector<std::string>>();
  made.runs = from.at("runs").get<std::vector<std::string>>();
  if (from.contains("backends")) {
    made.backends = from["backends"].get<std::vector<std::string>>();
  }
  made.says = from.at("says");
  made.why = from.at("why");
  if (made.cases.empty() || made.runs.empty() || made.says.empty() || made.why.empty()) {
    throw std::runtime_error("cases, runs, says and why must not be empty");
  }
  for (const std::string& run : made.runs) {
    if (std::ranges::count(kRuns, run) == 0) {
      throw std::runtime_error(
          fmt::format("unknown run \"{}\"; the runs are program, training and core", run));
    }
  }
  return made;
}

bool ends_in(const std::filesystem::path& folder, const std::string& end) {
  const std::string path = fmt::format("/{}", folder.lexically_normal().generic_string());
  return path.ends_with(fmt::format("/{}", end));
}

bool contains(const std::vector<std::string>& list, const std::string& item) {
  return std::ranges::count(list, item) != 0;
}

}  // namespace

KnownFailures KnownFailures::read(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::stringstream text;
  text << stream.rdbuf();
  if (!stream) throw std::runtime_error(fmt::format("{}: cannot read the file", file.string()));
  return parse(text.str(), file.string());
}

KnownFailures KnownFailures::parse(std::string_view text, const std::string& source) {
  KnownFailures known;
  try {
    for (const json& entry : json::parse(text)) {
      KnownFailure failure = parse_entry(entry);
      if (applies_here(entry)) known.all_.push_back(std::move(failure));
    }
  } catch (const std::exception& error) {
    throw std::runtime_error(
        fmt::format("{}: entry {}: {}", source, known.all_.size(), error.what()));
  }
  return known;
}

const KnownFailure* KnownFailures::find(const Run& run) const {
  const auto found = std::ranges::find_if(all_, [&](const KnownFailure& failure) {
    return contains(failure.runs, run.form) &&
           (failure.backends.empty() || contains(failure.backends, run.backends)) &&
           std::ranges::any_of(failure.cases,
                               [&](const std::string& end) { return ends_in(run.folder, end); });
  });
  return found == all_.end() ? nullptr : &*found;
}

}  // namespace vitrine::corpus

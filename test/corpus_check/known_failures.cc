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

// Whether an entry is about this machine.
bool is_of_here(const json& entry) {
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
    throw std::runtime_error("something is empty");
  }
  for (const std::string& run : made.runs) {
    if (std::ranges::count(kRuns, run) == 0) {
      throw std::runtime_error(fmt::format("there are no runs \"{}\"", run));
    }
  }
  return made;
}

bool ends_in(const std::filesystem::path& folder, const std::string& end) {
  const std::string path = fmt::format("/{}", folder.lexically_normal().generic_string());
  return path.ends_with(fmt::format("/{}", end));
}

bool holds(const std::vector<std::string>& all, const std::string& one) {
  return std::ranges::count(all, one) != 0;
}

}  // namespace

KnownFailures KnownFailures::read(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::stringstream text;
  text << stream.rdbuf();
  if (!stream) throw std::runtime_error(fmt::format("{}: it cannot be read", file.string()));
  return parse(text.str(), file.string());
}

KnownFailures KnownFailures::parse(std::string_view text, const std::string& source) {
  KnownFailures known;
  try {
    for (const json& entry : json::parse(text)) {
      KnownFailure one = parse_entry(entry);
      if (is_of_here(entry)) known.all_.push_back(std::move(one));
    }
  } catch (const std::exception& error) {
    throw std::runtime_error(
        fmt::format("{}: entry {}: {}", source, known.all_.size(), error.what()));
  }
  return known;
}

const KnownFailure* KnownFailures::find(const Run& run) const {
  const auto found = std::ranges::find_if(all_, [&](const KnownFailure& each) {
    return holds(each.runs, run.form) &&
           (each.backends.empty() || holds(each.backends, run.backends)) &&
           std::ranges::any_of(each.cases,
                               [&](const std::string& end) { return ends_in(run.folder, end); });
  });
  return found == all_.end() ? nullptr : &*found;
}

}  // namespace vitrine::corpus

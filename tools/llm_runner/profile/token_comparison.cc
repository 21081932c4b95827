#include "tools/llm_runner/profile/token_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/json.h"
#include "tools/llm_runner/profile/report_tokens.h"
#include "tools/llm_runner/profile/token_json.h"

namespace vitrine::llm {
namespace {

using inspector::GroupBy;

constexpr int64_t kMinUsual = 5;

void read_times(const JsonValue& json, SavedRow& row) {
  row.ns = {json.at("prefill_ns").number(), json.at("decode_ns").number()};
  row.usual_ns = json.at("usual_decode_ns").number();
}

SavedRow read_row(const JsonValue& json) {
  SavedRow row;
  for (const auto& [name, by] : kGroupings) row.groups[by] = json.at("groups").at(name).string();
  read_times(json, row);
  return row;
}

void read_outside(const char* name, const JsonValue& json, SavedTokens& result) {
  result.outside.emplace_back();
  result.outside.back().name = name;
  read_times(json, result.outside.back());
}

void read_phases(const JsonValue& phases, SavedTokens& result) {
  for (const Phase phase : {Phase::kPrefill, Phase::kDecode}) {
    const JsonValue json = phases.at(phase_name(phase));
    const auto which = static_cast<size_t>(phase);
    result.steps[which] = json.at("steps").integer();
    result.tokens[which] = json.at("tokens").integer();
    if (result.steps[which] < 0 || result.tokens[which] < result.steps[which]) {
      json.fail("has fewer tokens than steps");
    }
  }
}

void read_decoded(const JsonValue& tokens, SavedTokens& result) {
  tokens.each_item([&](const JsonValue& token) {
    std::vector<double> figures;
    token.each_item([&](const JsonValue& figure) { figures.push_back(figure.number()); });
    if (figures.size() != 2) token.fail("is not a pair of a position and a time");
    result.decoded.emplace_back(static_cast<int64_t>(figures[0]), figures[1]);
  });
}

// Without a record, every row belongs to the root module.
bool knows_modules(const SavedTokens& side) { return !side.record.empty(); }

class Comparer {
 public:
  Comparer(SavedTokens a, SavedTokens b, GroupBy by) : by_(by) {
    result_.a = std::move(a);
    result_.b = std::move(b);
    result_.is_over_usual =
        result_.a.usual_steps >= kMinUsual && result_.b.usual_steps >= kMinUsual;
    has_modules_ = knows_modules(result_.a) && knows_modules(result_.b);
  }

  TokenComparison compare() {
    result_.matched_by = matched_by();
    std::map<std::string, size_t> index_of;
    for (const bool is_b : {false, true}) {
      for (const SavedRow& row : side(is_b).rows) {
        const std::string name = row_name(row);
        const auto [found, is_new] = index_of.try_emplace(name, result_.rows.size());
        if (is_new) result_.rows.push_back({.name = name});
        add(row, is_b, result_.rows[found->second]);
      }
    }
    add_outside();
    result_.wall.name = "wall";
    add(result_.a.wall, false, result_.wall);
    add(result_.b.wall, true, result_.wall);
    compare_decoded();
    write_notes();
    return std::move(result_);
  }

 private:
  const SavedTokens& side(bool is_b) const { return is_b ? result_.b : result_.a; }

  std::string matched_by() const {
    if (by_ == GroupBy::kNone && has_modules_) return "op and module";
    for (const auto& [name, by] : kGroupings) {
      if (by == by_) return name;
    }
    return "op";
  }

  std::string row_name(const SavedRow& row) const {
    if (by_ != GroupBy::kNone) return row.groups.at(by_);
    const std::string& op = row.groups.at(GroupBy::kOp);
    return has_modules_ ? op + "  " + row.groups.at(GroupBy::kModule) : op;
  }

  // Later positions cost more, so only positions of both profiles are comparable.
  void compare_decoded() {
    std::array<std::vector<double>, 2> ns;
    for (const bool is_b : {false, true}) {
      std::set<int64_t> others;
      for (const auto& [position, time] : side(!is_b).decoded) others.insert(position);
      for (const auto& [position, time] : side(is_b).decoded) {
        if (others.contains(position)) ns[is_b ? 1 : 0].push_back(time);
      }
    }
    result_.tokens.sample = "token";
    result_.tokens.runs_a = ns[0].size();
    result_.tokens.runs_b = ns[1].size();
    if (!ns[0].empty()) result_.tokens.wall = inspector::compare_times(ns[0], ns[1], false);
  }

  void add(const SavedRow& row, bool is_b, ComparedTokens& to) const {
    const SavedTokens& from = side(is_b);
    std::array<double, kPhases>& ns = is_b ? to.b : to.a;
    for (size_t phase = 0; phase < kPhases; ++phase) {
      const bool is_usual = phase == kDecode && result_.is_over_usual;
      const int64_t tokens = is_usual ? from.usual_steps : from.tokens[phase];
      if (tokens > 0)
        ns[phase] += (is_usual ? row.usual_ns : row.ns[phase]) / static_cast<double>(tokens);
    }
    ++(is_b ? to.rows_b : to.rows_a);
  }

  void add_outside() {
    for (const SavedRow& row : result_.a.outside) {
      result_.outside.push_back({.name = row.name});
      add(row, false, result_.outside.back());
    }
    for (const SavedRow& row : result_.b.outside) {
      const auto found = std::ranges::find(result_.outside, row.name, &ComparedTokens::name);
      if (found == result_.outside.end()) {
        result_.outside.push_back({.name = row.name});
        add(row, true, result_.outside.back());
      } else {
        add(row, true, *found);
      }
    }
  }

  void note(std::string text) { result_.notes.push_back(std::move(text)); }

  void write_notes() {
    const SavedTokens& a = result_.a;
    const SavedTokens& b = result_.b;
    if (knows_modules(a) != knows_modules(b)) {
      note(
          fmt::format("{} has no record, so its names come from the program and may differ from "
                      "the other side's",
                      knows_modules(a) ? "B" : "A"));
    }
    if (result_.is_over_usual) {
      note(
          fmt::format("decode covers {} of {} tokens of A and {} of {} tokens of B: the first six "
                      "and disturbed tokens are left out",
                      a.usual_steps, a.steps[kDecode], b.usual_steps, b.steps[kDecode]));
    }
    if (a.tokens[kPrefill] != b.tokens[kPrefill]) {
      note(
          fmt::format("the prompts have {} and {} tokens: the fixed cost of a call weighs less in "
                      "the longer one",
                      a.tokens[kPrefill], b.tokens[kPrefill]));
    }
    if (a.decoded.empty() || b.decoded.empty()) return;
    const std::array ends = {a.decoded.front().first, a.decoded.back().first,
                             b.decoded.front().first, b.decoded.back().first};
    if (ends[0] != ends[2] || ends[1] != ends[3]) {
      note(fmt::format(
          "decode covers positions {} to {} in A and {} to {} in B: attention costs more at later "
          "positions",
          ends[0], ends[1], ends[2], ends[3]));
    }
  }

  GroupBy by_;
  bool has_modules_ = false;
  TokenComparison result_;
};

}  // namespace

SavedTokens read_saved_tokens(std::string_view json, const std::string& label) {
  const JsonDocument document(json, label);
  const JsonValue root = document.root();
  if (!root.has("version") || !root.has("phases")) {
    root.fail("is not a token profile; write one with llm_runner --profile --format json");
  }
  if (root.at("version").integer() != kTokenJsonVersion) {
    root.fail(fmt::format("has version {}, expected version {}", root.at("version").integer(),
                          kTokenJsonVersion));
  }
  SavedTokens result;
  result.label = label;
  const JsonValue run = root.at("run");
  result.model = run.at("model").string();
  result.method = run.at("method").string();
  result.record = run.at("record").string();
  if (run.has("threads")) result.threads = run.at("threads").integer();
  result.max_context = run.at("max_context").integer();
  bool is_first = true;
  run.at("first_token_ns").each_item([&](const JsonValue& ns) {
    if (std::exchange(is_first, false)) result.first_token_ns = ns.number();
  });
  read_phases(root.at("phases"), result);
  result.token_p50 = root.at("token_ns").at("p50").number();
  result.token_p99 = root.at("token_ns").at("p99").number();
  read_decoded(root.at("tokens"), result);
  root.at("rows").each_item([&](const JsonValue& row) { result.rows.push_back(read_row(row)); });
  result.usual_steps = root.at("fitted_tokens").integer();
  read_times(root.at("wall"), result.wall);
  read_outside("unattributed", root.at("unattributed"), result);
  for (size_t i = 0; i < kStepParts; ++i) {
    const char* const name = part_name(static_cast<StepPart>(i));
    read_outside(name, root.at("parts").at(name), result);
  }
  return result;
}

TokenComparison compare_tokens(SavedTokens a, SavedTokens b, GroupBy by) {
  return Comparer(std::move(a), std::move(b), by).compare();
}

}  // namespace vitrine::llm

// Compares the inspector with ExecuTorch's Python Inspector. The files corpus/*/inspector*.tsv
// contain the tables of the Python Inspector for the same traces and records.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "formats/etdump/etdump_reader.h"
#include "formats/etrecord/etrecord.h"
#include "inspector/join/statistics.h"
#include "inspector/report/grouping.h"
#include "test/support/corpus.h"
#include "test/support/joined_profile.h"

namespace vitrine::inspector {
namespace {

namespace fs = std::filesystem;

constexpr double kNsOfMs = 1e6;
// Tolerance in ms. ExecuTorch computes times of delegates as differences of large floating-point
// numbers, which causes rounding errors.
constexpr double kTolerance = 1e-7;

std::vector<std::string> split(const std::string& line, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(line);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

using TsvRow = std::map<std::string, std::string>;

std::vector<TsvRow> read_tsv(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  const std::vector<std::string> titles = split(line, '\t');
  std::vector<TsvRow> rows;
  while (std::getline(stream, line)) {
    const std::vector<std::string> cells = split(line, '\t');
    TsvRow row;
    for (size_t i = 0; i < titles.size(); ++i) row[titles[i]] = i < cells.size() ? cells[i] : "";
    rows.push_back(row);
  }
  return rows;
}

// Parses a list such as "[0.1, 2.0]".
std::vector<double> numbers(const std::string& list) {
  std::vector<double> values;
  for (const std::string& part : split(list.substr(1, list.size() - 2), ',')) {
    values.push_back(std::stod(part));
  }
  return values;
}

// Returns the texts in single quotes.
std::vector<std::string> quoted(const std::string& text) {
  std::vector<std::string> parts;
  size_t open = text.find('\'');
  while (open != std::string::npos) {
    const size_t close = text.find('\'', open + 1);
    if (close == std::string::npos) break;
    parts.push_back(text.substr(open + 1, close - open - 1));
    open = text.find('\'', close + 1);
  }
  return parts;
}

// Returns the path of each node's innermost module from a text of the form {'node_': {'L__self__':
// ('', 'Model'), 'L__self__c': ('c', 'Conv2d')}, ...}.
std::vector<std::string> innermost_modules(const std::string& hierarchy) {
  std::vector<std::string> modules;
  for (size_t end = hierarchy.find(")}"); end != std::string::npos;
       end = hierarchy.find(")}", end + 1)) {
    const size_t open = hierarchy.rfind("('", end);
    const size_t close = hierarchy.find("',", open + 1);
    modules.push_back(hierarchy.substr(open + 2, close - open - 2));
  }
  return modules;
}

std::pair<const char*, double> figure(const char* name, double ns) { return {name, ns}; }

void expect_statistics(const TimeStatistics& time, const TsvRow& row, double tolerance) {
  for (const auto& [name, ns] :
       {figure("p10 (ms)", time.p10), figure("p50 (ms)", time.p50), figure("p90 (ms)", time.p90),
        figure("avg (ms)", time.avg), figure("min (ms)", time.min), figure("max (ms)", time.max)}) {
    EXPECT_NEAR(ns / kNsOfMs, std::stod(row.at(name)), tolerance) << name;
  }
}

void expect_equal_times(const RunSamples& samples, const TimeStatistics& time, const TsvRow& row) {
  const std::vector<double> raw = numbers(row.at("raw"));
  for (size_t i = 0; i < raw.size(); ++i) EXPECT_NEAR(samples[i].ns / kNsOfMs, raw[i], kTolerance);
  expect_statistics(time, row, kTolerance);
}

// Compares the statistics in a row of the table with the statistics that we compute from the row's
// raw times.
void expect_statistics_of_raw(const TsvRow& row) {
  std::vector<double> ns;
  for (const double ms : numbers(row.at("raw"))) ns.push_back(ms * kNsOfMs);
  const size_t runs = ns.size();
  expect_statistics(statistics_of(std::move(ns), runs), row, 1e-9);
}

// Compares op types and modules of a row that is not delegated. If several instructions have the
// same handle, ExecuTorch's Inspector assigns all ops of the handle to each instruction. We assign
// one op to each instruction, so our ops are a subset.
void expect_sources(const ProfileRow& row, const TsvRow& tsv) {
  const std::string& ops = tsv.at("op_types");
  if (ops.find(" total)") != std::string::npos) return;  // the table has only the first and last
  std::vector<std::string> theirs = quoted(ops);
  // The table's names are from str(op), which omits some namespaces. Our names are serialized
  // names.
  for (std::string& op : theirs) {
    if (std::count(op.begin(), op.end(), '.') == 1) op.insert(0, "aten.");
  }
  if (theirs.empty()) {
    // If the record is missing or lacks the instruction, our name for the row is the name of the
    // kernel.
    EXPECT_NE(row.join, Join::kExact);
    return;
  }
  EXPECT_EQ(row.join, Join::kExact);
  if (row.source_ops.size() == theirs.size()) {
    EXPECT_EQ(row.source_ops, theirs);
  } else {
    EXPECT_THAT(theirs, testing::IsSupersetOf(row.source_ops));
  }
  const std::vector<std::string> modules = innermost_modules(tsv.at("module_hierarchy"));
  for (const std::string& module : row.modules) EXPECT_THAT(modules, testing::Contains(module));
}

// Compares a profile with a table, in the order of the trace. Each row of the table is an event.
// The two events of a kernel correspond to one row of the profile.
class TableComparison {
 public:
  TableComparison(const Profile& profile, const std::vector<TsvRow>& tsv)
      : profile_(profile), tsv_(tsv) {
    // Some tables are from another run of the same program. The trace of that run is not in the
    // corpus. The names, order, counts and sources are the same, but the times differ.
    for (const TsvRow& row : tsv) {
      if (row.at("event_name") != "Method::init") continue;
      const double init = static_cast<double>(profile.run.init_ns.value_or(0)) / kNsOfMs;
      is_of_this_run_ = std::abs(init - numbers(row.at("raw")).at(0)) < kTolerance;
    }
  }
  bool is_of_this_run() const { return is_of_this_run_; }

  void run() {
    for (const TsvRow& row : tsv_) {
      SCOPED_TRACE(row.at("event_name") + " of " + row.at("event_block_name"));
      expect_statistics_of_raw(row);
      compare(row);
    }
    EXPECT_EQ(next_row_, profile_.rows.size()) << "the table has fewer rows";
    EXPECT_EQ(next_call_, profile_.delegate_calls.size());
    EXPECT_EQ(next_scope_, profile_.scopes.size());
  }

 private:
  void compare(const TsvRow& tsv) {
    const std::string& name = tsv.at("event_name");
    constexpr std::string_view kNative = "native_call_";
    const auto expect_times = [&](const RunSamples& samples, const TimeStatistics& time,
                                  const TsvRow& row) {
      ASSERT_EQ(samples.size(), numbers(row.at("raw")).size());
      if (is_of_this_run_) expect_equal_times(samples, time, row);
    };
    if (name == "Method::execute") {
      expect_times(profile_.wall_samples, profile_.wall, tsv);
    } else if (name == "DELEGATE_CALL") {
      ASSERT_LT(next_call_, profile_.delegate_calls.size());
      const DelegateCall& call = profile_.delegate_calls[next_call_++];
      expect_times(call.samples, call.time, tsv);
      if (!tsv.at("delegate_backend_name").empty()) {
        EXPECT_EQ(call.delegate, tsv.at("delegate_backend_name"));
      }
    } else if (name.starts_with(kNative)) {
      ASSERT_LT(next_row_, profile_.rows.size());
      const ProfileRow& row = profile_.rows[next_row_];
      EXPECT_EQ(std::string(kNative) + row.kernel, name);
      const std::vector<double> raw = numbers(tsv.at("raw"));
      ASSERT_EQ(row.inner_time.size(), raw.size());
      for (size_t i = 0; is_of_this_run_ && i < raw.size(); ++i) {
        EXPECT_NEAR(row.inner_time[i].ns / kNsOfMs, raw[i], kTolerance);
      }
    } else if (tsv.at("event_block_name") == "Default") {
      ASSERT_LT(next_scope_, profile_.scopes.size());
      const Scope& scope = profile_.scopes[next_scope_++];
      EXPECT_EQ(scope.name, name);
      if (is_of_this_run_) {
        EXPECT_NEAR(scope.ns / kNsOfMs, numbers(tsv.at("raw")).at(0), kTolerance);
      }
    } else {
      ASSERT_LT(next_row_, profile_.rows.size());
      const ProfileRow& row = profile_.rows[next_row_++];
      expect_times(row.samples, row.time, tsv);
      if (tsv.at("is_delegated_op") == "True") {
        EXPECT_EQ(row.identifier, name);
        // ExecuTorch does not join XNNPACK's operators. We infer them; see
        // JoinCorpus.InfersOperatorsOfExecuTorchTraces.
        EXPECT_EQ(tsv.at("op_types"), "[]");
      } else if (name == "OPERATOR_CALL") {
        EXPECT_EQ(row.where, Where::kKernel);
        expect_sources(row, tsv);
      } else {
        EXPECT_EQ(row.where, Where::kControl) << name;
      }
    }
  }

  const Profile& profile_;
  const std::vector<TsvRow>& tsv_;
  bool is_of_this_run_ = false;
  size_t next_row_ = 0;
  size_t next_call_ = 0;
  size_t next_scope_ = 0;
};

// Compares rows with events. These traces have no loops, so the k-th operator, kernel or control
// event of each run belongs to the k-th row.
void expect_times_of_events(const Profile& profile, const etdump::EtDump& dump) {
  size_t run = 0;
  for (const etdump::Block& block : dump.blocks) {
    if (block.name != "Execute") continue;
    size_t row = 0;
    for (const etdump::ProfileEvent& event : block.profile_events) {
      if (!event.is_in_instruction() || event.name == "DELEGATE_CALL" ||
          event.name.starts_with("native_call_")) {
        continue;
      }
      ASSERT_LT(row, profile.rows.size());
      ASSERT_LT(run, profile.rows[row].samples.size());
      EXPECT_EQ(profile.rows[row].samples[run].ns, static_cast<double>(event.end - event.start));
      ++row;
    }
    EXPECT_EQ(row, profile.rows.size());
    ++run;
  }
  EXPECT_EQ(run, profile.runs);
}

// The table inspector_decode.tsv belongs to etdump_decode.etdp, the trace of method "decode".
struct Names {
  std::string etdump = "etdump.etdp";
  std::string method = "forward";
  bool has_record = false;
};
Names names_of(const std::string& tsv) {
  constexpr std::string_view kBegin = "inspector_";
  if (!tsv.starts_with(kBegin)) return {};
  const std::string what = tsv.substr(kBegin.size(), tsv.size() - kBegin.size() - 4);
  if (what == "etrecord") return {.has_record = true};
  return {.etdump = "etdump_" + what + ".etdp", .method = what};
}

TEST(InspectorCorpus, MatchesTheExecuTorchInspector) {
  VITRINE_CORPUS_CASE(corpus, "");
  size_t files = 0, rows = 0, of_other_runs = 0;
  for (const fs::path& table : test::files_below(corpus, ".tsv")) {
    if (!table.filename().string().starts_with("inspector")) continue;
    SCOPED_TRACE(table.string());
    const Names names = names_of(table.filename());
    const etdump::EtDump dump = etdump::read_etdump(table.parent_path() / names.etdump);
    etrecord::EtRecord record;
    if (names.has_record) record = etrecord::read_etrecord(table.parent_path() / "etrecord.bin");
    const Profile profile = test::joined_profile(dump, names.has_record ? &record : nullptr,
                                                 {.method = names.method, .run = {}});
    const std::vector<TsvRow> tsv = read_tsv(table);
    TableComparison comparison(profile, tsv);
    comparison.run();
    expect_times_of_events(profile, dump);
    ++files;
    rows += tsv.size();
    of_other_runs += comparison.is_of_this_run() ? 0 : 1;
  }
  EXPECT_GE(files, 59u);
  EXPECT_GT(rows, 1000u);
  RecordProperty("tables_of_other_runs", std::to_string(of_other_runs));
}

TEST(InspectorCorpus, ReadsEveryRecord) {
  VITRINE_CORPUS_CASE(corpus, "");
  size_t records = 0;
  for (const fs::path& file : test::files_below(corpus, ".bin")) {
    if (!file.filename().string().starts_with("etrecord")) continue;
    SCOPED_TRACE(file.string());
    // A record may have the maps of a method without its program, so the test counts the nodes of
    // all methods together.
    const etrecord::EtRecord record = etrecord::read_etrecord(file);
    EXPECT_FALSE(record.methods.empty());
    size_t nodes = 0, values = 0;
    for (const auto& [name, method] : record.methods) {
      nodes += method.graph.nodes.size();
      values += method.graph.values.size();
    }
    EXPECT_NE(nodes, 0u);
    EXPECT_NE(values, 0u);
    ++records;
  }
  EXPECT_GE(records, 100u);
}

// Checks that every grouping adds up to the wall time in every run, with and without the options
// filter and top.
void expect_sums(const Profile& profile) {
  for (const GroupBy by :
       {GroupBy::kNone, GroupBy::kOp, GroupBy::kDelegate, GroupBy::kModule, GroupBy::kLine}) {
    for (const size_t top : {size_t{0}, size_t{3}}) {
      for (const char* filter : {"", "conv", "nothing has this name"}) {
        SCOPED_TRACE(testing::Message()
                     << "by " << static_cast<int>(by) << " top " << top << " filter " << filter);
        const Grouping grouping = group_rows(profile, {.by = by, .top = top, .filter = filter});
        std::multiset<size_t> rows(grouping.filtered_rows.begin(), grouping.filtered_rows.end());
        rows.insert(grouping.other_rows.begin(), grouping.other_rows.end());
        double sum = grouping.filtered.avg + grouping.others.avg + profile.unattributed.avg;
        double shares = profile.unattributed_share();
        for (const size_t row : rows) shares += profile.rows[row].share;
        for (const Group& group : grouping.groups) {
          sum += group.own_avg;
          shares += group.own_share;
          rows.insert(group.rows.begin(), group.rows.end());
        }
        EXPECT_NEAR(sum, profile.wall.avg, 1e-9 * profile.wall.avg);
        EXPECT_NEAR(shares, 1, 1e-9);
        ASSERT_EQ(rows.size(), profile.rows.size());
        for (size_t row = 0; row < profile.rows.size(); ++row) EXPECT_EQ(rows.count(row), 1u);
        // The time of a parent is the sum of its own rows and its children.
        for (size_t i = 0; top == 0 && i < grouping.groups.size(); ++i) {
          double parts = grouping.groups[i].own_avg;
          for (size_t k = i + 1;
               k < grouping.groups.size() && grouping.groups[k].depth > grouping.groups[i].depth;
               ++k) {
            if (grouping.groups[k].depth == grouping.groups[i].depth + 1) {
              parts += grouping.groups[k].time.avg;
            }
          }
          EXPECT_NEAR(parts, grouping.groups[i].time.avg, 1e-6 * profile.wall.avg);
        }
      }
    }
  }
  for (const ProfileRow& row : profile.rows) EXPECT_GE(row.share, 0);
  std::vector<double> rest;
  for (const RunSample& sample : profile.wall_samples) rest.push_back(sample.ns);
  for (const ProfileRow& row : profile.rows) {
    for (const RunSample& sample : row.samples) rest[sample.run] -= sample.ns;
  }
  for (const RunSample& sample : profile.unattributed_samples) {
    EXPECT_EQ(rest[sample.run], sample.ns) << "run " << sample.run;
  }
}

TEST(InspectorCorpus, EveryGroupingAddsUpToTheWallTime) {
  VITRINE_CORPUS_CASE(corpus, "");
  size_t traces = 0, cases = 0;
  for (const fs::path& trace : test::files_below(corpus, ".etdp")) {
    SCOPED_TRACE(trace.string());
    const fs::path file = trace.parent_path() / "etrecord.bin";
    const etdump::EtDump dump = etdump::read_etdump(trace);
    EXPECT_FALSE(dump.blocks.empty());
    ++traces;
    etrecord::EtRecord record;
    if (fs::exists(file)) record = etrecord::read_etrecord(file);
    const std::string stem = trace.stem().string();  // "etdump_decode"
    const std::string method = stem == "etdump" ? "forward" : stem.substr(7);
    const bool is_joined = record.methods.contains(method);
    expect_sums(
        test::joined_profile(dump, is_joined ? &record : nullptr, {.method = method, .run = {}}));
    cases += is_joined;
  }
  EXPECT_GE(traces, 49u);
  EXPECT_GE(cases, 19u);
}

}  // namespace
}  // namespace vitrine::inspector

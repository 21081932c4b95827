// Prints the profiles of real traces in terminals of several widths. No line may be wider than the
// terminal, and rows with different names must look different.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/text/text_layout.h"
#include "formats/etdump/etdump_reader.h"
#include "formats/etrecord/etrecord.h"
#include "inspector/report/comparison_texts.h"
#include "inspector/report/report_comparison.h"
#include "inspector/report/report_table.h"
#include "inspector/report/row_texts.h"
#include "test/inspector/report/sample_profile.h"
#include "test/support/corpus.h"
#include "test/support/joined_profile.h"

namespace vitrine::test {
namespace {

namespace fs = std::filesystem;
using inspector::Profile;

constexpr size_t kWidths[] = {60, 80, 100, 200};
constexpr size_t kMinDistinct = 80;  // at 60 columns, some kernels of stock traces look the same

struct NamedProfile {
  std::string name;
  Profile profile;
};

// Returns the profile of the folder's trace. If the folder has an ETRecord, also returns the
// profile with names from the ETRecord. All rows have equal times, so only their names differ.
std::vector<NamedProfile> profiles_in(const fs::path& folder) {
  std::vector<NamedProfile> profiles;
  if (!fs::exists(folder / "etdump.etdp")) return profiles;
  const etdump::EtDump trace = etdump::read_etdump(folder / "etdump.etdp");
  inspector::ProfileOptions options;
  options.run.model = folder.filename().string();
  profiles.push_back({folder.filename().string(), joined_profile(trace, nullptr, options)});
  if (fs::exists(folder / "etrecord.bin")) {
    const etrecord::EtRecord record = etrecord::read_etrecord(folder / "etrecord.bin");
    profiles.push_back(
        {profiles[0].name + " with record", joined_profile(trace, &record, options)});
  }
  for (NamedProfile& named : profiles) {
    for (inspector::ProfileRow& row : named.profile.rows) {
      row.time = inspector::around(1000);
      row.share = 0;
    }
  }
  return profiles;
}

std::vector<NamedProfile> all_profiles() {
  std::vector<NamedProfile> all;
  for (const fs::path& corpus : {corpus_dir(), corpus_15_dir(), corpus_llm_dir()}) {
    if (corpus.empty()) continue;
    for (const auto& entry : fs::directory_iterator(corpus)) {
      for (NamedProfile& named : profiles_in(entry.path())) all.push_back(std::move(named));
    }
  }
  return all;
}

// Returns the lines of the table between the titles and the rule, without the number at the start
// of each line.
std::vector<std::string> rows_of(const std::string& text) {
  std::vector<std::string> rows;
  bool is_in_table = false;
  for (const std::string& line : inspector::lines_of(text)) {
    if (line.starts_with("─")) break;
    if (is_in_table) {
      const size_t digits = line.find_first_not_of(' ');
      rows.push_back(line.substr(line.find_first_not_of("0123456789", digits)));
    }
    const size_t first = line.find_first_not_of(' ');
    is_in_table |= first != std::string::npos && line[first] == '#';
  }
  return rows;
}

void expect_fits(const std::string& text, size_t width) {
  for (const std::string& line : inspector::lines_of(text)) {
    EXPECT_LE(inspector::display_width(line), width) << line;
  }
  for (const std::string& row : rows_of(text)) {
    EXPECT_EQ(row.find(std::string(70, ' ')), std::string::npos) << row;
  }
}

// Expects that rows with different names have different lines.
void expect_different(const std::vector<std::string>& names, const std::string& text) {
  const std::vector<std::string> lines = rows_of(text);
  ASSERT_EQ(lines.size(), names.size()) << text;
  std::map<std::string, std::string> name_of_line;
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto [found, is_new] = name_of_line.try_emplace(lines[i], names[i]);
    EXPECT_TRUE(is_new || found->second == names[i])
        << lines[i] << "\n  " << names[i] << "\n  " << found->second;
  }
}

TEST(TableWidth, ProfileRowsFitAndStayDistinguishable) {
  VITRINE_NEEDS_CORPUS();
  const std::vector<NamedProfile> profiles = all_profiles();
  ASSERT_GT(profiles.size(), 30u);
  for (const NamedProfile& named : profiles) {
    std::vector<std::string> names;
    for (const inspector::ProfileRow& row : named.profile.rows) {
      const inspector::RowTexts texts = inspector::row_texts(row);
      names.push_back(texts.op + " | " + texts.module + " | " + texts.kernel);
    }
    for (const size_t width : kWidths) {
      SCOPED_TRACE(named.name + " at " + std::to_string(width));
      for (const bool costs : {false, true}) {
        const std::string text =
            inspector::report_table(named.profile, {.width = width, .costs = costs});
        expect_fits(text, width);
        if (width >= kMinDistinct) expect_different(names, text);
      }
      for (const inspector::GroupBy by :
           {inspector::GroupBy::kOp, inspector::GroupBy::kModule, inspector::GroupBy::kLine,
            inspector::GroupBy::kDelegate}) {
        inspector::TableOptions options = {.width = width};
        options.view.by = by;
        expect_fits(inspector::report_table(named.profile, options), width);
      }
    }
  }
}

TEST(TableWidth, ComparisonRowsFitAndStayDistinguishable) {
  VITRINE_NEEDS_CORPUS();
  for (const NamedProfile& named : all_profiles()) {
    inspector::Comparison comparison =
        inspector::compare_profiles(named.profile, named.profile, false);
    std::vector<std::string> names;
    for (inspector::ComparedOp& op : comparison.ops) {
      op.a = op.b = inspector::around(1000);
      op.ratio.reset();
      op.change = 0;
      const inspector::ComparedTexts texts =
          inspector::compared_texts(op, named.profile, named.profile);
      names.push_back(texts.op + " | " + texts.module);
    }
    for (const size_t width : kWidths) {
      SCOPED_TRACE(named.name + " at " + std::to_string(width));
      const std::string text =
          inspector::report_comparison(comparison, named.profile, named.profile, {.width = width});
      expect_fits(text, width);
      // If the table is less than 100 cells wide, the lines of two layout changes can look the
      // same.
      if (width >= 100) expect_different(names, text);
    }
  }
}

Profile language_model() {
  Profile profile = inspector::sample_profile();
  const inspector::ProfileRow linear = profile.rows[1];
  profile.rows.clear();
  for (const char* layer : {"0", "1", "10"}) {
    for (const char* part : {"attention.wq", "attention.wk", "feed_forward.w1"}) {
      inspector::ProfileRow& row = profile.rows.emplace_back(linear);
      row.source_ops = {"aten.linear.default"};
      row.folded_ops = row.folded_modules = {};
      row.modules = {std::string("model.layers.") + layer + "." + part};
      row.kernel = "Fully Connected (NC, QDU8, F32, QB4W) GEMM";
      row.short_kernel = "GEMM qdu8-f32-qb4w";
    }
  }
  return profile;
}

std::string table_of(const Profile& profile, size_t width) {
  const std::string text = inspector::report_table(profile, {.width = width});
  const size_t begin = text.find("#  ");
  return text.substr(begin, text.find("─") - begin);
}

TEST(TableWidth, NarrowTablesKeepLayerNumbersAndShortKernelNames) {
  EXPECT_EQ(table_of(language_model(), 80),
            "#  ran in  source op  module                     kernel             p50 us     %\n"
            "1  xnn 0   linear     …layers.0.attention.wq     GEMM qdu8-f32-qb4w  800.0  80.0\n"
            "2  xnn 0   linear     …layers.0.attention.wk     GEMM qdu8-f32-qb4w  800.0  80.0\n"
            "3  xnn 0   linear     …layers.0.feed_forward.w1  GEMM qdu8-f32-qb4w  800.0  80.0\n"
            "4  xnn 0   linear     …layers.1.attention.wq     GEMM qdu8-f32-qb4w  800.0  80.0\n"
            "5  xnn 0   linear     …layers.1.attention.wk     GEMM qdu8-f32-qb4w  800.0  80.0\n"
            "6  xnn 0   linear     …layers.1.feed_forward.w1  GEMM qdu8-f32-qb4w  800.0  80.0\n"
            "7  xnn 0   linear     …layers.10.attention.wq    GEMM qdu8-f32-qb4w  800.0  80.0\n"
            "8  xnn 0   linear     …layers.10.attention.wk    GEMM qdu8-f32-qb4w  800.0  80.0\n"
            "9  xnn 0   linear     …10.feed_forward.w1        GEMM qdu8-f32-qb4w  800.0  80.0\n");
  EXPECT_EQ(table_of(language_model(), 60),
            "#  ran in  source op  module                    p50 us     %\n"
            "1  xnn 0   linear     …layers.0.attention.wq     800.0  80.0\n"
            "2  xnn 0   linear     …layers.0.attention.wk     800.0  80.0\n"
            "3  xnn 0   linear     …layers.0.feed_forward.w1  800.0  80.0\n"
            "4  xnn 0   linear     …layers.1.attention.wq     800.0  80.0\n"
            "5  xnn 0   linear     …layers.1.attention.wk     800.0  80.0\n"
            "6  xnn 0   linear     …layers.1.feed_forward.w1  800.0  80.0\n"
            "7  xnn 0   linear     …layers.10.attention.wq    800.0  80.0\n"
            "8  xnn 0   linear     …layers.10.attention.wk    800.0  80.0\n"
            "9  xnn 0   linear     …10.feed_forward.w1        800.0  80.0\n");
}

}  // namespace
}  // namespace vitrine::test

// Tests the HTML report in a headless Chromium: the page must load, sort, filter, group, change its
// theme, fit a phone, and log no error. The tests are skipped if no Chromium is found.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "test/support/browser.h"
#include "test/support/corpus.h"
#include "test/support/read_json.h"
#include "test/support/read_text.h"
#include "test/support/scratch_folder.h"
#include "test/tools/command.h"

namespace vitrine::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr uintmax_t kMaxPageBytes = 1'000'000;

std::string page_of(const fs::path& model) {
  const ScratchFolder scratch;
  const fs::path file = scratch / "profile.html";
  succeeded(run_tool(VITRINE_COMMAND, "profile --format html --num_executions 5 --etrecord " +
                                          (model / "etrecord.bin").string() + " --output " +
                                          file.string() + " " + (model / "model.pte").string()));
  EXPECT_LT(fs::file_size(file), kMaxPageBytes);
  return read_text(file);
}

// JavaScript that clicks and types like a reader of the page.
constexpr char kDrive[] = R"(
const all = (query) => [...document.querySelectorAll(query)];
const rows = () => all('#table tbody tr:not(.detail)');
const first = () => rows()[0].dataset.rows;
const head = (text) => all('#table th button').find((button) => button.textContent === text);
const view = (by) => document.querySelector(`#views [data-by=${by}]`).click();
const type = (text) => { const input = document.getElementById('filter'); input.value = text; input.dispatchEvent(new Event('input')); };
seen.title = document.title;
seen.cards = all('.card').length;
seen.rows = rows().length;
head('%').click();
seen.longest = first();
head('%').click();
seen.shortest = first();
head('source op').click();
seen.by_name = rows().map((row) => row.children[2].textContent);
type('LINEAR');
seen.filtered = rows().map((row) => row.children[2].textContent);
seen.hash = location.hash;
type('no such text');
seen.none = rows().length;
type('');
seen.columns = all('#table thead th').filter((title) => title.offsetParent).map((title) => title.textContent);
seen.cut = [];
const note_cut = () => seen.cut.push(...all('#views button').filter((button) => button.getBoundingClientRect().right > innerWidth)
    .concat(innerWidth < 720 ? all('#table td.name > div').filter((cell) => cell.offsetParent && cell.scrollWidth > cell.clientWidth) : [])
    .map((element) => element.textContent));
note_cut();
for (const by of ['op', 'module', 'delegate', 'line']) { view(by); seen[by] = rows().length; note_cut(); }
view('none');
rows()[1].click();
seen.detail = all('tr.detail dd').map((element) => element.textContent).join('|');
seen.flame = all('#flame .block').length;
all('#flame .block').find((block) => block.dataset.name === 'features').click();
seen.zoomed = document.querySelector('#flame .block').dataset.name;
seen.timeline = all('#timeline .block').length;
document.getElementById('zoom-in').click();
seen.zoom = document.getElementById('timeline').style.width;
seen.memory = !document.getElementById('memory-section').hidden && all('#plan-peak li').length;
const theme = document.documentElement.dataset.theme;
document.getElementById('theme').click();
seen.theme = [theme, document.documentElement.dataset.theme].sort().join();
)";

// JavaScript that opens the details of a row and then follows their link to the graph.
constexpr char kOpenRow[] = R"(
document.querySelectorAll('#table tbody tr')[row].click();
const button = document.querySelector('.to-graph');
seen.button = button.textContent;
button.click();
)";

TEST(ReportHtmlBrowser, LoadsSortsAndFiltersWithoutErrors) {
  VITRINE_NEEDS_BROWSER();
  const std::string page = page_of(samples_dir() / "mv2_025_xnnpack");
  const json data = page_data(page);
  const json& rows = data.at("rows");
  size_t longest = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].at("share") > rows[longest].at("share")) longest = i;
  }
  for (const char* window : {"1280,900", "390,844"}) {
    SCOPED_TRACE(window);
    const json seen = drive(page, window, kDrive);
    expect_members(seen, R"({"title": "model.pte · forward", "filtered": ["linear"], "none": 0,
                             "cut": [], "zoomed": "features", "zoom": "200%",
                             "theme": "dark,light"})");
    EXPECT_EQ(seen.at("rows"), rows.size());
    EXPECT_EQ(seen.at("timeline"), rows.size() + 1) << "rows and the delegate call";
    EXPECT_EQ(seen.at("longest"), std::to_string(longest + 1));
    EXPECT_GE(seen.at("cards"), 4);
    EXPECT_NE(seen.at("shortest"), seen.at("longest"));
    const std::vector<std::string> names = seen.at("by_name");
    EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
    EXPECT_NE(seen.at("hash").get<std::string>().find("filter=LINEAR"), std::string::npos);
    for (const char* column : {"ran in", "source op", "module"}) {
      EXPECT_EQ(std::ranges::count(seen.at("columns"), column), 1) << column;
    }
    for (const char* by : {"op", "module", "delegate", "line"}) {
      EXPECT_EQ(seen.at(by), data.at("groups").at(by).size()) << by;
    }
    EXPECT_NE(seen.at("detail").get<std::string>().find("convolution"), std::string::npos);
    EXPECT_GT(seen.at("flame"), 60);
    EXPECT_GT(seen.at("memory"), 0);
  }
  // Tests the tab with the graph. The slowest row links to its node, and the node links to the row.
  const json seen =
      drive(page, "390,844",
            visit_graph("const row = " + std::to_string(longest) + ";" + std::string(kOpenRow),
                        "document.querySelector('tr.detail').previousSibling"));
  expect_members(seen, R"({"button": "Show in the graph", "hidden": [true, false]})");
  EXPECT_EQ(seen.at("selected"), json::array({"", longest}));
  EXPECT_EQ(seen.at("row"), std::to_string(longest + 1));
}

// A row of the comparison links to a node of program B, and the node links back to the row. The
// node's color shows the change in time.
TEST(ReportHtmlBrowser, DrawsTheGraphOfAComparison) {
  VITRINE_NEEDS_BROWSER();
  const ScratchFolder scratch;
  const fs::path folder = samples_dir() / "mv2_025_xnnpack", file = scratch / "comparison.html";
  const std::string model = (folder / "model.pte").string();
  const std::string record = (folder / "etrecord.bin").string();
  succeeded(run_tool(VITRINE_COMMAND,
                     "compare " + model + " " + model + " --num_executions 3 --etrecord " + record +
                         " --compare_etrecord " + record + " -o " + file.string()));
  const json seen =
      drive(read_text(file), "390,844",
            visit_graph("document.querySelectorAll('tr.to-graph')[4].click();"
                        "seen.opens = document.querySelectorAll('tr.to-graph').length;",
                        "document.querySelector('tr.shown')"));
  EXPECT_GT(seen.at("opens"), 60) << "rows of operators that are nodes of the payload";
  expect_members(seen, R"({"hidden": [true, false], "color": "figure"})");
  EXPECT_EQ(seen.at("cells").at(0), "5");
  ASSERT_EQ(seen.at("figures").size(), 1u);
  // The number in the graph must match the column "change us" of the table. Different code
  // computes the two numbers.
  EXPECT_NEAR(seen.at("figures").at(0).get<double>() / 1000,
              std::stod(seen.at("cells").at(9).get<std::string>()), 0.051);
  EXPECT_NE(seen.at("panel").get<std::string>().find("Row #5"), std::string::npos);
  EXPECT_NE(seen.at("panel").get<std::string>().find("change of time"), std::string::npos);
}

// JavaScript that switches to the page of the second method and back.
constexpr char kVisitMethods[] = R"(
seen.pages = [];
const all = (query) => [...document.querySelectorAll(query)];
const look = () => seen.pages.push({
  title: document.title,
  phases: all('#phases tbody tr').length,
  selected: all('#methods [aria-selected=true]').map((button) => button.textContent),
  rows: all('#table tbody tr').length,
  flame: all('#flame .block').length,
  timeline: document.getElementById('timeline-what').textContent,
  steps: document.getElementById('steps-what').textContent,
  kept: all('#steps-kept button').map((button) => button.textContent)});
look();
all('#methods button')[1].click();
look();
document.getElementById('filter').value = 'linear';
all('#methods button')[0].click();
look();
seen.ids = all('[id]').length - new Set(all('[id]').map((element) => element.id)).size;
)";

TEST(ReportHtmlBrowser, SwitchesBetweenMethods) {
  VITRINE_NEEDS_CORPUS_LLM();
  VITRINE_NEEDS_BROWSER();
  const ScratchFolder scratch;
  const fs::path file = scratch / "profile.html";
  succeeded(run_tool(VITRINE_LLM_RUNNER,
                     "--prompt_ids 1,5,9 --max_new_tokens 9 --profile --format html --model_path " +
                         (corpus_llm_dir() / "llama_prefill_decode_shared_kv/model.pte").string() +
                         " --output " + file.string()));
  const json seen = drive(read_text(file), "1280,900", kVisitMethods);
  EXPECT_EQ(seen.at("ids"), 0) << "duplicate ids";
  const json& pages = seen.at("pages");
  EXPECT_EQ(pages[0].at("selected"), json({"decode"}));
  EXPECT_EQ(pages[1].at("selected"), json({"prefill"}));
  EXPECT_EQ(pages[1].at("kept"), json({"prefill at 0"}));
  EXPECT_NE(pages[1].at("timeline").get<std::string>().find("prefill at 0"), std::string::npos);
  EXPECT_NE(pages[0].at("steps"), pages[1].at("steps"));
  for (const json& page : pages) {
    EXPECT_EQ(page.at("title"), "model.pte · decode + prefill");
    EXPECT_EQ(page.at("phases"), pages[0].at("phases"))
        << "the phases cover all methods on every page";
    EXPECT_GT(page.at("rows"), 20);
    EXPECT_GT(page.at("flame"), 2) << "more, unless a disturbed step makes the others too narrow";
  }
  EXPECT_EQ(pages[2], pages[0]);
}

TEST(ReportHtmlBrowser, MobileNetV2PageIsBelowOneMegabyte) {
  VITRINE_CORPUS_CASE(folder, "mv2_xnnpack");
  EXPECT_FALSE(page_of(folder).empty());
}

}  // namespace
}  // namespace vitrine::test

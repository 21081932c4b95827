// The HTML report in a headless Chromium: it loads, sorts, filters, groups, changes its theme, fits
// a phone, and logs no error. Skipped without Chromium.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "test/support/corpus.h"
#include "test/support/read_text.h"
#include "test/support/scratch_folder.h"
#include "test/tools/command.h"

namespace vitrine::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr uintmax_t kMaxPageBytes = 1'000'000;

std::string find_browser() {
  if (const char* set = std::getenv("VITRINE_CHROMIUM"); set != nullptr) return set;
  std::istringstream folders(std::getenv("PATH") == nullptr ? "" : std::getenv("PATH"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
      if (fs::exists(fs::path(folder) / name)) return fs::path(folder) / name;
    }
  }
  return "";
}

std::string page_of(const fs::path& model, const ScratchFolder& scratch) {
  const fs::path file = scratch / "profile.html";
  const CommandResult result = executor_runner(
      "--profile --format html --num_executions 5 --etrecord " + (model / "etrecord.bin").string() +
      " --output " + file.string() + " " + (model / "model.pte").string());
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_LT(fs::file_size(file), kMaxPageBytes);
  return read_text(file);
}

// Runs before the page's script and records errors.
constexpr char kWatch[] = R"(<script>
window.problems = [];
addEventListener('error', (event) => problems.push(event.message));
addEventListener('unhandledrejection', (event) => problems.push(String(event.reason)));
addEventListener('securitypolicyviolation', (event) => problems.push('policy: ' + event.blockedURI));
for (const kind of ['error', 'warn']) console[kind] = (...texts) => problems.push(texts.join(' '));
</script>)";

// Runs after it, acts like a reader, and records what the page shows.
constexpr char kDrive[] = R"(<script>
const seen = {};
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
for (const by of ['op', 'module', 'delegate', 'line']) { view(by); seen[by] = rows().length; }
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
seen.overflow = document.documentElement.scrollWidth - innerWidth;
seen.problems = window.problems;
const result = document.createElement('pre');
result.id = 'result';
result.textContent = btoa(unescape(encodeURIComponent(JSON.stringify(seen))));
document.body.append(result);
</script>)";

std::string from_base64(const std::string& text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) break;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>(bits >> count & 0xff);
    }
  }
  return bytes;
}

json drive(const std::string& browser, std::string page, const ScratchFolder& scratch,
           const char* window, const char* script = kDrive) {
  page.insert(page.find("<head>") + 6, kWatch);
  page.insert(page.rfind("</body>"), script);
  const fs::path file = scratch / "driven.html";
  std::ofstream(file) << page;
  const fs::path out = scratch / "dom";
  const std::string command =
      "timeout 120 " + browser +
      " --headless --no-sandbox --disable-gpu --user-data-dir=" + (scratch / "browser").string() +
      " --window-size=" + window + " --dump-dom file://" + file.string() + " >" + out.string() +
      " 2>" + (scratch / "log").string();
  EXPECT_EQ(std::system(command.c_str()), 0) << read_text(scratch / "log");
  const std::string dom = read_text(out);
  const std::string open = "<pre id=\"result\">";
  const size_t begin = dom.find(open);
  if (begin == std::string::npos) {
    ADD_FAILURE() << "the page's script did not end: " << dom.substr(0, 2000);
    return {};
  }
  return json::parse(from_base64(dom.substr(begin + open.size())));
}

TEST(ReportHtmlBrowser, LoadsSortsFiltersAndLogsNoError) {
  const std::string browser = find_browser();
  if (browser.empty()) {
    GTEST_SKIP() << "needs Chromium, which is not on the PATH: install it, or set VITRINE_CHROMIUM";
  }
  const ScratchFolder scratch;
  const std::string page = page_of(samples_dir() / "mv2_025_xnnpack", scratch);
  const std::string open = "id=\"data\">";
  const size_t begin = page.find(open) + open.size();
  const json data = json::parse(page.substr(begin, page.find("</script>", begin) - begin));
  const json& rows = data.at("rows");
  size_t longest = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].at("share") > rows[longest].at("share")) longest = i;
  }
  for (const char* window : {"1280,900", "390,844"}) {
    SCOPED_TRACE(window);
    const json seen = drive(browser, page, scratch, window);
    ASSERT_TRUE(seen.is_object());
    EXPECT_EQ(seen.at("problems"), json::array());
    EXPECT_EQ(seen.at("title"), "model.pte · forward");
    EXPECT_GE(seen.at("cards"), 4);
    EXPECT_EQ(seen.at("rows"), rows.size());
    EXPECT_EQ(seen.at("longest"), std::to_string(longest + 1));
    EXPECT_NE(seen.at("shortest"), seen.at("longest"));
    const std::vector<std::string> names = seen.at("by_name");
    EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
    EXPECT_EQ(seen.at("filtered"), json({"linear"}));
    EXPECT_NE(seen.at("hash").get<std::string>().find("filter=LINEAR"), std::string::npos);
    EXPECT_EQ(seen.at("none"), 0);
    for (const char* by : {"op", "module", "delegate", "line"}) {
      EXPECT_EQ(seen.at(by), data.at("groups").at(by).size()) << by;
    }
    EXPECT_NE(seen.at("detail").get<std::string>().find("convolution"), std::string::npos);
    EXPECT_GT(seen.at("flame"), 60);
    EXPECT_EQ(seen.at("zoomed"), "features");
    EXPECT_EQ(seen.at("timeline"), rows.size() + 1) << "rows and the delegate call";
    EXPECT_EQ(seen.at("zoom"), "200%");
    EXPECT_GT(seen.at("memory"), 0);
    EXPECT_EQ(seen.at("theme"), "dark,light");
    EXPECT_LE(seen.at("overflow"), 0) << "the page scrolls sideways";
  }
}

// Looks at the second method's page and comes back.
constexpr char kVisitMethods[] = R"(<script>
const seen = {pages: []};
const all = (query) => [...document.querySelectorAll(query)];
const look = () => seen.pages.push({
  title: document.title,
  selected: all('#methods [aria-selected=true]').map((button) => button.textContent),
  cards: all('.card').length,
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
seen.problems = window.problems;
const result = document.createElement('pre');
result.id = 'result';
result.textContent = btoa(unescape(encodeURIComponent(JSON.stringify(seen))));
document.body.append(result);
</script>)";

TEST(ReportHtmlBrowser, ShowsEachMethod) {
  const fs::path corpus = corpus_llm_dir();
  if (corpus.empty()) GTEST_SKIP() << "set VITRINE_CORPUS_LLM";
  const std::string browser = find_browser();
  if (browser.empty()) GTEST_SKIP() << "needs Chromium: install it, or set VITRINE_CHROMIUM";
  const ScratchFolder scratch;
  const fs::path file = scratch / "profile.html";
  const CommandResult result =
      run_tool(VITRINE_LLM_RUNNER,
               "--prompt_ids 1,5,9 --max_new_tokens 9 --profile --format html --model_path " +
                   (corpus / "llama_prefill_decode_shared_kv/model.pte").string() + " --output " +
                   file.string());
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json seen = drive(browser, read_text(file), scratch, "1280,900", kVisitMethods);
  ASSERT_TRUE(seen.is_object());
  EXPECT_EQ(seen.at("problems"), json::array());
  EXPECT_EQ(seen.at("ids"), 0) << "ids that are there twice";
  const json& pages = seen.at("pages");
  EXPECT_EQ(pages[0].at("title"), "model.pte · decode");
  EXPECT_EQ(pages[0].at("selected"), json({"decode"}));
  EXPECT_EQ(pages[1].at("title"), "model.pte · prefill");
  EXPECT_EQ(pages[1].at("selected"), json({"prefill"}));
  EXPECT_EQ(pages[1].at("kept"), json({"prefill at 0"}));
  EXPECT_NE(pages[1].at("timeline").get<std::string>().find("prefill at 0"), std::string::npos);
  EXPECT_NE(pages[0].at("steps"), pages[1].at("steps"));
  for (const json& page : pages) {
    EXPECT_GE(page.at("cards"), 4);
    EXPECT_GT(page.at("rows"), 20);
    EXPECT_GT(page.at("flame"), 20);
  }
  EXPECT_EQ(pages[2], pages[0]);
}

TEST(ReportHtmlBrowser, ThePageOfMobileNetV2IsSmall) {
  VITRINE_CORPUS_CASE(folder, "mv2_xnnpack");
  const ScratchFolder scratch;
  EXPECT_FALSE(page_of(folder, scratch).empty());
}

}  // namespace
}  // namespace vitrine::test

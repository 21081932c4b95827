#include "test/support/browser.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "test/support/read_text.h"
#include "test/support/scratch_folder.h"

namespace vitrine::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Runs before the page's script and records errors.
constexpr char kWatch[] = R"(<script>
window.problems = [];
addEventListener('error', (event) => problems.push(event.message));
addEventListener('unhandledrejection', (event) => problems.push(String(event.reason)));
addEventListener('securitypolicyviolation', (event) => problems.push('policy: ' + event.blockedURI));
for (const kind of ['error', 'warn']) console[kind] = (...texts) => problems.push(texts.join(' '));
</script>)";

// Runs after the test's script and writes the result into the page.
constexpr char kReport[] = R"(
seen.overflow = document.documentElement.scrollWidth - innerWidth;
seen.problems = window.problems;
const result = document.createElement('pre');
result.id = 'result';
result.textContent = encodeURIComponent(JSON.stringify(seen));
document.body.append(result);
</script>)";

// Decodes a result of JavaScript's encodeURIComponent(), which ends at the next HTML tag.
std::string decoded(const std::string& text) {
  std::string bytes;
  for (size_t at = 0; at < text.size() && text[at] != '<'; ++at) {
    bytes += text[at];
    if (text[at] != '%') continue;
    bytes.back() = static_cast<char>(std::stoi(text.substr(at + 1, 2), nullptr, 16));
    at += 2;
  }
  return bytes;
}

}  // namespace

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

json drive(std::string page, const char* window, const std::string& script) {
  const ScratchFolder scratch;
  page.insert(page.find("<head>") + 6, kWatch);
  page.insert(page.rfind("</body>"), "<script>const seen = {};" + script + kReport);
  const fs::path file = scratch / "driven.html";
  std::ofstream(file) << page;
  const fs::path out = scratch / "dom";
  const std::string command =
      "timeout 120 " + find_browser() +
      " --headless --no-sandbox --disable-gpu --user-data-dir=" + (scratch / "browser").string() +
      " --window-size=" + window + " --dump-dom file://" + file.string() + " >" + out.string() +
      " 2>" + (scratch / "log").string();
  EXPECT_EQ(std::system(command.c_str()), 0) << read_text(scratch / "log");
  const std::string dom = read_text(out);
  const std::string open = "<pre id=\"result\">";
  const size_t begin = dom.find(open);
  if (begin == std::string::npos) {
    ADD_FAILURE() << "the page's script did not finish: " << dom.substr(0, 2000);
    return {};
  }
  json seen = json::parse(decoded(dom.substr(begin + open.size())));
  EXPECT_EQ(seen.at("problems"), json::array());
  EXPECT_LE(seen.at("overflow"), 0) << "the page scrolls sideways";
  return seen;
}

std::string visit_graph(const std::string& open, const std::string& row) {
  return open + R"(
addEventListener('load', () => {
  const inner = document.querySelector('#graph-section iframe').contentWindow, {picture} = inner;
  const isHidden = () => document.getElementById('graph-section').hidden;
  const {selected} = picture.view, {figures} = picture.graph.data;
  seen.selected = selected.rows[0];
  seen.figures = (selected.figures || []).map((index) => figures.values[index]);
  seen.color = inner.document.getElementById('color').value;
  seen.panel = inner.document.getElementById('panel').textContent;
  seen.hidden = [isHidden()];
  inner.document.querySelector('.to-row').click();
  seen.hidden.unshift(isHidden());
  const shown = )" +
         row + R"(;
  seen.row = shown.dataset.rows;
  seen.cells = [...shown.cells].map((cell) => cell.textContent);
  seen.problems = window.problems.concat(inner.problems || []);
  result.textContent = encodeURIComponent(JSON.stringify(seen));
});
)";
}

}  // namespace vitrine::test

// Tests the page of a graph in a headless Chromium. The tests are skipped if no Chromium is found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "inspector/report/report_graph.h"
#include "test/support/browser.h"
#include "test/support/corpus.h"
#include "test/support/read_json.h"
#include "tools/pte_inspect/inspect.h"

namespace vitrine::test {
namespace {

namespace fs = std::filesystem;
using inspector::GraphPicture;
using Document = nlohmann::json;

std::string drawn_page(const fs::path& file, const fs::path& record) {
  tools::InspectOptions options;
  options.files = {file};
  options.report.format = tools::ReportFormat::kHtml;
  options.etrecords = {record};
  return tools::inspect(options).text;
}

// Lists the siblings that overlap, and the items that are drawn outside of the box that contains
// them.
constexpr char kFindOverlaps[] = R"(
const {graph, view} = window.picture;
const overlaps = () => {
  const found = [], visit = (box) => {
    const places = box.children.map((item) => [item, view.boxOf(item)]).sort((a, b) => a[1].y - b[1].y);
    places.forEach(([a, p], i) => {
      for (let k = i + 1; k < places.length && places[k][1].y < p.y + p.h - 0.01; ++k) {
        const q = places[k][1];
        if (p.x < q.x + q.w - 0.01 && q.x < p.x + p.w - 0.01) found.push(`${a.label} over ${places[k][0].label}`);
      }
      if (box !== graph.root) {
        const o = view.boxOf(box);
        if (p.x < o.x || p.y < o.y || p.x + p.w > o.x + o.w + 0.01 || p.y + p.h > o.y + o.h + 0.01) found.push(`${a.label} outside of ${box.label}`);
      }
      if (a.open) visit(a);
    });
  };
  visit(graph.root);
  return found;
};
const drawn = () => { let count = 0; const visit = (box) => box.children.forEach((item) => { ++count; if (item.open) visit(item); }); visit(graph.root); return count; };
)";

// Simulates a reader: clicks, types and presses keys.
constexpr char kUse[] = R"(
const canvas = document.getElementById('canvas');
const click = (item, corner) => {
  const box = view.boxOf(item), stage = canvas.getBoundingClientRect();
  const at = corner ? [box.x + 10 * view.scale, box.y + 10 * view.scale] : [box.x + box.w / 2, box.y + box.h / 2];
  for (const type of ['pointerdown', 'pointerup']) {
    canvas.dispatchEvent(new PointerEvent(type, {pointerId: 1, clientX: stage.left + at[0], clientY: stage.top + at[1], bubbles: true}));
  }
  view.finish();
};
const press = (key, target = document.body) => { target.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true})); view.finish(); };
const panel = () => document.getElementById('panel').hidden ? '' : document.querySelector('#panel h2').textContent;
seen.title = document.title;
seen.start = drawn();
const delegate = graph.items.find((item) => item.kind === 'delegate');
document.getElementById('close-all').click();
view.finish();
seen.closed = drawn();
click(delegate, true);
seen.opened = drawn();
seen.panel = panel();
seen.overlaps = overlaps();
const before = view.boxOf(delegate);
click(delegate, true);
seen.folded = drawn();
seen.moved = Math.abs(view.boxOf(delegate).y - before.y) + Math.abs(view.boxOf(delegate).x - before.x);
document.getElementById('open-all').click();
view.finish();
seen.all = drawn();
seen.allOverlaps = overlaps();
document.getElementById('close-all').click();
view.finish();
const search = document.getElementById('search');
search.value = 'linear';
search.dispatchEvent(new Event('input'));
seen.found = document.querySelectorAll('#found button').length;
press('Enter', search);
seen.revealed = panel();
seen.path = [...document.querySelectorAll('#panel .path button')].map((button) => button.textContent)[0];
seen.neighbors = document.querySelectorAll('#panel li button').length;
const selected = view.selected;
press('ArrowUp');
seen.up = view.selected !== selected && selected.inputs.some((edge) => edge.from === view.selected);
press('Escape');
seen.parent = view.selected.kind;
const scale = view.scale;
press('+');
seen.zoomed = view.scale > scale;
press('f');
const size = graph.root.layout, stage = canvas.getBoundingClientRect();
seen.fits = size.w * view.scale <= stage.width && size.h * view.scale <= stage.height;
seen.colors = [...document.querySelectorAll('#color option')].map((option) => option.value);
document.getElementById('color').value = 'bytes';
document.getElementById('color').dispatchEvent(new Event('change'));
seen.ramp = document.querySelectorAll('#key .ramp').length;
const pixel = () => [...canvas.getContext('2d').getImageData(2, canvas.height - 2, 1, 1).data].join();
const light = pixel(), theme = document.documentElement.dataset.theme;
document.getElementById('theme').click();
view.repaint();
view.draw();
seen.themed = theme !== document.documentElement.dataset.theme && pixel() !== light;
)";

TEST(GraphPageBrowser, BoxesOpenAndCloseAndNodesCanBeSelected) {
  VITRINE_NEEDS_GRAPH_LAYOUT();
  VITRINE_NEEDS_BROWSER();
  const fs::path folder = samples_dir() / "mv2_025_xnnpack";
  const std::string page = drawn_page(folder / "model.pte", folder / "etrecord.bin");
  const Document data = page_data(page);
  for (const char* window : {"1280,900", "390,844"}) {
    SCOPED_TRACE(window);
    const Document seen = drive(page, window, std::string(kFindOverlaps) + kUse);
    EXPECT_EQ(seen.at("start"), data.at("nodes").size()) << "small graphs start open";
    EXPECT_EQ(seen.at("all"), data.at("nodes").size());
    // A closed graph shows the input, the delegate and the output.
    expect_members(seen, R"({"title": "model.pte", "closed": 3, "folded": 3, "panel": "XNNPACK",
                             "path": "XNNPACK", "overlaps": [], "allOverlaps": [], "up": true,
                             "zoomed": true, "fits": true, "colors": ["op", "dtype", "bytes"],
                             "ramp": 1, "themed": true})");
    EXPECT_GT(seen.at("opened"), 3);
    EXPECT_LT(seen.at("moved"), 1) << "a box that closes stays in place";
    EXPECT_GT(seen.at("found"), 0);
    EXPECT_NE(seen.at("revealed"), "");
    EXPECT_GT(seen.at("neighbors"), 1);
    EXPECT_NE(seen.at("parent"), "op");
  }
}

TEST(GraphPageBrowser, ShowsHostileNamesAsText) {
  VITRINE_NEEDS_GRAPH_LAYOUT();
  VITRINE_NEEDS_BROWSER();
  const std::string hostile = "</script><img src=x onerror=alert(1)>{{script}}\xff\x01";
  GraphPicture picture;
  picture.title = hostile;
  picture.notes = {hostile};
  for (int i = 0; i < 3; ++i) {
    GraphPicture::Node& node = picture.nodes.emplace_back();
    node.label = node.note = node.module_path = node.backend = node.type = hostile;
    node.facts = {{hostile, hostile}};
  }
  picture.edges = {{0, 1, hostile}, {1, 2, hostile}};
  inspector::add_module_boxes(picture);
  const Document seen = drive(inspector::report_graph_html(picture), "1280,900", R"(
    const {graph, view} = window.picture;
    view.reveal(graph.items[1]);
    view.finish();
    seen.images = document.querySelectorAll('img').length;
    seen.scripts = document.querySelectorAll('script').length;
    seen.panel = document.querySelector('#panel h2').textContent;)");
  EXPECT_EQ(seen.at("images"), 0);
  EXPECT_THAT(seen.at("panel").get<std::string>(),
              testing::StartsWith("</script><img src=x onerror=alert(1)>{{script}}"));
}

TEST(GraphPageBrowser, BoxCountsSharedValuesOnce) {
  VITRINE_NEEDS_GRAPH_LAYOUT();
  VITRINE_NEEDS_BROWSER();
  // Returns what the page of a graph shows.
  const auto shown = [](bool is_change, double shared, double other) {
    GraphPicture picture;
    for (size_t i = 0; i < 4; ++i) {
      GraphPicture::Node& node = picture.nodes.emplace_back();
      node.label = "op" + std::to_string(i);
      node.module_path = "m";
      node.rows = {{"", i}};
      if (i > 0) picture.edges.push_back({i - 1, i, "f32[1]"});
    }
    picture.nodes.emplace_back().kind = GraphPicture::Kind::kOutput;
    picture.edges.push_back({3, 4, "f32[1]"});
    picture.figures.title = "figure";
    picture.figures.is_change = is_change;
    picture.figures.values = {shared, other};
    picture.figures.values_of_row = {{0, {0}}, {1, {0}}, {2, {1}}};  // row 3 was not measured
    inspector::add_module_boxes(picture);
    return drive(inspector::report_graph_html(picture), "1280,900", R"(
    const {graph} = window.picture;
    const mode = colorModes(graph).figure, box = graph.items.find((item) => item.kind === 'module');
    seen.figures = graph.items.filter((item) => item.kind === 'op').map(mode.of);
    seen.box = mode.text(mode.of(box));
    seen.colors = graph.items.filter((item) => item.kind === 'op').map(mode.color);)");
  };
  const Document changes = shown(true, 400, -100);
  EXPECT_EQ(changes.at("figures"), Document({400, 400, -100, nullptr}));
  EXPECT_EQ(changes.at("box"), "+300 ns") << "two nodes share 400 ns";
  EXPECT_EQ(changes.at("colors"), Document({1, 1, -0.5, "var(--rest)"}));
  const Document errors = shown(false, 20, INFINITY);
  EXPECT_EQ(errors.at("box"), "20.0 dB") << "the lowest SQNR";
  EXPECT_EQ(errors.at("colors"), Document({1, 1, 0, "var(--rest)"}));
}

// A network of 5,000 ops in blocks with skip connections.
GraphPicture large_picture() {
  GraphPicture picture;
  picture.title = "large";
  const auto add = [&](const std::string& label, const std::string& module) {
    GraphPicture::Node& node = picture.nodes.emplace_back();
    node.label = label;
    node.module_path = module;
    node.type = "f32[1,64,56,56]";
    return picture.nodes.size() - 1;
  };
  size_t last = add("start", "");
  for (int block = 0; block < 500; ++block) {
    const size_t skip = last;
    for (int i = 0; i < 10; ++i) {
      const size_t op = add(i == 9 ? "add" : "conv", "stage." + std::to_string(block / 25) +
                                                         ".block." + std::to_string(block % 25) +
                                                         (i < 5   ? ".a"
                                                          : i < 9 ? ".b"
                                                                  : ""));
      picture.edges.push_back({last, op, "f32[1,64,56,56]"});
      last = op;
    }
    picture.edges.push_back({skip, last, "f32[1,64,56,56]"});
  }
  inspector::add_module_boxes(picture);
  return picture;
}

TEST(GraphPageBrowser, DrawsFiveThousandNodes) {
  VITRINE_NEEDS_GRAPH_LAYOUT();
  VITRINE_NEEDS_BROWSER();
  const Document seen = drive(inspector::report_graph_html(large_picture()), "1280,900",
                              std::string(kFindOverlaps) + R"(
    seen.leaves = graph.root.leaves;
    seen.start = drawn();
    const times = (count, act) => {
      const list = [];
      for (let i = 0; i < count; ++i) {
        const start = performance.now();
        act(i);
        view.draw();
        list.push(performance.now() - start);
      }
      return list.sort((a, b) => a - b);
    };
    const middle = (list) => list[Math.floor(list.length / 2)];
    const boxes = graph.root.children.filter((item) => item.children.length);
    const open = times(20, (i) => view.setOpen(boxes[i % boxes.length], i < boxes.length));
    view.finish();
    seen.zoom = middle(times(30, () => view.zoomAt(0.97)));
    document.getElementById('open-all').click();
view.finish();
    seen.all = drawn();
    seen.whole = middle(times(10, () => view.zoomAt(1.02)));
    view.scale = 0.5;
    seen.near = middle(times(10, () => view.zoomAt(1.02)));
    seen.open = middle(open);
    seen.slowest = open[open.length - 1];
    seen.overlaps = overlaps();)");
  EXPECT_EQ(seen.at("leaves"), 5001);
  EXPECT_LT(seen.at("start"), 300) << "modules of large graphs start closed";
  EXPECT_GT(seen.at("all"), 5001);
  EXPECT_EQ(seen.at("overlaps"), Document::array());
  // CI machines are slow and busy, so the times are only printed.
  for (const char* what : {"zoom", "whole", "near", "open", "slowest"}) {
    std::printf("%s: %.1f ms\n", what, seen.at(what).get<double>());
  }
}

// 84 modules of 60 ops with many connections. dagre needs 100 to 500 ms for each module.
GraphPicture dense_picture() {
  GraphPicture picture;
  picture.title = "dense";
  uint32_t state = 1;
  const auto random = [&](size_t limit) {
    state = state * 1664525 + 1013904223;  // Numerical Recipes' generator
    return (state >> 8) % limit;
  };
  for (size_t i = 0; i < 84 * size_t{60}; ++i) {
    GraphPicture::Node& node = picture.nodes.emplace_back();
    const size_t module = i / 60;
    node.label = "conv";
    node.module_path = "block." + std::to_string(module / 7) + ".part" + std::to_string(module);
    node.type = "f32[1,64,56,56]";
    if (i > 0) picture.edges.push_back({i - 1, i, node.type});
    if (i % 60 > 20) picture.edges.push_back({i - 2 - random(18), i, node.type});
    if (i > 120 && random(7) == 0) picture.edges.push_back({i - 2 - random(118), i, node.type});
  }
  inspector::add_module_boxes(picture);
  return picture;
}

// Checks the time that the page's main thread works in one frame. A web worker computes the
// layout. The test uses medians, because other processes can interrupt a frame.
TEST(GraphPageBrowser, OpensClosesAndZoomsWithFrameTimesBelow50Ms) {
  VITRINE_NEEDS_GRAPH_LAYOUT();
  VITRINE_NEEDS_BROWSER();
  const Document seen = drive(inspector::report_graph_html(dense_picture()), "1280,900",
                              std::string(kFindOverlaps) + R"(
    seen.leaves = graph.root.leaves;
    const canvas = document.getElementById('canvas'), frame = () => new Promise(requestAnimationFrame);
    // Runs act() and waits until the page is drawn. Returns the longest time in ms that the page
    // worked in one frame, and the number of frames.
    const watch = async (act) => {
      const start = performance.now();
      act();
      let longest = performance.now() - start, frames = 0;
      do {
        await frame();
        await 0;
        longest = Math.max(longest, view.lastFrameMs);
        ++frames;
      } while (canvas.getAttribute('aria-busy') === 'true');
      return [longest, frames];
    };
    const parts = graph.ordered.filter((item) => item.label.startsWith('part')).slice(0, 3);
    const run = async () => {
      seen.open = [];
      seen.close = [];
      seen.zoom = [];
      await watch(() => view.setOpen(parts[0].parent, true));
      for (const part of parts) seen.open.push(await watch(() => view.setOpen(part, true)));
      seen.opened = parts.every((part) => part.open);
      seen.overlaps = overlaps();
      for (let i = 0; i < 9; ++i) seen.zoom.push(await watch(() => view.zoomAt(i < 5 ? 1.5 : 0.8)));
      for (const part of parts) seen.close.push(await watch(() => view.setOpen(part, false)));
      seen.closed = parts.every((part) => !part.open);
    };
    let isDone = false;
    run().catch((error) => window.problems.push(String(error))).finally(() => { isDone = true; });
    // While an inner frame is loading, the page's load event does not fire.
    const wait = () => {
      const inner = document.createElement('iframe');
      inner.srcdoc = 'wait';
      inner.addEventListener('load', () => { if (!isDone) wait(); inner.remove(); });
      document.body.append(inner);
    };
    wait();
    addEventListener('load', () => {
      seen.problems = window.problems;
      result.textContent = encodeURIComponent(JSON.stringify(seen));
    });)");
  expect_members(seen, R"({"leaves": 5040, "opened": true, "closed": true, "overlaps": []})");
  for (const char* what : {"open", "close", "zoom"}) {
    std::vector<double> longest;
    size_t frames = 0;
    for (const Document& each : seen.at(what)) {
      longest.push_back(each.at(0).get<double>());
      frames = std::max(frames, each.at(1).get<size_t>());
    }
    std::ranges::sort(longest);
    const double median = longest[longest.size() / 2];
    EXPECT_LT(median, 50) << what;
    std::printf(
        "%s: longest work in a frame %.1f ms (median), %.1f ms (largest), up to %zu frames\n", what,
        median, longest.back(), frames);
  }
}

}  // namespace
}  // namespace vitrine::test

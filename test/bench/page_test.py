"""Tests the page of the benchmark suite (bench/page.py)."""

import html.parser
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import page  # noqa: E402


def result(section, name, variant, p50, noise=0.01, **more):
    return {"section": section, "name": name, "variant": variant, "threads": 1, "p50_ns": p50, "p90_ns": 1.1 * p50,
            "p99_ns": 1.5 * p50, "min_ns": 0.9 * p50, "noise": noise, "runs": 50, **more}


def results(*figures, crossings=(), **facts):
    return page.Results({"format": "vitrine-bench", "version": 1, "facts": facts, "crossings": list(crossings),
                         "limits": {"copy_bytes_per_s": {"1": 2e10}, "multiply_adds_per_s": {"1": 1e11},
                                    "narrow_multiply_adds_per_s": {"bf16": {"1": 2e11}, "i8": {"1": 1.08e12, "2": 2e12}}},
                         "results": list(figures)})


def add_and_net():
    """An operator whose delegate takes 1000 ns plus 1 ns per element and its kernel 3 ns per element, and two models."""
    figures = [result("operators", "add", variant, ns(size), work=size, limit="copy") for size in (100, 250, 1000)
               for variant, ns in (("portable", lambda n: 9 * n), ("optimized", lambda n: 3 * n),
                                   ("xnnpack", lambda n: 1000 + n))]
    figures += [result("models", "net", "optimized", 2e6), result("models", "net", "xnnpack", 1e6),
                {"section": "models", "name": "net|2", "variant": "xnnpack", "threads": 1, "note": "outputs differ <b>"}]
    return results(*figures, crossings=[{"op": "add", "threads": 1, "unit": "elements", "from": 541.0}],
                   machine="A <fast> machine", compiler="GNU 12")


class Elements(html.parser.HTMLParser):
    """Fails on an element that is not closed in its turn."""
    VOID = {"meta", "link"}

    def __init__(self, text):
        super().__init__()
        self.open, self.count = [], {}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.count[tag] = self.count.get(tag, 0) + 1
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.count[tag] = self.count.get(tag, 0) + 1

    def handle_endtag(self, tag):
        if self.open.pop() != tag:
            raise AssertionError(f"</{tag}> closes another element")


class Markdown(unittest.TestCase):
    def test_contains_every_table(self):
        text = page.page_markdown(add_and_net())
        self.assertIn("| net | xnnpack | 1 | 1.00 ms | 1.10 ms | 1.50 ms | 1.0 % | 0.50 |", text)
        self.assertIn("| add | 1 | 541 elements | 1.00 k | 3.00 us | 3.00 | 0.67 |", text)
        self.assertIn("| threads | copy | f32 | bf16 | i8 |\n|---:|---:|---:|---:|---:|\n", text)
        self.assertIn("| 1 | 20.0 GB/s | 100 GFLOP/s | 200 GOP/s | 1.08 TOP/s |", text)
        self.assertIn("| net\\|2 | xnnpack | outputs differ <b> |", text)
        self.assertIn("- speedup of XNNPACK over optimized kernels: **2.00 x** (geometric mean of 1 figures)", text)

    def test_puts_ratios_within_noise_in_parentheses(self):
        figures = [result("models", "net", "optimized", 1e6, 0.1), result("models", "net", "xnnpack", 1.1e6, 0.1)]
        self.assertIn("(1.10)", page.page_markdown(results(*figures)))
        figures[1]["noise"] = 0
        self.assertNotIn("(1.10)", page.page_markdown(results(figures[0] | {"noise": 0.09}, figures[1])))

    def test_reports_pinned_cpus(self):
        self.assertIn(", 8 cores, ", page.page_markdown(results(cores="8")))
        pinned = results(cores="8", pinned="CPUs 0, 2")
        self.assertIn(", 8 cores, pinned to CPUs 0, 2, ", page.page_markdown(pinned))
        self.assertIn(" · 8 cores, pinned to CPUs 0, 2 · ", page.page_html(pinned))

    def test_reports_load_and_missing_cases(self):
        text = page.page_markdown(results(load="0.9", **{"operators without a case": "abs"}))
        self.assertIn("its load average was 0.9", text)
        self.assertIn("without a case in the suite: abs.", text)
        self.assertNotIn("not idle", page.page_markdown(results(load="0.1")))

    def test_lists_operators_that_xnnpack_does_not_support(self):
        figures = [result("operators", "gather", "portable", 900, work=1000),
                   result("operators", "gather", "optimized", 300, work=1000)]
        never = [{"op": "gather", "threads": 1, "unit": "elements", "from": None}]
        self.assertIn("| gather | 1 | never | 1.00 k | 300 ns | 3.00 |  |",
                      page.page_markdown(results(*figures, crossings=never)))

    def test_counts_have_one_row_per_model_and_variant(self):
        more = {"instructions": 152, "delegates": 3, "planned_bytes": 6e5}
        figures = [result("models", "net", "xnnpack", 1e6, sqnr_db=120, **more),
                   result("models", "net", "xnnpack", 1e6, sqnr_db=110.4, **more) | {"threads": 2},
                   result("models", "net", "portable", 1e6, instructions=7),
                   result("models", "net", "optimized", 1e6, instructions=7, sqnr_db=None)]  # sqnr_db is None: the outputs are equal
        text = page.with_results("<!-- bench counts -->\n<!-- end -->", results(*figures))
        self.assertIn("| net | xnnpack | 152 | 3 | 600 kB |  | 110 dB |\n| net | portable | 7 | 0 |  |  |  |\n"
                      "| net | optimized | 7 | 0 |  |  | equal |", text)

    def test_limit_of_init_is_time_to_copy_the_file(self):  # 1 MB, read and written at 20 GB/s: 100 us
        net = result("models", "net", "xnnpack", 1e6, load_ns=5e3, init_ns=400e3, first_ns=2e6, file_bytes=1e6)
        self.assertIn("| 400 us |  | 2.00 ms |", page.page_markdown(results(net)))
        self.assertIn("| 400 us | 25 % | 2.00 ms |", page.page_markdown(results(net | {"delegates": 1})))

    def test_runtime_table_shows_limits(self):
        step = result("runtime", "a step", "untraced", 10, limit="its kernel alone", of_limit=0.8)
        text = page.page_markdown(results(step))
        self.assertIn("1.0 % | 80 % | its kernel alone |", text)
        self.assertIn("- one step of the executor: **10.0 ns** (a one-element addition)", text)

    def test_figures_have_three_digits(self):
        self.assertEqual([page.time_text(ns) for ns in (0.5, 999, 1234, 12.34e6)],
                         ["0.50 ns", "999 ns", "1.23 us", "12.3 ms"])
        self.assertEqual([page.bytes_text(14.2e6), page.count_text(1048576), page.count_text(64)],
                         ["14.2 MB", "1.05 M", "64.0"])


class Html(unittest.TestCase):
    def test_has_plots_and_no_links(self):
        text = page.page_html(add_and_net())
        elements = Elements(text)
        self.assertEqual(elements.open, [])
        self.assertEqual(elements.count["svg"], 2)
        self.assertEqual(elements.count["circle"], 9 + 2)
        self.assertIn('class="crossing"', text)
        self.assertIn('[data-theme="dark"]', text)
        self.assertNotRegex(text, "https?://|nan")

    def test_has_a_color_for_every_variant(self):
        figures = [result("models", "net", variant, 1e6) for variant in [*page.SERIES, "new variant"]]
        text = page.page_html(results(*figures))
        classes = set(re.findall(r'class="(?:line )?(v-[^ "]*)', text))
        self.assertEqual(len(classes), len(page.SERIES) + 1)
        for each in classes:
            self.assertIn(f".{each} {{ --v", text)

    def test_escapes_names(self):
        text = page.page_html(add_and_net())
        self.assertIn("A &lt;fast&gt; machine", text)
        self.assertIn("outputs differ &lt;b&gt;", text)

    def test_accepts_empty_results(self):
        self.assertIn("</html>", page.page_html(results()))


class Documents(unittest.TestCase):
    def test_replaces_marked_parts(self):
        before = "# Speed\n<!-- bench run -->\nold\n<!-- end -->\nmore\n<!-- bench operators -->\n<!-- end -->"
        after = page.with_results(before, add_and_net())
        self.assertIn("# Speed\n<!-- bench run -->\n\nA <fast> machine", after)
        self.assertIn("<!-- end -->\nmore\n<!-- bench operators -->\n\n| operator |", after)
        self.assertNotIn("old", after)
        self.assertEqual(page.with_results(after, add_and_net()), after)

    def test_rejects_invalid_marks(self):
        for text in ("no mark", "<!-- bench speed -->\n<!-- end -->", "<!-- bench run -->\nno end",
                     "<!-- bench run <!-- end -->"):
            with self.assertRaises(ValueError, msg=text):
                page.with_results(text, results())


class Program(unittest.TestCase):
    def test_rejects_other_files(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "wrong.json"
            for text in ("", "{}", "[1]", '{"format": "other", "version": 1}', '{"format": "vitrine-bench", "version": 99}',
                         '{"format": "vitrine-bench", "version": 1, "facts": {}}'):
                file.write_text(text)
                done = subprocess.run([sys.executable, page.__file__, file], capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 1, text)
                self.assertIn("wrong.json: cannot make a page", done.stderr)
                self.assertFalse(file.with_suffix(".html").exists())


if __name__ == "__main__":
    unittest.main()

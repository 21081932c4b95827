#!/usr/bin/env python3
"""Writes the page of the benchmark suite, as Markdown and as one HTML file, from its results (docs/benchmarks.md).

bench.md and bench.html are written next to bench.json. --into also updates the marked parts of a document: a part
begins with a line "<!-- bench NAME -->" and ends before the next "<!-- end -->"."""

import argparse
import html
import json
import math
import pathlib
import re
import sys

PROFILE_PAGE = pathlib.Path(__file__).resolve().parents[1] / "inspector/report/html"  # gives style and script
# Name of each variant in legends, and its color in the style sheet.
SERIES = {
    "portable": ("portable kernels", "c1"),
    "optimized": ("optimized kernels", "c0"),
    "optimized-graph": ("optimized kernels, --optimize", "c3"),
    "xnnpack": ("XNNPACK, lowered by Vitrine", "c4"),
    "xnnpack-graph": ("XNNPACK, --optimize", "c5"),
    "executorch": ("XNNPACK, lowered by ExecuTorch", "c2"),
    "program": ("program as given", "c6"),
    "bare XNNPACK": ("XNNPACK alone", "rest"),
}
CHOSEN = {"kernel": "optimized", "delegate": "xnnpack"}  # the variants that the runtime runs
MAX_RATIO = 1.1
ONE_ELEMENT = "abs (one element)"  # a case that shows the cost of a call
PAGE_STYLE = """
.cards { grid-template-columns: repeat(auto-fit, minmax(128px, 1fr)); }
.plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(270px, 1fr)); gap: 14px 18px; margin: 14px 0; }
.plot { width: 100%; display: block; font: 10px system-ui, sans-serif; font-variant-numeric: tabular-nums; }
.plot text { fill: var(--soft); }
.plot .title { fill: var(--ink); font-size: 11.5px; font-weight: 600; }
.plot .label { fill: var(--ink); font-size: 13px; }
.plot .end { text-anchor: end; }
.plot .middle { text-anchor: middle; }
.plot .grid { stroke: var(--line); fill: none; }
.plot .crossing { stroke: var(--soft); stroke-dasharray: 3 3; fill: none; }
.plot .line { fill: none; stroke: var(--v); stroke-width: 1.8; }
.plot circle { fill: var(--v); stroke: var(--card); stroke-width: 1; }
.plot circle.hollow { fill: var(--card); stroke: var(--v); stroke-width: 2.2; }
.wide-plot { overflow-x: auto; margin-bottom: 14px; }
.wide-plot .plot { min-width: 720px; font-size: 12px; }
.legend i { background: var(--v); }
section > p { color: var(--soft); font-size: 13px; margin: -6px 0 12px; }
tbody tr { cursor: default; }
ul.method { color: var(--soft); font-size: 13px; margin: 0; padding-left: 18px; }
th { padding: 5px 6px; }
td:empty::after { content: "–"; color: var(--line); }
@media (max-width: 720px) { td:first-child { max-width: 34vw; overflow: hidden; text-overflow: ellipsis; } }
"""
SPEEDUPS = [
    ("speedup of optimized kernels over portable", "optimized", "portable"),
    ("speedup of XNNPACK over optimized kernels", "xnnpack", "optimized"),
    ("speedup of --optimize with optimized kernels", "optimized-graph", "optimized"),
    ("speedup of --optimize with XNNPACK", "xnnpack-graph", "xnnpack"),
    ("speedup of lowering by Vitrine over lowering by ExecuTorch", "xnnpack", "executorch"),
]


# ---- Figures


def scaled(value, *units):
    """Formats a value with three digits in the first unit in which it is at least 1. `units` start with the largest."""
    size, unit = next((each for each in units if value >= each[0]), units[-1])
    shown = value / size
    return f"{shown:.{0 if shown >= 99.95 else 1 if shown >= 9.995 else 2}f} {unit}".rstrip()


def time_text(ns):
    return "" if ns is None else scaled(ns, (1e9, "s"), (1e6, "ms"), (1e3, "us"), (1, "ns"))


def bytes_text(size):
    return "" if size is None else scaled(size, (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1, "B"))


def count_text(count):
    return scaled(count, (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1, ""))


def percent(share, decimals=0):
    return "" if share is None else f"{100 * share:.{decimals}f} %"


def ratio_text(result, base):
    """Formats the ratio of two times. Adds parentheses if it is within the noise. Returns "" if a result is missing."""
    if result is None or base is None or result is base:
        return ""
    ratio = result["p50_ns"] / base["p50_ns"]
    return f"({ratio:.2f})" if abs(ratio - 1) <= result["noise"] + base["noise"] else f"{ratio:.2f}"


def call_costs(results):
    """Returns how much longer the call of a delegate takes than the call of a kernel, in ns by number of threads: the
    difference of their shortest times for one element."""
    times = {(each["variant"], each["threads"]): each["min_ns"] for each in results.section("operators")
             if each["name"] == ONE_ELEMENT}
    return {threads: max(0, time - times["optimized", threads]) for (variant, threads), time in times.items()
            if variant == "xnnpack" and ("optimized", threads) in times}


def choices(results, costs=None):
    """Yields (where, chosen, best, ratio) for each operator, size and number of threads, once for each place that was
    timed: `where` is "kernel" (outside of delegates) or "delegate". `chosen` is the result of the runtime's choice in
    that place, `best` is the fastest result, and `ratio` is the ratio of their times. If `where` is "delegate", the
    times of `chosen` do not include the cost of the call, because all operators of a delegate share that call. `costs`
    has the form that call_costs() returns (default: the costs in `results`)."""
    costs = call_costs(results) if costs is None else costs
    subjects = {}
    for each in results.section("operators"):
        subjects.setdefault(results.key(each, None), {})[each["variant"]] = each
    for variants in subjects.values():
        best = min(variants.values(), key=lambda each: each["p50_ns"])
        for where, variant in CHOSEN.items():
            if variant not in variants:
                continue
            chosen = variants[variant]
            if where == "delegate":
                cost = costs.get(chosen["threads"], 0)
                chosen = {**chosen, "p50_ns": chosen["p50_ns"] - cost, "min_ns": chosen["min_ns"] - cost}
            yield where, chosen, best, chosen["p50_ns"] / best["p50_ns"]


def is_slow(chosen, best, ratio):
    """Returns True if the median and the minimum of `chosen` are above MAX_RATIO times those of `best`. The median must
    be above by more than the noise."""
    return (ratio / MAX_RATIO - 1 > chosen["noise"] + best["noise"] and
            chosen["min_ns"] > MAX_RATIO * best["min_ns"])


class Results:
    def __init__(self, document):
        if document.get("format") != "vitrine-bench" or document.get("version") != 1:
            raise ValueError("expected a results file of the benchmark suite, version 1")
        self.facts = document["facts"]
        self.limits = document["limits"]
        self.crossings = document["crossings"]
        self.all = document["results"]
        self.timed = [each for each in self.all if "runs" in each]
        self.by_key = {self.key(each, each["variant"]): each for each in self.timed}

    @staticmethod
    def key(result, variant):
        return result["section"], result["name"], result.get("work"), variant, result["threads"]

    def other(self, result, variant):
        """Returns the result of the same case for another variant, or None if that variant was not timed."""
        return self.by_key.get(self.key(result, variant))

    def section(self, name):
        return [each for each in self.timed if each["section"] == name]

    def fact(self, name):
        return self.facts.get(name, "unknown")

    def cores(self):
        text = self.fact("cores") + (" core" if self.fact("cores") == "1" else " cores")
        return f"{text}, pinned to {self.facts['pinned']}" if "pinned" in self.facts else text


def headlines(results):
    """Returns the title, the figure and the details of each result tile."""
    for title, variant, base in SPEEDUPS:
        pairs = [(results.other(each, base), each) for each in results.section("models") if each["variant"] == variant]
        logs = [math.log(a["p50_ns"] / b["p50_ns"]) for a, b in pairs if a]
        if logs:
            yield title, f"{math.exp(sum(logs) / len(logs)):.2f} x", f"geometric mean of {len(logs)} figures"
    bare = [each["of_limit"] for each in results.all if each.get("limit") == "bare XNNPACK" and "of_limit" in each]
    if bare:
        yield "speed relative to bare XNNPACK", percent(sum(bare) / len(bare)), f"mean of {len(bare)} figures"
    step = results.by_key.get(("runtime", "a step", None, "untraced", 1))
    if step:
        yield "one step of the executor", time_text(step["p50_ns"]), "a one-element addition"
    if "1" in results.limits["copy_bytes_per_s"]:
        rate = results.limits["copy_bytes_per_s"]["1"]
        yield "memory copied by one thread", bytes_text(rate) + "/s", "read and written"


def notes(results):
    yield ("docs/benchmarks.md describes the method. Noise is the uncertainty of p50 (98 % confidence); smaller "
           "differences mean nothing. Figures exist only for outputs that agree with those of the portable kernels.")
    load = re.match(r"[\d.]+", results.fact("load"))
    missing = results.facts.get("operators without a case")
    if load and float(load[0]) > 0.5:
        yield f"The machine was not idle: its load average was {results.fact('load')} at the start of the run."
    if missing:
        yield f"Operators of XNNPACK without a case in the suite: {missing}."


# ---- Tables: a title, a description, columns and rows. Titles of columns of figures begin with ">".


def models_table(results):
    rows = [(each["name"], each["variant"], each["threads"], time_text(each["p50_ns"]), time_text(each["p90_ns"]),
             time_text(each["p99_ns"]), percent(each["noise"], 1), ratio_text(each, results.other(each, "optimized")),
             percent(each.get("of_limit")), each.get("limit", "")) for each in results.section("models")]
    return ("Models", "Times of a run. The ratio is relative to the optimized kernels on the same number of threads. "
            "A ratio within the noise is in parentheses.",
            "model|variant|>threads|>p50|>p90|>p99|>noise|>ratio|>share of limit|limit", rows)


def start_table(results):
    def share(result):  # time of copying the file / time of loading the method; None without delegates
        rate = results.limits["copy_bytes_per_s"].get(str(result["threads"]))
        if not rate or not result.get("delegates") or not result.get("init_ns"):
            return None
        return 2 * result.get("file_bytes", 0) / rate * 1e9 / result["init_ns"]

    rows = [(each["name"], each["variant"], each["threads"], time_text(each.get("load_ns")),
             time_text(each.get("init_ns")), percent(share(each)), time_text(each["first_ns"]),
             bytes_text(each.get("peak_bytes")), bytes_text(each.get("file_bytes")))
            for each in results.all if each["section"] == "models" and "first_ns" in each]
    return ("Start and memory", "Medians over several new processes, with the model files in the page cache. Peak "
            "memory is resident memory, including the pages of the model file and the code. Delegates pack weights "
            "during init, so the limit of init is the time to copy the file once.",
            "model|variant|>threads|>load|>init|>init, share of limit|>first run|>peak memory|>file", rows)


def operators_table(results):
    rows = []
    for crossing in results.crossings:
        sizes = [each for each in results.section("operators") if each["name"] == crossing["op"]
                 and each["threads"] == crossing["threads"] and each["variant"] == "optimized"]
        if not sizes:
            continue
        largest = max(sizes, key=lambda each: each.get("work", 0))
        start = crossing["from"]
        size = "never" if start is None else f"{count_text(start)} {crossing['unit']}" if start else "always"
        rows.append((crossing["op"], crossing["threads"], size, count_text(largest.get("work", 0)),
                     time_text(largest["p50_ns"]), ratio_text(results.other(largest, "portable"), largest),
                     ratio_text(results.other(largest, "xnnpack"), largest), percent(largest.get("of_limit")),
                     largest.get("limit", "")))
    return ("Operators", "The size from which XNNPACK is faster than the optimized kernel, and the figures at the "
            "largest size. The times of portable and XNNPACK are divided by the time of the optimized kernel.",
            "operator|>threads|>size from which XNNPACK is faster|>largest size|>optimized|>portable|>XNNPACK|>share of limit|limit", rows)


def choices_table(results):
    found = list(choices(results))
    slow = sorted((each for each in found if is_slow(*each[1:])), key=lambda each: -each[3])
    rows = [(chosen["name"], count_text(chosen.get("work", 0)), chosen["threads"], where, time_text(chosen["p50_ns"]),
             f"{ratio:.2f}", best["variant"]) for where, chosen, best, ratio in slow]
    return ("Choices", f"In {len(rows)} of {len(found)} cases, the runtime's choice takes more than {MAX_RATIO} times "
            "as long as the fastest variant, beyond the noise. Times of delegates do not include the cost of the call.",
            "operator|>size|>threads|where|>time|>ratio to the fastest|fastest", rows)


def runtime_table(results):
    rows = [(each["name"], each["variant"], *(time_text(each[name]) for name in ("p50_ns", "p90_ns", "p99_ns")),
             percent(each["noise"], 1), percent(each.get("of_limit")), each.get("limit", ""))
            for each in results.section("runtime")]
    return "Runtime", "Times on one thread.", "subject|variant|>p50|>p90|>p99|>noise|>share of limit|limit", rows


def counts_table(results):
    """Makes a row for each model and variant, from its result on the fewest threads."""
    groups = {}
    for each in results.all:
        if each["section"] == "models":
            groups.setdefault((each["name"], each["variant"]), []).append(each)
    rows = []
    for (name, variant), group in groups.items():
        first = min(group, key=lambda each: each["threads"])
        if "instructions" not in first:
            continue
        agreements = [each["sqnr_db"] for each in group if each.get("sqnr_db") is not None]
        rows.append((name, variant, f"{first['instructions']:.0f}", f"{first.get('delegates', 0):.0f}",
                     bytes_text(first.get("planned_bytes")), bytes_text(first.get("file_bytes")),
                     f"{min(agreements):.0f} dB" if agreements else "equal" if "sqnr_db" in first else ""))
    return ("Counts", "Counts that do not depend on the machine, and the lowest agreement of the outputs with those of "
            "the portable kernels.",
            "model|variant|>instructions|>delegates|>planned memory|>file|>agreement of outputs", rows)


def limits_table(results):
    narrow = results.limits.get("narrow_multiply_adds_per_s", {})

    def rate(by_threads, threads, unit):
        return count_text(by_threads[threads]) + unit if threads in by_threads else ""

    rows = [(threads, bytes_text(copied) + "/s", rate(results.limits["multiply_adds_per_s"], threads, "FLOP/s"),
             *(rate(by_threads, threads, "OP/s") for by_threads in narrow.values()))
            for threads, copied in results.limits["copy_bytes_per_s"].items()]
    return ("Limits of this machine", "Limits that the same run measured: the bytes per second that a copy reads and "
            "writes, and the operations per second, in f32 and in each other dtype that has vector instructions. A "
            "multiply-add is two operations.",
            "|".join([">threads", ">copy", ">f32"] + [">" + dtype for dtype in narrow]), rows)


def gaps_table(results):
    rows = dict.fromkeys((each["name"], each["variant"], each["note"]) for each in results.all
                         if "runs" not in each and each.get("note"))
    return "Results without figures", "", "subject|variant|reason", list(rows)


def page_tables(results):
    tables = (models_table, start_table, operators_table, choices_table, runtime_table, counts_table, limits_table, gaps_table)
    return [table for table in (make(results) for make in tables) if table[3]]


# ---- Markdown


def markdown_rows(table):
    titles = table[2].split("|")
    rule = "".join("---:|" if title.startswith(">") else "---|" for title in titles)
    rows = [[title.lstrip(">") for title in titles], *table[3]]
    lines = ["".join(f" {str(cell).replace('|', chr(92) + '|')} |".replace("\n", " ") for cell in row) for row in rows]
    return "\n".join(["|" + lines[0], "|" + rule, *("|" + line for line in lines[1:])]) + "\n"


def run_text(results):
    fact = results.fact
    facts = (f"{fact('machine')}, {results.cores()}, {fact('system')}. {fact('compiler')}, `{fact('flags')}`. "
             f"Commit {fact('commit')}, {fact('date')}.\n\n")
    return facts + "".join(f"- {title}: **{figure}** ({detail})\n" for title, figure, detail in headlines(results))


def page_markdown(results):
    text = f"# Benchmarks\n\n{run_text(results)}\n"
    for table in page_tables(results):
        text += f"## {table[0]}\n\n" + (table[1] + "\n\n" if table[1] else "") + markdown_rows(table) + "\n"
    return text + "## Notes\n\n" + "".join(f"- {note}\n" for note in notes(results))


def document_parts(results):
    """Returns a dict from the name of a marked part to the part's text."""
    return {"run": run_text(results), **{table[0].lower(): markdown_rows(table) for table in page_tables(results)}}


def with_results(document, results):
    """Returns the document with new texts in its marked parts."""
    texts = document_parts(results)
    begin, *parts = document.split("<!-- bench ")
    if not parts:
        raise ValueError('expected a document with a mark "<!-- bench NAME -->"')
    for part in parts:
        name, close, rest = part.partition(" -->\n")
        if not close or "<!-- end -->" not in rest:
            raise ValueError('expected "<!-- end -->" after a mark "<!-- bench NAME -->"')
        if name not in texts:
            raise ValueError(f'unknown part "{name}" in a mark: these results have {", ".join(texts)}')
        begin += f"<!-- bench {name} -->\n\n{texts[name]}\n" + rest[rest.index("<!-- end -->"):]
    return begin


# ---- HTML


class Axis:
    """A logarithmic axis that maps values to pixels."""

    def __init__(self, values, begin, end, whole_decades):
        self.low, self.high = math.log10(min(values)), math.log10(max(values))
        if whole_decades:
            self.low, self.high = math.floor(self.low + 1e-9), math.ceil(self.high - 1e-9)
        if self.high - self.low < 0.5:
            self.high = self.low + 1
        self.begin, self.end = begin, end

    def at(self, value):
        return self.begin + (math.log10(value) - self.low) / (self.high - self.low) * (self.end - self.begin)

    def ticks(self):
        """Returns the powers of ten to label on the axis, usually at most six."""
        first, last = math.ceil(self.low - 1e-9), math.floor(self.high + 1e-9)
        return [10.0 ** power for power in range(first, last + 1, max(1, (last - first + 5) // 6))]


def tick_text(text):
    return re.sub(r"\.?0+(?= |$)", "", text) if "." in text else text


def text_at(x, y, text, kind, more=""):
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}"{more}>{html.escape(text)}</text>'


def circle(variant, x, y, radius, title, more=""):
    return (f'<circle class="v-{class_of(variant)}{more}" cx="{x:.1f}" cy="{y:.1f}" r="{radius}">'
            f"<title>{html.escape(title)}</title></circle>")


def class_of(variant):
    return variant.replace(" ", "-") if variant in SERIES else "other"


def curves_svg(results, crossing):
    """Draws a curve of time against size for each variant. Marks the size from which XNNPACK is faster."""
    name, unit = crossing["op"], crossing["unit"]
    points = [(each["variant"], each["work"], each["p50_ns"]) for each in results.section("operators")
              if each["name"] == name and each["threads"] == crossing["threads"] and each.get("work", 0) > 0]
    if not points:
        return ""
    width, height = 290, 178
    x = Axis([point[1] for point in points], 48, width - 14, False)
    y = Axis([point[2] for point in points], height - 34, 24, True)
    narrow = ' textLength="286" lengthAdjust="spacingAndGlyphs"' if len(name) > 42 else ""  # else it would be cut
    svg = [f'<svg class="plot" viewBox="0 0 {width} {height}" role="img" aria-label="{html.escape(name)}: times by '
           f'size">', text_at(2, 13, name, "title", narrow)]
    for tick in y.ticks():
        svg += [f'<path class="grid" d="M{x.begin:.1f} {y.at(tick):.1f}H{x.end:.1f}"/>',
                text_at(x.begin - 5, y.at(tick) + 3.5, tick_text(time_text(tick)), "end")]
    svg += [text_at(x.at(tick), height - 20, tick_text(count_text(tick)).replace(" ", ""), "middle")
            for tick in x.ticks()]
    svg.append(text_at(x.end, height - 6, unit, "end"))
    if crossing["from"] and x.at(crossing["from"]) > x.begin:
        svg.append(f'<path class="crossing" d="M{x.at(crossing["from"]):.1f} {y.end:.1f}V{y.begin:.1f}"><title>XNNPACK '
                   f'is faster from {count_text(crossing["from"])} {html.escape(unit)}</title></path>')
    for variant in SERIES:
        curve = sorted((work, ns) for series, work, ns in points if series == variant)
        if curve:
            path = "L".join(f"{x.at(work):.1f} {y.at(ns):.1f}" for work, ns in curve)
            svg.append(f'<path class="line v-{class_of(variant)}" d="M{path}"/>')
        svg += [circle(variant, x.at(work), y.at(ns), 2.6,
                       f"{variant}, {count_text(work)} {unit}: {time_text(ns)}") for work, ns in curve]
    return "".join(svg) + "</svg>"


def models_svg(results):
    """Draws a horizontal line for each model. Dots mark the times with one thread and with all threads."""
    most = max(each["threads"] for each in results.section("models"))
    rows = {}
    for each in results.section("models"):
        if each["threads"] in (1, most):
            rows.setdefault(each["name"], []).append(each)
    width, row_height, labels = 1200, 26, 280
    height = row_height * len(rows) + 30
    x = Axis([each["p50_ns"] for row in rows.values() for each in row], labels, width - 20, True)
    svg = [f'<svg class="plot" viewBox="0 0 {width} {height}" role="img" aria-label="times of models">']
    for tick in x.ticks():
        svg += [f'<path class="grid" d="M{x.at(tick):.1f} 4V{height - 24}"/>',
                text_at(x.at(tick), height - 8, tick_text(time_text(tick)), "middle")]
    for i, (name, row) in enumerate(rows.items()):
        y = row_height * (i + 0.5) + 4
        places = [x.at(each["p50_ns"]) for each in row]
        svg += [text_at(labels - 14, y + 4.5, name, "end label"),
                f'<path class="grid" d="M{min(places):.1f} {y:.1f}H{max(places):.1f}"/>']
        svg += [circle(each["variant"], place, y, 6, f"{name}, {each['variant']}, threads: {each['threads']}: "
                       f"{time_text(each['p50_ns'])}", " hollow" if each["threads"] != 1 else "")
                for each, place in zip(row, places)]
    return "".join(svg) + "</svg>"


def legend(results, section, has_threads):
    variants = {each["variant"] for each in results.section(section)}
    items = [f'<li><i class="v-{class_of(variant)}"></i>{name}</li>' for variant, (name, _) in SERIES.items()
             if variant in variants]
    if has_threads:
        items.append("<li>filled: one thread; hollow: all threads</li>")
    return f'<ul class="legend">{"".join(items)}</ul>'


def plots_html(results, title):
    if title == "Models":
        has_threads = any(each["threads"] > 1 for each in results.section("models"))
        return f'{legend(results, "models", has_threads)}<div class="wide-plot">{models_svg(results)}</div>'
    if title == "Operators":
        plots = "".join(curves_svg(results, each) for each in results.crossings if each["threads"] == 1)
        return f'{legend(results, "operators", False)}<div class="plots">{plots}</div><h3>All figures</h3>'
    return ""


def table_html(table):
    titles = table[2].split("|")
    kinds = [' class="n"' if title.startswith(">") else "" for title in titles]
    head = "".join(f"<th{kind}>{html.escape(title.lstrip('>'))}</th>" for kind, title in zip(kinds, titles))
    rows = "\n".join("<tr>" + "".join(f"<td{kind}>{html.escape(str(cell))}</td>" for kind, cell in zip(kinds, row))
                     + "</tr>" for row in table[3])
    return (f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>\n{rows}\n</tbody></table></div>')


def page_html(results):
    fact = results.fact
    subtitle = f"{fact('machine')} · {results.cores()} · {fact('compiler')} · commit {fact('commit')} · {fact('date')}"
    colors = "".join(f".v-{class_of(variant)} {{ --v: var(--{color}); }}\n" for variant, (_, color) in SERIES.items())
    style = (PROFILE_PAGE / "page.css").read_text(encoding="utf-8") + PAGE_STYLE + colors + ".v-other { --v: var(--soft); }\n"
    cards = "".join(f'<div class="card"><span>{html.escape(title)}</span><b>{figure}</b><i>{html.escape(detail)}</i>'
                    "</div>" for title, figure, detail in headlines(results))
    sections = [f'<section><div class="cards">{cards}</div></section>'] if cards else []
    sections += [f"<section><h2>{table[0]}</h2><p>{table[1]}</p>{plots_html(results, table[0])}{table_html(table)}"
                 "</section>" for table in page_tables(results)]
    items = [*notes(results), f"{fact('system')}; compiled with {fact('flags')}."]
    items = "".join(f"<li>{html.escape(item)}</li>" for item in items)
    sections.append(f'<section><h2>Notes</h2><ul class="method">{items}</ul></section>')
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; \
script-src 'unsafe-inline'; img-src data:">
<title>Benchmarks</title>
<link rel="icon" href="data:,">
<style>
{style}</style>
</head>
<body>
<header><div><h1>Benchmarks</h1><p id="subtitle">{html.escape(subtitle)}</p></div>\
<button id="theme" type="button" aria-label="Light or dark">◐</button></header>
<main>
{chr(10).join(sections)}
</main>
<script>
const $ = (id) => document.getElementById(id);
{(PROFILE_PAGE / "theme.js").read_text(encoding="utf-8")}</script>
</body>
</html>
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=pathlib.Path, help="the file that `bench --out` wrote")
    parser.add_argument("--into", type=pathlib.Path, metavar="FILE",
                        help="also updates the marked parts of FILE; NAME is run, or a table title in lower case")
    options = parser.parse_args()
    try:
        results = Results(json.loads(options.results.read_text(encoding="utf-8")))
        pages = {options.results.with_suffix(".md"): page_markdown(results),
                 options.results.with_suffix(".html"): page_html(results)}
    except (AttributeError, KeyError, TypeError, ValueError, ZeroDivisionError, OSError) as error:
        sys.exit(f"{options.results}: cannot make a page: {error!r}")
    try:
        if options.into:
            pages[options.into] = with_results(options.into.read_text(encoding="utf-8"), results)
        for file, text in pages.items():
            file.write_text(text, encoding="utf-8")
    except (OSError, ValueError) as error:
        sys.exit(str(error) if isinstance(error, OSError) else f"{options.into}: {error}")


if __name__ == "__main__":
    main()

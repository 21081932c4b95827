"""Tests of profiles, comparisons, verification, text generation and DLPack: reports_test.py <folder of samples>"""

import csv
import html.parser
import json
import os
import tempfile
import threading
import unittest

import numpy

import vitrine
from samples import floats, sample


class WellFormed(html.parser.HTMLParser):
    """Checks that elements are closed in order, and collects their names and the text."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.text = [], set(), ""
        self.feed(text)
        self.close()
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, tag, attributes):
        self.seen.add(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        self.text += data


class Tensor:
    """A tensor of another library, which shares its memory by DLPack."""

    def __init__(self, array, device=(1, 0)):
        self.array, self.device = array, device

    def __dlpack__(self, **arguments):
        return self.array.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self.device


def mv2_profile(**arguments):
    program = vitrine.Program(sample("mv2_025_xnnpack"), threads=1)
    return program.profile(record=sample("mv2_025_xnnpack", "etrecord.bin"), **arguments)


def digits():
    return [vitrine.Program(sample(name)) for name in ("digits_xnnpack", "digits_xnnpack_q8")]


class Notebooks(unittest.TestCase):
    def test_program_lists_methods_and_values(self):
        page = WellFormed(vitrine.Program(sample("linear_relu"))._repr_html_())
        for text in ("linear_relu", "forward", "float32[4, 16]", "float32[4, 5]"):
            self.assertIn(text, page.text)

    def test_names_from_files_are_escaped(self):
        self.assertIn("&lt;b&gt;", vitrine._html.table("<b>", ["<b>"], [["<b>"]]))
        self.assertNotIn("<b>", vitrine._html.table("<b>", ["<b>"], [["<b>"]], note="<b>"))

    def test_profile_shows_slowest_rows_without_scripts(self):
        profile = mv2_profile(runs=2)
        page = WellFormed(profile._repr_html_())
        self.assertNotIn("script", page.seen)
        slowest = max(profile.rows, key=lambda row: row["p50_ns"])
        self.assertIn(slowest["kernel"], page.text)
        self.assertIn(f"{len(profile) - 20} more", page.text)

    def test_comparisons_and_verification_are_tables(self):
        profile = mv2_profile(runs=6)
        self.assertIn("whole run", WellFormed(vitrine.compare(profile, profile)._repr_html_()).text)
        self.assertIn("SQNR", WellFormed(vitrine.compare_values(*digits())._repr_html_()).text)


class Profiles(unittest.TestCase):
    def test_repr_has_model_and_median(self):
        profile = vitrine.Program(sample("add_mul")).profile(runs=3)
        self.assertRegex(repr(profile), r"<vitrine.Profile of model.pte, forward: 2 rows, median [\d.]+ (ns|us|ms) over 3 runs>")
        self.assertEqual(len(profile), len(profile.rows))

    def test_header_names_the_origin_of_the_inputs(self):
        program = vitrine.Program(sample("linear_relu"))
        self.assertIn("inputs: random (seed 0)", str(program.profile(runs=1)))
        given = floats("linear_relu", "input_0.bin", (4, 16))
        self.assertIn("inputs: arguments of profile()", str(program.profile(given, runs=1)))

    def test_dir_lists_only_the_public_names(self):
        self.assertEqual(dir(vitrine), sorted(vitrine.__all__))

    def test_save_chooses_format_by_extension(self):
        profile = mv2_profile(runs=2)
        with tempfile.TemporaryDirectory() as folder:
            def saved(name, **arguments):
                path = os.path.join(folder, name)
                profile.save(path, **arguments)
                with open(path, encoding="utf-8", newline="") as file:
                    return file.read()
            rows = list(csv.reader(saved("p.csv").splitlines()))
            self.assertEqual(len(rows), len(profile) + 2)  # the names of columns, and unattributed
            self.assertEqual({len(row) for row in rows}, {len(rows[0])})
            self.assertIn("<svg", saved("p.svg"))
            self.assertIn("traceEvents", json.loads(saved("p.json", format="timeline")))
            self.assertEqual(saved("p.txt"), profile.table())
            with self.assertRaisesRegex(ValueError, "format must be one of table, json,.* got pdf"):
                profile.save(os.path.join(folder, "p.pdf"), format="pdf")
            self.assertFalse(os.path.exists(os.path.join(folder, "p.pdf")))

    def test_load_reads_stored_profile(self):
        profile = mv2_profile(runs=3)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "p.json")
            profile.save(path)
            stored = vitrine.Profile.load(path)
        self.assertEqual([row["p50_ns"] for row in stored.rows], [row["p50_ns"] for row in profile.rows])
        self.assertEqual(vitrine.compare(profile, stored).ratio, 1)
        with self.assertRaisesRegex(vitrine.Error, "model.pte"):
            vitrine.Profile.load(sample("add_mul"))

    def test_groups_add_up(self):
        profile = mv2_profile(runs=3)
        for key in ("op", "delegate", "module", "line"):
            groups = profile.group_by(key)
            total = sum(group["own_avg_ns"] for group in groups) + profile.data["unattributed_ns"]
            self.assertAlmostEqual(total, profile.wall_ns["avg"], delta=1)
        self.assertIn("features", profile.table(group_by="module"))
        self.assertNotIn("hardtanh", profile.table(group_by="op", filter="mean"))
        with self.assertRaisesRegex(ValueError, "expected one of op, delegate, module, line, got 'kernel'"):
            profile.group_by("kernel")
        with self.assertRaisesRegex(ValueError, "group_by must be one of none, op"):
            profile.table(group_by="kernel")

    def test_groups_convert_to_pandas(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("pandas is not installed")
        profile = mv2_profile(runs=6)
        frame = profile.to_pandas(group_by="op")
        self.assertEqual(list(frame["name"]), [group["name"] for group in profile.group_by("op")])
        self.assertIn("p50_ns", frame.columns)
        self.assertIn("ratio_p50", vitrine.compare(profile, profile).to_pandas().columns)


class Comparisons(unittest.TestCase):
    def test_profile_equals_itself(self):
        profile = mv2_profile(runs=6)
        comparison = vitrine.compare(profile, profile)
        self.assertEqual(comparison.ratio, 1)
        self.assertEqual(comparison.verdict, "no_change")
        self.assertEqual(sum(len(op["rows_a"]) for op in comparison.ops), len(profile))
        self.assertIn("B/A", str(comparison))
        self.assertIn("B/A 1, no change", repr(comparison))
        with tempfile.TemporaryDirectory() as folder:
            for name, begin in (("c.html", "<!doctype html>"), ("c.json", "{")):
                path = os.path.join(folder, name)
                comparison.save(path)
                with open(path, encoding="utf-8") as file:
                    self.assertTrue(file.read().lower().startswith(begin))

    def test_too_few_runs_give_no_verdict(self):
        profile = vitrine.Program(sample("add_mul")).profile(runs=2)
        self.assertEqual(vitrine.compare(profile, profile).verdict, "too_few_runs")

    def test_values_of_a_program_equal_its_own(self):
        program = vitrine.Program(sample("digits_portable"))
        comparison = vitrine.compare_values(program, program)
        self.assertTrue(comparison.values)
        self.assertEqual({value["different"] for value in comparison.values}, {0})
        self.assertFalse(comparison.is_below)
        self.assertIsNone(comparison.first_below)

    def test_quantized_outputs_differ_by_their_sqnr(self):
        a, b = digits()
        (spec,) = a.inputs()
        image = numpy.linspace(0, 1, spec.size, dtype=spec.dtype).reshape(spec.shape)
        comparison = vitrine.compare_values(a, b, image, min_sqnr=200)
        (expected,), (actual,) = a(image), b(image)
        noise = numpy.sum((expected.astype(float) - actual) ** 2)
        sqnr = 10 * numpy.log10(numpy.sum(expected.astype(float) ** 2) / noise)
        self.assertAlmostEqual(comparison.outputs[0]["sqnr_db"], sqnr, places=3)
        self.assertTrue(comparison.is_below)
        self.assertIn("below 200 dB", repr(comparison))
        self.assertFalse(vitrine.compare_values(a, b, image, min_sqnr=sqnr - 1).outputs[0]["sqnr_db"] < sqnr - 1)

    def test_limits_memory_for_values(self):
        a, b = digits()
        with self.assertRaisesRegex(vitrine.Error, "raise max_bytes"):
            vitrine.compare_values(a, b, max_bytes=10)

    def test_programs_must_take_the_same_inputs(self):
        a = digits()[0]
        with self.assertRaisesRegex(ValueError, "input 0 of forward must be float32"):
            vitrine.compare_values(a, vitrine.Program(sample("mv2_025_xnnpack")),
                                   numpy.zeros(a.inputs()[0].shape, numpy.float32))


class Numerics(unittest.TestCase):
    def measure(self, **arguments):
        program = vitrine.Program(sample("linear_relu"), threads=1)
        return vitrine.numerics(program, sample("linear_relu", "model.pt2"),
                                record=sample("linear_relu", "etrecord.bin"), **arguments)

    def test_rows_tell_the_error_of_each_operator(self):
        x = floats("linear_relu", "input_0.bin", (4, 16))
        numerics = self.measure(inputs=[x])
        self.assertEqual([row["not_measured"] for row in numerics.rows], ["", ""])
        for row in numerics.rows:
            self.assertEqual((row["nan"], row["infinite"], row["saturated_share"]), (0, 0, 0))
            self.assertLess(row["made_here"]["max_abs"], 1e-5)
        self.assertIsNone(numerics.first_below)
        self.assertIsNone(numerics.first_not_finite)
        (output,) = numerics.outputs
        self.assertEqual(output["elements"], 20)
        self.assertIn("inputs: arguments of numerics()", numerics.table())
        self.assertEqual(json.loads(numerics.to_json())["rows"][0]["op"], numerics.rows[0]["op"])
        self.assertIn("2 values, none below 30 dB", repr(numerics))
        self.assertIn("made here", WellFormed(numerics._repr_html_()).text)

    def test_limit_and_nan_name_the_first_row(self):
        x = floats("linear_relu", "input_0.bin", (4, 16)).copy()
        x[0, 0] = numpy.nan
        numerics = self.measure(inputs=[x], limit=500)
        self.assertEqual(numerics.first_not_finite["row"], 0)
        self.assertGreater(numerics.first_not_finite["nan"], 0)
        self.assertIsNotNone(numerics.first_below)

    def test_samples_are_measured_together(self):
        x = floats("linear_relu", "input_0.bin", (4, 16))
        numerics = self.measure(samples=[x, -3 * x])
        self.assertEqual(numerics.data["samples"], ["sample 0", "sample 1"])
        one = self.measure(inputs=[x]).rows[0]
        self.assertEqual(numerics.rows[0]["elements"], 2 * one["elements"])
        files = self.measure(samples=sample("linear_relu", "input_0.bin"))
        self.assertEqual(files.rows[0]["made_here"], one["made_here"])

    def test_page_has_times(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "errors.html")
            numerics = self.measure(times=True)
            numerics.save_html(path)
            with open(path, encoding="utf-8") as file:
                page = file.read()
        self.assertTrue(page.startswith("<!doctype html>"))
        self.assertGreater(numerics.rows[0]["time_ns"], 0)
        self.assertIsNone(self.measure().rows[0]["time_ns"])

    def test_reference_may_be_a_program(self):
        portable = vitrine.lower(sample("linear_relu", "model.pt2"), backend=None).program
        numerics = vitrine.numerics(sample("linear_relu"), portable, record=sample("linear_relu", "etrecord.bin"))
        self.assertEqual(numerics.data["reference"]["model"], "reference in memory")
        self.assertEqual(len(numerics.rows), 2)

    def test_rejects_wrong_arguments(self):
        x = floats("linear_relu", "input_0.bin", (4, 16))
        with self.assertRaisesRegex(ValueError, "inputs and samples cannot be used together"):
            self.measure(inputs=[x], samples=[x])
        with self.assertRaisesRegex(ValueError, "samples is empty"):
            self.measure(samples=[])
        with self.assertRaisesRegex(TypeError, "samples must be all paths or all arrays"):
            self.measure(samples=[x, "x.npy"])
        with self.assertRaisesRegex(TypeError, "input 0 of forward must be float32"):
            self.measure(inputs=[x.astype(numpy.float64)])
        with self.assertRaisesRegex(vitrine.Error, "raise max_bytes"):
            self.measure(max_bytes=150)
        with self.assertRaisesRegex(vitrine.Error, "no value fits into 10 bytes"):
            self.measure(max_bytes=10)
        with self.assertRaisesRegex(vitrine.Error, "nowhere.pt2"):
            vitrine.numerics(sample("linear_relu"), "nowhere.pt2")


class Verifications(unittest.TestCase):
    def setUp(self):
        self.program = vitrine.Program(sample("add_mul"))
        self.inputs = [floats("add_mul", f"input_{i}.bin", (2, 3)) for i in range(2)]
        self.expected = floats("add_mul", "expected_0.bin", (2, 3))

    def test_passes_for_expected_outputs(self):
        verification = self.program.verify(*self.inputs, expected=[self.expected])
        self.assertTrue(verification.passed)
        self.assertIn("passed", repr(verification))
        self.assertIn("1 of 1 outputs pass", WellFormed(verification._repr_html_()).text)

    def test_fails_beyond_tolerance(self):
        wrong = self.expected + numpy.float32(0.01)
        verification = self.program.verify(*self.inputs, expected=[wrong])
        self.assertFalse(verification.passed)
        self.assertIn("6 of 6 elements differ", str(verification))
        self.assertTrue(self.program.verify(*self.inputs, expected=[wrong], atol=0.02).passed)
        self.assertFalse(self.program.verify(*self.inputs, expected=[wrong], min_sqnr=100).passed)
        self.assertFalse(self.program.verify(*self.inputs, expected=[self.expected.astype(numpy.float64)]).passed)

    def test_rejects_wrong_expectations(self):
        with self.assertRaisesRegex(vitrine.Error, "2 expected outputs were given, but the method has 1"):
            self.program.verify(*self.inputs, expected=[self.expected] * 2)
        with self.assertRaisesRegex(TypeError, "expected output 0 must be a NumPy array, got float"):
            self.program.verify(*self.inputs, expected=[1.0])


class DLPack(unittest.TestCase):
    def test_inputs_and_outputs_are_exchanged(self):
        program = vitrine.Program(sample("add_mul"))
        inputs = [floats("add_mul", f"input_{i}.bin", (2, 3)) for i in range(2)]
        (output,) = program(*[Tensor(array) for array in inputs])
        (expected,) = program(*inputs)
        numpy.testing.assert_array_equal(output, expected)
        shared = numpy.from_dlpack(Tensor(output))
        self.assertTrue(numpy.shares_memory(shared, output))
        self.assertTrue(program.verify(*inputs, expected=[Tensor(output)]).passed)

    def test_inputs_are_not_copied(self):
        array = numpy.ones((2, 3), numpy.float32)
        (given,) = vitrine._arguments.arrays([Tensor(array)])
        self.assertTrue(numpy.shares_memory(given, array))

    def test_rejects_other_devices_and_shapes(self):
        program = vitrine.Program(sample("add_mul"))
        array = numpy.ones((2, 3), numpy.float32)
        with self.assertRaisesRegex(TypeError, "input 1 is a Tensor in another device's memory: copy it to the CPU"):
            program(array, Tensor(array, device=(2, 0)))
        with self.assertRaisesRegex(ValueError, r"input 0 of forward must be float32 \(2, 3\), got float32 \(6,\)"):
            program(Tensor(array.ravel()), array)


class Specs(unittest.TestCase):
    def test_has_names_of_numpy(self):
        (spec,) = vitrine.Program(sample("linear_relu")).inputs()
        array = numpy.zeros(spec.shape, spec.dtype)
        for name in ("ndim", "size", "itemsize", "nbytes"):
            self.assertEqual(getattr(spec, name), getattr(array, name), name)
        self.assertEqual(str(spec), "float32[4, 16]")


class Generations(unittest.TestCase):
    def setUp(self):
        self.model = vitrine.LanguageModel(sample("kjv_8da4w"), sample("kjv_8da4w", "tokenizer.model"))

    def test_text_is_reproducible_and_streamed(self):
        pieces = []
        first = self.model.generate("In the beginning", max_new_tokens=8, temperature=0, ignore_eos=True,
                                    on_text=pieces.append)
        self.assertEqual("".join(pieces), first.text)
        self.assertEqual(str(first), first.text)
        self.assertEqual(len(first.ids), 8)
        self.assertEqual(first.reason, "length")
        self.assertEqual(first.prompt_ids, self.model.encode("In the beginning"))
        self.assertEqual(first.statistics["prompt_tokens"], len(first.prompt_ids))
        self.assertGreater(self.model.position, len(first.prompt_ids))
        self.model.reset()
        self.assertEqual(self.model.position, 0)
        again = self.model.generate(first.prompt_ids, max_new_tokens=8, temperature=0, ignore_eos=True)
        self.assertEqual(again.ids, first.ids)

    def test_seeds_decide_samples(self):
        def ids(seed):
            self.model.reset()
            return self.model.generate("God", max_new_tokens=16, temperature=1.5, top_p=1, seed=seed).ids
        self.assertEqual(ids(1), ids(1))
        self.assertGreater(len({tuple(ids(seed)) for seed in range(4)}), 1)

    def test_exception_in_callback_ends_the_text(self):
        def stop(text):
            raise KeyError(text)
        with self.assertRaises(KeyError):
            self.model.generate("God", max_new_tokens=8, on_text=stop)
        self.model.reset()
        self.assertTrue(self.model.generate("God", max_new_tokens=2, ignore_eos=True).ids)

    def test_other_thread_stops_the_text(self):
        started = threading.Event()
        stopper = threading.Thread(target=lambda: (started.wait(), self.model.stop()))
        stopper.start()
        def wait(text):
            started.set()
            stopper.join()
        made = self.model.generate("God", max_new_tokens=100, ignore_eos=True, on_text=wait)
        self.assertEqual(made.reason, "stopped")
        self.assertLess(len(made.ids), 100)

    def test_rejects_invalid_requests(self):
        with self.assertRaisesRegex(vitrine.Error, "context"):
            self.model.generate([1] * (self.model.max_context + 1))
        with self.assertRaisesRegex(ValueError, "max_new_tokens must be 0 or more"):
            self.model.generate("God", max_new_tokens=-1)
        with self.assertRaisesRegex(vitrine.Error, "nowhere"):
            vitrine.LanguageModel(sample("kjv_8da4w"), "/nowhere")
        with self.assertRaises(vitrine.Error):
            vitrine.LanguageModel(sample("add_mul"), sample("kjv_8da4w", "tokenizer.model"))


if __name__ == "__main__":
    unittest.main()

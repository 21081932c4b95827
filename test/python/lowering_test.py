"""Tests of lowering and inspecting from Python: /usr/bin/python3 lowering_test.py <folder of samples>"""

import json
import os
import tempfile
import unittest

import numpy

import vitrine
from samples import floats, sample


class Lowering(unittest.TestCase):
    def test_lowered_program_matches_pytorch(self):
        lowered = vitrine.lower(sample("linear_relu", "model.pt2"), backend="xnnpack", record=True)
        self.assertTrue(lowered.record)
        info = vitrine.delegation_info(lowered)
        self.assertEqual((info.subgraphs, info.non_delegated_nodes), (1, 1))
        self.assertEqual(sum(row["delegated"] for row in info.by_op), info.delegated_nodes)
        self.assertIn("Total delegated subgraphs: 1", str(info))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.pte")
            lowered.save(path)
            with open(path, "rb") as file:
                self.assertEqual(file.read(), lowered.program)
            program = vitrine.Program(path)
            (spec,) = program.inputs()
            (output,) = program(floats("linear_relu", "input_0.bin", spec.shape))
            expected = numpy.fromfile(sample("linear_relu", "expected_0.bin"), numpy.float32)
            numpy.testing.assert_allclose(output.ravel(), expected, atol=1e-5)
            self.assertTrue(any("linear" in op for row in program.profile(runs=2).rows for op in row["source_ops"]))

    def test_backend_none_delegates_nothing(self):
        info = vitrine.lower({"forward": sample("linear_relu", "model.pt2")}, backend=None).delegation_info()
        self.assertEqual(info.subgraphs, 0)

    def test_backends_in_docstring_exist(self):
        names = [word.strip('",') for word in vitrine.lower.__doc__.split() if word.startswith('"')]
        self.assertIn("xnnpack-branches", names)
        for name in names[:names.index("xnnpack-branches") + 1]:
            vitrine.lower(sample("linear_relu", "model.pt2"), backend=name)

    def test_optimize_folds_constants(self):
        lowered = vitrine.lower(sample("linear_relu", "model.pt2"), backend=None, optimize=True)
        self.assertIn("constant inputs folded", lowered.explain())
        self.assertNotIn("permute_copy", str(lowered))

    def test_quantize_notes_skipped_layers(self):
        lowered = vitrine.lower(sample("linear_relu", "model.pt2"), quantize="8da4w:16")
        self.assertEqual(lowered.notes, ["not quantized: 2.weight: its row length 8 is not a multiple of the group size 16"])
        with self.assertRaisesRegex(vitrine.Error, "int7"):
            vitrine.lower(sample("linear_relu", "model.pt2"), quantize="int7")

    def test_calibrates_with_arrays_and_files(self):
        model = sample("ptq_two_batches", "model.pt2")
        files = [sample("ptq_two_batches", f"calib_{i}_0.bin") for i in range(2)]
        arrays = [numpy.fromfile(file, dtype=numpy.float32).reshape(2, 2, 8, 8) for file in files]
        programs = [vitrine.lower(model, quantize="int8", calibrate=data)
                    for data in (files, arrays, [(array,) for array in arrays])]
        self.assertIn("Int8: 7 calls", programs[0].explain())
        self.assertEqual(str(programs[0]), str(programs[1]))
        self.assertEqual(str(programs[0]), str(programs[2]))
        kept = vitrine.lower(model, quantize="int8", calibrate=arrays, keep={"fc": "float"})
        self.assertIn("--keep fc=float", kept.explain())
        with self.assertRaisesRegex(vitrine.Error, "f64"):
            vitrine.lower(model, quantize="int8", calibrate=[array.astype("float64") for array in arrays])
        with self.assertRaisesRegex(ValueError, "no samples"):
            vitrine.lower(model, quantize="int8", calibrate=[])

    def test_chooses_precisions_under_a_bound(self):
        model = sample("ptq_two_batches", "model.pt2")
        arrays = [floats("ptq_two_batches", f"calib_{i}_0.bin", (2, 2, 8, 8)) for i in range(2)]
        plain = vitrine.Program(vitrine.lower(model).program)(arrays[0])[0]

        def score(program):  # minus the largest error; worse for more quantized parts
            self.assertIsInstance(program, vitrine.Program)
            return -float(numpy.abs(program(arrays[0])[0] - plain).max())

        chosen = vitrine.quantize_auto(model, calibrate=arrays, at_least=-1e-3, accuracy=score)
        self.assertIsInstance(chosen, vitrine.Lowered)
        self.assertGreaterEqual(score(vitrine.Program(chosen.program)), -1e-3)
        scores = {each["name"]: each["score"] for each in chosen.search["results"]}
        self.assertEqual(scores["float"], 0)
        self.assertLess(scores["int8"], -1e-3)
        self.assertEqual(vitrine.lower(model, calibrate=arrays, **chosen.choice).program, chosen.program)
        self.assertIn("dB alone", chosen.table())
        with tempfile.TemporaryDirectory() as folder:
            chosen.save_html(os.path.join(folder, "page.html"))
            with open(os.path.join(folder, "page.html"), encoding="utf-8") as page:
                self.assertIn("aten.add.Tensor", page.read())
        keep = ["fc=8da4w:0", "c1=float"]
        self.assertIn("--keep fc=8da4w:0", vitrine.lower(model, quantize="int8", calibrate=arrays, keep=keep).explain())

    def test_device_times_are_those_of_the_profiles(self):
        model = sample("ptq_two_batches", "model.pt2")
        arrays = [floats("ptq_two_batches", f"calib_{i}_0.bin", (2, 2, 8, 8)) for i in range(2)]
        with tempfile.TemporaryDirectory() as folder:
            files, walls = {}, {}
            for scheme, keywords in {"float": {}, "int8": {"quantize": "int8", "calibrate": arrays}}.items():
                profile = vitrine.Program(vitrine.lower(model, **keywords).program).profile(arrays[0], runs=3)
                files[scheme] = os.path.join(folder, f"{scheme}.json")
                walls[scheme] = profile.wall_ns["p50"] / 1e6
                profile.save(files[scheme])
            chosen = vitrine.quantize_auto(model, calibrate=arrays, at_most_ms=1000, device_times=files)
            found = {each["name"]: each["ms"] for each in chosen.search["results"]}
            self.assertAlmostEqual(found["float"], walls["float"], places=6)
            self.assertAlmostEqual(found["int8"], walls["int8"], places=6)
            self.assertFalse(chosen.search["is_certain"])
            self.assertEqual({level["scheme"] for part in chosen.search["parts"] for level in part["levels"]}, {"int8"})
            with self.assertRaisesRegex(vitrine.Error, "expected a profile of the model in int8"):
                vitrine.quantize_auto(model, calibrate=arrays, at_most_ms=1000,
                                      device_times={"float": files["float"], "int8": files["float"]})
        with self.assertRaisesRegex(TypeError, "device_times"):
            vitrine.quantize_auto(model, calibrate=arrays, at_most_ms=1000, device_times=["float.json"])

    def test_wrong_bounds_and_scores_are_errors(self):
        model = sample("ptq_two_batches", "model.pt2")
        data = sample("ptq_two_batches", "calib_0_0.bin")
        with self.assertRaisesRegex(vitrine.Error, "smallest program has .* more than 1000"):
            vitrine.quantize_auto(model, calibrate=data, at_most_bytes=1000)
        with self.assertRaisesRegex(ValueError, "one bound"):
            vitrine.quantize_auto(model, calibrate=data, at_least=30, at_most_ms=1)
        with self.assertRaisesRegex(ValueError, "above 0"):
            vitrine.quantize_auto(model, calibrate=data, at_most_ms=0)
        with self.assertRaisesRegex(TypeError, "'keep'"):
            vitrine.quantize_auto(model, calibrate=data, at_least=30, keep={})
        with self.assertRaisesRegex(TypeError, "'color'"):
            vitrine.quantize_auto(model, calibrate=data, at_least=30, color=1)

        def broken(program):
            raise KeyError("no labels")
        with self.assertRaisesRegex(KeyError, "no labels"):
            vitrine.quantize_auto(model, calibrate=data, at_least=1, accuracy=broken)
        with self.assertRaisesRegex(ValueError, "finite"):
            vitrine.quantize_auto(model, calibrate=data, at_least=1, accuracy=lambda program: float("nan"))

    def test_metadata_becomes_methods(self):
        metadata = {"get_max_seq_len": 2048, "use_kv_cache": True, "get_head_dim": 0.5, "get_eos_ids": [2, 7]}
        lowered = vitrine.lower(sample("linear_relu", "model.pt2"), metadata=metadata, debug_maps=False)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.pte")
            lowered.save(path)
            program = vitrine.Program(path)
            self.assertEqual(set(program.methods), {"forward", *metadata})
            self.assertEqual(program.call("get_max_seq_len"), (2048,))
            self.assertIs(program.call("use_kv_cache")[0], True)
            self.assertEqual(program.call("get_head_dim"), (0.5,))
            self.assertEqual(program.call("get_eos_ids"), (2, 7))
        with self.assertRaisesRegex(TypeError, "get_max_seq_len"):
            vitrine.lower(sample("linear_relu", "model.pt2"), metadata={"get_max_seq_len": "long"})

    def test_external_constants_are_saved(self):
        lowered = vitrine.lower(sample("linear_relu", "model.pt2"), external_constants=True)
        (name,) = lowered.data
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.pte")
            lowered.save(path)
            with open(os.path.join(folder, name), "rb") as file:
                self.assertEqual(file.read(), lowered.data[name])
            program = vitrine.Program(path, data=[os.path.join(folder, name)])
            (spec,) = program.inputs()
            (output,) = program(floats("linear_relu", "input_0.bin", spec.shape))
            expected = numpy.fromfile(sample("linear_relu", "expected_0.bin"), numpy.float32)
            numpy.testing.assert_allclose(output.ravel(), expected, atol=1e-5)

    def test_only_ops_and_exclude_ops_filter_operators(self):
        def delegated(**kwargs):
            return {row["op_type"] for row in
                    vitrine.lower(sample("linear_relu", "model.pt2"), **kwargs).delegation_info().by_op if row["delegated"]}
        self.assertEqual(delegated(only_ops=["relu"]), {"aten_relu_default"})
        self.assertNotIn("aten_relu_default", delegated(exclude_ops=["relu"]))

    def test_attention_kinds(self):
        with self.assertRaisesRegex(vitrine.Error, "the model has no aten.scaled_dot_product_attention"):
            vitrine.lower(sample("linear_relu", "model.pt2"), attention="custom_sdpa")
        with self.assertRaisesRegex(ValueError, "flash"):
            vitrine.lower(sample("linear_relu", "model.pt2"), attention="flash")
        with self.assertRaisesRegex(vitrine.Error, "does not call my::op"):
            vitrine.lower(sample("linear_relu", "model.pt2"), operators=["my::op(Tensor x) -> Tensor"])
        self.assertEqual(vitrine.lower(sample("linear_relu", "model.pt2"), attention="auto").program,
                         vitrine.lower(sample("linear_relu", "model.pt2")).program)
        corpus = os.environ.get("VITRINE_CORPUS", "")
        model = os.path.join(corpus, "kv_cache", "model.pt2")
        if not os.path.exists(model):
            self.skipTest("needs the corpus: set VITRINE_CORPUS")
        self.assertIn("custom_sdpa", str(vitrine.lower(model, attention="custom_sdpa", backend=None)))
        self.assertIn("attention replaced by", vitrine.lower(model, attention="auto").explain())

    def test_dynamic_rejects_static_sizes(self):
        with self.assertRaisesRegex(vitrine.Error, "x.0: the model has no such dynamic size; all sizes are static"):
            vitrine.lower(sample("linear_relu", "model.pt2"), dynamic={"x.0": (1, 8)})

    def test_rejects_invalid_arguments(self):
        with self.assertRaisesRegex(vitrine.Error, "xnnpack"):
            vitrine.lower(sample("linear_relu", "model.pt2"), backend="abacus")
        with self.assertRaisesRegex(vitrine.Error, "model.pte"):
            vitrine.lower(sample("linear_relu", "model.pte"))
        with self.assertRaisesRegex(TypeError, "dynamic 'x.0' must be a maximum, or a pair of minimum and maximum, "
                                    "got '3'"):
            vitrine.lower(sample("linear_relu", "model.pt2"), dynamic={"x.0": "3"})
        with self.assertRaisesRegex(ValueError, "no method 'encode'; the program has forward"):
            vitrine.lower(sample("linear_relu", "model.pt2")).delegation_info("encode")


class Inspection(unittest.TestCase):
    def test_describes_program(self):
        description = vitrine.inspect(sample("add_mul"))
        self.assertEqual(description["bytes"], os.path.getsize(sample("add_mul")))
        json.dumps(description)

    def test_rejects_unknown_file(self):
        with self.assertRaisesRegex(vitrine.Error, "input_0.bin"):
            vitrine.inspect(sample("add_mul", "input_0.bin"))


if __name__ == "__main__":
    unittest.main()

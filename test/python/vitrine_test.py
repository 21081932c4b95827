"""Tests of the Python module: /usr/bin/python3 vitrine_test.py <folder of samples>"""

import decimal
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import unittest

import numpy

import vitrine
from samples import SAMPLES, floats, sample

def with_more_inputs(name, *values):
    """The bytes of a sample's program that takes these values too, and does nothing with them."""
    flatc = os.environ.get("FLATC") or shutil.which("flatc")
    if not flatc:
        raise unittest.SkipTest("flatc is not installed")
    schema = os.path.join(SAMPLES, "..", "..", "schema")
    with tempfile.TemporaryDirectory() as folder:
        def run(*arguments):
            subprocess.run([flatc, "-I", schema, "-o", folder, *arguments], check=True)
        schema_file = os.path.join(schema, "program.fbs")
        shutil.copy(sample(name), folder)
        run("--json", "--strict-json", "--defaults-json", "--raw-binary", schema_file, "--",
            os.path.join(folder, "model.pte"))
        file = pathlib.Path(folder, "model.json")
        program = json.loads(file.read_text())
        plan = program["execution_plan"][0]
        for kind, value in values:
            plan["inputs"].append(len(plan["values"]))
            plan["values"].append({"val_type": kind, "val": value})
        file.write_text(json.dumps(program))
        run("--binary", schema_file, str(file))
        return pathlib.Path(folder, "model.pte").read_bytes()


def tensor(dtype, *sizes):
    return "Tensor", {"scalar_type": dtype, "sizes": sizes, "dim_order": list(range(len(sizes)))}


class Calls(unittest.TestCase):
    def test_outputs_are_those_of_pytorch(self):
        program = vitrine.Program(sample("mv2_025_xnnpack"))
        image = floats("mv2_025_xnnpack", "input_0.bin", (1, 3, 128, 128))
        (logits,) = program(image)
        self.assertEqual(logits.dtype, numpy.float32)
        self.assertEqual(logits.shape, (1, 100))
        expected = floats("mv2_025_xnnpack", "expected_0.bin", (1, 100))
        numpy.testing.assert_allclose(logits, expected, atol=1e-4)

    def test_outputs_keep_their_memory(self):
        program = vitrine.Program(sample("add_mul"))
        first_inputs = [floats("add_mul", f"input_{i}.bin", (2, 3)) for i in range(2)]
        (first,) = program(*first_inputs)
        kept = first.copy()
        self.assertFalse(first.flags.owndata)
        other_inputs = [floats("add_mul", f"input_{i}_c1.bin", (2, 3)) for i in range(2)]
        (second,) = program(*other_inputs)
        del program
        numpy.testing.assert_array_equal(first, kept)
        numpy.testing.assert_allclose(first, floats("add_mul", "expected_0.bin", (2, 3)), atol=1e-6)
        numpy.testing.assert_allclose(second, floats("add_mul", "expected_0_c1.bin", (2, 3)), atol=1e-6)
        first[0, 0] = 7  # an array like any other

    def test_inputs_stay_as_they_are(self):
        program = vitrine.Program(sample("add_mul"))
        inputs = [floats("add_mul", f"input_{i}.bin", (2, 3)) for i in range(2)]
        for array in inputs:
            array.flags.writeable = False
        copies = [array.copy() for array in inputs]
        program(*inputs)
        for array, copy in zip(inputs, copies):
            numpy.testing.assert_array_equal(array, copy)

    def test_unaligned_memory(self):
        program = vitrine.Program(sample("add_mul"))
        inputs = []
        for i in range(2):
            values = floats("add_mul", f"input_{i}.bin", (2, 3))
            memory = numpy.zeros(25, numpy.uint8)
            array = memory[1:].view(numpy.float32).reshape(2, 3)
            array[:] = values
            inputs.append(array)
        (sums,) = program(*inputs)
        numpy.testing.assert_allclose(sums, floats("add_mul", "expected_0.bin", (2, 3)), atol=1e-6)

    def test_dynamic_shapes(self):
        program = vitrine.Program(sample("dynamic_batch_xnnpack"))
        (spec,) = program.inputs()
        self.assertTrue(spec.dynamic)
        columns = spec.shape[1]
        for suffix in ("", "_c1", "_c2"):
            batch = floats("dynamic_batch_xnnpack", f"input_0{suffix}.bin", (-1, columns))
            expected = numpy.fromfile(sample("dynamic_batch_xnnpack", f"expected_0{suffix}.bin"), numpy.float32)
            (output,) = program(batch)
            self.assertEqual(len(output), len(batch))
            numpy.testing.assert_allclose(output.ravel(), expected, atol=1e-5)

    def test_threads_wait_for_each_other(self):
        program = vitrine.Program(sample("mv2_025_xnnpack"))
        image = floats("mv2_025_xnnpack", "input_0.bin", (1, 3, 128, 128))
        results = []
        threads = [threading.Thread(target=lambda: results.append(program(image)[0])) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for result in results:
            numpy.testing.assert_array_equal(result, results[0])
        self.assertEqual(len(results), 4)

    def test_descriptions(self):
        program = vitrine.Program(sample("add_mul"), threads=1, optimized_kernels=False)
        self.assertEqual(program.methods, ["forward"])
        self.assertEqual(program.inputs(), [vitrine.Spec("array", numpy.dtype("float32"), (2, 3), False)] * 2)
        self.assertEqual(program.outputs()[0].shape, (2, 3))
        language_model = vitrine.Program(sample("kjv_8da4w"))
        self.assertEqual([spec.name for spec in language_model.inputs()], [None, "input_pos"])


    def test_programs_in_memory(self):
        with open(sample("add_mul"), "rb") as file:
            content = file.read()
        inputs = [floats("add_mul", f"input_{i}.bin", (2, 3)) for i in range(2)]
        for offset in range(4):  # wherever the bytes lie
            memory = memoryview(bytearray(offset) + content)[offset:]
            program = vitrine.Program(memory)
            memory.release()
            (sums,) = program(*inputs)
            numpy.testing.assert_allclose(sums, floats("add_mul", "expected_0.bin", (2, 3)), atol=1e-6)
        self.assertIsNone(program.path)
        self.assertEqual(repr(program), "<vitrine.Program of bytes>")
        self.assertEqual(program.profile(*inputs, runs=2).data["model"], "program in memory")
        for wrong in (b"", b"no program"):
            with self.assertRaisesRegex(vitrine.Error, "program in memory"):
                vitrine.Program(bytearray(wrong))

    def test_lowered_programs_need_no_file(self):
        lowered = vitrine.lower(sample("linear_relu", "model.pt2"))
        program = vitrine.Program(lowered.program)
        (spec,) = program.inputs()
        (output,) = program(floats("linear_relu", "input_0.bin", spec.shape))
        expected = numpy.fromfile(sample("linear_relu", "expected_0.bin"), numpy.float32)
        numpy.testing.assert_allclose(output.ravel(), expected, atol=1e-5)
        self.assertTrue(any("linear" in op for row in program.profile(runs=2).rows for op in row["source_ops"]))

    def test_backend_options(self):
        image = floats("mv2_025_xnnpack", "input_0.bin", (1, 3, 128, 128))
        expected = floats("mv2_025_xnnpack", "expected_0.bin", (1, 100))
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "weights")
            program = vitrine.Program(sample("mv2_025_xnnpack"), backend_options={
                "packed_cache_path": file, "XnnpackBackend:workspace_sharing_mode": 0})
            program.profile(image, runs=2)
            self.assertGreater(file.stat().st_size, 0)
            file.unlink()
            numpy.testing.assert_allclose(program(image)[0], expected, atol=1e-4)
            self.assertGreater(file.stat().st_size, 0)
        program = vitrine.Program(sample("mv2_025_xnnpack"), backend_options={"workspace_sharing_mode": 7})
        with self.assertRaisesRegex(vitrine.Error, "workspace_sharing_mode"):
            program(image)
        with self.assertRaisesRegex(TypeError, "backend option a is 0.5; it takes a bool, an int or a str"):
            vitrine.Program(sample("add_mul"), backend_options={"a": 0.5})

    def test_limits(self):
        image = floats("digits_portable", "input_0.bin", (1, 1, 8, 8))
        for limit, says in (({"max_memory_bytes": 10000}, "of the 10000 that max_memory_bytes allows"),
                            ({"max_load_steps": 10}, r"more than 10 steps \(max_load_steps\)"),
                            ({"max_instructions_per_run": 1}, "stopped after 1 instructions")):
            program = vitrine.Program(sample("digits_portable"), **limit)
            with self.assertRaisesRegex(vitrine.Error, says):
                program(image)
            with self.assertRaisesRegex(vitrine.Error, says):
                program.profile(image, runs=1)
        with self.assertRaisesRegex(ValueError, "max_load_steps is -1; it takes 0 or more"):
            vitrine.Program(sample("add_mul"), max_load_steps=-1)

    def test_complex_numbers(self):
        parts = numpy.arange(3) + 1j
        half, single, double = 8, 9, 10  # which the schema does not name
        program = vitrine.Program(with_more_inputs("add_mul", tensor(single, 3), tensor(double, 3)))
        self.assertEqual([spec.dtype for spec in program.inputs()[2:]], ["complex64", "complex128"])
        added = [numpy.ones((2, 3), numpy.float32)] * 2
        program(*added, parts.astype(numpy.complex64), parts)
        with self.assertRaisesRegex(TypeError, r"x.astype\(numpy.complex64\)"):
            program(*added, parts, parts)
        program = vitrine.Program(with_more_inputs("add_mul", tensor(half, 3)))
        with self.assertRaisesRegex(TypeError, "arrays of c32 are not supported in Python"):
            program.inputs()


class Numbers(unittest.TestCase):
    """Inputs that are not arrays: exactly of the kind that the method takes."""

    def setUp(self):
        arrays = [numpy.ones((2, 3), numpy.float32)] * 2
        values = [("Int", {"int_val": 2}), ("Double", {"double_val": 2.0}), ("Bool", {"bool_val": True}),
                  ("String", {"string_val": "ab"}), ("Null", {})]
        self.good = [2, 2.0, True, "ab", None]
        program = vitrine.Program(with_more_inputs("add_mul", *values))
        self.call = lambda numbers: program(*arrays, *numbers)
        self.call(self.good)

    def changed(self, index, value):
        return [*self.good[:index], value, *self.good[index + 1:]]

    def test_what_stands_for_them(self):
        for index, values in ((0, (numpy.int8(2), numpy.uint64(2), numpy.array(2))),
                              (1, (2, numpy.int32(2), numpy.float16(2), numpy.float64(2), numpy.array(2.0))),
                              (2, (numpy.bool_(True), numpy.array(True)))):
            for value in values:
                with self.subTest(index=index, value=repr(value)):
                    self.call(self.changed(index, value))

    def test_nothing_is_cut_off(self):
        fractions = (2.7, 2.0, numpy.float32(2.7), numpy.array(2.7), numpy.array([2.7]), numpy.array([2]),
                     decimal.Decimal("2.7"), "2", None)
        for index, kind, values in (
                (0, "an int", fractions),
                (1, "a float", (numpy.array([2.0]), numpy.complex64(2 + 1j), decimal.Decimal(2), "2", None)),
                (2, "a bool", (1, 0, None, "", numpy.array([True]), [True])),
                (3, "a str", (b"ab", 2, None)),
                (4, "None", (0, False, "", numpy.ones(2)))):
            for value in values:
                with self.subTest(index=index, value=repr(value)):
                    with self.assertRaisesRegex(TypeError, f"input {index + 2} of forward is a .*; it takes {kind}"):
                        self.call(self.changed(index, value))

    def test_too_large(self):
        for index, value in ((0, 1 << 63), (1, 10 ** 400)):
            with self.assertRaisesRegex(ValueError, "is too large a number for 64 bits"):
                self.call(self.changed(index, value))

    def test_lists(self):
        program = vitrine.Program(with_more_inputs("add_mul", ("DoubleList", {"items": [1.0]})))
        with self.assertRaisesRegex(TypeError, "a list, which is not supported"):
            program(*[numpy.ones((2, 3), numpy.float32)] * 2, [1.0])


class WrongInputs(unittest.TestCase):
    def setUp(self):
        self.program = vitrine.Program(sample("add_mul"))
        self.good = numpy.ones((2, 3), numpy.float32)

    def expect(self, error, text, *inputs):
        with self.assertRaisesRegex(error, text):
            self.program(*inputs)
        self.program(self.good, self.good)  # the next call works

    def test_dtype(self):
        self.expect(TypeError, r"input 1 of forward is float64 \(2, 3\); it takes float32 \(2, 3\): "
                    r"x.astype\(numpy.float32\)", self.good, self.good.astype(numpy.float64))

    def test_advice_on_dtypes(self):
        # What the errors advise, for arrays and others, gives arrays that the method takes.
        added = [self.good, self.good]
        for dtype, value, bits in (("BFLOAT16", 0.5, 0x3F00), ("BOOL", 1, True), ("HALF", 0.5, 0.5)):
            program = vitrine.Program(with_more_inputs("add_mul", tensor(dtype, 2)))
            for x in (numpy.full(2, value), [value, value]):
                with self.subTest(dtype=dtype, x=repr(x)):
                    with self.assertRaises(TypeError) as caught:
                        program(*added, x)
                    advice = str(caught.exception).rpartition(": ")[2]
                    converted = eval(advice, {"numpy": numpy, "x": x})
                    self.assertEqual(converted.tolist(), [bits, bits])
                    program(*added, converted)

    def test_masks(self):
        self.expect(TypeError, r"input 0 of forward is a masked array, whose mask would be lost: x.filled",
                    numpy.ma.masked_all((2, 3), numpy.float32), self.good)

    def test_byte_order(self):
        self.expect(TypeError, r"is >f4 \(2, 3\); it takes float32", self.good, self.good.astype(">f4"))

    def test_shape(self):
        self.expect(ValueError, r"input 0 of forward is float32 \(3, 2\); it takes float32 \(2, 3\)",
                    self.good.reshape(3, 2), self.good)
        self.expect(ValueError, r"is float32 \(6,\)", self.good.ravel(), self.good)

    def test_order(self):
        self.expect(ValueError, r"input 0 of forward is not in row-major \(C\) order: numpy.ascontiguousarray",
                    numpy.asfortranarray(self.good), self.good)
        self.expect(ValueError, "row-major", numpy.ones((2, 6), numpy.float32)[:, ::2], self.good)

    def test_too_large_for_a_dynamic_shape(self):
        program = vitrine.Program(sample("dynamic_batch_xnnpack"))
        rows, columns = program.inputs()[0].shape
        with self.assertRaisesRegex(ValueError, "at most float32"):
            program(numpy.ones((rows + 1, columns), numpy.float32))

    def test_number_and_kind(self):
        self.expect(TypeError, "forward takes 2 inputs, not 1", self.good)
        self.expect(TypeError, r"input 0 of forward is a list; it takes a NumPy array", [[1.0]], self.good)

    def test_one_string_is_not_a_list(self):
        for call in (lambda: vitrine.Program(sample("add_mul"), data="x.ptd"),
                     lambda: vitrine.Program(sample("add_mul"), data=pathlib.Path("x.ptd")),
                     lambda: vitrine.lower(sample("linear_relu", "model.pt2"), only_ops="addmm"),
                     lambda: vitrine.lower(sample("linear_relu", "model.pt2"), exclude_ops="addmm")):
            with self.assertRaisesRegex(TypeError, r"is .*; it takes a list: \["):
                call()

    def test_threads(self):
        with self.assertRaisesRegex(ValueError, "threads is -1; it takes 0 or more"):
            vitrine.Program(sample("add_mul"), threads=-1)

    def test_paths_are_named_once(self):
        for call in (lambda: vitrine.Program("/nowhere"), lambda: vitrine.lower("/nowhere"),
                     lambda: vitrine.inspect("/nowhere"),
                     lambda: vitrine.Program(sample("add_mul")).profile(record="/nowhere")):
            with self.assertRaises(vitrine.Error) as caught:
                call()
            self.assertEqual(str(caught.exception).count("/nowhere"), 1, caught.exception)
            self.assertIn("No such file", str(caught.exception))

    def test_files_and_methods(self):
        with self.assertRaisesRegex(vitrine.Error, "nowhere.pte"):
            vitrine.Program("nowhere.pte")
        with self.assertRaisesRegex(vitrine.Error, "forward"):
            self.program.call("backward", self.good)


class Profiles(unittest.TestCase):
    def test_rows_add_up(self):
        program = vitrine.Program(sample("mv2_025_xnnpack"), threads=1)
        image = floats("mv2_025_xnnpack", "input_0.bin", (1, 3, 128, 128))
        profile = program.profile(image, runs=3, record=sample("mv2_025_xnnpack", "etrecord.bin"))
        self.assertEqual(profile.data["inputs"], ["f32[1,3,128,128]"])
        total = sum(row["avg_ns"] for row in profile.rows) + profile.data["unattributed_ns"]
        self.assertAlmostEqual(total, profile.wall_ns["avg"], delta=1)
        self.assertIn("aten.convolution.default", profile.rows[1]["source_ops"])
        self.assertIn("convolution", str(profile))

    def test_random_inputs_and_files(self):
        profile = vitrine.Program(sample("add_mul")).profile(runs=2, warmup=1)
        self.assertEqual(profile.data["warmup_runs"], 1)
        with tempfile.TemporaryDirectory() as folder:
            for name, begin in (("p.html", "<!doctype html>"), ("p.json", "{")):
                path = os.path.join(folder, name)
                profile.save(path)
                with open(path, encoding="utf-8") as file:
                    self.assertTrue(file.read().lower().startswith(begin))
        with self.assertRaises(ValueError):
            vitrine.Program(sample("add_mul")).profile(numpy.ones((1, 1), numpy.float32),
                                                       numpy.ones((2, 3), numpy.float32))

    def test_numbers_of_runs(self):
        program = vitrine.Program(sample("add_mul"))
        for name, value, error, text in (("runs", 0, ValueError, "runs is 0; it takes 1 or more"),
                                         ("runs", -1, ValueError, "runs is -1; it takes 1 or more"),
                                         ("runs", 2.5, TypeError, "runs is 2.5; it takes an int"),
                                         ("runs", 1 << 70, ValueError, "at most"),
                                         ("warmup", -1, ValueError, "warmup is -1; it takes 0 or more")):
            with self.subTest(name=name, value=value), self.assertRaisesRegex(error, text):
                program.profile(**{name: value})
        self.assertEqual(program.profile(runs=numpy.int64(1), warmup=0).data["runs"], 1)

    def test_in_another_folder(self):
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(os.path.dirname(sample("add_mul")))
        program = vitrine.Program("model.pte")
        os.chdir(before)
        self.assertEqual(program.path, "model.pte")
        self.assertEqual(program.profile(runs=1).data["model"], "model.pte")

    def test_pandas(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("pandas is not installed")
        frame = vitrine.Program(sample("add_mul")).profile(runs=2).to_pandas()
        self.assertIn("avg_ns", frame.columns)

if __name__ == "__main__":
    unittest.main()

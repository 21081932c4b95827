"""Tests of the Python module: /usr/bin/python3 vitrine_test.py <folder of samples>"""

import decimal
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

import numpy

import vitrine
from samples import SAMPLES, floats, sample

def with_more_inputs(name, *values):
    """Returns the bytes of a sample program with additional inputs of these kinds, which it ignores."""
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
    def test_outputs_match_pytorch(self):
        program = vitrine.Program(sample("mv2_025_xnnpack"))
        image = floats("mv2_025_xnnpack", "input_0.bin", (1, 3, 128, 128))
        (logits,) = program(image)
        self.assertEqual(logits.dtype, numpy.float32)
        self.assertEqual(logits.shape, (1, 100))
        expected = floats("mv2_025_xnnpack", "expected_0.bin", (1, 100))
        numpy.testing.assert_allclose(logits, expected, atol=1e-4)

    def test_outputs_outlive_calls_and_program(self):
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
        first[0, 0] = 7  # the array is writable

    def test_inputs_are_not_changed(self):
        program = vitrine.Program(sample("add_mul"))
        inputs = [floats("add_mul", f"input_{i}.bin", (2, 3)) for i in range(2)]
        for array in inputs:
            array.flags.writeable = False
        copies = [array.copy() for array in inputs]
        program(*inputs)
        for array, copy in zip(inputs, copies):
            numpy.testing.assert_array_equal(array, copy)

    def test_accepts_unaligned_arrays(self):
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

    def test_accepts_dynamic_shapes(self):
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

    def test_threads_can_share_a_program(self):
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

    def test_describes_inputs_and_outputs(self):
        program = vitrine.Program(sample("add_mul"), threads=1, optimized_kernels=False)
        self.assertEqual(program.methods, ["forward"])
        self.assertEqual(program.inputs(), [vitrine.Spec("array", numpy.dtype("float32"), (2, 3), False)] * 2)
        self.assertEqual(program.outputs()[0].shape, (2, 3))
        language_model = vitrine.Program(sample("kjv_8da4w"))
        self.assertEqual([spec.name for spec in language_model.inputs()], [None, "input_pos"])


    def test_loads_programs_from_bytes(self):
        with open(sample("add_mul"), "rb") as file:
            content = file.read()
        inputs = [floats("add_mul", f"input_{i}.bin", (2, 3)) for i in range(2)]
        for offset in range(4):  # the bytes may have any alignment
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

    def test_loads_lowered_program_without_file(self):
        lowered = vitrine.lower(sample("linear_relu", "model.pt2"))
        program = vitrine.Program(lowered.program)
        (spec,) = program.inputs()
        (output,) = program(floats("linear_relu", "input_0.bin", spec.shape))
        expected = numpy.fromfile(sample("linear_relu", "expected_0.bin"), numpy.float32)
        numpy.testing.assert_allclose(output.ravel(), expected, atol=1e-5)
        self.assertTrue(any("linear" in op for row in program.profile(runs=2).rows for op in row["source_ops"]))

    def test_applies_backend_options(self):
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
        with self.assertRaisesRegex(TypeError, "backend option a must be a bool, an int or a str, got 0.5"):
            vitrine.Program(sample("add_mul"), backend_options={"a": 0.5})

    def test_applies_limits(self):
        image = floats("digits_portable", "input_0.bin", (1, 1, 8, 8))
        for limit, says in (({"max_memory_bytes": 10000}, "of the 10000 bytes that max_memory_bytes allows"),
                            ({"max_load_steps": 10}, r"more than 10 steps \(max_load_steps\)"),
                            ({"max_instructions_per_run": 1}, "stopped after 1 instructions")):
            program = vitrine.Program(sample("digits_portable"), **limit)
            with self.assertRaisesRegex(vitrine.Error, says):
                program(image)
            with self.assertRaisesRegex(vitrine.Error, says):
                program.profile(image, runs=1)
        with self.assertRaisesRegex(ValueError, "max_load_steps must be 0 or more, got -1"):
            vitrine.Program(sample("add_mul"), max_load_steps=-1)

    def test_cancel_and_deadline_end_a_call(self):
        never, now = numpy.zeros(1, bool), numpy.ones(1, bool)
        program = vitrine.Program(sample("endless_loop"), max_instructions_per_run=sys.maxsize)
        has_ended = threading.Event()

        def cancel():
            while not has_ended.wait(0.01):
                program.cancel()
        other = threading.Thread(target=cancel)
        other.start()
        with self.assertRaisesRegex(vitrine.Error, "canceled"):
            program(never)
        has_ended.set()
        other.join()
        self.assertEqual(program(now), (7,))
        program.cancel()  # has no effect without a call
        self.assertEqual(program(now), (7,))
        program = vitrine.Program(sample("endless_loop"), max_instructions_per_run=sys.maxsize,
                                  max_milliseconds_per_run=500)
        with self.assertRaisesRegex(vitrine.Error, "max_milliseconds_per_run"):
            program(never)

    def test_unwritten_outputs_are_refused_unless_accepted(self):
        path = sample("lost_output")
        inputs = [numpy.zeros(spec.shape, spec.dtype) for spec in vitrine.Program(path).inputs("forward")]
        with self.assertRaisesRegex(vitrine.Error, r"outputs\[1\]: no instruction writes it"):
            vitrine.Program(path)(*inputs)
        self.assertEqual(len(vitrine.Program(path, accept_unwritten_outputs=True)(*inputs)), 3)

    def test_names_that_are_not_utf8_are_errors(self):
        with open(sample("add_mul"), "rb") as file:
            content = file.read()
        program = vitrine.Program(content.replace(b"forward", b"forw\xff\x1bd"))
        with self.assertRaisesRegex(vitrine.Error, r'not UTF-8: "forw\?\?d"'):
            program.methods
        with self.assertRaisesRegex(vitrine.Error, r"forw\?\?d"):
            program.inputs()
        program = vitrine.Program(content.replace(b"aten::add", b"ate\xff::add"))
        with self.assertRaisesRegex(vitrine.Error, r"ate\?::add"):
            program(*[numpy.zeros((2, 3), numpy.float32)] * 2)

    def test_accepts_complex_arrays(self):
        parts = numpy.arange(3) + 1j
        half, single, double = 8, 9, 10  # ScalarType numbers without a name in the schema
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
    """Inputs that are not arrays must have exactly the kind that the method expects."""

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

    def test_accepts_equivalent_numbers(self):
        for index, values in ((0, (numpy.int8(2), numpy.uint64(2), numpy.array(2))),
                              (1, (2, numpy.int32(2), numpy.float16(2), numpy.float64(2), numpy.array(2.0))),
                              (2, (numpy.bool_(True), numpy.array(True)))):
            for value in values:
                with self.subTest(index=index, value=repr(value)):
                    self.call(self.changed(index, value))

    def test_rejects_lossy_conversions(self):
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
                    with self.assertRaisesRegex(TypeError, f"input {index + 2} of forward must be {kind}, got "):
                        self.call(self.changed(index, value))

    def test_rejects_numbers_beyond_64_bits(self):
        for index, value in ((0, 1 << 63), (1, 10 ** 400)):
            with self.assertRaisesRegex(ValueError, "does not fit into 64 bits"):
                self.call(self.changed(index, value))

    def test_rejects_list_inputs(self):
        program = vitrine.Program(with_more_inputs("add_mul", ("DoubleList", {"items": [1.0]})))
        with self.assertRaisesRegex(TypeError, "is a list, which is not supported"):
            program(*[numpy.ones((2, 3), numpy.float32)] * 2, [1.0])


class WrongInputs(unittest.TestCase):
    def setUp(self):
        self.program = vitrine.Program(sample("add_mul"))
        self.good = numpy.ones((2, 3), numpy.float32)

    def expect(self, error, text, *inputs):
        with self.assertRaisesRegex(error, text):
            self.program(*inputs)
        self.program(self.good, self.good)  # the next call works

    def test_rejects_other_dtypes(self):
        self.expect(TypeError, r"input 1 of forward must be float32 \(2, 3\), got float64 \(2, 3\): "
                    r"x.astype\(numpy.float32\)", self.good, self.good.astype(numpy.float64))

    def test_advice_in_dtype_errors_works(self):
        # The error suggests an expression that converts the input x. Its result must be a valid input.
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

    def test_rejects_masked_arrays(self):
        self.expect(TypeError, r"input 0 of forward is a masked array, whose mask would be lost: use x.filled",
                    numpy.ma.masked_all((2, 3), numpy.float32), self.good)

    def test_rejects_other_byte_order(self):
        self.expect(TypeError, r"must be float32 \(2, 3\), got >f4", self.good, self.good.astype(">f4"))

    def test_rejects_other_shapes(self):
        self.expect(ValueError, r"input 0 of forward must be float32 \(2, 3\), got float32 \(3, 2\)",
                    self.good.reshape(3, 2), self.good)
        self.expect(ValueError, r"got float32 \(6,\)", self.good.ravel(), self.good)

    def test_rejects_other_memory_order(self):
        self.expect(ValueError, r"input 0 of forward must be in row-major \(C\) order: use numpy.ascontiguousarray",
                    numpy.asfortranarray(self.good), self.good)
        self.expect(ValueError, "row-major", numpy.ones((2, 6), numpy.float32)[:, ::2], self.good)

    def test_rejects_shapes_beyond_dynamic_bound(self):
        program = vitrine.Program(sample("dynamic_batch_xnnpack"))
        rows, columns = program.inputs()[0].shape
        with self.assertRaisesRegex(ValueError, r"or smaller, got float32"):
            program(numpy.ones((rows + 1, columns), numpy.float32))

    def test_rejects_wrong_number_and_kind_of_inputs(self):
        self.expect(TypeError, "forward takes 2 inputs, got 1", self.good)
        self.expect(TypeError, r"input 0 of forward must be a NumPy array, got list", [[1.0]], self.good)

    def test_rejects_string_for_list(self):
        for call in (lambda: vitrine.Program(sample("add_mul"), data="x.ptd"),
                     lambda: vitrine.Program(sample("add_mul"), data=pathlib.Path("x.ptd")),
                     lambda: vitrine.lower(sample("linear_relu", "model.pt2"), only_ops="addmm"),
                     lambda: vitrine.lower(sample("linear_relu", "model.pt2"), exclude_ops="addmm")):
            with self.assertRaisesRegex(TypeError, r"must be a list, got .*: use \["):
                call()

    def test_rejects_negative_threads(self):
        with self.assertRaisesRegex(ValueError, "threads must be 0 or more, got -1"):
            vitrine.Program(sample("add_mul"), threads=-1)

    def test_errors_name_the_path_once(self):
        for call in (lambda: vitrine.Program("/nowhere"), lambda: vitrine.lower("/nowhere"),
                     lambda: vitrine.inspect("/nowhere"),
                     lambda: vitrine.load_library("/nowhere.so"),
                     lambda: vitrine.Program(sample("add_mul")).profile(record="/nowhere")):
            with self.assertRaises(vitrine.Error) as caught:
                call()
            self.assertEqual(str(caught.exception).count("/nowhere"), 1, caught.exception)
            self.assertIn("No such file", str(caught.exception))

    def test_errors_name_file_and_method(self):
        with self.assertRaisesRegex(vitrine.Error, "nowhere.pte"):
            vitrine.Program("nowhere.pte")
        with self.assertRaisesRegex(vitrine.Error, "forward"):
            self.program.call("backward", self.good)


class Profiles(unittest.TestCase):
    def test_rows_add_up_to_wall(self):
        program = vitrine.Program(sample("mv2_025_xnnpack"), threads=1)
        image = floats("mv2_025_xnnpack", "input_0.bin", (1, 3, 128, 128))
        profile = program.profile(image, runs=3, record=sample("mv2_025_xnnpack", "etrecord.bin"))
        self.assertEqual(profile.data["inputs"], ["f32[1,3,128,128]"])
        total = sum(row["avg_ns"] for row in profile.rows) + profile.data["unattributed_ns"]
        self.assertAlmostEqual(total, profile.wall_ns["avg"], delta=1)
        self.assertIn("aten.convolution.default", profile.rows[1]["source_ops"])
        self.assertIn("convolution", str(profile))

    def test_profiles_random_inputs_and_saves_reports(self):
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

    def test_rejects_invalid_numbers_of_runs(self):
        program = vitrine.Program(sample("add_mul"))
        for name, value, error, text in (("runs", 0, ValueError, "runs must be 1 or more, got 0"),
                                         ("runs", -1, ValueError, "runs must be 1 or more, got -1"),
                                         ("runs", 2.5, TypeError, "runs must be an int, got 2.5"),
                                         ("runs", 1 << 70, ValueError, "at most"),
                                         ("warmup", -1, ValueError, "warmup must be 0 or more, got -1")):
            with self.subTest(name=name, value=value), self.assertRaisesRegex(error, text):
                program.profile(**{name: value})
        self.assertEqual(program.profile(runs=numpy.int64(1), warmup=0).data["runs"], 1)

    def test_profiles_after_change_of_folder(self):
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(os.path.dirname(sample("add_mul")))
        program = vitrine.Program("model.pte")
        os.chdir(before)
        self.assertEqual(program.path, "model.pte")
        self.assertEqual(program.profile(runs=1).data["model"], "model.pte")

    def test_converts_rows_to_pandas(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("pandas is not installed")
        frame = vitrine.Program(sample("add_mul")).profile(runs=2).to_pandas()
        self.assertIn("avg_ns", frame.columns)

if __name__ == "__main__":
    unittest.main()

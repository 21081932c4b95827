"""Checks the wheels of python/wheel_backend.py, with a stand-in for CMake: wheel_test.py SOURCES"""

import base64
import hashlib
import os
import pathlib
import sys
import tempfile
import unittest
import zipfile

SOURCES = pathlib.Path(sys.argv.pop())
sys.path.insert(0, str(SOURCES / "python"))
import wheel_backend  # noqa: E402

# A shell script that the tests run in place of CMake. Its install step creates one file. Its configure step fails
# unless the arguments contain the path of this Python and -DMINE=1.
CMAKE = f"""#!/bin/sh
case "$*" in
  "-S "*) case "$*" in *-DPython_EXECUTABLE={sys.executable}*-DMINE=1*) ;; *) exit 1 ;; esac ;;
  "--install "*) mkdir -p "$4/vitrine" && echo "version = 1" > "$4/vitrine/__init__.py" ;;
esac
"""


class WheelTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        cmake = self.folder / "cmake"
        cmake.write_text(CMAKE)
        cmake.chmod(0o755)
        path = os.environ["PATH"]
        self.addCleanup(os.environ.__setitem__, "PATH", path)
        os.environ["PATH"] = f"{self.folder}:{path}"

    def test_wheel_has_files_metadata_and_their_digests(self):
        name = wheel_backend.build_wheel(self.folder, {"MINE": "1"})
        self.assertRegex(name, r"^vitrine-[0-9.]+-cp3\d+-cp3\d+-linux_\w+\.whl$")
        with zipfile.ZipFile(self.folder / name) as wheel:
            files = {path: wheel.read(path) for path in wheel.namelist()}
        info = "-".join(name.split("-")[:2]) + ".dist-info"
        self.assertEqual(files["vitrine/__init__.py"], b"version = 1\n")
        self.assertIn(b"\nRequires-Dist: numpy\n", files[f"{info}/METADATA"])
        self.assertIn(f"Tag: {'-'.join(name[:-4].split('-')[2:])}\n".encode(), files[f"{info}/WHEEL"])
        rows = [row.split(",") for row in files.pop(f"{info}/RECORD").decode().splitlines()]
        self.assertEqual(rows.pop(), [f"{info}/RECORD", "", ""])
        self.assertEqual([row[0] for row in rows], list(files))
        for path, digest, size in rows:
            expected = base64.urlsafe_b64encode(hashlib.sha256(files[path]).digest()).rstrip(b"=").decode()
            self.assertEqual((digest, int(size)), (f"sha256={expected}", len(files[path])))

    def test_same_files_make_the_same_wheel(self):
        wheels = []
        for _ in range(2):
            name = wheel_backend.build_wheel(self.folder, {"MINE": "1"})
            wheels.append((self.folder / name).read_bytes())
        self.assertEqual(*wheels)


unittest.main()

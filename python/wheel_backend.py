"""Builds wheels with CMake, for pip (PEP 517). Needs only the standard library, and tomli before Python 3.11."""

import base64
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

try:
    import tomllib
except ImportError:  # before Python 3.11
    import tomli as tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEFINITIONS = {
    "CMAKE_BUILD_TYPE": "Release", "CMAKE_UNITY_BUILD": "ON", "VITRINE_BUILD_PYTHON": "ON",
    "VITRINE_BUILD_SHARED": "OFF", "VITRINE_BUILD_TESTS": "OFF", "VITRINE_BUILD_BENCHMARKS": "OFF",
    "VITRINE_BUILD_EXAMPLES": "OFF", "VITRINE_PYTHON_DIR": ".", "Python_EXECUTABLE": sys.executable,
}


def metadata():
    """Returns the project's name, its version and its METADATA (PEP 566)."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    version = re.search(r"project\(vitrine VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {version}",
             f"Summary: {project['description']}", f"Requires-Python: {project['requires-python']}",
             f"Maintainer: {project['maintainers'][0]['name']}",
             f"Maintainer-email: {project['maintainers'][0]['email']}",
             f"Keywords: {','.join(project['keywords'])}", "Description-Content-Type: text/markdown"]
    lines += [f"Classifier: {name}" for name in project["classifiers"]]
    lines += [f"Project-URL: {name}, {url}" for name, url in project["urls"].items()]
    lines += [f"Requires-Dist: {name}" for name in project["dependencies"]]
    for extra, names in project["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f'Requires-Dist: {name}; extra == "{extra}"' for name in names]
    readme = (ROOT / project["readme"]).read_text(encoding="utf-8")
    return project["name"], version, "\n".join(lines) + "\n\n" + readme


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Builds the wheel for this interpreter. `--config-settings KEY=VALUE` defines a CMake variable."""
    name, version, text = metadata()
    major, minor = sys.version_info[:2]
    python = f"cp{major}{minor}"
    tag = f"{python}-{python}-{re.sub('[-.]', '_', sysconfig.get_platform())}"
    definitions = {**DEFINITIONS, **(config_settings or {})}
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        build, prefix = folder / "build", folder / "prefix"
        subprocess.run(["cmake", "-S", ROOT, "-B", build, *(f"-D{k}={v}" for k, v in definitions.items())], check=True)
        subprocess.run(["cmake", "--build", build, "--target", "vitrine_python", "--parallel", str(os.cpu_count())],
                       check=True)
        subprocess.run(["cmake", "--install", build, "--prefix", prefix, "--component", "python", "--strip"], check=True)
        info = f"{name}-{version}.dist-info"
        files = {str(path.relative_to(prefix)): path.read_bytes() for path in sorted(prefix.rglob("*")) if path.is_file()}
        files[f"{info}/METADATA"] = text.encode()
        files[f"{info}/LICENSE"] = (ROOT / "LICENSE").read_bytes()
        files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: vitrine\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    record = ""
    for path, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(content)}\n"
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    wheel = f"{name}-{version}-{tag}.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            member = zipfile.ZipInfo(path)  # a fixed date: the same files make the same wheel
            member.compress_type = zipfile.ZIP_DEFLATED
            member.external_attr = 0o644 << 16
            archive.writestr(member, content)
    return wheel

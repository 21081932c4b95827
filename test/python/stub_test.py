"""Checks that the stub file matches the module: /usr/bin/python3 stub_test.py"""

import ast
import pathlib
import re
import unittest

from vitrine import _vitrine

STUB = ast.parse(pathlib.Path(_vitrine.__file__).with_name("_vitrine.pyi").read_text())
VALUES = {"int": 1, "bool": True, "float": 0.5, "str": "a", "bytes": b"a", "list": [], "dict": {}, "Optional": 1,
          "Callable": len, "MethodLimits": _vitrine.MethodLimits()}


def stubs(body):
    """Returns the stub's nodes by name. Leaves out private names, which are aliases of types."""
    found = {}
    for node in body:
        name = node.target.id if isinstance(node, ast.AnnAssign) else getattr(node, "name", "_")
        if not name.startswith("_") or name == "__init__":
            found[name] = node
    return found


def members(owner):
    """Returns the members that a module or class defines, without those of every Python object."""
    def is_constructor(name, value):
        return name == "__init__" and "arg0" in (value.__doc__ or "")  # else inherited from object
    return {name: value for name, value in vars(owner).items()
            if not name.startswith("_") or is_constructor(name, value)}


def kind(annotation):
    """Reduces a type to its name: "List[str]" -> "list", "vitrine._vitrine.Profile" -> "Profile"."""
    head = annotation.split("[")[0].split(".")[-1]
    return head.lower() if head in ("List", "Dict", "Tuple") else head


def signatures(name, function):
    """Parses the text of pybind11. Returns for each overload the number of positional arguments, True if
    it has *args, and the kind of the result."""
    found = []
    for line in function.__doc__.splitlines():
        match = re.fullmatch(r"(?:\d+\. )?" + name + r"\((.*)\) -> (.*)", line)
        if match:
            found.append((len(re.findall(r"\b(?:self|arg\d+): ", match[1])), "*args" in match[1], kind(match[2])))
    return found


class Stub(unittest.TestCase):
    def check_function(self, name, stub, function):
        found = signatures(name, function)
        self.assertTrue(found, f"{name}: {function.__doc__}")
        stub_arguments = stub.args.posonlyargs + stub.args.args
        expected = (len(stub_arguments), stub.args.vararg is not None, kind(ast.unparse(stub.returns)))
        for signature in found:
            self.assertEqual(signature, expected, name)
        for argument in stub.args.args + stub.args.kwonlyargs:
            self.assertEqual(argument.arg, "self", f"{name}: arguments of the module cannot be passed by name")

    def check_class(self, stub, owner):
        self.assertEqual(sorted(stubs(stub.body)), sorted(members(owner)), stub.name)
        for name, member in stubs(stub.body).items():
            if isinstance(member, ast.FunctionDef):
                self.check_function(name, member, vars(owner)[name])
            else:
                value = VALUES[kind(ast.unparse(member.annotation))]
                setattr(owner(), name, value)
                with self.assertRaises(TypeError, msg=name):
                    setattr(owner(), name, object())

    def test_names_and_signatures(self):
        expected = stubs(STUB.body)
        self.assertEqual(sorted(expected), sorted(members(_vitrine)))
        for name, stub in expected.items():
            member = getattr(_vitrine, name)
            if isinstance(stub, ast.FunctionDef):
                self.check_function(name, stub, member)
            elif isinstance(stub, ast.AnnAssign):
                self.assertEqual(type(member).__name__, ast.unparse(stub.annotation))
            else:
                self.assertEqual([base.id for base in stub.bases],
                                 [base.__name__ for base in member.__bases__ if base.__name__ != "pybind11_object"])
                self.check_class(stub, member)


if __name__ == "__main__":
    unittest.main()

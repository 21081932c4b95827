"""The stub file says of the module what the module says of itself: /usr/bin/python3 stub_test.py"""

import ast
import pathlib
import re
import unittest

from vitrine import _vitrine

STUB = ast.parse(pathlib.Path(_vitrine.__file__).with_name("_vitrine.pyi").read_text())
VALUES = {"int": 1, "bool": True, "str": "a", "list": [], "dict": {}, "MethodLimits": _vitrine.MethodLimits()}


def stubs(body):
    """Name -> what the stub says of it. Private names are aliases of types."""
    found = {}
    for node in body:
        name = node.target.id if isinstance(node, ast.AnnAssign) else getattr(node, "name", "_")
        if not name.startswith("_") or name == "__init__":
            found[name] = node
    return found


def members(of):
    """What the module or class defines, without Python's own."""
    def is_constructor(name, value):
        return name == "__init__" and "arg0" in (value.__doc__ or "")  # else it is as that of any object
    return {name: value for name, value in vars(of).items()
            if not name.startswith("_") or is_constructor(name, value)}


def kind(annotation):
    """"List[str]", "list[_Spec]" -> "list"; "vitrine._vitrine.Profile" -> "Profile"."""
    head = annotation.split("[")[0].split(".")[-1]
    return head.lower() if head in ("List", "Dict", "Tuple") else head


def signatures(name, function):
    """(number of positional arguments, whether more may follow, kind of the result) of each overload,
    from the text that pybind11 writes."""
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
        of_stub = stub.args.posonlyargs + stub.args.args
        expected = (len(of_stub), stub.args.vararg is not None, kind(ast.unparse(stub.returns)))
        for signature in found:
            self.assertEqual(signature, expected, name)
        for argument in stub.args.args + stub.args.kwonlyargs:
            self.assertEqual(argument.arg, "self", f"{name}: the module's arguments have no names")

    def check_class(self, stub, of):
        self.assertEqual(sorted(stubs(stub.body)), sorted(members(of)), stub.name)
        for name, member in stubs(stub.body).items():
            if isinstance(member, ast.FunctionDef):
                self.check_function(name, member, vars(of)[name])
            else:
                value = VALUES[kind(ast.unparse(member.annotation))]
                setattr(of(), name, value)
                with self.assertRaises(TypeError, msg=name):
                    setattr(of(), name, object())

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

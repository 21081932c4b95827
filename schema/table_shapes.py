#!/usr/bin/env python3
"""Writes a C++ header that describes the tables of a schema to runtime/platform/table_verifier.h.

  table_shapes.py program.fbs > program_shapes.h

Supports the part of the flatbuffers language (https://flatbuffers.dev/schema) that the schemas in
this folder use: tables, unions and enums, but not structs or vectors of strings or unions.
"""
import pathlib
import re
import sys

SCALARS = {"bool": 1, "byte": 1, "ubyte": 1, "short": 2, "ushort": 2, "int": 4, "uint": 4,
           "float": 4, "long": 8, "ulong": 8, "double": 8}


def declarations(path):
    """Returns the text of a schema without comments. The text of its included schemas comes first."""
    text = re.sub(r"//.*", "", path.read_text())
    included = [declarations(path.parent / name) for name in re.findall(r'include "(.*?)";', text)]
    return "".join(included) + text


class Schema:
    def __init__(self, path):
        text = declarations(path)
        self.namespace = re.findall(r"namespace ([\w.]+);", text)[-1]
        self.root = re.search(r"root_type (\w+);", text)[1]
        self.scalars = dict(SCALARS)
        for name, base in re.findall(r"enum (\w+) : (\w+)", text):
            self.scalars[name] = SCALARS[base]
        self.unions = {}  # members by name of the union
        for name, body in re.findall(r"union (\w+) \{(.*?)\}", text, re.S):
            members = [member.split(":")[-1].strip() for member in body.split(",")]
            self.unions[name] = [member for member in members if member]
        self.tables = {}  # types of fields by name of the table
        for name, body in re.findall(r"table (\w+) \{(.*?)\}", text, re.S):
            fields = [field.split(":", 1)[1] for field in body.split(";") if field.strip()]
            self.tables[name] = [re.split(r"[=(]", field)[0].strip() for field in fields]
        self.numbers = {name: number for number, name in enumerate(self.tables)}
        self.check_nesting(self.root, [])

    def check_nesting(self, table, within):
        if table in within:
            sys.exit(f"{table} contains itself, so the verifier's recursion would be unlimited")
        for field in self.tables[table]:
            name = field.strip("[]")
            for inner in self.unions.get(name, [name] if name in self.tables else []):
                self.check_nesting(inner, within + [table])

    def shapes(self, field, members):
        """Returns the initializers of a field.

        If the field is a union, appends the numbers of its tables to `members`.
        """
        name = field.strip("[]")
        if name == "string" and field == name:
            return ["{FieldShape::kString}"]
        if name in self.scalars:
            kind = "kScalar" if field == name else "kVector"
            return [f"{{FieldShape::{kind}, {self.scalars[name]}}}"]
        if name in self.tables:
            kind = "kTable" if field == name else "kTables"
            return [f"{{FieldShape::{kind}, {self.numbers[name]}}}"]
        first = len(members)
        members += [self.numbers[member] for member in self.unions[field]]
        count = len(members) - first
        return ["{FieldShape::kScalar, 1}", f"{{FieldShape::kUnion, {first}, {count}}}"]

    def header(self):
        lines, starts, members = [], [0], []
        for name, fields in self.tables.items():
            shapes = [shape for field in fields for shape in self.shapes(field, members)]
            lines.append(f"    /* {name} */ " + "".join(shape + ", " for shape in shapes))
            starts.append(starts[-1] + len(shapes))
        numbers = lambda values: ", ".join(map(str, values or [0]))
        space = self.namespace.replace(".", "::")
        return "\n".join([
            "#pragma once", "", '#include "runtime/platform/table_verifier.h"', "",
            f"namespace {space} {{", "inline constexpr FieldShape kFieldShapes[] = {", *lines, "};",
            f"inline constexpr uint16_t kFieldStarts[] = {{{numbers(starts)}}};",
            f"inline constexpr uint8_t kUnionMembers[] = {{{numbers(members)}}};",
            "inline constexpr TableShapes kTableShapes{kFieldShapes, kFieldStarts, kUnionMembers, "
            f"{self.numbers[self.root]}}};", f"}}  // namespace {space}"])


if __name__ == "__main__":
    print(Schema(pathlib.Path(sys.argv[1])).header())

"""Writes a tool's manual page from its help text: man_page.py TOOL VERSION PAGE.1"""

import os
import re
import subprocess
import sys


def escaped(text: str) -> str:
    """Escapes a text so that roff prints it unchanged."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def parts_of(tool: str, text: str) -> tuple[list[str], str, list[tuple[str, list[str]]]]:
    """Returns the description, the arguments in the usage line, and the title and lines of each section."""
    usage = re.search(rf"^(?:Usage: )?(?:\S*/)?{tool} ((?:COMMAND )?\[OPTIONS\].*)$", text, re.MULTILINE)
    if not usage:
        raise ValueError("the help text has no usage line")
    before, synopsis, rest = text[:usage.start()], usage[1], text[usage.end():]
    sections: list[tuple[str, list[str]]] = []
    for line in rest.splitlines():
        if re.fullmatch(r"[A-Z].*:", line):
            sections.append((line[:-1], []))
        elif line.strip():
            if not sections:
                raise ValueError(f'"{line}" has no title above it')
            sections[-1][1].append(line)
    return before.strip().splitlines(), synopsis, sections


def entries(lines: list[str]) -> list[tuple[str, list[str]]]:
    """Returns each option or positional argument with the lines that describe it."""
    found: list[tuple[str, list[str]]] = []
    for line in lines:
        if re.match(r" {1,12}\S", line):
            # Newer versions of CLI11 write "-h,     --help  text", and align long options with "--help".
            name, *text = re.split(r" {2,}", re.sub(r", +(?=--)", ",", line.strip()), maxsplit=1)
            found.append((name, text))
        elif found:
            found[-1][1].append(line.strip())
        else:
            raise ValueError(f'"{line.strip()}" describes no option')
    return found


def page(tool: str, version: str, text: str) -> str:
    description, synopsis, sections = parts_of(tool, text)
    examples = [line.strip() for line in description if line.startswith(" ")]
    purpose, *more = [line for line in description if not line.startswith(" ")]
    brief = re.sub(r"\.$", "", purpose)
    out = [f'.TH {tool.upper()} 1 "" "Vitrine {version}" "User Commands"',
           ".SH NAME", f"{tool} \\- {escaped(brief[0].lower() + brief[1:])}",
           ".SH SYNOPSIS", f".B {tool}", escaped(synopsis.strip())]
    if more:
        out += [".SH DESCRIPTION", *map(escaped, more)]
    for title, lines in sections:
        out.append(f'.SH "{escaped(title.upper())}"')
        for name, described in entries(lines):
            out += [".TP", "\\fB" + escaped(name) + "\\fR"]
            out += [piece for line in described for piece in (".br", escaped(line))][1:]
    if examples:
        out += [".SH EXAMPLES", ".nf", *map(escaped, examples), ".fi"]
    return "\n".join(out) + "\n"


def main() -> None:
    program, version, output = sys.argv[1:]
    tool = os.path.basename(program)
    text = subprocess.run([program, "--help"], check=True, capture_output=True, text=True).stdout
    try:
        made = page(tool, version, text)
    except ValueError as error:
        sys.exit(f"{tool} --help: {error}")
    with open(output, "w", encoding="utf-8") as file:
        file.write(made)


main()

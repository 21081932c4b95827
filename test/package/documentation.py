"""Prints the links of installed documents whose files are missing: documentation.py <folder>"""

import pathlib
import re
import sys

failed = False
for document in sorted(pathlib.Path(sys.argv[1]).rglob("*.md")):
    code = re.compile(r"^```.*?^```$|`[^`\n]*`", re.M | re.S)
    for link in re.findall(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)", code.sub("", document.read_text())):
        if "://" not in link and not (document.parent / link).exists():
            print(f"{document}: {link}: no such file")
            failed = True
sys.exit(failed)

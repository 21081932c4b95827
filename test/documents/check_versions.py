"""Checks that each version of ExecuTorch in docs/dependencies.md has a sample in the tree.

Usage: check_versions.py PROJECT
"""
import json
import pathlib
import re
import sys

project = pathlib.Path(sys.argv[1])
text = (project / 'docs/dependencies.md').read_text()
section = text.split('## Tested versions', 1)[1].split('\n## ', 1)[0]
rows = [[cell.strip() for cell in line.strip('|').split('|')]
        for line in section.splitlines() if line.startswith('| ExecuTorch ')]
assert len(rows) >= 5, f'found {len(rows)} rows of ExecuTorch versions under "Tested versions"'
for version, _, _, sample in rows:
    if sample == 'none':
        continue
    folder = project / sample.strip('`')
    stated = json.loads((folder / 'case.json').read_text())['executorch'].split()[0]
    assert (folder / 'model.pte').is_file(), f'{folder}: model.pte is missing'
    assert re.fullmatch(rf'ExecuTorch {re.escape(stated)}', version), (
        f'docs/dependencies.md says {version}, but {folder}/case.json says {stated}')

#!/usr/bin/env python3
"""Runs the commands in the documents, so that none of them breaks unnoticed.

    test/documents/run_commands.py BUILD [DOCUMENT...]

Each code block has a language. `sh` blocks are run, and from `console` blocks the lines that begin with `$`. The
blocks of a document run in one scratch folder, in which build/release, test, tools and examples are links.
A comment before a block changes this:

    <!-- files: model.pt2=test/samples/linear_relu/model.pt2 -->   copies files before the block runs
    <!-- skip: REASON -->                                          does not run the block; the reason is printed
    <!-- fails: 1 -->                                              the last command ends with this exit code
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOT_COMMANDS = {'text', 'cpp', 'c', 'cmake', 'python', 'json', 'sql'}
BLOCK = re.compile(r'((?:^<!-- (?:files|skip|fails): [^\n]*-->\n)*)^```(\w*)\n(.*?)^```$', re.M | re.S)
SECONDS = 120


def commands(language, block):
    """The commands of a block: all of a `sh` block, and those after `$` in a `console` block."""
    if language == 'sh':
        return block
    lines, continues = [], False
    for line in block.splitlines():
        if line.startswith('$ ') or continues:
            lines.append(line if continues else line[2:])
            continues = line.endswith('\\')
    return '\n'.join(lines) + '\n'


def run(document, line, notes, language, block, folder, environment):
    """Runs one block. Returns what is wrong with it, or an empty string."""
    if language in NOT_COMMANDS:
        return ''
    if language not in ('sh', 'console'):
        return 'the block needs a language: sh, console, ' + ', '.join(sorted(NOT_COMMANDS))
    options = dict(re.findall(r'<!-- (\w+): (.*?) -->', notes))
    for target, source in (pair.split('=') for pair in options.get('files', '').split()):
        (folder / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / source, folder / target)
    if 'skip' in options:
        print(f'{document}:{line}: skipped: {options["skip"]}')
        return ''
    script = 'set -e -o pipefail\n' + commands(language, block)
    try:
        done = subprocess.run(['bash', '-c', script], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f'not done after {SECONDS} seconds'
    if done.returncode == int(options.get('fails', 0)):
        print(f'{document}:{line}: ran')
        return ''
    return f'exit code {done.returncode}\n' + done.stdout.decode(errors='replace')[-2000:]


def check(document, build):
    text = (ROOT / document).read_text()
    failed = False
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / 'build').mkdir()
        (folder / 'build' / 'release').symlink_to(build)
        for source in ('test', 'tools', 'examples'):
            (folder / source).symlink_to(ROOT / source)
        environment = dict(os.environ, PATH=f'{build}/bin:{os.environ["PATH"]}', XDG_CACHE_HOME=str(folder / 'cache'))
        for match in BLOCK.finditer(text):
            line = text[:match.start(2)].count('\n') + 1
            problem = run(document, line, *match.groups(), folder, environment)
            if problem:
                print(f'{document}:{line}: {problem}')
                failed = True
    return failed


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    documents = sys.argv[2:] or subprocess.run(['git', 'ls-files', '*.md'], cwd=ROOT, check=True, capture_output=True,
                                               text=True).stdout.split()
    return any([check(document, build) for document in documents])


if __name__ == '__main__':
    sys.exit(main())

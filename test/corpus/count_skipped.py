#!/usr/bin/env python3
"""Prints how many tests ctest skipped for want of the corpus: count_skipped.py build/release/Testing/Temporary/LastTest.log"""
import os
import pathlib
import re
import sys


def main():
    log = pathlib.Path(sys.argv[1])
    if not log.is_file():
        return
    skipped = sum(int(count) for count in re.findall(r'\[  SKIPPED \] (\d+) test', log.read_text(errors='replace')))
    missing = [name for name in ('VITRINE_CORPUS', 'VITRINE_CORPUS_LLM', 'VITRINE_CORPUS_15', 'VITRINE_CORPUS_PTQ',
                                'VITRINE_CORPUS_FOREIGN') if not os.path.isdir(os.environ.get(name, ''))]
    if skipped:
        reason = f'most need {" and ".join(missing)} (test/corpus/README.md)' if missing else 'their output gives the reason'
        print(f'{skipped} tests were skipped: {reason}')


if __name__ == '__main__':
    main()

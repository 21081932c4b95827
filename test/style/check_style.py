#!/usr/bin/env python3
"""Checks the rules of docs/style.md that a program can check, in every file that git tracks.

    test/style/check_style.py [--count] [FOLDER...]

Prints one line per finding and exits with 1 if there is any. --count prints findings per rule and folder instead.
--self-test checks that each rule finds its own example.
"""
import argparse
import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Files that are not checked. The style page and this folder quote forbidden words, the changelog lists old names, and
# samples and corpora are data.
SKIPPED = re.compile(r'docs/style\.md$|test/style/|CHANGELOG\.md$|LICENSE|test/samples/|test/fuzz/corpora/')
TEXT = re.compile(r'(\.(h|cc|c|inc|fbs|py|pyi|js|css|html|cmake|txt|in|sh|bash|md|toml|yml|json)|Makefile|/run)$')

STEMS = ('quantis optimis normalis initialis serialis functionalis recognis synchronis memois vectoris finalis '
         'parallelis generalis specialis materialis minimis maximis summaris organis realis customis categoris tokenis '
         'characteris utilis prioritis standardis randomis canonicalis symbolis localis linearis factoris visualis')
WORDS = 'colour neighbour behaviour honour favour centre licence artefact labelled cancelled modelled'

# Each rule has a kind, a pattern, a reason, and an example that the pattern must find. The kind selects the searched
# text: `any` is every line, `prose` is comments and documents, `comment` is the start of a comment block, `test` is the
# second name of a TEST macro, and `code` is a line without its comments.
RULES = [
    ('any', r'(?i)(%s)(e|ing|ation|able)' % '|'.join(STEMS.split()), 'American spelling: -ize', 'optimisation'),
    ('any', r'(?i)(%s)' % '|'.join(WORDS.split()), 'American spelling', 'neighbouring'),
    ('comment', r'(Of|What|As|Where|Whether)\b', 'A comment names its subject first', 'Of equal ones the first.'),
    ('prose', r'(^|[.:;] )Of (?!course)', 'A sentence names its subject first', 'It sorts. Of equal ones the first.'),
    ('prose', r'(?<![Tt]here )\b(?i:is|are|was|were) no(?! (longer|more|less|worse|better|larger|smaller|greater|faster|slower|later|'
              r'earlier|one)\b)\b(?! [a-z-]+ (in|for|on|at|to|between|left)\b)', 'Negate the verb: "is not a"',
     'The value is no tensor.'),
    ('prose', r'\b(has|have|had) not [a-z]+(?<!ed)(?<!en)(?<!un)(?<!ne)(?<!ad)(?<!ut)(?<!et)(?<!own)\b',
     'Negate with "does not have"', 'The file has not enough bytes.'),
    ('prose', r'\bhow manieth\b', 'The word is index', 'the how manieth handle'),
    ('prose', r'\b(what|that) (is|are) there\b', 'Name the thing', 'It copies what is there.'),
    ('prose', r'\bso (many|long as)\b', 'Give the count or the condition', 'There are not so many.'),
    ('prose', r'(?i)\blikewise\b', 'Repeat the fact', 'Likewise the outputs.'),
    ('prose', r'\b(stands for|stand for)\b|\bstands\b', 'The word is "represents" or "is"', 'A zero stands there.'),
    ('prose', r'\blies\b', 'The word is "is" or "is in"', 'The file lies in a folder.'),
    ('prose', r'\b(anew|alike)\b', 'The words are "again" and "equal"', 'It plans anew.'),
    ('any', r'\bk(Most|Least)[A-Z]', 'Limits are kMax and kMin', 'kMostThreads'),
    ('any', r'(?i)nibble', 'The word is int4', 'nibble_packing'),
    ('code', r'^\s*(struct|class) (Place|Part|Side|Turn|Whole)\b\s*($|[{;:])', 'A type has a specific name', 'struct Place {'),
    ('code', r'\b(pays|rests)\(', 'should_parallelize, is_paused', 'pool.pays(now)'),
    ('test', r'(Of|What|As|Where|Whether|Nor)[A-Z](?!ccepts)', 'A test name states behavior and expectation', 'OfEqualOnes'),
    ('test', r'\w*(Stranger|Riddle|Likewise|Alike|Anew|Manieth)', 'A test name uses plain words', 'TellsStrangers'),
]
HASH = re.compile(r'\.(py|sh|bash|cmake|txt|toml|yml)$|Makefile$|/run$')
TEST = re.compile(r'^\s*TEST(?:_F|_P)?\(\s*\w+\s*,\s*(\w+)')


def pieces(name, text):
    """(kind, line number, text) of each piece of a file that a rule may look at."""
    mark = '#' if HASH.search(name) else '//'
    is_page = name.endswith('.md')
    in_block, in_fence = False, False
    for number, line in enumerate(text.split('\n'), 1):
        yield 'any', number, line
        stripped = line.strip()
        if is_page:
            if stripped.startswith('```'):
                in_fence = not in_fence
            elif not in_fence:
                yield 'prose', number, re.sub(r'`[^`]*`', '``', line)
            continue
        at = line.find(mark) if not stripped.startswith(mark) else line.index(mark)
        is_comment = stripped.startswith(mark) and not stripped.startswith('#!')
        if is_comment:
            words = stripped.lstrip('/#!<').strip()
            yield 'prose', number, words
            if not in_block:
                yield 'comment', number, words
        elif mark == '//' and at > 0 and line[at - 1] != ':' and line.count('"', 0, at) % 2 == 0:
            yield 'prose', number, line[at + 2:].strip()
            yield 'comment', number, line[at + 2:].strip()
            yield 'code', number, line[:at]
        else:
            yield 'code', number, line
        in_block = is_comment
        if match := TEST.match(line):
            yield 'test', number, match.group(1)


def findings(name, text):
    for kind, number, piece in pieces(name, text):
        for rule_kind, pattern, reason, _ in COMPILED:
            if kind == rule_kind:
                match = pattern.match(piece) if kind in ('comment', 'test') else pattern.search(piece)
                if match:
                    yield number, reason, piece.strip()


COMPILED = [(kind, re.compile(pattern), reason, example) for kind, pattern, reason, example in RULES]


def self_test():
    for kind, pattern, reason, example in COMPILED:
        found = pattern.match(example) if kind in ('comment', 'test') else pattern.search(example)
        assert found, f'{reason}: does not find "{example}"'
    source = '// Whether it fits.\nint x;  // kMostThreads\nTEST(Sums, OfNothing) {\nstruct Place {};\n'
    assert [number for number, *_ in findings('x.cc', source)] == [1, 2, 3, 4]
    assert not list(findings('x.cc', '// True if it fits.\nTEST(Sums, IsZeroWithoutTerms) {\n'))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('folders', nargs='*')
    parser.add_argument('--count', action='store_true')
    parser.add_argument('--self-test', action='store_true')
    options = parser.parse_args()
    self_test()
    if options.self_test:
        return 0
    listed = subprocess.run(['git', '-C', str(ROOT), 'ls-files', '-z', '--', *options.folders], capture_output=True,
                            text=True, check=False)
    if listed.returncode != 0:
        print('check_style: not a git checkout, which has the list of files: skipped')
        return 77
    counts, total = collections.Counter(), 0
    for name in listed.stdout.split('\0'):
        if not name or SKIPPED.search(name) or not TEXT.search(name) or not (ROOT / name).is_file():
            continue
        for number, reason, piece in findings(name, (ROOT / name).read_text(errors='replace')):
            total += 1
            counts[reason, name.split('/')[0]] += 1
            if not options.count:
                print(f'{name}:{number}: {reason}: {piece[:100]}')
    for (reason, folder), count in sorted(counts.items()) if options.count else []:
        print(f'{count:5}  {folder:12} {reason}')
    print(f'{total} findings')
    return 1 if total else 0


if __name__ == '__main__':
    sys.exit(main())

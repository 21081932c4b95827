#!/usr/bin/env python3
"""Writes THIRD_PARTY_NOTICES and an SPDX 2.3 software bill of materials for the packages.

    notices.py --version 0.1.0 --sources DIR --output DIR --pin 'NAME|COMMIT|REPOSITORY|ARCHIVE|HASH' ...

--sources has the unpacked pinned sources, one folder per pin. --dagre is the folder of the library in the pages of
graphs, if the build has it (cmake/GraphLayout.cmake). The licenses of libraries from the distribution come from
/usr/share/doc/PACKAGE/copyright. A missing license text is an error, since a package must contain it.
"""
import argparse
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys

# name | Debian package | SPDX license | how the packages contain it
LIBRARIES = [
    ('Highway', 'libhwy-dev', 'Apache-2.0', 'compiled in'),
    ('FlatBuffers', 'libflatbuffers-dev', 'Apache-2.0', 'compiled in'),
    ('xxHash', 'libxxhash-dev', 'BSD-2-Clause', 'compiled in'),
    ('JSON for Modern C++', 'nlohmann-json3-dev', 'MIT', 'compiled in'),
    ('CLI11', 'libcli11-dev', 'BSD-3-Clause', 'compiled in'),
    ('fmt', 'libfmt-dev', 'MIT', 'linked'),
    ('zlib', 'zlib1g-dev', 'Zlib', 'linked'),
    ('ICU', 'libicu-dev', 'ICU', 'linked'),
    ('SentencePiece', 'libsentencepiece-dev', 'Apache-2.0', 'linked'),
    ('Oniguruma', 'libonig-dev', 'BSD-2-Clause', 'linked'),
]
PIN_LICENSES = {'XNNPACK': 'BSD-3-Clause', 'pthreadpool': 'BSD-2-Clause', 'cpuinfo': 'BSD-2-Clause', 'FP16': 'MIT',
                'FXdiv': 'MIT'}


def package_version(package):
    found = subprocess.run(['dpkg-query', '-W', '-f=${Version}\n', package], capture_output=True, text=True, check=False)
    return found.stdout.split('\n')[0] if found.returncode == 0 else ''


def read_components(options):
    components = []
    for row in options.pin:
        name, commit, repository, archive, archive_hash = row.split('|')
        text = pathlib.Path(options.sources, name, 'LICENSE').read_text()
        alternative = f'git {archive_hash}' if archive_hash.startswith('tree:') else f'SHA-256 {archive_hash}'
        owner = "Debian's " if '/' in archive else ''
        components.append({'name': name, 'version': commit, 'license': PIN_LICENSES[name], 'how': 'compiled in',
                           'location': f'git+{repository}@{commit}', 'text': text,
                           'comment': f'Alternative source: {owner}{archive}, {alternative}'})
    if options.dagre:
        archive, sha256 = pathlib.Path(options.dagre, 'archive').read_text().split('|')
        version = re.search(r'[-_](\d.*?)(_all\.deb|\.tgz)$', archive).group(1)
        components.append({'name': 'dagre', 'version': version, 'license': 'MIT', 'how': 'compiled in',
                           'location': 'git+https://github.com/dagrejs/dagre.git',
                           'text': pathlib.Path(options.dagre, 'LICENSE').read_text(),
                           'comment': f'The JavaScript file of {archive}, SHA-256 {sha256}'})
    for name, package, license_id, how in LIBRARIES:
        path = pathlib.Path('/usr/share/doc', package, 'copyright')
        version = package_version(package)
        if not version:
            continue  # this build does not use the library
        components.append({'name': name, 'version': version, 'license': license_id, 'how': how,
                           'location': 'NOASSERTION', 'text': path.read_text(errors='replace')})
    return components


def notices(components):
    line = '=' * 78
    parts = ['Vitrine contains or links the following software.\n']
    parts += [f"  {part['name']} {part['version']} ({part['license']}, {part['how']})" for part in components]
    for part in components:
        parts += ['', line, f"{part['name']} {part['version']}", line, '', part['text'].rstrip()]
    return '\n'.join(parts) + '\n'


def spdx(options, components):
    created = datetime.datetime.fromtimestamp(options.epoch, datetime.timezone.utc).strftime('%Y-%m-%dT%H:%M:%SZ')
    packages = [{'SPDXID': 'SPDXRef-Vitrine', 'name': 'vitrine', 'versionInfo': options.version,
                 'downloadLocation': 'NOASSERTION', 'filesAnalyzed': False, 'licenseConcluded': 'BSD-3-Clause',
                 'licenseDeclared': 'BSD-3-Clause', 'copyrightText': 'Copyright (c) 2026, the Vitrine authors'}]
    relations = [{'spdxElementId': 'SPDXRef-DOCUMENT', 'relationshipType': 'DESCRIBES',
                  'relatedSpdxElement': 'SPDXRef-Vitrine'}]
    for part in components:
        identifier = 'SPDXRef-' + re.sub('[^A-Za-z0-9.-]+', '-', part['name'])
        package = {'SPDXID': identifier, 'name': part['name'], 'versionInfo': part['version'],
                   'downloadLocation': part['location'], 'filesAnalyzed': False, 'licenseConcluded': part['license'],
                   'licenseDeclared': part['license'], 'copyrightText': 'NOASSERTION'}
        if 'comment' in part:
            package['comment'] = part['comment']
        packages.append(package)
        relations.append({'spdxElementId': 'SPDXRef-Vitrine', 'relatedSpdxElement': identifier,
                          'relationshipType': 'CONTAINS' if part['how'] == 'compiled in' else 'DYNAMIC_LINK'})
    return {'spdxVersion': 'SPDX-2.3', 'dataLicense': 'CC0-1.0', 'SPDXID': 'SPDXRef-DOCUMENT',
            'name': f'vitrine-{options.version}',
            'documentNamespace': f'https://spdx.org/spdxdocs/vitrine-{options.version}',
            'creationInfo': {'created': created, 'creators': ['Tool: vitrine-notices.py']},
            'packages': packages, 'relationships': relations}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--version', required=True)
    parser.add_argument('--sources', required=True)
    parser.add_argument('--output', required=True)
    parser.add_argument('--dagre', default='')
    parser.add_argument('--pin', action='append', default=[])
    options = parser.parse_args()
    # https://reproducible-builds.org/docs/source-date-epoch
    options.epoch = int(os.environ.get('SOURCE_DATE_EPOCH', '0'))
    components = read_components(options)
    folder = pathlib.Path(options.output)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / 'THIRD_PARTY_NOTICES').write_text(notices(components))
    (folder / 'vitrine.spdx.json').write_text(json.dumps(spdx(options, components), indent=1) + '\n')
    return 0


if __name__ == '__main__':
    sys.exit(main())

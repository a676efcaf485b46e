/** A stream as received on the wire. */
export interface Vector {
  readonly name: string
  readonly bytes: Uint8Array
}

const encoder = new TextEncoder()
const bom = '\uFEFF'
const long = 'lorem ipsum '.repeat(400)
const tongues = ['Zażółć gęślą jaźń', 'ἄνδρα μοι ἔννεπε', '色は匂へど散りぬるを', '🦉🏳️‍🌈👩‍👩‍👧', 'ጤና ይስጥልኝ', 'שלום']

const texts: Readonly<Record<string, string>> = {
  nothing: '',
  'a few plain events': Array.from({ length: 5 }, (_, at) => `data: step ${at}\n\n`).join(''),
  'a chat stream': `data: {"choices":[{"delta":{"content":"A\\u2028B"}}]}\n\ndata: {"usage":null}\n\ndata: [DONE]\n\n`,
  'named events with ids and retry': 'event: tick\nid: 7\nretry: 120\ndata: seven\n\nevent: over\ndata: ✓\n\n',
  'a heartbeat before each event': [...'abc'].map((letter) => `: ♥\n\ndata: ${letter}\n\n`).join(''),
  'data on several lines': 'event: price\ndata: ABCD\ndata: -3\ndata: 12\n\ndata: x\ndata: y\n\n',
  'many languages': tongues
    .map((line, at) => `id: ${at}\ndata:${line.slice(0, 4)}\ndata:${line.slice(4)}\n\n`)
    .join(''),
  'blank lines before the first event': '\n\n\n\nid: 3\ndata: 長い沈黙の後\n\n',
  'carriage returns': 'data: one\rdata: two\r\rdata: three\r\r',
  'line feeds': 'data: one\ndata: two\n\ndata: three\n\n',
  both: 'data: one\r\ndata: two\r\n\r\ndata: three\r\n\r\n',
  'mixed line ends': 'data: a\r\n\rdata: b\n\r\ndata: c\r\rdata: d\n\n\r\n\r\r\n\n: e\r\n\rdata: f\n\r',
  'a byte order mark': `${bom}data: marked\n\ndata: plain\n\n`,
  'a byte order mark before a comment': `${bom}: hello\n\ndata: plain\n\n`,
  'a byte order mark twice': `${bom}${bom}data: lost\n\ndata: plain\n\n`,
  'byte order marks in the middle': `${bom}data: kept\n\n${bom}data: lost\n\ndata: ${bom}in data\n\n`,
  'a byte order mark alone': bom,
  'the first bytes of a byte order mark': 'ﻯdata: lost\ndata: kept\n\n',
  'comments everywhere': `: a\n\n${':'.repeat(300)}\ndata: 1\n: within\ndata: 2\n\n:\n:data: no\n: ${tongues.join(' : ')}\ndata: 3\n\n`,
  'comments between all line ends': `data:1\r\r:\0\n:\r\ndata:2\n\n:${long}\rdata:3\n\n:data:no\r:${long}\ndata:4\n\n`,
  'events without data': 'event: quiet\n\nid: 5\n\nretry: 9\n\nevent:\ndata: named by nothing\n\nevent:\n\n',
  'empty data': 'data\n\ndata:\n\ndata: \n\ndata\ndata\n\ndata:\ndata:\ndata: x\n\n',
  'no, one and several spaces after the colon': 'data:tight\n\ndata: loose\n\ndata:  wide\n\ndata:\ttab\n\n',
  'invalid fields': 'data:a\n data\nDATA: no\ndatax: no\nfoo\nfoo:bar\ndata : no\n:\ndata:b\n\n',
  'an id with NUL in it': 'id: 1\ndata: a\n\nid: 2\0\ndata: b\n\nid\ndata: c\n\nid: 4\nid: x\0\ndata: d\n\n',
  'retry without a number': 'retry: 10x\nretry:\nretry: 1.5\ndata: x\n\n',
  'characters that are not line ends in SSE': 'data: a\u2028b\u2029c\u0085d\u000be\u000cf\0g\n\n',
  'a long event': `: begin\n\ndata: ${long}${tongues.join('')}\ndata:${long}\n\n: end\n\n`,
  'a last event without a blank line': 'data: whole\n\nevent: cut\ndata: half\n',
  'a last line without an end': 'data: whole\n\ndata: half',
  'a last comment without an end': 'data: whole\n\n: hal',
  'a last event that ends with a carriage return': 'data: whole\r\rdata: half\r',
}

const invalid = [
  0xff, 0xc3, 0x28, 0xe2, 0x82, 0x0a, 0x64, 0x61, 0x74, 0x61, 0x3a, 0xf0, 0x9f, 0x0d, 0xed, 0xa0, 0x80, 0x0a, 0x0a,
]

export const vectors: readonly Vector[] = [
  ...Object.entries(texts).map(([name, text]) => ({ name, bytes: encoder.encode(text) })),
  {
    name: 'what is not UTF-8',
    bytes: Uint8Array.of(...encoder.encode('data: '), ...invalid, ...encoder.encode('data: x\n\n')),
  },
  { name: 'half a byte order mark', bytes: Uint8Array.of(0xef, 0xbb, ...encoder.encode('data: lost\ndata: kept\n\n')) },
  { name: 'half a byte order mark alone', bytes: Uint8Array.of(0xef, 0xbb) },
  { name: 'a last character that is cut', bytes: Uint8Array.of(...encoder.encode('data: '), 0xf0, 0x9f, 0xa6) },
]

/** Sizes of pieces: one, two, primes, whole. */
const rhythms: readonly (readonly number[])[] = [
  [1],
  [2],
  [3],
  [2, 3, 5, 7, 11, 13],
  [64 * 1024],
  [Number.POSITIVE_INFINITY],
]

export const chop = (bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] => {
  const pieces: Uint8Array[] = []
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1
    pieces.push(bytes.subarray(at, Math.min(bytes.length, at + size)))
    at += size
  }
  return pieces
}

/** Pseudo-random numbers with a fixed seed (mulberry32). */
export const seededRandom = (seed: number) => {
  let state = seed
  return (below: number): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

/** Splits of a stream: pieces of equal size, two pieces at each position of a short stream, and random ones. */
export const cuts = function* (bytes: Uint8Array, random: number): Generator<Uint8Array[]> {
  for (const sizes of rhythms) yield chop(bytes, sizes)
  if (bytes.length <= 400) for (let at = 0; at <= bytes.length; at++) yield [bytes.subarray(0, at), bytes.subarray(at)]
  const next = seededRandom(bytes.length + 1)
  for (let round = 0; round < random; round++) {
    const most = 1 + next(60)
    yield chop(
      bytes,
      Array.from({ length: 50 }, () => 1 + next(most)),
    )
  }
}

/** An expensive body and the route that receives it. */
export interface WorstBody {
  readonly name: string
  readonly path: string
  /** Builds the body with at most `bytes` bytes. */
  readonly build: (bytes: number) => string
}

const chat = '/v1/chat/completions'
const responses = '/v1/responses'
const model = '"model":"m"'

/** A chat request with one message that repeats `filler`. */
const message =
  (filler: string, before = '', after = '') =>
  (bytes: number): string => {
    const [start, end] = [`{${model},"messages":[{"role":"user","content":"${before}`, `${after}"}]}`]
    return start + repeated(filler, bytes - start.length - end.length - 16) + end
  }

const repeated = (filler: string, bytes: number): string =>
  filler.repeat(Math.max(0, Math.floor(bytes / Buffer.byteLength(filler))))

/** Repeats a value up to the size, or up to the maximum number. */
const list =
  (start: string, element: string, end: string, maxCount: number) =>
  (bytes: number): string => {
    const count = Math.min(maxCount, Math.floor((bytes - start.length - end.length) / (element.length + 1)))
    return start + Array(count).fill(element).join(',') + end
  }

const padded =
  (build: (bytes: number) => string) =>
  (bytes: number): string => {
    const text = build(bytes)
    const space = bytes - Buffer.byteLength(text)
    return space > 0 ? text.slice(0, -1) + ' '.repeat(space) + text.slice(-1) : text
  }

/** Bodies for the routes of text generation. */
export const worstText: readonly WorstBody[] = [
  { name: 'one text', path: chat, build: message('QUJDREVG') },
  { name: 'one text with one emoji', path: chat, build: message('QUJDREVG', '\u{1f600}') },
  { name: 'one text of two-byte letters', path: chat, build: message('é') },
  { name: 'one text of escaped backslashes', path: chat, build: message('\\\\', 'x') },
  { name: 'one text of escaped letters', path: chat, build: message('\\u00e9') },
  {
    name: 'a role of escaped backslashes',
    path: chat,
    build: (bytes) => `{${model},"messages":[{"role":"${repeated('\\\\', bytes - 60)}"}]}`,
  },
  {
    name: 'one image in base64 without an address',
    path: chat,
    build: (bytes) => {
      const start = `{${model},"messages":[{"role":"user","content":[{"type":"image","image":"iVBORw0KGgoA`
      return `${start}${repeated('QUJD', bytes - start.length - 9)}"}]}]}`
    },
  },
  {
    name: 'one image',
    path: chat,
    build: (bytes) => {
      const start = `{${model},"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,`
      return `${start}${repeated('QUJD', bytes - start.length - 9)}"}}]}]}`
    },
  },
  {
    name: 'white space',
    path: chat,
    build: padded(() => `{${model},"messages":[{"role":"user","content":"x"}]}`),
  },
  {
    name: '60 levels around one text',
    path: chat,
    build: (bytes) => {
      const start = `{${model},"messages":[{"role":"user","content":"x"}],"x":`
      const room = bytes - start.length - 60 * 6 - 16
      return `${start}${'{"a":'.repeat(60)}"${repeated('x', room)}"${'}'.repeat(60)}}`
    },
  },
  {
    name: '60 levels of arrays of objects',
    path: chat,
    build: padded(
      list(
        `{${model},"messages":[{"role":"user","content":"x"}],"x":[`,
        `${'{"a":['.repeat(29)}${'],"b":1}'.repeat(29)}`,
        ']}',
        1_100,
      ),
    ),
  },
  {
    name: '33,000 messages',
    path: chat,
    build: padded(list(`{${model},"messages":[`, '{"role":"user","content":"x"}', ']}', 33_000)),
  },
  {
    name: '33,000 messages of 2 kB',
    path: chat,
    build: (bytes) =>
      list(
        `{${model},"messages":[`,
        `{"role":"user","content":"${'y'.repeat(Math.max(1, Math.floor(bytes / 33_000) - 40))}"}`,
        ']}',
        33_000,
      )(bytes),
  },
  {
    name: '49,000 parts with types',
    path: chat,
    build: padded(list(`{${model},"messages":[{"role":"user","content":[`, '{"type":"x"}', ']}]}', 49_000)),
  },
  {
    name: 'one text of blanks',
    path: chat,
    build: message(' '),
  },
  {
    name: '99,000 long keys',
    path: chat,
    build: padded(
      list(`{${model},"messages":[{"role":"user","content":"x"}],"metadata":{`, `"${'k'.repeat(36)}":1`, '}}', 99_000),
    ),
  },
  {
    name: '99,000 strings that are nearly addresses',
    path: chat,
    build: padded(
      list(`{${model},"messages":[{"role":"user","content":"x"}],"x":[`, `"${'.'.repeat(200)}asset"`, ']}', 99_000),
    ),
  },
  {
    name: '99,000 strings that begin with few signs',
    path: chat,
    build: padded(
      list(
        `{${model},"messages":[{"role":"user","content":"x"}],"x":[`,
        `"${'\u{1f600}'.repeat(8)}asset"`,
        ']}',
        99_000,
      ),
    ),
  },
  {
    name: 'a response: one text',
    path: responses,
    build: (bytes) => `{${model},"input":"${repeated('x', bytes - 40)}"}`,
  },
  {
    name: 'a response: instructions of escapes',
    path: responses,
    build: (bytes) => `{${model},"input":"x","instructions":"x${repeated('\\"', bytes - 60)}"}`,
  },
  {
    name: 'a response: 49,000 items',
    path: responses,
    build: padded(list(`{${model},"input":[`, '{"role":"user"}', ']}', 49_000)),
  },
  {
    name: 'too many values',
    path: chat,
    build: list(`{${model},"messages":[`, '1', ']}', Number.POSITIVE_INFINITY),
  },
]

const assets = '/api/media/proxy/assets'

/** Bodies for the routes with small bodies. */
export const worstSmall: readonly WorstBody[] = [
  {
    name: 'many keys of letters that fold',
    path: assets,
    build: list('{"GroupId":"GROUP",', '"\\u00e9\\ufdfa":1', '}', 99_990),
  },
  {
    name: 'one key of letters that fold into eighteen',
    path: assets,
    build: (bytes) => `{"GroupId":"GROUP","${repeated('\ufdfa', bytes - 40)}":1}`,
  },
  {
    name: 'many objects',
    path: assets,
    build: list('{"GroupId":"GROUP","x":[', '{}', ']}', 99_990),
  },
  {
    name: 'many spellings of ProjectName',
    path: assets,
    build: list('{"GroupId":"GROUP",', '"projectName":1', '}', 99_990),
  },
  {
    name: '60 levels',
    path: assets,
    build: list('{"GroupId":"GROUP","x":[', `${'{"a":['.repeat(29)}${']}'.repeat(29)}`, ']}', 1_600),
  },
]

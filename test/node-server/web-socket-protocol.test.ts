import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { clientFrame } from './client-frame.ts'
import { type Program, runtimes, startProgram } from './program.ts'
import { host } from './raw-connection.ts'

const handshake = [
  'GET / HTTP/1.1',
  `${host}Connection: Upgrade`,
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  '\r\n',
].join('\r\n')

/** The client's end of a connection, byte by byte. */
class RawClient {
  readonly socket: Socket
  readonly closed: Promise<void>
  #received = Buffer.alloc(0)
  #heard = () => {}
  #isOver = false

  constructor(socket: Socket) {
    this.socket = socket
    socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk])
      this.#heard()
    })
    socket.on('error', () => {})
    this.closed = new Promise((resolve) => {
      const end = () => {
        this.#isOver = true
        this.#heard()
        resolve()
      }
      socket.on('end', end).on('close', end)
    })
  }

  async #take(length: number): Promise<Buffer> {
    while (this.#received.length < length) {
      if (this.#isOver) throw new Error(`the connection has ended after ${this.#received.toString('hex')}`)
      await new Promise<void>((resolve) => {
        this.#heard = resolve
      })
    }
    const taken = this.#received.subarray(0, length)
    this.#received = this.#received.subarray(length)
    return taken
  }

  async head(): Promise<string> {
    let head = ''
    while (!head.endsWith('\r\n\r\n')) head += (await this.#take(1)).toString('latin1')
    return head
  }

  /** The next frame, which must not have a mask (RFC 6455 section 5.1): its opcode and its text. */
  async frame(): Promise<string> {
    const [first = 0, second = 0] = await this.#take(2)
    expect([first & 0xf0, second & 0x80]).toEqual([0x80, 0])
    const length = second < 126 ? second : second === 126 ? (await this.#take(2)).readUInt16BE() : Number.NaN
    const payload = await this.#take(length)
    const opcode = first & 0x0f
    if (opcode !== 8) return `${{ 1: 'text', 9: 'ping', 10: 'pong' }[opcode]} ${payload}`
    return payload.length === 0 ? 'close' : `close ${payload.readUInt16BE()} ${payload.subarray(2)}`.trim()
  }

  /** All frames up to a close frame. */
  async frames(): Promise<readonly string[]> {
    const frames: string[] = []
    while (!frames.at(-1)?.startsWith('close')) frames.push(await this.frame())
    return frames
  }
}

const text = (first: number, payload: string | readonly number[] = '') =>
  clientFrame(first, typeof payload === 'string' ? Buffer.from(payload) : Buffer.from(payload))
/** A frame whose length has a longer form than it needs. */
const longForm = (first: number, bytes: 2 | 8, payload: string) => {
  const length = Buffer.alloc(bytes)
  length.writeUInt8(payload.length, bytes - 1)
  return Buffer.concat([
    Buffer.from([first, 0x80 | (bytes === 2 ? 126 : 127)]),
    length,
    Buffer.alloc(4),
    Buffer.from(payload),
  ])
}
const closing = clientFrame(0x88, Buffer.from([0x03, 0xe8]))
const normal = 'close 1000'
const euro = [0xe2, 0x82, 0xac]

/** RFC 6455: what is sent, and the frames that come back, up to the close frame. */
const rules: Readonly<Record<string, readonly [readonly Buffer[], readonly string[]]>> = {
  'section 5.4: a message in fragments, one of them empty': [
    [text(0x01, 'Hel'), text(0x00), text(0x80, 'lo'), closing],
    ['text Hello', normal],
  ],
  'section 5.4: empty messages, in one frame and in fragments': [
    [text(0x81), text(0x01), text(0x80), closing],
    ['text ', 'text ', normal],
  ],
  'section 5.4: control frames between fragments': [
    [text(0x01, 'a'), text(0x89, '1'), text(0x00, 'b'), text(0x8a, 'x'), text(0x80, 'c')],
    ['pong 1', 'text pong', 'text abc'],
  ],
  'section 5.4: a close frame between fragments ends the message': [
    [text(0x01, 'a'), closing, text(0x80, 'b')],
    [normal],
  ],
  'section 5.4: a fragment of no message': [[text(0x00, 'a'), closing], ['close 1002']],
  'section 5.4: a last fragment of no message, after a message': [
    [text(0x81, 'a'), text(0x80, 'b'), closing],
    ['text a', 'close 1002'],
  ],
  'section 5.4: a message within another': [[text(0x01, 'a'), text(0x82, 'b'), closing], ['close 1002']],
  'section 5.5: a control frame of 125 bytes': [[text(0x89, 'x'.repeat(125))], [`pong ${'x'.repeat(125)}`]],
  'section 5.5: a control frame of 126 bytes': [[text(0x89, 'x'.repeat(126)), closing], ['close 1002']],
  'section 5.5: a control frame in fragments': [[text(0x09, 'a'), text(0x80, 'b'), closing], ['close 1002']],
  'section 5.5.1: a close frame without a code': [[text(0x88)], ['close']],
  'section 5.5.1: a close frame with a reason': [[text(0x88, [0x03, 0xe9, ...euro])], ['close 1001']],
  'section 5.5.1: a close frame of one byte': [[text(0x88, [3])], ['close 1002']],
  'section 5.5.1: nothing is read after a close frame': [[text(0x88), text(0x81, 'a'), text(0x89)], ['close']],
  'section 5.5.3: an unsolicited pong': [
    [text(0x8a, 'a'), text(0x81, 'b'), closing],
    ['text pong', 'text b', normal],
  ],
  'section 5.2: reserved bits': [[text(0xc1, 'a'), closing], ['close 1002']],
  'section 5.2: a reserved bit of a control frame': [[text(0x99, 'a'), closing], ['close 1002']],
  'section 5.2: a reserved bit of a fragment': [[text(0x01, 'a'), text(0xa0, 'b'), closing], ['close 1002']],
  'section 5.2: a reserved opcode of data': [[text(0x87, 'a'), closing], ['close 1002']],
  'section 5.2: a reserved opcode of control': [[text(0x8b, 'a'), closing], ['close 1002']],
  'section 5.2: a length of two bytes that needs one': [[longForm(0x81, 2, 'a'), closing], ['close 1002']],
  'section 5.2: a length of eight bytes that needs two': [
    [longForm(0x81, 8, 'a'.repeat(130)), closing],
    ['close 1002'],
  ],
  'section 5.2: a ping with a length that is too long': [[longForm(0x89, 2, 'a'), closing], ['close 1002']],
  'section 5.2: a length whose most significant bit is set': [
    [Buffer.from([0x81, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4])],
    ['close 1009'],
  ],
  'section 5.1: a frame without a mask': [[Buffer.from([0x81, 1, 0x61])], ['close 1002']],
  'section 5.1: a close frame without a mask': [[Buffer.from([0x88, 0])], ['close 1002']],
  'section 8.1: a character over the border of fragments': [
    [text(0x01, euro.slice(0, 1)), text(0x89, 'p'), text(0x00, euro.slice(1, 2)), text(0x80, euro.slice(2))],
    ['pong p', 'text \u20ac'],
  ],
  'section 8.1: half a character at the end': [[text(0x01, euro.slice(0, 2)), text(0x80), closing], ['close 1007']],
  'section 8.1: a surrogate': [[text(0x81, [0xed, 0xa0, 0x80]), closing], ['close 1007']],
  'section 8.1: an overlong character': [[text(0x81, [0xc0, 0xaf]), closing], ['close 1007']],
  'section 8.1: a character above U+10FFFF': [[text(0x81, [0xf4, 0x90, 0x80, 0x80]), closing], ['close 1007']],
  'section 8.1: U+0000, U+FEFF and U+10FFFF': [
    [text(0x81, '\0\ufeff\u{10ffff}'), closing],
    ['text \0\ufeff\u{10ffff}', normal],
  ],
  'section 8.1: no message after one that is not valid': [
    [text(0x81, [0xff]), text(0x81, 'a'), closing],
    ['close 1007'],
  ],
  'section 5.6: bytes that are not UTF-8 in a binary message': [
    [text(0x82, [0xff]), closing],
    ['text binary', normal],
  ],
  'section 8.1: a reason that is not UTF-8': [[text(0x88, [0x03, 0xe8, 0xff])], ['close 1007']],
  'section 7.1.5: a reason of at most 123 bytes, with whole characters': [
    [text(0x81, 'close')],
    [`close 4000 ${'\u{1f600}'.repeat(30)}`],
  ],
  'section 7.4.1: a message that is too long, before its payload': [
    [clientFrame(0x81, Buffer.alloc(3_000_001)).subarray(0, 14)],
    ['close 1009'],
  ],
  'section 7.4.1: fragments that are too long together': [
    [text(0x01, 'x'.repeat(1_500_000)), text(0x00, 'x'.repeat(1_500_000)), text(0x00, 'x')],
    ['close 1009'],
  ],
  'messages of any length keep their order': [
    [text(0x81, 'x'.repeat(2_500_000)), text(0x81, 'a'), text(0x81, 'x'.repeat(1_500_000)), text(0x81, 'b')],
    ['text 2500000', 'text a', 'text 1500000', 'text b'],
  ],
}

/** The answer to a ping may come before or after the messages that arrived with it. */
const inOrder = (frames: readonly string[]) =>
  frames.some((each) => each.startsWith('pong ')) ? frames.toSorted() : [...frames]

const codes = {
  allowed: [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999],
  refused: [0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535],
}

/** Bytes behind a close frame of the client, which ends the connection: more of them would arrive at a closed one. */
const afterClose = (frames: readonly Buffer[]): number => {
  const closing = frames.findIndex(([first = 0]) => (first & 0x0f) === 8)
  return closing < 0 ? 0 : Buffer.concat(frames.slice(closing + 1)).length
}

/** Each byte on its own, and with the last one the `rest` bytes behind it; two pieces of many bytes. */
const inPieces = (bytes: Buffer, rest: number): readonly Buffer[] => {
  if (bytes.length > 2_000) return [bytes.subarray(0, 7), bytes.subarray(7)]
  const last = bytes.length - rest - 1
  return [...[...bytes.subarray(0, last)].map((byte) => Buffer.from([byte])), bytes.subarray(last)]
}

describe.each(Object.entries(runtimes))('a WebSocket connection on %s', (_name, command) => {
  let program: Program
  /** One that waits long for peers to close their ends. */
  let patient: Program
  beforeAll(async () => {
    program = await startProgram(command, './web-socket-echo.ts', '500')
    patient = await startProgram(command, './web-socket-echo.ts', '3600000')
  }, 300_000)
  afterAll(async () => {
    await program[Symbol.asyncDispose]()
    await patient[Symbol.asyncDispose]()
  })

  const sockets: Socket[] = []
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy()
  })
  const open = async ({ port } = program) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    sockets.push(socket)
    const client = new RawClient(socket)
    socket.write(handshake)
    expect(await client.head()).toStartWith('HTTP/1.1 101 ')
    return client
  }
  /** The numbers of connections that have not closed yet on the server's side, and of all messages. */
  const countsOf = async ({ dial }: Program) => {
    const { body } = await dial(`GET / HTTP/1.1\r\n${host}\r\n`).readResponse()
    const [connections = Number.NaN, messages = Number.NaN] = body.split(' ').map(Number)
    return { connections, messages }
  }
  const allClosed = async (at = program) => {
    while ((await countsOf(at)).connections > 0) await delay(5)
  }

  for (const [rule, [sent, expected]] of Object.entries(rules)) {
    for (const [how, pieces] of [
      ['at once', (bytes: Buffer, _rest: number) => [bytes]],
      ['in pieces', inPieces],
    ] as const) {
      test(`${rule} (${how})`, async () => {
        const client = await open()
        client.socket.setNoDelay(true)
        for (const piece of pieces(Buffer.concat(sent), afterClose(sent))) client.socket.write(piece)
        const frames = []
        while (frames.length < expected.length) frames.push(await client.frame())
        expect(inOrder(frames)).toEqual(inOrder(expected))
        if (expected.at(-1)?.startsWith('close')) await client.closed
      })
    }
  }

  test('section 7.4: codes of close frames', async () => {
    for (const [codesOf, answer] of [
      [codes.allowed, (code: number) => `close ${code}`],
      [codes.refused, () => 'close 1002'],
    ] as const) {
      for (const code of codesOf) {
        const client = await open()
        client.socket.write(text(0x88, [code >> 8, code & 0xff]))
        expect([code, await client.frame()]).toEqual([code, answer(code)])
        await client.closed
      }
    }
  })

  test('section 5.5.3: many pings get few answers, among them that of the last', async () => {
    const client = await open()
    const pings = Array.from({ length: 20_000 }, (_, index) => text(0x89, String(index)))
    client.socket.write(Buffer.concat([...pings, closing]))
    const frames = await client.frames()
    expect(frames.length).toBeLessThan(100)
    expect(frames.at(-1)).toBe(normal)
  })

  test('section 7.1.1: it closes at once when the closing handshake is complete, though the peer keeps its end open', async () => {
    const client = await open(patient)
    client.socket.write(closing)
    expect(await client.frame()).toBe(normal)
    await client.closed
    await allClosed(patient)
  })

  test('section 7.1.7: a message after a long one that is not valid, and after a close frame, is not passed on', async () => {
    const { messages } = await countsOf(patient)
    const long = 'x'.repeat(2_000_000)
    for (const [frames, expected] of [
      [[text(0x01, long), text(0x80, [0xff]), text(0x81, 'a')], 'close 1007'],
      [[text(0x81, long), closing], normal],
    ] as const) {
      const client = await open(patient)
      client.socket.write(Buffer.concat(frames))
      expect(await client.frame()).toBe(expected)
      client.socket.end()
      await allClosed(patient)
    }
    expect((await countsOf(patient)).messages).toBe(messages)
  })

  test('it closes soon after an error, though the peer keeps its end open and sends on', async () => {
    const client = await open()
    client.socket.write(text(0x83, 'a'))
    expect(await client.frame()).toBe('close 1002')
    const sending = setInterval(() => client.socket.write(Buffer.alloc(1_000)), 5)
    await allClosed()
    clearInterval(sending)
  })

  test('it closes when the peer has closed its end without a close frame', async () => {
    const client = await open()
    client.socket.end(text(0x01, 'a'))
    await client.closed
    await allClosed()
  })

  test('section 5.4: a flood of tiny fragments is one message', async () => {
    const client = await open()
    const fragments = [text(0x01, 'a'), ...Array<Buffer>(60_000).fill(text(0x00, 'a'))]
    client.socket.write(Buffer.concat([...fragments, text(0x80, 'a'), closing]))
    expect(await client.frames()).toEqual([`text ${'a'.repeat(60_002)}`, normal])
  })
})

import { describe, expect, test } from 'bun:test'
import {
  EventTooLargeError,
  type Frame,
  type RelayOptions,
  readFrames,
  relayFrames,
  type StreamEnd,
} from '../../plugins/sse-relay/index.ts'
import { settled } from '../support/virtual-clock.ts'
import { bodyOf, bytesOf, ControlledBody, collected, readAll } from './bodies.ts'
import { parsedElsewhere } from './reference-parser.ts'

const relayOf = (pieces: (string | Uint8Array)[], options?: RelayOptions) =>
  relayFrames(readFrames(bodyOf(pieces), { maxEventBytes: 1000 }), options)

describe('onFrame', () => {
  test('sees each frame in order, before the client', async () => {
    const log: string[] = []
    const stream = relayOf(['data: 1\n\n: c\n', 'data: 2\n\ndata: ', '3\n\n'], {
      onFrame: ({ event }) => void log.push(`saw ${event?.data}`),
    })
    for await (const piece of stream) log.push(`sent ${new TextDecoder().decode(piece).trim().replaceAll('\n', '|')}`)
    expect(log).toEqual([
      'saw 1',
      'saw undefined',
      'sent data: 1||: c',
      'saw 2',
      'sent data: 2',
      'saw 3',
      'sent data: 3',
    ])
  })

  test('can replace and drop frames', async () => {
    const onFrame = ({ event }: Frame) => {
      if (event?.data === '2') return null
      return event?.data === '3' ? bytesOf('data: three\n\n') : undefined
    }
    const pieces = ['data: 1\n\ndata: 2\n\n', 'data: 2\n\n', 'data: 3\n\ndata: 4\n\n']
    expect(await readAll(relayOf(pieces, { onFrame }))).toEqual({ text: 'data: 1\n\ndata: three\n\ndata: 4\n\n' })
  })

  test('can drop all frames', async () => {
    expect(await readAll(relayOf(['data: 1\n\n', 'data: 2\n\n'], { onFrame: () => null }))).toEqual({ text: '' })
    expect(await readAll(relayOf(['data: 1\n\n'], { onFrame: () => new Uint8Array(0) }))).toEqual({ text: '' })
  })

  test('causes no delay: complete frames are sent before an incomplete one', async () => {
    const body = new ControlledBody()
    const reader = relayFrames(readFrames(body.body), { onFrame: () => undefined }).getReader()
    for (const [said, passed] of [
      ['data: 1\n\ndata: 2', 'data: 1\n\n'],
      ['\n\n: c', 'data: 2\n\n'],
      ['\n', ': c\n'],
      ['data: 3\r\r', 'data: 3\r\r'],
    ] as const) {
      body.send(said)
      expect((await reader.read()).value).toEqual(bytesOf(passed))
    }
    await reader.cancel()
  })
})

describe('an upstream that ends normally', () => {
  test('ends the stream after the remaining bytes', async () => {
    expect(await readAll(relayOf(['data: 1\n\ndata: 2']))).toEqual({ text: 'data: 1\n\ndata: 2' })
    expect(await readAll(relayOf([]))).toEqual({ text: '' })
  })

  test('calls onEnd once; its result is the last event', async () => {
    const ends: StreamEnd[] = []
    const onEnd = (end: StreamEnd) => {
      ends.push(end)
      return bytesOf('data: [DONE]\n\n')
    }
    expect(await readAll(relayOf(['data: 1\n\n'], { onEnd }))).toEqual({ text: 'data: 1\n\ndata: [DONE]\n\n' })
    expect(ends).toEqual([{ kind: 'complete' }])
  })

  test('waits for an asynchronous onEnd, which may return nothing', async () => {
    const later = { onEnd: () => settled().then(() => bytesOf('data: 2\n\n')) }
    expect(await readAll(relayOf(['data: 1\n\n'], later))).toEqual({ text: 'data: 1\n\ndata: 2\n\n' })
    expect(await readAll(relayOf(['data: 1\n\n'], { onEnd: () => undefined }))).toEqual({ text: 'data: 1\n\n' })
    expect(await readAll(relayOf(['data: 1'], { onEnd: async () => new Uint8Array(0) }))).toEqual({ text: 'data: 1' })
  })

  test('inside an event: the result of onEnd is still a separate event', async () => {
    for (const half of ['data: 1', 'data: 1\n', 'data: 1\r', 'data: 1\r\n', ': c', '\uFEFF', '', 'data: 1\n: c']) {
      for (const onFrame of [undefined, ({ bytes }: Frame) => bytes]) {
        const { text } = await readAll(relayOf([half], { onFrame, onEnd: () => bytesOf('data: last\n\n') }))
        expect(text.startsWith(half)).toBe(true)
        expect(parsedElsewhere(bytesOf(text)).map(({ data }) => data)).toEqual(
          half.includes('data') ? ['1', 'last'] : ['last'],
        )
      }
    }
  })

  test('inside an event: only the missing line ends are added', async () => {
    const needed = {
      'data: 1': '\n\n',
      'data: 1\n': '\n',
      'data: 1\r': '\n\n',
      ': c': '\n',
      'data: 1\n\n': '',
      ': c\n': '',
    }
    const onEnd = () => bytesOf('data: last\n\n')
    for (const [half, closing] of Object.entries(needed)) {
      expect(await readAll(relayOf([half], { onEnd }))).toEqual({ text: `${half}${closing}data: last\n\n` })
      expect(await readAll(relayOf([half]))).toEqual({ text: half })
    }
    const onFrame = () => bytesOf('data: one')
    expect(await readAll(relayOf(['data: 1\n'], { onFrame, onEnd }))).toEqual({ text: 'data: one\n\ndata: last\n\n' })
  })

  test('inside a dropped event: nothing is added', async () => {
    const options = { onFrame: () => null, onEnd: () => bytesOf('data: last\n\n') }
    expect(await readAll(relayOf(['data: 1'], options))).toEqual({ text: 'data: last\n\n' })
  })
})

describe('an upstream that breaks', () => {
  const reset = new Error('reset')
  const broken = (text: string, options?: RelayOptions) => {
    const body = new ControlledBody()
    const reader = relayFrames(readFrames(body.body, { maxEventBytes: 1000 }), options)
    if (text) body.send(text)
    // A stream that breaks discards unread data.
    void settled().then(() => body.break(reset))
    return reader
  }

  test('breaks the stream after all complete frames', async () => {
    expect(await readAll(broken('data: 1\n\ndata: 2'))).toEqual({ text: 'data: 1\n\n', error: reset })
    expect(await readAll(broken(''))).toEqual({ text: '', error: reset })
  })

  test('ends the stream normally when onEnd returns a final event', async () => {
    const ends: StreamEnd[] = []
    const onEnd = async (end: StreamEnd) => {
      ends.push(end)
      return bytesOf('event: error\ndata: {}\n\n')
    }
    for (const half of ['', 'data: 2', 'data: 2\r', ': c', 'da']) {
      expect(await readAll(broken(`data: 1\n\n${half}`, { onEnd }))).toEqual({
        text: 'data: 1\n\nevent: error\ndata: {}\n\n',
      })
      expect(ends.splice(0)).toEqual([{ kind: 'broken', error: reset }])
    }
  })

  test('breaks the stream when onEnd returns nothing', async () => {
    expect(await readAll(broken('data: 1\n\n', { onEnd: () => undefined }))).toEqual({
      text: 'data: 1\n\n',
      error: reset,
    })
  })

  test('includes an event that is too large: all frames before it pass, and the upstream is cancelled', async () => {
    for (const pieces of [[`data: 1\n\n${'x'.repeat(1001)}`], ['data: 1\n\n', 'x'.repeat(600), 'x'.repeat(600)]]) {
      const body = new ControlledBody()
      for (const piece of pieces) body.send(piece)
      const { text, error } = await readAll(relayFrames(readFrames(body.body, { maxEventBytes: 1000 })))
      expect([text, error]).toEqual(['data: 1\n\n', expect.any(EventTooLargeError)])
      expect(body.cancelled).toEqual([error])
    }
  })

  test('includes one whose frame makes onFrame throw', async () => {
    const refused = new Error('refused')
    const onFrame = ({ event }: Frame) => {
      if (event?.data === '2') throw refused
      return undefined
    }
    for (const before of ['data: 1\n\n', '']) {
      const body = new ControlledBody()
      body.send(`${before}data: 2\n\ndata: 3\n\n`)
      expect(await readAll(relayFrames(readFrames(body.body), { onFrame }))).toEqual({ text: before, error: refused })
      expect(body.cancelled).toEqual([refused])
    }
    const onEnd = ({ kind }: StreamEnd) => bytesOf(`data: ${kind}\n\n`)
    expect(await readAll(relayOf(['data: 1\n\ndata: 2\n\n', 'data: 3\n\n'], { onFrame, onEnd }))).toEqual({
      text: 'data: 1\n\ndata: broken\n\n',
    })
  })

  test('an error in onEnd breaks the stream', async () => {
    const failure = new Error('failure')
    let notified = 0
    for (const onEnd of [
      () => {
        notified++
        throw failure
      },
      () => {
        notified++
        return Promise.reject(failure)
      },
    ]) {
      expect(await readAll(relayOf(['data: 1\n\n'], { onEnd }))).toEqual({ text: 'data: 1\n\n', error: failure })
      expect(await readAll(broken('data: 1\n\n', { onEnd }))).toEqual({ text: 'data: 1\n\n', error: failure })
    }
    expect(notified).toBe(4)
  })
})

describe('a client that reads slowly', () => {
  const megabyte = bytesOf(`data: ${'x'.repeat(2 ** 20)}\n\n`)
  const flood = () => {
    const state = { pulls: 0 }
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (++state.pulls > 300) controller.close()
        else controller.enqueue(megabyte)
      },
    })
    return { state, stream: relayFrames(readFrames(body)) }
  }

  test('causes backpressure: of 300 MB only the read-ahead is read', async () => {
    const { state, stream } = flood()
    for (let round = 0; round < 20; round++) await settled()
    expect(state.pulls).toBeLessThanOrEqual(1)
    await stream.cancel()
  })

  test('has a read-ahead of one or two chunks', async () => {
    const { state, stream } = flood()
    const reader = stream.getReader()
    for (let reads = 1; reads <= 5; reads++) {
      await reader.read()
      for (let round = 0; round < 20; round++) await settled()
      expect(state.pulls).toBeLessThanOrEqual(reads + 1)
    }
    await reader.cancel()
  })

  test('receives everything in the end', async () => {
    const { state, stream } = flood()
    let bytes = 0
    for await (const piece of stream) bytes += piece.length
    expect([bytes, state.pulls]).toEqual([300 * megabyte.length, 301])
  })
})

describe('a missing body', () => {
  test('is an empty stream', async () => {
    expect(await collected(relayFrames(readFrames(null), { onEnd: () => bytesOf('data: x\n\n') }))).toEqual(
      bytesOf('data: x\n\n'),
    )
  })
})

import { describe, expect, test } from 'bun:test'
import {
  type End,
  EventTooLarge,
  type Frame,
  type RelayOptions,
  readFrames,
  relayFrames,
} from '../../plugins/sse-relay/index.ts'
import { settled } from '../support/virtual-clock.ts'
import { bodyOf, bytesOf, collected, Hand, heard } from './bodies.ts'
import { parsedElsewhere } from './oracle.ts'

const relayOf = (pieces: (string | Uint8Array)[], options?: RelayOptions) =>
  relayFrames(readFrames(bodyOf(pieces), { maxEventBytes: 1000 }), options)

describe('whoever looks at the frames', () => {
  test('sees each, in order, before the client does', async () => {
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

  test('replaces some and drops some', async () => {
    const onFrame = ({ event }: Frame) => {
      if (event?.data === '2') return null
      return event?.data === '3' ? bytesOf('data: three\n\n') : undefined
    }
    const pieces = ['data: 1\n\ndata: 2\n\n', 'data: 2\n\n', 'data: 3\n\ndata: 4\n\n']
    expect(await heard(relayOf(pieces, { onFrame }))).toEqual({ text: 'data: 1\n\ndata: three\n\ndata: 4\n\n' })
  })

  test('may drop all there is', async () => {
    expect(await heard(relayOf(['data: 1\n\n', 'data: 2\n\n'], { onFrame: () => null }))).toEqual({ text: '' })
    expect(await heard(relayOf(['data: 1\n\n'], { onFrame: () => new Uint8Array(0) }))).toEqual({ text: '' })
  })

  test('delays nothing: what is complete goes out though more is half said', async () => {
    const hand = new Hand()
    const reader = relayFrames(readFrames(hand.body), { onFrame: () => undefined }).getReader()
    for (const [said, passed] of [
      ['data: 1\n\ndata: 2', 'data: 1\n\n'],
      ['\n\n: c', 'data: 2\n\n'],
      ['\n', ': c\n'],
      ['data: 3\r\r', 'data: 3\r\r'],
    ] as const) {
      hand.say(said)
      expect((await reader.read()).value).toEqual(bytesOf(passed))
    }
    await reader.cancel()
  })
})

describe('an upstream that ends properly', () => {
  test('ends the stream, with what is left', async () => {
    expect(await heard(relayOf(['data: 1\n\ndata: 2']))).toEqual({ text: 'data: 1\n\ndata: 2' })
    expect(await heard(relayOf([]))).toEqual({ text: '' })
  })

  test('is told of once; what is said to that comes last', async () => {
    const ends: End[] = []
    const onEnd = (end: End) => {
      ends.push(end)
      return bytesOf('data: [DONE]\n\n')
    }
    expect(await heard(relayOf(['data: 1\n\n'], { onEnd }))).toEqual({ text: 'data: 1\n\ndata: [DONE]\n\n' })
    expect(ends).toEqual([{ kind: 'complete' }])
  })

  test('may be answered later, or with nothing', async () => {
    const later = { onEnd: () => settled().then(() => bytesOf('data: 2\n\n')) }
    expect(await heard(relayOf(['data: 1\n\n'], later))).toEqual({ text: 'data: 1\n\ndata: 2\n\n' })
    expect(await heard(relayOf(['data: 1\n\n'], { onEnd: () => undefined }))).toEqual({ text: 'data: 1\n\n' })
    expect(await heard(relayOf(['data: 1'], { onEnd: async () => new Uint8Array(0) }))).toEqual({ text: 'data: 1' })
  })

  test('within an event: what comes last is an event of its own all the same', async () => {
    for (const half of ['data: 1', 'data: 1\n', 'data: 1\r', 'data: 1\r\n', ': c', '\uFEFF', '', 'data: 1\n: c']) {
      for (const onFrame of [undefined, ({ bytes }: Frame) => bytes]) {
        const { text } = await heard(relayOf([half], { onFrame, onEnd: () => bytesOf('data: last\n\n') }))
        expect(text.startsWith(half)).toBe(true)
        expect(parsedElsewhere(bytesOf(text)).map(({ data }) => data)).toEqual(
          half.includes('data') ? ['1', 'last'] : ['last'],
        )
      }
    }
  })

  test('within an event: as many line ends are added as it takes, and none where they are not needed', async () => {
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
      expect(await heard(relayOf([half], { onEnd }))).toEqual({ text: `${half}${closing}data: last\n\n` })
      expect(await heard(relayOf([half]))).toEqual({ text: half })
    }
    const onFrame = () => bytesOf('data: one')
    expect(await heard(relayOf(['data: 1\n'], { onFrame, onEnd }))).toEqual({ text: 'data: one\n\ndata: last\n\n' })
  })

  test('within an event that is dropped: nothing has to be finished', async () => {
    const options = { onFrame: () => null, onEnd: () => bytesOf('data: last\n\n') }
    expect(await heard(relayOf(['data: 1'], options))).toEqual({ text: 'data: last\n\n' })
  })
})

describe('an upstream that breaks', () => {
  const reset = new Error('reset')
  const broken = (text: string, options?: RelayOptions) => {
    const hand = new Hand()
    const reader = relayFrames(readFrames(hand.body, { maxEventBytes: 1000 }), options)
    if (text) hand.say(text)
    // A stream that breaks loses what has not been read of it.
    void settled().then(() => hand.break(reset))
    return reader
  }

  test('breaks the stream, which has passed all that was complete and nothing half said', async () => {
    expect(await heard(broken('data: 1\n\ndata: 2'))).toEqual({ text: 'data: 1\n\n', error: reset })
    expect(await heard(broken(''))).toEqual({ text: '', error: reset })
  })

  test('may be answered instead, at the end of an event, and then the stream ends properly', async () => {
    const ends: End[] = []
    const onEnd = async (end: End) => {
      ends.push(end)
      return bytesOf('event: error\ndata: {}\n\n')
    }
    for (const half of ['', 'data: 2', 'data: 2\r', ': c', 'da']) {
      expect(await heard(broken(`data: 1\n\n${half}`, { onEnd }))).toEqual({
        text: 'data: 1\n\nevent: error\ndata: {}\n\n',
      })
      expect(ends.splice(0)).toEqual([{ kind: 'broken', error: reset }])
    }
  })

  test('breaks the stream too where there is nothing to say', async () => {
    expect(await heard(broken('data: 1\n\n', { onEnd: () => undefined }))).toEqual({
      text: 'data: 1\n\n',
      error: reset,
    })
  })

  test('is what an event that is too large counts as: all before it is passed, and the upstream is given up', async () => {
    for (const pieces of [[`data: 1\n\n${'x'.repeat(1001)}`], ['data: 1\n\n', 'x'.repeat(600), 'x'.repeat(600)]]) {
      const hand = new Hand()
      for (const piece of pieces) hand.say(piece)
      const { text, error } = await heard(relayFrames(readFrames(hand.body, { maxEventBytes: 1000 })))
      expect([text, error]).toEqual(['data: 1\n\n', expect.any(EventTooLarge)])
      expect(hand.cancelled).toEqual([error])
    }
  })

  test('is what an upstream counts as whose frames somebody will not have', async () => {
    const refused = new Error('refused')
    const onFrame = ({ event }: Frame) => {
      if (event?.data === '2') throw refused
      return undefined
    }
    for (const before of ['data: 1\n\n', '']) {
      const hand = new Hand()
      hand.say(`${before}data: 2\n\ndata: 3\n\n`)
      expect(await heard(relayFrames(readFrames(hand.body), { onFrame }))).toEqual({ text: before, error: refused })
      expect(hand.cancelled).toEqual([refused])
    }
    const onEnd = ({ kind }: End) => bytesOf(`data: ${kind}\n\n`)
    expect(await heard(relayOf(['data: 1\n\ndata: 2\n\n', 'data: 3\n\n'], { onFrame, onEnd }))).toEqual({
      text: 'data: 1\n\ndata: broken\n\n',
    })
  })

  test('what fails at the end breaks the stream, whatever the end was', async () => {
    const failure = new Error('failure')
    let told = 0
    for (const onEnd of [
      () => {
        told++
        throw failure
      },
      () => {
        told++
        return Promise.reject(failure)
      },
    ]) {
      expect(await heard(relayOf(['data: 1\n\n'], { onEnd }))).toEqual({ text: 'data: 1\n\n', error: failure })
      expect(await heard(broken('data: 1\n\n', { onEnd }))).toEqual({ text: 'data: 1\n\n', error: failure })
    }
    expect(told).toBe(4)
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

  test('holds the upstream back: nothing is read of 300 MB but what a body reads ahead', async () => {
    const { state, stream } = flood()
    for (let round = 0; round < 20; round++) await settled()
    expect(state.pulls).toBeLessThanOrEqual(1)
    await stream.cancel()
  })

  test('is read ahead for by a chunk or two, whatever it has read', async () => {
    const { state, stream } = flood()
    const reader = stream.getReader()
    for (let reads = 1; reads <= 5; reads++) {
      await reader.read()
      for (let round = 0; round < 20; round++) await settled()
      expect(state.pulls).toBeLessThanOrEqual(reads + 1)
    }
    await reader.cancel()
  })

  test('gets all of it in the end', async () => {
    const { state, stream } = flood()
    let bytes = 0
    for await (const piece of stream) bytes += piece.length
    expect([bytes, state.pulls]).toEqual([300 * megabyte.length, 301])
  })
})

describe('a body that is none', () => {
  test('is an empty one', async () => {
    expect(await collected(relayFrames(readFrames(null), { onEnd: () => bytesOf('data: x\n\n') }))).toEqual(
      bytesOf('data: x\n\n'),
    )
  })
})

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { turns } from '../../plugins/shared/background/turns.ts'
import { readJson } from '../../plugins/shared/json/json.ts'
import { relayEvents } from '../../plugins/text-generation/websocket/events.ts'
import { steeringFailed } from '../../plugins/text-generation/websocket/message.ts'
import { openStore, type Store } from '../../src/store/index.ts'
import { openApp, streamingText } from './fixture.ts'

let store: Store
beforeAll(async () => {
  store = openStore('sqlite::memory:')
  await store.migrate()
})
afterAll(() => store.close())

/** More keys than are parsed in a turn. An upstream repeats the metadata of a request in its response. */
const metadata = Object.fromEntries(Array.from({ length: 20_000 }, (_, nth) => [`${nth}k`, 1]))

const response = (status: string) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status,
  model: 'm',
  output: [],
  usage: null,
  metadata,
})
const length = JSON.stringify(response('completed')).length

const eventText = (type: string, status: string) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: 0, response: response(status) })}\n\n`
const stream = ['created', 'in_progress', 'completed']
  .map((each) => eventText(`response.${each}`, each === 'completed' ? each : 'in_progress'))
  .join('')

/**
 * The most characters of JSON that one turn of the event loop parsed and wrote while `work` ran, and those of the longest
 * text that was parsed.
 */
const mostOf = async (work: () => Promise<unknown>): Promise<{ inATurn: number; parsed: number }> => {
  const { parse, stringify } = JSON
  let most = 0
  let parsed = 0
  let count = 0
  const add = (more: number) => {
    count += more
    most = Math.max(most, count)
  }
  let isWorking = true
  const onTurn = () => {
    count = 0
    if (isWorking) setImmediate(onTurn)
  }
  onTurn()
  JSON.parse = (text, ...rest) => {
    add(text.length)
    parsed = Math.max(parsed, text.length)
    return parse(text, ...rest)
  }
  JSON.stringify = ((...args: Parameters<typeof stringify>) => {
    const text = stringify(...args)
    add(text?.length ?? 0)
    return text
  }) as typeof stringify
  try {
    await work()
  } finally {
    isWorking = false
    Object.assign(JSON, { parse, stringify })
  }
  return { inATurn: most, parsed }
}

const upstreams = {
  'that streams': () => streamingText(stream),
  'that does not stream': () => Response.json(response('completed')),
}

for (const [name, respond] of Object.entries(upstreams)) {
  for (const streams of [false, true]) {
    test(`a long response of an upstream ${name} is parsed in several turns, and written in one (stream: ${streams})`, async () => {
      const prepared = respond()
      const bytes = await prepared.bytes()
      const app = openApp(() => new Response(bytes.slice(), prepared), { objects: store })
      const send = async () => {
        const sent = await app.post('/responses', { model: 'm', input: 'x', stream: streams })
        expect(sent.status).toBe(200)
        expect((await sent.text()).includes('"19999k":1')).toBe(true)
      }
      const streamed = name === 'that streams'
      // The result of a stream is written at once, and three events repeat a response that becomes a stream.
      const most = (streams === streamed ? 0.6 : streams ? 3.5 : 1.5) * length
      // Concurrent responses do not add up.
      for (const work of [send, () => Promise.all([send(), send(), send()])]) {
        const { inATurn, parsed } = await mostOf(work)
        expect(inATurn).toBeLessThan(most)
        expect(parsed).toBeLessThan(0.6 * length)
      }
    })
  }
}

test('a long response that is retrieved is read in several turns', async () => {
  const app = openApp(() => Response.json(response('completed')), { objects: store })
  const retrieve = async () => {
    const sent = await app.get('/responses/resp_1')
    expect(sent.status).toBe(200)
    expect(((await sent.text()).match(/k":1/g) ?? []).length).toBe(20_000)
  }
  const before = turns.count
  const { parsed } = await mostOf(retrieve)
  expect(parsed).toBeLessThan(0.6 * length)
  // Those of reading it, and those of its objects.
  expect(turns.count - before).toBeGreaterThan(8)
})

test('long events are sent as messages of a WebSocket in their order, and read in several turns', async () => {
  const messages: string[] = []
  const whole = `${stream}data: {"type":"error"}\n\n`
  const relay = async () => {
    messages.length = 0
    // A body in pieces: an event that arrives while one before it is read waits.
    const pieces = whole.match(/.{1,100000}/gs) ?? []
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece))
        controller.close()
      },
    })
    const send = (event: string) => void messages.push(event)
    const complete = await relayEvents(new Response(body), { send, signal: new AbortController().signal })
    expect(complete?.get('id')?.string()).toBe('resp_1')
  }
  const before = turns.count
  const { parsed } = await mostOf(relay)
  expect(messages.map((message) => /"type":"([^"]+)"/.exec(message)?.[1])).toEqual([
    'response.created',
    'response.in_progress',
    'response.completed',
  ])
  expect(turns.count - before).toBeGreaterThan(3)
  expect(parsed).toBeLessThan(0.6 * length)
})

test('an input that is sent back, because responses cannot be steered, is not parsed', async () => {
  const input = `[1.0,12345678901234567890,${JSON.stringify(metadata)}]`
  const message = readJson(`{"type":"response.steer","input":${input},"x":1}`)
  let answer = ''
  const { parsed } = await mostOf(async () => {
    answer = steeringFailed(message)
  })
  expect(parsed).toBeLessThan(1_000)
  const end = '"error":{"code":"steering_not_supported","message":"responses cannot be steered here"}}'
  expect(answer).toBe(`{"type":"response.steer.failed","sequence_number":0,"steer":{"input":${input}},${end}`)
})

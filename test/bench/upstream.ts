/**
 * The upstream of the benchmark: it responds to requests of the asset library and of text generation with prepared bodies. It prints its URL.
 * The model selects the response: `plain-MS` is one JSON body, after MS milliseconds or at once, `events-COUNT-MS` is COUNT events every MS milliseconds, `open-MS` is an event with the time
 * every MS milliseconds until the caller disconnects. `stream` has no effect, so that a relay receives the same response as the gateway.
 */
const text = new TextEncoder()
const json = { headers: { 'content-type': 'application/json' } }
const events = { headers: { 'content-type': 'text/event-stream' } }

/** An asset. `foreign-…` is in no group of the caller. */
const item = (id: string) => ({
  Id: id,
  GroupId: id.startsWith('foreign-') ? 'foreign-group' : 'group-0',
  Name: 'one',
  AssetType: 'Image',
  Status: 'Active',
  URL: `https://e.example/${'x'.repeat(300)}`,
  CreateTime: '2026-01-01T00:00:00Z',
  UpdateTime: '2026-01-01T00:00:00Z',
})
const groupItem = (nth: number) => ({
  Id: `group-${nth}`,
  Name: `group ${nth}`,
  Description: '',
  GroupType: 'AIGC',
  CreateTime: '2026-01-01T00:00:00+00:00',
  UpdateTime: '2026-01-01T00:00:00+00:00',
})
const ofTen = (make: (nth: number) => object) => ({
  ResponseMetadata: { RequestId: 'r' },
  Result: { Items: Array.from({ length: 10 }, (_, nth) => make(nth)), TotalCount: 10, PageNumber: 1, PageSize: 100 },
})
const encoded = (value: unknown): Uint8Array<ArrayBuffer> => text.encode(JSON.stringify(value))

const assetList = encoded(ofTen((nth) => item(`asset-${nth}`)))
const groupList = encoded(ofTen(groupItem))
const details = new Map<string, Uint8Array<ArrayBuffer>>()

const detail = (path: string): Uint8Array<ArrayBuffer> => {
  let body = details.get(path)
  if (!body) {
    body = encoded({ ResponseMetadata: { RequestId: 'r' }, Result: item(path.slice(path.lastIndexOf('/') + 1)) })
    details.set(path, body)
  }
  return body
}

const completion = encoded({
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [
    { index: 0, message: { role: 'assistant', content: 'word '.repeat(20), refusal: null }, finish_reason: 'stop' },
  ],
  usage: { prompt_tokens: 5, completion_tokens: 20, total_tokens: 25 },
})

const event = (choices: readonly object[], more: object = {}): Uint8Array =>
  text.encode(
    `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm', choices, ...more })}\n\n`,
  )
const delta = (content: string, more: object = {}): Uint8Array =>
  event([{ index: 0, delta: { ...more, content }, finish_reason: null }])
const first = delta('word 0 ', { role: 'assistant' })
const next = delta('word n ')
const stop = event([{ index: 0, delta: {}, finish_reason: 'stop' }])
const usage = event([], { usage: { prompt_tokens: 5, completion_tokens: 20, total_tokens: 25 } })
const done = text.encode('data: [DONE]\n\n')

/** The events of a stream. The last three of `count` are the finish reason, the usage and the end. */
const eventAt = (nth: number, count: number): Uint8Array =>
  nth === 0 ? first : nth < count - 3 ? next : ([stop, usage, done][nth - count + 3] ?? done)

/** Sends each event as a separate chunk. Without pauses it sends two per turn of the event loop: with one, the upstream would be the bottleneck. */
const streamOf = (count: number, ms: number): Response =>
  new Response(
    new ReadableStream({
      type: 'direct',
      async pull(controller) {
        try {
          for (let nth = 0; nth < count; nth++) {
            if (nth > 0 && ms > 0) await Bun.sleep(ms)
            else if (nth % 2 === 1) await new Promise((resolve) => setImmediate(resolve))
            controller.write(eventAt(nth, count))
            await controller.flush()
          }
          controller.close()
        } catch {
          // The caller has disconnected.
        }
      },
    }),
    events,
  )

/** Each event contains its send time in microseconds since 1970: a clock that the receiving process shares. */
const openStream = (ms: number, signal: AbortSignal): Response =>
  new Response(
    new ReadableStream({
      type: 'direct',
      async pull(controller) {
        try {
          while (!signal.aborted) {
            controller.write(delta(`sent ${Math.round(1_000 * (performance.timeOrigin + performance.now()))}`))
            await controller.flush()
            await Bun.sleep(ms)
          }
        } catch {
          // The caller has disconnected.
        }
      },
    }),
    events,
  )

let created = 0

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  idleTimeout: 0,
  async fetch(request) {
    const { url } = request
    if (request.method === 'POST') {
      const body = await request.text()
      if (url.endsWith('/assets')) return new Response(`{"Result":{"Id":"asset-new-${created++}"}}`, json)
      const [, kind = 'plain', count = '', ms = ''] = /"model":"(plain|events|open)-?(\d*)-?(\d*)"/.exec(body) ?? []
      if (kind === 'events') return streamOf(Number(count), Number(ms))
      if (kind === 'open') return openStream(Number(count), request.signal)
      if (count !== '') await Bun.sleep(Number(count))
      return new Response(completion, json)
    }
    const end = url.indexOf('?')
    const path = end < 0 ? url : url.slice(0, end)
    if (path.endsWith('/assets')) return new Response(assetList, json)
    if (path.endsWith('/assets/groups')) return new Response(groupList, json)
    return new Response(detail(path), json)
  },
})
console.log(`http://127.0.0.1:${server.port}`)

/**
 * A process with an upstream that counts what it generates, and callers of several gateways. The test tells it the
 * gateways (`Start`), and gets what the upstream has counted (`Finished`).
 */
import { randomFrom } from './random.ts'

export interface Start {
  readonly gateways: string[]
  readonly tokens: string[]
  readonly callers: number
  readonly seed: number
}

/** Another gateway has taken the place of one that was killed. */
export interface Replaced {
  readonly from: string
  readonly to: string
}

export interface Finished {
  /** Tokens of all calls: of the input, and those generated and sent. */
  readonly tokens: number
  /** Of the largest call. */
  readonly largest: number
  readonly calls: number
  readonly aborted: number
  /** Responses of the gateways by status; 0: the connection broke. */
  readonly statuses: Readonly<Record<number, number>>
}

const inputTokens = 12
const sum = { tokens: 0, largest: 0, calls: 0, aborted: 0 }
const randomUse = randomFrom(Number(process.argv[2]))

/** A word of one token for each event, as the gateway counts tokens while a stream runs. */
const chunk = (id: string, content: string | undefined, finish: string | null): string =>
  `data: ${JSON.stringify({
    ...{ id, object: 'chat.completion.chunk', created: 1, model: 'm' },
    choices: [{ index: 0, delta: content === undefined ? {} : { content }, finish_reason: finish }],
  })}\n\n`

const upstream = Bun.serve({
  port: 0,
  idleTimeout: 0,
  async fetch(request) {
    if (!request.url.endsWith('/chat/completions')) return Response.json({ object: 'list', data: [] })
    await request.json()
    const wanted = randomUse.chance(0.1) ? randomUse.integer(200, 600) : randomUse.integer(20, 150)
    const id = `chat-${++sum.calls}`
    let used = inputTokens
    const count = (tokens: number) => {
      used += tokens
      sum.tokens += tokens
      sum.largest = Math.max(sum.largest, used)
    }
    sum.tokens += inputTokens
    const encoder = new TextEncoder()
    let isCancelled = false
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        for (let sent = 0; sent < wanted; ) {
          const size = Math.min(5, wanted - sent)
          await Bun.sleep(40)
          if (isCancelled) return
          controller.enqueue(encoder.encode(chunk(id, 'ab ', null).repeat(size)))
          count(size)
          sent += size
        }
        const usage = {
          prompt_tokens: inputTokens,
          completion_tokens: wanted,
          total_tokens: inputTokens + wanted,
        }
        const last = { id, object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage }
        controller.enqueue(
          encoder.encode(`${chunk(id, undefined, 'stop')}data: ${JSON.stringify(last)}\n\ndata: [DONE]\n\n`),
        )
        controller.close()
      },
      cancel() {
        isCancelled = true
      },
    })
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  },
})

const statuses: Record<number, number> = {}
const note = (status: number) => {
  statuses[status] = (statuses[status] ?? 0) + 1
}

/** Calls until it is refused for the limit. */
const call = async ({ gateways, tokens }: Start, nth: number, seed: number): Promise<void> => {
  const random = randomFrom(seed)
  for (;;) {
    const aborting = new AbortController()
    const aborts = random.chance(0.1)
    const stream = random.chance(0.7)
    try {
      const response = await fetch(`${gateways[nth % gateways.length]}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${tokens[nth % tokens.length]}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'm', stream, max_tokens: 700, messages: [{ role: 'user', content: 'go on' }] }),
        signal: aborting.signal,
      })
      if (aborts) setTimeout(() => aborting.abort(), random.integer(1, 200))
      const text = await response.text()
      note(response.status)
      if (response.status === 429 && text.includes('insufficient_quota')) return
      if (response.status !== 200) await Bun.sleep(200)
    } catch {
      if (aborting.signal.aborted) sum.aborted++
      else {
        note(0)
        await Bun.sleep(200)
      }
    }
  }
}

let started: Start | undefined
process.on('message', (message: Start | Replaced) => {
  if ('from' in message) {
    const at = started?.gateways.indexOf(message.from) ?? -1
    if (started && at >= 0) started.gateways[at] = message.to
    return
  }
  started = message
  const start = message
  void Promise.all(Array.from({ length: start.callers }, (_, nth) => call(start, nth, start.seed + nth))).then(() => {
    process.send?.({ ...sum, statuses } satisfies Finished)
  })
})
process.send?.({ upstream: `http://127.0.0.1:${upstream.port}/v1` })

import { errorOf, type Frame, readFirst, readFrames, relayFrames, streamHeaders } from '../sse-relay/index.ts'
import { Invalid } from '../upstream-proxy/index.ts'
import { answerIn, isDone, isPlain } from './answer.ts'
import { StreamError } from './assembly.ts'
import { ask, type Call, type Machinery } from './call.ts'
import { asProblem, readAnswer, refuseSecrets } from './connection.ts'
import { refusalOf } from './refusal.ts'

/**
 * Answers a call that streams: events as they come (reading 41). The response begins with the first event, or with the first heartbeat; an error that comes
 * before becomes the status that it stands for.
 *
 * Throws Refusal, Unreachable and Invalid, see `createConnection`.
 */
export const answerStream = async (call: Call, machinery: Machinery): Promise<Response> => {
  const { exchange, request, served } = call
  const { clock, heartbeatMs } = machinery
  const left = new AbortController()
  const signal = AbortSignal.any([request.signal, left.signal])
  const relaying = exchange.relay()
  let ended = false
  const end = async () => {
    if (ended) return
    ended = true
    await call.ended(relaying.usage)
  }
  let sent = false
  try {
    signal.throwIfAborted()
    sent = true
    const { response, headers } = await ask(call, machinery, signal)
    const body = isPlain(response)
      ? new Response(
          exchange.eventsOf(answerIn(await readAnswer(response, machinery.maxAnswerBytes), exchange).value()),
        ).body
      : response.body
    if (!body) throw new Invalid('an answer without a body')
    const first = await readFirst(readFrames(body), { patienceMs: heartbeatMs, clock })
    if (first.ended) throw new Invalid('a stream without an event')
    const said = first.event && errorOf(first.event)
    if (said) {
      await first.reader.cancel()
      refuseSecrets(served.upstream, JSON.stringify(said))
      throw refusalOf(said, headers)
    }
    const relayed = relayFrames(first.reader, {
      onFrame(frame) {
        if (isHalf(frame)) return null
        if (frame.event) refuseSecrets(served.upstream, frame.event.data)
        return relaying.onFrame(frame)
      },
      onEnd: async ({ kind }) => {
        const rest = relaying.onEnd(kind === 'broken')
        await end()
        return encoder.encode(rest)
      },
      onLeave: () => {
        left.abort(new Error('the caller left'))
        end().catch(() => {})
      },
      signal: request.signal,
      heartbeatMs,
      clock,
    })
    return new Response(relayed, { headers: streamHeaders(headers) })
  } catch (error) {
    if (sent && signal.aborted) await end()
    left.abort(error)
    if (!(error instanceof StreamError)) throw asProblem(error)
    if (error.said === undefined) throw new Invalid(error.message)
    refuseSecrets(served.upstream, JSON.stringify(error.said))
    throw refusalOf(error.said)
  }
}

const encoder = new TextEncoder()

/** Whether a stream was closed within an event of which nobody can make anything. */
const isHalf = ({ closing, event }: Frame): boolean => {
  if (!closing || !event || isDone(event.data)) return false
  try {
    JSON.parse(event.data)
    return false
  } catch {
    return true
  }
}

/** A front with short times before a few simple routes: `fixture.ts` runs it on any runtime, and says where it listens. */
import type { AddressInfo } from 'node:net'
import { readBytes } from '../../plugins/shared/body.ts'
import { Problem } from '../../plugins/shared/problem.ts'
import { createFront, type FrontTimes } from '../../src/front.ts'

export const times: FrontTimes = {
  keepAliveMs: 1_000,
  headersMs: 1_000,
  bodyStallMs: 1_000,
  bodyMs: 2_000,
  answerStallMs: 1_000,
  answerMs: 2_000,
  unwantedMs: 1_000,
}

const encoder = new TextEncoder()
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** `/` answers, `/read` reads the body, `/later` does so after a silence, `/silent` answers after one, `/stream` is silent in the middle; for 3 s, or as many milliseconds as the query says. */
export const handle = async (request: Request): Promise<Response> => {
  const { pathname, search } = new URL(request.url)
  const silenceMs = Number(search.slice(1)) || 3_000
  try {
    if (pathname === '/later' || pathname === '/silent') await pause(silenceMs)
    if (pathname === '/read' || pathname === '/later') {
      const bytes = await readBytes(request, 1_000_000)
      return Response.json(bytes?.length ?? null)
    }
  } catch (error) {
    return error instanceof Problem ? error.toResponse() : new Response('left', { status: 500 })
  }
  if (pathname !== '/stream') return new Response('answered')
  let events = 0
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (events++ === 2) return controller.close()
      if (events === 2) await pause(silenceMs)
      controller.enqueue(encoder.encode(`data: ${events}\n\n`))
    },
  })
  return new Response(stream, { headers: { 'content-type': 'text/event-stream' } })
}

if (import.meta.main) {
  const server = createFront({ handle, times })
  server.listen(0, '127.0.0.1', () => console.log(`listening on ${(server.address() as AddressInfo).port}`))
}

/** A node:http server with short timeouts and a few routes. As a program it runs on any runtime and prints its port. */
import { readBytes } from '../../plugins/shared/http/body/body.ts'
import { Problem } from '../../plugins/shared/problem.ts'
import type { NodeServerTimeouts } from '../../src/node-server/timeouts.ts'
import { createNodeServer } from '../../src/node-server.ts'

export const times: NodeServerTimeouts = {
  keepAliveMs: 1_000,
  // Longer than the others: a busy machine may need a second until it reads the headers of many new connections.
  headersMs: 3_000,
  bodyStallMs: 1_000,
  bodyMs: 2_000,
  responseStallMs: 1_000,
  responseMs: 2_000,
  unreadBodyMs: 1_000,
}

const encoder = new TextEncoder()
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/**
 * `/` responds at once, `/read` reads the body, `/later` reads it after a pause, `/silent` responds after a pause, `/stream` pauses between two events.
 * The pause is 4 s or the milliseconds of the query.
 */
export const handle = async (request: Request): Promise<Response> => {
  const { pathname, search } = new URL(request.url)
  const silenceMs = Number(search.slice(1)) || 4_000
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
  const { port } = await createNodeServer(handle, { timeouts: times }).listen()
  console.log(`listening on ${port}`)
}

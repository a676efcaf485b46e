import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { JsonBody } from '../../plugins/shared/http/body/body.ts'
import { readJson } from '../../plugins/shared/json/json.ts'
import { declareOwned, type OwnedId } from '../../plugins/shared/owned-id.ts'
import {
  createUpstream,
  type MediaKind,
  rest,
  type Upstream,
  type UpstreamOptions,
} from '../../plugins/upstream-proxy/index.ts'

/** A request as received on the wire. */
export interface ReceivedRequest {
  readonly method: string
  readonly target: string
  readonly headers: IncomingMessage['headers']
  readonly rawHeaders: readonly string[]
  readonly body: string
}

export interface ScriptedUpstream extends AsyncDisposable {
  readonly url: string
  readonly seen: ReceivedRequest[]
  /** Resolves when the first connection has closed. */
  readonly closed: Promise<void>
  upstream(options?: Partial<UpstreamOptions>): Upstream
}

export const key = 'upstream-key-5f1c'

/** An upstream on a real socket: the n-th step responds to the n-th request, and the last step to all further ones. */
export const startScriptedUpstream = async (
  ...steps: readonly ((response: ServerResponse, seen: ReceivedRequest, socket: Socket) => void)[]
): Promise<ScriptedUpstream> => {
  const seen: ReceivedRequest[] = []
  let left = () => {}
  const closed = new Promise<void>((resolve) => {
    left = resolve
  })
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    response.on('close', () => left())
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('error', () => {})
    request.on('end', () => {
      const { method = '', url: target = '', headers, rawHeaders } = request
      const entry = { method, target, headers, rawHeaders, body: Buffer.concat(chunks).toString() }
      seen.push(entry)
      const step = steps[Math.min(seen.length, steps.length) - 1]
      step?.(response, entry, request.socket)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    seen,
    closed,
    upstream: (options) => createUpstream({ kind: rest({ url: `${url}/base/`, key }), ...options }),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export const json =
  (text: string, status = 200, headers: Record<string, string> = {}) =>
  (response: ServerResponse): void => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text)
  }

/** Breaks the connection without a response. */
export const reset = (_: ServerResponse, __: ReceivedRequest, socket: Socket): void => {
  socket.destroy()
}

export const bodyOf = (text: string): JsonBody => new JsonBody(readJson(text), new TextEncoder().encode(text))

/** Mark an id as owned, without a check. */
export const ownGroup = (id: string): OwnedId<'group'> => declareOwned('group', { id })
export const ownAsset = (id: string): OwnedId<'asset'> => declareOwned('asset', { id })

/** The rejection reason of a promise. Throws when it fulfils. */
export const failure = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => {
      throw new Error('the promise did not reject')
    },
    (error: unknown) => error,
  )

/** The request that a kind builds, with its body as text. */
export const built = async (kind: MediaKind, operation: Parameters<MediaKind['outgoing']>[0]) => {
  const { body, ...outgoing } = await kind.outgoing(operation)
  return { ...outgoing, body: typeof body === 'string' || body === undefined ? body : new TextDecoder().decode(body) }
}

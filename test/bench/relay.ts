/**
 * The baseline of the comparison: `relay.ts KIND UPSTREAM [PORT]`. A relay forwards each request with its headers and its own credential, aborts the call
 * when the caller disconnects, and responds with the upstream's status, headers and body. The kind `constant` makes no upstream call: it measures the listener.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Elysia } from 'elysia'

const [, , kind, upstream = '', port = '0'] = process.argv

const relay = async (request: Request): Promise<Response> => {
  const { url, method } = request
  const path = url.slice(url.indexOf('/', 8))
  if (path === '/healthz') return new Response('ok')
  const headers = new Headers(request.headers)
  headers.delete('host')
  const body = method === 'GET' ? undefined : await request.arrayBuffer()
  const response = await send(path, { method, headers, body, signal: request.signal })
  return new Response(response.body, { status: response.status, headers: response.headers })
}

const send = (path: string, init: RequestInit & { readonly headers: Headers }): Promise<Response> => {
  init.headers.set('authorization', 'Bearer upstream-key')
  // The gateway sends each POST on a new connection.
  return fetch(upstream + path, {
    ...init,
    redirect: 'manual',
    keepalive: kind !== 'unpooled' || init.method === 'GET',
  })
}

const relayNode = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
  const { url: path = '/', method } = incoming
  if (path === '/healthz') return void outgoing.end('ok')
  const left = new AbortController()
  outgoing.once('close', () => outgoing.writableFinished || left.abort())
  const headers = new Headers(incoming.headers as Record<string, string>)
  headers.delete('host')
  const chunks: Buffer[] = []
  if (method !== 'GET') for await (const chunk of incoming) chunks.push(chunk)
  const body = method === 'GET' ? undefined : Buffer.concat(chunks)
  const response = await send(path, { method, headers, body, signal: left.signal })
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  if (response.body) for await (const chunk of response.body) outgoing.write(chunk)
  outgoing.end()
}

const constant = {
  headers: {
    'content-type': 'application/json',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
  },
  body: '{"Result":{"Id":"asset-0","GroupId":"group-0","Status":"Active","AssetType":"Image","Name":"one"}}',
}

const listen = { hostname: '127.0.0.1', port: Number(port), idleTimeout: 0 }

const serve = async (): Promise<number | undefined> => {
  if (kind === 'elysia') {
    const app = new Elysia().all('/*', ({ request }) => relay(request), { parse: 'none' })
    return app.listen(listen).server?.port
  }
  if (kind !== 'node' && kind !== 'node-constant') {
    const fetch = kind === 'constant' ? () => new Response(constant.body, { headers: constant.headers }) : relay
    return Bun.serve({ ...listen, fetch }).port
  }
  const server = createServer((incoming, outgoing) => {
    if (kind === 'node') return void relayNode(incoming, outgoing).catch(() => outgoing.destroy())
    outgoing.writeHead(200, { ...constant.headers, 'content-length': constant.body.length })
    outgoing.end(constant.body)
  })
  await new Promise<void>((resolve) => server.listen(listen.port, listen.hostname, resolve))
  return (server.address() as AddressInfo).port
}

console.log(`http://127.0.0.1:${await serve()}`)

/** A program that listens with TLS, with WebSocket, or with neither, on any runtime. It prints its URL and its port, and stops at SIGTERM. */
import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { createNodeServer, type NodeServerOptions } from '../../src/node-server.ts'
import { certificate } from './certificate.ts'
import { times } from './fixture.ts'

/** The response to a WebSocket handshake (RFC 6455 section 4.2.2), and then the bytes of the caller. */
const onUpgrade = ({ headers, url }: IncomingMessage, socket: Socket, head: Buffer): boolean => {
  if (url === '/throws') throw new Error('a broken hook')
  if (headers.upgrade !== 'websocket') return false
  const key = `${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`
  const accept = createHash('sha1').update(key).digest('base64')
  const fields = `Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${accept}`
  socket.write(`HTTP/1.1 101 Switching Protocols\r\n${fields}\r\n\r\n`)
  socket.on('data', (frame: Buffer) => socket.write(echo(frame)))
  if (head.length > 0) socket.write(echo(head))
  return true
}

/** An unmasked frame for a short masked text frame (RFC 6455 section 5.2). */
const echo = (frame: Buffer): Uint8Array => {
  const length = (frame[1] ?? 0) & 127
  const text = frame.subarray(6, 6 + length).map((byte, at) => byte ^ (frame[2 + (at % 4)] ?? 0))
  return Buffer.concat([Buffer.from([0x81, length]), text])
}

const arrived = Promise.withResolvers<void>()
const stopping = Promise.withResolvers<void>()

/**
 * Responds with the request: after 200 ms if its path is `/slow`, when the server stops if it is `/until-stop`, and when
 * such a request has arrived if it is `/arrived`.
 */
const describeRequest = async (request: Request): Promise<Response> => {
  const { pathname } = new URL(request.url)
  if (pathname === '/slow') await new Promise((resolve) => setTimeout(resolve, 200))
  if (pathname === '/arrived') await arrived.promise
  if (pathname === '/until-stop') {
    arrived.resolve()
    await stopping.promise
  }
  return Response.json([request.method, request.url, request.headers.get('upgrade'), await request.text()])
}

const modes: Readonly<Record<string, NodeServerOptions>> = {
  tls: { tls: certificate },
  upgrade: { onUpgrade },
  plain: {},
}

// Nothing else ends the process: so the server keeps no timer and no connection.
process.once('SIGTERM', () => {
  void server.stop()
  stopping.resolve()
})

const server = await createNodeServer(describeRequest, { timeouts: times, ...modes[process.argv[2] ?? ''] }).listen()
console.log(`listening on ${server.url} ${server.port}`)

import { connect, type Socket } from 'node:net'
import { type Fixture, model, variants } from './fixture.ts'

export const [native, chatOnly] = variants

export const event = (data: object | string) => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
export const chunk = (delta: object, finish_reason: string | null = null) =>
  event({ id: 'c', object: 'chat.completion.chunk', created: 1, model, choices: [{ index: 0, delta, finish_reason }] })
export const end = [chunk({}, 'stop'), event('[DONE]')]

export const post = async (
  { baseURL, apiKey }: Fixture,
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: object = {},
) => {
  const response = await fetch(baseURL + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, ...headers },
    body,
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** A connection to the gateway, and the received bytes. */
export const open = ({ gateway }: Fixture): { socket: Socket; received: () => string; closed: Promise<string> } => {
  const { hostname, port } = new URL(gateway.url)
  const socket = connect(Number(port), hostname)
  let received = ''
  socket.on('data', (bytes) => {
    received += bytes
  })
  socket.on('error', () => {})
  const closed = new Promise<string>((resolve) => socket.on('close', () => resolve(received)))
  return { socket, received: () => received, closed }
}

export const request = ({ apiKey }: Fixture, body: string, more = '', line = 'POST /v1/chat/completions HTTP/1.1') =>
  `${line}\r\nHost: x\r\nAuthorization: Bearer ${apiKey}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${more}\r\n${body}`

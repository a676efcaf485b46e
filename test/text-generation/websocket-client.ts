import { request } from 'node:http'
import WS from 'ws'

// biome-ignore lint/suspicious/noExplicitAny: tests read events of every type
export type Event = any

/** A WebSocket client of `/v1/responses`, which reads one event at a time. */
export class Client {
  readonly socket: WS
  /** Resolves with the code and the reason of the close frame. */
  readonly closed: Promise<readonly [number, string]>
  readonly #events: Event[] = []
  #heard = () => {}
  #isClosed = false

  constructor(url: string, token: string | undefined, headers: Record<string, string> = {}) {
    const authorization = token === undefined ? undefined : { authorization: `Bearer ${token}` }
    this.socket = new WS(`${url.replace('http', 'ws')}/v1/responses`, { headers: { ...authorization, ...headers } })
    this.socket.on('message', (data) => {
      this.#events.push(JSON.parse(String(data)))
      this.#heard()
    })
    this.closed = new Promise((resolve) => {
      this.socket.on('close', (code, reason) => {
        this.#isClosed = true
        this.#heard()
        resolve([code, String(reason)])
      })
    })
    this.socket.on('error', () => {})
  }

  /** Connects. Rejects when the handshake fails. */
  static async open(url: string, token: string | undefined, headers?: Record<string, string>): Promise<Client> {
    const client = new Client(url, token, headers)
    await new Promise<void>((resolve, reject) => {
      client.socket.once('open', resolve)
      client.socket.once('error', reject)
    })
    return client
  }

  send(message: object | string): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message))
  }

  /** Sends a `response.create` message. */
  create(fields: object): void {
    this.send({ type: 'response.create', store: false, ...fields })
  }

  async next(): Promise<Event> {
    while (this.#events.length === 0) {
      if (this.#isClosed) throw new Error('the connection has closed')
      await new Promise<void>((resolve) => {
        this.#heard = resolve
      })
    }
    return this.#events.shift()
  }

  /** Reads up to the last event of a response, or up to an error. */
  async end(): Promise<Event> {
    for (;;) {
      const event = await this.next()
      if (/^(?:error|response\.(?:completed|incomplete|failed|steer\.failed))$/.test(event.type)) return event
    }
  }

  /** Creates a response, and reads its last event. */
  turn(fields: object): Promise<Event> {
    this.create(fields)
    return this.end()
  }
}

/** The response to a handshake; 101 if the server has opened the connection. */
export const handshake = (url: string, headers: Record<string, string>, path = '/v1/responses') =>
  new Promise<{ readonly status: number; readonly headers: Headers; readonly body: string }>((resolve, reject) => {
    const upgrade = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' }
    const key = { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' }
    const sent = request(url + path, { headers: { ...upgrade, ...key, ...headers }, agent: false })
    sent.on('upgrade', (response, socket) => {
      socket.destroy()
      resolve({ status: 101, headers: new Headers(response.headers as Record<string, string>), body: '' })
    })
    sent.on('response', (response) => {
      let body = ''
      response.on('data', (chunk) => {
        body += chunk
      })
      response.on('end', () => {
        const fields = new Headers(response.headers as Record<string, string>)
        resolve({ status: response.statusCode ?? 0, headers: fields, body })
      })
    })
    sent.on('error', reject)
    sent.end()
  })

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, createServer as createBareServer, type Server, type Socket } from 'node:net'
import { createNodeServer } from '../../src/node-server.ts'
import { withBunBody } from '../../src/server/response-body.ts'

export interface Listening extends AsyncDisposable {
  readonly url: string
  readonly port: number
}

const listening = async (server: Server, sockets: Set<Socket>): Promise<Listening> => {
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** An upstream with a request handler. */
export const upstream = (response: (request: IncomingMessage, response: ServerResponse) => void): Promise<Listening> =>
  listening(createServer(response), new Set())

/** An upstream that writes raw bytes after it has received a request. */
export const bareUpstream = (response: (socket: Socket) => void): Promise<Listening> =>
  listening(
    createBareServer((socket) => socket.once('data', () => response(socket))),
    new Set(),
  )

type Handle = (request: Request) => Response | Promise<Response>

const onBun = async (handle: Handle): Promise<Listening> => {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', idleTimeout: 0, fetch: handle })
  return {
    port: server.port ?? 0,
    url: `http://127.0.0.1:${server.port}`,
    [Symbol.asyncDispose]: async () => server.stop(true),
  }
}

/** The servers that the plugin supports. */
export const servers: Readonly<Record<string, (handle: Handle) => Promise<Listening>>> = {
  'the runtime’s own server': (handle) => onBun(handle),
  'the runtime’s own server, with direct bodies': (handle) =>
    onBun(async (request) => withBunBody(await handle(request), request, () => {})),
  'the node:http listener': (handle) => createNodeServer(handle).listen(),
}

/** A client on a raw socket. */
export class Client {
  readonly socket: Socket
  #received = ''
  #wake = () => {}
  #over: 'end' | 'error' | undefined

  constructor(port: number, path: string) {
    this.socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    this.socket.setEncoding('latin1')
    this.socket.on('data', (piece: string) => {
      this.#received += piece
      this.#wake()
    })
    this.socket.on('error', () => {
      this.#over = 'error'
      this.#wake()
    })
    this.socket.on('end', () => {
      this.#over ??= 'end'
      this.socket.end()
      this.#wake()
    })
    this.socket.on('close', () => {
      this.#over ??= 'end'
      this.#wake()
    })
    this.socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
  }

  get text(): string {
    return this.#received
  }

  /** Whether the response is complete, by its last chunk or by Content-Length, which a server may send for a short response. */
  get whole(): boolean {
    const [head = '', body = ''] = this.#received.split('\r\n\r\n', 2)
    const length = /^content-length: *(\d+)/im.exec(head)?.[1]
    return length === undefined ? this.#received.endsWith('0\r\n\r\n') : body.length === Number(length)
  }

  /** Resolves when the received text contains `mark`. Rejects when the connection ends before. */
  async until(mark: string): Promise<void> {
    while (!this.#received.includes(mark)) {
      if (this.#over) throw new Error(`it ended (${this.#over}) after ${JSON.stringify(this.#received)}`)
      await this.#more()
    }
  }

  /** Resolves when the connection has ended or the response is complete. */
  async ended(): Promise<void> {
    while (!this.#over && !this.whole) await this.#more()
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }
}

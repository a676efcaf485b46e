import { connect, type Socket } from 'node:net'
import { createNodeServer, type NodeServerOptions } from '../../src/node-server.ts'

export interface TestServer extends AsyncDisposable {
  readonly port: number
  /** Opens a raw connection. */
  dial(): RawConnection
  /** Sends a request on a new connection and reads one response. */
  ask(request: string): Promise<RawResponse>
}

/** A node:http server with a handler, on a real socket. */
export const startTestServer = async (
  handle: (request: Request) => Response | Promise<Response>,
  options?: NodeServerOptions,
): Promise<TestServer> => {
  const server = await createNodeServer(handle, options).listen()
  const connections: RawConnection[] = []
  const dial = () => {
    const connection = new RawConnection(connect(server.port, '127.0.0.1'))
    connections.push(connection)
    return connection
  }
  return {
    port: server.port,
    dial,
    ask: (request) => {
      const connection = dial()
      connection.write(request)
      return connection.readResponse(request.startsWith('HEAD '))
    },
    [Symbol.asyncDispose]: async () => {
      for (const connection of connections) connection.socket.destroy()
      await server.stop({ closeActiveConnections: true })
    },
  }
}

export interface RawResponse {
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

/** The client side of a connection. */
export class RawConnection {
  readonly socket: Socket
  /** Resolves when the server has closed the connection. */
  readonly closed: Promise<void>
  #text = ''
  #over = false
  #heard = () => {}

  constructor(socket: Socket) {
    this.socket = socket
    socket.setEncoding('latin1')
    socket.on('data', (chunk: string) => {
      this.#text += chunk
      this.#heard()
    })
    socket.on('error', () => {})
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        this.#over = true
        this.#heard()
        resolve()
      })
    })
  }

  write(text: string): void {
    this.socket.write(text)
  }

  /** What has arrived and is not read. */
  rest(): string {
    return this.#text
  }

  /** Reads up to and including `mark`. */
  async until(mark: string): Promise<string> {
    const text = await this.#when(() => {
      const at = this.#text.indexOf(mark)
      return at === -1 ? undefined : at + mark.length
    })
    return text
  }

  /** Reads the next response, without a body when it responds to HEAD. */
  async readResponse(headOnly = false): Promise<RawResponse> {
    const [line = '', ...fields] = (await this.until('\r\n\r\n')).trimEnd().split('\r\n')
    const headers = new Headers(
      fields.map((field) => [field.slice(0, field.indexOf(':')), field.slice(field.indexOf(':') + 1)]),
    )
    const status = Number(line.split(' ')[1])
    if (status === 100) return this.readResponse(headOnly)
    return { status, headers, body: headOnly || status === 204 || status === 304 ? '' : await this.#body(headers) }
  }

  async #body(headers: Headers): Promise<string> {
    if (headers.get('transfer-encoding') !== 'chunked') return this.#take(Number(headers.get('content-length')))
    let body = ''
    for (;;) {
      const size = Number.parseInt(await this.until('\r\n'), 16)
      const chunk = await this.#take(size + 2)
      if (size === 0) return body
      body += chunk.slice(0, -2)
    }
  }

  #take(length: number): Promise<string> {
    return this.#when(() => (this.#text.length >= length ? length : undefined))
  }

  async #when(enough: () => number | undefined): Promise<string> {
    for (;;) {
      const length = enough()
      if (length !== undefined) {
        const text = this.#text.slice(0, length)
        this.#text = this.#text.slice(length)
        return text
      }
      if (this.#over) throw new Error(`the connection ended after ${JSON.stringify(this.#text)}`)
      await new Promise<void>((resolve) => {
        this.#heard = resolve
      })
    }
  }
}

export const host = 'Host: gateway\r\n'
export const json = 'Content-Type: application/json\r\n'

/** More bytes than the kernel buffers on both sides of a connection. */
export const bufferedBytes = 16_000_000

/** Writes until the socket accepts no more, or up to `maxBytes`. */
export const pour = (connection: RawConnection, maxBytes: number): Promise<number> =>
  new Promise((resolve) => {
    const chunk = 'x'.repeat(1_000_000)
    let taken = 0
    const push = () => {
      const timer = setTimeout(() => resolve(taken), 500)
      connection.socket.write(chunk, (error) => {
        clearTimeout(timer)
        if (error) return resolve(taken)
        taken += chunk.length
        if (taken < maxBytes) push()
        else resolve(taken)
      })
    }
    push()
  })

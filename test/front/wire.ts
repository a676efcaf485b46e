import { type AddressInfo, connect, type Socket } from 'node:net'
import { createFront, type FrontOptions } from '../../src/front.ts'

export interface Front extends AsyncDisposable {
  readonly port: number
  /** A bare connection. */
  dial(): Wire
  /** Writes a request on a connection of its own and reads one answer. */
  ask(request: string): Promise<Heard>
}

/** A front before a handler, on a real socket. */
export const front = async (
  handle: (request: Request) => Response | Promise<Response>,
  options: Omit<FrontOptions, 'handle'> = {},
): Promise<Front> => {
  const server = createFront({ handle, ...options })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const wires: Wire[] = []
  const dial = () => {
    const wire = new Wire(connect(port, '127.0.0.1'))
    wires.push(wire)
    return wire
  }
  return {
    port,
    dial,
    ask: (request) => {
      const wire = dial()
      wire.write(request)
      return wire.answer(request.startsWith('HEAD '))
    },
    [Symbol.asyncDispose]: async () => {
      for (const wire of wires) wire.socket.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export interface Heard {
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

/** One side of a connection, read answer by answer. */
export class Wire {
  readonly socket: Socket
  /** Resolves when the other side has closed, to whether it did so by a reset. */
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

  /** Text up to and including the mark. */
  async until(mark: string): Promise<string> {
    const text = await this.#when(() => {
      const at = this.#text.indexOf(mark)
      return at === -1 ? undefined : at + mark.length
    })
    return text
  }

  /** The next answer; with its body, unless it answers a HEAD. */
  async answer(headOnly = false): Promise<Heard> {
    const [line = '', ...fields] = (await this.until('\r\n\r\n')).trimEnd().split('\r\n')
    const headers = new Headers(
      fields.map((field) => [field.slice(0, field.indexOf(':')), field.slice(field.indexOf(':') + 1)]),
    )
    const status = Number(line.split(' ')[1])
    if (status === 100) return this.answer(headOnly)
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

/** More than a kernel keeps on both sides of a connection between a program that does not read and one that writes. */
export const bufferedBytes = 16_000_000

/** Writes until nothing more is taken, or `most` has been. */
export const pour = (wire: Wire, most: number): Promise<number> =>
  new Promise((resolve) => {
    const chunk = 'x'.repeat(1_000_000)
    let taken = 0
    const push = () => {
      const timer = setTimeout(() => resolve(taken), 500)
      wire.socket.write(chunk, (error) => {
        clearTimeout(timer)
        if (error) return resolve(taken)
        taken += chunk.length
        if (taken < most) push()
        else resolve(taken)
      })
    }
    push()
  })

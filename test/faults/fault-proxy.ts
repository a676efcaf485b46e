import { connect, createServer, type Server, type Socket } from 'node:net'
import { freePort } from '../support/free-port.ts'

/** What a `FaultProxy` does to the connections through it. */
export type ProxyFault =
  /** Nobody listens: open connections are reset, and new ones refused. */
  | { readonly kind: 'refuse' }
  /** Each connection is reset after so many further bytes of responses. `times`: the number of connections; default all. */
  | { readonly kind: 'reset'; readonly afterBytes: number; readonly times?: number }
  /**
   * Each connection is closed without an error after so many further bytes of responses, as by a process that was
   * killed.
   */
  | { readonly kind: 'close'; readonly afterBytes: number }
  /** No byte passes, in either direction. When the fault ends, all that was sent arrives. */
  | { readonly kind: 'freeze' }
  /**
   * The other end has vanished without a word, after so many further bytes of its responses (default none): what is sent
   * is lost. Such connections stay so when the fault ends.
   */
  | { readonly kind: 'half-open'; readonly afterBytes?: number }
  /** Responses come so many milliseconds later. */
  | { readonly kind: 'slow'; readonly ms: number }
  /** Responses come so many bytes at a time, in each turn of the timer. */
  | { readonly kind: 'trickle'; readonly bytes: number }
  /** Responses are other bytes, as many. */
  | { readonly kind: 'wrong-bytes' }
  /**
   * Each connection is reset where its `CutReader` says, which finds a position of the protocol in what passes.
   * `every`: at each so manieth such position, of all connections together; default at all. `closes`: without an error.
   */
  | { readonly kind: 'cut'; readonly at: string; readonly every?: number; readonly closes?: boolean }

/** Reads a connection from its begin, and says where to reset it. */
export interface CutReader<Position extends string = string> {
  /** From now on. Undefined: nowhere. */
  cut: { readonly at: Position; readonly every?: number } | undefined
  /** Reads what the client sends. True: the connection is to be reset before. */
  request(bytes: Buffer): boolean
  /** Reads what the server sends. Undefined: it passes. */
  response(bytes: Buffer): CutResponse | undefined
}

/** How many bytes of a response pass, and whether the connection is to be reset then. */
export interface CutResponse {
  readonly passed: number
  readonly isCut: boolean
}

/** A TCP proxy on loopback before a server. It passes all bytes, until `fail` is called. */
export interface FaultProxy extends AsyncDisposable {
  readonly port: number
  /** An address of the server, with the port of the proxy. */
  before(url: string): string
  /** From now on, also on open connections. It replaces the fault before. */
  fail(fault: ProxyFault): Promise<void>
  /** Ends the fault. */
  recover(): Promise<void>
  /** Number of connections that clients hold open. */
  readonly open: number
}

/**
 * Starts a proxy before the server at this port of 127.0.0.1.
 *
 * @param createReader for each connection, for faults of the kind `cut`
 */
export const startFaultProxy = async (serverPort: number, createReader?: () => CutReader): Promise<FaultProxy> => {
  const port = await freePort()
  const pairs = new Set<Pair>()
  let fault: ProxyFault | undefined
  let listening: Server | undefined
  let resetsLeft = Number.POSITIVE_INFINITY
  const mayReset = () => resetsLeft-- > 0

  const listen = () =>
    new Promise<void>((resolve, reject) => {
      const server = createServer({ allowHalfOpen: true }, (near) => {
        const far = connect({ port: serverPort, host: '127.0.0.1', allowHalfOpen: true })
        const pair = new Pair(near, far, { mayReset, reader: createReader?.() })
        pairs.add(pair)
        near.once('close', () => pairs.delete(pair))
        pair.obey(fault)
      })
      server.once('error', reject)
      server.listen(port, '127.0.0.1', resolve)
      listening = server
    })
  const stopListening = () => {
    const server = listening
    listening = undefined
    return new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve()))
  }
  const resetAll = () => {
    for (const pair of pairs) pair.reset()
  }

  await listen()
  return {
    port,
    before: (url) => url.replace(/^(\w+:\/\/(?:[^@/]*@)?)[^/?]+/, `$1127.0.0.1:${port}`),
    async fail(next) {
      fault = next
      resetsLeft = next.kind === 'reset' ? (next.times ?? Number.POSITIVE_INFINITY) : 0
      if (next.kind === 'refuse') {
        const closed = stopListening()
        resetAll()
        return closed
      }
      if (!listening) await listen()
      for (const pair of pairs) pair.obey(next)
    },
    async recover() {
      fault = undefined
      await Promise.all([...pairs].map((pair) => pair.ending))
      if (!listening) await listen()
      for (const pair of pairs) pair.obey(undefined)
    },
    get open() {
      return pairs.size
    },
    async [Symbol.asyncDispose]() {
      const closed = stopListening()
      resetAll()
      await closed
    },
  }
}

/** The port of an address. */
export const portOf = (url: string): number => Number(new URL(url.replace(/^postgres/, 'http')).port)

/** A client's connection, and that to the server. */
class Pair {
  readonly #near: Socket
  readonly #far: Socket
  readonly #mayReset: () => boolean
  readonly #reader: CutReader | undefined
  #fault: ProxyFault | undefined
  /** Bytes of responses that still pass before the reset. */
  #bytesLeft = 0
  #isDead = false
  /** Whether the client is about to learn of its end. */
  #isReset = false
  /** What was sent while frozen, in both directions, in its order. */
  #held: (() => void)[] = []
  /** The end of what is passed on in turns of the timer. */
  #lastPiece: Promise<void> = Promise.resolve()

  constructor(
    near: Socket,
    far: Socket,
    { mayReset, reader }: { readonly mayReset: () => boolean; readonly reader: CutReader | undefined },
  ) {
    this.#near = near
    this.#far = far
    this.#mayReset = mayReset
    this.#reader = reader
    for (const socket of [near, far]) socket.setNoDelay(true)
    near.on('data', (bytes: Buffer) => this.#pass(() => this.#request(bytes)))
    near.on('end', () => this.#pass(() => void far.end()))
    near.on('error', () => far.destroy())
    near.on('close', () => this.#pass(() => void far.destroy()))
    far.on('data', (bytes: Buffer) => this.#pass(() => this.#respond(bytes)))
    far.on('end', () => this.#pass(() => void this.#lastPiece.then(() => near.end())))
    far.on('error', () => this.#pass(() => this.reset()))
  }

  /** Undefined: it goes on. Else resolves when its end has reached the client. */
  get ending(): Promise<unknown> | undefined {
    // One that has vanished stays open.
    const isEnding = this.#isReset && !this.#near.destroyed
    return isEnding ? new Promise((resolve) => this.#near.once('close', resolve)) : undefined
  }

  obey(fault: ProxyFault | undefined): void {
    this.#fault = fault
    if (this.#reader) this.#reader.cut = fault?.kind === 'cut' ? fault : undefined
    if (fault?.kind === 'reset' || fault?.kind === 'close' || fault?.kind === 'half-open')
      this.#bytesLeft = fault.afterBytes ?? 0
    if (fault?.kind === 'half-open' && this.#bytesLeft === 0) this.#vanish()
    if (fault?.kind === 'freeze') return
    for (const pass of this.#held.splice(0)) pass()
  }

  /** The client learns nothing. */
  #vanish(): void {
    this.#isDead = true
    this.#held = []
    this.#far.destroy()
  }

  reset(): void {
    this.#isReset = true
    this.#isDead = true
    this.#held = []
    const fault = this.#fault
    // Destroyed without a reset, else a client that does not close its side would keep it.
    if (fault?.kind === 'close' || (fault?.kind === 'cut' && fault.closes)) this.#near.destroySoon()
    else this.#near.resetAndDestroy()
    this.#far.destroy()
  }

  #resetAfter(bytes: Buffer): void {
    this.#isReset = true
    this.#isDead = true
    this.#near.write(bytes, () => this.reset())
  }

  #pass(pass: () => void): void {
    if (this.#isDead) return
    if (this.#fault?.kind === 'freeze') this.#held.push(pass)
    else pass()
  }

  #request(bytes: Buffer): void {
    if (this.#reader?.request(bytes)) this.reset()
    else this.#far.write(bytes)
  }

  #respond(bytes: Buffer): void {
    const fault = this.#fault
    const cut = this.#reader?.response(bytes)
    if (cut) {
      const passed = bytes.subarray(0, cut.passed)
      if (!cut.isCut) this.#write(passed)
      else {
        this.#resetAfter(passed)
      }
      return
    }
    if (fault?.kind === 'reset' || fault?.kind === 'close') {
      if (bytes.length <= this.#bytesLeft) {
        this.#bytesLeft -= bytes.length
      } else if (fault.kind === 'close' || this.#mayReset()) {
        this.#resetAfter(bytes.subarray(0, this.#bytesLeft))
        return
      }
    }
    if (fault?.kind === 'half-open') {
      const passed = bytes.subarray(0, this.#bytesLeft)
      this.#bytesLeft -= passed.length
      this.#write(passed)
      // Before the next request: what comes after a complete response is lost.
      if (this.#bytesLeft === 0) this.#vanish()
      return
    }
    if (fault?.kind === 'wrong-bytes') this.#write(Buffer.alloc(bytes.length, 0xff))
    else if (fault?.kind === 'slow') this.#later(fault.ms, bytes)
    else if (fault?.kind === 'trickle')
      for (let at = 0; at < bytes.length; at += fault.bytes) this.#later(1, bytes.subarray(at, at + fault.bytes))
    else this.#lastPiece = this.#lastPiece.then(() => this.#write(bytes))
  }

  #write(bytes: Buffer): void {
    if (!this.#isDead) this.#near.write(bytes)
  }

  #later(ms: number, bytes: Buffer): void {
    this.#lastPiece = this.#lastPiece
      .then(() => new Promise((resolve) => setTimeout(resolve, ms)))
      .then(() => this.#write(bytes))
  }
}

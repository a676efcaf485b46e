import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { afterIo } from '../../plugins/shared/background/turns.ts'

/**
 * Makes Deno (2.9) parse what callers send in several turns of the event loop. It changes nothing on Bun.
 *
 * Deno reads 64 KiB at once, of each connection that has as much, and its parser calls a function for each request and
 * for each chunk of a body in them: 11,000 times, if a caller sends each byte as a chunk. By default it reads from the
 * connection itself, in native code. Here it gets pieces of the connection's stream, and the rest waits in the stream.
 */
export const parseInTurns = (socket: ParsedSocket): void => {
  const { parser } = socket
  const [parse] = socket.listeners('data')
  if (!isDeno || !parser || !parse) return
  if (parser._consumed) parser.unconsume?.()
  socket.off('data', parse as OnData)
  let isWaiting = false
  const readOn = () => {
    isWaiting = false
    // The runtime has paused the connection, or another protocol has taken it over.
    if (socket.readableFlowing !== null || !socket.parser) return
    // Calls `onData` at once, with what waits in the stream.
    socket.read()
    if (!isWaiting && socket.readableFlowing === null) socket.resume()
  }
  const onData: OnData = (bytes) => {
    if (!socket.parser) return void socket.off('data', onData)
    const piece = bytes.subarray(0, isFull ? 0 : bytesPerPiece)
    const rest = bytes.subarray(piece.length)
    if (rest.length > 0) {
      // Before the piece is parsed: another protocol may take over after a request in it.
      socket.pause()
      socket.unshift(rest)
      // Neither paused nor flowing: so a pause by the runtime shows, for a body that is not read.
      socket.readableFlowing = null
    }
    countParsed(piece.length / bytesPerCost)
    if (piece.length > 0) parse.call(socket, piece)
    if (rest.length === 0 || isWaiting) return
    if (!isFull) return readOn()
    isWaiting = true
    queueOf(bytes).push(readOn)
    scheduleTurn()
  }
  socket.on('data', onData)
}

/** Counts the chunks of a body, also while nobody reads it. */
export const countChunks = (incoming: IncomingMessage): void => {
  if (!isDeno) return
  const { push } = incoming
  incoming.push = (chunk: unknown, encoding?: BufferEncoding) => {
    countParsed(1)
    return push.call(incoming, chunk, encoding)
  }
}

/** A request takes about as long as so many chunks. */
export const requestCost = 32

/** Counts what the parser has found. When a turn of the event loop has parsed enough, the rest waits for the next. */
export const countParsed = (cost: number): void => {
  spent += cost
  if (!isDeno || spent < costPerTurn) return
  isFull = true
  scheduleTurn()
}

type ParsedSocket = Omit<Socket, 'readableFlowing'> & {
  readableFlowing: boolean | null
  readonly parser?: Parser | null
}

type OnData = (bytes: Buffer<ArrayBuffer>) => void

/** A part of the undocumented parser of `node:http`. */
interface Parser {
  /** Whether the parser itself reads from the connection. */
  readonly _consumed?: boolean
  /** Makes it get its bytes from the events of the stream. */
  unconsume?(): void
}

const isDeno = 'Deno' in globalThis

/** The last piece of a turn may exceed its cost by what is in so many bytes. Smaller pieces make long bodies slow. */
const bytesPerPiece = 2 ** 13

/** Some milliseconds. */
const costPerTurn = 512
/** What a body of few chunks costs. */
const bytesPerCost = 2 ** 11

/** Connections that wait for a turn, in their order. First come those that have sent little, such as one request. */
const waitingWithLittle: (() => void)[] = []
const waiting: (() => void)[] = []
const littleBytes = 2 ** 10

const queueOf = ({ length }: Uint8Array): (() => void)[] => (length <= littleBytes ? waitingWithLittle : waiting)

/** Cost of this turn, and perhaps of earlier ones: to look for the end of each turn would cost an immediate. */
let spent = 0
let isFull = false
let isTurnDue = false

const scheduleTurn = (): void => {
  if (isTurnDue) return
  isTurnDue = true
  afterIo(beginTurn)
}

const beginTurn = (): void => {
  isTurnDue = false
  isFull = false
  spent = 0
  while (!isFull) {
    const readOn = waitingWithLittle.shift() ?? waiting.shift()
    if (!readOn) return
    readOn()
  }
}

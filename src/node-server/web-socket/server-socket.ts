import { Buffer } from 'node:buffer'
import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { CoarseTimers } from '../../../plugins/shared/background/coarse-timers.ts'
import { nextTurn } from '../../../plugins/shared/background/turns.ts'
import type { Chunks } from '../../../plugins/shared/http/body/read-body.ts'
import {
  maxBufferedBytes,
  type WebSocketConnection,
  type WebSocketListener,
} from '../../../plugins/shared/http/web-socket.ts'
import { decodeValidUtf8 } from '../../../plugins/shared/text.ts'
import { ClientFrames } from './client-frames.ts'

/** Bytes of frames that one turn of the event loop reads of a connection. */
const bytesPerTurn = 2 ** 16

const text = 0x1
const close = 0x8
const ping = 0x9
const pong = 0xa

/** RFC 6455 section 1.3. */
const acceptGuid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

/** The response to the handshake (RFC 6455 section 4.2.2). A client that offers subprotocols gets the first of them. */
export const handshakeResponse = ({ headers }: IncomingMessage): string => {
  const accept = createHash('sha1').update(`${headers['sec-websocket-key']}${acceptGuid}`).digest('base64')
  const protocol = headers['sec-websocket-protocol']?.split(',')[0]?.trim() ?? ''
  return [
    'HTTP/1.1 101 Switching Protocols',
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Accept: ${accept}`,
    // A token (RFC 9110 section 5.6.2).
    ...(/^[\w!#$%&'*+.^`|~-]+$/.test(protocol) ? [`Sec-WebSocket-Protocol: ${protocol}`] : []),
    '\r\n',
  ].join('\r\n')
}

/** How long a peer has to close its end of the connection, after a close frame of the server. */
export interface Linger {
  readonly ms: number
  readonly timers: CoarseTimers
}

/**
 * The server's end of a WebSocket connection (RFC 6455), on a raw socket.
 *
 * It has no extensions: compression costs CPU and memory for each connection, and a short message could take much
 * memory. Unlike the runtimes' own servers, it reports how much of an unfinished message it holds.
 */
export class ServerSocket implements WebSocketConnection {
  readonly #socket: Socket
  readonly #reader: ClientFrames
  #listener: WebSocketListener | undefined
  /** Settles when the earlier messages have been passed on. Undefined: they have been. */
  #delivery: Promise<void> | undefined
  /** The last ping that has no answer yet: earlier ones need none (RFC 6455 section 5.5.3). */
  #pinged: Buffer | undefined
  #hasSentClose = false
  /** Whether the peer has ended the closing handshake, so that the connection can close at once. */
  #hasReceivedClose = false
  /** Bytes of the unfinished message, and of those that are being joined. */
  #partBytes = 0
  #joiningBytes = 0
  readonly #linger: Linger
  /** Bytes that were read since the last turn of its own. */
  #readBytes = 0
  /** What waits for turns of its own. Undefined: nothing. */
  #unread: Buffer[] | undefined
  /** Resolve when the peer has read the buffered bytes. */
  readonly #waiting = new Set<() => void>()

  /** @param maxMessageBytes a longer message closes the connection with code 1009 */
  constructor(socket: Socket, maxMessageBytes: number, linger: Linger) {
    this.#socket = socket
    this.#linger = linger
    this.#reader = new ClientFrames(maxMessageBytes, {
      onMessage: (message, isText) => this.#deliver(message, isText),
      onPart: (bytes) => {
        this.#partBytes = bytes
        this.#reportBytes()
      },
      onPing: (payload) => {
        this.#pinged = payload
      },
      onPong: () => this.#listener?.onPong(),
      onClose: (code) => {
        this.#hasReceivedClose = true
        this.#end(code)
      },
      onError: (code) => this.#end(code),
    })
  }

  /** Reads what the peer sends. @param head its first bytes */
  listen(listener: WebSocketListener, head: Buffer): void {
    this.#listener = listener
    const socket = this.#socket
    const resume = () => {
      for (const resolve of this.#waiting) resolve()
      this.#waiting.clear()
    }
    socket.on('drain', resume)
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
    socket.on('end', () => socket.end())
    socket.on('close', () => {
      this.#reader.end()
      resume()
      listener.onClose()
    })
    if (head.length > 0) this.#read(head)
  }

  send(message: string): Promise<void> | undefined {
    if (!this.#isOpen) return undefined
    this.#write(text, Buffer.from(message))
    if (this.#socket.writableLength < maxBufferedBytes) return undefined
    return new Promise((resolve) => this.#waiting.add(resolve))
  }

  ping(): void {
    if (this.#isOpen) this.#write(ping, noPayload)
  }

  close(code: number, reason: string): void {
    if (!this.#isOpen) return
    this.#writeClose(code, reason)
    this.#stopReading()
  }

  terminate(): void {
    this.#socket.destroy()
  }

  get #isOpen(): boolean {
    return !this.#hasSentClose && this.#socket.writable
  }

  /**
   * Of all that have much to read, one goes on in a turn of the event loop: a peer may send tiny frames, or many long
   * ones.
   */
  #read(chunk: Buffer): void {
    this.#readBytes += chunk.length
    if (this.#unread) this.#unread.push(chunk)
    else if (this.#readBytes <= bytesPerTurn) this.#readPiece(chunk)
    else void this.#readInTurns([chunk])
  }

  async #readInTurns(unread: Buffer[]): Promise<void> {
    this.#unread = unread
    this.#socket.pause()
    for (let chunk = unread.shift(); chunk; chunk = unread.shift()) {
      for (let at = 0; at < chunk.length; at += bytesPerTurn) {
        await nextTurn()
        this.#readPiece(chunk.subarray(at, at + bytesPerTurn))
      }
    }
    this.#unread = undefined
    this.#readBytes = 0
    this.#resume()
  }

  #resume(): void {
    if (!this.#unread && !this.#delivery) this.#socket.resume()
  }

  #readPiece(piece: Buffer): void {
    this.#reader.push(piece)
    const payload = this.#pinged
    this.#pinged = undefined
    // A peer that sends pings, and does not read the answers, must not fill the memory.
    if (payload && this.#isOpen && this.#socket.writableLength < maxBufferedBytes) this.#write(pong, payload)
  }

  /** Passes on a message, after the earlier ones: a long one is joined over several turns of the event loop. */
  #deliver(message: Chunks, isText: boolean): void {
    const deliver = (bytes: Uint8Array): void => {
      // After a message that is not valid, and after the closing handshake, which nobody would get a response to.
      if (this.#hasSentClose) return
      const decoded = isText ? decodeValidUtf8(bytes) : undefined
      if (isText && decoded === undefined) this.#end(1007)
      else this.#listener?.onMessage(decoded)
    }
    const joined = message.join()
    if (!this.#delivery && joined instanceof Uint8Array) {
      deliver(joined)
      return
    }
    this.#socket.pause()
    this.#joiningBytes += message.length
    this.#reportBytes()
    const delivery = Promise.all([joined, this.#delivery]).then(([bytes]) => {
      this.#joiningBytes -= bytes.length
      this.#reportBytes()
      deliver(bytes)
      if (this.#delivery !== delivery) return
      this.#delivery = undefined
      this.#resume()
    })
    this.#delivery = delivery
  }

  #reportBytes(): void {
    this.#listener?.onPart?.(this.#partBytes + this.#joiningBytes)
  }

  /** Answers a close frame, or an error, and closes the connection. */
  #end(code: number | undefined): void {
    if (this.#isOpen) this.#writeClose(code, '')
    this.#stopReading()
  }

  /**
   * Discards what the peer still sends, so that it can read the close frame: a reset would drop that. A peer that does
   * not close its end is not waited for, and one that has sent a close frame sends nothing more.
   */
  #stopReading(): void {
    const socket = this.#socket
    this.#reader.end()
    socket.end()
    socket.resume()
    if (this.#hasReceivedClose) {
      socket.destroySoon()
      return
    }
    const { ms, timers } = this.#linger
    const timer = { expiresAt: performance.now() + ms, onTimeout: () => void socket.destroy() }
    timers.add(timer)
    socket.once('close', () => timers.delete(timer))
  }

  /** @param reason at most 123 bytes of it are sent */
  #writeClose(code: number | undefined, reason: string): void {
    const payload = Buffer.alloc(code === undefined ? 0 : 125)
    const length = code === undefined ? 0 : 2 + payload.write(reason, 2)
    if (code !== undefined) payload.writeUInt16BE(code)
    this.#write(close, payload.subarray(0, length))
    this.#hasSentClose = true
  }

  #write(opcode: number, payload: Buffer): void {
    const { length } = payload
    const extended = length < 126 ? 0 : length < 2 ** 16 ? 2 : 8
    const frame = Buffer.allocUnsafe(2 + extended + length)
    frame[0] = 0x80 | opcode
    frame[1] = extended === 0 ? length : extended === 2 ? 126 : 127
    if (extended === 2) frame.writeUInt16BE(length, 2)
    if (extended === 8) frame.writeBigUInt64BE(BigInt(length), 2)
    payload.copy(frame, 2 + extended)
    this.#socket.write(frame)
  }
}

const noPayload = Buffer.alloc(0)

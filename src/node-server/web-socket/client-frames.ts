import { Buffer, isUtf8 } from 'node:buffer'
import { Chunks } from '../../../plugins/shared/http/body/read-body.ts'

/** Receives the frames of a peer. */
export interface FrameListener {
  /** A whole message. */
  onMessage(message: Chunks, isText: boolean): void
  /** Bytes of the message that has begun, when they have changed; 0 before it is reported as a whole. */
  onPart(bytes: number): void
  onPing(payload: Buffer): void
  onPong(): void
  /** @param code undefined: the frame has none */
  onClose(code: number | undefined): void
  /** The peer violates the protocol: the connection must be closed with this code (RFC 6455 section 7.4.1). */
  onError(code: number): void
}

const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const
const maxControlBytes = 125

/** Reads the frames of a client (RFC 6455 section 5.2), as they arrive. */
export class ClientFrames {
  readonly #maxMessageBytes: number
  readonly #listener: FrameListener
  /** The header of the current frame, as far as it has arrived. */
  readonly #header = Buffer.alloc(14)
  #headerLength = 0
  /** Whether the header is complete. */
  #isInPayload = false
  #opcode = 0
  #isFinal = false
  /** Bytes of the payload that have not arrived yet. */
  #left = 0
  #maskAt = 0
  #control: Buffer[] = []
  /** The unfinished message. */
  #message: Chunks | undefined
  #isText = false
  #messageBytes = 0
  /** What `onPart` was last called with. */
  #reportedBytes = 0
  #isEnded = false

  constructor(maxMessageBytes: number, listener: FrameListener) {
    this.#maxMessageBytes = maxMessageBytes
    this.#listener = listener
  }

  /** Ignores all that follows. */
  end(): void {
    this.#isEnded = true
    this.#message = undefined
    this.#control = []
  }

  push(chunk: Buffer): void {
    for (let at = 0; at < chunk.length && !this.#isEnded; )
      at += this.#isInPayload ? this.#pay(chunk, at) : this.#head(chunk, at)
    this.#reportPart()
  }

  #reportPart(): void {
    if (this.#isEnded || this.#messageBytes === this.#reportedBytes) return
    this.#reportedBytes = this.#messageBytes
    this.#listener.onPart(this.#messageBytes)
  }

  /** Reads a part of a header. Returns the number of its bytes. */
  #head(chunk: Buffer, at: number): number {
    const length = Math.min(headerLength(this.#header, this.#headerLength) - this.#headerLength, chunk.length - at)
    chunk.copy(this.#header, this.#headerLength, at, at + length)
    this.#headerLength += length
    if (this.#headerLength >= 2 && this.#headerLength === headerLength(this.#header, this.#headerLength))
      this.#beginFrame()
    return length
  }

  #beginFrame(): void {
    const [first = 0, second = 0] = this.#header
    this.#headerLength = 0
    this.#isFinal = (first & 0x80) !== 0
    this.#opcode = first & 0x0f
    this.#left = payloadLength(this.#header)
    this.#maskAt = 0
    const hasMask = (second & 0x80) !== 0
    const isData = this.#opcode < opcodes.close
    if ((first & 0x70) !== 0 || !hasMask || !isShortest(this.#header, this.#left) || !this.#isExpected()) {
      this.#fail(1002)
      return
    }
    if (isData && this.#messageBytes + this.#left > this.#maxMessageBytes) {
      this.#fail(1009)
      return
    }
    if (isData && this.#opcode !== opcodes.continuation) {
      this.#message = new Chunks()
      this.#isText = this.#opcode === opcodes.text
    }
    this.#isInPayload = true
    if (this.#left === 0) this.#endFrame()
  }

  /** Whether a frame of this kind may come now (RFC 6455 sections 5.4 and 5.5). */
  #isExpected(): boolean {
    switch (this.#opcode) {
      case opcodes.continuation:
        return this.#message !== undefined
      case opcodes.text:
      case opcodes.binary:
        return this.#message === undefined
      case opcodes.close:
      case opcodes.ping:
      case opcodes.pong:
        return this.#isFinal && this.#left <= maxControlBytes
      default:
        return false
    }
  }

  /** Reads a part of a payload. Returns the number of its bytes. */
  #pay(chunk: Buffer, at: number): number {
    const length = Math.min(this.#left, chunk.length - at)
    // A copy: a short part must not keep the memory of the whole chunk.
    const part = Buffer.from(chunk.subarray(at, at + length))
    this.#unmask(part)
    this.#left -= length
    if (this.#opcode >= opcodes.close) this.#control.push(part)
    else {
      this.#message?.push(part)
      this.#messageBytes += length
    }
    if (this.#left === 0) this.#endFrame()
    return length
  }

  /** RFC 6455 section 5.3. */
  #unmask(part: Buffer): void {
    const start = maskStart(this.#header)
    const keyAt = (index: number): number => this.#header[start + ((this.#maskAt + index) % 4)] ?? 0
    const [a, b, c, d] = [keyAt(0), keyAt(1), keyAt(2), keyAt(3)] as const
    const whole = part.length - (part.length % 4)
    for (let at = 0; at < whole; at += 4) {
      part[at] = (part[at] as number) ^ a
      part[at + 1] = (part[at + 1] as number) ^ b
      part[at + 2] = (part[at + 2] as number) ^ c
      part[at + 3] = (part[at + 3] as number) ^ d
    }
    const rest = [a, b, c]
    for (let at = whole; at < part.length; at++) part[at] = (part[at] as number) ^ (rest[at - whole] as number)
    this.#maskAt = (this.#maskAt + part.length) % 4
  }

  #endFrame(): void {
    this.#isInPayload = false
    const message = this.#message
    if (this.#opcode >= opcodes.close) this.#endControl()
    else if (this.#isFinal && message) {
      this.#message = undefined
      this.#messageBytes = 0
      this.#reportPart()
      this.#listener.onMessage(message, this.#isText)
    }
  }

  #endControl(): void {
    const payload = Buffer.concat(this.#control)
    this.#control = []
    if (this.#opcode === opcodes.ping) this.#listener.onPing(payload)
    else if (this.#opcode === opcodes.pong) this.#listener.onPong()
    else if (payload.length === 1 || (payload.length > 1 && !isCloseCode(payload.readUInt16BE()))) this.#fail(1002)
    else if (payload.length > 2 && !isUtf8(payload.subarray(2))) this.#fail(1007)
    else this.#listener.onClose(payload.length > 1 ? payload.readUInt16BE() : undefined)
  }

  #fail(code: number): void {
    this.end()
    this.#listener.onError(code)
  }
}

const lengthCodeOf = (header: Buffer): number => (header[1] ?? 0) & 0x7f

const extendedBytes = (header: Buffer): number => ({ 126: 2, 127: 8 })[lengthCodeOf(header)] ?? 0

/** Length of the header, as far as the bytes that have arrived tell it. */
const headerLength = (header: Buffer, arrived: number): number =>
  arrived < 2 ? 2 : maskStart(header) + (((header[1] ?? 0) & 0x80) === 0 ? 0 : 4)

const maskStart = (header: Buffer): number => 2 + extendedBytes(header)

const payloadLength = (header: Buffer): number => {
  const code = lengthCodeOf(header)
  if (code < 126) return code
  return code === 126 ? header.readUInt16BE(2) : Number(header.readBigUInt64BE(2))
}

/** Whether a length has the shortest form, as it must (RFC 6455 section 5.2). */
const isShortest = (header: Buffer, length: number): boolean =>
  length >= ({ 126: 126, 127: 2 ** 16 }[lengthCodeOf(header)] ?? 0)

/** Codes that a close frame may have (RFC 6455 section 7.4). */
const isCloseCode = (code: number): boolean =>
  (code >= 1000 && code <= 1014 && ![1004, 1005, 1006].includes(code)) || (code >= 3000 && code <= 4999)

import type { Recorded } from './chat-assembly-chunks.ts'
import { irregularStreams } from './chat-assembly-irregular-streams.ts'
import { memberStreams } from './chat-assembly-member-streams.ts'
import { textStreams } from './chat-assembly-text-streams.ts'
import { toolStreams } from './chat-assembly-tool-streams.ts'

export const streams: Readonly<Record<string, Recorded>> = {
  ...textStreams,
  ...toolStreams,
  ...memberStreams,
  ...irregularStreams,
}

/** The event of a chunk. */
export const eventOf = (chunk: object | string): { readonly type: string; readonly data: string } => ({
  type: 'message',
  data: typeof chunk === 'string' ? chunk : JSON.stringify(chunk),
})

/** The bytes of a stream with `[DONE]`. */
export const bytesOf = (chunks: Recorded['chunks']): Uint8Array =>
  new TextEncoder().encode(
    [...chunks.map((chunk) => eventOf(chunk).data), '[DONE]'].map((data) => `data: ${data}\n\n`).join(''),
  )

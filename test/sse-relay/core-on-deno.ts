// deno.test.ts runs this file on Deno, without a test runner: it prints its results and throws on a failure.
import { decodeUtf8 } from '../../plugins/shared/text.ts'
import { readFrames } from '../../plugins/sse-relay/reader.ts'
import { relayFrames } from '../../plugins/sse-relay/relay.ts'
import { bodyOf, ControlledBody, collected } from './bodies.ts'
import { cuts, vectors } from './vectors.ts'

let relayed = 0
for (const { name, bytes } of vectors) {
  for (const pieces of cuts(bytes, 20)) {
    const readAll = await collected(relayFrames(readFrames(bodyOf(pieces))))
    if (readAll.length !== bytes.length || readAll.some((byte, at) => byte !== bytes[at])) throw new Error(name)
    relayed++
  }
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
for (const bytes of [
  [0xef, 0xbb, 0xbf, 0x61],
  [0xe2, 0x82],
  [0xed, 0xa0, 0x80],
  [0x61, 0xff, 0xc3, 0xa9],
]) {
  const text = Uint8Array.from(bytes)
  if (decodeUtf8(text) !== decoder.decode(text)) throw new Error(`${bytes} is decoded otherwise`)
}

let left = 0
for (let round = 0; round < 100; round++) {
  const body = new ControlledBody()
  const caller = new AbortController()
  const reader = relayFrames(readFrames(body.body), { signal: caller.signal, heartbeatMs: 1 }).getReader()
  body.send('data: 1\n\ndata: ')
  await reader.read()
  const pending = reader.read().catch(() => {})
  if (round % 2 === 0) caller.abort(new Error('gone'))
  if (round % 3 === 0) body.break(new Error('reset'))
  await reader.cancel().catch(() => {})
  await pending
  left++
}
// An unhandled rejection would end the process now.
await new Promise<void>((resolve) => setTimeout(resolve, 20))
console.log(JSON.stringify({ enough: relayed > 1000, left }))

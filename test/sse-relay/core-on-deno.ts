// Run by deno.test.ts, on Deno, where no test runner of ours is: prints what it found, throws where it found something wrong.
import { decodeUtf8 } from '../../plugins/shared/utf8.ts'
import { readFrames } from '../../plugins/sse-relay/reader.ts'
import { relayFrames } from '../../plugins/sse-relay/relay.ts'
import { bodyOf, collected, Hand } from './bodies.ts'
import { cuts, vectors } from './vectors.ts'

let relayed = 0
for (const { name, bytes } of vectors) {
  for (const pieces of cuts(bytes, 20)) {
    const heard = await collected(relayFrames(readFrames(bodyOf(pieces))))
    if (heard.length !== bytes.length || heard.some((byte, at) => byte !== bytes[at])) throw new Error(name)
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
  const hand = new Hand()
  const gone = new AbortController()
  const reader = relayFrames(readFrames(hand.body), { signal: gone.signal, heartbeatMs: 1 }).getReader()
  hand.say('data: 1\n\ndata: ')
  await reader.read()
  const pending = reader.read().catch(() => {})
  if (round % 2 === 0) gone.abort(new Error('gone'))
  if (round % 3 === 0) hand.break(new Error('reset'))
  await reader.cancel().catch(() => {})
  await pending
  left++
}
// A promise that nobody handles would end the process now.
await new Promise<void>((resolve) => setTimeout(resolve, 20))
console.log(JSON.stringify({ enough: relayed > 1000, left }))

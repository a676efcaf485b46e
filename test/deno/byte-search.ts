/** Prints each position at which bytes occur in others, as found from one position to the next. */
import { Buffer } from 'node:buffer'
import { indexOfBytes } from '../../plugins/shared/http/body/byte-search.ts'

const positions = (bytes: Buffer, wanted: Buffer): number[] => {
  const found: number[] = []
  for (let at = indexOfBytes(bytes, wanted); at !== -1; at = indexOfBytes(bytes, wanted, at + 1)) found.push(at)
  return found
}

const all = Buffer.from(Array.from({ length: 1_024 }, (_, nth) => (nth * 7) % 256))
console.log(
  JSON.stringify([
    positions(all, Buffer.from([0xf2, 0xf9, 0x00])),
    positions(all, Buffer.from([0x80])),
    positions(all.subarray(100, 900), Buffer.from([0, 7])),
    positions(Buffer.from('aaaa'), Buffer.from('aa')),
    positions(Buffer.from('\r\n--a\r\n--ab'), Buffer.from('\r\n--ab')),
    positions(Buffer.alloc(0), Buffer.from('a')),
  ]),
)

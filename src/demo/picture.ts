import { Buffer } from 'node:buffer'
import { crc32, deflateSync } from 'node:zlib'

/** Red, green and blue, each from 0 to 255. */
export type Colour = readonly [number, number, number]

/** The colour of a point. Both coordinates are from 0, left and top, to 1. */
export type Scene = (x: number, y: number) => Colour

const width = 420
const height = 280

/** Draws a scene as a PNG file (https://www.w3.org/TR/png-3/): 8 bits a colour, without filters. */
export const drawPng = (scene: Scene): Buffer => {
  const rows = Buffer.alloc(height * (1 + width * 3))
  let at = 0
  for (let row = 0; row < height; row++) {
    // Each row begins with the number of its filter: 0, none.
    at++
    for (let column = 0; column < width; column++) {
      for (const value of scene((column + 0.5) / width, (row + 0.5) / height)) rows[at++] = Math.round(value)
    }
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 2, 0, 0, 0], 8)
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', deflateSync(rows)), chunk('IEND')])
}

const chunk = (type: string, data: Buffer = Buffer.alloc(0)): Buffer => {
  const content = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const result = Buffer.alloc(content.length + 8)
  result.writeUInt32BE(data.length, 0)
  result.set(content, 4)
  result.writeUInt32BE(crc32(content), content.length + 4)
  return result
}

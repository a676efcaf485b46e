import type { Colour, Scene } from './picture.ts'

const mix = (from: Colour, to: Colour, part: number): Colour => {
  const at = Math.min(1, Math.max(0, part))
  return [0, 1, 2].map((index) => (from[index] ?? 0) * (1 - at) + (to[index] ?? 0) * at) as unknown as Colour
}

/** A number from 0 to 1 that looks random and is always the same for the same input. */
const noise = (seed: number): number => {
  const value = Math.sin(seed * 127.1) * 43_758.5453
  return value - Math.floor(value)
}

const isInDisc = (x: number, y: number, centreX: number, centreY: number, radius: number): boolean =>
  Math.hypot((x - centreX) * 1.5, y - centreY) < radius

const beach: Scene = (x, y) => {
  const shore = 0.74 + 0.025 * Math.sin(x * 7) + 0.01 * Math.sin(x * 23)
  if (y > shore) return mix([240, 219, 174], [214, 182, 128], (y - shore) * 4)
  if (y > shore - 0.012) return [250, 250, 246]
  if (y > 0.48) {
    const wave = Math.sin(x * 40 + y * 160) > 0.86 ? 0.35 : 0
    return mix(mix([38, 118, 158], [98, 190, 196], (y - 0.48) * 4), [255, 255, 255], wave)
  }
  if (isInDisc(x, y, 0.72, 0.25, 0.085)) return [255, 246, 214]
  return mix([118, 186, 226], [236, 228, 206], y * 2)
}

const mountains: Scene = (x, y) => {
  const ridges: readonly (readonly [number, number, number, Colour])[] = [
    [0.45, 0.11, 5, [149, 133, 168]],
    [0.58, 0.09, 8, [102, 91, 138]],
    [0.72, 0.07, 11, [62, 58, 103]],
    [0.86, 0.04, 17, [32, 33, 66]],
  ]
  const front = ridges.findLast(
    ([level, size, pace], index) =>
      y > level + size * Math.sin(x * pace + index * 2) * 0.6 + size * Math.abs(Math.sin(x * pace * 1.7 + index)) * 0.6,
  )
  if (front) return front[3]
  if (isInDisc(x, y, 0.3, 0.3, 0.06)) return [255, 236, 206]
  return mix([250, 176, 122], [255, 224, 178], y * 2)
}

const forest: Scene = (x, y) => {
  for (const [size, level, colour] of [
    [0.085, 0.98, [13, 48, 44]],
    [0.06, 0.8, [28, 78, 66]],
    [0.042, 0.66, [66, 118, 98]],
  ] as const) {
    const tree = Math.floor(x / size)
    const top = level - size * (3.2 + 2.4 * noise(tree + level * 100))
    const inside = Math.abs(x / size - tree - 0.5) < ((y - top) / (level - top)) * 0.62
    if ((y > top && inside) || y > level) return colour
  }
  return mix([205, 226, 214], [244, 240, 222], y * 1.6)
}

const city: Scene = (x, y) => {
  for (const [count, base, shade] of [
    [9, 0.35, 20],
    [15, 0.2, 34],
  ] as const) {
    const house = Math.floor(x * count)
    const top = 0.9 - base - 0.34 * noise(house + count)
    if (y < top) continue
    const column = Math.floor(x * count * 5)
    const row = Math.floor(y * 48)
    const isWindow = column % 5 !== 0 && row % 2 === 0 && noise(column * 31 + row * 7) > 0.62 && y < 0.96
    return isWindow ? [255, 209, 122] : [shade, shade + 4, shade + 26]
  }
  if (isInDisc(x, y, 0.8, 0.18, 0.05)) return [244, 241, 226]
  if (noise(Math.floor(x * 240) * 17 + Math.floor(y * 160)) > 0.997) return [210, 214, 240]
  return mix([14, 18, 46], [74, 60, 116], y * 1.3)
}

const dunes: Scene = (x, y) => {
  const front = 0.72 + 0.12 * Math.sin(x * 4 + 1)
  const back = 0.52 + 0.07 * Math.sin(x * 5.5 + 3)
  if (y > front) return mix([204, 120, 62], [150, 78, 44], (y - front) * 3 + 0.25 * Math.sin(x * 4 + 1 + y * 30))
  if (y > back) return mix([232, 164, 96], [196, 122, 68], (y - back) * 3)
  if (isInDisc(x, y, 0.5, 0.3, 0.1)) return [255, 240, 208]
  return mix([92, 158, 196], [246, 214, 172], y * 1.9)
}

/** Pictures for the demo, by name. They are drawn, so that no file is needed. */
export const scenes: Readonly<Record<string, Scene>> = {
  Beach: beach,
  Mountains: mountains,
  Forest: forest,
  City: city,
  Dunes: dunes,
}

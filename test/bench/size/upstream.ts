/**
 * An emulated upstream for `bench size`: `upstream.ts [GROUPS ASSETS]…`, a library of so many groups with so many
 * assets each for each user. Prints its addresses, and the ids.
 */
import { startEmulator } from '../../../src/emulator/index.ts'

const emulator = await startEmulator({ processingMs: 0, limits: {}, video: { queuedMs: 0, runningMs: 0 } })
const { library, rest, text, video } = emulator
const counts = process.argv.slice(2).map(Number)
const start = Date.UTC(2026, 0, 1)
const libraries: { readonly group: string; readonly assets: readonly string[] }[][] = []
for (let at = 0; at < counts.length; at += 2) {
  const [groups = 0, assets = 0] = counts.slice(at, at + 2)
  libraries.push(
    Array.from({ length: groups }, (_, nth) => {
      const { id } = library.addGroup({ name: `group ${nth} of ${groups}`, createTime: start + nth * 1_000 })
      // No two at the same time, as nobody creates so many at once.
      const add = (_: unknown, asset: number) =>
        library.addAsset({ groupId: id, createTime: start + (asset * groups + nth) * 1_000 }).id
      return { group: id, assets: Array.from({ length: assets }, add) }
    }),
  )
}
console.log(JSON.stringify({ rest, text, video, libraries }))

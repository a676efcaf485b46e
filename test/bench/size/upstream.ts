/**
 * An emulated upstream for `bench size`: `upstream.ts [GROUPS ASSETS]…`, a library of so many groups with so many
 * assets each for each user. Prints its addresses, and the ids.
 */
import { startEmulator } from '../../../src/emulator/index.ts'

const emulator = await startEmulator({ processingMs: 0, limits: {}, video: { queuedMs: 0, runningMs: 0 } })
const { library, rest, text, video } = emulator
const counts = process.argv.slice(2).map(Number)
const libraries: { readonly group: string; readonly assets: readonly string[] }[][] = []
for (let at = 0; at < counts.length; at += 2) {
  const [groups = 0, assets = 0] = counts.slice(at, at + 2)
  libraries.push(
    Array.from({ length: groups }, (_, nth) => {
      const { id } = library.addGroup({ name: `group ${nth} of ${groups}` })
      return { group: id, assets: Array.from({ length: assets }, () => library.addAsset({ groupId: id }).id) }
    }),
  )
}
console.log(JSON.stringify({ rest, text, video, libraries }))

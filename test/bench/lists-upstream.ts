/** An emulated upstream with `GROUPS` groups and `ASSETS` assets, for `bench lists`. Prints its URL and the ids of the groups. */
import { startEmulator } from '../../src/emulator/index.ts'

const [, , groupCount = '1', assetCount = '1000'] = process.argv
const emulator = await startEmulator()
const { library } = emulator
const start = Date.UTC(2026, 0, 1)
const groups = Array.from(
  { length: Number(groupCount) },
  (_, nth) => library.addGroup({ name: `group ${nth}`, type: 'AIGC' }).id,
)
for (let nth = 0; nth < Number(assetCount); nth++) {
  const createTime = start + nth * 1_000
  const groupId = groups[nth % groups.length] ?? ''
  library.addAsset({ groupId, name: `asset ${nth}`, status: 'Active', createTime, updateTime: createTime })
}
console.log(JSON.stringify({ ...emulator.rest, groups }))

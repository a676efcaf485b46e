import { expect, test } from 'bun:test'
import { addRow, dice, pick, randomWorld } from './fixture.ts'

const worlds = Number(process.env.SLUICE_WORLDS ?? 200)

test(`a walk by token through ${worlds} random lists meets everything that is there throughout exactly once, whatever comes and goes`, async () => {
  for (let seed = 1; seed <= worlds; seed++) {
    const roll = dice(seed * 7919)
    const world = randomWorld(roll, 1_200)
    const throughout = new Set(world.rows.keys())
    const restless = roll()
    world.onCall = () => {
      if (roll() > restless * 0.3) return
      if (roll() < 0.5) addRow(world, roll)
      else {
        const id = pick(roll, [...world.rows.keys()])
        if (id === undefined) return
        world.remove(id)
        throughout.delete(id)
      }
    }
    const sortOrder = roll() < 0.5 ? 'Asc' : 'Desc'
    const met: string[] = []
    let nextToken: string | undefined
    do {
      const pageSize = pick(roll, [7, 20, 50, 100]) ?? 10
      const page = await world.page({ sortOrder, pageSize, nextToken })
      met.push(...page.items.map((row) => row.id))
      nextToken = page.nextToken || undefined
    } while (nextToken !== undefined)
    expect({ seed, twice: met.length - new Set(met).size }).toEqual({ seed, twice: 0 })
    expect({ seed, missed: [...throughout].filter((id) => !met.includes(id)) }).toEqual({ seed, missed: [] })
  }
}, 300_000)

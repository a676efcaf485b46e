import { expect } from 'bun:test'
import { addRow, pick, randomFixture, seededRandom } from './fixture.ts'

/** Walks through the random lists with these seeds while rows are added and removed. */
export const checkWalks = async (from: number, to: number): Promise<void> => {
  for (let seed = from; seed <= to; seed++) {
    const random = seededRandom(seed * 7919)
    const fixture = randomFixture(random, 1_200)
    const permanent = new Set(fixture.rows.keys())
    const changeRate = random()
    fixture.onCall = () => {
      if (random() > changeRate * 0.3) return
      if (random() < 0.5) addRow(fixture, random)
      else {
        const id = pick(random, [...fixture.rows.keys()])
        if (id === undefined) return
        fixture.remove(id)
        permanent.delete(id)
      }
    }
    const sortOrder = random() < 0.5 ? 'Asc' : 'Desc'
    const visited: string[] = []
    let nextToken: string | undefined
    do {
      const pageSize = pick(random, [7, 20, 50, 100]) ?? 10
      const page = await fixture.page({ sortOrder, pageSize, nextToken })
      visited.push(...page.items.map((row) => row.id))
      nextToken = page.nextToken || undefined
    } while (nextToken !== undefined)
    expect({ seed, twice: visited.length - new Set(visited).size }).toEqual({ seed, twice: 0 })
    expect({ seed, missed: [...permanent].filter((id) => !visited.includes(id)) }).toEqual({ seed, missed: [] })
  }
}

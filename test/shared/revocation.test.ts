import { describe, expect, test } from 'bun:test'
import { createToken, Freshness, hashToken, identifyByToken } from '../../plugins/api-token/index.ts'
import { RevocationWatch } from '../../plugins/shared/revocation.ts'
import { settled, VirtualClock } from '../support/virtual-clock.ts'

describe('who waits for the end of a credential', () => {
  const scene = () => {
    const clock = new VirtualClock()
    const held = new Set(['a', 'b'])
    const asked: string[] = []
    let down = false
    const watch = new RevocationWatch({
      clock,
      holds: async (key) => {
        asked.push(key)
        if (down) throw new Error('down')
        return held.has(key)
      },
    })
    const ended: string[] = []
    const add = (key: string, name = key) => watch.add(key, () => ended.push(name))
    const fail = (fails: boolean) => {
      down = fails
    }
    return { clock, held, asked, ended, add, fail }
  }

  test('is told, once, with all others of that credential and nobody else', async () => {
    const { clock, held, ended, add } = scene()
    for (const [key, name] of [
      ['a', 'a1'],
      ['a', 'a2'],
      ['b', 'b1'],
    ] as const)
      add(key, name)
    await clock.pass(1_000)
    expect(ended).toEqual([])
    held.delete('a')
    await clock.pass(1_000)
    expect(ended).toEqual(['a1', 'a2'])
  })

  test('is not told who has called it off', async () => {
    const { clock, held, ended, add } = scene()
    const callOff = add('a', 'first')
    add('a', 'second')
    callOff()
    callOff()
    held.clear()
    await clock.pass(1_000)
    expect(ended).toEqual(['second'])
  })

  test('goes on while nobody can be asked', async () => {
    const { clock, held, ended, add, fail } = scene()
    add('a')
    held.clear()
    fail(true)
    await clock.pass(5_000)
    expect(ended).toEqual([])
    fail(false)
    await clock.pass(1_000)
    expect(ended).toEqual(['a'])
  })

  test('costs nothing when there is nobody', async () => {
    const { clock, asked, add } = scene()
    for (let again = 0; again < 3; again++) {
      const callOff = add('a')
      await clock.pass(1_000)
      callOff()
      await clock.pass(1_000)
      asked.length = 0
      await clock.pass(60_000)
      expect([asked, clock.pending]).toEqual([[], 0])
    }
  })
})

describe('the streams of a token', () => {
  const scene = () => {
    const clock = new VirtualClock()
    let revision = 1
    const counts = { revision: 0, ownerOf: [] as string[] }
    const owners = new Map<string, { user: string; token: string; expiresAt?: number }>()
    const changes: { at: number; kind: string; key: string }[] = []
    const store = {
      async ownerOf(hash: string) {
        counts.ownerOf.push(hash)
        return owners.get(hash)
      },
      async revision(since = 0) {
        counts.revision++
        return { value: revision, changes: changes.filter(({ at }) => at > since) }
      },
    }
    const freshness = new Freshness((since) => store.revision(since), { now: clock.now })
    const identify = identifyByToken({ store, freshness, now: clock.now, clock })
    return {
      clock,
      counts,
      issue(expiresAt?: number) {
        const token = createToken()
        owners.set(hashToken(token), { user: 'ann', token, expiresAt })
        return token
      },
      revoke(token: string) {
        owners.delete(hashToken(token))
        changes.push({ at: ++revision, kind: 'token', key: hashToken(token) })
      },
      identify: async (token: string) =>
        identify(new Request('http://localhost/', { headers: { authorization: `Bearer ${token}` } })),
    }
  }

  test('end within a second of its revocation, whenever that is, and whoever else asks meanwhile', async () => {
    for (let after = 0; after < 1_300; after += 97) {
      for (const others of [0, 70, 449]) {
        const { clock, issue, revoke, identify } = scene()
        const [token, other] = [issue(), issue()]
        let ended = false
        ;(await identify(token))?.whenRevoked?.(() => {
          ended = true
        })
        const pass = async (ms: number) => {
          for (let left = ms; left > 0; left -= others || ms) {
            await clock.pass(Math.min(left, others || ms))
            if (others) await identify(other)
          }
        }
        await pass(after)
        expect(ended).toBe(false)
        revoke(token)
        await pass(1_000)
        await settled()
        expect([after, others, ended]).toEqual([after, others, true])
      }
    }
  })

  test('cost two questions a second for all of them, and one for what has changed', async () => {
    const { clock, counts, issue, revoke, identify } = scene()
    const made = Array.from({ length: 500 }, () => issue())
    const ended: string[] = []
    for (const token of made) (await identify(token))?.whenRevoked?.(() => ended.push(token))
    counts.revision = 0
    counts.ownerOf.length = 0
    await clock.pass(10_000)
    expect(counts.revision).toBeLessThanOrEqual(20)
    expect(counts.ownerOf).toEqual([])
    revoke(made[7] ?? '')
    await clock.pass(1_000)
    expect(ended).toEqual([made[7] ?? ''])
    expect(counts.ownerOf).toEqual([hashToken(made[7] ?? '')])
  })

  test('end with it', async () => {
    const { clock, issue, identify } = scene()
    const token = issue(clock.now() + 5_000)
    let ended = false
    ;(await identify(token))?.whenRevoked?.(() => {
      ended = true
    })
    await clock.pass(4_900)
    expect(ended).toBe(false)
    await clock.pass(1_000)
    expect(ended).toBe(true)
  })
})

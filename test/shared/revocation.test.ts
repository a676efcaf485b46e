import { describe, expect, test } from 'bun:test'
import { createToken, hashToken, identifyByToken, RevisionClock } from '../../plugins/api-token/index.ts'
import { RevocationWatch } from '../../plugins/shared/identity/revocation.ts'
import { settled, VirtualClock } from '../support/virtual-clock.ts'

describe('a listener for the end of a credential', () => {
  const openFixture = () => {
    const clock = new VirtualClock()
    const held = new Set(['a', 'b'])
    const checks: string[] = []
    let down = false
    let fails = (_: string) => false
    const watch = new RevocationWatch({
      clock,
      holds: async (key) => {
        checks.push(key)
        if (down || fails(key)) throw new Error('down')
        return held.has(key)
      },
    })
    const ended: string[] = []
    const add = (key: string, name = key) => watch.add(key, () => ended.push(name))
    const fail = (fails: boolean) => {
      down = fails
    }
    const failFor = (keys: typeof fails) => {
      fails = keys
    }
    return { clock, held, checks, ended, add, fail, failFor }
  }

  test('is called once, with all listeners of this credential only', async () => {
    const { clock, held, ended, add } = openFixture()
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

  test('is not called after its removal', async () => {
    const { clock, held, ended, add } = openFixture()
    const callOff = add('a', 'first')
    add('a', 'second')
    callOff()
    callOff()
    held.clear()
    await clock.pass(1_000)
    expect(ended).toEqual(['second'])
  })

  test('is not called while the check fails', async () => {
    const { clock, held, ended, add, fail } = openFixture()
    add('a')
    held.clear()
    fail(true)
    await clock.pass(5_000)
    expect(ended).toEqual([])
    fail(false)
    await clock.pass(1_000)
    expect(ended).toEqual(['a'])
  })

  test('is called while the checks of others fail, however many these are', async () => {
    const { clock, held, ended, add, failFor } = openFixture()
    for (let count = 0; count < 100; count++) add(`failing ${count}`)
    failFor((key) => key.startsWith('failing'))
    add('a')
    held.clear()
    await clock.pass(2_000)
    expect(ended).toEqual(['a'])
  })

  test('no timer runs without listeners', async () => {
    const { clock, checks, add } = openFixture()
    for (let again = 0; again < 3; again++) {
      const callOff = add('a')
      await clock.pass(1_000)
      callOff()
      await clock.pass(1_000)
      checks.length = 0
      await clock.pass(60_000)
      expect([checks, clock.pending]).toEqual([[], 0])
    }
  })
})

describe('the streams of a token', () => {
  const openFixture = () => {
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
    const revisionClock = new RevisionClock((since) => store.revision(since), { clock })
    const identify = identifyByToken({ store, revisionClock, clock })
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

  test('end within a second of its revocation, with any timing of other requests', async () => {
    for (let after = 0; after < 1_300; after += 97) {
      for (const others of [0, 70, 449]) {
        const { clock, issue, revoke, identify } = openFixture()
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

  test('cause two revision checks per second in total, and one lookup per change', async () => {
    const { clock, counts, issue, revoke, identify } = openFixture()
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

  test('end when it expires', async () => {
    const { clock, issue, identify } = openFixture()
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

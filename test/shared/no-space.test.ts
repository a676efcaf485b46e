import { describe, expect, test } from 'bun:test'
import { hasNoSpace, SpaceCheck } from '../../plugins/shared/no-space.ts'
import { Problem } from '../../plugins/shared/problem.ts'
import { TextProblem } from '../../plugins/text-generation/protocol/problem.ts'

const full = () => Object.assign(new Error('no space left on device, write /data/secret-path'), { code: 'ENOSPC' })

describe('a Problem 500', () => {
  test('is a 503 with Retry-After if its cause, however deep, is that there is no room', async () => {
    for (const cause of [full(), new Error('outer', { cause: new Error('middle', { cause: full() }) })]) {
      const response = new Problem(500, 'the file could not be stored', { cause }).toResponse()
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '30'])
      expect(await response.json()).toMatchObject({ error: { message: 'the file could not be stored' } })
    }
    expect(new TextProblem(500, 'not stored', { cause: full() }).status).toBe(503)
  })

  test('is a 503 with a short Retry-After if a resource is in use', () => {
    const cause = Object.assign(new Error('too many connections for role "secret"'), { code: 'EAGAIN' })
    const { status, headers } = new Problem(500, 'failed', { cause: new Error('outer', { cause }) })
    expect([status, headers['retry-after']]).toEqual([503, '2'])
    expect(hasNoSpace(cause)).toBe(false)
  })

  test('stays a 500 for every other cause, and other statuses stay as they are', () => {
    const other = Object.assign(new Error('broken'), { code: 'EIO' })
    expect(new Problem(500, 'failed', { cause: other }).status).toBe(500)
    expect(new Problem(500, 'failed').status).toBe(500)
    expect(new Problem(502, 'failed', { cause: full() }).status).toBe(502)
  })
})

describe('a check for room', () => {
  const open = (everyMs?: number) => {
    const state = { now: 0, writes: 0, failure: undefined as Error | undefined }
    const write = async () => {
      state.writes++
      if (state.failure) throw state.failure
    }
    return { state, space: new SpaceCheck(write, { clock: { now: () => state.now }, everyMs }) }
  }

  test('finds a full disk by itself, and writes at most every ten seconds, however often it is called', async () => {
    const { state, space } = open()
    for (let call = 0; call < 100; call++) await space.check()
    state.failure = full()
    state.now += 9_999
    await space.check()
    expect(state.writes).toBe(1)
    state.now++
    await expect(space.check()).rejects.toThrow('no space left')
    expect(state.writes).toBe(2)
  })

  test('rejects for ten seconds after the last error of another write, also if its own writes succeed', async () => {
    const { state, space } = open()
    space.note(full())
    state.now += 9_000
    await expect(space.check()).rejects.toThrow('no space left')
    space.note(full())
    state.now += 9_999
    await expect(space.check()).rejects.toThrow('no space left')
    state.now++
    await space.check()
  })

  test('rejects from the first error of another write on, until a write succeeds, and writes at most once a second', async () => {
    const { state, space } = open()
    await space.check()
    state.failure = full()
    space.note(full())
    const checks = await Promise.allSettled(Array.from({ length: 100 }, () => space.check()))
    expect(checks.every(({ status }) => status === 'rejected')).toBe(true)
    state.now += 10_000
    await expect(space.check()).rejects.toThrow('no space left')
    state.failure = undefined
    state.now += 999
    await expect(space.check()).rejects.toThrow('no space left')
    expect(state.writes).toBe(3)
    state.now++
    await space.check()
    await space.check()
    expect(state.writes).toBe(4)
  })

  test('takes no other error for a full disk: of another write, or of its own', async () => {
    const { state, space } = open()
    state.failure = new Error('locked')
    space.note(state.failure)
    await space.check()
    space.note(full())
    await expect(space.check()).rejects.toThrow('locked')
  })

  test('writes only after an error if its writes cost something', async () => {
    const { state, space } = open(Number.POSITIVE_INFINITY)
    await space.check()
    expect(state.writes).toBe(0)
    state.failure = full()
    space.note(full())
    await expect(space.check()).rejects.toThrow('no space left')
    state.failure = undefined
    state.now += 10_000
    await space.check()
    state.now += 100_000
    await space.check()
    expect(state.writes).toBe(2)
  })
})

import { describe, expect, test } from 'bun:test'
import { SpaceCheck } from '../../plugins/shared/no-space.ts'
import { Problem } from '../../plugins/shared/problem.ts'
import { TextProblem } from '../../plugins/text-generation/problem.ts'

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

  test('stays a 500 for every other cause, and other statuses stay as they are', () => {
    const other = Object.assign(new Error('broken'), { code: 'EIO' })
    expect(new Problem(500, 'failed', { cause: other }).status).toBe(500)
    expect(new Problem(500, 'failed').status).toBe(500)
    expect(new Problem(502, 'failed', { cause: full() }).status).toBe(502)
  })
})

describe('a check for room', () => {
  const open = () => {
    const state = { now: 0, writes: 0, hasRoom: false }
    const write = async () => {
      state.writes++
      if (!state.hasRoom) throw full()
    }
    return { state, space: new SpaceCheck(write, { now: () => state.now }) }
  }

  test('writes nothing before a write has failed for want of room', async () => {
    const { state, space } = open()
    space.note(new Error('broken'))
    await space.check()
    expect(state.writes).toBe(0)
  })

  test('rejects until a write succeeds, and writes at most once a second, however often it is called', async () => {
    const { state, space } = open()
    space.note(full())
    const checks = await Promise.allSettled(Array.from({ length: 100 }, () => space.check()))
    expect(checks.every(({ status }) => status === 'rejected')).toBe(true)
    state.hasRoom = true
    expect(space.check()).rejects.toThrow('no space left')
    expect(state.writes).toBe(1)
    state.now += 1_000
    await space.check()
    await space.check()
    expect(state.writes).toBe(2)
  })
})

import { expect, test } from 'bun:test'
import { startDeno } from './fixture.ts'

test('on Deno, long work in turns of the event loop lets a request through within a few of them', async () => {
  const { status, output } = await startDeno(['--allow-net=127.0.0.1', 'test/deno/turns.ts']).ended()
  expect(status).toBe(0)
  expect(Number(/^(\d+) turns$/m.exec(output)?.[1])).toBeWithin(1, 10)
})

import { expect, test } from 'bun:test'
import { runCommand } from '../support/admin-command.ts'
import { openVideoFixture, until } from './fixture.ts'

const metricsToken = 'metrics-token'

test('the metrics have the waiting and running tasks of each pool, and the ended ones by status', async () => {
  await using fixture = await openVideoFixture({ gateway: { slots: { '*': { running: 1 } } }, more: { metricsToken } })
  const { ann, gateway, emulator } = fixture
  const first = await ann.created('one', { model: 'doubao-seedance-2-0-260128' })
  await ann.created('two')
  await ann.created('three')
  const metrics = async () => {
    const headers = { authorization: `Bearer ${metricsToken}` }
    return (await fetch(`${gateway.url}/metrics`, { headers })).text()
  }
  const pool = 'pool="doubao-seedance-2-0-260128"'
  await until(async () => (await metrics()).includes(`sluice_video_tasks{${pool},phase="waiting"} 2`))
  expect(await metrics()).toContain(`sluice_video_tasks{${pool},phase="running"} 1`)
  expect(await metrics()).toMatch(new RegExp(`^sluice_video_queue_age_seconds\\{${pool}\\} [0-9.]+$`, 'm'))
  emulator.video.finish(emulator.video.tasks()[0]?.id ?? '')
  await until(async () => (await ann.statusOf(first)) === 'succeeded')
  expect(await metrics()).toContain('sluice_video_tasks_total{status="succeeded"} 1')
}, 300_000)

test('admin video list shows the tasks of all users or of one, also by status', async () => {
  await using fixture = await openVideoFixture()
  const { ann, bob, emulator, store } = fixture
  const failed = await ann.created()
  await bob.created()
  emulator.video.finish(emulator.video.tasks()[0]?.id ?? '', { status: 'failed', code: 'Some.Code', message: 'x' })
  await until(async () => (await ann.statusOf(failed)) === 'failed')
  const run = async (...words: string[]) => {
    const { status, out } = await runCommand(store, ['video', 'list', ...words], { clock: { now: Date.now } })
    return { status, lines: out }
  }
  expect((await run()).lines).toHaveLength(2)
  const { status, lines } = await run('--status', 'failed')
  expect([status, lines]).toEqual([0, [expect.stringContaining(failed)]])
  for (const part of ['failed', 'ended', emulator.video.tasks()[0]?.id ?? '-', 'Some.Code'])
    expect(lines[0]).toContain(part)
  expect((await run('--status', 'done')).status).toBe(2)
  expect((await run('--user', 'nobody')).status).toBe(1)
})

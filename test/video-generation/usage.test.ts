import { expect, test } from 'bun:test'
import type { UsageReport } from '../../plugins/account/openapi.ts'
import { listUsage } from '../../plugins/account/usage.ts'
import { runCommand } from '../support/admin-command.ts'
import { repeatedDatabases } from '../support/database.ts'
import { MODEL, openVideoFixture } from './fixture.ts'

for (const database of repeatedDatabases) {
  test(`usage has the seconds of all videos of a model, their tokens and their cost, on ${database}`, async () => {
    // A second costs 0.25.
    const costOf = (_task: unknown, { seconds = 0 }: { seconds?: number }) => seconds * 250_000_000
    await using fixture = await openVideoFixture({ database, gateway: { costOf } })
    const { ann, bob, emulator, store } = fixture
    for (const duration of [4, 5]) {
      const id = await ann.created('a cat', { duration, resolution: '480p' })
      for (const task of emulator.video.tasks()) if (task.status === 'running') emulator.video.finish(task.id)
      while ((await ann.statusOf(id)) !== 'succeeded') await Bun.sleep(5)
    }
    const failed = await bob.created('a dog')
    for (const task of emulator.video.tasks()) {
      if (task.status === 'running') emulator.video.finish(task.id, { status: 'failed', code: 'x', message: 'y' })
    }
    while ((await bob.statusOf(failed)) !== 'failed') await Bun.sleep(5)

    const request = new Request('http://x/api/usage')
    const response = await listUsage(store, () => ({ user: ann.id }))(request)
    const { usage } = (await response.json()) as UsageReport
    expect(usage).toEqual([
      expect.objectContaining({ model: MODEL, calls: 2, unreported: 0, cost: 2.25, video_seconds: 9 }),
    ])
    const output_tokens = usage[0]?.output_tokens ?? 0
    expect(output_tokens).toBeGreaterThan(0)

    const printed = async (...flags: string[]) => {
      const { out } = await runCommand(store, ['usage', ...flags], { clock: { now: Date.now } })
      return out.filter((line) => line.includes(ann.id) || line.includes(MODEL) || line.startsWith('day'))
    }
    expect((await printed()).join()).toEndWith(`output ${output_tokens}\treasoning 0\tcost 2.25\tvideo seconds 9`)
    expect((await printed('--json')).map((line) => JSON.parse(line))).toMatchObject([
      { output_tokens, video_seconds: 9 },
    ])
    const [header, row] = (await printed('--csv')).map((line) => line.split(','))
    expect([header?.at(-1), row?.at(-1)]).toEqual(['video_seconds', '9'])
  })
}

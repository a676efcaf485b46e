import { expect, test } from 'bun:test'
import { openDatabase } from '../../src/store/database/kinds.ts'
import type { Statement } from '../../src/store/database/statement.ts'
import { createSqlVideoQueue } from '../../src/store/video-queue.ts'
import { eachDatabase } from '../support/database.ts'

eachDatabase('a page of video tasks', (database) => {
  test('takes two statements, however many tasks it has', async () => {
    const opened = openDatabase(database.url, { deadlineMs: 60_000 })
    const counted: Statement[] = []
    const tasks = createSqlVideoQueue({
      ...opened,
      batch(statements) {
        counted.push(...statements)
        return opened.batch(statements)
      },
    })
    for (let index = 0; index < 20; index++) {
      const fields = { model: 'm', serviceTier: 'default', fields: '{"n":1}', request: '{}' } as const
      const times = { createdAt: 1, expiresAt: 2 }
      await tasks.addVideoTask({ id: `cgt-${index + 10}`, user: 'ann', ...fields, ...times }, undefined, 3)
    }
    counted.length = 0
    const page = await tasks.videoTasks('ann', {}, { offset: 2, limit: 15 })
    expect(page.tasks.map(({ id }) => id)).toEqual(Array.from({ length: 15 }, (_, index) => `cgt-${27 - index}`))
    expect(page).toMatchObject({ total: 20 })
    expect(page.tasks[0]).toMatchObject({ user: 'ann', fields: '{"n":1}', phase: 'submitting' })
    expect(counted).toHaveLength(2)
    await opened.close()
  })
})

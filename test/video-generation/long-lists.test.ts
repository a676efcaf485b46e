import { expect, test } from 'bun:test'
import { turns } from '../../plugins/shared/background/turns.ts'
import { toJson } from '../../plugins/shared/json/json.ts'
import { composeList } from '../../plugins/video-generation/tasks/task-list.ts'
import type { VideoTaskView } from '../../plugins/video-generation/tasks/tasks.ts'

const views = (count: number): readonly VideoTaskView[] =>
  Array.from({ length: count }, (_, index) => ({ body: toJson({ id: `cgt-${index}` }) }) as VideoTaskView)

test('a long list of tasks is composed in many turns of the event loop, a short one in none', async () => {
  const before = turns.count
  expect(JSON.parse(await composeList(views(500), 700))).toEqual({
    items: Array.from({ length: 500 }, (_, index) => ({ id: `cgt-${index}` })),
    total: 700,
  })
  expect(turns.count - before).toBe(15)
  await composeList(views(32), 700)
  expect(turns.count - before).toBe(15)
})

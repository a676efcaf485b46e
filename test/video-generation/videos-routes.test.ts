import { expect, test } from 'bun:test'
import { systemClock } from '../../plugins/shared/clock.ts'
import type { CreateVideoOptions, TaskAttempt, VideoTasks } from '../../plugins/video-generation/tasks/tasks.ts'
import { createVideos } from '../../plugins/video-generation/videos/routes.ts'
import { formRequest, png } from './videos-fixture.ts'

test('a task has the id of its attempt, and a repetition is known by its fields and files', async () => {
  const attempt: TaskAttempt = { id: 'attempt-1', startedAt: 1, leaseUntil: 2 }
  const given: CreateVideoOptions[] = []
  const bodies: string[] = []
  const tasks = {
    async create(_caller: unknown, _body: unknown, _request: unknown, options: CreateVideoOptions) {
      given.push(options)
      throw new Error('enough')
    },
  } as unknown as VideoTasks
  const videos = createVideos({
    service: {
      tasks,
      async once({ body }, create, respond) {
        bodies.push(new TextDecoder().decode(body))
        return respond(await create(attempt))
      },
    },
    ...{ aliases: {}, maxBodyBytes: 2 ** 20, openCopy: undefined, fetch, clock: systemClock, silenceMs: 1_000 },
  })
  const create = (prompt: string) => {
    const input_reference = new File([png], 'a.png')
    const request = formRequest({ prompt, model: 'm', input_reference })
    return videos.create({ request, caller: { user: 'ann' }, id: '' }).catch(() => {})
  }
  for (const prompt of ['a', 'a', 'b']) await create(prompt)
  expect(given.map((options) => options.attempt)).toEqual([attempt, attempt, attempt])
  expect(given[0]?.notes).toEqual({ prompt: 'a', model: 'm', seconds: '4', size: '720x1280' })
  expect(bodies[0]).toBe(bodies[1] as string)
  expect(bodies[0]).not.toBe(bodies[2])
  expect(bodies[0]).toContain(Buffer.from(png).toString('base64'))
})

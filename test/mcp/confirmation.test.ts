import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { VirtualClock } from '../support/virtual-clock.ts'
import { MODEL } from '../video-generation/fixture.ts'
import { eras, type McpFixture, openMcpFixture } from './fixture.ts'

/** A token costs 0.0001, so that this video costs 4.0176. */
const video = { model: MODEL, prompt: 'she waves', duration: 4, resolution: '480p', ratio: '16:9' }
const cost = 4.0176

describe('a video above the amount', () => {
  let fixture: McpFixture
  let price = 100_000
  beforeAll(async () => {
    fixture = await openMcpFixture({
      gateway: {
        costOf: (_task: object, { completionTokens = 0 }: { completionTokens?: number }) =>
          price === 0 ? undefined : completionTokens * price,
      },
      more: { mcp: { confirmAbove: 4 } },
    })
  })
  afterAll(() => fixture[Symbol.asyncDispose]())
  const created = () => fixture.emulator.video.tasks().length

  for (const era of eras) {
    test(`is created once, after the client has said its price: ${era}`, async () => {
      await using ann = await fixture.connect(fixture.ann, { era })
      const before = created()
      const asked = await ann.call('create_video', video)
      const { confirm } = asked
      expect(asked).toMatchObject({ isError: false, price: { cost } })
      expect(asked.confirmation_needed).toBe(`Create a video with ${MODEL}? It costs ${cost}: 4 seconds, 40176 tokens.`)
      expect(created()).toBe(before)
      const first = await ann.call('create_video', { ...video, confirm })
      expect([first.isError, first.cost]).toEqual([false, cost])
      const again = await ann.call('create_video', { ...video, confirm })
      expect(again.video_id).toBe(first.video_id)
      expect(created()).toBe(before + 1)
    })

    test(`needs a confirmation of its own, of its user, and unchanged: ${era}`, async () => {
      await using ann = await fixture.connect(fixture.ann, { era })
      await using bob = await fixture.connect(fixture.bob, { era })
      const before = created()
      const { confirm } = await ann.call('create_video', video)
      for (const [client, input] of [
        [ann, { ...video, duration: 5, confirm }],
        [ann, { ...video, prompt: 'he waves', confirm }],
        [bob, { ...video, confirm }],
        [ann, { ...video, confirm: `${confirm.slice(0, -2)}AA` }],
        [ann, { ...video, confirm: 'yes' }],
      ] as const)
        expect((await client.call('create_video', input)).confirmation_needed).toStartWith('Create a video with')
      expect(created()).toBe(before)
    })
  }

  test('is created after the person has agreed in a dialog of the client', async () => {
    const questions: string[] = []
    const answer = (message: string) => {
      questions.push(message)
      return { action: 'accept', content: { confirm: true } }
    }
    await using ann = await fixture.connect(fixture.ann, { answer })
    const before = created()
    expect(await ann.call('create_video', video)).toMatchObject({ isError: false, video_id: expect.any(String), cost })
    expect(questions).toEqual([`Create a video with ${MODEL}? It costs ${cost}: 4 seconds, 40176 tokens.`])
    expect(created()).toBe(before + 1)
  })

  for (const [how, reply] of [
    ['declines', { action: 'decline' }],
    ['does not tick the box', { action: 'accept', content: { confirm: false } }],
  ] as const) {
    test(`is not created when the person ${how}`, async () => {
      await using ann = await fixture.connect(fixture.ann, { answer: () => reply })
      const before = created()
      expect(await ann.call('create_video', video)).toEqual({
        isError: true,
        error: { message: 'the person has declined' },
      })
      expect(created()).toBe(before)
    })
  }

  test('is created after a confirmation in words, when nobody has answered the dialog', async () => {
    let dialogs = 0
    const answer = () => {
      dialogs++
      return { action: 'cancel' }
    }
    await using ann = await fixture.connect(fixture.ann, { answer })
    const before = created()
    const { confirm, isError } = await ann.call('create_video', video)
    expect([isError, dialogs, created()]).toEqual([false, 1, before])
    expect((await ann.call('create_video', { ...video, confirm })).video_id).toBeString()
    expect([dialogs, created()]).toEqual([1, before + 1])
  })

  test('is asked about again when its price has risen meanwhile, or is not known any more', async () => {
    await using ann = await fixture.connect(fixture.ann)
    const before = created()
    try {
      const { confirm } = await ann.call('create_video', video)
      price = 200_000
      expect((await ann.call('create_video', { ...video, confirm })).price.cost).toBe(2 * cost)
      price = 0
      const unknown = await ann.call('create_video', { ...video, confirm })
      expect(unknown).toMatchObject({ price: { cost: null } })
      expect(unknown.confirmation_needed).toContain('The price is not known: 4 seconds')
      expect(created()).toBe(before)
      const confirmed = await ann.call('create_video', { ...video, confirm: unknown.confirm })
      expect(confirmed).toMatchObject({ isError: false, cost: null })
    } finally {
      price = 100_000
    }
  })

  test('a cheaper one needs none', async () => {
    await using ann = await fixture.connect(fixture.ann)
    price = 1_000
    try {
      expect(await ann.call('create_video', video)).toMatchObject({ isError: false, video_id: expect.any(String) })
    } finally {
      price = 100_000
    }
  })
})

test('a confirmation expires', async () => {
  const clock = new VirtualClock()
  await using fixture = await openMcpFixture({ more: { mcp: { confirmAbove: 0, confirmationTtlMs: 60_000, clock } } })
  await using ann = await fixture.connect(fixture.ann)
  const { confirm } = await ann.call('create_video', video)
  await clock.pass(59_999)
  expect((await ann.call('create_video', { ...video, confirm })).video_id).toBeString()
  await clock.pass(1)
  expect((await ann.call('create_video', { ...video, confirm })).confirmation_needed).toBeString()
})

test('without an amount, no video needs one, and a key of the caller makes a repetition create nothing', async () => {
  await using fixture = await openMcpFixture({ more: { mcp: { confirmAbove: null } } })
  await using ann = await fixture.connect(fixture.ann)
  const first = await ann.call('create_video', { ...video, idempotency_key: 'mine' })
  const again = await ann.call('create_video', { ...video, idempotency_key: 'mine' })
  expect([again.video_id, fixture.emulator.video.tasks().length]).toEqual([first.video_id, 1])
  const other = await ann.call('create_video', { ...video, prompt: 'other', idempotency_key: 'mine' })
  expect(other).toMatchObject({ isError: true, error: { status: 409 } })
})

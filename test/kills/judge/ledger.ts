import type { Emulator } from '../../../src/emulator/index.ts'
import { MODEL } from '../../emulator/video-client.ts'
import type { Person } from '../person.ts'
import { type KillWorld, models } from '../world.ts'
import type { Tables } from './tables.ts'

/** A limit as its user sees it. */
interface LimitEntry {
  readonly subject: { readonly type: string }
  readonly unit: string
  readonly model: string | null
  readonly used: number
  readonly reserved: number
}

/** A killed process loses the usage of the calls that have just ended. On a busy machine, it is written after seconds. */
const windowMs = 5_000
/** What a call of the load may use beyond what was reserved for it. */
const maxExcess = 40

/** Calls of a person that had just ended, or had not, when their process was killed. */
const cutOff = ({ history }: KillWorld, user: string): number =>
  history.texts.filter(
    (text) =>
      text.user === user &&
      history.kills.some(({ slot, at }) => slot === text.slot && text.sentAt <= at && text.answeredAt >= at - windowMs),
  ).length

/** What the upstream has generated, by user and model. */
const generatedBy = async ({
  emulator,
  people,
}: KillWorld): Promise<Map<string, { calls: number; tokens: number }>> => {
  const sums = new Map<string, { calls: number; tokens: number }>()
  const generating = emulator.calls.filter(
    ({ action, status }) => /^Create(?:ChatCompletion|Response)$/.test(action) && (status ?? 200) < 400,
  )
  for (const { path, body, json } of generating) {
    const marker = body.match(/zq[a-z0-9]+q(?=[^"\\]* 12 tokens)/g)?.at(-1)
    const user = people.find((person) => person.marker === marker)?.id
    const { model } = json as { readonly model: string }
    const sum = sums.get(`${user} ${model}`) ?? { calls: 0, tokens: 0 }
    sums.set(`${user} ${model}`, { calls: sum.calls + 1, tokens: sum.tokens + (await tokensOf(emulator, path, body)) })
  }
  return sums
}

/** The same request again, directly: the upstream generates the same text. */
const tokensOf = async ({ origin, text }: Emulator, path: string, body: string): Promise<number> => {
  const headers = { authorization: `Bearer ${text.key}`, 'content-type': 'application/json' }
  const answer = await (await fetch(origin + path, { method: 'POST', headers, body })).text()
  const total = [...answer.matchAll(/"total_tokens":(\d+)/g)].at(-1)?.[1]
  if (total === undefined) throw new Error(`the upstream does not repeat ${body}: ${answer}`)
  return Number(total)
}

const outside = (what: string, value: number, from: number, to: number): readonly string[] =>
  value >= from && value <= to ? [] : [`${what} is ${value}, and not from ${from} to ${to}`]

/** What was used is what the upstream has made, within what the killed processes held. */
export const checkLedger = async (world: KillWorld, tables: Tables): Promise<readonly string[]> => {
  const generated = await generatedBy(world)
  await world.held.look()
  const problems: string[] = []
  for (const person of world.people) problems.push(...(await checkPerson(world, tables, person, generated)))
  return problems
}

const checkPerson = async (
  world: KillWorld,
  tables: Tables,
  { id, name, read }: Person,
  generated: ReadonlyMap<string, { readonly calls: number; readonly tokens: number }>,
): Promise<readonly string[]> => {
  const { emulator } = world
  const problems: string[] = []
  const { json } = await read('/api/limits')
  const limits = (json.limits as readonly LimitEntry[]).filter(({ subject }) => subject.type === 'user')
  const of = (unit: string, model: string | null = null) =>
    limits.find((limit) => limit.unit === unit && limit.model === model)?.used ?? Number.NaN
  for (const { unit, reserved } of limits)
    if (reserved !== 0) problems.push(`${reserved} ${unit} of ${name} are reserved`)

  const exists = (statement: string) => tables.count(`${statement} = '${id}'`)
  // A check whose person has not come back, may still make a group.
  const openChecks = await exists(`
    select count(*) from face_verifications where status = 'waiting_user' and kind <> 'reserved' and user_id`)
  const state = {
    groups: openChecks + (await exists(`select count(*) from groups where state = 'owned' and user_id`)),
    storage_bytes: await exists('select sum(bytes) from files where user_id'),
    running_videos: 0,
    streams: 0,
  }
  for (const [unit, count] of Object.entries(state))
    problems.push(...outside(`${unit} of ${name}`, of(unit), count, count))

  const mine = await tables.query(`select upstream_id from video_tasks where user_id = '${id}'`)
  const upstreamIds = new Set(mine.map(({ upstream_id }) => upstream_id))
  const videos = emulator.video.tasks().filter((task) => task.status === 'succeeded' && upstreamIds.has(task.id))
  // A video keeps its row, so that no kill takes anything from its sums.
  const heldOf = (unit: string, model = '') => world.held.of(JSON.stringify(['user', id, unit, 'month', model]))
  problems.push(...outside(`videos of ${name}`, of('videos'), videos.length, videos.length + heldOf('videos')))

  const usage = await world.store.listUsage({ user: id })
  const usedBy = (model: string) => usage.filter((row) => row.model === model).reduce((sum, row) => sum + row.calls, 0)
  problems.push(...outside(`video calls of ${name} in the reports`, usedBy(MODEL), videos.length, videos.length))
  const videoTokens = usage.filter(({ model }) => model === MODEL).reduce((sum, row) => sum + row.outputTokens, 0)
  const [ofVideos, most] = ['doubao-seedance*', videoTokens + heldOf('tokens', 'doubao-seedance*')]
  problems.push(...outside(`video tokens of ${name}`, of('tokens', ofVideos), videoTokens, most))

  const cut = cutOff(world, id)
  for (const model of Object.values(models)) {
    const sum = generated.get(`${id} ${model}`) ?? { calls: 0, tokens: 0 }
    const held = heldOf('tokens', model)
    const what = `tokens of ${model} of ${name} (${sum.calls} calls, ${held} held)`
    const [from, to] = [sum.tokens - maxExcess * cut, sum.tokens + held]
    problems.push(...outside(what, of('tokens', model), from, to))
    const reported = `calls of ${model} of ${name} in the reports`
    problems.push(...outside(reported, usedBy(model), sum.calls - cut, sum.calls))
  }
  const texts = [...generated].filter(([key]) => key.startsWith(id)).reduce((calls, [, sum]) => calls + sum.calls, 0)
  const requests = texts + videos.length
  problems.push(...outside(`requests of ${name}`, of('requests'), requests - cut, requests + heldOf('requests')))
  return problems
}

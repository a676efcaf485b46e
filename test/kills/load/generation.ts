import { MODEL, media, text } from '../../emulator/video-client.ts'
import type { Answer } from '../person.ts'
import { models } from '../world.ts'
import { portraitOf } from './library.ts'
import { isGone, isThere, type Sent, type Step, type StepContext } from './step.ts'

const tasks = '/api/v3/contents/generations/tasks'

/** A video, sometimes of an asset; some are cancelled, if they still wait. */
const video: Step = async (context) => {
  const { create, born, send, random, expect, attempted } = context
  const [showsAsset, isCancelled] = [random.chance(0.3), random.chance(0.25)]
  const asset = showsAsset ? await portraitOf(context) : undefined
  const content = [text(born), ...(asset ? [media('image', `asset://${asset}`, 'reference_image')] : [])]
  const sent = await create('video', tasks, { body: { model: MODEL, content } })
  const id = sent.outcome === 'acknowledged' ? sent.answer?.json.id : undefined
  attempted('video', sent, id)
  if (id === undefined) return
  const path = `${tasks}/${id}`
  const endsAs = (...statuses: readonly string[]) =>
    expect(`video ${id}`, path, ({ status, json }) => {
      if (status !== 200) return 'is lost'
      return statuses.includes(json.status) ? undefined : `is ${json.status} instead of ${statuses.join(' or ')}`
    })
  endsAs('succeeded')
  if (!isCancelled) return
  const { outcome } = await send('video cancellation', 'DELETE', `${path}?mode=cancel`)
  if (outcome === 'acknowledged') endsAs('cancelled')
  else if (outcome === 'unknown') endsAs('succeeded', 'cancelled')
}

const maxTokens = 40

/** Sends a request that uses tokens. */
const generate = async (
  { world: { history, processes }, me, random }: StepContext,
  kind: string,
  path: string,
  body: object,
): Promise<Sent> => {
  const slot = random.integer(0, processes.count - 1)
  const sentAt = Date.now()
  const answer = await me.ask(slot, 'POST', path, { body })
  const outcome =
    answer === undefined || answer.status >= 500 ? 'unknown' : answer.status < 400 ? 'acknowledged' : 'refused'
  history.count(kind, outcome)
  history.texts.push({ user: me.id, slot, sentAt, answeredAt: Date.now(), outcome })
  return { outcome, answer }
}

const chat: Step = async (context) => {
  const { random, born } = context
  const stream = random.chance(0.5)
  const content = `${born} 12 tokens`
  const body = { model: models.native, max_tokens: maxTokens, stream, messages: [{ role: 'user', content }] }
  const { outcome, answer } = await generate(context, 'chat', '/v1/chat/completions', body)
  if (outcome === 'acknowledged' && stream && !answer?.text.includes('data: [DONE]'))
    context.world.history.violations.push(`the stream of ${born} has no end: ${answer?.text.slice(-200)}`)
}

const responseBody = (born: string, model: string) => ({
  ...{ model, store: true, max_output_tokens: maxTokens },
  input: `${born} 12 tokens`,
})

/** The id of a response whose end the caller has received. */
const responseIdOf = ({ outcome, answer }: Sent): string | undefined => {
  if (outcome !== 'acknowledged') return undefined
  if (answer?.json) return answer.json.id
  return /"type":"response\.completed".*?"id":"([^"]+)"/s.exec(answer?.text ?? '')?.[1]
}

/** A response that the upstream keeps, and sometimes its deletion. */
const response: Step = async (context) => {
  const { born, random, expect, send, world, me } = context
  const [stream, isDeleted] = [random.chance(0.5), random.chance(0.4)]
  const sent = await generate(context, 'response', '/v1/responses', { ...responseBody(born, models.native), stream })
  const id = responseIdOf(sent)
  if (id === undefined) return
  world.history.owners.set(id, me.id)
  const path = `/v1/responses/${id}`
  expect(`response ${id}`, path, isThere)
  if (!isDeleted) return
  const { outcome } = await send('response deletion', 'DELETE', path)
  if (outcome !== 'refused') expect(`response ${id}`, path, outcome === 'unknown' ? () => undefined : isGone)
}

const longest = 6

/** A turn of a conversation that the gateway keeps. */
const turn: Step = async (context) => {
  const { born, random, made, expect, world, me } = context
  const stream = random.chance(0.5)
  const before = made.conversation && made.conversation.turns < longest ? made.conversation : undefined
  const body = { ...responseBody(born, models.kept), stream, ...(before && { previous_response_id: before.id }) }
  const sent = await generate(context, 'turn', '/v1/responses', body)
  const id = responseIdOf(sent)
  if (sent.outcome === 'refused' && before)
    world.history.violations.push(`the conversation of ${me.name} does not go on: ${sent.answer?.text}`)
  if (id === undefined) return
  world.history.owners.set(id, me.id)
  const turns = (before?.turns ?? 0) + 1
  made.conversation = { id, turns }
  const path = `/v1/responses/${id}`
  expect(`response ${id}`, path, isThere)
  expect(`items of ${id}`, `${path}/input_items?limit=100`, ({ status, json }: Answer) =>
    status === 200 && json.data.length === 2 * turns - 1 ? undefined : `are not those of ${turns} turns`,
  )
}

/** Steps that generate, and how often each is chosen. */
export const generationSteps: readonly (readonly [string, number, Step])[] = [
  ['video', 5, video],
  ['chat', 4, chat],
  ['response', 3, response],
  ['turn', 4, turn],
]

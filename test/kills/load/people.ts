import { password } from '../../server/fixture.ts'
import type { Answer } from '../person.ts'
import { homeOf, library } from './library.ts'
import { isGone, isThere, type Sent, type Step, type StepContext } from './step.ts'

const faces = '/api/media/face-verifications'

/** Lends a group, or ends that: as its owner, or as the borrower. */
const share: Step = async (context) => {
  const { made, random, others, send, world, me } = context
  const borrower = random.pick(others)
  const byBorrower = random.chance(0.5)
  const path = `${library}/groups/${await homeOf(context)}`
  const given = made.shares.get(borrower.id)
  const expectShare = (check: (answer: Answer) => string | undefined): void =>
    world.history.expect(`share of ${me.name}'s ${made.home} with ${borrower.name}`, async () => {
      const answer = await borrower.read(path)
      const problem = check(answer)
      return problem && `${problem} (${answer.status} ${answer.text})`
    })
  if (given === undefined) {
    const { outcome, answer } = await send('share', 'POST', `${path}/shares`, {
      body: { User: borrower.id, Access: 'use' },
    })
    if (outcome === 'acknowledged') made.shares.set(borrower.id, answer?.json.Result.Id)
    // To lend again changes nothing, so the next step finds out.
    expectShare(outcome === 'acknowledged' ? isThere : () => undefined)
    return
  }
  const { outcome } = byBorrower
    ? await send('share return', 'POST', `${path}/return`, { headers: { authorization: `Bearer ${borrower.token}` } })
    : await send('share end', 'DELETE', `${path}/shares/${given}`)
  made.shares.delete(borrower.id)
  expectShare(outcome === 'acknowledged' ? isGone : () => undefined)
}

/** A person's group, whose consent is withdrawn by its owner or by the person. */
const consent: Step = async ({ world, me, random, born, send, expect }) => {
  const { emulator, store, history } = world
  const { id } = emulator.library.addGroup({ name: born, type: 'LivenessFace' })
  emulator.library.addAsset({ groupId: id, name: `${born} face`, url: 'https://files.example/a.png', type: 'Image' })
  await store.adoptGroup({ id, user: me.id, type: 'LivenessFace', name: born, createdAt: Date.now() })
  history.owners.set(id, me.id)
  const path = `${library}/groups/${id}/consent`
  const how = random.pick(['owner', 'person', 'deletion'] as const)
  const link = await send('consent link', 'POST', `${path}/links`, { body: {} })
  const secret =
    link.outcome === 'acknowledged' ? new URL(link.answer?.json.Result.URL).pathname.split('/').at(-1) : undefined
  if (secret !== undefined && how !== 'deletion')
    expect(`link of the consent ${id}`, `${faces}/consent/${secret}`, isThere, { as: 'nobody' })
  const { outcome } =
    how === 'person' && secret !== undefined
      ? await send('withdrawal by link', 'POST', `${faces}/consent/${secret}/withdraw`, { as: 'nobody' })
      : await send('withdrawal', 'POST', `${path}/${how === 'deletion' ? 'delete' : 'withdraw'}`)
  if (outcome !== 'acknowledged') return
  history.expect(`withdrawal of ${id} of ${me.name}`, async () => {
    if (!(await store.hasWithdrawn(id))) return 'is lost'
    // The upstream keeps an empty group while the person is authorized there.
    return how === 'deletion' && emulator.library.assets(id).length > 0 ? 'has deleted no assets' : undefined
  })
}

const maxPolls = 100

/** A face check from its start to the group. */
const faceCheck: Step = async (context) => {
  const { world, me, send, ask, insist, attempted, born } = context
  const { emulator, history } = world
  const session = { as: 'session' } as const
  const sent = await send('face check', 'POST', faces, { ...session, body: {} })
  const id: string | undefined = sent.outcome === 'acknowledged' ? sent.answer?.json.verification_id : undefined
  if (id === undefined) return
  context.expect(`face check ${id}`, `${faces}/${id}`, isThere, session)
  const link = String(sent.answer?.json.h5_url)
  const check = emulator.face.sessions().find(({ h5 }) => link.endsWith(h5))
  const callback = check && emulator.face.finish(check.bytedToken, 'succeed')
  if (callback === undefined) throw new Error(`there is no face session of ${link}`)
  const { pathname, search } = new URL(callback)
  await insist('GET', pathname + search, { as: 'nobody' })
  for (let polls = 0; polls < maxPolls; polls++) {
    const answer = await ask('GET', `${faces}/${id}`, session)
    if (answer?.json?.status === 'verified') {
      attempted('group', sent, answer.json.group_id, `${born} face`)
      history.count('face check verified', 'acknowledged')
      break
    }
    await Bun.sleep(100)
  }
  // The person has come back, so that the gateway knows.
  context.expect(
    `face check ${id}`,
    `${faces}/${id}`,
    ({ status, json }) => (status === 200 && json.status === 'verified' ? undefined : 'is lost, or not verified'),
    session,
  )
  const group = emulator.face.sessions().find(({ bytedToken }) => bytedToken === check?.bytedToken)?.groupId ?? ''
  history.owners.set(group, me.id)
  context.expect(`group of the face check ${id}`, `${library}/groups/${group}`, isThere)
}

const authorization = (secret: string) => ({ as: 'nobody', headers: { authorization: `Bearer ${secret}` } }) as const

/** The token of the answer to its creation. */
export const tokenOf = ({ answer }: Sent): { readonly id: string; readonly token: string } => answer?.json.token

export const expectToken = (
  { expect }: Pick<StepContext, 'expect'>,
  id: string,
  secret: string,
  isValid: boolean,
): void =>
  expect(
    `token ${id}`,
    `${library}/groups`,
    ({ status }) => (status === (isValid ? 200 : 401) ? undefined : isValid ? 'is lost' : 'still works'),
    authorization(secret),
  )

/** A token that a person makes, and revokes again. */
const ownToken: Step = async (context) => {
  const { send, born, random, world } = context
  const isRevoked = random.chance(0.5)
  const made = await send('token', 'POST', '/api/tokens', { as: 'session', body: { label: born } })
  if (made.outcome !== 'acknowledged') return
  const { id, token } = tokenOf(made)
  world.history.audited.push({ action: 'token.create', target: id })
  expectToken(context, id, token, true)
  if (!isRevoked) return
  const { outcome } = await send('token revocation', 'DELETE', `/api/tokens/${id}`, { as: 'session' })
  if (outcome === 'unknown') world.history.expect(`token ${id} of ${context.me.name}`, async () => undefined)
  if (outcome !== 'acknowledged') return
  world.history.audited.push({ action: 'token.revoke', target: id })
  expectToken(context, id, token, false)
}

/** A login, and often a logout. */
const login: Step = async ({ world, me, send, random, expect, born }) => {
  const logsOut = random.chance(0.5)
  const path = '/api/session'
  const sent = await send('login', 'POST', path, { as: 'visitor', body: { name: me.name, password } })
  if (sent.outcome !== 'acknowledged') return
  world.history.audited.push({ action: 'session.login' })
  const cookie = sent.answer?.headers.get('set-cookie')?.split(';')[0] ?? ''
  const visit = { as: 'visitor', headers: { cookie } } as const
  expect(`session ${born}`, path, isThere, visit)
  if (!logsOut) return
  const { outcome } = await send('logout', 'DELETE', path, visit)
  if (outcome !== 'refused') expect(`session ${born}`, path, outcome === 'unknown' ? () => undefined : isGone, visit)
}

/** There is a maximum for each person, and three clients. */
const maxWebhooks = 2

const webhook: Step = async ({ world, me, made, send, born, expect }) => {
  const path = '/api/webhooks'
  const session = { as: 'session' } as const
  const listed = (id: string, isListed: boolean) =>
    expect(
      `webhook ${id}`,
      path,
      ({ text }) => (text.includes(id) === isListed ? undefined : isListed ? 'is lost' : 'is still there'),
      session,
    )
  if (made.webhooks.length < maxWebhooks) {
    const body = { url: `${world.receiver}/${me.marker}/${born.replaceAll(' ', '.')}`, types: ['face_verification.*'] }
    const { outcome, answer } = await send('webhook', 'POST', path, { ...session, body })
    if (outcome !== 'acknowledged') return
    made.webhooks.push(answer?.json.webhook.id)
    return listed(answer?.json.webhook.id, true)
  }
  const id = made.webhooks.shift() ?? ''
  const { outcome } = await send('webhook deletion', 'DELETE', `${path}/${id}`, session)
  if (outcome === 'acknowledged') listed(id, false)
  else if (outcome === 'unknown') expect(`webhook ${id}`, path, () => undefined, session)
}

/** Steps about people and their rights, and how often each is chosen. */
export const peopleSteps: readonly (readonly [string, number, Step])[] = [
  ['share', 4, share],
  ['consent', 2, consent],
  ['face check', 3, faceCheck],
  ['token', 3, ownToken],
  ['login', 1, login],
  ['webhook', 1, webhook],
]

import { expectToken, tokenOf } from './people.ts'
import { isThere, type Step, type StepContext } from './step.ts'

const base = '/api/admin'

/** What an operator's change must have written to the audit trail before its answer. */
const audited = ({ world }: StepContext, action: string, target: string): void =>
  void world.history.audited.push({ action, target })

const addUser: Step = async (context) => {
  const { create, born, made, expect, attempted, world } = context
  const body = { name: born, limits: [{ unit: 'requests', amount: 1_000, window: 'day' }] }
  const sent = await create('user', `${base}/users`, { body })
  const id: string | undefined = sent.outcome === 'acknowledged' ? sent.answer?.json.user.id : undefined
  attempted('user', sent, id)
  // Nobody else has this name: the first request, or its repetition, has made the user.
  if (sent.answer?.status === 409) world.history.violations.push(`${born} is refused: ${sent.answer.text}`)
  if (id === undefined) return
  audited(context, 'user.create', id)
  made.users.push({ id, tokens: [] })
  expect(`user ${id}`, `${base}/users/${id}`, ({ status, json }) => {
    if (status !== 200) return 'is lost'
    return json.user.name === born && json.user.limits?.length === 1 ? undefined : 'has other fields'
  })
}

const addToken: Step = async (context) => {
  const { send, made, random, born } = context
  const user = made.users.at(random.integer(-made.users.length, -1))
  if (!user) return
  const sent = await send('token of an operator', 'POST', `${base}/users/${user.id}/tokens`, { body: { label: born } })
  if (sent.outcome !== 'acknowledged') return
  const { id, token } = tokenOf(sent)
  audited(context, 'token.create', id)
  user.tokens.push({ id, secret: token })
  expectToken(context, id, token, true)
}

const changeToken: Step = async (context) => {
  const { send, made, random, world, me } = context
  const [choice, rotates] = [random.next(), random.chance(0.5)]
  const all = made.users.flatMap(({ tokens }) => tokens)
  const token = all[Math.floor(choice * all.length)]
  if (!token) return
  const { id, secret } = token
  const path = `${base}/tokens/${id}`
  const sent = rotates
    ? await send('token rotation', 'POST', `${path}/rotate`, { body: {} })
    : await send('token revocation of an operator', 'DELETE', path)
  if (sent.outcome === 'refused') return
  const owner = made.users.find(({ tokens }) => tokens.includes(token))
  if (sent.outcome === 'unknown' || !rotates) owner?.tokens.splice(owner.tokens.indexOf(token), 1)
  if (sent.outcome === 'unknown') return world.history.expect(`token ${id} of ${me.name}`, async () => undefined)
  audited(context, rotates ? 'token.rotate' : 'token.revoke', id)
  expectToken(context, `${id} before its change`, secret, false)
  if (!rotates) return expectToken(context, id, secret, false)
  token.secret = sent.answer?.json.token.token
  expectToken(context, id, token.secret, true)
}

const disable: Step = async (context) => {
  const { send, made, random, world, me, expect } = context
  const choice = random.next()
  if (made.users.length < 5) return
  const [user] = made.users.splice(Math.floor(choice * made.users.length), 1)
  if (!user) return
  const path = `${base}/users/${user.id}`
  const { outcome } = await send('user disabled', 'PATCH', path, { body: { disabled: true } })
  for (const { id, secret } of user.tokens) {
    if (outcome === 'acknowledged') expectToken(context, id, secret, false)
    else world.history.expect(`token ${id} of ${me.name}`, async () => undefined)
  }
  if (outcome !== 'acknowledged') return
  audited(context, 'user.disable', user.id)
  expect(`user ${user.id}`, path, ({ json }) => (json?.user?.disabled_at ? undefined : 'is not disabled'))
}

const team: Step = async (context) => {
  const { create, send, born, made, random, expect, attempted, world } = context
  const isDeleted = random.chance(0.4)
  const sent = await create('team', `${base}/teams`, { body: { name: born } })
  const id: string | undefined = sent.outcome === 'acknowledged' ? sent.answer?.json.team.id : undefined
  attempted('team', sent, id)
  if (sent.answer?.status === 409) world.history.violations.push(`${born} is refused: ${sent.answer.text}`)
  if (id === undefined) return
  audited(context, 'team.create', id)
  const listed = `${base}/teams?limit=200`
  const isListed = (isOne: boolean) => () =>
    world.store
      .team(id)
      .then((found) => ((found !== undefined) === isOne ? undefined : isOne ? 'is lost' : 'is still there'))
  world.history.expect(`team ${id}`, isListed(true))
  const user = made.users.at(-1)
  if (isDeleted) {
    const { outcome } = await send('team deletion', 'DELETE', `${base}/teams/${id}`)
    if (outcome === 'acknowledged') audited(context, 'team.delete', id)
    if (outcome !== 'refused')
      world.history.expect(`team ${id}`, outcome === 'unknown' ? async () => undefined : isListed(false))
    return
  }
  if (!user) return
  const path = `${base}/users/${user.id}`
  const { outcome } = await send('team of a user', 'PATCH', path, { body: { team: id } })
  if (outcome === 'unknown') expect(`team of ${user.id}`, listed, isThere)
  if (outcome !== 'acknowledged') return
  audited(context, 'user.update', user.id)
  expect(`team of ${user.id}`, path, ({ json }) => (json?.user?.team === id ? undefined : 'is another one'))
}

/** Steps of operators, and how often each is chosen. */
export const operatorSteps: readonly (readonly [string, number, Step])[] = [
  ['user', 4, addUser],
  ['token', 4, addToken],
  ['token change', 3, changeToken],
  ['disable', 1, disable],
  ['team', 2, team],
]

import type { Creation } from '../history.ts'
import type { KillWorld } from '../world.ts'
import type { Tables } from './tables.ts'

/** An object of the upstream, and what the gateways know of it. */
interface Found {
  readonly kind: 'group' | 'asset' | 'video'
  readonly id: string
  readonly name: string
  /** Whose it is, as the gateways say. */
  readonly owner: string | undefined
}

/** The upstream has nothing twice, and all that it has belongs to the user who asked for it. */
export const checkUpstream = async (world: KillWorld, tables: Tables): Promise<readonly string[]> => {
  const { emulator, history } = world
  const problems: string[] = []
  const seen = new Map<Creation, Found>()
  for (const found of await foundOf(world, tables)) {
    const { kind, name, id, owner } = found
    const creation = history.creations.get(name) ?? history.creations.get(name.slice(0, name.lastIndexOf(' ')))
    if (!creation) {
      problems.push(`the upstream has the ${kind} ${name}, which nobody has asked for`)
      continue
    }
    const other = seen.get(creation)
    if (other) problems.push(`the upstream has the ${kind} ${creation.born} twice: ${other.id}, ${id}`)
    seen.set(creation, found)
    if (creation.outcome === 'refused') problems.push(`the ${kind} ${name} was refused, and is there`)
    if (kind !== 'video' && creation.id !== undefined && creation.id !== id)
      problems.push(`the ${kind} ${name} is ${id}, and its caller was told ${creation.id}`)
    if (owner !== creation.user) problems.push(`the ${kind} ${name} belongs to ${owner} instead of ${creation.user}`)
  }
  for (const { groupId, bytedToken } of emulator.face.sessions()) {
    if (groupId === undefined) continue
    const owner = (await world.store.group(groupId))?.user
    if (owner !== undefined && owner !== history.owners.get(groupId))
      problems.push(`the group of the face check ${bytedToken} belongs to ${owner}`)
  }
  const refused = emulator.calls.filter(({ action, status }) => action === 'CreateVideoTask' && status === 429)
  if (refused.length > 0) problems.push(`${refused.length} videos were sent while all slots were taken`)
  return [...problems, ...repeatedTexts(world)]
}

const foundOf = async ({ emulator, store }: KillWorld, tables: Tables): Promise<readonly Found[]> => {
  const { library, video } = emulator
  const owners = new Map<string, string | undefined>()
  for (const { id } of library.groups()) owners.set(id, (await store.group(id))?.user)
  const rows = await tables.query('select upstream_id, user_id from video_tasks where upstream_id is not null')
  const ofTasks = new Map(rows.map(({ upstream_id, user_id }) => [String(upstream_id), String(user_id)]))
  const created = library.groups().filter(({ type }) => type === 'AIGC')
  const inThem = library.assets().filter(({ groupId }) => library.group(groupId)?.type === 'AIGC')
  return [
    ...created.map(({ id, name }) => ({ kind: 'group', id, name, owner: owners.get(id) }) as const),
    ...inThem.map(({ id, name, groupId }) => ({ kind: 'asset', id, name, owner: owners.get(groupId) }) as const),
    ...video
      .tasks()
      .filter(({ status }) => status !== 'cancelled')
      .map(({ id, request: { prompt } }) => ({ kind: 'video', id, name: prompt, owner: ofTasks.get(id) }) as const),
  ]
}

/** A text is generated once, whatever happens. */
const repeatedTexts = ({ emulator }: KillWorld): readonly string[] => {
  const generating = emulator.calls.filter(({ action }) => /^Create(?:ChatCompletion|Response)$/.test(action))
  // The last input of a call is its own; those before it belong to earlier turns.
  const inputs = generating.map(({ body }) => body.match(/zq[^"\\]*? 12 tokens/g)?.at(-1) ?? '')
  const counts = Map.groupBy(inputs, (input) => input)
  return [...counts].filter(([, all]) => all.length > 1).map(([input, all]) => `${input} was sent ${all.length} times`)
}

import { png } from '../../mcp/fixture.ts'
import type { Answer } from '../person.ts'
import { isGone, isThere, type Named, type Step, type StepContext } from './step.ts'

export const library = '/api/media/proxy/assets'

const picture = { URL: 'https://files.example/a.png', AssetType: 'Image' }

/** A group of this client that stays. */
export const homeOf = async ({ made, insist, born, me, world }: StepContext): Promise<string> => {
  if (made.home === undefined) {
    const name = `${born} home`
    const headers = { 'idempotency-key': name.replaceAll(' ', '.') }
    for (;;) {
      const { status, json } = await insist('POST', `${library}/groups`, { body: { Name: name }, headers })
      if (status === 200) {
        made.home = json.Result.Id as string
        break
      }
      await Bun.sleep(200)
    }
    world.history.created({ kind: 'group', born: name, user: me.id, outcome: 'acknowledged', id: made.home })
  }
  return made.home
}

/** An asset of this client that stays, in that group. Undefined: it is not known whether there is one. */
export const portraitOf = async (context: StepContext): Promise<string | undefined> => {
  const { made, born } = context
  if (made.portrait === undefined) {
    const body = { GroupId: await homeOf(context), ...picture, Name: `${born} portrait` }
    const sent = await context.create('asset', library, { body }, false)
    made.portrait = sent.outcome === 'acknowledged' ? sent.answer?.json.Result.Id : undefined
    context.attempted('asset', sent, made.portrait, body.Name)
  }
  return made.portrait
}

/** The names that an object may have, at the gateway and at the upstream. */
const expectNames = (
  { expect, world: { emulator } }: StepContext,
  what: 'group' | 'asset',
  path: string,
  { id, names }: Named,
) => {
  expect(`${what} ${id}`, path, ({ status, json }: Answer) => {
    if (status !== 200) return 'is lost'
    const shown = json.Result.Name
    if (!names.includes(shown)) return `is named ${shown} instead of ${names.join(' or ')}`
    const name = emulator.library[what](id)?.name
    return name === shown ? undefined : `is named ${name} by the upstream, and ${shown} by the gateway`
  })
}

const createGroup: Step = async (context) => {
  const { create, born, made } = context
  const sent = await create('group', `${library}/groups`, { body: { Name: born } })
  const id = sent.outcome === 'acknowledged' ? sent.answer?.json.Result.Id : undefined
  context.attempted('group', sent, id)
  if (id === undefined) return
  const group = { id, born, names: [born] }
  made.groups.push(group)
  expectNames(context, 'group', `${library}/groups/${id}`, group)
}

const createAsset: Step = async (context) => {
  const { create, born, made } = context
  const body = { GroupId: await homeOf(context), ...picture, Name: born }
  const sent = await create('asset', library, { body })
  const id = sent.outcome === 'acknowledged' ? sent.answer?.json.Result.Id : undefined
  context.attempted('asset', sent, id)
  if (id === undefined) return
  const asset = { id, born, names: [born] }
  made.assets.push(asset)
  expectNames(context, 'asset', `${library}/${id}`, asset)
}

const places = { group: `${library}/groups`, asset: library } as const
const listOf = { group: 'groups', asset: 'assets' } as const

const rename =
  (what: 'group' | 'asset'): Step =>
  async (context) => {
    const { made, random, send, born } = context
    const place = random.next()
    const list = made[listOf[what]]
    const object = list[Math.floor(place * list.length)]
    if (!object) return
    const name = `${object.born} ${born.split(' ').at(-1)}`
    const path = `${places[what]}/${object.id}`
    const { outcome } = await send(`${what} rename`, 'PATCH', path, { body: { Name: name } })
    if (outcome === 'acknowledged') object.names = [name]
    if (outcome === 'unknown') object.names = [...object.names, name]
    expectNames(context, what, path, object)
  }

const remove =
  (what: 'group' | 'asset'): Step =>
  async ({ made, random, send, expect, world }) => {
    const place = random.next()
    const list = made[listOf[what]]
    const at = Math.floor(place * list.length)
    const object = list[at]
    if (!object) return
    const path = `${places[what]}/${object.id}`
    const { outcome } = await send(`${what} deletion`, 'DELETE', path)
    if (outcome === 'refused') return
    list.splice(at, 1)
    const isAtUpstream = () => world.emulator.library[what](object.id) !== undefined
    expect(`${what} ${object.id}`, path, (answer) => {
      if (outcome === 'unknown')
        return isThere(answer) === undefined || isGone(answer) === undefined ? undefined : 'fails'
      return isGone(answer) ?? (isAtUpstream() ? 'is still at the upstream' : undefined)
    })
  }

const upload: Step = async ({ send, born, expect, attempted }) => {
  const body = new Uint8Array([...png, ...new TextEncoder().encode(born)])
  const sent = await send('upload', 'POST', '/api/uploads', { body, headers: { 'content-type': 'image/png' } })
  attempted('upload', sent)
  if (sent.outcome !== 'acknowledged') return
  const { pathname, search } = new URL(sent.answer?.json.upload.url)
  const isWhole = ({ status, bytes }: Answer) =>
    status === 200 && Buffer.compare(bytes, body) === 0 ? undefined : 'is lost, or other bytes'
  expect(`upload ${born}`, pathname + search, isWhole, { as: 'nobody' })
}

const items = 5

const batch: Step = async (context) => {
  const { create, born, expect, attempted } = context
  const group = await homeOf(context)
  const names = Array.from({ length: items }, (_, nth) => `${born}.${nth}`)
  const body = names.map((Name) => JSON.stringify({ ...picture, Name })).join('\n')
  const headers = { 'content-type': 'application/x-ndjson' }
  const sent = await create('batch', `${library}/batches?GroupId=${group}`, { body, headers })
  for (const name of names) attempted('asset', sent, undefined, name)
  if (sent.outcome !== 'acknowledged') return
  const path = `${library}/batches/${sent.answer?.json.Result.Id}`
  expect(`batch ${born}`, path, (answer) => {
    if (answer.status !== 200) return 'is lost'
    const { State, Counts } = answer.json.Result
    return State === 'Ended' && Counts.Created === items ? undefined : 'has not made each of its assets'
  })
}

/** Steps of the asset library, and how often each is chosen. */
export const librarySteps: readonly (readonly [string, number, Step])[] = [
  ['group', 4, createGroup],
  ['group rename', 3, rename('group')],
  ['group deletion', 2, remove('group')],
  ['asset', 4, createAsset],
  ['asset rename', 3, rename('asset')],
  ['asset deletion', 2, remove('asset')],
  ['upload', 3, upload],
  ['batch', 4, batch],
]

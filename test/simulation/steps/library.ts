import { simulated } from '../virtual/virtual-process.ts'
import type { World } from '../world/world.ts'

const groupsPath = '/api/media/proxy/assets/groups'
const assetsPath = '/api/media/proxy/assets'

/** A group that a user was told to own. */
export interface KnownGroup {
  readonly id: string
  readonly user: string
  name: string
  /** How many requests that change it are in progress. */
  changes: number
  /** Deleted, or changed by a request whose outcome its user does not know. */
  isUncertain: boolean
  isDeleted: boolean
}

export interface KnownAsset {
  readonly id: string
  readonly group: KnownGroup
  isUncertain: boolean
}

/** What users were told about the asset library. */
export class KnownLibrary {
  readonly groups: KnownGroup[] = []
  readonly assets: KnownAsset[] = []
  tags = 0

  groupsOf(user: string): readonly KnownGroup[] {
    return this.groups.filter((group) => group.user === user && !group.isDeleted)
  }

  /** Groups with this name that their user certainly has. */
  certain(user: string, name: string): readonly KnownGroup[] {
    return this.groups.filter(
      (group) => group.user === user && group.name === name && !group.isUncertain && group.changes === 0,
    )
  }
}

type Step = (world: World, known: KnownLibrary, user: string) => Promise<unknown>

const checkName = (world: World, known: KnownLibrary, user: string, name: string): void => {
  const same = known.certain(user, name)
  if (same.length > 1) world.violate(`${user} has two groups ${name}: ${same.map(({ id }) => id)}`)
}

const change = async (
  world: World,
  group: KnownGroup,
  method: string,
  body: object | undefined,
  changed: () => void,
): Promise<void> => {
  const alone = group.changes++ === 0
  const { status } = await world.ask(group.user, method, `${groupsPath}/${group.id}`, body)
  group.changes--
  // Two changes at once may take effect in any order.
  if (!alone || group.changes > 0) group.isUncertain = true
  if (status === 200) changed()
  else if (status !== 400) group.isUncertain = true
  if (status === 403 && !group.isUncertain) world.violate(`${group.user} has lost ${group.id}`)
}

export const librarySteps = {
  async createGroup(world: World, known: KnownLibrary, user: string, name: string = simulated.random.of(world.names)) {
    const body = { Name: name, Description: `${user} ${++known.tags}` }
    const answer = await world.ask(user, 'POST', groupsPath, body)
    world.expectStatus('a new group', answer.status, world.areas.includes('limits') ? [200, 400, 429] : [200, 400])
    if (answer.status === 200) {
      const id = answer.json.Result.Id
      known.groups.push({ id, user, name, changes: 0, isUncertain: false, isDeleted: false })
      checkName(world, known, user, name)
    }
    return answer
  },

  async renameGroup(world, known, user) {
    const groups = known.groupsOf(user)
    if (groups.length === 0) return
    const group = simulated.random.of(groups)
    const rename = (name: string) =>
      change(world, group, 'PATCH', { Name: name }, () => {
        group.name = name
        checkName(world, known, user, name)
      })
    const { random } = simulated
    // Sometimes two at once: the user has sent the second one before the answer to the first.
    const names = [random.of(world.names), ...(random.chance(0.3) ? [random.of(world.names)] : [])]
    await Promise.all(names.map(rename))
  },

  async deleteGroup(world, known, user) {
    const groups = known.groupsOf(user)
    if (groups.length === 0) return
    const group = simulated.random.of(groups)
    await change(world, group, 'DELETE', undefined, () => {
      group.isUncertain = true
      group.isDeleted = true
    })
  },

  async listGroups(world, _known, user) {
    const { status, json } = await world.ask(user, 'GET', `${groupsPath}?PageSize=100&PageNumber=1`)
    world.expectStatus('a list of groups', status, [200])
    if (status !== 200) return
    const { Items, TotalCount } = json.Result
    const ids = new Set(Items.map(({ Id }: { readonly Id: string }) => Id))
    if (ids.size !== Items.length || ids.size !== TotalCount)
      world.violate(`${user}'s list has ${Items.length} groups, ${ids.size} different ones, of ${TotalCount}`)
  },

  async readGroup(world, known, user) {
    if (known.groups.length === 0) return
    const group = simulated.random.of(known.groups)
    const isCertain = !group.isUncertain && group.changes === 0
    const { status } = await world.ask(user, 'GET', `${groupsPath}/${group.id}`)
    if (group.user !== user) world.expectStatus("another user's group", status, [403])
    else if (isCertain && !group.isUncertain && group.changes === 0) world.expectStatus('an own group', status, [200])
  },

  async createAsset(world, known, user) {
    if (known.groups.length === 0) return
    const group = simulated.random.of(known.groups)
    const body = { GroupId: group.id, URL: 'https://files.test/cat.png', AssetType: 'Image' }
    const { status, json } = await world.ask(user, 'POST', assetsPath, body)
    if (group.user !== user) return world.expectStatus("an asset in another user's group", status, [403])
    world.expectStatus('a new asset', status, group.isUncertain || group.changes > 0 ? [200, 400, 403, 404] : [200])
    if (status === 200) known.assets.push({ id: json.Result.Id, group, isUncertain: false })
  },

  async readAsset(world, known, user) {
    if (known.assets.length === 0) return
    const asset = simulated.random.of(known.assets)
    const isCertain = () => !asset.isUncertain && !asset.group.isUncertain && asset.group.changes === 0
    const wasCertain = isCertain()
    const { status } = await world.ask(user, 'GET', `${assetsPath}/${asset.id}`)
    if (asset.group.user !== user) world.expectStatus("another user's asset", status, [403])
    else if (wasCertain && isCertain()) world.expectStatus('an own asset', status, [200])
  },

  async deleteAsset(world, known, user) {
    const own = known.assets.filter(({ group }) => group.user === user)
    if (own.length === 0) return
    const asset = simulated.random.of(own)
    asset.isUncertain = true
    const { status } = await world.ask(user, 'DELETE', `${assetsPath}/${asset.id}`)
    world.expectStatus('the deletion of an asset', status, [200, 403, 404])
  },

  async listAssets(world, _known, user) {
    const { status } = await world.ask(user, 'GET', `${assetsPath}?PageSize=100&PageNumber=1`)
    world.expectStatus('a list of assets', status, [200])
  },
} satisfies Readonly<Record<string, Step>>

/** How often each step is. */
export const libraryWeights: Readonly<Record<keyof typeof librarySteps, number>> = {
  ...{ createGroup: 8, renameGroup: 3, deleteGroup: 3, listGroups: 3, readGroup: 2 },
  ...{ createAsset: 2, readAsset: 2, deleteAsset: 1, listAssets: 1 },
}

/** All groups of a user, by pages of two. */
export const walkGroups = async (world: World, user: string, gateway: World['gateways'][number]) => {
  const items: { readonly Id: string; readonly Name: string }[] = []
  let token: string | undefined
  do {
    const next = token ? `&NextToken=${encodeURIComponent(token)}` : ''
    const path = `${groupsPath}?MaxResults=2${next}`
    const { status, json, text } = await world.ask(user, 'GET', path, undefined, gateway)
    if (status !== 200) {
      world.violate(`a list is answered with ${status} ${text} although everything works`)
      break
    }
    items.push(...json.Result.Items)
    token = json.Result.NextToken
  } while (token)
  return items
}

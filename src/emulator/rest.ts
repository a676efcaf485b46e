import type { ActionRequest } from './account.ts'
import { ArkError, wrongMethod } from './ark-error.ts'
import { type AssetApi, bodyMembers, type ReceivedRequest } from './asset-api.ts'
import { serviceEnvelope } from './face/envelope.ts'
import { field } from './items.ts'
import { type Member, membersOf, objectOf } from './members.ts'
import { pathParts, splitTarget } from './paths.ts'
import type { Settings } from './settings.ts'

const ROOT = '/api/media'

/** Base path of the asset library in the `rest` API. */
export const REST_PATH = `${ROOT}/proxy`

const FACE_PATH = `${ROOT}/face-verifications`

/** Whether a request target belongs to the `rest` API. */
export function isRest(target: string): boolean {
  return target.startsWith(`${ROOT}/`)
}

const FILTERS = ['GroupType', 'Name'] as const
const LISTS = ['GroupIds', 'Statuses'] as const
const WORDS = ['SortBy', 'SortOrder', 'NextToken'] as const
const NUMBERS = ['PageNumber', 'PageSize', 'MaxResults'] as const

type Methods = Readonly<Record<string, string>>

const GROUPS: Methods = { GET: 'ListAssetGroups', POST: 'CreateAssetGroup' }
const GROUP: Methods = {
  ...{ GET: 'GetAssetGroup', PUT: 'UpdateAssetGroup', PATCH: 'UpdateAssetGroup', DELETE: 'DeleteAssetGroup' },
}
const ASSETS: Methods = { GET: 'ListAssets', POST: 'CreateAsset' }
const ASSET: Methods = { GET: 'GetAsset', PUT: 'UpdateAsset', PATCH: 'UpdateAsset', DELETE: 'DeleteAsset' }
const FACES: Methods = { POST: 'CreateVisualValidateSession' }
const FACE: Methods = { GET: 'GetVisualValidateResult' }

interface Route {
  readonly methods: Methods
  readonly id?: string
}

/** The `rest` API, as of a gateway: resource paths, a bearer key, no projects, list parameters in the query string. */
export function createRestApi(settings: Settings): AssetApi {
  return {
    name: 'rest',
    secret: settings.key,
    actionOf: (request) => routeOf(request.target)?.methods[request.method] ?? '',
    envelopeFor: ({ target }, envelope) => (isBelow(pathOf(target), FACE_PATH) ? serviceEnvelope(envelope) : envelope),
    parseRequest(request): ActionRequest {
      if (request.headers.authorization !== `Bearer ${settings.key}`) {
        throw new ArkError(401, 'AuthenticationError', 'The API key is missing or does not exist.')
      }
      const route = routeOf(request.target)
      if (route === undefined) throw new ArkError(404, 'InvalidPath', 'There is nothing under this path.')
      const action = route.methods[request.method]
      if (action === undefined) throw wrongMethod(request.method, Object.keys(route.methods).join(', '))
      return { action, isRest: true, project: settings.project, members: membersFor(action, route, request) }
    },
  }
}

function membersFor(action: string, { id }: Route, request: ReceivedRequest): Member[] {
  if (action.startsWith('List')) return queryMembers(request.target)
  if (id === undefined) return bodyMembers(request)
  const inBody = request.method === 'GET' || request.method === 'DELETE' ? [] : bodyMembers(request)
  // the id in the path overrides an id in the body
  return [...inBody, ...toMembers([field('Id', id)])]
}

/** Converts a list's query to the body of the `ark` API. Arrays are repeated or comma-separated. An empty value counts as absent. */
function queryMembers(target: string): Member[] {
  const query = new URLSearchParams(splitTarget(target)[1])
  const given = (name: string) => query.get(name) || undefined
  const filter = Object.fromEntries([
    ...FILTERS.map((name) => [name, given(name)]),
    ...LISTS.map((name) => [name, query.getAll(name).flatMap((value) => value.split(',').filter(Boolean))]),
  ])
  return toMembers([
    field('Filter', filter),
    ...WORDS.flatMap((name) => (given(name) ? [field(name, given(name))] : [])),
    ...NUMBERS.flatMap((name) => (given(name) ? [field(name, numeric(given(name) ?? ''))] : [])),
  ])
}

function numeric(text: string): number | string {
  return /^-?\d+$/.test(text) ? Number(text) : text
}

function toMembers(fields: readonly { readonly raw: string }[]): Member[] {
  return membersOf(objectOf(fields)) ?? []
}

function routeOf(target: string): Route | undefined {
  const path = pathOf(target)
  return isBelow(path, FACE_PATH) ? faceRoute(partsBelow(path, FACE_PATH)) : libraryRoute(partsBelow(path, REST_PATH))
}

function faceRoute([id, ...more]: readonly string[]): Route | undefined {
  if (more.length > 0) return undefined
  return id === undefined ? { methods: FACES } : { methods: FACE, id }
}

function libraryRoute([assets, groups, id, ...more]: readonly string[]): Route | undefined {
  if (assets !== 'assets' || more.length > 0) return undefined
  if (groups === undefined) return { methods: ASSETS }
  if (groups !== 'groups') return id === undefined ? { methods: ASSET, id: groups } : undefined
  return id === undefined ? { methods: GROUPS } : { methods: GROUP, id }
}

function isBelow(path: string, base: string): boolean {
  return path === base || path.startsWith(`${base}/`)
}

function partsBelow(path: string, base: string): string[] {
  return isBelow(path, base) ? path.slice(base.length).split('/').slice(1) : []
}

function pathOf(target: string): string {
  return `/${pathParts(target).join('/')}`
}

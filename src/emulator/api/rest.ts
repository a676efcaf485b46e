import type { ActionRequest, ReceivedRequest } from '../action.ts'
import type { Settings } from '../options.ts'
import { field, type Member, membersOf, objectOf } from '../shared/members.ts'
import { pathParts, splitTarget } from '../shared/paths.ts'
import { ArkError, wrongMethod } from './ark-error.ts'
import { type AssetApi, bodyMembers } from './asset-api.ts'
import { serviceEnvelope } from './envelope.ts'

const root = '/api/media'

/** Base path of the asset library in the `rest` API. */
export const restPath = `${root}/proxy`

const facePath = `${root}/face-verifications`

/** Whether a request target belongs to the `rest` API. */
export const isRest = (target: string): boolean => target.startsWith(`${root}/`)

const filters = ['GroupType', 'Name'] as const
const lists = ['GroupIds', 'Statuses'] as const
const words = ['SortBy', 'SortOrder', 'NextToken'] as const
const numbers = ['PageNumber', 'PageSize', 'MaxResults'] as const

type Methods = Readonly<Record<string, string>>

const groupCollection: Methods = { GET: 'ListAssetGroups', POST: 'CreateAssetGroup' }
const group: Methods = {
  ...{ GET: 'GetAssetGroup', PUT: 'UpdateAssetGroup', PATCH: 'UpdateAssetGroup', DELETE: 'DeleteAssetGroup' },
}
const assetCollection: Methods = { GET: 'ListAssets', POST: 'CreateAsset' }
const asset: Methods = { GET: 'GetAsset', PUT: 'UpdateAsset', PATCH: 'UpdateAsset', DELETE: 'DeleteAsset' }
const faces: Methods = { POST: 'CreateVisualValidateSession' }
const face: Methods = { GET: 'GetVisualValidateResult' }

interface Route {
  readonly methods: Methods
  readonly id?: string
}

/** The `rest` API, as of a gateway: resource paths, a bearer key, no projects, list parameters in the query string. */
export const createRestApi = (settings: Settings): AssetApi => ({
  name: 'rest',
  secret: settings.key,
  actionOf: (request) => routeOf(request.target)?.methods[request.method] ?? '',
  envelopeFor: ({ target }, envelope) => (isBelow(pathOf(target), facePath) ? serviceEnvelope(envelope) : envelope),
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
})

const membersFor = (action: string, { id }: Route, request: ReceivedRequest): Member[] => {
  if (action.startsWith('List')) return queryMembers(request.target)
  if (id === undefined) return bodyMembers(request)
  const inBody = request.method === 'GET' || request.method === 'DELETE' ? [] : bodyMembers(request)
  // the id in the path overrides an id in the body
  return [...inBody, ...toMembers([field('Id', id)])]
}

/**
 * Converts a list's query to the body of the `ark` API. Arrays are repeated or comma-separated. An empty value counts
 * as absent.
 */
const queryMembers = (target: string): Member[] => {
  const query = new URLSearchParams(splitTarget(target)[1])
  const given = (name: string) => query.get(name) || undefined
  const filter = Object.fromEntries([
    ...filters.map((name) => [name, given(name)]),
    ...lists.map((name) => [name, query.getAll(name).flatMap((value) => value.split(',').filter(Boolean))]),
  ])
  return toMembers([
    field('Filter', filter),
    ...words.flatMap((name) => (given(name) ? [field(name, given(name))] : [])),
    ...numbers.flatMap((name) => (given(name) ? [field(name, numeric(given(name) ?? ''))] : [])),
  ])
}

const numeric = (text: string): number | string => (/^-?\d+$/.test(text) ? Number(text) : text)

const toMembers = (fields: readonly { readonly raw: string }[]): Member[] => membersOf(objectOf(fields)) ?? []

const routeOf = (target: string): Route | undefined => {
  const path = pathOf(target)
  return isBelow(path, facePath) ? faceRoute(partsBelow(path, facePath)) : libraryRoute(partsBelow(path, restPath))
}

const faceRoute = ([id, ...more]: readonly string[]): Route | undefined => {
  if (more.length > 0) return undefined
  return id === undefined ? { methods: faces } : { methods: face, id }
}

const libraryRoute = ([assets, groups, id, ...more]: readonly string[]): Route | undefined => {
  if (assets !== 'assets' || more.length > 0) return undefined
  if (groups === undefined) return { methods: assetCollection }
  if (groups !== 'groups') return id === undefined ? { methods: asset, id: groups } : undefined
  return id === undefined ? { methods: groupCollection } : { methods: group, id }
}

const isBelow = (path: string, base: string): boolean => path === base || path.startsWith(`${base}/`)

const partsBelow = (path: string, base: string): string[] =>
  isBelow(path, base) ? path.slice(base.length).split('/').slice(1) : []

const pathOf = (target: string): string => `/${pathParts(target).join('/')}`

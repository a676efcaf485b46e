import { MODEL } from '../../emulator/video-client.ts'
import type { SizedUser, SizeWorld } from './world.ts'

/** A request, and the status of its answer. */
export interface SizeRequest {
  readonly title: string
  readonly method?: string
  readonly path: string
  readonly body?: unknown
  readonly headers: Readonly<Record<string, string>>
  readonly status?: number
}

const library = '/api/media/proxy/assets'
let names = 0

const newName = () => `new ${process.pid} ${++names}`
const any = (ids: readonly string[]): string => ids[Math.floor(Math.random() * ids.length)] ?? ''

/** The requests whose latency is measured, of one user. */
export const hotRequests = (user: SizedUser): readonly (() => SizeRequest)[] => {
  const { headers, groups, assets } = user
  const get = (title: string, path: string | (() => string), status = 200) => {
    const pathOf = typeof path === 'string' ? () => path : path
    return () => ({ title, path: library + pathOf(), headers, status })
  }
  const pages = Math.ceil(assets.length / 10)
  return [
    get('groups, first page', '/groups?PageSize=10'),
    get('groups, last page', `/groups?PageSize=10&PageNumber=${Math.ceil(groups.length / 10)}`),
    get('group', () => `/groups/${any(groups)}`),
    get('assets, first page', '?PageSize=10'),
    get('assets, any page', () => `?PageSize=10&PageNumber=${1 + Math.floor(Math.random() * pages)}`),
    get('assets of a group', () => `?PageSize=10&GroupIds=${any(groups)}`),
    get('asset', () => `/${any(assets)}`),
    get("another user's asset", () => `/asset-20260101000000-${Math.floor(Math.random() * 1_000)}`, 403),
    () => ({
      ...{ title: 'create an asset', method: 'POST', path: library, headers },
      body: { GroupId: any(groups), URL: 'https://files.example/a.png', AssetType: 'Image', Name: newName() },
    }),
    () => ({
      ...{ title: 'create a group', method: 'POST', path: `${library}/groups`, headers, body: { Name: newName() } },
    }),
  ]
}

const tasks = '/api/v3/contents/generations/tasks'

/** Requests for the lists of everything that grows. What they answer does not matter, but 500 and more. */
export const allRequests = async (
  { users, operator }: Pick<SizeWorld, 'users' | 'operator'>,
  cookie: string,
): Promise<readonly (() => SizeRequest)[]> => {
  const largest = users.at(-1)
  if (!largest) throw new Error('there are no users')
  const { headers, groups, assets } = largest
  const own = (method: string, path: string, body?: () => object) => () => ({
    ...{ title: `${method} ${path}`, method, path, headers },
    ...(body && { body: body() }),
  })
  const person = (path: string) => () => ({ title: path, path, headers: { cookie } })
  const admin = (path: string) => () => ({ title: path, path: `/api/admin${path}`, headers: operator })
  const group = groups[0] ?? ''
  return [
    ...users.flatMap(hotRequests),
    own('GET', `${library}?scope=all`),
    own('GET', `${library}/groups?scope=shared`),
    own('GET', `${library}?NameContains=1`),
    own('GET', `${library}?SortBy=GroupId&SortOrder=Asc`),
    own('GET', `${library}/groups?NameContains=9`),
    own('GET', `${library}/groups/${group}/shares`),
    own('GET', `${library}/groups/${group}/shares/uses`),
    own('GET', `${library}/${assets[0]}/uses`),
    own('GET', `${library}/batches`),
    () => ({
      ...{ title: 'batch', method: 'POST', path: `${library}/batches?GroupId=${group}` },
      body: `{"URL":"https://files.example/c.png","AssetType":"Image","Name":"${newName()}"}`,
      headers: { ...headers, 'content-type': 'application/x-ndjson' },
    }),
    () => ({
      ...{ title: 'create once', method: 'POST', path: `${library}/groups` },
      ...{ body: { Name: newName() }, headers: { ...headers, 'idempotency-key': newName().replaceAll(' ', '-') } },
    }),
    own('PATCH', `${library}/groups/${group}`, () => ({ Name: newName() })),
    own('PATCH', `${library}/${assets[0]}`, () => ({ Name: newName() })),
    () => ({ title: 'delete an asset', method: 'DELETE', path: `${library}/${any(assets.slice(1))}`, headers }),
    own('GET', tasks),
    own('GET', `${tasks}?filter.status=succeeded`),
    own('POST', tasks, () => ({
      model: MODEL,
      content: [
        { type: 'text', text: 'a cat' },
        { type: 'image_url', image_url: { url: `asset://${assets[0]}` }, role: 'first_frame' },
      ],
    })),
    own('GET', '/v1/videos'),
    own('POST', '/v1/chat/completions', () => ({
      model: 'doubao-seed-emulated',
      messages: [{ role: 'user', content: 'Hello' }],
    })),
    own('POST', '/v1/responses', () => ({ model: 'doubao-seed-emulated', input: 'Hello' })),
    own('GET', '/v1/responses'),
    own('GET', '/api/limits'),
    ...['/api/session', '/api/account', '/api/account/sessions', '/api/tokens', '/api/usage', '/api/webhooks'].map(
      person,
    ),
    ...['/users', '/users?search=name', '/users?search=99', '/users?role=admin', '/users?state=disabled'].map(admin),
    ...['/users?team=team-7', '/users/user-7', '/users/user-7/tokens', '/users/user-7/limits', '/teams'].map(admin),
    ...['/tokens', '/tokens?search=label', '/tokens?state=revoked', '/tokens?state=expired'].map(admin),
    ...['/usage', '/usage?group_by=user,model', '/usage?group_by=day', '/audit', '/audit?user=user-7'].map(admin),
    ...['/audit?action=group.create', '/audit/verification', '/groups/pending', '/consents'].map(admin),
    ...['/consents?state=withdrawn', '/videos', '/videos?status=undecided', '/videos?status=failed'].map(admin),
    ...['/videos?user=user-7', '/activity', '/alerts', '/upstreams'].map(admin),
  ]
}

/** Sends a request. Throws for an answer with another status; without one, for 500 and more. */
export const send = async (url: string, { title, method, path, body, headers, status }: SizeRequest): Promise<void> => {
  const response = await fetch(url + path, {
    method: method ?? 'GET',
    headers: { ...(typeof body === 'object' && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  if (status === undefined ? response.status >= 500 : response.status !== status)
    throw new Error(`${title}: ${response.status} ${text.slice(0, 300)}`)
}

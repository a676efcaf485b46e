/** The requests of one user. */
export interface Client {
  /** Base URL of the server. */
  readonly url: string
  readonly token: string
  /** Counts a response, by its status. 0: there was none. */
  readonly count: (status: number) => void
  /** Default: true. */
  readonly keepalive?: boolean
}

interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: responses of many shapes, of which the traffic reads ids
  readonly json: any
}

const library = '/api/media/proxy'
const tasks = '/api/v3/contents/generations/tasks'
const video = 'doubao-seedance-2-0-260128'
/** Longer than any timeout of the server in this benchmark. */
const patienceMs = 60_000

const send = async (client: Client, method: string, path: string, body?: object): Promise<Response> =>
  fetch(client.url + path, {
    method,
    keepalive: client.keepalive ?? true,
    headers: { authorization: `Bearer ${client.token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(patienceMs),
  })

const ask = async (client: Client, method: string, path: string, body?: object): Promise<Answer> => {
  try {
    const response = await send(client, method, path, body)
    const text = await response.text()
    client.count(response.status)
    return { status: response.status, json: text.startsWith('{') ? JSON.parse(text) : undefined }
  } catch {
    client.count(0)
    return { status: 0, json: undefined }
  }
}

/** Reads a stream, or leaves after its first piece. */
const stream = async (client: Client, path: string, body: object, leaves: boolean): Promise<void> => {
  const controller = new AbortController()
  const { count, url, token } = client
  try {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.any([controller.signal, AbortSignal.timeout(patienceMs)]),
    })
    count(response.status)
    for await (const _ of response.body ?? []) if (leaves) controller.abort()
  } catch {
    // It was left, or the upstream broke it.
  }
}

let created = 0

const assets = async (client: Client): Promise<void> => {
  const group = await ask(client, 'POST', `${library}/assets/groups`, { Name: `soak ${created++}` })
  const GroupId = group.json?.Result?.Id ?? group.json?.Id
  if (GroupId === undefined) return
  const picture = { GroupId, Name: 'one', AssetType: 'Image', URL: 'https://e.example/one.png' }
  const asset = await ask(client, 'POST', `${library}/assets`, picture)
  const id = asset.json?.Result?.Id ?? asset.json?.Id
  await ask(client, 'GET', `${library}/assets?PageSize=10`)
  if (id === undefined) return
  await ask(client, 'GET', `${library}/assets/${id}`)
  await ask(client, 'GET', `${library}/assets/unknown-${created}`)
  await ask(client, 'PATCH', `${library}/assets/${id}`, { Name: 'two' })
  await ask(client, 'DELETE', `${library}/assets/${id}`)
}

const texts = async (client: Client): Promise<void> => {
  const messages = [{ role: 'user', content: '12 tokens' }]
  await ask(client, 'POST', '/v1/chat/completions', { model: 'emulated-wide', messages })
  await stream(client, '/v1/chat/completions', { model: 'emulated-wide', messages, stream: true }, false)
  await stream(client, '/v1/chat/completions', { model: 'emulated-wide', messages, stream: true }, true)
  const response = await ask(client, 'POST', '/v1/responses', { model: 'emulated-wide', input: '12 tokens' })
  if (response.json?.id !== undefined) await ask(client, 'DELETE', `/v1/responses/${response.json.id}`)
  await ask(client, 'GET', '/v1/models')
  await ask({ ...client, token: 'sk-unknown' }, 'GET', '/v1/models')
}

const videos = async (client: Client): Promise<void> => {
  const content = [{ type: 'text', text: 'a cat' }]
  await ask(client, 'POST', tasks, { model: video, content, resolution: '480p', duration: 5 })
  await ask(client, 'GET', `${tasks}?page_size=10`)
}

const events = async (client: Client): Promise<void> => {
  const controller = new AbortController()
  const headers = { authorization: `Bearer ${client.token}` }
  try {
    const { status, body } = await fetch(`${client.url}/api/events`, { headers, signal: controller.signal })
    client.count(status)
    setTimeout(() => controller.abort(), 500)
    for await (const _ of body ?? []);
  } catch {
    // It was left.
  }
}

/** Deletes all that the user has. Resolves with how much is left: what cannot be deleted yet, or could not. */
export const tidy = async (client: Client): Promise<number> => {
  const list = await ask(client, 'GET', `${library}/assets/groups?PageSize=100`)
  const groups: readonly { readonly Id: string }[] = list.json?.Result?.Items ?? list.json?.Items ?? []
  for (const { Id } of groups) await ask(client, 'DELETE', `${library}/assets/groups/${Id}`)
  const { status, json } = await ask(client, 'GET', `${tasks}?page_size=100`)
  const ended: readonly { readonly id: string; readonly status: string }[] = json?.items ?? []
  for (const { id } of ended) await ask(client, 'DELETE', `${tasks}/${id}`)
  return groups.length + ended.length + (list.status === 200 && status === 200 ? 0 : 1)
}

const steps = [assets, texts, videos, events, texts, assets, tidy]

/** The steps of a user, one after the other with a pause, until the signal aborts. */
export const keepBusy = async (client: Client, pauseMs: number, signal: AbortSignal): Promise<void> => {
  for (let nth = 0; !signal.aborted; nth++) {
    await steps[nth % steps.length]?.(client)
    await Bun.sleep(pauseMs * (0.5 + Math.random()))
  }
}

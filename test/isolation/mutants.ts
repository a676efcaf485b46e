import { assetList, groupList } from '../../plugins/asset-library/schema/lists.ts'
import type { FetchHandler } from '../../plugins/concurrency-limits/index.ts'
import { createCursors, readListRequest } from '../../plugins/pagination-normalizer/index.ts'
import { type Json, readJson, toJson } from '../../plugins/shared/json/json.ts'
import type { MediaKind, UpstreamRequest } from '../../plugins/upstream-proxy/index.ts'
import type { Mutant, MutantContext } from './fixture.ts'

/** Mutants of the gateway: each has one defect in an otherwise correct gateway. All are for the kind `rest`. */
export const mutants: Readonly<Record<string, Mutant>> = {
  'every caller owns every group': ({ store, currentUser }) => ({
    store: { ...store, group: async (id) => withUser(await store.group(id), currentUser()) },
  }),

  'a list contains the groups of all users': ({ store, currentUser }) => ({
    store: {
      ...store,
      groupsOf: async (_user, type) => {
        const users = await store.listUsers()
        const all = await Promise.all(users.slice(-3).map(({ id }) => store.groupsOf(id, type)))
        return all.flat().map((group) => ({ ...group, user: currentUser() }))
      },
    },
  }),

  'a list ignores GroupType': ({ store }) => ({
    store: {
      ...store,
      groupsOf: async (user) => (await store.groupsOf(user)).map((group) => ({ ...group, type: 'AIGC' })),
    },
  }),

  'a creation ignores the GroupType of the group': ({ emulator }) => ({
    around: rewriting((request, json) => {
      const type = emulator.library.group(json.get('GroupId')?.string() ?? '')?.type
      return isCreateAsset(request) && type ? json.with('GroupType', toJson(type)) : json
    }),
  }),

  'a batch is shown to every user': ({ store }) => {
    const owners = new Map<string, string>()
    return {
      store: {
        ...store,
        addAssetBatch: (batch, ...more) => {
          owners.set(batch.id, batch.user)
          return store.addAssetBatch(batch, ...more)
        },
        assetBatch: (user, id) => store.assetBatch(owners.get(id) ?? user, id),
      },
    }
  },

  'the batches of all users are listed': ({ store }) => ({
    store: {
      ...store,
      assetBatches: async (_user, page) => {
        const users = (await store.listUsers()).slice(-3)
        return (await Promise.all(users.map(({ id }) => store.assetBatches(id, page)))).flat()
      },
    },
  }),

  'the record of a deleted group remains': ({ store }) => ({
    store: { ...store, removeGroup: async () => {} },
  }),

  'a name is unique over all users': ({ store }) => ({
    store: {
      ...store,
      claim: async (wanted) => {
        const users = (await store.listUsers()).slice(-3)
        const groups = await Promise.all(users.map(({ id }) => store.groupsOf(id, wanted.type)))
        return groups.flat().some(({ name }) => name === wanted.name) ? undefined : store.claim(wanted)
      },
    },
  }),

  'a name is never unique': ({ store }) => {
    let claims = 0
    return {
      store: {
        ...store,
        // The unique key does not contain the name.
        claim: async (wanted) => {
          const claim = await store.claim({ ...wanted, name: `${wanted.name} ${++claims}` })
          return claim && { ...claim, name: wanted.name }
        },
      },
    }
  },

  'only the first of GroupIds is checked': ({ kind }) => {
    let others: readonly string[] = []
    return {
      around: retargeting((url) => {
        others = []
        if (!url.searchParams.has('GroupIds')) return
        const ids = url.searchParams.getAll('GroupIds').flatMap((value) => value.split(','))
        others = ids.slice(1)
        if (ids.length > 1) url.searchParams.set('GroupIds', ids[0] ?? '')
      }),
      kind: readdressed(kind, (url) => {
        const first = url.searchParams.get('GroupIds')
        if (first) url.searchParams.set('GroupIds', [first, ...others].join(','))
      }),
    }
  },

  'PATCH is not checked': (context) => ({
    around: (handle) => async (request) =>
      handle(request.method === 'PATCH' ? await asOwner(context, request) : request),
  }),

  'DELETE is sent before the ownership check': ({ emulator, userOf }) => ({
    around: (handle) => async (request) => {
      const response = await handle(request)
      const id = request.method === 'DELETE' && userOf(request.headers.get('authorization')) && lastSegment(request)
      if (id && response.status === 403) emulator.library.deleteAsset(id)
      return response
    },
  }),

  'PATCH does not check the group in the body': ({ kind }) => {
    let smuggled: Json | undefined
    return {
      around: rewriting((request, json) => {
        smuggled = json.get('GroupId')
        const alone = json.members().filter(({ key }) => /group/i.test(key)).length === 1
        if (request.method === 'PATCH' && alone && smuggled?.string()) return json.without((key) => key === 'GroupId')
        smuggled = undefined
        return json
      }),
      kind: rewritten(kind, 'UpdateAsset', (json) => (smuggled ? json.with('GroupId', smuggled) : json)),
    }
  },

  'a duplicate GroupId in a body is ignored': () => ({
    around: rewriting((_request, json) => toJson(json.value())),
  }),

  'another spelling of GroupId is ignored': () => ({
    around: rewriting((_request, json) => json.without((key) => key !== 'GroupId' && /^group_?id$/i.test(key))),
  }),

  'a nested GroupId is ignored': ({ kind }) => {
    let more: Json | undefined
    return {
      around: rewriting((_request, json) => {
        more = json.get('More')
        return json.without((key) => key === 'More')
      }),
      kind: rewritten(kind, 'CreateAsset', (json) => (more ? json.with('More', more) : json)),
    }
  },

  'TotalCount counts the assets of the whole account': ({ emulator }) => ({
    around: rewritingList((request, body) => {
      if (!body.Result?.Items || !new URL(request.url).pathname.endsWith('/assets')) return body
      return { ...body, Result: { ...body.Result, TotalCount: emulator.library.assets().length } }
    }),
  }),

  'an absent asset is 404': ({ emulator }) => ({
    around: (handle) => async (request) => {
      const response = await handle(request)
      const absent = response.status === 403 && /\/assets\/asset-[^/]*$/.test(new URL(request.url).pathname)
      return absent && !emulator.library.asset(lastSegment(request))
        ? new Response(response.body, { status: 404 })
        : response
    },
  }),

  'a foreign asset has another error message than an unknown one': ({ emulator }) => ({
    around: (handle) => async (request) => {
      const response = await handle(request)
      const text = await response.text()
      const foreign = response.status === 403 && emulator.library.asset(lastSegment(request))
      return new Response(foreign ? text.replace('not found', 'forbidden') : text, response)
    },
  }),

  'a NextToken works for every user': ({ secret, currentUser }) => ({
    around: retargeting((url) => {
      const position = positionIn(url.searchParams.get('NextToken') ?? '')
      if (!position) return
      const rules = url.pathname.endsWith('groups') ? groupList : assetList
      try {
        const request = readListRequest(rules, url.searchParams)
        url.searchParams.set('NextToken', createCursors([secret]).issue(request, currentUser(), position))
      } catch {
        // The gateway rejects the request itself.
      }
    }),
  }),

  'a list with Name sends no GroupIds': ({ kind }) => ({
    kind: readdressed(kind, (url) => {
      if (url.searchParams.has('Name')) url.searchParams.delete('GroupIds')
    }),
  }),

  'a list of a user without groups asks for all groups': ({ emulator, store, currentUser }) => ({
    around: (handle) => async (request) => {
      const { pathname } = new URL(request.url)
      if (
        request.method === 'GET' &&
        pathname.endsWith('/assets') &&
        (await store.groupsOf(currentUser())).length === 0
      ) {
        const headers = { authorization: `Bearer ${emulator.rest.key}` }
        await fetch(`${emulator.rest.url}/assets?GroupType=AIGC&MaxResults=10`, { headers })
      }
      return handle(request)
    },
  }),

  'the items of the upstream are not checked': () => ({
    // The first item is foreign. Here it claims to be in the requested group.
    fetch: async (url, init) => {
      const response = await fetch(url, init)
      const [groupId] = new URL(url).searchParams.get('GroupIds')?.split(',') ?? []
      if (!groupId || !/\/assets\?/.test(url) || !response.ok) return response
      const text = await response.text()
      return new Response(text.replace(/"GroupId":"[^"]*"/, `"GroupId":"${groupId}"`), response)
    },
  }),

  'Name is compared as the upstream compares it': () => ({
    // Items that match by the upstream's rules get the requested Name.
    fetch: async (url, init) => {
      const response = await fetch(url, init)
      const name = new URL(url).searchParams.get('Name')
      if (!name || !/\/assets\?/.test(url) || !response.ok) return response
      return new Response(
        (await response.text()).replace(/"Name":"[^"]*"/g, `"Name":${JSON.stringify(name)}`),
        response,
      )
    },
  }),

  'a failed creation is retried': () => ({
    fetch: async (url, init) => {
      const response = await fetch(url, init).catch(() => undefined)
      if (init.method !== 'POST' || (response && response.status < 500)) return response ?? fetch(url, init)
      return fetch(url, init)
    },
  }),

  'an id is decoded into a path': ({ emulator }) => ({
    around: (handle) => async (request) => {
      const raw = /\/assets\/([^?]*%2f[^?]*)/i.exec(request.url)?.[1]
      if (raw) {
        const headers = { authorization: `Bearer ${emulator.rest.key}` }
        await fetch(`${emulator.rest.url}/assets/${decodeURIComponent(raw)}`, { headers }).catch(() => undefined)
      }
      return handle(request)
    },
  }),

  'the upstream receives the caller’s token': () => {
    let authorization = ''
    return {
      around: (handle) => (request) => {
        authorization = request.headers.get('authorization') ?? ''
        return handle(request)
      },
      fetch: (url, init) => {
        const headers = new Headers(init.headers)
        headers.set('x-forwarded-authorization', authorization)
        return fetch(url, { ...init, headers })
      },
    }
  },

  'ownership is cached without expiry': ({ store }) => {
    const groups = new Map<string, Awaited<ReturnType<typeof store.group>>>()
    return {
      store: {
        ...store,
        group: async (id) => {
          const group = groups.get(id) ?? (await store.group(id))
          groups.set(id, group)
          return group
        },
      },
    }
  },
}

const withUser = <Group extends object>(group: Group | undefined, user: string): Group | undefined =>
  group && { ...group, user }

const isCreateAsset = (request: Request): boolean =>
  request.method === 'POST' && new URL(request.url).pathname.endsWith('/assets')

const lastSegment = (request: Request): string => new URL(request.url).pathname.split('/').at(-1) ?? ''

/** Changes the JSON body of a request before the gateway reads it. */
const rewriting =
  (change: (request: Request, json: Json) => Json) =>
  (handle: FetchHandler): FetchHandler =>
  async (request) => {
    if (!request.body) return handle(request)
    const body = change(request, readJson(await request.text())).raw
    const headers = new Headers(request.headers)
    headers.delete('content-length')
    return handle(new Request(request.url, { method: request.method, headers, body, signal: request.signal }))
  }

/** Changes the query of a list request without a body before the gateway reads it. */
export const retargeting =
  (change: (url: URL) => void) =>
  (handle: FetchHandler): FetchHandler =>
  (request) => {
    const url = new URL(request.url)
    if (request.method !== 'GET' || request.headers.has('content-length')) return handle(request)
    const before = url.search
    change(url)
    return handle(url.search === before ? request : new Request(url.href, request))
  }

interface ListBody {
  readonly Result?: { readonly Items?: readonly unknown[] }
}

const rewritingList =
  (change: (request: Request, body: ListBody) => ListBody) =>
  (handle: FetchHandler): FetchHandler =>
  async (request) => {
    const response = await handle(request)
    return response.status === 200 && request.method === 'GET'
      ? Response.json(change(request, (await response.json()) as ListBody))
      : response
  }

const readdressed = (kind: MediaKind, change: (url: URL) => void): MediaKind => ({
  ...kind,
  async outgoing(operation): Promise<UpstreamRequest> {
    const outgoing = await kind.outgoing(operation)
    const url = new URL(outgoing.url)
    if (operation.action.startsWith('List')) change(url)
    return { ...outgoing, url: url.href }
  },
})

const rewritten = (kind: MediaKind, action: string, change: (json: Json) => Json): MediaKind => ({
  ...kind,
  async outgoing(operation): Promise<UpstreamRequest> {
    const outgoing = await kind.outgoing(operation)
    if (operation.action !== action || outgoing.body === undefined) return outgoing
    const text = typeof outgoing.body === 'string' ? outgoing.body : new TextDecoder().decode(outgoing.body)
    return { ...outgoing, body: change(readJson(text)).raw }
  },
})

/** The same request with the token of the asset's owner. */
const asOwner = async ({ emulator, tokenOf, store }: MutantContext, request: Request): Promise<Request> => {
  const asset = emulator.library.asset(lastSegment(request))
  const token = asset && tokenOf((await store.group(asset.groupId))?.user ?? '')
  const owned = new Request(request)
  if (token) owned.headers.set('authorization', `Bearer ${token}`)
  return owned
}

const positionIn = (token: string): { key: string; id: string } | undefined => {
  try {
    const [key, id] = JSON.parse(Buffer.from(token, 'base64url').subarray(16).toString())
    return { key, id }
  } catch {
    return undefined
  }
}

import type { FetchHandler } from '../../../plugins/concurrency-limits/index.ts'
import type { ObjectKind, TextObject, TextObjectStore } from '../../../plugins/text-generation/index.ts'
import type { User } from '../../support/gateway.ts'
import { bridgedModel, type CurrentRequest, type Mutant, type MutantContext, type Overrides } from './fixture.ts'

/** Mutants of the gateway: each has one defect in otherwise correct gateways. */
export const mutants: Readonly<Record<string, Mutant>> = {
  'previous_response_id is not checked': skippingCheck(
    ({ kind, currentRequest }) => kind === 'response' && currentRequest.path.endsWith('/responses'),
  ),

  'only previous_response_id is checked': skippingCheck(
    ({ currentRequest }) => !currentRequest.path.endsWith('/responses'),
  ),

  'GET is checked, DELETE is not': skippingCheck(({ currentRequest }) => currentRequest.method === 'DELETE'),

  'cancelling is not checked': skippingCheck(({ currentRequest }) => currentRequest.path.endsWith('/cancel')),

  'a list of input items is not checked': skippingCheck(
    ({ kind, currentRequest }) => kind === 'response' && currentRequest.path.endsWith('/input_items'),
  ),

  'a cursor of one list works for every list': skippingCheck(({ kind, id }) => kind === 'item' && id.includes(' ')),

  'an item_reference is not checked': skippingCheck(({ kind, id }) => kind === 'item' && !id.includes(' ')),

  'a conversation is not checked': skippingCheck(({ kind }) => kind === 'conversation'),

  'a conversation object is not checked': smuggling(
    ({ json: { conversation, ...json } }) => typeof conversation === 'object' && { json, smuggled: { conversation } },
  ),

  'of duplicate keys the first is checked and the last is sent': smuggling(({ text = '', json }) => {
    const ids = [...text.matchAll(/"previous_response_id":("(?:[^"\\]|\\.)*")/g)].map(
      ([, id = '']) => JSON.parse(id) as string,
    )
    const [first, last] = [ids[0], ids.at(-1)]
    return (
      ids.length > 1 && { json: { ...json, previous_response_id: first }, smuggled: { previous_response_id: last } }
    )
  }),

  'another spelling of a key is ignored': smuggling(
    ({ json: { Previous_Response_ID: id, previousResponseId: other, ...json } }) => {
      return (id ?? other) !== undefined && { json, smuggled: { previous_response_id: id ?? other } }
    },
  ),

  'a file_id is not checked': smuggling(
    ({ json }) =>
      JSON.stringify(json.input)?.includes('"file_id"') && {
        json: { ...json, input: 'hm' },
        smuggled: { input: json.input },
      },
  ),

  'a response that the gateway keeps is retrieved by every user': ({ storedResponses, users }) => ({
    storedResponses: {
      ...storedResponses,
      findStoredResponse: (_, id, now) =>
        first(users(), (user) => storedResponses.findStoredResponse(user.id, id, now)),
      readStoredResponse: (_, id) => first(users(), (user) => storedResponses.readStoredResponse(user.id, id)),
    },
  }),

  'a conversation that the gateway keeps is continued by every user': ({ storedResponses, users }) => ({
    storedResponses: {
      ...storedResponses,
      findStoredConversation: (_, id, now, bounds) =>
        first(users(), (user) => storedResponses.findStoredConversation(user.id, id, now, bounds)),
    },
  }),

  'an item that the gateway keeps is used by every user': ({ storedResponses, users }) => ({
    storedResponses: {
      ...storedResponses,
      findStoredItem: (_, id, now) => first(users(), (user) => storedResponses.findStoredItem(user.id, id, now)),
      readStoredItems: (_, items) => first(users(), (user) => storedResponses.readStoredItems(user.id, items)),
    },
  }),

  'a response that the gateway keeps is deleted by every user': ({ storedResponses, users }) => ({
    storedResponses: {
      ...storedResponses,
      removeStoredResponse: async (_, id) => {
        const removed = await Promise.all(users().map((user) => storedResponses.removeStoredResponse(user.id, id)))
        return removed.includes(true)
      },
    },
  }),

  'the bridge drops unsupported references': smuggling(
    ({ json: { previous_response_id, conversation, ...json } }) =>
      json.model === bridgedModel && (previous_response_id ?? conversation) !== undefined && { json, smuggled: {} },
  ),

  'the owner is recorded after the caller has received the id': ({ objects }) => ({
    objects: {
      ...objects,
      async recordTextObjects(given) {
        setTimeout(() => void objects.recordTextObjects(given).catch(() => undefined), 60)
        return []
      },
    },
  }),

  'streamed responses are not recorded': recordingOnly(({ json }) => json?.stream !== true),

  'background responses are not recorded': recordingOnly(({ json }) => json?.background !== true),

  'partial responses are not recorded': (context) => {
    const held = new WeakMap<CurrentRequest, (readonly TextObject[])[]>()
    return {
      objects: {
        ...context.objects,
        async recordTextObjects(given) {
          const currentRequest = context.currentRequest()
          if (currentRequest.json?.stream === true) return context.objects.recordTextObjects(given)
          held.set(currentRequest, [...(held.get(currentRequest) ?? []), given])
          return []
        },
      },
      around: (handle) => async (request) => {
        const response = await handle(request)
        if (response.headers.has('x-upstream-partialresponse')) return response
        for (const given of held.get(context.currentRequest()) ?? []) await context.objects.recordTextObjects(given)
        return response
      },
    }
  },

  'a streamed response is recorded at the end of the stream': (context) => {
    const held = new WeakMap<CurrentRequest, readonly TextObject[]>()
    return {
      objects: {
        ...context.objects,
        async recordTextObjects(given) {
          const currentRequest = context.currentRequest()
          const before = held.get(currentRequest)
          if (currentRequest.json?.stream !== true || before)
            return context.objects.recordTextObjects([...(before ?? []), ...given])
          held.set(currentRequest, given)
          return []
        },
      },
    }
  },

  'the last recipient of an id owns it': ({ objects, users }) => ({
    objects: {
      ...objects,
      async recordTextObjects(given) {
        for (const object of given) {
          for (const { id: user } of users())
            if (user !== object.user) await objects.removeTextObject({ ...object, user })
        }
        return objects.recordTextObjects(given)
      },
    },
  }),

  'a list of input items gives ownership of its items': ({ objects }) => ({
    objects: {
      ...objects,
      recordTextObjects: (given) =>
        objects.recordTextObjects(given.flatMap((one) => [one, { ...one, id: one.id.split(' ').at(-1) ?? one.id }])),
    },
  }),

  'an id of another user is returned': ({ objects }) => ({
    objects: {
      ...objects,
      async recordTextObjects(given) {
        await objects.recordTextObjects(given)
        return []
      },
    },
  }),

  'ownership never expires': ({ objects }) => ({
    objects: { ...objects, findTextObject: (user, kind, id) => objects.findTextObject(user, kind, id, 0) },
  }),

  'the record of a deleted response remains': ({ objects }) => ({
    objects: { ...objects, removeTextObject: async () => {} },
  }),

  'a process knows only its own records': ({ objects }) => {
    const given = new Set<string>()
    return {
      objects: {
        ...objects,
        recordTextObjects(records) {
          for (const { id } of records) given.add(id)
          return objects.recordTextObjects(records)
        },
        findTextObject: async (user, kind, id, now) =>
          given.has(id) ? objects.findTextObject(user, kind, id, now) : undefined,
      },
    }
  },

  'a process caches ownership without expiry': ({ objects }) => {
    const known = new Map<string, TextObject>()
    return {
      objects: {
        ...objects,
        async findTextObject(user, kind, id, now) {
          const key = `${user} ${kind} ${id}`
          const found = known.get(key) ?? (await objects.findTextObject(user, kind, id, now))
          if (found) known.set(key, found)
          return found
        },
      },
    }
  },

  'a foreign response has another error message than an unknown one': ({ emulator, currentRequest }) => ({
    around: (handle) => async (request) => {
      const response = await handle(request)
      const id = currentRequest().path.split('/')[3] ?? ''
      if (response.status !== 404 || !emulator.text.objects.list().some((one) => one.id === id)) return response
      return new Response((await response.text()).replace('not found', 'not yours'), response)
    },
  }),

  'a foreign response is requested upstream before the check': ({ emulator, currentRequest }) => ({
    around: (handle) => async (request) => {
      const { method, path } = currentRequest()
      if (method === 'GET' && /^\/v1\/responses\/resp_\w+$/.test(path)) await direct({ emulator }, 'GET', path)
      return handle(request)
    },
  }),

  'DELETE is sent before the ownership check': ({ emulator, currentRequest }) => ({
    around: (handle) => async (request) => {
      const response = await handle(request)
      const { user, method, path } = currentRequest()
      if (user !== '' && method === 'DELETE' && response.status === 404) await direct({ emulator }, 'DELETE', path)
      return response
    },
  }),

  'an id is decoded into a path': ({ emulator }) => ({
    around: (handle) => async (request) => {
      const raw = /\/v1(\/responses\/[^?]*%2f[^?]*)/i.exec(request.url)?.[1]
      if (raw) await direct({ emulator }, request.method, `/v1${decodeURIComponent(raw)}`).catch(() => undefined)
      return handle(request)
    },
  }),

  'stored responses are cached for all users': ({ emulator }) => {
    let last = ''
    return {
      // A cache whose key does not contain the user.
      async fetch(url, init, startRequest) {
        const response = await startRequest(url, init)
        const id = /\/responses\/(resp_\w+)$/.exec(url)?.[1]
        if (!id || init.method !== 'GET' || !response.ok) return response
        const text = await response.text()
        const told = last === '' ? text : last
        last = text
        return new Response(told, { headers: { 'content-type': 'application/json', 'x-emulator': emulator.origin } })
      },
    }
  },
}

/** The first result that is not undefined. */
async function first<Result>(
  users: readonly User[],
  find: (user: User) => Promise<Result | undefined>,
): Promise<Result | undefined> {
  const found = await Promise.all(users.map(find))
  return found.find((result) => result !== undefined)
}

interface Lookup {
  readonly kind: ObjectKind
  readonly id: string
  readonly currentRequest: CurrentRequest
}

/** Where `mistaken` is true, the caller owns every object, also unknown ones. */
function skippingCheck(mistaken: (request: Lookup) => boolean): Mutant {
  return ({ objects, emulator, currentRequest }: MutantContext): Overrides => {
    const findTextObject: TextObjectStore['findTextObject'] = async (user, kind, id, now) => {
      const found = await objects.findTextObject(user, kind, id, now)
      if (found || !mistaken({ kind, id, currentRequest: currentRequest() })) return found
      return { kind, id, user, upstream: emulator.text.url, model: 'm', createdAt: now, expiresAt: now + 1 }
    }
    return { objects: { ...objects, findTextObject } }
  }
}

function recordingOnly(recorded: (currentRequest: CurrentRequest) => boolean): Mutant {
  return ({ objects, currentRequest }) => ({
    objects: {
      ...objects,
      recordTextObjects: async (given) => (recorded(currentRequest()) ? objects.recordTextObjects(given) : []),
    },
  })
}

// biome-ignore lint/suspicious/noExplicitAny: requests of every shape
type Smuggle = (currentRequest: CurrentRequest) => false | undefined | { readonly json: any; readonly smuggled: object }

/** Removes members from a request before the gateway reads it, and adds them to the upstream request. */
function smuggling(smuggle: Smuggle): Mutant {
  return ({ currentRequest }) => ({
    around:
      (handle: FetchHandler): FetchHandler =>
      (request) => {
        const current = currentRequest()
        const found = current.json && request.method === 'POST' && smuggle(current)
        if (!found) return handle(request)
        current.smuggled = found.smuggled
        const headers = new Headers(request.headers)
        headers.delete('content-length')
        return handle(
          new Request(request.url, {
            method: 'POST',
            headers,
            body: JSON.stringify(found.json),
            signal: request.signal,
          }),
        )
      },
    async fetch(url, init, startRequest) {
      const { smuggled } = currentRequest()
      if (!smuggled || !init.body) return startRequest(url, init)
      const json = (await new Response(init.body).json()) as object
      return startRequest(url, { ...init, body: JSON.stringify({ ...json, ...smuggled }) })
    },
  })
}

const direct = ({ emulator }: Pick<MutantContext, 'emulator'>, method: string, path: string) =>
  fetch(emulator.origin + path, { method, headers: { authorization: `Bearer ${emulator.text.key}` } })

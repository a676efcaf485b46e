import type { ObjectKind, TextObject, TextObjectStore } from '../../../plugins/text-generation/index.ts'
import type { Handle } from '../../../src/app.ts'
import { type Acting, bridgedModel, type Ground, type Hole, type Seams } from './fixture.ts'

/** Mistakes that a gateway could make, each planted between parts of right ones. */
export const holes: Readonly<Record<string, Hole>> = {
  'previous_response_id is not checked': letting(
    ({ kind, acting }) => kind === 'response' && acting.path.endsWith('/responses'),
  ),

  'nothing but previous_response_id is checked': letting(({ acting }) => !acting.path.endsWith('/responses')),

  'GET is checked, DELETE is not': letting(({ acting }) => acting.method === 'DELETE'),

  'cancelling is not checked': letting(({ acting }) => acting.path.endsWith('/cancel')),

  'a list of input items is not checked': letting(
    ({ kind, acting }) => kind === 'response' && acting.path.endsWith('/input_items'),
  ),

  'a place in one list is one in every list': letting(({ kind, id }) => kind === 'item' && id.includes(' ')),

  'an item_reference is let through': letting(({ kind, id }) => kind === 'item' && !id.includes(' ')),

  'a conversation is let through': letting(({ kind }) => kind === 'conversation'),

  'a conversation inside an object is not looked into': smuggling(
    ({ json: { conversation, ...json } }) => typeof conversation === 'object' && { json, smuggled: { conversation } },
  ),

  'of two keys the first is checked, and the last counts': smuggling(({ text = '', json }) => {
    const ids = [...text.matchAll(/"previous_response_id":("(?:[^"\\]|\\.)*")/g)].map(
      ([, id = '']) => JSON.parse(id) as string,
    )
    const [first, last] = [ids[0], ids.at(-1)]
    return (
      ids.length > 1 && { json: { ...json, previous_response_id: first }, smuggled: { previous_response_id: last } }
    )
  }),

  'a key in another spelling is overlooked': smuggling(
    ({ json: { Previous_Response_ID: id, previousResponseId: other, ...json } }) => {
      return (id ?? other) !== undefined && { json, smuggled: { previous_response_id: id ?? other } }
    },
  ),

  'a file_id is let through': smuggling(
    ({ json }) =>
      JSON.stringify(json.input)?.includes('"file_id"') && {
        json: { ...json, input: 'hm' },
        smuggled: { input: json.input },
      },
  ),

  'a bridge leaves out what it cannot do': smuggling(
    ({ json: { previous_response_id, conversation, ...json } }) =>
      json.model === bridgedModel && (previous_response_id ?? conversation) !== undefined && { json, smuggled: {} },
  ),

  'it is written down after the caller has seen it': ({ objects }) => ({
    objects: {
      ...objects,
      async recordTextObjects(given) {
        setTimeout(() => void objects.recordTextObjects(given).catch(() => undefined), 60)
        return []
      },
    },
  }),

  'streams are not recorded': recordingOnly(({ json }) => json?.stream !== true),

  'what runs in the background is not recorded': recordingOnly(({ json }) => json?.background !== true),

  'what is cut off is not recorded': (ground) => {
    const held = new WeakMap<Acting, (readonly TextObject[])[]>()
    return {
      objects: {
        ...ground.objects,
        async recordTextObjects(given) {
          const acting = ground.acting()
          if (acting.json?.stream === true) return ground.objects.recordTextObjects(given)
          held.set(acting, [...(held.get(acting) ?? []), given])
          return []
        },
      },
      around: (handle) => async (request) => {
        const answer = await handle(request)
        if (answer.headers.has('x-upstream-partialresponse')) return answer
        for (const given of held.get(ground.acting()) ?? []) await ground.objects.recordTextObjects(given)
        return answer
      },
    }
  },

  'a stream is recorded when it has come to its end': (ground) => {
    const held = new WeakMap<Acting, readonly TextObject[]>()
    return {
      objects: {
        ...ground.objects,
        async recordTextObjects(given) {
          const acting = ground.acting()
          const before = held.get(acting)
          if (acting.json?.stream !== true || before)
            return ground.objects.recordTextObjects([...(before ?? []), ...given])
          held.set(acting, given)
          return []
        },
      },
    }
  },

  'an id belongs to whoever was given it last': ({ objects, users }) => ({
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

  'to be shown an item makes one its owner': ({ objects }) => ({
    objects: {
      ...objects,
      recordTextObjects: (given) =>
        objects.recordTextObjects(given.flatMap((one) => [one, { ...one, id: one.id.split(' ').at(-1) ?? one.id }])),
    },
  }),

  'an id that is somebody else’s already is given all the same': ({ objects }) => ({
    objects: {
      ...objects,
      async recordTextObjects(given) {
        await objects.recordTextObjects(given)
        return []
      },
    },
  }),

  'ownership never ends': ({ objects }) => ({
    objects: { ...objects, textObject: (user, kind, id) => objects.textObject(user, kind, id, 0) },
  }),

  'a deleted response stays its owner’s': ({ objects }) => ({
    objects: { ...objects, removeTextObject: async () => {} },
  }),

  'a process knows only what it has given itself': ({ objects }) => {
    const given = new Set<string>()
    return {
      objects: {
        ...objects,
        recordTextObjects(records) {
          for (const { id } of records) given.add(id)
          return objects.recordTextObjects(records)
        },
        textObject: async (user, kind, id, now) =>
          given.has(id) ? objects.textObject(user, kind, id, now) : undefined,
      },
    }
  },

  'a process remembers whose everything was': ({ objects }) => {
    const known = new Map<string, TextObject>()
    return {
      objects: {
        ...objects,
        async textObject(user, kind, id, now) {
          const key = `${user} ${kind} ${id}`
          const found = known.get(key) ?? (await objects.textObject(user, kind, id, now))
          if (found) known.set(key, found)
          return found
        },
      },
    }
  },

  'a foreign response is refused in words of its own': ({ emulator, acting }) => ({
    around: (handle) => async (request) => {
      const answer = await handle(request)
      const id = acting().path.split('/')[3] ?? ''
      if (answer.status !== 404 || !emulator.text.objects.list().some((one) => one.id === id)) return answer
      return new Response((await answer.text()).replace('not found', 'not yours'), answer)
    },
  }),

  'a foreign response is asked for before it is refused': ({ emulator, acting }) => ({
    around: (handle) => async (request) => {
      const { method, path } = acting()
      if (method === 'GET' && /^\/v1\/responses\/resp_\w+$/.test(path)) await direct({ emulator }, 'GET', path)
      return handle(request)
    },
  }),

  'DELETE comes before its check': ({ emulator, acting }) => ({
    around: (handle) => async (request) => {
      const answer = await handle(request)
      const { user, method, path } = acting()
      if (user !== '' && method === 'DELETE' && answer.status === 404) await direct({ emulator }, 'DELETE', path)
      return answer
    },
  }),

  'an id becomes a path': ({ emulator }) => ({
    around: (handle) => async (request) => {
      const raw = /\/v1(\/responses\/[^?]*%2f[^?]*)/i.exec(request.url)?.[1]
      if (raw) await direct({ emulator }, request.method, `/v1${decodeURIComponent(raw)}`).catch(() => undefined)
      return handle(request)
    },
  }),

  'what was said before is anybody’s': ({ emulator }) => {
    let last = ''
    return {
      // As a cache would that does not know for whom it is.
      async fetch(url, init, send) {
        const answer = await send(url, init)
        const id = /\/responses\/(resp_\w+)$/.exec(url)?.[1]
        if (!id || init.method !== 'GET' || !answer.ok) return answer
        const text = await answer.text()
        const told = last === '' ? text : last
        last = text
        return new Response(told, { headers: { 'content-type': 'application/json', 'x-emulator': emulator.origin } })
      },
    }
  },
}

interface Asked {
  readonly kind: ObjectKind
  readonly id: string
  readonly acting: Acting
}

/** Everybody's objects are the caller's, where the mistake is made, and so are those that nobody has. */
function letting(mistaken: (asked: Asked) => boolean): Hole {
  return ({ objects, emulator, acting }: Ground): Seams => {
    const textObject: TextObjectStore['textObject'] = async (user, kind, id, now) => {
      const found = await objects.textObject(user, kind, id, now)
      if (found || !mistaken({ kind, id, acting: acting() })) return found
      return { kind, id, user, upstream: emulator.text.url, model: 'm', createdAt: now, expiresAt: now + 1 }
    }
    return { objects: { ...objects, textObject } }
  }
}

function recordingOnly(recorded: (acting: Acting) => boolean): Hole {
  return ({ objects, acting }) => ({
    objects: {
      ...objects,
      recordTextObjects: async (given) => (recorded(acting()) ? objects.recordTextObjects(given) : []),
    },
  })
}

// biome-ignore lint/suspicious/noExplicitAny: requests of every shape
type Smuggle = (acting: Acting) => false | undefined | { readonly json: any; readonly smuggled: object }

/** Takes something out of a request before the gateway sees it, and puts it back on its way upstream. */
function smuggling(smuggle: Smuggle): Hole {
  return ({ acting }) => ({
    around:
      (handle: Handle): Handle =>
      (request) => {
        const current = acting()
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
    async fetch(url, init, send) {
      const { smuggled } = acting()
      if (!smuggled || !init.body) return send(url, init)
      const json = (await new Response(init.body).json()) as object
      return send(url, { ...init, body: JSON.stringify({ ...json, ...smuggled }) })
    },
  })
}

const direct = ({ emulator }: Pick<Ground, 'emulator'>, method: string, path: string) =>
  fetch(emulator.origin + path, { method, headers: { authorization: `Bearer ${emulator.text.key}` } })

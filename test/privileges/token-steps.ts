import { expect } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { type Choice, callerOf, type Step } from './choice.ts'
import type { Thing } from './model.ts'

const seed = 'doubao-seed-emulated'
const wide = 'emulated-wide'
const video = 'doubao-seedance-2-0-260128'
const fast = 'doubao-seedance-2-0-fast-260128'

/** Requests with an API token. */
export const tokenSteps: Readonly<Record<string, Step>> = {
  async chat(world, choice) {
    const [caller, model] = [callerOf(world, choice), choice.of([seed, wide])]
    const allowed = world.model.byToken(caller, 'text', false)
    const body = { model, messages: [{ role: 'user', content: 'hi' }] }
    const { status } = await world.ask(caller, 'POST', '/v1/chat/completions', body)
    expect(status).toBe('status' in allowed ? allowed.status : world.model.permits(allowed.key, model) ? 200 : 404)
  },

  async countTokens(world, choice) {
    const [caller, model] = [callerOf(world, choice), choice.of([seed, wide])]
    const allowed = world.model.byToken(caller, 'text', true)
    const body = { model, max_tokens: 1, messages: [{ role: 'user', content: 'hi' }] }
    const { status } = await world.ask(caller, 'POST', '/v1/messages/count_tokens', body)
    expect(status).toBe('status' in allowed ? allowed.status : world.model.permits(allowed.key, model) ? 200 : 404)
  },

  async listModels(world, choice) {
    const caller = callerOf(world, choice)
    const allowed = world.model.byToken(caller, 'text', true)
    const { status, json } = await world.ask(caller, 'GET', '/v1/models')
    expect(status).toBe('status' in allowed ? allowed.status : 200)
    if ('status' in allowed) return
    const ids = json.data.map(({ id }: { readonly id: string }) => id)
    for (const id of ids) expect([id, world.model.permits(allowed.key, id)]).toEqual([id, true])
    expect(ids.includes(seed)).toBe(world.model.permits(allowed.key, seed))
    const one = await world.ask(caller, 'GET', `/v1/models/${wide}`)
    expect(one.status).toBe(world.model.permits(allowed.key, wide) ? 200 : 404)
  },

  async createVideo(world, choice) {
    const [caller, model] = [callerOf(world, choice), choice.of([video, fast])]
    const allowed = world.model.byToken(caller, 'video', false)
    const native = choice.number(2) === 0
    const { status, json } = native
      ? await world.ask(caller, 'POST', '/api/v3/contents/generations/tasks', {
          ...{ model, content: [{ type: 'text', text: 'a cat' }] },
        })
      : await world.ask(caller, 'POST', '/v1/videos', { model, prompt: 'a cat' })
    expect(status).toBe('status' in allowed ? allowed.status : world.model.permits(allowed.key, model) ? 200 : 404)
    if (status === 200 && 'key' in allowed)
      world.model.things.push({ kind: 'video', id: json.id, owner: allowed.key.owner, gone: false })
  },

  async createGroup(world, choice) {
    const caller = callerOf(world, choice)
    const allowed = world.model.byToken(caller, 'media', false)
    const { status, json } = await world.ask(caller, 'POST', '/api/media/proxy/assets/groups', { Name: randomUUID() })
    expect(status).toBe('status' in allowed ? allowed.status : 200)
    if ('key' in allowed) {
      const id = json.Result?.Id ?? json.Id
      world.model.things.push({ kind: 'group', id, owner: allowed.key.owner, gone: false })
    }
  },

  async lookAtThing(world, choice) {
    const things = world.model.things.filter(({ kind, gone }) => kind !== 'webhook' && !gone)
    if (things.length === 0) return
    const [caller, thing] = [callerOf(world, choice), choice.of(things)]
    const family = thing.kind === 'video' ? 'video' : 'media'
    const allowed = world.model.byToken(caller, family, true)
    const { status } = await world.ask(caller, 'GET', pathOf(thing, choice))
    if ('status' in allowed) expect(status).toBe(allowed.status)
    else if (allowed.key.owner === thing.owner) expect(status).toBe(200)
    else expect([403, 404]).toContain(status)
  },

  async deleteThing(world, choice) {
    const things = world.model.things.filter(({ kind, gone }) => kind === 'group' && !gone)
    if (things.length === 0) return
    const [caller, thing] = [callerOf(world, choice), choice.of(things)]
    const allowed = world.model.byToken(caller, 'media', false)
    const { status } = await world.ask(caller, 'DELETE', pathOf(thing, choice))
    if ('status' in allowed) expect(status).toBe(allowed.status)
    else if (allowed.key.owner === thing.owner) {
      expect(status).toBe(200)
      thing.gone = true
    } else expect([403, 404]).toContain(status)
  },

  async listThings(world, choice) {
    const caller = callerOf(world, choice)
    const allowed = world.model.byToken(caller, 'media', true)
    const { status, text } = await world.ask(caller, 'GET', '/api/media/proxy/assets/groups?PageNumber=1&PageSize=100')
    expect(status).toBe('status' in allowed ? allowed.status : 200)
    for (const { kind, id, owner, gone } of world.model.things)
      if (kind === 'group') expect(text.includes(id)).toBe('key' in allowed && allowed.key.owner === owner && !gone)
  },

  /** No credential of a route is enough for those of another. */
  async wrongRoute(world, choice) {
    const caller = callerOf(world, choice)
    if (caller.kind === 'session')
      expect((await world.ask(caller, 'GET', choice.of(['/v1/models', '/v1/videos']))).status).toBe(401)
    if (caller.kind === 'token')
      for (const path of ['/api/account', '/api/tokens', '/api/account/sessions', '/api/usage'])
        expect((await world.ask(caller, 'GET', path)).status).toBe(401)
  },
}

const pathOf = ({ kind, id }: Thing, choice: Choice): string => {
  if (kind === 'group') return `/api/media/proxy/assets/groups/${id}`
  return choice.number(2) === 0 ? `/api/v3/contents/generations/tasks/${id}` : `/v1/videos/${id}`
}

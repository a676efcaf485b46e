import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createToken, hashToken } from '../../plugins/api-token/index.ts'
import { Background } from '../../plugins/shared/background/background.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { Client } from '../text-generation/websocket-client.ts'

const seed = 'doubao-seed-emulated'
const other = 'emulated-wide'
const video = 'doubao-seedance-2-0-260128'
const otherVideo = 'doubao-seedance-2-5-260628'

describe('the models of a token', () => {
  const background = new Background()
  let gateway: TestGateway
  /** With one upstream whose models are not configured. */
  let plain: TestGateway
  const tokens = new Map<TestGateway, string>()
  const free = new Map<TestGateway, string>()

  beforeAll(async () => {
    plain = await startGateway({ emulator: { video: { queuedMs: 0, runningMs: 20 } }, checked: 'own' })
    gateway = await startGateway({
      checked: 'own',
      text: {
        upstreams: [
          {
            ...plain.emulator.text,
            models: [{ id: seed, alias: 'fast' }, { id: other, alias: 'slow' }, 'emulated-2k'],
          },
          { ...plain.emulator.text, name: 'others' },
        ],
      },
      video: {
        ...{ upstream: plain.emulator.video, background, pollMs: 20 },
        modelAliases: { 'sora-2': video, 'sora-2-pro': otherVideo },
      },
      emulator: plain.emulator,
    })
    for (const each of [plain, gateway]) {
      const user = await each.addUser('ann')
      free.set(each, user.token)
      const token = createToken()
      const models = each === plain ? ['doubao-seed-*', 'emulated-chat-only', video] : ['fast', 'emulated-2*', 'sora-2']
      const added = { hash: hashToken(token), start: 'sk-', scopes: ['text', 'video'], models, createdAt: 1 } as const
      expect(await each.store.addUserToken(user.id, added)).toBeObject()
      tokens.set(each, token)
    }
  })
  afterAll(async () => {
    await background.stop()
    await gateway[Symbol.asyncDispose]()
    await plain[Symbol.asyncDispose]()
  })

  const ask = async (at: TestGateway, path: string, body?: object | string, token = tokens.get(at)) => {
    const response = await fetch(at.url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, json: text.startsWith('{') ? JSON.parse(text) : text }
  }

  const callsOf = () => plain.emulator.calls.filter(({ api }) => api === 'text' || api === 'video').length
  const messages = [{ role: 'user', content: 'hi' }]
  const notFound = {
    error: { message: 'model not found', type: 'invalid_request_error', param: 'model', code: 'model_not_found' },
  }

  test('are the only ones in the list, and by their ids', async () => {
    const ids = ({ json }: { readonly json: { readonly data: readonly { readonly id: string }[] } }) =>
      json.data.map(({ id }) => id)
    expect(ids(await ask(plain, '/v1/models'))).toEqual([seed, 'emulated-chat-only'])
    expect(ids(await ask(gateway, '/v1/models'))).toEqual(['fast', 'emulated-2k'])
    const all = ids(await ask(plain, '/v1/models', undefined, free.get(plain)))
    expect(all.length).toBeGreaterThan(10)
    expect((await ask(plain, `/v1/models/${seed}`)).json.id).toBe(seed)
    expect((await ask(gateway, '/v1/models/fast')).json.id).toBe('fast')
    const calls = callsOf()
    for (const [at, id] of [
      [plain, other],
      [plain, 'emulated/odd name:v1'],
      [plain, 'no-such-model'],
      [gateway, 'slow'],
      [gateway, seed],
    ] as const)
      for (const path of [encodeURIComponent(id), id.replaceAll(' ', '%20')])
        expect(await ask(at, `/v1/models/${path}`)).toEqual({ status: 404, json: notFound })
    expect(callsOf()).toBe(calls)
  })

  /** A body for each route that generates or counts, with a model that it knows. */
  const routes = {
    '/v1/chat/completions': { messages },
    '/v1/responses': { input: 'hi' },
    '/v1/responses/input_tokens': { input: 'hi' },
    '/v1/responses/compact': { input: [{ role: 'user', content: 'hi' }] },
    '/v1/completions': { prompt: 'hi' },
    '/v1/embeddings': { input: 'hi' },
    '/v1/messages': { messages, max_tokens: 9 },
    '/v1/messages/count_tokens': { messages },
  }

  test('are the only ones on each text route; others are 404, and nothing goes upstream', async () => {
    const calls = callsOf()
    for (const [path, body] of Object.entries(routes)) {
      for (const [at, model] of [
        [plain, other],
        [plain, 'doubao-seed'],
        [plain, 'emulated-embedding'],
        [gateway, 'slow'],
        [gateway, seed],
        [gateway, 'emulated-instruct'],
      ] as const) {
        const { status, json } = await ask(at, path, { model, ...body })
        expect([path, status]).toEqual([path, 404])
        if (path.startsWith('/v1/messages')) expect(json.error).toMatchObject({ type: 'not_found_error' })
        else expect(json).toEqual(notFound)
      }
    }
    expect(callsOf()).toBe(calls)
    for (const [at, model] of [
      [plain, seed],
      [gateway, 'fast'],
      [gateway, 'emulated-2k'],
    ] as const)
      for (const path of [
        '/v1/chat/completions',
        '/v1/responses',
        '/v1/messages',
        '/v1/messages/count_tokens',
      ] as const)
        expect([path, (await ask(at, path, { model, ...routes[path] })).status]).toEqual([path, 200])
    expect((await ask(plain, '/v1/chat/completions', { model: other, messages }, free.get(plain))).status).toBe(200)
  })

  test('hold however the body names another model', async () => {
    const calls = callsOf()
    const body = `"messages":${JSON.stringify(messages)}`
    for (const names of [
      `"model":"${seed}","model":"${other}"`,
      `"model":"${other}","model":"${seed}"`,
      `"model":"${seed}","Model":"${other}"`,
      `"model":"${seed}","mo_del":"${other}"`,
      `"model":"${seed}","\\u006dodel":"${other}"`,
      `"model":"${seed}","models":["${seed}","${other}"]`,
      `"model":"${seed}","fallbacks":[{"${seed}":["${other}"]}]`,
      `"model":"${seed}","tools":[{"type":"image_generation","model":"${other}"}]`,
    ])
      expect([names, (await ask(plain, '/v1/chat/completions', `{${names},${body}}`)).status]).toEqual([names, 404])
    expect(callsOf()).toBe(calls)
    const allowed = { model: seed, models: [seed], messages }
    expect((await ask(plain, '/v1/chat/completions', allowed)).status).toBe(200)
    expect((await ask(plain, '/v1/chat/completions', { messages })).status).toBe(400)
  })

  test('hold for each message of a WebSocket', async () => {
    const client = await Client.open(plain.url, tokens.get(plain))
    client.create({ model: other, input: 'hi' })
    expect(await client.next()).toMatchObject({ type: 'error', status: 404, error: { code: 'model_not_found' } })
    client.create({ model: seed, input: 'hi' })
    expect((await client.next()).type).toBe('response.created')
    client.socket.terminate()
  })

  test('hold for videos, also for ones made from a video of another token, and by their aliases', async () => {
    const content = [{ type: 'text', text: 'a cat' }]
    const path = '/api/v3/contents/generations/tasks'
    const calls = callsOf()
    expect(await ask(plain, path, { model: otherVideo, content })).toEqual({
      status: 404,
      json: {
        error: {
          code: 'InvalidEndpointOrModel.NotFound',
          message: `The model or endpoint ${otherVideo} does not exist or you do not have access to it.`,
          param: 'model',
          type: 'NotFound',
        },
      },
    })
    expect(callsOf()).toBe(calls)
    expect((await ask(plain, path, { model: video, content })).status).toBe(200)
    const make = (model: string, token?: string) => ask(gateway, '/v1/videos', { model, prompt: 'a cat' }, token)
    const { status, json } = await make('sora-2-pro')
    expect([status, json.error.code]).toEqual([404, 'InvalidEndpointOrModel.NotFound'])
    expect((await make(otherVideo)).status).toBe(404)
    expect((await make('sora-2')).status).toBe(200)
    // The token names the alias, and not the upstream's model.
    expect((await make(video)).status).toBe(404)
    const foreign = await make('sora-2-pro', free.get(gateway))
    expect(foreign.status).toBe(200)
    const id = foreign.json.id as string
    await completed(id)
    for (const [path, body] of [
      [`/v1/videos/${id}/remix`, { prompt: 'a dog' }],
      ['/v1/videos/edits', { prompt: 'edit: a dog', video: { id } }],
      ['/v1/videos/extensions', { prompt: 'extend it', seconds: '8', video: { id } }],
    ] as const) {
      const made = await ask(gateway, path, body)
      expect([path, made.status, made.json.error?.code]).toEqual([path, 404, 'InvalidEndpointOrModel.NotFound'])
      expect([path, (await ask(gateway, path, body, free.get(gateway))).status]).toEqual([path, 200])
    }
  })

  const completed = async (id: string): Promise<void> => {
    while ((await ask(gateway, `/v1/videos/${id}`)).json.status !== 'completed') await Bun.sleep(10)
  }
})

import { describe, expect, test } from 'bun:test'
import { createDroppedTools } from '../../plugins/text-generation/upstream/dropped-tools.ts'
import { chunk, openApp, streaming } from './fixture.ts'

const upstream = () => streaming([chunk({ content: 'x' }), chunk({}, 'stop'), '[DONE]'])
const url = 'http://upstream.invalid/v1'
const f = { type: 'function', name: 'f', parameters: {} }
const search = { type: 'web_search', external_web_access: false }
const searched = { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'x' } }

const openBridge = (hostedTools: 'reject' | 'drop' | undefined) =>
  openApp(upstream, { upstreams: [{ url, chatOnly: true, models: ['m', { id: 'other', hostedTools }] }] })

const request = (more: object = {}) => ({ model: 'other', input: 'hi', tools: [f, search, search], ...more })

describe('tools that the upstream would run itself', () => {
  test('are rejected by name with the policy reject', async () => {
    const app = openBridge('reject')
    const response = await app.post('/responses', request())
    expect(response.status).toBe(400)
    const { error } = (await response.json()) as { error: { param: string; message: string } }
    expect(error.param).toBe('tools[1].type')
    expect(error.message).toContain("'web_search'")
    expect(app.asked).toEqual([])
  })

  for (const [policy, stream] of [
    ['drop', true],
    ['drop', false],
    [undefined, true],
  ] as const) {
    test(`are dropped with the policy ${policy}, and the response says so: stream ${stream}`, async () => {
      const app = openBridge(policy)
      const response = await app.post('/responses', request({ stream, tools: [search, f, { type: 'mcp' }, search] }))
      expect(response.status).toBe(200)
      expect(response.headers.get('x-dropped-tools')).toBe('web_search, mcp')
      await response.text()
      expect(app.asked[0]?.json.tools).toEqual([{ type: 'function', function: { name: 'f', parameters: {} } }])
      const others = await app.post('/responses', request({ stream, tools: [f] }))
      expect(others.headers.has('x-dropped-tools')).toBe(false)
      await others.text()
    })
  }

  test('are logged once, and their names are safe in a header', async () => {
    const lines: object[] = []
    const ignore = () => {}
    const log = { debug: ignore, warn: ignore, error: ignore, info: (fields: object) => void lines.push(fields) }
    const app = openApp(upstream, { upstreams: [{ url, chatOnly: true }], log })
    const tools = [search, { type: 'a b\r\nx-y: ü😀' }, { type: '' }, { type: 'x'.repeat(10_000) }]
    for (let nth = 0; nth < 3; nth++) {
      const response = await app.post('/responses', request({ tools, stream: true }))
      expect(response.headers.get('x-dropped-tools')).toBe(
        `web_search, a_b__x-y__${'_'.repeat(3)}, , ${'x'.repeat(64)}`,
      )
      await response.text()
    }
    expect(lines).toHaveLength(4)
    expect(lines[0]).toEqual({ upstream: url, tool: 'web_search' })
  })

  test('are at most 50 in a header, and 1,000 in the log', () => {
    let lines = 0
    const dropped = createDroppedTools({ debug() {}, warn() {}, error() {}, info: () => void lines++ })
    const response = new Response()
    for (let first = 0; first < 1_200; first += 60) {
      const types = Array.from({ length: 60 }, (_, nth) => `tool_${first + nth}`)
      dropped.report(response, types, { upstream: { url } })
      expect(response.headers.get('x-dropped-tools')?.split(', ')).toEqual(types.slice(0, 50))
    }
    for (let nth = 0; nth < 100; nth++) dropped.report(response, [`more_${nth}`], { upstream: { url } })
    expect(lines).toBe(1_000)
  })

  test('are dropped from the input too', async () => {
    const app = openBridge('drop')
    const input = [searched, { type: 'message', role: 'assistant', content: 'A.' }, { role: 'user', content: 'B' }]
    expect((await app.post('/responses', request({ input }))).status).toBe(200)
    expect(app.asked[0]?.json.messages).toEqual([
      { role: 'assistant', content: 'A.' },
      { role: 'user', content: 'B' },
    ])
    const rejected = await openBridge('reject').post('/responses', { model: 'other', input })
    expect(await rejected.json()).toMatchObject({ error: { param: 'input[0].type' } })
    for (const type of ['item_reference', 'unknown']) {
      const response = await app.post('/responses', request({ input: [{ type, id: 'x' }] }))
      expect([response.status, await response.json()]).toMatchObject([400, { error: { param: 'input[0].type' } }])
    }
  })

  test('cannot be required', async () => {
    const app = openBridge('drop')
    const paramOf = async (tool_choice: object) => {
      const response = await app.post('/responses', request({ tool_choice }))
      return ((await response.json()) as { error?: { param: string } }).error?.param
    }
    expect(await paramOf({ type: 'web_search' })).toBe('tool_choice.type')
    const allowed = { type: 'allowed_tools', tools: [search, { type: 'function', name: 'f' }] }
    expect(await paramOf({ ...allowed, mode: 'required' })).toBeUndefined()
    expect(await paramOf({ ...allowed, tools: [search], mode: 'required' })).toBe('tool_choice.tools')
  })
})

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { type Emulator, hostileHeaders, type LeakForm, startEmulator } from '../../src/emulator/index.ts'
import { rest } from './client.ts'
import { chat, dataOf, MODEL, post } from './text-client.ts'

let emulator: Emulator

beforeAll(async () => {
  emulator = await startEmulator({ key: 'sk-rest', text: { key: 'sk-text' } })
})
afterAll(() => emulator.stop())
afterEach(() => emulator.faults.clear())

const sendChat = (more: object = {}) => post(emulator, '/chat/completions', chat('hi', more))
const sendResponses = (more: object = {}) => post(emulator, '/responses', { model: MODEL, input: 'hi', ...more })
const checkHostile = (headers: Headers) => {
  for (const [name, value] of Object.entries(hostileHeaders)) expect(headers.get(name)).toBe([value].flat().join(', '))
}

describe('hostile headers', () => {
  const hostile = (more: object = {}) => emulator.faults.add({ kind: 'hostile-headers', ...more })

  test('are added to responses, streams and errors of both text APIs and of the asset API', async () => {
    for (const send of [
      () => sendChat(),
      () => sendChat({ stream: true }),
      () => sendResponses(),
      () => sendResponses({ stream: true }),
      () => sendChat({ model: 'nobody' }),
      () => rest(emulator, 'GET', '/assets'),
    ]) {
      const [plain, fault] = [await send(), hostile()]
      const { status, headers, text } = await send()
      checkHostile(headers)
      expect([status, text.length > 0, fault.hits]).toEqual([plain.status, true, 1])
    }
  })

  test('can be combined with an error status and an HTML page with a script', async () => {
    for (const send of [() => sendChat(), () => sendChat({ stream: true }), () => rest(emulator, 'GET', '/assets')]) {
      hostile({ status: 500, page: true })
      const { status, headers, text } = await send()
      checkHostile(headers)
      expect([status, headers.get('content-type')]).toEqual([500, 'text/html'])
      expect(text).toContain('<script>')
    }
  })
})

/** Each encoded form of the key, and how to decode it. */
const FORMS: Readonly<Record<LeakForm, readonly [wire: string, read: (text: string) => string]>> = {
  plain: ['sk-text', (text) => text],
  escaped: ['\\u0073k-text', (text) => JSON.parse(`"${text}"`)],
  base64: ['c2stdGV4dA==', atob],
  percent: ['%73%6b%2d%74%65%78%74', decodeURIComponent],
}

describe.each(Object.entries(FORMS))('a leak of the credential: %s', (form, [wire, read]) => {
  const leak = (more: object = {}) => emulator.faults.add({ kind: 'leak', form: form as LeakForm, ...more })

  test('decodes to the key', () => {
    expect(read(wire)).toBe('sk-text')
  })

  test('is in a field of a response with correct Content-Length, and of an error', async () => {
    leak()
    const { text, headers, json } = await sendChat()
    expect(text).toStartWith(`{"authorization":"Bearer ${wire}","id":"chatcmpl-`)
    expect(headers.get('content-length')).toBe(String(Buffer.byteLength(text)))
    expect(json.choices[0].message.content).toContain('You wrote: “hi”.')
    leak()
    expect((await sendChat({ model: 'nobody' })).text).toStartWith(`{"authorization":"Bearer ${wire}","error":`)
  })

  test('is in every event of a stream except [DONE]', async () => {
    for (const send of [sendChat, sendResponses]) {
      leak()
      const { text } = await send({ stream: true })
      const events = [...text.matchAll(/^data: (.*)$/gm)]
        .map(([, data = '']) => data)
        .filter((data) => data !== '[DONE]')
      expect(events.length).toBeGreaterThan(20)
      for (const data of events) expect(data).toStartWith(`{"authorization":"Bearer ${wire}",`)
      expect(dataOf(text).length).toBeGreaterThanOrEqual(events.length)
    }
  })

  test('is in the generated text', async () => {
    leak({ location: 'content', times: 3 })
    expect((await sendChat()).text).toContain(`"content":"Bearer ${wire} You wrote`)
    expect((await sendResponses()).text).toContain(`"text":"Bearer ${wire} You wrote`)
    expect((await sendChat({ stream: true })).text).toContain(`"content":"Bearer ${wire} `)
  })

  test('is in a header that gateways forward', async () => {
    leak({ location: 'header', times: 2 })
    expect((await sendChat()).headers.get('x-request-id')).toBe(`req-${wire}`)
    expect((await sendResponses({ stream: true })).headers.get('x-request-id')).toBe(`req-${wire}`)
  })
})

test('the asset API leaks its own key', async () => {
  emulator.library.addAsset({ groupId: emulator.library.addGroup({ name: 'g' }).id, name: 'cat' })
  emulator.faults.add({ kind: 'leak', form: 'escaped' })
  expect((await rest(emulator, 'GET', '/assets')).text).toStartWith('{"authorization":"Bearer \\u0073k-rest",')
  emulator.faults.add({ kind: 'leak', location: 'header' })
  expect((await rest(emulator, 'GET', '/assets')).headers.get('x-request-id')).toBe('req-sk-rest')
  emulator.faults.add({ kind: 'leak', location: 'content' })
  expect((await rest(emulator, 'GET', '/assets')).text).toContain('"Name":"Bearer sk-rest cat"')
  expect((await rest(emulator, 'GET', '/assets')).text).not.toContain('sk-rest')
})

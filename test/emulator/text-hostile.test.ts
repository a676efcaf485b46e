import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { type Emulator, HOSTILE_HEADERS, type LeakForm, startEmulator } from '../../src/emulator/index.ts'
import { rest } from './client.ts'
import { chat, dataOf, MODEL, post } from './text-client.ts'

let emulator: Emulator

beforeAll(async () => {
  emulator = await startEmulator({ limits: {}, key: 'sk-rest', text: { key: 'sk-text' } })
})
afterAll(() => emulator.stop())
afterEach(() => emulator.faults.clear())

const chatted = (more: object = {}) => post(emulator, '/chat/completions', chat('hi', more))
const responded = (more: object = {}) => post(emulator, '/responses', { model: MODEL, input: 'hi', ...more })
const checkHostile = (headers: Headers) => {
  for (const [name, value] of Object.entries(HOSTILE_HEADERS)) expect(headers.get(name)).toBe([value].flat().join(', '))
}

describe('hostile headers', () => {
  const hostile = (more: object = {}) => emulator.faults.add({ kind: 'hostile-headers', ...more })

  test('come with answers, streams and refusals of both protocols, and of the asset library', async () => {
    for (const ask of [
      () => chatted(),
      () => chatted({ stream: true }),
      () => responded(),
      () => responded({ stream: true }),
      () => chatted({ model: 'nobody' }),
      () => rest(emulator, 'GET', '/assets'),
    ]) {
      const [plain, fault] = [await ask(), hostile()]
      const { status, headers, text } = await ask()
      checkHostile(headers)
      expect([status, text.length > 0, fault.hits]).toEqual([plain.status, true, 1])
    }
  })

  test('come with an error, and with a page that runs a script', async () => {
    for (const ask of [() => chatted(), () => chatted({ stream: true }), () => rest(emulator, 'GET', '/assets')]) {
      hostile({ status: 500, page: true })
      const { status, headers, text } = await ask()
      checkHostile(headers)
      expect([status, headers.get('content-type')]).toEqual([500, 'text/html'])
      expect(text).toContain('<script>')
    }
  })
})

/** What each form of the key is on the wire, and how a reader gets the key back. */
const FORMS: Readonly<Record<LeakForm, readonly [wire: string, read: (text: string) => string]>> = {
  plain: ['sk-text', (text) => text],
  escaped: ['\\u0073k-text', (text) => JSON.parse(`"${text}"`)],
  base64: ['c2stdGV4dA==', atob],
  percent: ['%73%6b%2d%74%65%78%74', decodeURIComponent],
}

describe.each(Object.entries(FORMS))('a leak of the credential: %s', (form, [wire, read]) => {
  const leak = (more: object = {}) => emulator.faults.add({ kind: 'leak', form: form as LeakForm, ...more })

  test('is the key to whoever can read it', () => {
    expect(read(wire)).toBe('sk-text')
  })

  test('stands in a field of an answer, whose length is right, and in a refusal', async () => {
    leak()
    const { text, headers, json } = await chatted()
    expect(text).toStartWith(`{"authorization":"Bearer ${wire}","id":"chatcmpl-`)
    expect(headers.get('content-length')).toBe(String(Buffer.byteLength(text)))
    expect(json.choices[0].message.content).toContain('You wrote: “hi”.')
    leak()
    expect((await chatted({ model: 'nobody' })).text).toStartWith(`{"authorization":"Bearer ${wire}","error":`)
  })

  test('stands in every event of a stream but its end', async () => {
    for (const ask of [chatted, responded]) {
      leak()
      const { text } = await ask({ stream: true })
      const events = [...text.matchAll(/^data: (.*)$/gm)]
        .map(([, data = '']) => data)
        .filter((data) => data !== '[DONE]')
      expect(events.length).toBeGreaterThan(20)
      for (const data of events) expect(data).toStartWith(`{"authorization":"Bearer ${wire}",`)
      expect(dataOf(text).length).toBeGreaterThanOrEqual(events.length)
    }
  })

  test('stands in what the model says', async () => {
    leak({ place: 'content', times: 3 })
    expect((await chatted()).text).toContain(`"content":"Bearer ${wire} You wrote`)
    expect((await responded()).text).toContain(`"text":"Bearer ${wire} You wrote`)
    expect((await chatted({ stream: true })).text).toContain(`"content":"Bearer ${wire} `)
  })

  test('stands in a header that gateways pass on', async () => {
    leak({ place: 'header', times: 2 })
    expect((await chatted()).headers.get('x-request-id')).toBe(`req-${wire}`)
    expect((await responded({ stream: true })).headers.get('x-request-id')).toBe(`req-${wire}`)
  })
})

test('the asset library leaks its own key', async () => {
  emulator.library.addAsset({ groupId: emulator.library.addGroup({ name: 'g' }).id, name: 'cat' })
  emulator.faults.add({ kind: 'leak', form: 'escaped' })
  expect((await rest(emulator, 'GET', '/assets')).text).toStartWith('{"authorization":"Bearer \\u0073k-rest",')
  emulator.faults.add({ kind: 'leak', place: 'header' })
  expect((await rest(emulator, 'GET', '/assets')).headers.get('x-request-id')).toBe('req-sk-rest')
  emulator.faults.add({ kind: 'leak', place: 'content' })
  expect((await rest(emulator, 'GET', '/assets')).text).toContain('"Name":"Bearer sk-rest cat"')
  expect((await rest(emulator, 'GET', '/assets')).text).not.toContain('sk-rest')
})

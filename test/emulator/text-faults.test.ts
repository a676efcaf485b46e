import { describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { chat, dataOf, post } from './text-client.ts'
import {
  chatWire,
  contentUnder,
  count,
  emulator,
  nonStreamingWire,
  normalContent,
  RESPONSE,
  responseWire,
  STREAM,
  useEmulator,
} from './text-faults.ts'

useEmulator()

describe('general faults apply to text generation', () => {
  test('reset-before, reset-after, truncate and hang', async () => {
    emulator.faults.add({ kind: 'reset-before' })
    expect(await chatWire()).toMatchObject({ head: '', end: 'ECONNRESET' })
    emulator.faults.add({ kind: 'reset-after', api: 'text' })
    expect(await nonStreamingWire()).toMatchObject({ head: '', end: 'ECONNRESET' })
    emulator.faults.add({ kind: 'truncate', keep: 9 })
    const cut = await nonStreamingWire()
    expect([cut.body, cut.end]).toEqual(['{"id":"ch', 'end'])
    emulator.faults.add({ kind: 'truncate', keep: 1e9 })
    const all = await nonStreamingWire()
    expect([JSON.parse(all.body).object, all.end]).toEqual(['chat.completion', 'end'])
    emulator.faults.add({ kind: 'truncate' })
    const half = await chatWire()
    expect([half.body.length > 1000, half.end, half.body.includes('[DONE]')]).toEqual([true, 'end', false])
    expect(emulator.calls.map((call) => [call.status, call.aborted])).toEqual([
      [undefined, undefined],
      [undefined, undefined],
      [200, undefined],
      [200, undefined],
      [200, undefined],
    ])
  })

  test('status has the error format of the API, without generation or after it', async () => {
    emulator.faults.add({ kind: 'status', status: 503, headers: { 'Retry-After': '7' } })
    const busy = await post(emulator, '/chat/completions', STREAM)
    expect([busy.status, busy.headers.get('retry-after'), busy.json.error.type]).toEqual([503, '7', 'server_error'])
    emulator.faults.add({ kind: 'status', status: 500, body: 'oh', work: true, api: 'text' })
    expect(await post(emulator, '/responses', RESPONSE)).toMatchObject({ status: 500, text: 'oh' })
  })

  test('not-json, empty, redirect, gzip and headers change the response', async () => {
    emulator.faults.add({ kind: 'not-json' })
    expect(await post(emulator, '/chat/completions', STREAM)).toMatchObject({ text: expect.stringContaining('<html>') })
    emulator.faults.add({ kind: 'empty' })
    expect(await post(emulator, '/chat/completions', { bad: 1 })).toMatchObject({ status: 200, text: '' })
    emulator.faults.add({ kind: 'redirect', location: 'https://elsewhere.example/' })
    expect((await chatWire()).head).toMatch(/^HTTP\/1.1 302 .*location: https:\/\/elsewhere.example\//is)
    emulator.faults.add({ kind: 'gzip', times: 2 })
    expect((await post(emulator, '/chat/completions', chat('x'))).json.object).toBe('chat.completion')
    const coded = await post(emulator, '/chat/completions', STREAM)
    expect([coded.headers.get('content-encoding'), dataOf(coded.text).at(-1)]).toEqual(['gzip', '[DONE]'])
    emulator.faults.add({ kind: 'headers', headers: { 'Set-Cookie': ['a=1', 'b=2'] } })
    expect((await chatWire()).head).toMatch(/set-cookie: a=1\r\nset-cookie: b=2/i)
  })

  test('hold and delay stop a call before generation, or between generation and response', async () => {
    const held = emulator.faults.add({ kind: 'hold', api: 'text' })
    const pending = nonStreamingWire()
    await held.waitForHits()
    expect(emulator.calls[0]?.status).toBeUndefined()
    held.release()
    expect((await pending).end).toBe('whole')
    const first = emulator.faults.add({ kind: 'hold' })
    const second = emulator.faults.add({ kind: 'status', status: 503 })
    const busy = nonStreamingWire()
    await first.waitForHits()
    expect(second.hits).toBe(0)
    first.release()
    expect((await busy).head).toStartWith('HTTP/1.1 503')
    const late = emulator.faults.add({ kind: 'delay', ms: 1 })
    expect((await chatWire()).end).toBe('whole')
    expect(late.hits).toBe(1)
    const after = emulator.faults.add({ kind: 'hold', when: 'after' })
    const stream = chatWire()
    await after.waitForHits()
    after.release()
    expect((await stream).end).toBe('whole')
  })

  test('shape limits a fault to one API, and each kind has its default actions', async () => {
    const library = emulator.faults.add({ kind: 'empty', api: 'rest' })
    const leak = emulator.faults.add({ kind: 'foreign' })
    const cut = emulator.faults.add({ kind: 'cut' })
    const models = async () => (await fetch(`${emulator.text.url}/models`, { headers: key() })).status
    expect(await models()).toBe(200)
    expect([library.hits, leak.hits, cut.hits]).toEqual([0, 0, 0])
    expect((await fetch(`${emulator.rest.url}/assets`, { headers: key(emulator.rest.key) })).status).toBe(200)
    expect([library.hits, leak.hits, cut.hits]).toEqual([1, 1, 0])
    expect((await chatWire()).end).toBe('end')
    expect(cut.hits).toBe(1)
    const wide = emulator.faults.add({ kind: 'no-done', action: /./ })
    expect((await fetch(`${emulator.rest.url}/assets`, { headers: key(emulator.rest.key) })).status).toBe(200)
    expect(wide.hits).toBe(0)
    wide.remove()
    emulator.faults.add({ kind: 'status', status: 418, action: 'ListModels' })
    expect((await chatWire()).end).toBe('whole')
    expect(await models()).toBe(418)
  })
})

const key = (text = emulator.text.key) => ({ authorization: `Bearer ${text}` })

describe('streams are interrupted', () => {
  test('cut: after a number of events, or before the final event', async () => {
    emulator.faults.add({ kind: 'cut', events: 3 })
    const early = await chatWire()
    expect([dataOf(early.body).length, early.end, early.body.endsWith('\n\n')]).toEqual([3, 'end', true])
    for (const wired of [chatWire, responseWire]) {
      emulator.faults.add({ kind: 'cut' })
      const late = await wired()
      expect(late.end).toBe('end')
      expect(count(late.body, /"(?:content|delta)":"[^"]+"/)).toBeGreaterThan(50)
      expect(late.body).not.toMatch(/"finish_reason":"|response\.completed|\[DONE\]/)
    }
    emulator.faults.add({ kind: 'cut', events: 0 })
    expect(await chatWire()).toMatchObject({ head: expect.stringContaining('200 OK'), body: '', end: 'end' })
  })

  test('cut: within an event, by a reset, or with a clean end', async () => {
    emulator.faults.add({ kind: 'cut', events: 2, inside: true })
    const inside = await chatWire()
    expect([inside.body.split('\n\n').length, inside.body.endsWith('\n')]).toEqual([3, false])
    emulator.faults.add({ kind: 'cut', events: 2, how: 'reset' })
    const reset = await chatWire()
    expect([dataOf(reset.body).length, reset.end]).toEqual([2, 'ECONNRESET'])
    emulator.faults.add({ kind: 'cut', how: 'clean' })
    const clean = await chatWire()
    expect([clean.end, clean.body.includes('[DONE]')]).toEqual(['whole', false])
  })

  test('cut: within the body of a non-streaming response', async () => {
    emulator.faults.add({ kind: 'cut', times: 2, how: 'clean' })
    expect(await nonStreamingWire()).toMatchObject({ body: expect.stringMatching(/^\{"id"/), end: 'end' })
    emulator.faults.clear()
    emulator.faults.add({ kind: 'cut', how: 'reset' })
    expect((await nonStreamingWire()).end).toBe('ECONNRESET')
  })

  test('the official client reports every interruption except a clean end', async () => {
    expect(await contentUnder({ kind: 'cut', how: 'clean' })).toBe(await normalContent())
    for (const fault of [
      { kind: 'cut', how: 'reset' },
      { kind: 'cut', how: 'fin' },
      { kind: 'error-event' },
    ] as const) {
      expect(await contentUnder(fault).catch((error) => error)).toBeInstanceOf(Error)
    }
    for (const form of ['data', 'event'] as const) {
      const error = { message: 'too busy', code: 'overloaded' }
      const thrown = await contentUnder({ kind: 'error-event', form, events: 4, error }).catch((thrown) => thrown)
      expect(thrown).toBeInstanceOf(OpenAI.APIError)
      expect([thrown.code, thrown.status]).toEqual(['overloaded', undefined])
    }
  })

  test('error-event: first or later, in each form and API', async () => {
    emulator.faults.add({ kind: 'error-event', done: true })
    const first = await chatWire()
    expect(first.head).toContain('200 OK')
    expect([dataOf(first.body), first.end]).toEqual([
      [{ error: expect.objectContaining({ type: 'server_error' }) }, '[DONE]'],
      'whole',
    ])
    emulator.faults.add({ kind: 'error-event', form: 'event', events: 2 })
    expect((await chatWire()).body).toMatch(/\n\nevent: error\ndata: \{"error":\{[^\n]+\n\n$/)
    emulator.faults.add({ kind: 'error-event', form: 'event', events: 5, error: { code: 'busy' } })
    const said = dataOf((await responseWire()).body)
    expect(said.at(-1)).toMatchObject({ type: 'error', code: 'busy', param: null, sequence_number: 5 })
    emulator.faults.add({ kind: 'error-event', form: 'failed', events: 5 })
    const failed = dataOf((await responseWire()).body)
    const { response, ...event } = failed.at(-1)
    expect(event).toEqual({ type: 'response.failed', sequence_number: 5 })
    expect(response).toMatchObject({ id: failed[0].response.id, status: 'failed', error: { code: 'server_error' } })
    emulator.faults.add({ kind: 'error-event' })
    expect((await nonStreamingWire()).end).toBe('whole')
  })

  test('silence: before the headers, after them, or after a number of events, until it is released', async () => {
    for (const [events, body, sent] of [
      ['headers', STREAM, 0],
      [0, STREAM, 0],
      [4, STREAM, 4],
      [0, RESPONSE, 0],
    ] as const) {
      const fault = emulator.faults.add({ kind: 'silence', events })
      const reading = fetch(`${emulator.text.url}${'input' in body ? '/responses' : '/chat/completions'}`, {
        ...{ method: 'POST', headers: { ...key(), 'content-type': 'application/json' }, body: JSON.stringify(body) },
      })
      await fault.waitForHits()
      const call = emulator.calls.at(-1)
      expect(call?.status).toBe(events === 'headers' ? undefined : 200)
      if (events !== 'headers') await reading
      if (sent > 0) {
        const reader = (await reading).clone().body?.getReader()
        let seen = ''
        while (dataOf(seen).length < sent) seen += new TextDecoder().decode((await reader?.read())?.value)
        expect(dataOf(seen).length).toBe(sent)
        reader?.cancel().catch(() => undefined)
      }
      fault.release()
      expect(await (await reading).text()).toContain('input' in body ? 'response.completed' : '[DONE]')
    }
    emulator.faults.add({ kind: 'silence', ms: 1, times: 2 })
    expect((await chatWire()).end).toBe('whole')
    expect((await nonStreamingWire()).end).toBe('whole')
  })
})

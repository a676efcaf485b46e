import { describe, expect, test } from 'bun:test'
import { hello, model, openFixture, until } from './fixture.ts'
import { open, post, request } from './raw-http.ts'

describe('unusual HTTP', () => {
  const body = JSON.stringify({ model, messages: hello('hi') })
  const streaming = JSON.stringify({ model, messages: hello('hi'), stream: true })

  test('an HTTP/1.0 client receives no chunked encoding, and its stream ends with the connection', async () => {
    await using fixture = await openFixture()
    for (const [given, last] of [
      [body, '}'],
      [streaming, 'data: [DONE]\n\n'],
    ] as const) {
      const { socket, closed } = open(fixture)
      socket.write(request(fixture, given, '', 'POST /v1/chat/completions HTTP/1.0'))
      const received = await closed
      expect(received).toStartWith('HTTP/1.1 200')
      expect(received).not.toMatch(/transfer-encoding/i)
      expect(received).toEndWith(last)
    }
  })

  test('Expect: 100-continue is honoured', async () => {
    await using fixture = await openFixture()
    const { socket, received, closed } = open(fixture)
    const whole = request(fixture, body, 'Expect: 100-continue\r\nConnection: close\r\n')
    socket.write(whole.slice(0, -body.length))
    await until(() => received().includes('HTTP/1.1 100 Continue\r\n\r\n'))
    socket.write(body)
    expect(await closed).toContain('HTTP/1.1 200 OK')
  })

  test('pipelined requests receive their responses in order', async () => {
    await using fixture = await openFixture()
    const { socket, closed } = open(fixture)
    for (let n = 0; n < 10; n++) {
      const given = JSON.stringify({ model, messages: hello(`number ${n}`), stream: n % 2 === 1 })
      socket.write(request(fixture, given, n === 9 ? 'Connection: close\r\n' : ''))
    }
    const received = await closed
    expect(received.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(10)
    expect(received.match(/data: \[DONE\]/g)).toHaveLength(5)
    const plain = [...received.matchAll(/You wrote: “number (\d)”/g)].map(([, n]) => n ?? '')
    expect(plain).toEqual(['0', '2', '4', '6', '8'])
  })

  test('other methods are 405, and a response to HEAD has no body', async () => {
    await using fixture = await openFixture()
    for (const line of [
      'OPTIONS /v1/responses',
      'PUT /v1/responses',
      'HEAD /v1/chat/completions',
      'DELETE /v1/models/x',
    ]) {
      const { socket, closed } = open(fixture)
      socket.write(request(fixture, '', 'Connection: close\r\n', `${line} HTTP/1.1`))
      const received = await closed
      expect(received).toStartWith('HTTP/1.1 405')
      expect(received).toMatch(/\r\nallow: (?:POST|GET)/i)
      if (line.startsWith('HEAD')) expect(received).toEndWith('\r\n\r\n')
      else expect(JSON.parse(received.slice(received.indexOf('\r\n\r\n') + 4))).toHaveProperty('error.type')
    }
    const { socket, closed } = open(fixture)
    socket.write(request(fixture, '', 'Connection: close\r\n', 'HEAD /v1/models HTTP/1.1'))
    expect(await closed).toMatch(/^HTTP\/1\.1 200[\s\S]*\r\n\r\n$/)
  })

  test('an incomplete request causes no upstream call', async () => {
    await using fixture = await openFixture()
    const { socket } = open(fixture)
    socket.write(request(fixture, body).slice(0, -5))
    await new Promise((resolve) => setTimeout(resolve, 50))
    socket.destroy()
    // Only the next request reaches the upstream.
    await fixture.openai.chat.completions.create({ model, messages: hello('hi') })
    expect(fixture.generatingCalls()).toHaveLength(1)
  })

  test.each(['x-stainless-timeout', 'x-stainless-read-timeout'])('an invalid %s is ignored', async (name) => {
    await using fixture = await openFixture()
    for (const seconds of ['0', '-1', 'soon', 'None', 'Infinity', 'NaN', '']) {
      const { status, headers } = await post(fixture, '/chat/completions', body, { [name]: seconds })
      expect(status).toBe(200)
      expect(headers.has('x-upstream-partialresponse')).toBe(false)
    }
  })

  test('headers about the caller and his proxies do not reach the upstream', async () => {
    await using fixture = await openFixture()
    await post(fixture, '/chat/completions', body, {
      ...{ cookie: 'a=b', forwarded: 'for=192.0.2.1', 'x-forwarded-for': '192.0.2.1', 'x-real-ip': '192.0.2.1' },
      ...{ 'x-stainless-lang': 'js', 'openai-organization': 'org-1', 'api-key': 'x', 'cf-ray': 'x' },
    })
    const { headers = {} } = fixture.generatingCalls()[0] ?? {}
    expect(headers.authorization).toBe(`Bearer ${fixture.emulator.text.key}`)
    expect(JSON.stringify(headers)).not.toMatch(/192\.0\.2\.1|a=b|stainless|org-1|api-key|cf-ray/)
    expect(JSON.stringify(headers)).not.toContain(fixture.apiKey)
  })
})

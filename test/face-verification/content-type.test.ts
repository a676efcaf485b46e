import { expect, test } from 'bun:test'
import { openFixture } from './fixture.ts'

const page = '<script>fetch("/api/tokens",{method:"POST"})</script>'
const inert = ['nosniff', "default-src 'none'; sandbox"]

test('an upstream’s HTML, XML and SVG are sent as plain text, and so is JSON with such a type', async () => {
  const { ann, restUpstream } = await openFixture({ kind: 'rest' })
  const id = (await ann.create()).json.verification_id
  for (const [type, sentType] of [
    ['text/html; charset=gbk', 'text/plain; charset=gbk'],
    ['TEXT/HTML', 'text/plain'],
    [' application/xhtml+xml', 'text/plain'],
    ['image/svg+xml', 'text/plain'],
    ['text/xml;charset=utf-8', 'text/plain;charset=utf-8'],
    ['application/problem+json', 'application/problem+json'],
  ] as const) {
    const headers = { 'content-type': type }
    restUpstream.instead = () => new Response(page, { status: 503, headers })
    for (const reply of [await ann.create(), await ann.query(id)]) {
      expect([reply.status, reply.text, reply.headers.get('content-type')]).toEqual([503, page, sentType])
      expect([reply.headers.get('x-content-type-options'), reply.headers.get('content-security-policy')]).toEqual(inert)
    }
    const body = JSON.stringify({ verification_id: id, status: 'waiting_user', note: page })
    restUpstream.instead = () => new Response(body, { headers })
    const reply = await ann.query(id)
    expect([reply.status, reply.text, reply.headers.get('content-type')]).toEqual([200, body, sentType])
  }
})

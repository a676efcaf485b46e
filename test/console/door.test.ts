import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Elysia } from 'elysia'
import { consolePages } from '../../plugins/console/index.ts'

const app = new Elysia().use(consolePages())

const get = (path: string, init: RequestInit = {}) => app.handle(new Request(`http://localhost${path}`, init))

const page = join(import.meta.dir, '../../plugins/console/page')

/** Every file that the page names: in its import map, its preloads, its links. */
const named = async (): Promise<readonly string[]> => {
  const html = await (await get('/console')).text()
  return [...new Set([...html.matchAll(/"(\.\/console\/[^"]+)"/g)].map(([, path = '']) => path.slice(1)))]
}

describe('the page', () => {
  test('names only files that are there, all of its modules among them', async () => {
    const paths = await named()
    for (const path of paths) expect([path, (await get(path)).status]).toEqual([path, 200])
    const modules = readdirSync(page).filter((name) => name.endsWith('.js'))
    expect(paths).toEqual(expect.arrayContaining(modules.map((name) => `/console/${name}`)))
    expect(paths).toEqual(expect.arrayContaining(['/console/style.css', '/console/preact.js', '/console/uqr.js']))
  })

  test('allows the inline import map that it carries, and no other inline script', async () => {
    const response = await get('/console')
    const inline = [...(await response.text()).matchAll(/<script(?![^>]*src=)[^>]*>([^<]*)<\/script>/g)]
    const allowed = response.headers.get('content-security-policy')?.match(/'sha256-[^']+'/g)
    expect(inline.map(([, text = '']) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`)).toEqual(
      allowed ?? [],
    )
    expect(inline.length).toBe(1)
  })

  test('has a policy without a wildcard for scripts, styles and connections', async () => {
    const policy = (await get('/console')).headers.get('content-security-policy') ?? ''
    expect(policy).toMatch(/^default-src 'none'; script-src 'self' 'sha256-[A-Za-z0-9+/=]+'; style-src 'self'; /)
    for (const rule of ["connect-src 'self'", "base-uri 'none'", "frame-ancestors 'none'", "form-action 'self'"]) {
      expect(policy.split('; ')).toContain(rule)
    }
    expect(policy).not.toMatch(/unsafe|\*/)
  })

  test('carries no style and no handler inline, which the policy would refuse', async () => {
    expect(await (await get('/console')).text()).not.toMatch(/<style|\sstyle=|\son\w+=/)
  })

  test('says where the asset library is', async () => {
    const other = new Elysia().use(consolePages({ segment: 'film' }))
    const html = await (await other.handle(new Request('http://localhost/console'))).text()
    expect(html).toContain('data-segment="film"')
    expect(() => consolePages({ segment: '"><script>' })).toThrow(TypeError)
  })

  test('sends who comes with a slash to where its addresses lead somewhere', async () => {
    const response = await get('/console/')
    expect(response.status).toBe(308)
    expect(new URL(response.headers.get('location') ?? '', 'http://localhost/console/').pathname).toBe('/console')
  })
})

describe('every answer', () => {
  for (const [path, status] of [
    ['/console', 200],
    ['/console/app.js', 200],
    ['/console/nothing.js', 404],
  ] as const) {
    test(`${path} is never sniffed, framed or told where it was asked from`, async () => {
      const { headers, status: answered } = await get(path)
      expect(answered).toBe(status)
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('referrer-policy')).toBe('no-referrer')
      expect(headers.get('cross-origin-opener-policy')).toBe('same-origin')
      expect(headers.get('permissions-policy')).toContain('camera=()')
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    })
  }
})

describe('files', () => {
  test('come with their type', async () => {
    const typeOf = async (path: string) => (await get(path)).headers.get('content-type')
    expect(await typeOf('/console')).toBe('text/html; charset=utf-8')
    expect(await typeOf('/console/app.js')).toBe('text/javascript; charset=utf-8')
    expect(await typeOf('/console/style.css')).toBe('text/css; charset=utf-8')
  })

  test('are asked for again each time, and sent again only when they have changed', async () => {
    for (const path of ['/console', '/console/app.js', '/console/preact.js']) {
      const first = await get(path)
      const etag = first.headers.get('etag') ?? ''
      expect(first.headers.get('cache-control')).toBe('no-cache')
      expect(etag).toMatch(/^"[\w-]{27}"$/)
      for (const known of [etag, `"other", ${etag}`, `W/${etag}`, '*']) {
        const again = await get(path, { headers: { 'if-none-match': known } })
        expect([path, known, again.status, await again.text()]).toEqual([path, known, 304, ''])
        expect(again.headers.get('etag')).toBe(etag)
      }
      expect((await get(path, { headers: { 'if-none-match': '"other"' } })).status).toBe(200)
    }
  })

  test('have different tags', async () => {
    const tags = await Promise.all((await named()).map(async (path) => (await get(path)).headers.get('etag')))
    expect(new Set(tags).size).toBe(tags.length)
  })

  test('answer HEAD without a body', async () => {
    const response = await get('/console/app.js', { method: 'HEAD' })
    expect([response.status, await response.text()]).toEqual([200, ''])
    expect(response.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
  })

  for (const path of [
    ...['/console/tsconfig.json', '/console/index.ts', '/console/app', '/console/app.js/x', '/console/app.js%00'],
    ...['/console/..%2findex.ts', '/console/..%2f..%2f..%2fpackage.json', '/console/%2e%2e/index.ts'],
    ...['/console/%2fetc%2fpasswd', '/console/..%5cindex.ts', '/console/__proto__', '/console/constructor'],
  ]) {
    test(`${path} is nothing that there is`, async () => {
      expect((await get(path)).status).toBe(404)
    })
  }

  test('cannot be written', async () => {
    for (const path of ['/console', '/console/app.js']) {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        const response = await get(path, { method })
        expect([path, method, response.status]).toEqual([path, method, 405])
        expect(response.headers.get('allow')?.split(', ').sort()).toEqual(['GET', 'HEAD'])
      }
    }
  })
})

describe('two consoles live in one app', () => {
  test('each below its own prefix, each with its own segment', async () => {
    const part = (prefix: string, segment: string) => new Elysia({ prefix }).use(consolePages({ segment }))
    const both = new Elysia().use(part('/one', 'film')).use(part('/two', 'photo'))
    const textOf = async (path: string) => (await both.handle(new Request(`http://localhost${path}`))).text()
    expect(await textOf('/one/console')).toContain('data-segment="film"')
    expect(await textOf('/two/console')).toContain('data-segment="photo"')
    expect(await textOf('/two/console/html.js')).toContain('htm.bind')
  })

  test('and leave the routes beside them alone', async () => {
    const house = new Elysia().use(consolePages()).get('/other', () => 'open')
    expect(await (await house.handle(new Request('http://localhost/other'))).text()).toBe('open')
  })
})

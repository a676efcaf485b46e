import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Elysia } from 'elysia'
import { consolePages } from '../../plugins/console/index.ts'

const app = new Elysia().use(consolePages())

const get = (path: string, init: RequestInit = {}) => app.handle(new Request(`http://localhost${path}`, init))

const page = join(import.meta.dir, '../../plugins/console/page')

/** The paths of all files that the page names in its import map, its preloads and its links. */
const namedFiles = async (): Promise<readonly string[]> => {
  const html = await (await get('/console')).text()
  return [...new Set([...html.matchAll(/"(\.\/console\/[^"]+)"/g)].map(([, path = '']) => path.slice(1)))]
}

describe('the page', () => {
  test('names all of its modules, and only files that exist', async () => {
    const paths = await namedFiles()
    for (const path of paths) expect([path, (await get(path)).status]).toEqual([path, 200])
    const modules = readdirSync(page).filter((name) => name.endsWith('.js'))
    expect(paths).toEqual(expect.arrayContaining(modules.map((name) => `/console/${name}`)))
    expect(paths).toEqual(expect.arrayContaining(['/console/style.css', '/console/preact.js', '/console/uqr.js']))
  })

  test('allows its inline import map, and no other inline script', async () => {
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

  test('has no inline style and no inline event handler, which the policy would block', async () => {
    expect(await (await get('/console')).text()).not.toMatch(/<style|\sstyle=|\son\w+=/)
  })

  test('contains the segment of the asset library', async () => {
    const other = new Elysia().use(consolePages({ segment: 'film' }))
    const html = await (await other.handle(new Request('http://localhost/console'))).text()
    expect(html).toContain('data-segment="film"')
    expect(() => consolePages({ segment: '"><script>' })).toThrow(TypeError)
  })

  test('with a trailing slash is a redirect to the path without it', async () => {
    const response = await get('/console/')
    expect(response.status).toBe(308)
    expect(new URL(response.headers.get('location') ?? '', 'http://localhost/console/').pathname).toBe('/console')
  })
})

describe('every response', () => {
  for (const [path, status] of [
    ['/console', 200],
    ['/console/app.js', 200],
    ['/console/nothing.js', 404],
  ] as const) {
    test(`${path} has the security headers`, async () => {
      const { headers, status: received } = await get(path)
      expect(received).toBe(status)
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('referrer-policy')).toBe('no-referrer')
      expect(headers.get('cross-origin-opener-policy')).toBe('same-origin')
      expect(headers.get('permissions-policy')).toContain('camera=()')
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    })
  }
})

describe('files', () => {
  test('have their media type', async () => {
    const typeOf = async (path: string) => (await get(path)).headers.get('content-type')
    expect(await typeOf('/console')).toBe('text/html; charset=utf-8')
    expect(await typeOf('/console/app.js')).toBe('text/javascript; charset=utf-8')
    expect(await typeOf('/console/style.css')).toBe('text/css; charset=utf-8')
  })

  test('are revalidated each time, and sent again only when they have changed', async () => {
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

  test('have different entity tags', async () => {
    const tags = await Promise.all((await namedFiles()).map(async (path) => (await get(path)).headers.get('etag')))
    expect(new Set(tags).size).toBe(tags.length)
  })

  test('with style.css contain every style sheet of the folder, in one request', async () => {
    const styles = await (await get('/console/style.css')).text()
    for (const name of readdirSync(join(page, 'styles'))) {
      expect([name, styles.includes(readFileSync(join(page, 'styles', name), 'utf8'))]).toEqual([name, true])
    }
    expect((await get('/console/theme.css')).status).toBe(404)
  })

  test('respond to HEAD without a body', async () => {
    const response = await get('/console/app.js', { method: 'HEAD' })
    expect([response.status, await response.text()]).toEqual([200, ''])
    expect(response.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
  })

  for (const path of [
    ...['/console/tsconfig.json', '/console/index.ts', '/console/app', '/console/app.js/x', '/console/app.js%00'],
    ...['/console/..%2findex.ts', '/console/..%2f..%2f..%2fpackage.json', '/console/%2e%2e/index.ts'],
    ...['/console/%2fetc%2fpasswd', '/console/..%5cindex.ts', '/console/__proto__', '/console/constructor'],
  ]) {
    test(`${path} is not found`, async () => {
      expect((await get(path)).status).toBe(404)
    })
  }

  test('accept no other method than GET and HEAD', async () => {
    for (const path of ['/console', '/console/app.js']) {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        const response = await get(path, { method })
        expect([path, method, response.status]).toEqual([path, method, 405])
        expect(response.headers.get('allow')?.split(', ').sort()).toEqual(['GET', 'HEAD'])
      }
    }
  })
})

describe('two consoles in one app', () => {
  test('have their own prefix and segment', async () => {
    const consoleAt = (prefix: string, segment: string) => new Elysia({ prefix }).use(consolePages({ segment }))
    const both = new Elysia().use(consoleAt('/one', 'film')).use(consoleAt('/two', 'photo'))
    const textOf = async (path: string) => (await both.handle(new Request(`http://localhost${path}`))).text()
    expect(await textOf('/one/console')).toContain('data-segment="film"')
    expect(await textOf('/two/console')).toContain('data-segment="photo"')
    expect(await textOf('/two/console/html.js')).toContain('htm.bind')
  })

  test('do not affect other routes', async () => {
    const host = new Elysia().use(consolePages()).get('/other', () => 'open')
    expect(await (await host.handle(new Request('http://localhost/other'))).text()).toBe('open')
  })
})

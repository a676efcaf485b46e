import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Elysia } from 'elysia'
import { type ConsolePagesOptions, consolePages } from '../../plugins/console/index.ts'

const app = new Elysia().use(consolePages())

const get = (path: string, init: RequestInit = {}) => app.handle(new Request(`http://localhost${path}`, init))

const page = join(import.meta.dir, '../../plugins/console/page')

/** The paths of all files that the page names in its import map, its preloads and its links. */
const namedFiles = async (): Promise<readonly string[]> => {
  const html = await (await get('/console')).text()
  return [...new Set([...html.matchAll(/"(\.\/console\/[^"]+)"/g)].map(([, path = '']) => path.slice(1)))]
}

/** The paths that the page gets from the server. */
const pathsIn = (html: string): Record<string, string> => JSON.parse(/data-paths='([^']*)'/.exec(html)?.[1] ?? '{}')

describe('the page', () => {
  test('names all of its modules, and only files that exist', async () => {
    const paths = await namedFiles()
    for (const path of paths) expect([path, (await get(path)).status]).toEqual([path, 200])
    const modules = readdirSync(page, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js'))
    expect(modules.length).toBeGreaterThan(60)
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

  test('contains the paths of the routes that it calls', async () => {
    const other = new Elysia().use(consolePages({ paths: { library: '/film' } }))
    const html = await (await other.handle(new Request('http://localhost/console'))).text()
    expect(pathsIn(html)).toEqual({
      page: '/console',
      session: '/api/session',
      tokens: '/api/tokens',
      usage: '/api/usage',
      library: '/film',
      faceVerification: '/api/media/face-verifications',
      text: '/v1',
    })
    for (const path of [`/'><script>`, 'film', '/film/', '', '/..', '/a//b', '/a?b']) {
      expect(() => consolePages({ paths: { library: path } })).toThrow(TypeError)
      expect(() => consolePages({ prefix: path })).toThrow(TypeError)
    }
  })

  test('names its files below its own prefix', async () => {
    const other = new Elysia({ prefix: '/host' }).use(consolePages({ prefix: '/admin/ui' }))
    const send = (path: string) => other.handle(new Request(`http://localhost${path}`))
    const page = await send('/host/admin/ui')
    const html = await page.text()
    const names = [...html.matchAll(/"(\.\/[^"]+)"/g)].map(([, name = '']) => name)
    expect(names.length).toBeGreaterThan(20)
    for (const name of names) {
      const { pathname } = new URL(name, 'http://localhost/host/admin/ui')
      expect([name, (await send(pathname)).status]).toEqual([name, 200])
    }
    const importMap = /<script type="importmap">([^<]*)/.exec(html)?.[1] ?? ''
    const hash = createHash('sha256').update(importMap).digest('base64')
    expect(page.headers.get('content-security-policy')).toContain(`'sha256-${hash}'`)
    expect((await send('/host/admin/ui/')).headers.get('location')).toBe('../ui')
  })

  test('with a trailing slash is a redirect to the path without it', async () => {
    const response = await get('/console/')
    expect(response.status).toBe(308)
    expect(new URL(response.headers.get('location') ?? '', 'http://localhost/console/').pathname).toBe('/console')
  })
})

describe('a login elsewhere', () => {
  const htmlWith = async (login: ConsolePagesOptions['login']) =>
    (await new Elysia().use(consolePages({ login })).handle(new Request('http://localhost/console'))).text()
  const loginIn = (html: string) => {
    const json = /data-login='([^']*)'/.exec(html)?.[1]
    return json && JSON.parse(json.replaceAll('&#39;', "'").replaceAll('&amp;', '&'))
  }

  test('is in the page, as text of an attribute', async () => {
    expect(loginIn(await htmlWith(undefined))).toBeUndefined()
    expect(loginIn(await htmlWith('/login?next=/console&a=1'))).toEqual({
      address: '/login?next=/console&a=1',
      form: false,
    })
    const label = `It's "Corporate" <b>&amp;</b>`
    const html = await htmlWith({ address: "https://login.example/o'hara", label, form: true })
    expect(loginIn(html)).toEqual({ address: "https://login.example/o'hara", label, form: true })
    expect(await htmlWith({ address: '/login', label: "' onload='alert(1)" })).not.toContain("' onload")
  })

  test('has no address of a script or of a host that looks like a path', () => {
    for (const address of [
      ...['javascript:alert(1)', 'data:text/html,x', '//evil.example', '/\\evil.example', 'login', '', '/a b'],
      ...['ftp://host.example', 'https://user:secret@host.example', '/\t/evil.example'],
    ]) {
      expect(() => consolePages({ login: address })).toThrow('login must be a path such as /login, or an http(s) URL')
    }
    expect(() => consolePages({ login: { address: '/login', label: 'x'.repeat(65) } })).toThrow(TypeError)
    expect(() => consolePages({ login: { address: '/login', label: ' ' } })).toThrow(TypeError)
  })
})

describe('the page puts what stands before its own path', () => {
  const loadAt = async (pathname: string, dataset: Record<string, string>) => {
    const globals = { document: { documentElement: { dataset } }, location: { pathname } }
    Object.assign(globalThis, globals)
    try {
      return await import(`${page}/api/paths.js?${pathname}${JSON.stringify(dataset)}`)
    } finally {
      for (const name of Object.keys(globals)) Reflect.deleteProperty(globalThis, name)
    }
  }
  const paths = JSON.stringify({ page: '/console', library: '/api/media/proxy', text: '/v1' })

  test('before the paths of the routes', async () => {
    const pathsAt = async (pathname: string) => (await loadAt(pathname, { paths })).paths
    expect(await pathsAt('/console')).toEqual({ page: '/console', library: '/api/media/proxy', text: '/v1' })
    expect(await pathsAt('/a/b/console')).toEqual({
      page: '/a/b/console',
      library: '/a/b/api/media/proxy',
      text: '/a/b/v1',
    })
  })

  test('before the path of a login elsewhere, and not before its URL', async () => {
    const loginAt = async (pathname: string, address: string) =>
      (await loadAt(pathname, { paths, login: JSON.stringify({ address, form: false }) })).elsewhere
    expect(await loginAt('/console', '/login')).toEqual({ address: '/login', form: false })
    expect(await loginAt('/a/console', '/login')).toEqual({ address: '/a/login', form: false })
    expect((await loginAt('/a/console', 'https://login.example')).address).toBe('https://login.example')
    expect((await loadAt('/a/console', { paths })).elsewhere).toBeUndefined()
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

  test('with style.css contain every style sheet of the page, in one request', async () => {
    const styles = await (await get('/console/style.css')).text()
    const sheets = readdirSync(page, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.css'))
    expect(sheets.length).toBeGreaterThan(10)
    for (const name of sheets) {
      expect([name, styles.includes(readFileSync(join(page, name), 'utf8'))]).toEqual([name, true])
    }
    expect((await get('/console/styles/theme.css')).status).toBe(404)
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
  test('have their own prefix and paths', async () => {
    const consoleAt = (prefix: string, library: string) =>
      new Elysia({ prefix }).use(consolePages({ paths: { library } }))
    const both = new Elysia().use(consoleAt('/one', '/film')).use(consoleAt('/two', '/photo'))
    const textOf = async (path: string) => (await both.handle(new Request(`http://localhost${path}`))).text()
    expect(pathsIn(await textOf('/one/console')).library).toBe('/film')
    expect(pathsIn(await textOf('/two/console')).library).toBe('/photo')
    expect(await textOf('/two/console/controls/html.js')).toContain('htm.bind')
  })

  test('do not affect other routes', async () => {
    const host = new Elysia().use(consolePages()).get('/other', () => 'open')
    expect(await (await host.handle(new Request('http://localhost/other'))).text()).toBe('open')
  })
})

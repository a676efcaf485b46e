import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { Elysia } from 'elysia'
import { type ConsolePagesOptions, consolePages } from '../../plugins/console/index.ts'

const app = new Elysia().use(consolePages())

const get = (path: string, init: RequestInit = {}) => app.handle(new Request(`http://localhost${path}`, init))

const page = join(import.meta.dir, '../../plugins/console/page')

/** The paths of the page's script, of its style sheet, and of the chunks that the script loads later. */
const bundled = async () => {
  const html = await (await get('/console')).text()
  const [script = ''] = /\/console\/app-\w{8}\.js/.exec(html) ?? []
  const [styles = ''] = /\/console\/style-\w{8}\.css/.exec(html) ?? []
  const text = await (await get(script)).text()
  const names = [...text.matchAll(/import\("\.\/([^"]+)"\)/g)].map(([, name]) => `/console/${name}`)
  return { script, styles, chunks: [...new Set(names)] }
}

/** The paths that the page gets from the server. */
const pathsIn = (html: string): Record<string, string> => JSON.parse(/data-paths='([^']*)'/.exec(html)?.[1] ?? '{}')

describe('the page', () => {
  test('loads one script and one style sheet; the script loads the other screens when they are opened', async () => {
    const { script, styles, chunks } = await bundled()
    const html = await (await get('/console')).text()
    expect([...html.matchAll(/(?:src|href)="(?!data:)([^"]+)"/g)].map(([, address]) => address)).toEqual([
      './api/session',
      `.${styles}`,
      `.${script}`,
    ])
    expect(chunks.length).toBeGreaterThanOrEqual(5)
    for (const path of [script, styles, ...chunks]) expect([path, (await get(path)).status]).toEqual([path, 200])
    const [first, ...others] = await Promise.all([script, ...chunks].map(async (path) => (await get(path)).text()))
    // Words of the chat and of the code that draws QR codes, and of the first screen.
    expect(others.some((text) => text.includes('.noModel'))).toBe(true)
    expect(first).not.toContain('.noModel')
    expect(first).toContain('.emptyFiltered')
  })

  test('has no inline script', async () => {
    expect(await (await get('/console')).text()).not.toMatch(/<script(?![^>]*src=)/)
  })

  test('has a policy without a wildcard for scripts, styles and connections', async () => {
    const policy = (await get('/console')).headers.get('content-security-policy') ?? ''
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'; /)
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
    expect(html).toContain('<link rel="preload" href="../api/session"')
    const names = [...html.matchAll(/"(\.\/[^"]+)"/g)].map(([, name = '']) => name)
    expect(names.length).toBe(2)
    for (const name of names) {
      const { pathname } = new URL(name, 'http://localhost/host/admin/ui')
      expect([name, (await send(pathname)).status]).toEqual([name, 200])
    }
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
  for (const [name, pathOf, status] of [
    ['the page', async () => '/console', 200],
    ['a script', async () => (await bundled()).script, 200],
    ['an unknown file', async () => '/console/nothing.js', 404],
  ] as const) {
    test(`${name} has the security headers`, async () => {
      const { headers, status: received } = await get(await pathOf())
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
    const { script, styles } = await bundled()
    expect(await typeOf('/console')).toBe('text/html; charset=utf-8')
    expect(await typeOf(script)).toBe('text/javascript; charset=utf-8')
    expect(await typeOf(styles)).toBe('text/css; charset=utf-8')
  })

  test('are cached for ever under their names; only the page is revalidated, and sent again when it has changed', async () => {
    const { script, styles, chunks } = await bundled()
    for (const path of [script, styles, ...chunks]) {
      expect([path, (await get(path)).headers.get('cache-control')]).toEqual([
        path,
        'public, max-age=31536000, immutable',
      ])
    }
    for (const path of ['/console', script]) {
      const first = await get(path)
      const etag = first.headers.get('etag') ?? ''
      expect(etag).toMatch(/^"[\w-]{27}"$/)
      for (const known of [etag, `"other", ${etag}`, `W/${etag}`, '*']) {
        const again = await get(path, { headers: { 'if-none-match': known } })
        expect([path, known, again.status, await again.text()]).toEqual([path, known, 304, ''])
        expect(again.headers.get('etag')).toBe(etag)
      }
      expect((await get(path, { headers: { 'if-none-match': '"other"' } })).status).toBe(200)
    }
    expect((await get('/console')).headers.get('cache-control')).toBe('no-cache')
  })

  test('are sent compressed to clients that accept it, with an entity tag for each form', async () => {
    const { script, styles } = await bundled()
    for (const path of ['/console', script, styles]) {
      const send = async (accepted?: string, known = '') => {
        const init = { headers: { ...(accepted && { 'accept-encoding': accepted }), 'if-none-match': known } }
        const response = await get(path, init)
        const coding = response.headers.get('content-encoding')
        const bytes = new Uint8Array(await response.arrayBuffer())
        return { coding, bytes, etag: response.headers.get('etag') ?? '', status: response.status, response }
      }
      const plain = await send()
      const brotli = await send('gzip, deflate, br, zstd')
      const gzip = await send('gzip;q=0.5')
      expect([plain.coding, brotli.coding, gzip.coding]).toEqual([null, 'br', 'gzip'])
      expect(brotliDecompressSync(brotli.bytes).equals(plain.bytes)).toBe(true)
      expect(gunzipSync(gzip.bytes).equals(plain.bytes)).toBe(true)
      expect(brotli.bytes.length).toBeLessThan(gzip.bytes.length)
      expect(new Set([plain.etag, brotli.etag, gzip.etag]).size).toBe(3)
      expect((await send('br', brotli.etag)).status).toBe(304)
      expect((await send('gzip', brotli.etag)).status).toBe(200)
      for (const none of ['br;q=0, gzip; q=0.000', 'identity', 'brotli', 'x-gzip']) {
        expect([none, (await send(none)).coding]).toEqual([none, null])
      }
      for (const { response } of [plain, brotli]) expect(response.headers.get('vary')).toBe('accept-encoding')
    }
  })

  test('of the first screen are at most 50 kB', async () => {
    const { script, styles } = await bundled()
    const sizes = ['/console', script, styles].map(async (path) => {
      const response = await get(path, { headers: { 'accept-encoding': 'br' } })
      return (await response.arrayBuffer()).byteLength
    })
    expect((await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)).toBeLessThan(50_000)
  })

  test('have different entity tags', async () => {
    const { script, styles, chunks } = await bundled()
    const paths = ['/console', script, styles, ...chunks]
    const tags = await Promise.all(paths.map(async (path) => (await get(path)).headers.get('etag')))
    expect(new Set(tags).size).toBe(tags.length)
  })

  test('respond to HEAD without a body', async () => {
    const { script } = await bundled()
    const response = await get(script, { method: 'HEAD' })
    expect([response.status, await response.text()]).toEqual([200, ''])
    expect(response.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
  })

  for (const path of [
    ...['/console/tsconfig.json', '/console/index.ts', '/console/app', '/console/app.js', '/console/frame/route.js'],
    ...['/console/..%2findex.ts', '/console/..%2f..%2f..%2fpackage.json', '/console/%2e%2e/index.ts'],
    ...['/console/%2fetc%2fpasswd', '/console/..%5cindex.ts', '/console/__proto__', '/console/constructor'],
  ]) {
    test(`${path} is not found`, async () => {
      expect((await get(path)).status).toBe(404)
    })
  }

  test('accept no other method than GET and HEAD', async () => {
    for (const path of ['/console', (await bundled()).script]) {
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
    const { styles } = await bundled()
    expect(await textOf(`/two${styles}`)).toBe(await textOf(`/one${styles}`))
    expect(await textOf(`/two${styles}`)).toContain('color-scheme')
  })

  test('do not affect other routes', async () => {
    const host = new Elysia().use(consolePages()).get('/other', () => 'open')
    expect(await (await host.handle(new Request('http://localhost/other'))).text()).toBe('open')
  })
})

import { describe, expect, test } from 'bun:test'
import { createFileLinks } from 'sluice/file-storage'
import { openFiles, pieces, png, publicUrl, secrets } from './fixture.ts'

const key = 'uploads/up_1.png'
const links = createFileLinks({ publicUrl, secrets })
const inAnHour = () => Date.now() + 3_600_000

const notFound = {
  success: false,
  error: { message: 'there is no such file, or the link to it has expired', type: 'request_error' },
}

describe('a signed link', () => {
  test('needs no credential, and is the same each time', async () => {
    await using files = await openFiles()
    await files.storage.put(key, pieces(png()), { maxBytes: 100, contentType: 'image/png' })
    const link = links.urlOf(key, 1_900_000_000_000)
    expect(link).toMatch(
      /^https:\/\/files\.example\/api\/files\/uploads\/up_1\.png\?expires=1900000000&signature=[\w-]{43}$/,
    )
    expect(links.urlOf(key, 1_900_000_000_000)).toBe(link)
    const response = await files.ask(link)
    expect(response.status).toBe(200)
    expect(await response.bytes()).toEqual(png())
  })

  test('works also when a later secret has signed it, but with no other secret', async () => {
    await using files = await openFiles()
    await files.storage.put(key, pieces(png()), { maxBytes: 100, contentType: 'image/png' })
    const signedBy = (secret: string) => createFileLinks({ publicUrl, secrets: [secret] }).urlOf(key, inAnHour())
    expect((await files.ask(signedBy(secrets[1]))).status).toBe(200)
    expect((await files.ask(signedBy('a secret that nobody has'))).status).toBe(404)
  })

  test('that is changed or expired gets one answer, like that of a file that is gone', async () => {
    await using files = await openFiles()
    for (const name of [key, 'uploads/up_2.png']) {
      await files.storage.put(name, pieces(png()), { maxBytes: 100, contentType: 'image/png' })
    }
    const valid = links.urlOf(key, inAnHour())
    const [path = '', query = ''] = valid.split('?')
    const expires = new URLSearchParams(query).get('expires') ?? ''
    const signature = new URLSearchParams(query).get('signature') ?? ''
    const changed = [
      links.urlOf(key, Date.now() - 1000),
      links.urlOf('uploads/none.png', inAnHour()),
      path,
      `${path}?`,
      `${path}?expires=${expires}`,
      `${path}?signature=${signature}`,
      `${path}?expires=${Number(expires) + 1}&signature=${signature}`,
      `${path}?expires=0${expires}&signature=${signature}`,
      `${path}?expires=${expires}.0&signature=${signature}`,
      `${path}?expires=${expires}&signature=${signature}A`,
      `${path}?expires=${expires}&signature=${signature.slice(0, -1)}${signature.endsWith('A') ? 'B' : 'A'}`,
      `${path}?expires=${expires}&signature=${'é'.repeat(43)}`,
      `${path.replace('up_1', 'up_2')}?${query}`,
      `${path.replace('uploads', 'results')}?${query}`,
      `${path.replace('uploads/', 'uploads/%2e%2e%2fuploads%2f')}?${query}`,
      `${path.replace('uploads/up_1.png', '..%2fup_1.png/x')}?${query}`,
    ]
    const answers = new Set<string>()
    for (const link of changed) {
      const response = await files.ask(link)
      const { 'content-length': _, ...headers } = Object.fromEntries(response.headers)
      answers.add(JSON.stringify([response.status, headers, await response.json()]))
    }
    expect([...answers]).toEqual([
      JSON.stringify([404, { 'cache-control': 'no-store', 'content-type': 'application/json' }, notFound]),
    ])
  })

  test('expires when the caller was told', async () => {
    let now = 1_900_000_000_000
    await using files = await openFiles({ clock: { now: () => now, at: () => () => {} } })
    await files.storage.put(key, pieces(png()), { maxBytes: 100, contentType: 'image/png' })
    const link = links.urlOf(key, now + 1_500)
    now += 1_499
    expect((await files.ask(link)).status).toBe(200)
    now += 501
    expect((await files.ask(link)).status).toBe(404)
  })
})

describe('a stored file', () => {
  test('has its own content type, and can run no script', async () => {
    await using files = await openFiles()
    for (const [name, type, disposition] of [
      ['one.png', 'image/png', 'inline; filename="one.png"'],
      ['two.mp4', 'video/mp4', 'inline; filename="two.mp4"'],
      ['three.html', 'application/octet-stream', 'attachment; filename="three.html"'],
      ['four.svg', 'application/octet-stream', 'attachment; filename="four.svg"'],
    ] as const) {
      await files.storage.put(`uploads/${name}`, pieces('<script>'), { maxBytes: 100, contentType: 'text/html' })
      const { headers } = await files.ask(links.urlOf(`uploads/${name}`, inAnHour()))
      expect(headers.get('content-type')).toBe(type)
      expect(headers.get('content-disposition')).toBe(disposition)
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('content-security-policy')).toMatch(/^default-src 'none';.*; sandbox$/)
    }
  })

  test('HEAD has the headers of GET', async () => {
    await using files = await openFiles()
    await files.storage.put(key, pieces(png()), { maxBytes: 100, contentType: 'image/png' })
    const link = links.urlOf(key, inAnHour())
    const [get, head] = [await files.ask(link), await files.ask(link, { method: 'HEAD' })]
    const headersOf = ({ headers }: Response) => ({ ...Object.fromEntries(headers), 'cache-control': '' })
    expect(headersOf(head)).toEqual(headersOf(get))
    expect(await head.text()).toBe('')
    expect((await files.ask(link, { method: 'PUT' })).status).toBe(405)
  })
})

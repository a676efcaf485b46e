import { afterEach, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { begin, CALLBACK, open, press, start, stopAll } from './face-client.ts'

afterEach(stopAll)

const ZH = { 'accept-language': 'zh-TW,zh;q=0.9,en;q=0.1' }
const EN = { 'accept-language': 'en-GB' }

/** Value and label of the page's buttons, in order. */
const buttons = (html: string) =>
  [...html.matchAll(/<button name="do" value="(\w+)"[^>]*>([^<]+)<\/button>/g)].map(([, value, name]) => [value, name])

test('the page uses the language of the link, else of the browser, else English', async () => {
  const emulator = await start()
  const { link } = await begin(emulator)
  const languages = async (lng: string, accepted: string) => {
    const url = link.replace(/lng=[^&]*/, `lng=${lng}`)
    const { text, headers } = await open(url, { 'accept-language': accepted })
    return [text.match(/<html lang="([^"]+)">/)?.[1], headers.get('content-language')]
  }
  for (const [lng, accepted, tag] of [
    ['zh', 'en', 'zh-CN'],
    ['zh-Hant', 'en', 'zh-CN'],
    ['ZH-cn', 'en', 'zh-CN'],
    ['en', 'zh', 'en'],
    ['', 'zh-TW,en;q=0.9', 'zh-CN'],
    ['', 'zh;q=0.2, en;q=0.4', 'en'],
    ['', 'zh;q=0', 'en'],
    ['', 'fr', 'en'],
    ['fr', 'zh', 'zh-CN'],
    ['fr', '', 'en'],
    ['zhuang', 'en', 'en'],
  ] as const) {
    expect([lng, accepted, ...(await languages(lng, accepted))]).toEqual([lng, accepted, tag, tag])
  }
})

test('the page is a plain form with three buttons, each with a label and a description', async () => {
  const emulator = await start()
  const { link } = await begin(emulator)
  for (const [headers, names, title] of [
    [EN, ['Succeed', 'Fail', 'Close'], 'Face check (emulated)'],
    [ZH, ['成功', '失败', '关闭'], '人脸核验（模拟）'],
  ] as const) {
    const { status, text } = await open(link, headers)
    expect(status).toBe(200)
    expect(buttons(text)).toEqual([
      ['succeed', names[0]],
      ['fail', names[1]],
      ['close', names[2]],
    ])
    expect(text).toContain(`<title>${title}</title>`)
    expect(text).toContain(`<h1>${title}</h1>`)
    expect(text).toContain('<form method="post">')
    expect(text).toContain('name="viewport"')
    for (const [, id] of text.matchAll(/aria-describedby="(\w+)"/g)) expect(text).toMatch(`<p id="${id}">`)
    expect(text.match(/aria-describedby/g)).toHaveLength(3)
    // keyboard navigation works, and no script is needed
    expect(text).not.toMatch(/<script|\son\w+=|tabindex|javascript:|role=/i)
  }
})

test('the Content-Security-Policy allows only the page’s own style and the redirect of its form', async () => {
  const emulator = await start()
  const policy = async (callback: string, then = (link: string) => open(link)) => {
    const { headers, text } = await then((await begin(emulator, callback)).link)
    const style = text.match(/<style>(.*)<\/style>/)?.[1] ?? ''
    const hash = createHash('sha256').update(style).digest('base64')
    expect(headers.get('content-security-policy')).toContain(`default-src 'none'; style-src 'sha256-${hash}'; `)
    expect(headers.get('content-security-policy')).toContain("base-uri 'none'; frame-ancestors 'none'")
    expect(text).not.toMatch(/style=|<img|<link|src=|href=/)
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    return headers.get('content-security-policy')?.match(/form-action ([^;]*)/)?.[1]
  }
  expect(await policy('https://gate.test:8443/a?b#c')).toBe("'self' https://gate.test:8443")
  expect(await policy('http://[::1]:3000/a')).toBe("'self' http:")
  expect(await policy(CALLBACK, (link) => press(link, 'close'))).toBe("'none'")
})

test('the browser gets a 303 redirect after success and after failure', async () => {
  const emulator = await start()
  for (const [name, code, groups] of [
    ['succeed', '10000', 1],
    ['fail', '20001', 1],
  ] as const) {
    const { link, token } = await begin(emulator, `${CALLBACK}?keep=1`)
    const { status, headers, text } = await press(link, name)
    expect([status, text]).toEqual([303, ''])
    const back = headers.get('location') ?? ''
    expect(back).toStartWith(`${CALLBACK}?keep=1&bytedToken=${token}&resultCode=${code}&`)
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(emulator.library.count().groups).toBe(groups)
  }
})

test('closing does not redirect, and the page says so', async () => {
  const emulator = await start()
  const { link } = await begin(emulator)
  const { status, headers, text } = await press(link, 'close', EN)
  expect([status, headers.get('location')]).toEqual([200, null])
  expect(text).toContain('You have closed the check without a result')
  expect(buttons(text)).toEqual([])
  expect(emulator.face.sessions()).toMatchObject([{ state: 'closed' }])
  expect((await press((await begin(emulator)).link, 'close', ZH)).text).toContain('之后不会再发生任何事情')
})

test('a used link responds 410 to GET and to a repeated POST, and has no effect', async () => {
  const emulator = await start()
  for (const [name, groups] of [
    ['succeed', 1],
    ['fail', 1],
    ['close', 1],
  ] as const) {
    const { link } = await begin(emulator)
    await press(link, name)
    for (const again of [await open(link), await press(link, 'succeed'), await press(link, 'fail')]) {
      expect([again.status, again.headers.get('location')]).toEqual([410, null])
      expect(again.text).toContain('Link already used')
    }
    expect((await open(link, ZH)).text).toContain('链接已使用')
    expect(emulator.library.count().groups).toBe(groups)
  }
})

test('two concurrent submissions create one group and one redirect', async () => {
  const emulator = await start()
  const { link } = await begin(emulator)
  const both = await Promise.all([press(link, 'succeed'), press(link, 'succeed')])
  expect(both.map(({ status }) => status).sort()).toEqual([303, 410])
  expect(emulator.library.count().groups).toBe(1)
})

test('an expired link responds 410 and has no effect', async () => {
  const emulator = await start()
  const { link } = await begin(emulator)
  emulator.library.advance(30 * 60_000)
  for (const late of [await open(link), await press(link, 'succeed')]) {
    expect(late.status).toBe(410)
    expect(late.text).toContain('Link expired')
  }
  expect((await open(link, ZH)).text).toContain('链接已过期')
  expect(emulator.library.groups()).toEqual([])
})

test('GET does not use up the link, and HEAD has the same headers as GET', async () => {
  const emulator = await start()
  const { link } = await begin(emulator)
  const seen = await open(link)
  const head = await open(link, {}, 'HEAD')
  expect([head.status, head.text]).toEqual([200, ''])
  for (const name of ['content-type', 'content-language', 'content-security-policy', 'content-length']) {
    expect(head.headers.get(name)).toBe(seen.headers.get(name))
  }
  expect((await open(link)).status).toBe(200)
  expect(emulator.face.sessions()).toMatchObject([{ state: 'waiting' }])
})

test('an incomplete or changed link is 404', async () => {
  const emulator = await start()
  const [{ link }, other] = [await begin(emulator), await begin(emulator)]
  const mixed = new URL(link)
  mixed.searchParams.set('sessionToken', new URL(other.link).searchParams.get('sessionToken') ?? '')
  const broken = [
    link.replaceAll('&', '\\u0026'),
    link.replaceAll('&', '&amp;'),
    link.split('&')[0] ?? '',
    link.replace(/secretAccessKey=[^&]*&/, ''),
    `${link}&bytedToken=${new URL(other.link).searchParams.get('bytedToken')}`,
    mixed.href,
    link.replace(/\?.*/, ''),
    `${emulator.origin}/h5/`,
    `${emulator.origin}/h5/other`,
  ]
  for (const url of broken) {
    for (const response of [await open(url), await press(url, 'succeed')]) {
      expect(response.status).toBe(404)
      expect(response.text).toContain('Invalid link')
    }
  }
  expect(emulator.library.groups()).toEqual([])
})

test('a form without a known decision is 400, and the link stays valid', async () => {
  const emulator = await start()
  const { link } = await begin(emulator)
  for (const name of ['', 'Succeed', 'toString', 'succeed '])
    expect((await press(link, name, EN)).text).toContain('Nothing chosen')
  expect((await press(link, 'other')).status).toBe(400)
  expect((await open(link, {}, 'POST')).status).toBe(400)
  expect((await open(link, {}, 'PUT')).headers.get('allow')).toBe('GET, HEAD, POST')
  expect((await press(link, 'succeed')).status).toBe(303)
})

test('no page contains data of the request or the secrets of its link', async () => {
  const emulator = await start()
  const { link, token } = await begin(emulator, `${CALLBACK}?own=callback-secret`)
  const planted = '"><b>planted'
  const urls = [
    `${link}&more=${encodeURIComponent(planted)}`,
    link.replace(/lng=[^&]*/, `lng=${encodeURIComponent(planted)}`),
    `${emulator.origin}/h5/${encodeURIComponent(planted)}?a=${encodeURIComponent(planted)}`,
    `${emulator.origin}/h5/callback/planted?bytedToken=planted`,
  ]
  const values = [...new URL(link).searchParams.values()].filter((value) => value !== '')
  for (const url of urls) {
    const { text, headers } = await open(url, { 'accept-language': planted, 'x-planted': planted })
    for (const secret of ['planted', 'callback-secret', token, ...values]) {
      expect(text).not.toContain(secret)
      expect(JSON.stringify([...headers])).not.toContain(secret)
    }
  }
  expect((await open(urls[0] ?? '')).status).toBe(200)
})

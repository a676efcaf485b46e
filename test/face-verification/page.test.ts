import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { callbackPage, type PageOutcome } from '../../plugins/face-verification/callback/page.ts'
import { languageOf } from '../../plugins/shared/page/language.ts'
import { base, openFixture } from './fixture.ts'

const outcomes: readonly PageOutcome[] = ['verified', 'received', 'failed', 'expired', 'unknown', 'error']

describe('the page is in the language of Accept-Language', () => {
  for (const [accepted, language] of [
    [null, 'en'],
    ['', 'en'],
    ['zh', 'zh'],
    ['zh-CN,zh;q=0.9,en;q=0.8', 'zh'],
    ['ZH-hant-TW', 'zh'],
    ['en-GB,zh;q=0.9', 'en'],
    ['en;q=0.3, zh;q=0.7', 'zh'],
    ['de-DE,de;q=0.9,zh;q=0.5', 'zh'],
    ['fr', 'en'],
    ['zho', 'en'],
    ['zh;q=0', 'en'],
    ['zh;q=x', 'en'],
    ['*', 'en'],
    ['en, zh', 'en'],
    [`${'x,'.repeat(5_000)}zh`, 'en'],
  ] as const) {
    test(`${String(accepted).slice(0, 30)}: ${language}`, () => {
      expect(languageOf(accepted)).toBe(language)
    })
  }

  for (const outcome of outcomes) {
    test(`${outcome} has a text in both languages`, async () => {
      const [zh, en] = await Promise.all(['zh', 'en'].map((language) => callbackPage(outcome, language).text()))
      expect(zh).toMatch(
        /<html lang="zh-CN">[\s\S]*<h1>[^<]*\p{Script=Han}[^<]*<\/h1><p>[^<]*\p{Script=Han}[^<]*<\/p>/u,
      )
      expect(en).not.toMatch(/\p{Script=Han}/u)
      expect(en).toMatch(/<html lang="en">[\s\S]*<h1>[A-Z][^<]+<\/h1><p>[A-Z][^<]+\.<\/p>/)
    })
  }

  test('after the check, the page says that the person can put the phone away', async () => {
    for (const outcome of ['verified', 'received', 'failed', 'expired'] as const) {
      expect(await callbackPage(outcome, 'en').text()).toContain('put the phone away')
      expect(await callbackPage(outcome, 'zh').text()).toContain('放下手机')
    }
  })
})

describe('the page contains only its own text', () => {
  for (const outcome of outcomes) {
    test(`${outcome}: the policy allows only the page’s own style`, async () => {
      const page = callbackPage(outcome, null)
      const [, style = ''] = /<style>([\s\S]*)<\/style>/.exec(await page.clone().text()) ?? []
      const hash = createHash('sha256').update(style).digest('base64')
      expect(Object.fromEntries(page.headers)).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        vary: 'accept-language',
      })
      expect(await page.text()).not.toMatch(/<script|\bon\w+=|https?:|href|src=/)
    })
  }

  test('no value of the address or of a header', async () => {
    const { ask, ann, vendor } = await openFixture()
    await ann.create()
    const poison = 'poison<script>alert(1)</script>'
    const query = `x=${encodeURIComponent(poison)}&${encodeURIComponent(poison)}=1`
    const headers = {
      'accept-language': `zh-${poison}, ${poison}`,
      referer: `https://x.test/${poison}`,
      'x-forwarded-host': poison,
    }
    const urls = [`${base}/callback/${encodeURIComponent(poison)}?${query}`, `${vendor.callback()}&${query}`]
    for (const url of urls) {
      const { text, headers: received } = await ask(url, { headers })
      expect(text + JSON.stringify([...received])).not.toContain('poison')
      expect(text).not.toContain(vendor.token)
    }
  })
})

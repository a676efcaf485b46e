import { type Language, languageOf } from '../../shared/page/language.ts'
import { messagePage } from '../../shared/page/message-page.ts'

/** The outcome that the callback page shows to the person. */
export type PageOutcome = 'verified' | 'received' | 'failed' | 'expired' | 'unknown' | 'error'

interface PageText {
  readonly title: string
  readonly text: string
}

const texts: Readonly<Record<Language, Readonly<Record<PageOutcome, PageText>>>> = {
  en: {
    verified: {
      title: 'Face verified',
      text: 'You are done. You can put the phone away and continue on the page where you started.',
    },
    received: {
      title: 'Check received',
      text: 'The result will appear on the page where you started. You can put the phone away.',
    },
    failed: {
      title: 'Not verified',
      text: 'The check did not succeed. You can put the phone away and start a new verification on the page where you started.',
    },
    expired: {
      title: 'Check expired',
      text: 'The time for this check is over. You can put the phone away and start a new verification on the page where you started.',
    },
    unknown: {
      title: 'Not found',
      text: 'This address belongs to no active verification. Nothing was changed.',
    },
    error: {
      title: 'Please try again',
      text: 'The result of the check could not be saved. Please keep this page and reload it in a minute.',
    },
  },
  zh: {
    verified: { title: '人脸验证成功', text: '已全部完成。您可以放下手机，回到开始验证的页面继续操作。' },
    received: { title: '已收到', text: '验证结果正在处理，稍后会显示在您开始验证的页面上。您可以放下手机了。' },
    failed: { title: '验证未通过', text: '本次人脸验证没有成功。您可以放下手机，回到原来的页面重新开始验证。' },
    expired: { title: '已超时', text: '本次验证的时间已过。您可以放下手机，回到原来的页面重新开始验证。' },
    unknown: { title: '没有找到', text: '此地址不属于任何进行中的验证。没有任何内容被更改。' },
    error: { title: '请稍候', text: '暂时无法接收验证结果。请保留此页面，一分钟后重新加载。' },
  },
}

const statuses: Readonly<Partial<Record<PageOutcome, number>>> = { unknown: 404, error: 500 }

/** A person who was verified has given a consent, or will have when the result is there. */
const consents: ReadonlySet<PageOutcome> = new Set(['verified', 'received'])

const linkTexts: Readonly<Record<Language, string>> = {
  en: 'Keep this link: with it you can withdraw your consent at any time',
  zh: '请保存此链接：您可以随时用它撤回授权',
}

/**
 * The page for an outcome, in the best language for an `Accept-Language` header. It contains no text of the request, so
 * nothing can be injected through the address.
 *
 * @param consentUrl the page on which the person withdraws the consent. Undefined: there is none
 */
export const callbackPage = (outcome: PageOutcome, acceptLanguage: string | null, consentUrl?: string): Response => {
  const language = languageOf(acceptLanguage)
  const link =
    consentUrl !== undefined && consents.has(outcome) ? { text: linkTexts[language], href: consentUrl } : undefined
  return messagePage({ ...texts[language][outcome], language, status: statuses[outcome], link })
}

/**
 * The response to a prefetch: 503, so that the browser requests the page again when the person opens it (RFC 9110
 * section 15.6.4).
 */
export const prefetchResponse = (): Response =>
  new Response(null, { status: 503, headers: { 'cache-control': 'no-store' } })

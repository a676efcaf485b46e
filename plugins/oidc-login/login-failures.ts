import type { AuditEvent } from '../shared/audit.ts'
import { type Language, languageOf } from '../shared/page/language.ts'
import { messagePage } from '../shared/page/message-page.ts'
import { Problem, type ProblemBody } from '../shared/problem.ts'

/** A login that has not succeeded, as far as the person may know why. */
interface Failure {
  readonly status: number
  /** The message for programs. */
  readonly message: string
  /** Title and text of the page. */
  readonly page: Readonly<Record<Language, readonly [title: string, text: string]>>
}

type Words = Failure['page'][Language]

const failure = (status: number, message: string, en: Words, zh: Words): Failure => ({
  status,
  message,
  page: { en, zh },
})

const loginFailures = {
  expired: failure(
    400,
    'this login was started too long ago, or in another browser',
    ['Please log in again', 'This login was started too long ago, or in another browser.'],
    ['请重新登录', '本次登录开始的时间过久，或是在另一个浏览器中开始的。'],
  ),
  denied: failure(
    403,
    'the identity provider did not log you in',
    ['You are not logged in', 'The identity provider did not log you in.'],
    ['未登录', '身份提供方没有完成您的登录。'],
  ),
  invalid: failure(
    502,
    'the answer of the identity provider could not be verified',
    [
      'Login failed',
      'The answer of the identity provider could not be verified. Please try again, and tell your administrator if that does not help.',
    ],
    ['登录失败', '无法验证身份提供方的应答。请重试；如果仍然失败，请联系管理员。'],
  ),
  unreachable: failure(
    502,
    'the identity provider is unavailable',
    ['Login is not available', 'The identity provider does not answer. Please try again in a minute.'],
    ['暂时无法登录', '身份提供方没有应答。请一分钟后重试。'],
  ),
  'not-allowed': failure(
    403,
    'your account may not use this service',
    ['No access', 'Your account may not use this service. Please ask your administrator.'],
    ['没有权限', '您的账号无权使用此服务。请联系管理员。'],
  ),
  'name-taken': failure(
    409,
    'another user of this service has your name',
    [
      'Name already in use',
      'Another user of this service has your name. If that is you, please ask your administrator for an invitation, and log in with it.',
    ],
    ['名称已被使用', '此服务中已有同名用户。如果那就是您，请向管理员索取邀请链接，并通过它登录。'],
  ),
  'no-name': failure(
    403,
    'the identity provider has given no usable name',
    ['Name missing', 'The identity provider has given no usable name for you. Please ask your administrator.'],
    ['缺少名称', '身份提供方没有提供可用的名称。请联系管理员。'],
  ),
  invitation: failure(
    403,
    'this invitation is not valid',
    ['Invitation has ended', 'This invitation is not valid any more. Please ask for a new one.'],
    ['邀请已失效', '此邀请已失效。请索取新的邀请。'],
  ),
  known: failure(
    409,
    'this invitation is for another user',
    ['You are a user already', 'This invitation is for somebody else. You can log in without it.'],
    ['您已经是用户', '此邀请属于其他用户。您无需邀请即可登录。'],
  ),
  busy: failure(
    503,
    'too many logins are in progress at once',
    ['Please try again', 'Too many people are logging in at once. Please try again in a moment.'],
    ['请重试', '同时登录的人数过多。请稍后重试。'],
  ),
  failed: failure(
    500,
    'the login could not be completed',
    ['Please try again', 'The login could not be completed. Please try again in a minute.'],
    ['请重试', '无法完成登录。请一分钟后重试。'],
  ),
}

/** Why a login has not succeeded. */
export type LoginFailure = keyof typeof loginFailures

const again: Readonly<Record<Language, string>> = { en: 'Log in', zh: '登录' }

export interface LoginProblemOptions {
  /** For the log. */
  readonly cause: unknown
  /** Where the login starts again. */
  readonly again: string
  readonly headers?: Readonly<Record<string, string>>
  readonly event?: Partial<AuditEvent>
}

/** A login that has not succeeded. A browser gets a page without scripts, a program the JSON body. */
export class LoginProblem extends Problem {
  readonly #failure: LoginFailure
  readonly #accept: string
  readonly #language: Language
  readonly #again: string

  constructor(failure: LoginFailure, { headers: request }: Request, options: LoginProblemOptions) {
    const { status, message } = loginFailures[failure]
    const { cause, headers, again, event } = options
    const failed: AuditEvent = { action: 'session.fail', reason: `oidc: ${failure}`, ...event }
    super(status, message, { cause, headers: { ...headers }, event: failed })
    this.#failure = failure
    this.#accept = request.get('accept') ?? ''
    this.#language = languageOf(request.get('accept-language'))
    this.#again = again
  }

  override toResponse(body?: ProblemBody): Response {
    if (!this.#accept.includes('text/html')) return super.toResponse(body)
    const [title, text] = loginFailures[this.#failure].page[this.#language]
    const language = this.#language
    const link = { text: again[language], href: this.#again }
    const response = messagePage({ language, title, text, link, status: this.status })
    for (const [name, value] of Object.entries(this.headers)) response.headers.set(name, value)
    return response
  }
}

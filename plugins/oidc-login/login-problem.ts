import type { AuditEvent } from '../shared/audit.ts'
import { type Language, languageOf } from '../shared/page/language.ts'
import { messagePage } from '../shared/page/message-page.ts'
import { Problem, type ProblemBody } from '../shared/problem.ts'

/** Why a login has not succeeded, as far as the person may know. */
export type LoginFailure = keyof typeof failures

interface Failure {
  readonly status: number
  /** The message for programs. */
  readonly message: string
  /** Title and text of the page. */
  readonly page: Readonly<Record<Language, readonly [title: string, text: string]>>
}

const failures = {
  expired: {
    status: 400,
    message: 'this login was started too long ago, or in another browser',
    page: {
      en: ['Please log in again', 'This login was started too long ago, or in another browser.'],
      zh: ['请重新登录', '本次登录开始的时间过久，或是在另一个浏览器中开始的。'],
    },
  },
  denied: {
    status: 403,
    message: 'the identity provider did not log you in',
    page: {
      en: ['You are not logged in', 'The identity provider did not log you in.'],
      zh: ['未登录', '身份提供方没有完成您的登录。'],
    },
  },
  invalid: {
    status: 502,
    message: 'the answer of the identity provider could not be verified',
    page: {
      en: [
        'Login failed',
        'The answer of the identity provider could not be verified. Please try again, and tell your administrator if that does not help.',
      ],
      zh: ['登录失败', '无法验证身份提供方的应答。请重试；如果仍然失败，请联系管理员。'],
    },
  },
  unreachable: {
    status: 502,
    message: 'the identity provider is unavailable',
    page: {
      en: ['Login is not available', 'The identity provider does not answer. Please try again in a minute.'],
      zh: ['暂时无法登录', '身份提供方没有应答。请一分钟后重试。'],
    },
  },
  'not-allowed': {
    status: 403,
    message: 'your account may not use this service',
    page: {
      en: ['No access', 'Your account may not use this service. Please ask your administrator.'],
      zh: ['没有权限', '您的账号无权使用此服务。请联系管理员。'],
    },
  },
  'name-taken': {
    status: 409,
    message: 'another user of this service has your name',
    page: {
      en: [
        'Name already in use',
        'Another user of this service has your name. If that is you, please ask your administrator for an invitation, and log in with it.',
      ],
      zh: ['名称已被使用', '此服务中已有同名用户。如果那就是您，请向管理员索取邀请链接，并通过它登录。'],
    },
  },
  'no-name': {
    status: 403,
    message: 'the identity provider has given no usable name',
    page: {
      en: ['Name missing', 'The identity provider has given no usable name for you. Please ask your administrator.'],
      zh: ['缺少名称', '身份提供方没有提供可用的名称。请联系管理员。'],
    },
  },
  invitation: {
    status: 403,
    message: 'this invitation is not valid',
    page: {
      en: ['Invitation has ended', 'This invitation is not valid any more. Please ask for a new one.'],
      zh: ['邀请已失效', '此邀请已失效。请索取新的邀请。'],
    },
  },
  known: {
    status: 409,
    message: 'this invitation is for another user',
    page: {
      en: ['You are a user already', 'This invitation is for somebody else. You can log in without it.'],
      zh: ['您已经是用户', '此邀请属于其他用户。您无需邀请即可登录。'],
    },
  },
  busy: {
    status: 503,
    message: 'too many logins are in progress at once',
    page: {
      en: ['Please try again', 'Too many people are logging in at once. Please try again in a moment.'],
      zh: ['请重试', '同时登录的人数过多。请稍后重试。'],
    },
  },
  failed: {
    status: 500,
    message: 'the login could not be completed',
    page: {
      en: ['Please try again', 'The login could not be completed. Please try again in a minute.'],
      zh: ['请重试', '无法完成登录。请一分钟后重试。'],
    },
  },
} as const satisfies Readonly<Record<string, Failure>>

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
    const { status, message } = failures[failure]
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
    const [title, text] = failures[this.#failure].page[this.#language]
    const language = this.#language
    const link = { text: again[language], href: this.#again }
    const response = messagePage({ language, title, text, link, status: this.status })
    for (const [name, value] of Object.entries(this.headers)) response.headers.set(name, value)
    return response
  }
}

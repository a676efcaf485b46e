import type { AuditEvent } from '../shared/audit.ts'
import { type Language, languageOf } from '../shared/page/language.ts'
import { messagePage } from '../shared/page/message-page.ts'
import { Problem, type ProblemBody } from '../shared/problem.ts'
import { type LoginFailure, loginFailures } from './login-failures.ts'

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

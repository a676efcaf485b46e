import { ark, createUpstream, type Fetch, rest, type UpstreamOptions } from '../../plugins/upstream-proxy/index.ts'

interface Session {
  readonly link: string
  readonly callback: string
  group: string | undefined
}

/** A request that the vendor received. */
export interface Call {
  readonly action: string
  readonly body: Record<string, unknown>
}

const failure = (status: number, code: string, message = 'no') =>
  Response.json({ ResponseMetadata: { RequestId: 'r', Error: { Code: code, Message: message } } }, { status })

/** A fake of the vendor's session API, as its documentation describes it. A session has a group once the person has finished. */
export class Vendor {
  readonly sessions = new Map<string, Session>()
  readonly calls: Call[] = []
  /** How it responds while there is no result: an empty group id, or an error with that status. */
  notYet: 'empty' | '404' | '400' = '404'
  /** Whether a response has its result in `Result`. */
  wrapped = true
  /** More fields for responses to creations. */
  more: Record<string, unknown> = {}
  /** Replaces the response where it returns one; may throw. */
  instead: ((call: Call) => Response | undefined | Promise<Response | undefined>) | undefined
  #sessionCount = 0

  /** The token of the latest session. */
  get token(): string {
    return [...this.sessions.keys()].at(-1) ?? ''
  }

  /** The person finishes the check. Returns the group's id and the callback address. */
  finish(group = `group-face-${crypto.randomUUID()}`, token = this.token): { group: string; callback: string } {
    const session = this.sessions.get(token)
    if (!session) throw new Error('there is no such session')
    session.group = group
    return { group, callback: this.callback(token) }
  }

  callback(token = this.token, code = '10000'): string {
    const rest = 'algorithmBaseRespCode=0&reqMeasureInfoValue=1&verify_type=real_time'
    return `${this.sessions.get(token)?.callback}?bytedToken=${token}&resultCode=${code}&${rest}`
  }

  callsTo(action = 'GetVisualValidateResult'): readonly Call[] {
    return this.calls.filter((call) => call.action === action)
  }

  readonly fetch: Fetch = async (url, init) => {
    const action = new URL(url).searchParams.get('Action') ?? ''
    const call = { action, body: JSON.parse(String(init.body)) }
    this.calls.push(call)
    // Other tasks run before the response, as they do with a real network.
    await new Promise((resolve) => setImmediate(resolve))
    const response = (await this.instead?.(call)) ?? this.#respond(call)
    init.signal?.throwIfAborted()
    return response
  }

  #respond({ action, body }: Call): Response {
    const success = (result: object) =>
      Response.json(this.wrapped ? { ResponseMetadata: { RequestId: 'r', Action: action }, Result: result } : result)
    if (action === 'CreateVisualValidateSession') {
      const token = `byted-token-${++this.#sessionCount}-${crypto.randomUUID()}`
      const link = `https://kyc.test/h5?bytedToken=${token}&accessKeyId=temporary&lng=en`
      const callback = String(body.CallbackURL)
      this.sessions.set(token, { link, callback, group: undefined })
      return success({ BytedToken: token, H5Link: link, CallbackURL: callback, ...this.more })
    }
    const group = this.sessions.get(String(body.BytedToken))?.group
    if (group !== undefined) return success({ GroupId: group })
    if (this.notYet === 'empty') return success({ GroupId: '' })
    return failure(Number(this.notYet), 'NotFound.byted_token')
  }

  upstream(options: Partial<UpstreamOptions> = {}) {
    const kind = ark({ url: 'https://ark.test', accessKey: 'AKTEST123', secretKey: 'SKTEST123', region: 'cn-beijing' })
    return createUpstream({ kind, fetch: this.fetch, ...options })
  }
}

/** A fake upstream of kind `rest`, which serves the gateway's own paths. */
export class RestUpstream {
  readonly calls: { readonly method: string; readonly url: string; readonly body: string | undefined }[] = []
  readonly tasks = new Map<string, object>()
  /** Replaces the response where it returns one; may throw. */
  instead: (() => Response | undefined) | undefined
  #taskCount = 0

  readonly fetch: Fetch = async (url, init) => {
    const body = init.body == null ? undefined : await new Response(init.body).text()
    this.calls.push({ method: init.method ?? '', url, body })
    await new Promise((resolve) => setImmediate(resolve))
    const instead = this.instead?.()
    if (instead) return instead
    if (init.method === 'POST') {
      const id = `v-${++this.#taskCount}-${crypto.randomUUID()}`
      this.tasks.set(id, { verification_id: id, status: 'waiting_user' })
      return new Response(
        `{ "verification_id":"${id}", "status":"waiting_user","h5_url":"https://h5.test/a?b\\u0026c","expires_at":${expiresAt}, "n":12345678901234567890 }`,
        { headers: { 'content-type': 'application/json' } },
      )
    }
    const task = this.tasks.get(url.split('/').at(-1) ?? '')
    return task ? Response.json(task) : Response.json({ success: false }, { status: 404 })
  }

  set(id: string, task: object): void {
    this.tasks.set(id, { verification_id: id, ...task })
  }

  upstream(options: Partial<UpstreamOptions> = {}) {
    const kind = rest({ url: 'https://up.test/api/media/proxy', key: 'the-key-of-the-account' })
    return createUpstream({ kind, fetch: this.fetch, ...options })
  }
}

/** Half an hour after the start of the virtual clock, in seconds. */
const expiresAt = 1_000 + 1_800

import type { Outcome } from './history.ts'
import type { Processes } from './processes.ts'

/** What a request has besides its method and path. */
export interface Given {
  /** `visitor`: a page of the gateway in a browser without a session. Default: `token`. */
  readonly as?: 'token' | 'session' | 'visitor' | 'nobody'
  /** What is neither text nor bytes is sent as JSON. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface Answer {
  readonly status: number
  readonly text: string
  readonly bytes: Uint8Array
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  readonly json: any
}

/** Someone who uses the gateways. */
export interface Person {
  readonly id: string
  readonly name: string
  /** Stands in each text that the person sends, and in no other one's. */
  readonly marker: string
  readonly token: string
  /** Sends a request to the process of a slot, once. Undefined: the connection was lost. */
  ask(slot: number, method: string, path: string, given?: Given): Promise<Answer | undefined>
  /** The same when everything works again. */
  read(path: string, given?: Given & { readonly method?: string }): Promise<Answer>
}

export const outcomeOf = (answer: Answer | undefined): Outcome => {
  if (answer === undefined || answer.status >= 500) return 'unknown'
  return answer.status < 400 ? 'acknowledged' : 'refused'
}

/** How long a client waits. It is longer than any time limit of the gateway. */
const patienceMs = 120_000

/** @param cookie the cookie of a session of the person */
export const createPerson = (
  { id, name, marker, token }: Pick<Person, 'id' | 'name' | 'marker' | 'token'>,
  cookie: string,
  processes: Processes,
): Person => {
  const send = async (url: string, method: string, path: string, { as = 'token', body, headers }: Given) => {
    const isRaw = typeof body === 'string' || body instanceof Uint8Array
    const credentials = {
      token: { authorization: `Bearer ${token}` },
      session: { cookie, origin: url },
      visitor: { origin: url },
      nobody: {},
    }
    return fetch(url + path, {
      method,
      redirect: 'manual',
      // The runtime would send a GET or a DELETE again when a connection that it has kept is reset.
      keepalive: false,
      headers: {
        ...(body !== undefined && !isRaw && { 'content-type': 'application/json' }),
        ...credentials[as],
        ...headers,
      },
      ...(body !== undefined && { body: (isRaw ? body : JSON.stringify(body)) as string }),
      signal: AbortSignal.timeout(patienceMs),
    })
  }
  const answerOf = async (response: Response): Promise<Answer> => {
    const bytes = await response.bytes()
    const text = new TextDecoder().decode(bytes)
    const json = text.startsWith('{') ? JSON.parse(text) : undefined
    return { status: response.status, headers: response.headers, text, bytes, json }
  }
  return {
    ...{ id, name, marker, token },
    async ask(slot, method, path, given = {}) {
      const { url } = await processes.at(slot)
      let answer: Answer | undefined
      try {
        const sending = send(url, method, path, given)
        processes.sent(slot)
        answer = await answerOf(await sending)
      } catch {
        // The process was killed.
      }
      processes.ended(slot, answer !== undefined)
      return answer
    },
    async read(path, { method = 'GET', ...given } = {}) {
      return answerOf(await send((await processes.at(0)).url, method, path, given))
    },
  }
}

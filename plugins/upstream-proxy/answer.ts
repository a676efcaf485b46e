import { type Json, JsonError, readJson } from '../shared/json.ts'
import { type Log, Problem } from '../shared/problem.ts'
import type { MediaKind, Operation } from './operation.ts'

/** A success: its bytes are forwarded as they are, its JSON is looked into. */
export interface Answer {
  readonly status: number
  /** What a caller may see of the upstream's headers. */
  readonly headers: Headers
  readonly bytes: Uint8Array<ArrayBuffer>
  /** The answer's object; undefined for an empty answer to a change. */
  readonly json: Json | undefined
}

/** The upstream's own error, forwarded: status, body and content type as they came (reading 7). */
export class Refusal extends Problem {
  readonly answer: Omit<Answer, 'json'>

  constructor(answer: Omit<Answer, 'json'>) {
    super(answer.status, `upstream answered ${answer.status}`)
    this.answer = answer
  }

  override toResponse(): Response {
    return toResponse(this.answer)
  }
}

/** There was no answer. `sent` is false when the request certainly never left: then nothing has happened upstream. */
export class Unreachable extends Problem {
  readonly sent: boolean

  constructor(cause: unknown, sent: boolean) {
    super(502, 'Seedance upstream unavailable', { cause })
    this.sent = sent
  }
}

/** The upstream answered, but not with anything that can be passed on. */
export class Invalid extends Problem {
  constructor(cause: string) {
    super(502, 'upstream returned an invalid response', { cause })
  }
}

/** An answer as a response, byte for byte. */
export const toResponse = ({ status, headers, bytes }: Omit<Answer, 'json'>): Response =>
  new Response(bytes.length === 0 ? null : bytes, { status, headers })

/** What came as an answer to an operation, when it is a success. Throws Refusal or Invalid for anything else. */
export const checkAnswer = (
  operation: Operation,
  answer: Omit<Answer, 'json'>,
  secrets: MediaKind['secrets'],
  log: Log,
): Answer => {
  const { status, headers, bytes } = answer
  if (status >= 400 && status <= 599) {
    const text = [new TextDecoder().decode(bytes), ...headers.values()].join('\n')
    if (secrets.some((secret) => secret.length >= shortestSecret && text.includes(secret))) {
      throw new Invalid('an error that contains a credential')
    }
    log.info({ action: operation.action, status }, 'upstream refused')
    throw new Refusal(answer)
  }
  if (status < 200 || status >= 300) throw new Invalid(`status ${status}`)
  if (bytes.length === 0 && mayBeEmpty.has(operation.action)) return { ...answer, json: undefined }
  try {
    const json = readJson(bytes)
    if (json.isObject) return { ...answer, json }
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
  }
  throw new Invalid(`${operation.action} answered ${status} without a JSON object`)
}

/** What is shorter may as well be a word of an error's text. */
const shortestSecret = 8

const mayBeEmpty: ReadonlySet<string> = new Set([
  'UpdateAssetGroup',
  'DeleteAssetGroup',
  'UpdateAsset',
  'DeleteAsset',
] satisfies Operation['action'][])

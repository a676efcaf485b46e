import { createHash } from 'node:crypto'
import { expectedSignature } from '../../src/emulator/api/signature.ts'
import type { Emulator } from '../../src/emulator/index.ts'

/** A response with its body. */
export interface Answer {
  readonly status: number
  readonly text: string
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests read results of every form
  readonly Result: any
  readonly code: string | undefined
}

/** A request of the `ark` API. The signature covers all its headers except `leaveOut`. */
export function arkRequest(
  emulator: Emulator,
  action: string,
  body: string,
  {
    now = Date.now(),
    region = emulator.ark.region,
    secretKey = emulator.ark.secretKey,
    service = 'ark',
    leaveOut = '',
  } = {},
) {
  const { accessKey } = emulator.ark
  const target = `/?Action=${action}&Version=2024-01-01`
  const date = new Date(now).toISOString().replace(/[-:]|\.\d+/g, '')
  const headers = {
    host: emulator.origin.slice('http://'.length),
    'x-content-sha256': createHash('sha256').update(body).digest('hex'),
    'x-date': date,
  }
  const names = Object.keys(headers).filter((name) => name !== leaveOut)
  const signer = { accessKey, secretKey, region, service }
  const request = { method: 'POST', target, headers, body: Buffer.from(body) }
  const { signature } = expectedSignature(request, names, signer)
  const credential = `${accessKey}/${date.slice(0, 8)}/${region}/${service}/request`
  const authorization = `HMAC-SHA256 Credential=${credential}, SignedHeaders=${names.join(';')}, Signature=${signature}`
  return { url: emulator.origin + target, headers: { ...headers, authorization }, body }
}

/** Calls an action of the `ark` API. A string is sent unchanged. */
export async function ark(emulator: Emulator, action: string, body: unknown, now?: number): Promise<Answer> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const { url, ...init } = arkRequest(emulator, action, text, { now })
  return answerOf(await fetch(url, { method: 'POST', ...init }))
}

/** Sends a request to the `rest` API. `path` is relative to its base URL. */
export async function rest(emulator: Emulator, method: string, path: string, body?: unknown): Promise<Answer> {
  const headers = { authorization: `Bearer ${emulator.rest.key}`, 'content-type': 'application/json' }
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
  return answerOf(await fetch(emulator.rest.url + path, { method, headers, body: text, redirect: 'manual' }))
}

/** Reads a response. */
export async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text()
  const json = text.startsWith('{') ? JSON.parse(text) : {}
  const code = json.ResponseMetadata?.Error?.Code
  return { status: response.status, text, headers: response.headers, Result: json.Result, code }
}

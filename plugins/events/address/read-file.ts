import type { IncomingMessage } from 'node:http'
import type { TargetRules } from './address.ts'
import { targetProblem } from './address.ts'
import { atTarget, connectionError, openRequest, unlessAborted } from './request.ts'

/** Options of `readFileAt`. */
export interface ReadFileOptions {
  /** The addresses that may be reached. Default: those of the public internet. */
  readonly rules: TargetRules
  /** Maximum length of the file, in bytes. */
  readonly maxBytes: number
  /** Milliseconds for everything: name, connection and file. */
  readonly deadlineMs: number
  readonly signal?: AbortSignal | undefined
  /** Receives the file, piece by piece. */
  readonly receive: (piece: Uint8Array) => void
}

/**
 * Reads a file at an address that a user has given, as webhooks are sent there: never from a private network, and
 * without a redirect. Rejects with an error whose message the user may see for anything but a response 200 within the
 * bounds.
 */
export const readFileAt = async (address: string, options: ReadFileOptions): Promise<void> => {
  const { rules, deadlineMs, signal } = options
  const problem = targetProblem(address, rules)
  if (problem !== undefined) throw new Error(`the address ${problem}`)
  const timeout = AbortSignal.timeout(deadlineMs)
  const deadline = signal ? AbortSignal.any([signal, timeout]) : timeout
  const url = new URL(address)
  return atTarget(url, rules, deadline, (target) => readFrom(target, url, options, deadline))
}

const readFrom = async (
  target: string,
  url: URL,
  { maxBytes, receive }: ReadFileOptions,
  deadline: AbortSignal,
): Promise<void> => {
  const sent = openRequest(target, url, { method: 'GET', headers: { accept: '*/*', 'accept-encoding': 'identity' } })
  const read = new Promise<void>((resolve, reject) => {
    sent.on('response', (response: IncomingMessage) => {
      if (response.statusCode !== 200) return reject(new Error('the host has not responded with the file'))
      let length = 0
      response.on('data', (piece: Uint8Array) => {
        length += piece.length
        if (length > maxBytes) reject(new Error('the file is too large'))
        else receive(piece)
      })
      response.on('end', () => {
        if (response.complete) resolve()
      })
      response.on('close', () => reject(new Error('the file is not complete')))
      response.on('error', (error) => reject(connectionError(error)))
    })
    sent.on('error', (error) => reject(connectionError(error)))
  })
  read.catch(() => {})
  try {
    sent.end()
    await unlessAborted(read, deadline)
  } finally {
    sent.on('error', () => {})
    sent.destroy()
  }
}

import { UpstreamRejectedError } from '../../plugins/shared/upstream/upstream-error.ts'
import { type CheckedParts, createResponseChecker, type ResponseChecker } from './check-response.ts'
import { documentOfServer } from './document.ts'
import { recordResponses, type SentResponse } from './record-responses.ts'

// Every response of the gateways that run in the process of the tests is checked against the OpenAPI document of the server.

const servers = new Map<number, ResponseChecker>()
/** Servers in other processes. */
const remote = new Map<number, ResponseChecker>()
const problems: string[] = []

/** A server under test. */
export interface CheckedServer {
  /** The product word in the paths. Default `media`. */
  readonly segment?: string | undefined
  /** See `documentOfServer`. */
  readonly hasCallback: boolean
  /** Default `all`. */
  readonly checked?: CheckedParts | undefined
}

const checkers = new Map<string, Promise<ResponseChecker>>()

const checkerOf = ({ segment = 'media', hasCallback, checked }: CheckedServer): Promise<ResponseChecker> => {
  const key = `${segment} ${hasCallback} ${checked}`
  const checker =
    checkers.get(key) ??
    documentOfServer(segment, hasCallback).then((document) => createResponseChecker(document, checked))
  checkers.set(key, checker)
  return checker
}

const portOf = (url: string): number => Number(new URL(url).port)

/** Checks the responses of the server on a port from now on. */
export const checkServer = async (url: string, server: CheckedServer): Promise<void> => {
  // A server in another process may have had the port before.
  remote.delete(portOf(url))
  if (server.checked !== 'none') servers.set(portOf(url), await checkerOf(server))
}

/** The server on a port has stopped. */
export const uncheckServer = (url: string): void => {
  servers.delete(portOf(url))
}

/** Checks the replies of a server in another process, whose responses cannot be recorded: those that the helpers of the tests pass to `checkReply`. */
export const checkRemoteServer = async (url: string, server: CheckedServer): Promise<void> => {
  if (server.checked === 'none') remote.delete(portOf(url))
  else remote.set(portOf(url), await checkerOf(server))
}

/** Checks a reply of such a server. An error may be its own or, on routes that forward errors, any error of the upstream. */
export const checkReply = (url: string, reply: Omit<SentResponse, 'port'>): void => {
  const port = portOf(url)
  const checker = remote.get(port)
  const response = { port, ...reply }
  const found = checker?.problemsOf(response, false) ?? []
  if (found.length === 0 || (reply.status >= 400 && checker?.problemsOf(response, true).length === 0)) return
  report(response, found)
}

/** Removes and returns the problems so far. */
export const takeProblems = (): readonly string[] => problems.splice(0)

/** Status and body of errors that the gateway has forwarded from an upstream. */
const forwarded = new Set<string>()
const keyOf = (status: number, body: string | undefined): string => `${status} ${body}`

const report = ({ method, target, status, body }: SentResponse, found: readonly string[]): void => {
  for (const problem of found)
    problems.push(`${method} ${target.slice(0, 100)} ${status}: ${problem} in ${body?.slice(0, 300)}`)
}

const onResponse = (response: SentResponse): void => {
  const isForwarded = forwarded.has(keyOf(response.status, response.body))
  report(response, servers.get(response.port)?.problemsOf(response, isForwarded) ?? [])
}

recordResponses((port) => servers.has(port), onResponse)

const { toResponse } = UpstreamRejectedError.prototype
UpstreamRejectedError.prototype.toResponse = function (this: UpstreamRejectedError) {
  const { status, bytes } = this.response
  forwarded.add(keyOf(status, Buffer.from(bytes).toString()))
  if (forwarded.size > 1_000) forwarded.delete(forwarded.values().next().value ?? '')
  return toResponse.call(this)
}

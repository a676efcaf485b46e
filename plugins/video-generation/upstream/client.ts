import { readAtMost } from '../../shared/http/body/read-body.ts'
import { forwardedHeaders, responseHeaders, upstreamRequestId } from '../../shared/http/headers.ts'
import { type Json, JsonError, readJson, readJsonInTurns, responseLimits, toJson } from '../../shared/json/json.ts'
import { asJsonObject } from '../../shared/json/parsed.ts'
import type { Log } from '../../shared/problem.ts'
import { type ContainsCredential, createCredentialSearch } from '../../shared/upstream/credentials.ts'
import { fetchOnce } from '../../shared/upstream/fetch.ts'
import type { TraceCall } from '../../shared/upstream/trace-call.ts'
import {
  type Fetch,
  isNeverSent,
  type RawResponse,
  UpstreamInvalidError,
  UpstreamRejectedError,
} from '../../shared/upstream/upstream-error.ts'
import { rejectsKey, UpstreamKeyRejectedError } from '../../shared/upstream/upstream-key.ts'
import { videoUnavailable } from '../tasks/problem.ts'
import type { VideoServiceTier } from '../tasks/task.ts'

/** The upstream of video generation. */
export interface VideoUpstream {
  /** The address before `/contents/generations/tasks`, for example `https://ark.cn-beijing.volces.com/api/v3`. */
  readonly url: string
  /** The account's API key. */
  readonly key: string
}

/** Actions of the upstream, by the names in the vendor's API reference. */
export type VideoAction = 'CreateVideoTask' | 'GetVideoTask' | 'ListVideoTasks' | 'DeleteVideoTask'

/** A call to the upstream. `status` is 0 when there was no response. */
export interface VideoCall {
  readonly action: VideoAction
  readonly status: number
  readonly seconds: number
  /** The upstream has rejected the gateway's key. */
  readonly keyRejected: boolean
  /** Undefined: there is one account, without a name. */
  readonly account?: string
}

export interface VideoClientOptions {
  readonly upstream: VideoUpstream
  /** Name of the account, where there are several. */
  readonly account?: string
  /** Default: a `fetch` that sends a request exactly once. */
  readonly fetch?: Fetch | undefined
  /** Milliseconds for a create call, which may have a body of many megabytes. Default 60,000. */
  readonly createTimeoutMs?: number
  /** Milliseconds for any other call. Default 20,000. */
  readonly timeoutMs?: number
  readonly log: Log
  readonly observe?: ((call: VideoCall) => void) | undefined
  readonly traceCall?: TraceCall | undefined
}

/** A task in a list of the upstream, or in a response about it. */
export interface UpstreamTask {
  readonly id: string
  readonly status: string
  /** Seconds since 1970. */
  readonly createdAt: number
  readonly safetyIdentifier: string | undefined
  readonly expiresAfter: number | undefined
  /** The task as `GET` has it. */
  readonly json: Json
}

/** Selects tasks of the upstream account. */
export interface UpstreamQuery {
  readonly status?: string
  readonly ids?: readonly string[]
  readonly serviceTier?: VideoServiceTier
  readonly page?: number
  readonly size: number
}

/** A page of the upstream's tasks; `total` counts those of all pages. */
export interface UpstreamTasks {
  readonly tasks: readonly UpstreamTask[]
  readonly total: number
}

/**
 * The client of the upstream of video generation.
 *
 * Its methods reject with UpstreamRejectedError for an error status, UpstreamKeyRejectedError when the upstream rejects
 * the gateway's key, UpstreamUnreachableError without a complete response, and UpstreamInvalidError for a response that
 * no caller may see. A signal aborts a call.
 */
export interface VideoClient {
  /** Creates a task. Resolves with the upstream's id. Never aborted: the task may exist by then. */
  create(body: Uint8Array | string, headers?: Headers): Promise<string>
  /** Undefined: the upstream does not have the task any more. */
  get(id: string, signal?: AbortSignal): Promise<UpstreamTask | undefined>
  list(query: UpstreamQuery, signal?: AbortSignal): Promise<UpstreamTasks>
  /** Cancels a queued task, or deletes an ended one. */
  delete(id: string): Promise<void>
}

interface OutgoingCall {
  readonly method: string
  readonly body?: Uint8Array | string
  /** Headers of the caller's request. */
  readonly headers?: Headers
  /** Aborts the call. */
  readonly signal?: AbortSignal | undefined
}

/** Maximum size of a response: a page of 500 tasks has about 1 MB. */
const maxResponseBytes = 2 ** 24

const tasksPath = '/contents/generations/tasks'

/** Creates the client. */
export const createVideoClient = ({
  upstream,
  account,
  createTimeoutMs = 60_000,
  timeoutMs = 20_000,
  log,
  observe,
  traceCall,
  ...options
}: VideoClientOptions): VideoClient => {
  const send = options.fetch ?? fetchOnce
  const containsCredential = createCredentialSearch([upstream.key])
  const url = upstream.url + tasksPath

  const call = async (
    action: VideoAction,
    address: string,
    { method, body, headers: caller, signal }: OutgoingCall,
  ): Promise<Uint8Array<ArrayBuffer>> => {
    const startedAt = performance.now()
    const trace = traceCall?.({ action, url: upstream.url })
    const report = (status: number, keyRejected = false) =>
      observe?.({
        ...{ action, status, seconds: (performance.now() - startedAt) / 1000, keyRejected },
        ...(account !== undefined && { account }),
      })
    const limit = AbortSignal.timeout(action === 'CreateVideoTask' ? createTimeoutMs : timeoutMs)
    let response: Response
    let bytes: Uint8Array<ArrayBuffer> | undefined
    try {
      response = await send(address, {
        method,
        headers: {
          ...forwardedHeaders(caller),
          accept: 'application/json',
          ...(body !== undefined && { 'content-type': 'application/json' }),
          authorization: `Bearer ${upstream.key}`,
        },
        body: body as RequestInit['body'],
        signal: signal ? AbortSignal.any([limit, signal]) : limit,
        // A redirect could send the account's credential to another host.
        redirect: 'manual',
        // Without keep-alive the runtime sends a request only once.
        keepalive: method === 'GET',
      })
      bytes = await readAtMost(response, maxResponseBytes)
    } catch (cause) {
      report(0)
      trace?.end({ error: cause })
      throw videoUnavailable(cause, !isNeverSent(cause))
    }
    const { status } = response
    const raw = bytes && { status, headers: responseHeaders(response.headers, status), bytes }
    const keyRejected = raw !== undefined && rejectsKey(raw)
    report(status, keyRejected)
    trace?.end({ status })
    return acceptedBytes(raw, { action, log, containsCredential, keyRejected })
  }

  return {
    async create(body, headers) {
      const bytes = await call('CreateVideoTask', url, { method: 'POST', body, ...(headers && { headers }) })
      const id = asJsonObject(readResponse(bytes).value())?.id
      if (typeof id !== 'string' || !taskId.test(id)) throw new UpstreamInvalidError('the response has no task id')
      return id
    },

    async get(id, signal) {
      try {
        const bytes = await call('GetVideoTask', `${url}/${encodeURIComponent(id)}`, { method: 'GET', signal })
        const task = taskOf(readResponse(bytes))
        if (task?.id !== id) throw new UpstreamInvalidError('the response is about another task')
        return task
      } catch (error) {
        if (error instanceof UpstreamRejectedError && error.status === 404) return undefined
        throw error
      }
    },

    async list({ status, ids = [], serviceTier, page = 1, size }, signal) {
      const query = new URLSearchParams({ page_num: String(page), page_size: String(size) })
      if (status !== undefined) query.set('filter.status', status)
      if (serviceTier === 'flex') query.set('filter.service_tier', serviceTier)
      for (const id of ids) query.append('filter.task_ids', id)
      const bytes = await call('ListVideoTasks', `${url}?${query}`, { method: 'GET', signal })
      const json = await readJsonInTurns(bytes, responseLimits).catch(rejectInvalid)
      const items = json.get('items')
      if (!items?.isArray) throw new UpstreamInvalidError('the response has no items')
      const tasks = items.elements().flatMap((item) => taskOf(item) ?? [])
      const total = json.get('total')
      return { tasks, total: total?.isNumber ? Number(total.value()) : tasks.length }
    },

    async delete(id) {
      await call('DeleteVideoTask', `${url}/${encodeURIComponent(id)}`, { method: 'DELETE' })
    },
  }
}

const rejectCall = async (): Promise<never> => {
  throw videoUnavailable(new Error('no upstream is configured'), false)
}

/** Without an upstream, every call is rejected. */
export const unconfigured: VideoClient = { create: rejectCall, get: rejectCall, list: rejectCall, delete: rejectCall }

/** An id that is safe in a path, a query and a log line. */
const taskId = /^[\w.-]{1,128}$/

/** The bytes of a response with a success status. Throws the errors of the client for any other. */
const acceptedBytes = (
  raw: RawResponse | undefined,
  {
    action,
    log,
    containsCredential,
    keyRejected,
  }: { action: VideoAction; log: Log; containsCredential: ContainsCredential; keyRejected: boolean },
): Uint8Array<ArrayBuffer> => {
  if (!raw) throw new UpstreamInvalidError('the response is too large')
  const { status, headers, bytes } = raw
  if (containsCredential(bytes, headers)) throw new UpstreamInvalidError('the response contains a credential')
  if (status >= 200 && status < 300) return bytes
  if (status < 400 || status > 599) throw new UpstreamInvalidError(`unexpected status ${status}`)
  const fields = { action, status, upstreamRequestId: headers.get(upstreamRequestId) ?? undefined }
  if (keyRejected) {
    log.error(fields, "upstream rejected the gateway's key")
    throw new UpstreamKeyRejectedError()
  }
  log.info(fields, 'upstream rejected the request')
  throw new UpstreamRejectedError(raw)
}

const readResponse = (bytes: Uint8Array): Json => {
  try {
    return readJson(bytes)
  } catch (error) {
    return rejectInvalid(error)
  }
}

const rejectInvalid = (error: unknown): never => {
  throw error instanceof JsonError ? new UpstreamInvalidError(error.message) : error
}

/** Undefined: no task. */
const taskOf = (item: Json): UpstreamTask | undefined => {
  const id = item.get('id')?.string()
  const status = item.get('status')?.string()
  if (id === undefined || status === undefined || !taskId.test(id)) return undefined
  const createdAt = item.get('created_at')
  const expiresAfter = item.get('execution_expires_after')
  return {
    id,
    status,
    createdAt: createdAt?.isNumber ? Number(createdAt.value()) : 0,
    safetyIdentifier: item.get('safety_identifier')?.string(),
    expiresAfter: expiresAfter?.isNumber ? Number(expiresAfter.value()) : undefined,
    json: asGet(item),
  }
}

/** An item of a list as GET has it: lists have `failure_reason` instead of `error`, and only of failed tasks. */
const asGet = (item: Json): Json => {
  const reason = item.get('failure_reason')
  if (!reason && item.get('error')) return item
  return item.edit([
    ['failure_reason', undefined],
    ['error', reason ?? item.get('error') ?? toJson(null)],
  ])
}

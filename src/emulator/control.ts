import type { Account } from './account.ts'
import type { ReceivedRequest } from './action.ts'
import { type Fields, fieldsOf } from './api/fields.ts'
import type { OpenCall } from './calls.ts'
import { decisions, type Sessions } from './face/sessions.ts'
import type { Fault, Faults } from './faults/faults.ts'
import { jsonReply, type Reply } from './faults/faulty-reply.ts'
import { isLoopback } from './shared/loopback.ts'
import { membersOf } from './shared/members.ts'
import { unescaped } from './shared/paths.ts'
import type { Scenario, Scenarios } from './text/generation/scenario.ts'
import { type StoredObjects, testObjectKinds } from './text/objects/objects.ts'
import { type VideoTasks, videoTasksOf } from './video/service.ts'
import type { VideoOutcome } from './video/tasks/task.ts'

/** Path prefix of the HTTP control API. The emulator does not record requests to it, and they need no key. */
export const controlPath = '/_emulator/'

/** The state that the control API reads and changes. */
export interface Controls {
  readonly account: Account
  readonly calls: OpenCall[]
  readonly faults: Faults
}

/**
 * Responds to a request to the control API. Its endpoints, below `/_emulator/`:
 * - `GET|DELETE calls`
 * - `GET|POST|DELETE faults`; `DELETE faults/{id}` also releases a `hold`. A fault is JSON. Write a pattern as
 *   `"/^List/"` and unlimited `times` as `"Infinity"`.
 * - `GET groups`, `GET assets`, `GET assets?group=ID`
 * - `GET|POST|DELETE objects`, `DELETE objects/{id}`. Post an object as `{"kind":"file","name":"…"}`; the response has
 *   its id.
 * - `GET|POST|DELETE scenarios`. Post a scenario as `{"when":"…","steps":[…]}`.
 * - `GET video`; `POST video/{id}` with `{"do":"succeed"}`, `expire`, or `fail` with `code` and `message`, ends a video
 *   task. `GET callbacks`: the callbacks of video tasks.
 * - `POST time` with `{"ms":1000}` advances the clock of assets, video tasks and links.
 * - `GET face`; `POST face/{bytedToken}` with `{"do":"succeed"}`, `fail` or `close`. The response has the URL of the
 *   redirect.
 */
export const controlReply = (request: ReceivedRequest, { account, calls, faults }: Controls): Reply => {
  if (isFromForeignPage(request, account.settings.host))
    return jsonReply(403, '{"error":"pages of other sites cannot use the control API"}')
  const url = new URL(request.target, 'http://emulator')
  const videoTasks = videoTasksOf(account.video, account.library)
  const [resource = '', id] = url.pathname.slice(controlPath.length).split('/')
  switch (`${request.method} ${resource}`) {
    case 'GET calls':
      return ok(calls)
    case 'DELETE calls':
      calls.length = 0
      return ok({})
    case 'GET faults':
      return ok(
        faults.list().map(({ id, hits, fault }) => ({ id, hits, ...fault, action: String(fault.action ?? '') })),
      )
    case 'POST faults':
      return addFault(request.body, faults)
    case 'DELETE faults':
      if (id === undefined) faults.clear()
      else
        faults
          .list()
          .find((fault) => String(fault.id) === id)
          ?.remove()
      return ok({})
    case 'GET groups':
      return ok(account.library.groups())
    case 'GET assets':
      return ok(account.library.assets(url.searchParams.get('group') ?? undefined))
    case 'GET objects':
      return ok(account.objects.stored.list())
    case 'POST objects':
      return addObject(request.body, account.objects.stored)
    case 'DELETE objects':
      if (id === undefined) account.objects.stored.clear()
      else account.objects.stored.delete(unescaped(id))
      return ok({})
    case 'GET scenarios':
      return ok(account.scenarios.list())
    case 'POST scenarios':
      return addScenario(request.body, account.scenarios)
    case 'DELETE scenarios':
      account.scenarios.clear()
      return ok({})
    case 'GET video':
      return ok(videoTasks.tasks())
    case 'POST video':
      return finishTask(id, request.body, videoTasks)
    case 'GET callbacks':
      return ok(videoTasks.callbacks())
    case 'POST time':
      return advance(request.body, videoTasks)
    case 'GET face':
      return ok(account.faces.sessions.list())
    case 'POST face':
      return finishSession(id, request.body, account.faces.sessions)
    default:
      return jsonReply(404, '{"error":"not found"}')
  }
}

/**
 * Whether a page of another site may have sent the request, in a browser on this machine.
 *
 * A browser sends `Origin` with every request that changes something. For a reading request the page would have to
 * rebind its own host name to loopback; then the name is in `Host`.
 */
const isFromForeignPage = ({ headers: { host = '', origin } }: ReceivedRequest, bound: string): boolean => {
  if (origin !== undefined && origin !== `http://${host}`) return true
  return isLoopback(bound) && !isLoopback(host.replace(/:\d+$/, ''))
}

const finishSession = (bytedToken = '', body: string, sessions: Sessions): Reply => {
  const decision = decisions.find((one) => one === fieldsOf(membersOf(body) ?? []).value('do'))
  if (decision === undefined)
    return jsonReply(400, JSON.stringify({ error: `do must be one of ${decisions.join(', ')}` }))
  const finish = sessions.finish(bytedToken, decision)
  if (finish.outcome === 'callback') return ok({ callback: finish.url })
  if (finish.outcome === 'closed') return ok({})
  return jsonReply(finish.outcome === 'unknown' ? 404 : 409, JSON.stringify({ error: finish.outcome }))
}

const addObject = (body: string, stored: StoredObjects): Reply => {
  const fields = fieldsOf(membersOf(body) ?? [])
  const kind = testObjectKinds.find((one) => one === fields.value('kind'))
  if (kind === undefined)
    return jsonReply(400, JSON.stringify({ error: `kind must be one of ${testObjectKinds.join(', ')}` }))
  const text = (name: string) => (fields.value(name) === undefined ? undefined : String(fields.value(name)))
  return jsonReply(201, JSON.stringify({ id: stored.add({ kind, id: text('id'), name: text('name') }) }))
}

const addScenario = (body: string, scenarios: Scenarios): Reply =>
  attempt(() => {
    scenarios.add(JSON.parse(body) as Scenario)
    return jsonReply(201, '{}')
  })

const addFault = (body: string, faults: Faults): Reply =>
  attempt(() => jsonReply(201, JSON.stringify({ id: faults.add(parseFault(body)).id })))

/** The fault in a JSON body. `faults.add` checks it. */
const parseFault = (body: string): Fault => {
  const given: unknown = JSON.parse(body)
  if (typeof given !== 'object' || given === null) throw new TypeError('a fault is a JSON object')
  const { action, times } = given as { action?: unknown; times?: unknown }
  const pattern = typeof action === 'string' ? action.match(/^\/(.+)\/([a-z]*)$/) : null
  return {
    ...given,
    ...(pattern && { action: new RegExp(pattern[1] ?? '', pattern[2]) }),
    ...(times === 'Infinity' && { times: Number.POSITIVE_INFINITY }),
  } as Fault
}

const taskDecisions = ['succeed', 'fail', 'expire'] as const

/** Ends the video task `id` as the body says. */
const finishTask = (id = '', body: string, tasks: VideoTasks): Reply =>
  attempt(() => ok({ status: tasks.finish(id, outcomeIn(fieldsOf(membersOf(body) ?? []))).status }))

/** Advances the clock by `ms` of the body. */
const advance = (body: string, tasks: VideoTasks): Reply =>
  attempt(() => {
    tasks.advance(fieldsOf(membersOf(body) ?? []).integer('ms', 0, Number.MAX_SAFE_INTEGER) ?? 0)
    return ok({})
  })

const outcomeIn = (fields: Fields): VideoOutcome => {
  const decision = fields.oneOf('do', taskDecisions)
  if (decision === undefined) throw new Error(`do must be one of ${taskDecisions.join(', ')}`)
  if (decision !== 'fail') return { status: decision === 'succeed' ? 'succeeded' : 'expired' }
  const code = fields.text('code') ?? 'InternalServiceError'
  return { status: 'failed', code, message: fields.text('message') ?? 'The task failed.' }
}

const ok = (value: unknown): Reply => jsonReply(200, JSON.stringify(value))

/** 400 with the message of the error that the function throws. */
const attempt = (run: () => Reply): Reply => {
  try {
    return run()
  } catch (error) {
    return jsonReply(400, JSON.stringify({ error: error instanceof Error ? error.message : String(error) }))
  }
}

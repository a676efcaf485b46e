import { readId } from '../../shared/id.ts'
import type { Json } from '../../shared/json/json.ts'
import { Problem } from '../../shared/problem.ts'
import { storeCall } from '../../shared/store-call.ts'
import {
  toResponse,
  UpstreamInvalidError,
  UpstreamRejectedError,
  type UpstreamResponse,
} from '../../upstream-proxy/index.ts'
import { firstPollAt, nextPoll, nextPollAfterError } from '../backoff.ts'
import { faceNotRecorded } from '../context.ts'
import { recordGroup } from '../group.ts'
import { readStatus, statusPathTo } from '../status.ts'
import type { Verification } from '../store.ts'
import { type OwnedTask, type PollSchedule, withLease } from '../task-lease.ts'
import type { CreateFaceDriver } from './driver.ts'
import { readGroup, readTaskBody, resultOf } from './task-body.ts'

/**
 * Driver for an upstream that serves the gateway's own paths and keeps the status.
 *
 * The gateway records the status and the group, then forwards the response.
 */
export const restDriver: CreateFaceDriver = (context) => {
  const { upstream, store, clock, taskMs, maxBodyBytes, audit, accountFor } = context

  /**
   * Records what a response reports about a task. The group comes first: no task may be `verified` before its group is
   * recorded.
   */
  const record = async (task: Verification, response: UpstreamResponse): Promise<void> => {
    const result = resultOf(response)
    const id = result.get('verification_id')
    // The group of another task may belong to another user.
    if (id && id.string() !== task.id)
      throw new UpstreamInvalidError('a response about another task than the requested one')
    const status = readStatus(result.get('status')?.string())
    const group = readGroup(result.get('group_id'))
    if (status === 'verified' && group === undefined) throw new UpstreamInvalidError('a verified task without group_id')
    if (group !== undefined && group !== task.group) await recordGroup(context, task, group)
    const path = status && statusPathTo(task.status, status)
    if (path) await storeCall(store.moveVerification(task.id, path, { group }), faceNotRecorded)
  }

  const requestStatus = (
    { verification, user }: OwnedTask,
    headers: Headers | undefined,
    signal: AbortSignal,
  ): Promise<UpstreamResponse> =>
    upstream.send({ action: 'GetVisualValidateResult', verification }, { user, headers, signal })

  /** When the task is polled next. Never, once it has expired and the grace period is over. */
  const nextSchedule = (task: Verification): PollSchedule => {
    const next = nextPoll(task, clock.now())
    return clock.now() > task.expiresAt + graceMs ? { ...next, dueAt: undefined } : next
  }

  return {
    async create(request, user, reserved) {
      const body = await readTaskBody(request, maxBodyBytes)
      const createdAt = clock.now()
      const account = await accountFor(user)
      // No abort signal: when the caller disconnects, the task is created and recorded all the same.
      const response = await upstream.send(
        { action: 'CreateVisualValidateSession', body, account },
        { user, headers: request.headers },
      )
      const result = resultOf(response)
      const id = readId(result.get('verification_id')?.string())
      if (id === undefined) throw new UpstreamInvalidError('a face verification without verification_id')
      const expiresAt = readExpiry(result.get('expires_at'), createdAt) ?? createdAt + taskMs
      const task = { id, user, account, kind: 'rest', status: 'waiting_user', createdAt, expiresAt, polls: 0 } as const
      const added = await storeCall(
        store.addVerification({ ...task, dueAt: firstPollAt(createdAt, expiresAt) }, reserved),
        faceNotRecorded,
      )
      if (!added) {
        throw new Problem(500, faceNotRecorded, { cause: new Error(`the verification ${id} belongs to another user`) })
      }
      audit.note({ action: 'verification.create', target: { kind: 'verification', id } }, request)
      await record(task, response)
      return toResponse(response)
    },

    async query(task, request) {
      const response = await requestStatus(task, request.headers, request.signal)
      await record(task, response)
      return toResponse(response)
    },

    poll: (id, signal) =>
      withLease(
        context,
        id,
        signal,
        async (task, signal) => {
          try {
            await record(task, await requestStatus(task, undefined, signal))
          } catch (error) {
            if (!(error instanceof UpstreamRejectedError && isUnknown(error.status))) throw error
          }
          return nextSchedule(task)
        },
        nextPollAfterError(clock),
      ),
  }
}

/** A person may finish at the last moment, and the upstream may report the result some time later. */
const graceMs = 600_000

/** The upstream does not know the task yet, or no longer. */
const isUnknown = (status: number): boolean => status === 404 || status === 410

/** `expires_at` in milliseconds since 1970; undefined when it is in the past or more than a day away. */
const readExpiry = (json: Json | undefined, now: number): number | undefined => {
  const seconds = Number(json?.raw)
  const at = Math.floor(seconds * 1000)
  return at > now && at < now + 86_400_000 ? at : undefined
}

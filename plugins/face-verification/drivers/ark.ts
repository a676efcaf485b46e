import { randomUUID } from 'node:crypto'
import { hashLinkSecret, linkSecretOf } from '../../shared/consent/link.ts'
import { noStoreJson } from '../../shared/http/no-store.ts'
import { storeCall } from '../../shared/store-call.ts'
import { UpstreamBusyError } from '../../upstream-proxy/index.ts'
import { firstPollAt, nextPoll, nextPollAfterError } from '../backoff.ts'
import { createState, hashState, serveCallback } from '../callback/callback.ts'
import { faceNotRecorded } from '../context.ts'
import { ForeignGroupError, recordGroup } from '../group.ts'
import { isEnded, statusPathTo, type VerificationStatus } from '../status.ts'
import type { Verification } from '../store.ts'
import { findOwnTask, type OwnedTask, withLease } from '../task-lease.ts'
import type { CreateFaceDriver } from './driver.ts'
import { readValidateResult, readValidateSession, withoutSecrets } from './result.ts'
import { readTaskBody } from './task-body.ts'

/**
 * Driver for the vendor's own verification sessions. The gateway turns a session into a task and keeps the task's
 * status itself.
 */
export const arkDriver: CreateFaceDriver = (context) => {
  const { upstream, store, clock, taskMs, maxBodyBytes, audit, accountFor } = context

  /**
   * Moves a task to a status and returns the task with it. A concurrent request may have moved the stored task further.
   */
  const move = async <Task extends Verification>(task: Task, to: VerificationStatus, group?: string): Promise<Task> => {
    const path = statusPathTo(task.status, to)
    if (path) await storeCall(store.moveVerification(task.id, path, { group }), faceNotRecorded)
    return path ? { ...task, status: to } : task
  }

  const requestResult = ({ verification, user }: OwnedTask, signal: AbortSignal, headers?: Headers) =>
    readValidateResult(
      withoutSecrets(upstream.send({ action: 'GetVisualValidateResult', verification }, { user, headers, signal }), [
        verification.id,
      ]),
    )

  /** Records the group, then the status `verified`: no response may name a group that is not recorded. */
  const verify = async (task: OwnedTask, group: string, isExpired: boolean): Promise<void> => {
    // The task may still be `waiting_user`: when the callback was lost, the result proves that the person has finished.
    const resolving = await move(task, 'resolving')
    try {
      await recordGroup(context, task, group)
    } catch (error) {
      if (isExpired && error instanceof ForeignGroupError) await move(resolving, 'failed')
      throw error
    }
    await move(resolving, 'verified', group)
  }

  /** Requests the result from the upstream and updates the task. */
  const resolve = (id: string, signal?: AbortSignal, headers?: Headers): Promise<boolean> =>
    withLease(
      context,
      id,
      signal,
      async (leased, signal) => {
        const task = leased.status === 'callback_received' ? await move(leased, 'resolving') : leased
        // Read the clock before the request: a response from before the expiry must not count as one from after it.
        const isExpired = clock.now() >= task.expiresAt
        const result = await requestResult(task, signal, headers)
        if (typeof result === 'object') await verify(task, result.group, isExpired)
        else if (result === 'gone' && task.status === 'resolving') await move(task, 'failed')
        else if (isExpired) await move(task, 'expired')
        return nextPoll(task, clock.now())
      },
      nextPollAfterError(clock),
    )

  return {
    async create(request, user, reserved, callbackUrl) {
      const body = await readTaskBody(request, maxBodyBytes)
      const createdAt = clock.now()
      const state = createState()
      const account = await accountFor(user)
      // No abort signal: when the caller disconnects, the session is created and recorded all the same.
      const response = await withoutSecrets(
        upstream.send(
          { action: 'CreateVisualValidateSession', body, callbackUrl: `${callbackUrl}/${state}`, account },
          { user, headers: request.headers },
        ),
        [state],
      )
      const { token, link, expiresAt: end = Number.POSITIVE_INFINITY } = readValidateSession(response, createdAt)
      const expiresAt = Math.min(end, createdAt + taskMs)
      const task = { id: randomUUID(), user, kind: 'ark', status: 'waiting_user', token, createdAt, expiresAt } as const
      const dueAt = firstPollAt(createdAt, expiresAt)
      const added = await storeCall(
        store.addVerification(
          {
            ...{ ...task, account, dueAt, stateHash: hashState(state) },
            ...(context.consents && { linkHash: hashLinkSecret(linkSecretOf(state)) }),
          },
          reserved,
        ),
        faceNotRecorded,
      )
      if (!added) throw new Error('the generated verification id exists already')
      audit.note({ action: 'verification.create', target: { kind: 'verification', id: task.id } }, request)
      return noStoreJson({
        verification_id: task.id,
        status: task.status,
        h5_url: link,
        expires_at: Math.floor(expiresAt / 1000),
      })
    },

    async query(task, request) {
      const { id, status, user } = task
      if (isEnded(status) || (status === 'waiting_user' && clock.now() < task.expiresAt)) return taskResponse(task)
      try {
        await resolve(id, request.signal, request.headers)
      } catch (error) {
        // The rate limiter did not let the request through to the upstream: the caller gets the task as it is stored.
        if (!(error instanceof UpstreamBusyError && error.status === 429)) throw error
      }
      return taskResponse(await findOwnTask(context, 'ark', user, id))
    },

    poll: (id, signal) => resolve(id, signal),
    callback: serveCallback(context, resolve),
  }
}

const taskResponse = ({ id, status, group }: Verification): Response =>
  noStoreJson({ verification_id: id, status, group_id: group })

import { randomUUID } from 'node:crypto'
import { unkeptJson } from '../shared/unkept.ts'
import { Unsent } from '../upstream-proxy/index.ts'
import { afterFailure, firstDue, lookAgain } from './backoff.ts'
import { createState, hashState } from './callback.ts'
import { type FaceContext, fromStore, unrecorded } from './context.ts'
import type { FaceDriver } from './driver.ts'
import { ForeignGroup, recordGroup } from './group.ts'
import { readTaskBody } from './parse.ts'
import { discreet, readValidateResult, readValidateSession } from './result.ts'
import { isEnded, statusPathTo, type VerificationStatus } from './status.ts'
import type { Verification } from './store.ts'
import { type OwnTask, ownTask, withLease } from './task-lease.ts'

/** The vendor's sessions: the gateway makes tasks of them, and runs the states itself. `callbackUrl` is the page's address without its state. */
export const arkDriver = (means: FaceContext, callbackUrl: () => string): FaceDriver => {
  const { upstream, store, clock, taskMs, maxBodyBytes, audit } = means

  /** The task as it is afterwards, unless somebody was quicker. */
  const move = async <Task extends Verification>(task: Task, to: VerificationStatus, group?: string): Promise<Task> => {
    const way = statusPathTo(task.status, to)
    if (way) await fromStore(store.moveVerification(task.id, way, { group }), unrecorded)
    return way ? { ...task, status: to } : task
  }

  const ask = ({ verification, user }: OwnTask, signal: AbortSignal, headers?: Headers) =>
    readValidateResult(
      discreet(upstream.send({ action: 'GetVisualValidateResult', verification }, { user, headers, signal }), [
        verification.id,
      ]),
    )

  /** The group first, so that nobody hears of it before it is recorded. */
  const verify = async (task: OwnTask, group: string, isOver: boolean): Promise<void> => {
    // Of a callback that got lost, the result is as good a word.
    const resolving = await move(task, 'resolving')
    try {
      await recordGroup(means, task, group)
    } catch (error) {
      if (isOver && error instanceof ForeignGroup) await move(resolving, 'failed')
      throw error
    }
    await move(resolving, 'verified', group)
  }

  /** Asks for the result, and takes the consequences. */
  const resolve = (id: string, signal: AbortSignal | undefined, headers?: Headers): Promise<boolean> =>
    withLease(
      means,
      id,
      signal,
      async (leased, signal) => {
        const task = leased.status === 'callback_received' ? await move(leased, 'resolving') : leased
        // Before the question: an answer from just before the end must not count as one from after it.
        const isOver = clock.now() >= task.expiresAt
        const result = await ask(task, signal, headers)
        if (typeof result === 'object') await verify(task, result.group, isOver)
        else if (result === 'gone' && task.status === 'resolving') await move(task, 'failed')
        else if (isOver) await move(task, 'expired')
        return lookAgain(task, clock.now())
      },
      afterFailure(clock.now),
    )

  return {
    async create(request, user, reserved) {
      const body = await readTaskBody(request, maxBodyBytes)
      const createdAt = clock.now()
      const state = createState()
      // Brought to its end whether or not the caller stays.
      const answer = await discreet(
        upstream.send(
          { action: 'CreateVisualValidateSession', body, callbackUrl: `${callbackUrl()}/${state}` },
          { user, headers: request.headers },
        ),
        [state],
      )
      const { token, link, expiresAt: end = Number.POSITIVE_INFINITY } = readValidateSession(answer, createdAt)
      const expiresAt = Math.min(end, createdAt + taskMs)
      const task = { id: randomUUID(), user, kind: 'ark', status: 'waiting_user', token, createdAt, expiresAt } as const
      const dueAt = firstDue(createdAt, expiresAt)
      const added = await fromStore(
        store.addVerification({ ...task, dueAt, stateHash: hashState(state) }, reserved),
        unrecorded,
      )
      if (!added) throw new Error('a random id came twice')
      audit.note({ action: 'verification.create', target: { kind: 'verification', id: task.id } }, request)
      return unkeptJson({
        verification_id: task.id,
        status: task.status,
        h5_url: link,
        expires_at: Math.floor(expiresAt / 1000),
      })
    },

    async query(task, request) {
      const { id, status, user } = task
      if (isEnded(status) || (status === 'waiting_user' && clock.now() < task.expiresAt)) return shown(task)
      try {
        await resolve(id, request.signal, request.headers)
      } catch (error) {
        // The upstream is busy with others, and has said nothing: the task stands as it stood.
        if (!(error instanceof Unsent && error.status === 429)) throw error
      }
      return shown(await ownTask(means, 'ark', user, id))
    },

    look: (id, signal) => resolve(id, signal),
  }
}

const shown = ({ id, status, group }: Verification): Response =>
  unkeptJson({ verification_id: id, status, group_id: group })

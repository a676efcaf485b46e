import { readId } from '../shared/id.ts'
import type { Json } from '../shared/json.ts'
import { Problem } from '../shared/problem.ts'
import { unkept } from '../shared/unkept.ts'
import { type Answer, Invalid, Refusal, toResponse } from '../upstream-proxy/index.ts'
import { afterFailure, firstDue, lookAgain } from './backoff.ts'
import { type FaceContext, fromStore, unrecorded } from './context.ts'
import type { FaceDriver } from './driver.ts'
import { recordGroup } from './group.ts'
import { readGroup, readTaskBody, resultOf } from './parse.ts'
import { readStatus, statusPathTo } from './status.ts'
import type { Verification } from './store.ts'
import { type NextLook, type OwnTask, withLease } from './task-lease.ts'

/** An upstream of the gateway's own paths, which runs the states: what it says is forwarded, after what follows from it is recorded. */
export const restDriver = (means: FaceContext): FaceDriver => {
  const { upstream, store, clock, taskMs, maxBodyBytes, audit } = means

  /** Records what an answer says of a task: the group first, so that no status is known before it. */
  const record = async (task: Verification, answer: Answer): Promise<void> => {
    const result = resultOf(answer)
    const named = result.get('verification_id')
    // Of another task, whose group is another's.
    if (named && named.string() !== task.id) throw new Invalid('an answer about another task than the one asked about')
    const status = readStatus(result.get('status')?.string())
    const group = readGroup(result.get('group_id'))
    if (status === 'verified' && group === undefined) throw new Invalid('a verified task without group_id')
    if (group !== undefined && group !== task.group) await recordGroup(means, task, group)
    const way = status && statusPathTo(task.status, status)
    if (way) await fromStore(store.moveVerification(task.id, way, { group }), unrecorded)
  }

  const ask = ({ verification, user }: OwnTask, headers: Headers | undefined, signal: AbortSignal): Promise<Answer> =>
    upstream.send({ action: 'GetVisualValidateResult', verification }, { user, headers, signal })

  /** Once more, or never: long after its end a task is what it is. */
  const again = (task: Verification): NextLook => {
    const next = lookAgain(task, clock.now())
    return clock.now() > task.expiresAt + graceMs ? { ...next, dueAt: undefined } : next
  }

  return {
    async create(request, user, reserved) {
      const body = await readTaskBody(request, maxBodyBytes)
      const createdAt = clock.now()
      // Brought to its end whether or not the caller stays.
      const answer = await upstream.send(
        { action: 'CreateVisualValidateSession', body },
        { user, headers: request.headers },
      )
      const result = resultOf(answer)
      const id = readId(result.get('verification_id')?.string())
      if (id === undefined) throw new Invalid('a face verification without verification_id')
      const expiresAt = readEnd(result.get('expires_at'), createdAt) ?? createdAt + taskMs
      const task = { id, user, kind: 'rest', status: 'waiting_user', createdAt, expiresAt, asks: 0 } as const
      const added = await fromStore(
        store.addVerification({ ...task, dueAt: firstDue(createdAt, expiresAt) }, reserved),
        unrecorded,
      )
      if (!added) {
        throw new Problem(500, unrecorded, { cause: new Error(`the verification ${id} is another user's`) })
      }
      audit.note({ action: 'verification.create', target: { kind: 'verification', id } }, request)
      await record(task, answer)
      return unkept(toResponse(answer))
    },

    async query(task, request) {
      const answer = await ask(task, request.headers, request.signal)
      await record(task, answer)
      return unkept(toResponse(answer))
    },

    look: (id, signal) =>
      withLease(
        means,
        id,
        signal,
        async (task, signal) => {
          try {
            await record(task, await ask(task, undefined, signal))
          } catch (error) {
            if (!(error instanceof Refusal && isUnknown(error.status))) throw error
          }
          return again(task)
        },
        afterFailure(clock.now),
      ),
  }
}

/** A person may be done at the last moment, and the upstream take a while to say so. */
const graceMs = 600_000

/** No such task, any more or yet. */
const isUnknown = (status: number): boolean => status === 404 || status === 410

/** `expires_at` in milliseconds; undefined when it is not within a day. */
const readEnd = (json: Json | undefined, now: number): number | undefined => {
  const seconds = Number(json?.raw)
  const at = Math.floor(seconds * 1000)
  return at > now && at < now + 86_400_000 ? at : undefined
}

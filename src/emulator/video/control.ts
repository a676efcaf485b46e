import { jsonReply, type Reply } from '../faults/faulty-reply.ts'
import { type Fields, fieldsOf } from '../shared/fields.ts'
import { membersOf } from '../shared/members.ts'
import type { VideoTasks } from './emulated.ts'
import type { VideoOutcome } from './tasks/task.ts'

const decisions = ['succeed', 'fail', 'expire'] as const

/** Ends the task `id` as the body says. */
export const finishTask = (id = '', body: string, tasks: VideoTasks): Reply =>
  replyTo(body, (fields) => ({ status: tasks.finish(id, outcomeIn(fields)).status }))

/** Advances the clock by `ms` of the body. */
export const advance = (body: string, tasks: VideoTasks): Reply =>
  replyTo(body, (fields) => {
    tasks.advance(fields.integer('ms', 0, Number.MAX_SAFE_INTEGER) ?? 0)
    return {}
  })

const outcomeIn = (fields: Fields): VideoOutcome => {
  const decision = fields.oneOf('do', decisions)
  if (decision === undefined) throw new Error(`do must be one of ${decisions.join(', ')}`)
  if (decision !== 'fail') return { status: decision === 'succeed' ? 'succeeded' : 'expired' }
  const code = fields.text('code') ?? 'InternalServiceError'
  return { status: 'failed', code, message: fields.text('message') ?? 'The task failed.' }
}

const replyTo = (body: string, run: (fields: Fields) => object): Reply => {
  try {
    return jsonReply(200, JSON.stringify(run(fieldsOf(membersOf(body) ?? []))))
  } catch (error) {
    return jsonReply(400, JSON.stringify({ error: error instanceof Error ? error.message : String(error) }))
  }
}

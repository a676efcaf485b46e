import { Type } from '@sinclair/typebox'
import { enumOf, nullable, type SchemaOf, successOf } from '../../shared/plugin/openapi.ts'
import type { ActivityView, AlertsView } from '../activity.ts'
import type { AuditVerificationView } from '../views/audit.ts'

const text = Type.String()
const count = Type.Integer({ minimum: 0 })
const time = Type.String({ format: 'date-time' })

const activityCounts = {
  requests: count,
  rejected: Type.Integer({ minimum: 0, description: 'With a status of 400 to 499' }),
  errors: Type.Integer({ minimum: 0, description: 'With a status of 500 or above' }),
}

export const activitySchema: SchemaOf<ActivityView> = Type.Object(
  {
    at: time,
    last_minute: Type.Object(activityCounts, { description: 'The last complete minute' }),
    hours: Type.Array(Type.Object({ at: time, ...activityCounts }), { description: 'The last 24, oldest first' }),
    days: Type.Array(
      Type.Object({
        day: Type.String({ format: 'date' }),
        ...activityCounts,
        videos: Type.Record(Type.String(), count, { description: 'Video tasks that have ended, by status' }),
      }),
      { description: 'The last 7 in UTC, oldest first' },
    ),
    videos: Type.Object({ running: count, waiting: count }),
  },
  { title: 'Activity', description: 'HTTP requests, and video tasks, of all processes. A few seconds late' },
)

export const alertsSchema = successOf('Alerts', {
  alerts: Type.Array(
    Type.Object({
      name: Type.String({ description: 'Name of the rule' }),
      severity: enumOf(['critical', 'warning']),
      state: enumOf(['pending', 'firing']),
      since: time,
      labels: Type.Record(Type.String(), text),
      value: Type.Number({ description: 'The value that is too high' }),
    }),
  ) satisfies SchemaOf<AlertsView['alerts']>,
  not_evaluated: Type.Array(text, { description: 'Rules that the server cannot evaluate itself' }),
})

export const verificationSchema: SchemaOf<AuditVerificationView> = Type.Object(
  {
    problems: Type.Array(text, { description: 'Empty: the trail is intact' }),
    verified: count,
    first: nullable(Type.Integer({ description: 'Number of the first entry' })),
    head: Type.String({ description: 'Number and HMAC of the last entry, to be kept elsewhere' }),
    removed: Type.Integer({ minimum: 0, description: 'Number of the last entry that was removed for its age' }),
    without_hmac: Type.Integer({ minimum: 0, description: 'Entries of earlier versions' }),
    newest_without_hmac: nullable(time),
    keys: Type.Array(Type.Object({ key: text, first: Type.Integer(), last: Type.Integer() })),
  },
  { title: 'AuditVerification' },
)

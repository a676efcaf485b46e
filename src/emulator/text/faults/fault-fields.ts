import {
  amount,
  callback,
  either,
  type FieldType,
  flag,
  object,
  oneOf,
  optional,
  text,
} from '../../shared/field-types.ts'
import type { TextFaultKind } from './faults.ts'

/** The fields of each kind of fault, without `kind`. */
export type FaultFields<Kind extends { readonly kind: string }> = {
  readonly [Name in Kind['kind']]: {
    readonly [Field in Exclude<keyof Extract<Kind, { readonly kind: Name }>, 'kind'>]-?: FieldType
  }
}

const events = optional(amount)

/** The fields of each kind of text fault. */
export const textFaultFields: FaultFields<TextFaultKind> = {
  script: { script: either(object, callback) },
  cut: { how: optional(oneOf('fin', 'reset', 'clean')), inside: optional(flag), events },
  'error-event': {
    form: optional(oneOf('data', 'event', 'failed')),
    error: optional(object),
    done: optional(flag),
    events,
  },
  silence: { events: optional(either(amount, oneOf('headers'))), ms: optional(amount) },
  'no-done': {},
  done: {},
  'done-twice': {},
  comments: { text: optional(text) },
  'named-events': {},
  'keepalive-events': {},
  'empty-data-lines': {},
  crlf: { ending: optional(oneOf('\r\n', '\r')) },
  split: { bytes: optional(amount) },
  bom: {},
  'no-content-type': {},
  'json-to-stream': {},
  'stream-to-json': {},
  'usage-on-every-chunk': {},
  'no-usage': {},
  'tool-delta-without-index': {},
  'arguments-only-in-done': {},
  'extra-fields': {},
  'reasoning-in-content-chunk': {},
  'big-event': { bytes: optional(amount) },
}

import { assetActions, selectActions, textActions, videoActions } from '../action-names.ts'
import { type FaultFields, textFaultFields } from '../text/faults/faults.ts'
import { callbackFaults, videoFaultFields } from '../video/faults.ts'
import type { Fault, FaultKind, FaultTiming } from './faults.ts'
import {
  amount,
  either,
  type FieldType,
  flag,
  fraction,
  object,
  oneOf,
  optional,
  pattern,
  status,
  text,
} from './field-types.ts'

/** Faults that apply only to lists of groups and assets. */
export const listFaults: readonly string[] = ['foreign', 'missing-field', 'no-data', 'repeat-cursor']

/** The fields of each kind of fault. The compiler demands a line for each kind and field. */
export const faultFields: FaultFields<FaultKind> = {
  'reset-before': {},
  'reset-after': {},
  hang: { work: optional(flag) },
  delay: { ms: amount },
  hold: { when: optional(oneOf('before', 'after')) },
  status: { status, body: optional(text), headers: optional(object), work: optional(flag) },
  truncate: { keep: optional(amount) },
  'not-json': { body: optional(text) },
  empty: {},
  redirect: { location: text, status: optional(status) },
  gzip: {},
  headers: { headers: object },
  'hostile-headers': { status: optional(status), page: optional(flag) },
  leak: {
    form: optional(oneOf('plain', 'escaped', 'base64', 'percent')),
    location: optional(oneOf('body', 'content', 'header')),
  },
  foreign: {},
  'missing-field': { field: text },
  'no-data': {},
  'repeat-cursor': {},
  ...textFaultFields,
  ...videoFaultFields,
}

const timingFields: { readonly [Field in keyof FaultTiming]-?: FieldType } = {
  action: optional(either(text, pattern)),
  api: optional(oneOf('rest', 'ark', 'text', 'video')),
  times: optional(amount),
  after: optional(amount),
  probability: optional(fraction),
}

/**
 * Throws a `TypeError` for an unknown kind, an unknown or wrong field, and an action that does not exist where the
 * fault applies.
 */
export const checkFault = (fault: Fault): void => {
  const { kind, action, api } = fault
  if (!Object.hasOwn(faultFields, kind))
    throw new TypeError(`kind must be one of ${Object.keys(faultFields).join(', ')}`)
  const fields: Readonly<Record<string, FieldType>> = { ...faultFields[kind], ...timingFields }
  const given = new Map(Object.entries(fault).filter(([name, value]) => name !== 'kind' && value !== undefined))
  for (const name of given.keys()) {
    if (!Object.hasOwn(fields, name)) throw new TypeError(`${kind} has no field ${name}`)
  }
  for (const [name, { name: type, isOptional, accepts }] of Object.entries(fields)) {
    if (given.has(name) ? !accepts(given.get(name)) : !isOptional) throw new TypeError(`${kind} needs ${name}: ${type}`)
  }
  const names = actionsOf(kind, api)
  if (action !== undefined && selectActions(action, names).length === 0)
    throw new TypeError(`${kind} applies to no action ${action}, only to ${names.join(', ')}`)
}

const actionsOf = (kind: string, api: Fault['api']): readonly string[] => {
  const isText = Object.hasOwn(textFaultFields, kind) || api === 'text'
  if (listFaults.includes(kind)) return isText || api === 'video' ? [] : selectActions(/^List/, assetActions)
  if (callbackFaults.includes(kind)) return api === undefined || api === 'video' ? ['SendVideoCallback'] : []
  const videoCalls = videoActions.filter((action) => action !== 'SendVideoCallback')
  if (Object.hasOwn(videoFaultFields, kind)) return api === undefined || api === 'video' ? videoCalls : []
  if (isText) return textActions
  if (api === 'video') return videoCalls
  return api === undefined ? [...assetActions, ...textActions, ...videoCalls] : assetActions
}

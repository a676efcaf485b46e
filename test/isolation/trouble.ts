import type { Emulator, Fault, FaultKind } from '../../src/emulator/index.ts'

/** Ways in which the upstream fails a single call. */
export const troubles = {
  none: undefined,
  'says 400': { kind: 'status', status: 400 },
  'says 404': { kind: 'status', status: 404 },
  'says 429': { kind: 'status', status: 429 },
  'says 500': { kind: 'status', status: 500 },
  'does it and says 503': { kind: 'status', status: 503, work: true },
  'does it and resets': { kind: 'reset-after' },
  'resets once': { kind: 'refuse' },
  'is gone': { kind: 'refuse', times: Number.POSITIVE_INFINITY },
  'answers a web page': { kind: 'not-json' },
  'answers nothing': { kind: 'empty' },
  redirects: { kind: 'redirect', location: 'http://127.0.0.1:9/' },
  'answers gzip': { kind: 'gzip' },
} as const satisfies Record<string, (FaultKind & { readonly times?: number }) | undefined>

export type Trouble = keyof typeof troubles

/** Ways in which only a list fails. */
export const listTroubles = {
  'leaks a foreign item': { kind: 'foreign' },
  'forgets Id': { kind: 'missing-field', field: 'Id' },
  'forgets GroupId': { kind: 'missing-field', field: 'GroupId' },
  'forgets Name': { kind: 'missing-field', field: 'Name' },
  'forgets Status': { kind: 'missing-field', field: 'Status' },
  'forgets CreateTime': { kind: 'missing-field', field: 'CreateTime' },
  'has no data': { kind: 'no-data' },
  'turns in a circle': { kind: 'repeat-cursor' },
} as const satisfies Record<string, FaultKind>

export type ListTrouble = Trouble | keyof typeof listTroubles

/** The trouble of a list of groups: how far such a list is followed is not promised. */
export const ofGroups = (trouble: ListTrouble): ListTrouble => (trouble === 'turns in a circle' ? 'none' : trouble)

export const strike = (emulator: Emulator, trouble: ListTrouble, action: Fault['action']): void => {
  const fault = { ...troubles, ...listTroubles }[trouble]
  // However often a list is asked for, its trouble stays the same.
  const times = trouble in listTroubles ? Number.POSITIVE_INFINITY : 1
  if (fault) emulator.faults.add({ times, ...fault, action })
}

/** What a caller gets to see of a call. */
export interface Outcome {
  readonly status: number
  /** `natural`: as the upstream answers without trouble; `planned`: an error forwarded; otherwise the gateway's own. */
  readonly shows: 'natural' | 'planned' | 'empty' | 'unavailable' | 'invalid'
  /** Whether the upstream did what it was asked. */
  readonly works: boolean
}

const unavailable = { status: 502, shows: 'unavailable' } as const
const invalid = { status: 502, shows: 'invalid' } as const

/** What becomes of a call that would have ended with `status`. */
export const outcomeOf = (trouble: Trouble, status: number, call: 'read' | 'create' | 'change'): Outcome => {
  const works = status < 400
  const natural = { status, shows: 'natural', works } as const
  switch (trouble) {
    case 'none':
    case 'answers gzip':
      return natural
    case 'says 400':
    case 'says 404':
    case 'says 429':
    case 'says 500':
      return { status: Number(trouble.slice(5)), shows: 'planned', works: false }
    case 'does it and says 503':
      return { status: 503, shows: 'planned', works }
    case 'does it and resets':
      return call === 'read' ? natural : { ...unavailable, works }
    case 'resets once':
      return call === 'read' ? natural : { ...unavailable, works: false }
    case 'is gone':
      return { ...unavailable, works: false }
    case 'answers a web page':
      return works ? { ...invalid, works } : { status, shows: 'planned', works }
    case 'answers nothing':
      return call === 'change' ? { status: 200, shows: 'empty', works } : { ...invalid, works }
    case 'redirects':
      return { ...invalid, works: false }
  }
}

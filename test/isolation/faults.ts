import type { Emulator, Fault, FaultKind } from '../../src/emulator/index.ts'

/** Faults of a single upstream call. */
export const faults = {
  none: undefined,
  'status 400': { kind: 'status', status: 400 },
  'status 404': { kind: 'status', status: 404 },
  'status 429': { kind: 'status', status: 429 },
  'status 500': { kind: 'status', status: 500 },
  'applies it and responds 503': { kind: 'status', status: 503, work: true },
  'applies it and resets': { kind: 'reset-after' },
  'refuses one connection': { kind: 'reset-before' },
  'is unreachable': { kind: 'reset-before', times: Number.POSITIVE_INFINITY },
  'responds with HTML': { kind: 'not-json' },
  'responds with an empty body': { kind: 'empty' },
  redirects: { kind: 'redirect', location: 'http://127.0.0.1:9/' },
  'responds with gzip': { kind: 'gzip' },
} as const satisfies Record<string, (FaultKind & { readonly times?: number }) | undefined>

export type FaultName = keyof typeof faults

/** Faults of list calls only. */
export const listFaults = {
  'leaks a foreign item': { kind: 'foreign' },
  'omits Id': { kind: 'missing-field', field: 'Id' },
  'omits GroupId': { kind: 'missing-field', field: 'GroupId' },
  'omits Name': { kind: 'missing-field', field: 'Name' },
  'omits Status': { kind: 'missing-field', field: 'Status' },
  'omits CreateTime': { kind: 'missing-field', field: 'CreateTime' },
  'has no data': { kind: 'no-data' },
  'repeats its cursor': { kind: 'repeat-cursor' },
} as const satisfies Record<string, FaultKind>

export type ListFaultName = FaultName | keyof typeof listFaults

/** The fault for a list of groups. How many pages of it the gateway reads is not specified. */
export const groupListFault = (fault: ListFaultName): ListFaultName => (fault === 'repeats its cursor' ? 'none' : fault)

export const injectFault = (emulator: Emulator, fault: ListFaultName, action: Fault['action']): void => {
  const settings = { ...faults, ...listFaults }[fault]
  // Every call for a list has the same fault.
  const times = fault in listFaults ? Number.POSITIVE_INFINITY : 1
  if (settings) emulator.faults.add({ times, ...settings, action })
}

/** What the caller receives. */
export interface ExpectedResponse {
  readonly status: number
  /** `normal`: the upstream's response without a fault; `injected`: a forwarded error; otherwise the gateway's own error. */
  readonly shows: 'normal' | 'injected' | 'empty' | 'unavailable' | 'invalid'
  /** Whether the upstream applied the operation. */
  readonly applied: boolean
}

const unavailable = { status: 502, shows: 'unavailable' } as const
const invalid = { status: 502, shows: 'invalid' } as const

/** The expected response to a call that ends with `status` without the fault. */
export const expectedResponse = (
  fault: FaultName,
  status: number,
  call: 'read' | 'create' | 'change',
): ExpectedResponse => {
  const applied = status < 400
  const normal = { status, shows: 'normal', applied } as const
  switch (fault) {
    case 'none':
    case 'responds with gzip':
      return normal
    case 'status 400':
    case 'status 404':
    case 'status 429':
    case 'status 500':
      return { status: Number(fault.slice('status '.length)), shows: 'injected', applied: false }
    case 'applies it and responds 503':
      return { status: 503, shows: 'injected', applied }
    case 'applies it and resets':
      return call === 'read' ? normal : { ...unavailable, applied }
    case 'refuses one connection':
      return call === 'read' ? normal : { ...unavailable, applied: false }
    case 'is unreachable':
      return { ...unavailable, applied: false }
    case 'responds with HTML':
      return applied ? { ...invalid, applied } : { status, shows: 'injected', applied }
    case 'responds with an empty body':
      return call === 'change' ? { status: 200, shows: 'empty', applied } : { ...invalid, applied }
    case 'redirects':
      return { ...invalid, applied: false }
  }
}

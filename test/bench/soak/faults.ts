import type { Emulator, Fault } from '../../../src/emulator/index.ts'

/** Each is switched on for a while, one after the other. None makes it unknowable what the upstream has created. */
const faults: readonly Fault[] = [
  { kind: 'reset-before', api: 'text', times: Number.POSITIVE_INFINITY, probability: 0.3 },
  {
    kind: 'status',
    status: 500,
    action: /^(?:Get|List|Update|Delete)Asset/,
    times: Number.POSITIVE_INFINITY,
    probability: 0.3,
  },
  { kind: 'cut', events: 3, inside: true, times: Number.POSITIVE_INFINITY, probability: 0.5 },
  { kind: 'reset-after', action: 'CreateAssetGroup', times: 3 },
  { kind: 'truncate', action: /^(?:Get|List)Asset/, times: Number.POSITIVE_INFINITY, probability: 0.3 },
  { kind: 'status', status: 429, api: 'text', times: Number.POSITIVE_INFINITY, probability: 0.3 },
  { kind: 'error-event', events: 2, times: Number.POSITIVE_INFINITY, probability: 0.5 },
  { kind: 'hang', action: 'GetAsset', times: 3 },
  { kind: 'reset-after', action: 'CreateVideoTask', times: 2 },
  { kind: 'not-json', api: 'text', times: Number.POSITIVE_INFINITY, probability: 0.3 },
  { kind: 'reset-before', action: /^(?:Get|List)VideoTask/, times: Number.POSITIVE_INFINITY, probability: 0.3 },
]

/** Until the signal aborts: each fault for `ms`, and as long without any. */
export const injectFaults = async ({ faults: registry }: Emulator, ms: number, signal: AbortSignal): Promise<void> => {
  for (let nth = 0; !signal.aborted; nth++) {
    const handle = registry.add(faults[nth % faults.length] as Fault)
    await Bun.sleep(ms)
    handle.remove()
    if (!signal.aborted) await Bun.sleep(ms)
  }
}

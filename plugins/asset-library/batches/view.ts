import { adviceFor } from '../../failure-advice/index.ts'
import type { AssetBatchItem, AssetBatchItemState, CountedAssetBatch } from './store.ts'

/** A batch as its user sees it. */
export interface AssetBatchView {
  readonly Id: string
  readonly GroupId: string
  /** `Running`: items have no outcome yet. */
  readonly State: 'Running' | 'Ended'
  /** ISO 8601 with a UTC offset. */
  readonly CreateTime: string
  /** Absent: it was not cancelled. */
  readonly CancelTime?: string
  /** Absent: it has not ended. */
  readonly EndTime?: string
  /** Number of its items. */
  readonly TotalCount: number
  /** Number of items in each state. */
  readonly Counts: Readonly<Record<AssetBatchStateName, number>>
}

/** An item of a batch as its user sees it. */
export interface AssetBatchItemView {
  /** From 1, in the order of the lines. */
  readonly Position: number
  readonly Name: string
  readonly State: AssetBatchStateName
  /** Of a created item. */
  readonly AssetId?: string
  /** Of a failed or unknown item: what the upstream said, and what to do about it. */
  readonly Error?: { readonly Code: string; readonly Message: string; readonly Advice?: object }
}

/** The states of items, as users see them. */
export const stateNames = {
  waiting: 'Waiting',
  sending: 'Sending',
  created: 'Created',
  failed: 'Failed',
  unknown: 'Unknown',
  cancelled: 'Cancelled',
} as const satisfies Record<AssetBatchItemState, string>

export type AssetBatchStateName = (typeof stateNames)[AssetBatchItemState]

export const viewOfBatch = (batch: CountedAssetBatch): AssetBatchView => {
  const { id, group, createdAt, cancelledAt, endedAt, counts } = batch
  const entries = Object.entries(stateNames) as [AssetBatchItemState, AssetBatchStateName][]
  return {
    ...{ Id: id, GroupId: group, State: endedAt === undefined ? 'Running' : 'Ended', CreateTime: timeText(createdAt) },
    ...(cancelledAt !== undefined && { CancelTime: timeText(cancelledAt) }),
    ...(endedAt !== undefined && { EndTime: timeText(endedAt) }),
    TotalCount: Object.values(counts).reduce((sum, count) => sum + count, 0),
    Counts: Object.fromEntries(entries.map(([state, name]) => [name, counts[state] ?? 0])) as AssetBatchView['Counts'],
  }
}

export const viewOfItem = ({ position, name, state, asset, error }: AssetBatchItem): AssetBatchItemView => ({
  ...{ Position: position, Name: name, State: stateNames[state] },
  ...(asset !== undefined && { AssetId: asset }),
  ...(error !== undefined && { Error: withAdvice(JSON.parse(error)) }),
})

const withAdvice = ({ code, message }: { readonly code: string; readonly message: string }) => {
  const advice = adviceFor(code, message)
  return { Code: code, Message: message, ...(advice && { Advice: advice }) }
}

const timeText = (ms: number): string => new Date(ms).toISOString().replace('Z', '+00:00')

/** The statuses of a face verification: the successful sequence first, then the two failures. */
export const verificationStatuses = [
  'waiting_user',
  'callback_received',
  'resolving',
  'verified',
  'failed',
  'expired',
] as const
export type VerificationStatus = (typeof verificationStatuses)[number]

/**
 * The interface's state machine. Beyond what it states, `waiting_user` leads to `expired` when the time is over, and to
 * `failed` when the callback reports a failure.
 */
const transitions: Readonly<Record<VerificationStatus, readonly VerificationStatus[]>> = {
  waiting_user: ['callback_received', 'failed', 'expired'],
  callback_received: ['resolving'],
  resolving: ['verified', 'failed', 'expired'],
  verified: [],
  failed: [],
  expired: [],
}

/** The status that a text names; undefined when it names none. */
export const readStatus = (text: string | undefined): VerificationStatus | undefined =>
  verificationStatuses.find((known) => known === text)

/** Whether the status is final. */
export const isEnded = (status: VerificationStatus): boolean => transitions[status].length === 0

/** A sequence of allowed transitions, the first status included. */
export type StatusPath = readonly [VerificationStatus, ...VerificationStatus[]]

/** The shortest path from one status to another. Undefined when there is none, and when both are the same. */
export const statusPathTo = (from: VerificationStatus, to: VerificationStatus): StatusPath | undefined => {
  const paths: StatusPath[] = [[from]]
  for (const path of paths) {
    const next = transitions[path.at(-1) ?? from]
    if (next.includes(to)) return [...path, to]
    paths.push(...next.map((status): StatusPath => [...path, status]))
  }
  return undefined
}

/** How a face verification stands, in the order in which all goes well; then how it ends otherwise. */
export const verificationStatuses = [
  'waiting_user',
  'callback_received',
  'resolving',
  'verified',
  'failed',
  'expired',
] as const
export type VerificationStatus = (typeof verificationStatuses)[number]

/** "Face verification status" of the document; from `waiting_user` also: its life was over, or its callback said no. */
const moves: Readonly<Record<VerificationStatus, readonly VerificationStatus[]>> = {
  waiting_user: ['callback_received', 'failed', 'expired'],
  callback_received: ['resolving'],
  resolving: ['verified', 'failed', 'expired'],
  verified: [],
  failed: [],
  expired: [],
}

export const readStatus = (text: string | undefined): VerificationStatus | undefined =>
  verificationStatuses.find((known) => known === text)

/** Whether nothing can follow any more. */
export const isEnded = (status: VerificationStatus): boolean => moves[status].length === 0

/** A way of legal moves, its beginning included. */
export type StatusPath = readonly [VerificationStatus, ...VerificationStatus[]]

/** The shortest way from one status to another; undefined when there is none, or it would lead nowhere new. */
export const statusPathTo = (from: VerificationStatus, to: VerificationStatus): StatusPath | undefined => {
  const ways: StatusPath[] = [[from]]
  for (const way of ways) {
    const next = moves[way.at(-1) ?? from]
    if (next.includes(to)) return [...way, to]
    ways.push(...next.map((status): StatusPath => [...way, status]))
  }
  return undefined
}

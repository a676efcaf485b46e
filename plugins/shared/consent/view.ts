import type { Consent, ConsentAct, ConsentUse } from './store.ts'

/**
 * - `active`: the group may be used.
 * - `withdrawn`: it may not.
 * - `deleting`: what there is of it is being deleted.
 * - `deleted`: the assets and the results are gone. The upstream may keep the empty group until its own authorization
 *   of the person has lapsed.
 */
export type ConsentStatus = 'active' | 'withdrawn' | 'deleting' | 'deleted'

/** Who has asked for something, and when. Times are ISO 8601 with a UTC offset. */
export interface ConsentActView {
  readonly Time: string
  /** person: with the link. owner, admin: for the person. */
  readonly By: 'person' | 'owner' | 'admin'
  /** Id of the user. Absent for the person, and for an admin at the command line. */
  readonly User?: string
  /** Id of the user who has made the person's link. Absent: the person got it from the face verification. */
  readonly LinkFrom?: string
}

/** A consent, as its owner and the person see it. */
export interface ConsentView {
  readonly GroupId: string
  readonly Status: ConsentStatus
  /** Absent: the group was not made by a face verification. */
  readonly Invitation?: {
    readonly VerificationId: string
    /** Id of the user who has invited the person. */
    readonly User: string
    readonly Time: string
  }
  /** When the person was verified. Absent: it is not known. */
  readonly VerifyTime?: string
  /** When an asset of the group was last sent in a video task. */
  readonly LastUseTime?: string
  readonly Withdrawal?: ConsentActView
  readonly Deletion?: ConsentActView & {
    /** When all assets, all results and the group were deleted. Absent: it goes on. */
    readonly AssetsTime?: string
    readonly ResultsTime?: string
    readonly GroupTime?: string
    /** Numbers of assets and results that were deleted, and of tasks that had used the group. */
    readonly Assets: number
    readonly Results: number
    readonly Uses: number
  }
}

/** A task that was sent with assets of the group. */
export interface ConsentUseView {
  readonly TaskId: string
  /** Id of its user: the owner of the group, or a borrower. */
  readonly User: string
  readonly AssetIds: readonly string[]
  readonly UseTime: string
  /** The last status of the task. Absent: it is not known. */
  readonly Status?: string
  readonly EndTime?: string
  /** none: there is none yet, or never. kept: the gateway has it. removed: it has been deleted. */
  readonly Result: 'none' | 'kept' | 'removed'
}

export const viewOfConsent = (consent: Consent): ConsentView => {
  const { group, invitation, verifiedAt, usedAt, withdrawal, deletion } = consent
  return {
    GroupId: group,
    Status: statusOf(consent),
    ...(invitation && {
      Invitation: { VerificationId: invitation.verification, User: invitation.user, Time: timeOf(invitation.at) },
    }),
    ...(verifiedAt !== undefined && { VerifyTime: timeOf(verifiedAt) }),
    ...(usedAt !== undefined && { LastUseTime: timeOf(usedAt) }),
    ...(withdrawal && { Withdrawal: viewOfAct(withdrawal) }),
    ...(deletion && {
      Deletion: {
        ...viewOfAct(deletion),
        ...(deletion.assetsAt !== undefined && { AssetsTime: timeOf(deletion.assetsAt) }),
        ...(deletion.resultsAt !== undefined && { ResultsTime: timeOf(deletion.resultsAt) }),
        ...(deletion.groupAt !== undefined && { GroupTime: timeOf(deletion.groupAt) }),
        ...{ Assets: deletion.assets, Results: deletion.results, Uses: deletion.uses },
      },
    }),
  }
}

const statusOf = ({ withdrawal, deletion }: Consent): ConsentStatus => {
  if (deletion) return deletion.assetsAt !== undefined && deletion.resultsAt !== undefined ? 'deleted' : 'deleting'
  return withdrawal ? 'withdrawn' : 'active'
}

const viewOfAct = ({ at, actor }: ConsentAct): ConsentActView => ({
  Time: timeOf(at),
  By: actor.by,
  ...(actor.by !== 'person' && actor.user !== undefined && { User: actor.user }),
  ...(actor.by === 'person' && actor.linkFrom !== undefined && { LinkFrom: actor.linkFrom }),
})

export const viewOfUse = ({ task, user, assets, at, status, endedAt, isKept }: ConsentUse): ConsentUseView => ({
  TaskId: task,
  User: user,
  AssetIds: assets,
  UseTime: timeOf(at),
  ...(status !== undefined && { Status: status }),
  ...(endedAt !== undefined && { EndTime: timeOf(endedAt) }),
  Result: status !== 'succeeded' ? 'none' : isKept ? 'kept' : 'removed',
})

const timeOf = (ms: number): string => new Date(ms).toISOString().replace('Z', '+00:00')

import type { ConsentActView, ConsentStatus, ConsentUseView, ConsentView } from './schema.ts'
import type { Consent, ConsentAct, ConsentUse } from './store.ts'

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

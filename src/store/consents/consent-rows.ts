import type { Consent, ConsentAct, ConsentActor } from '../../../plugins/shared/consent/store.ts'
import { fragment } from '../database/statement.ts'

/** The columns of a consent, joined with its group. */
export const consentColumns = fragment`
  consents.group_id as "group", coalesce(groups.user_id, owner_id) as owner, verification_id as verification,
  invited_by as "invitedBy", invited_at as "invitedAt", verified_at as "verifiedAt", used_at as "usedAt",
  withdrawn_at as "withdrawnAt", withdrawn_by_kind as "withdrawnByKind", withdrawn_by as "withdrawnBy",
  deletion_at as "deletionAt", deletion_by_kind as "deletionByKind", deletion_by as "deletionBy",
  assets_at as "assetsAt", results_at as "resultsAt", group_at as "groupAt", assets, results, uses`

/** A row of these columns. */
export interface ConsentRow {
  readonly group: string
  readonly owner: string
  readonly verification?: string
  readonly invitedBy?: string
  readonly invitedAt?: number
  readonly verifiedAt?: number
  readonly usedAt?: number
  readonly withdrawnAt?: number
  readonly withdrawnByKind?: ConsentActor['by']
  readonly withdrawnBy?: string
  readonly deletionAt?: number
  readonly deletionByKind?: ConsentActor['by']
  readonly deletionBy?: string
  readonly assetsAt?: number
  readonly resultsAt?: number
  readonly groupAt?: number
  readonly assets: number
  readonly results: number
  readonly uses: number
}

export const consentFrom = (row: ConsentRow): Consent => {
  const { group, owner, verification, verifiedAt, usedAt, assetsAt, resultsAt, groupAt } = row
  const withdrawal = actOf(row.withdrawnAt, row.withdrawnByKind, row.withdrawnBy)
  const deletion = actOf(row.deletionAt, row.deletionByKind, row.deletionBy)
  return {
    ...{ group, owner },
    ...(verification !== undefined && {
      invitation: { verification, user: row.invitedBy ?? '', at: row.invitedAt ?? 0 },
    }),
    ...(verifiedAt !== undefined && { verifiedAt }),
    ...(usedAt !== undefined && { usedAt }),
    ...(withdrawal && { withdrawal }),
    ...(deletion && {
      deletion: {
        ...deletion,
        ...(assetsAt !== undefined && { assetsAt }),
        ...(resultsAt !== undefined && { resultsAt }),
        ...(groupAt !== undefined && { groupAt }),
        ...{ assets: Number(row.assets), results: Number(row.results), uses: Number(row.uses) },
      },
    }),
  }
}

const actOf = (
  at: number | undefined,
  by: ConsentActor['by'] | undefined,
  user: string | undefined,
): ConsentAct | undefined => {
  if (at === undefined || by === undefined) return undefined
  if (by === 'owner') return { at, actor: { by, user: user ?? '' } }
  if (by === 'admin') return { at, actor: { by, ...(user !== undefined && { user }) } }
  return { at, actor: { by, ...(user !== undefined && { linkFrom: user }) } }
}

/** The user in the column of an actor. */
export const userOf = (actor: ConsentActor): string | undefined => (actor.by === 'person' ? actor.linkFrom : actor.user)

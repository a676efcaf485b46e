import type { ConsentStatus } from '../../shared/consent/schema.ts'
import type { ConsentAct } from '../../shared/consent/store.ts'
import { viewOfConsent } from '../../shared/consent/view.ts'
import type { AdminConsent } from '../consents.ts'
import { isoOrNull, isoTime } from './time.ts'

/** Who has asked for something, and when. */
export interface AdminConsentActView {
  readonly at: string
  /** person: with the link. owner, admin: for the person. */
  readonly by: 'person' | 'owner' | 'admin'
  /** Id of the user. Null: the person, or an admin at the command line. */
  readonly user: string | null
  /** Id of the user who has made the person's link. Null: the person got it from the face verification. */
  readonly link_from: string | null
}

/** The consent of a person to the use of a group. */
export interface AdminConsentView {
  readonly group: string
  /** Id of the user who owns the group, or was the last to own it. */
  readonly owner: string
  /** Null: a user of a host app. */
  readonly owner_name: string | null
  readonly status: ConsentStatus
  /** Null: the group was not made by a face verification. */
  readonly invitation: { readonly verification: string; readonly user: string; readonly at: string } | null
  readonly verified_at: string | null
  readonly used_at: string | null
  readonly withdrawal: AdminConsentActView | null
  readonly deletion:
    | (AdminConsentActView & {
        readonly assets_at: string | null
        readonly results_at: string | null
        readonly group_at: string | null
        readonly assets: number
        readonly results: number
        readonly uses: number
      })
    | null
}

export const toAdminConsentView = (consent: AdminConsent): AdminConsentView => {
  const { group, owner, ownerName = null, invitation, verifiedAt, usedAt, withdrawal, deletion } = consent
  return {
    ...{ group, owner, owner_name: ownerName, status: viewOfConsent(consent).Status },
    invitation: invitation
      ? { verification: invitation.verification, user: invitation.user, at: isoTime(invitation.at) }
      : null,
    verified_at: isoOrNull(verifiedAt),
    used_at: isoOrNull(usedAt),
    withdrawal: withdrawal ? toActView(withdrawal) : null,
    deletion: deletion
      ? {
          ...toActView(deletion),
          assets_at: isoOrNull(deletion.assetsAt),
          results_at: isoOrNull(deletion.resultsAt),
          group_at: isoOrNull(deletion.groupAt),
          ...{ assets: deletion.assets, results: deletion.results, uses: deletion.uses },
        }
      : null,
  }
}

const toActView = ({ at, actor }: ConsentAct): AdminConsentActView => ({
  at: isoTime(at),
  by: actor.by,
  user: actor.by === 'person' ? null : (actor.user ?? null),
  link_from: actor.by === 'person' ? (actor.linkFrom ?? null) : null,
})

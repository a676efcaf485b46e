import type { ConsentAct } from '../../shared/consent/store.ts'
import { viewOfConsent } from '../../shared/consent/view.ts'
import type { AdminConsent } from '../consents.ts'
import type { AdminConsentActView, AdminConsentView } from '../docs/consents.ts'
import { isoOrNull, isoTime } from './time.ts'

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

import { consentUnread } from '../../shared/consent/export.ts'
import { notAuthorized } from '../../shared/consent/not-authorized.ts'
import type { ConsentStore } from '../../shared/consent/store.ts'
import { storeCall } from '../../shared/store-call.ts'

/** A group, or an asset with its group. */
type Used = { readonly id: string } & (
  | { readonly type: string }
  | { readonly group: { readonly id: string; readonly type: string } }
)

/**
 * Throws Problem 403 when the person of a group, or of an asset, has withdrawn the consent. Asks the store for groups
 * of persons only.
 *
 * @param consents undefined: nobody can withdraw one
 */
export const requireConsent = async (
  used: Used,
  consents: Pick<ConsentStore, 'hasWithdrawn'> | undefined,
): Promise<void> => {
  const group = 'group' in used ? used.group : used
  if (!consents || group.type !== 'LivenessFace') return
  if (await storeCall(consents.hasWithdrawn(group.id), consentUnread))
    throw notAuthorized('group' in used ? 'asset' : 'group', used.id)
}

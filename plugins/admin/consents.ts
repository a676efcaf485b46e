import type { Consent, ConsentStore } from '../shared/consent/store.ts'
import type { PageOf, PageRequest } from './store.ts'

/** A consent, as operators see it. */
export interface AdminConsent extends Consent {
  /** Name of the owner. Undefined: a user of a host app. */
  readonly ownerName?: string
}

/** Which consents to list. Undefined members do not filter. */
export interface ConsentFilter {
  /** `withdrawn`: those that were withdrawn, also where everything was deleted. */
  readonly state?: 'withdrawn' | undefined
}

/** The store port of operators for the consents of persons. */
export interface ConsentRecords
  extends Pick<ConsentStore, 'consentOf' | 'consentUses' | 'withdrawConsent' | 'requestConsentDeletion'> {
  /** Lists consents by the ids of their groups, also those of persons whom nobody has invited. */
  consentPage(filter: ConsentFilter, page: PageRequest): Promise<PageOf<AdminConsent>>
}

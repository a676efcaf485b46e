import { signConsent } from '../../shared/consent/export.ts'
import type { DocumentSigner, SigningKeyView } from '../../shared/consent/signature.ts'
import type { Consent, ConsentAct } from '../../shared/consent/store.ts'
import { readId } from '../../shared/id.ts'
import { Problem } from '../../shared/problem.ts'
import { storeCall } from '../../shared/store-call.ts'
import type { AdminConsent, ConsentFilter, ConsentRecords } from '../consents.ts'
import type { OperationTools } from '../operation-tools.ts'
import type { AdminStore, PageOf, PageRequest } from '../store.ts'
import type { AdminActor } from './actor.ts'

/** Operations on the consents of persons, for them. They throw Problem. */
export interface ConsentOperations {
  list(actor: AdminActor, filter: ConsentFilter, page: PageRequest): Promise<PageOf<AdminConsent>>
  get(actor: AdminActor, group: string): Promise<AdminConsent>
  /** @param user id of the admin. Undefined: the command line */
  withdraw(actor: AdminActor, group: string, user?: string): Promise<AdminConsent>
  /** Withdraws it, and asks for the deletion of everything. @param user as for `withdraw` */
  remove(actor: AdminActor, group: string, user?: string): Promise<AdminConsent>
  /** The signed document of a consent and its uses. */
  export(actor: AdminActor, group: string): Promise<string>
  /** The public keys that verify exports. */
  keys(): Promise<readonly SigningKeyView[]>
}

/** What these operations are about besides the store. */
export interface ConsentParts {
  /** Signs exports. */
  readonly consentSigner: () => DocumentSigner | Promise<DocumentSigner>
}

export const createConsentOperations = (
  store: Partial<ConsentRecords> & Pick<AdminStore, 'adminUser'>,
  { consentSigner }: ConsentParts,
  { clock }: Pick<OperationTools, 'clock'>,
): ConsentOperations => {
  const records = hasConsents(store) ? store : undefined

  const find = async (id: string): Promise<{ readonly consent: Consent; readonly records: ConsentRecords }> => {
    const group = readId(id)
    const consent =
      group === undefined ? undefined : records && (await storeCall(records.consentOf(group), unavailable))
    if (!consent || !records) throw new Problem(404, 'there is no consent for that group')
    return { consent, records }
  }

  const withOwner = async (id: string): Promise<AdminConsent> => {
    const { consent } = await find(id)
    const owner = await storeCall(store.adminUser(consent.owner), unavailable)
    return { ...consent, ...(owner && { ownerName: owner.name }) }
  }

  const act = (user: string | undefined): ConsentAct => ({
    at: clock.now(),
    actor: { by: 'admin', ...(user !== undefined && { user }) },
  })

  const withdraw: ConsentOperations['withdraw'] = async (actor, id, user) => {
    const { consent, records } = await find(id)
    if (!consent.withdrawal) {
      await storeCall(records.withdrawConsent(consent, act(user)), unavailable)
      await actor.record({ action: 'consent.withdraw', target: { kind: 'group', id: consent.group } }, consent.owner)
    }
    return withOwner(id)
  }

  return {
    async list(actor, filter, page) {
      const found = records && (await storeCall(records.consentPage(filter, page), unavailable))
      actor.read('consents')
      return found ?? { items: [] }
    },

    async get(actor, id) {
      const consent = await withOwner(id)
      actor.read('consents', consent.group)
      return consent
    },

    withdraw,

    async remove(actor, id, user) {
      const { group, owner, deletion } = await withdraw(actor, id, user)
      const { records } = await find(id)
      if (!deletion) {
        await storeCall(records.requestConsentDeletion(group, act(user)), unavailable)
        await actor.record({ action: 'consent.delete', target: { kind: 'group', id: group } }, owner)
      }
      return withOwner(id)
    },

    async export(actor, id) {
      const { consent, records } = await find(id)
      await actor.record({ action: 'consent.export', target: { kind: 'group', id: consent.group } }, consent.owner)
      return signConsent(consent, { store: records, signer: await consentSigner(), now: clock.now() })
    },

    keys: async () => (await consentSigner()).keys,
  }
}

const hasConsents = (store: Partial<ConsentRecords>): store is ConsentRecords =>
  store.consentOf !== undefined && store.consentPage !== undefined

/** The message when the store fails. */
const unavailable = 'consents could not be read or changed'

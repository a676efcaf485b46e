import type { Consent, ConsentAct, ConsentStore } from '../../shared/consent/store.ts'
import { readId } from '../../shared/id.ts'
import { Problem } from '../../shared/problem.ts'
import { storeCall } from '../../shared/store-call.ts'
import type { AdminActor } from './actor.ts'
import type { OperationTools } from './tools.ts'

/** The part of the consent ledger that operators need. */
export type ConsentRecords = Pick<ConsentStore, 'consentOf' | 'withdrawConsent' | 'requestConsentDeletion'>

/** Operations on the consents of persons, for them. They throw Problem. */
export interface ConsentOperations {
  get(actor: AdminActor, group: string): Promise<Consent>
  /** @param user id of the admin */
  withdraw(actor: AdminActor, group: string, user: string): Promise<Consent>
  /** Withdraws it, and asks for the deletion of everything. @param user id of the admin */
  remove(actor: AdminActor, group: string, user: string): Promise<Consent>
}

export const createConsentOperations = (
  store: Partial<ConsentRecords>,
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

  const act = (user: string): ConsentAct => ({ at: clock.now(), actor: { by: 'admin', user } })

  const withdraw: ConsentOperations['withdraw'] = async (actor, id, user) => {
    const { consent, records } = await find(id)
    if (consent.withdrawal) return consent
    await storeCall(records.withdrawConsent(consent, act(user)), unavailable)
    await actor.record({ action: 'consent.withdraw', target: { kind: 'group', id: consent.group } }, consent.owner)
    return (await find(id)).consent
  }

  return {
    async get(actor, id) {
      const { consent } = await find(id)
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
      return (await find(id)).consent
    },
  }
}

const hasConsents = (store: Partial<ConsentRecords>): store is ConsentRecords => store.consentOf !== undefined

/** The message when the store fails. */
const unavailable = 'consents could not be read or changed'

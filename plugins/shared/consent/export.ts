import { nextTurn } from '../background/turns.ts'
import { noStoreText } from '../http/no-store.ts'
import { storeCall } from '../store-call.ts'
import type { SignedConsent } from './schema.ts'
import { CanonicalText, canonicalJson, type DocumentSigner } from './signature.ts'
import type { Consent, ConsentStore } from './store.ts'
import { viewOfConsent, viewOfUse } from './view.ts'

/** Tasks in one export, the newest. */
const maxExportedUses = 10_000
/** Tasks that are read at once. */
const pageSize = 500

/** What an export needs besides the consent. */
export interface ConsentExportParts {
  readonly store: Pick<ConsentStore, 'consentUses'>
  readonly signer: DocumentSigner
  /** Milliseconds since 1970. */
  readonly now: number
}

/** The response with the signed document of a consent. Throws Problem 500 when the store fails. */
export const exportConsent = async (consent: Consent, parts: ConsentExportParts): Promise<Response> => {
  const response = noStoreText(await signConsent(consent, parts))
  response.headers.set('content-disposition', `attachment; filename="consent.json"`)
  return response
}

/** The signed document of a consent, as canonical JSON. Throws Problem 500 when the store fails. */
export const signConsent = async (consent: Consent, { store, signer, now }: ConsentExportParts): Promise<string> => {
  const texts: string[] = []
  let hasMore = true
  let after: string | undefined
  // In steps, so that others do not wait.
  while (hasMore && texts.length < maxExportedUses) {
    const found = await storeCall(store.consentUses(consent.group, { after, limit: pageSize + 1 }), consentUnread)
    const page = found.slice(0, pageSize)
    texts.push(...page.map((use) => canonicalJson(viewOfUse(use))))
    hasMore = found.length > pageSize
    after = page.at(-1)?.task
    await nextTurn()
  }
  const document: Omit<SignedConsent, 'Uses' | 'signature'> & { readonly Uses: CanonicalText } = {
    Type: 'sluice.consent.1',
    ExportTime: new Date(now).toISOString(),
    Consent: viewOfConsent(consent),
    Uses: new CanonicalText(`[${texts.join()}]`),
    HasMoreUses: hasMore,
  }
  return signer.sign(document)
}

/** The message when the store cannot be read. */
export const consentUnread = 'failed to read the consent'

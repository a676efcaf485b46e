import { noStoreText } from '../http/no-store.ts'
import { storeCall } from '../store-call.ts'
import type { DocumentSigner } from './signature.ts'
import type { Consent, ConsentStore } from './store.ts'
import { type ConsentUseView, type ConsentView, viewOfConsent, viewOfUse } from './view.ts'

/** Tasks in one export, the newest. */
const maxExportedUses = 10_000

/** A consent and its uses as one document, without the signature. */
export interface ConsentExport {
  readonly Type: 'sluice.consent.1'
  readonly ExportTime: string
  readonly Consent: ConsentView
  /** The newest first. */
  readonly Uses: readonly ConsentUseView[]
  /** Whether there are more uses than the document has. */
  readonly HasMoreUses: boolean
}

/** The response with the signed document of a consent. Throws Problem 500 when the store fails. */
export const exportConsent = async (
  consent: Consent,
  { store, signer, now }: { readonly store: ConsentStore; readonly signer: DocumentSigner; readonly now: number },
): Promise<Response> => {
  const uses = await storeCall(store.consentUses(consent.group, { limit: maxExportedUses + 1 }), consentUnread)
  const document: ConsentExport = {
    Type: 'sluice.consent.1',
    ExportTime: new Date(now).toISOString(),
    Consent: viewOfConsent(consent),
    Uses: uses.slice(0, maxExportedUses).map(viewOfUse),
    HasMoreUses: uses.length > maxExportedUses,
  }
  const response = noStoreText(signer.sign(document))
  response.headers.set('content-disposition', `attachment; filename="consent.json"`)
  return response
}

/** The message when the store cannot be read. */
export const consentUnread = 'failed to read the consent'

import type { Audit } from '../../shared/audit.ts'
import type { Clock } from '../../shared/clock.ts'
import { consentUnread, exportConsent } from '../../shared/consent/export.ts'
import { hashLinkSecret, isLinkSecret } from '../../shared/consent/link.ts'
import { createDocumentSigner } from '../../shared/consent/signature.ts'
import type { ConsentAct, ConsentStore } from '../../shared/consent/store.ts'
import { type Log, Problem } from '../../shared/problem.ts'
import { storeCall } from '../../shared/store-call.ts'
import { consentPage } from './page.ts'

/** Options of the pages on which persons withdraw their consents. */
export interface PersonConsentOptions {
  /** The consent ledger. `sluice/store` has it. */
  readonly store: ConsentStore
  /** Sign the exports, see `assetLibrary`. The first signs, all verify. */
  readonly secrets: readonly string[]
}

/** The browser gets the page itself, so that reloading it sends nothing again. */
const seeOther = (location: string): Response =>
  new Response(null, {
    status: 303,
    headers: { location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' },
  })

type FoundConsent = NonNullable<Awaited<ReturnType<ConsentStore['consentByLink']>>>

interface PersonContext {
  readonly audit: Audit
  readonly clock: Clock
  readonly log: Log
  /** The address of the page with this secret. @param path that of a request to one of the routes */
  readonly urlOf: (path: string, secret: string) => string
}

/**
 * What a person does with the link of their consent. The secret in it is the credential: it needs no account, and no
 * page of another origin knows it.
 */
export const personRoutes = ({ store, secrets }: PersonConsentOptions, context: PersonContext) => {
  const { audit, clock, log, urlOf } = context
  const signer = createDocumentSigner(secrets)

  const find = async (secret: string): Promise<FoundConsent | undefined> =>
    isLinkSecret(secret) ? storeCall(store.consentByLink(hashLinkSecret(secret)), consentUnread) : undefined

  const show = async (
    request: Request,
    secret: string,
    path: string,
    change?: (found: FoundConsent) => Promise<void>,
  ): Promise<Response> => {
    const language = request.headers.get('accept-language')
    try {
      const found = await find(secret)
      if (!found) return consentPage(undefined, '', language)
      const url = urlOf(path, secret)
      if (!change) return consentPage(found, url, language)
      await change(found)
      return seeOther(url)
    } catch (err) {
      log.error({ err }, 'the page of a consent could not be served')
      return consentPage('error', '', language)
    }
  }

  const act = ({ linkFrom }: FoundConsent): ConsentAct => ({
    at: clock.now(),
    actor: { by: 'person', ...(linkFrom !== undefined && { linkFrom }) },
  })

  const withdraw =
    (request: Request) =>
    async (consent: FoundConsent): Promise<void> => {
      if (consent.withdrawal) return
      await store.withdrawConsent(consent, act(consent))
      const target = { kind: 'group', id: consent.group }
      audit.note({ action: 'consent.withdraw', target, reason: 'by the person' }, request)
    }

  return {
    /** `GET`: it changes nothing, so a browser may prefetch it. */
    get: (request: Request, secret: string, path: string): Promise<Response> => show(request, secret, path),

    withdraw: (request: Request, secret: string, path: string): Promise<Response> =>
      show(request, secret, path, withdraw(request)),

    remove: (request: Request, secret: string, path: string): Promise<Response> =>
      show(request, secret, path, async (consent) => {
        await withdraw(request)(consent)
        if (consent.deletion) return
        await store.requestConsentDeletion(consent.group, act(consent))
        const target = { kind: 'group', id: consent.group }
        audit.note({ action: 'consent.delete', target, reason: 'by the person' }, request)
      }),

    /** Throws Problem 404 for a wrong secret. */
    async export(request: Request, secret: string): Promise<Response> {
      const consent = await find(secret)
      if (!consent) throw new Problem(404, 'consent not found')
      audit.note(
        { action: 'consent.export', target: { kind: 'group', id: consent.group }, reason: 'by the person' },
        request,
      )
      return exportConsent(consent, { store, signer, now: clock.now() })
    },

    keys: signer.keys,
  }
}

import type { LeaseStore } from '../../shared/background/lease-store.ts'
import { consentUnread, exportConsent } from '../../shared/consent/export.ts'
import { createLinkSecret, hashLinkSecret } from '../../shared/consent/link.ts'
import { createDocumentSigner } from '../../shared/consent/signature.ts'
import type { Consent, ConsentActor, ConsentStore } from '../../shared/consent/store.ts'
import { viewOfConsent, viewOfUse } from '../../shared/consent/view.ts'
import { noStoreJson } from '../../shared/http/no-store.ts'
import { readId } from '../../shared/id.ts'
import { identityOf } from '../../shared/identity/identify.ts'
import { requireScope } from '../../shared/identity/require-scope.ts'
import { isVideoTaskId } from '../../shared/media/video-task-id.ts'
import { Problem } from '../../shared/problem.ts'
import { storeCall } from '../../shared/store-call.ts'
import { isoOf } from '../lists/group-descriptions.ts'
import { readPageRequest, wrongNextToken } from '../lists/page-request.ts'
import type { Library, Owners } from '../routes/library.ts'

/** Options of the consents of persons. */
export interface ConsentOptions {
  /** The consent ledger. `sluice/store` has it. */
  readonly store: ConsentStore & LeaseStore
  /**
   * The address of the person's page with this secret, which `faceVerification` serves below its prefix at
   * `/consent/{secret}`. Default: the owner can make no links.
   */
  readonly linkTo?: (secret: string) => string
}

interface ConsentContext {
  readonly request: Request
  readonly user: string
  readonly owners: Owners
  readonly params: { readonly group_id: string }
}

/**
 * The routes of consents: their owners read them and act for the persons, also when the groups are gone.
 *
 * @param wake a deletion has been asked for, perhaps again
 */
export const consentRoutes = (
  { audit, clock }: Pick<Library, 'audit' | 'clock'>,
  { store, linkTo }: ConsentOptions,
  secrets: readonly string[],
  wake: () => void,
) => {
  const signer = createDocumentSigner(secrets)

  /** The consent of a group of the caller, also of one that is gone. Throws as `Owners.group` does for any other. */
  const ownConsent = async ({ user, owners, params }: ConsentContext): Promise<Consent> => {
    const id = readId(params.group_id)
    const consent = id === undefined ? undefined : await storeCall(store.consentOf(id), consentUnread)
    if (consent?.owner === user) return consent
    await owners.group(user, id)
    throw new Problem(404, 'only groups of type LivenessFace have a consent')
  }

  const withdraw = async (context: ConsentContext): Promise<Consent> => {
    const consent = await ownConsent(context)
    if (consent.withdrawal) return consent
    await storeCall(store.withdrawConsent(consent, actOf(context)), notWithdrawn)
    const target = { kind: 'group', id: consent.group }
    audit.note({ action: 'consent.withdraw', target, reason: 'by the owner' }, context.request)
    return ownConsent(context)
  }

  const actOf = ({ user }: ConsentContext): { readonly at: number; readonly actor: ConsentActor } => ({
    at: clock.now(),
    actor: { by: 'owner', user },
  })

  return {
    async get(context: ConsentContext): Promise<Response> {
      return noStoreJson({ Result: viewOfConsent(await ownConsent(context)) })
    },

    async uses(context: ConsentContext): Promise<Response> {
      const { group } = await ownConsent(context)
      await requireVideoScope(context.request)
      const { after, limit } = readPageRequest(new URL(context.request.url).searchParams)
      if (after !== undefined && !isVideoTaskId(after)) throw wrongNextToken()
      const [found, total] = await storeCall(
        Promise.all([store.consentUses(group, { after, limit: limit + 1 }), store.countConsentUses(group, maxCounted)]),
        consentUnread,
      )
      const page = found.slice(0, limit)
      const next = found.length > limit ? page.at(-1)?.task : undefined
      return noStoreJson({ Result: { Items: page.map(viewOfUse), NextToken: next ?? '', TotalCount: total } })
    },

    async withdraw(context: ConsentContext): Promise<Response> {
      return noStoreJson({ Result: viewOfConsent(await withdraw(context)) })
    },

    async remove(context: ConsentContext): Promise<Response> {
      const { group, deletion } = await withdraw(context)
      if (!deletion) {
        await storeCall(store.requestConsentDeletion(group, actOf(context)), notWithdrawn)
        const target = { kind: 'group', id: group }
        audit.note({ action: 'consent.delete', target, reason: 'by the owner' }, context.request)
      }
      wake()
      return noStoreJson({ Result: viewOfConsent(await ownConsent(context)) })
    },

    async addLink(context: ConsentContext): Promise<Response> {
      const { group, owner } = await ownConsent(context)
      // Its page shows the uses.
      await requireVideoScope(context.request)
      if (!linkTo) throw new Problem(404, 'this service has no pages for persons')
      const [secret, at] = [createLinkSecret(), clock.now()]
      const added = await storeCall(
        store.addConsentLink({ group, owner, hash: hashLinkSecret(secret), madeBy: context.user, at }),
        'failed to add the link',
      )
      if (!added) throw new Problem(429, 'the maximum number of links is reached')
      audit.note({ action: 'consent.link', target: { kind: 'group', id: group } }, context.request)
      return noStoreJson({ Result: { URL: linkTo(secret), CreateTime: isoOf(at) } })
    },

    async export(context: ConsentContext): Promise<Response> {
      const consent = await ownConsent(context)
      await requireVideoScope(context.request)
      audit.note({ action: 'consent.export', target: { kind: 'group', id: consent.group } }, context.request)
      return exportConsent(consent, { store, signer, now: clock.now() })
    },
  }
}

/** Tasks have results: a token that must not read them elsewhere does not read of them here. */
const requireVideoScope = requireScope('video', identityOf)

const notWithdrawn = 'failed to withdraw the consent'

/** Tasks that a count reads. */
const maxCounted = 10_000

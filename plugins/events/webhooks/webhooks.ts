import { randomUUID } from 'node:crypto'
import { type Audit, accessDenied, noAudit } from '../../shared/audit.ts'
import type { Clock } from '../../shared/clock.ts'
import { readJsonRequest } from '../../shared/http/body/body.ts'
import { success } from '../../shared/http/no-store.ts'
import { type PublicUrl, requireSameOrigin } from '../../shared/http/origin.ts'
import { readId } from '../../shared/id.ts'
import { type Identify, requireIdentity } from '../../shared/identity/identify.ts'
import { Problem } from '../../shared/problem.ts'
import { storeCall } from '../../shared/store-call.ts'
import { type TargetRules, targetProblem } from '../address/address.ts'
import { readTypes } from '../filter.ts'
import { createSecret } from './signature.ts'
import type { StoredWebhook, WebhookStore } from './webhook-store.ts'

export interface WebhookRoutesOptions {
  readonly store: WebhookStore
  /** Identifies the caller by a session: a token must not change who is told of its use. */
  readonly identify: Identify
  readonly publicUrl: PublicUrl
  readonly maxWebhooks: number
  readonly rules: TargetRules
  readonly clock: Pick<Clock, 'now'>
  readonly audit?: Audit
}

const maxBodyBytes = 16_384
const unavailable = 'webhooks could not be read or changed'

/** Creates the handlers of the routes for webhooks. They throw Problem. */
export const createWebhooks = (options: WebhookRoutesOptions) => {
  const { store, maxWebhooks, rules, clock, audit = noAudit } = options

  const identifyForChange = async (request: Request): Promise<string> => {
    const { user } = await requireIdentity(options.identify, request)
    requireSameOrigin(request, options.publicUrl)
    return user
  }

  return {
    async list(request: Request): Promise<Response> {
      const { user } = await requireIdentity(options.identify, request)
      const webhooks = await storeCall(store.listWebhooks(user), unavailable)
      return success({ webhooks: webhooks.map(toJson) })
    },

    async create(request: Request): Promise<Response> {
      const user = await identifyForChange(request)
      const { url, types } = await readWebhook(request, rules)
      const webhook = { id: randomUUID(), url, types, createdAt: clock.now(), secret: createSecret() }
      if (!(await storeCall(store.addWebhook({ ...webhook, user }, maxWebhooks), unavailable))) {
        throw new Problem(409, `there are ${maxWebhooks} webhooks already; delete one first`, {
          event: { action: 'limit.reach', target: { kind: 'webhook' } },
        })
      }
      // Before the response: nothing is delivered for long that is not in the audit trail.
      await audit.record({ action: 'webhook.create', target: { kind: 'webhook', id: webhook.id } }, request)
      return success({ webhook: { ...toJson({ ...webhook, waiting: 0 }), secret: webhook.secret } })
    },

    async remove(request: Request, id: unknown): Promise<Response> {
      const user = await identifyForChange(request)
      const known = readId(id)
      if (known === undefined || !(await storeCall(store.deleteWebhook(user, known), unavailable))) {
        throw new Problem(404, 'webhook not found', { event: accessDenied('webhook', known) })
      }
      await audit.record({ action: 'webhook.delete', target: { kind: 'webhook', id: known } }, request)
      return success()
    },
  }
}

const readWebhook = async (request: Request, rules: TargetRules): Promise<Pick<StoredWebhook, 'url' | 'types'>> => {
  const { json } = await readJsonRequest(request, maxBodyBytes)
  const url = json.get('url')?.string() ?? ''
  const problem = targetProblem(url, rules)
  if (problem !== undefined) throw new Problem(400, `url ${problem}`)
  const types = json.get('types')
  // The form in which requests use it.
  const { href } = new URL(url)
  if (!types || types.is('null')) return { url: href }
  const list: unknown = types.value()
  return { url: href, types: readTypes(Array.isArray(list) ? list : [], 'types') }
}

const iso = (time: number | undefined): string | null => (time === undefined ? null : new Date(time).toISOString())

const statusOf = ({ disabledAt, failingSince }: StoredWebhook) =>
  disabledAt !== undefined ? 'disabled' : failingSince !== undefined ? 'failing' : 'active'

const toJson = (webhook: StoredWebhook) => ({
  id: webhook.id,
  url: webhook.url,
  types: webhook.types ?? null,
  status: statusOf(webhook),
  waiting: webhook.waiting,
  created_at: iso(webhook.createdAt),
  delivered_at: iso(webhook.deliveredAt),
  failing_since: iso(webhook.failingSince),
  last_error: webhook.lastError ?? null,
  disabled_at: iso(webhook.disabledAt),
})

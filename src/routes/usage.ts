import { type Identify, requireIdentity } from '../../plugins/shared/identify.ts'
import { noStoreJson } from '../../plugins/shared/no-store.ts'
import { Problem } from '../../plugins/shared/problem.ts'
import { storeCall } from '../../plugins/shared/store-call.ts'
import type { Store } from '../store/index.ts'

/** `GET /api/usage`: the caller's usage by day, API token and model, newest day first. `?since` and `?until` are days, both inclusive. */
export const listUsage =
  (store: Pick<Store, 'listUsage'>, identify: Identify) =>
  async ({ request }: { request: Request }): Promise<Response> => {
    const { user } = await requireIdentity(identify, request)
    const query = new URLSearchParams(request.url.split('?')[1] ?? '')
    const days = { since: readDay(query, 'since'), until: readDay(query, 'until') }
    const rows = await storeCall(store.listUsage({ user, ...days }), 'usage could not be loaded')
    const usage = rows.toReversed().map((row) => ({
      day: row.day,
      token:
        row.token === undefined
          ? null
          : { id: row.token, label: row.tokenLabel ?? null, start: row.tokenStart ?? null },
      model: row.model,
      calls: row.calls,
      unreported: row.unreported,
      input_tokens: row.inputTokens,
      cached_tokens: row.cachedTokens,
      output_tokens: row.outputTokens,
      reasoning_tokens: row.reasoningTokens,
    }))
    return noStoreJson({ success: true, usage })
  }

const readDay = (query: URLSearchParams, name: string): string | undefined => {
  const text = query.get(name)
  if (text === null || text === '') return undefined
  const time = Date.parse(`${text}T00:00Z`)
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== text) {
    throw new Problem(400, `${name} must be a day such as 2026-01-31`)
  }
  return text
}

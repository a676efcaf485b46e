import { nextTurn } from '../../shared/background/turns.ts'
import { readBytes } from '../../shared/http/body/body.ts'
import { type ByteSource, responseFrom, type Write } from '../../shared/http/body/byte-source.ts'
import { inFlightOf } from '../../shared/http/in-flight.ts'
import { noStoreHeaders, success } from '../../shared/http/no-store.ts'
import type { TextSigner } from '../../shared/identity/signed-text.ts'
import { Problem } from '../../shared/problem.ts'
import { csvLine, decimal } from '../csv.ts'
import { optional, readWord } from '../fields.ts'
import { type AuditOperations, readAuditQuery, readHead } from '../operations/audit.ts'
import type { GroupOperations } from '../operations/groups.ts'
import { readUsageQuery, type UsageOperations, type UsagePage } from '../operations/usage.ts'
import type { VideoOperations } from '../operations/videos.ts'
import type { UsageDimension, UsageSumKey, UsageTotal } from '../usage-sums.ts'
import { videoTaskStatuses } from '../videos.ts'
import { toAuditEntryView, toVerificationView } from '../views/audit.ts'
import { toPendingGroupView, toVideoView } from '../views/decisions.ts'
import { toUsageRowView, type UsageRowView } from '../views/usage.ts'
import type { AdminCall, AdminHandler } from './call.ts'
import { pathId, readInput, readQuery } from './input.ts'
import { pageParameters, pageRequest, pageResponse, readPage } from './pages.ts'

/** Rows that an export reads at once. */
const exportedRows = 1_000

const usageParameters = ['since', 'until', 'user', 'team', 'token', 'model', 'kind', 'group_by'] as const

/** The route of usage. */
export const usageRoute =
  (usage: UsageOperations, signer: TextSigner): AdminHandler =>
  async (call) => {
    const { format, limit, cursor, ...given } = readQuery(call.request, [
      ...usageParameters,
      ...pageParameters,
      'format',
    ])
    const query = readUsageQuery(given)
    if (optional({ format }, 'format', readWord(['json', 'csv'])) === 'csv') {
      return exportResponse(call, (ended) =>
        usageCsv(query.by, (after) => usage.sum(call.actor, query, { limit: exportedRows, after }), ended),
      )
    }
    const filters = { ...given, group_by: query.by.join() }
    const paged = { ...filters, ...(limit !== undefined && { limit }), ...(cursor !== undefined && { cursor }) }
    const page = readPage<UsageSumKey>(paged, ['usage'], signer)
    const { rows: items, next } = await usage.sum(call.actor, query, { limit: page.limit, after: page.after })
    return pageResponse('rows', { items, next }, page, (row) => toUsageRowView(row, query.by))
  }

/** A file that is made while the client reads it. It ends early when the caller is not admitted any more. */
const exportResponse = (
  { request, identity }: AdminCall,
  sourceOf: (ended: () => void) => ReturnType<typeof usageCsv>,
): Response => {
  const inFlight = inFlightOf(request)
  inFlight?.streaming()
  let unwatch: (() => void) | undefined
  const source = sourceOf(() => {
    unwatch?.()
    inFlight?.streamed()
  })
  unwatch = identity.whenRevoked?.(() => void source.cancel())
  return responseFrom(source, {
    headers: {
      ...noStoreHeaders,
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="usage.csv"',
    },
  })
}

/** The route of the audit trail. */
export const auditRoute =
  (audit: AuditOperations, signer: TextSigner): AdminHandler =>
  async ({ actor, request }) => {
    const query = readQuery(request, ['user', 'action', 'since', 'until', ...pageParameters])
    const page = readPage(query, ['audit'], signer)
    const found = await audit.list(actor, readAuditQuery(query), pageRequest(page))
    return pageResponse('entries', found, page, toAuditEntryView)
  }

/** The route that verifies the audit trail. */
export const auditVerificationRoute =
  (audit: AuditOperations): AdminHandler =>
  async ({ actor, request }) => {
    const head = optional(readQuery(request, ['head']), 'head', readHead)
    return success({ verification: toVerificationView(await audit.verify(actor, head)) })
  }

/** Longest exported trail: some 50,000 entries. The command line verifies longer ones. */
const maxExportBytes = 16_777_216

/** The route that verifies an exported audit trail. */
export const auditExportRoute =
  (audit: AuditOperations): AdminHandler =>
  async ({ actor, request }) => {
    const head = optional(readQuery(request, ['head']), 'head', readHead)
    if (!/^\s*application\/x-ndjson\s*(?:;|$)/i.test(request.headers.get('content-type') ?? ''))
      throw new Problem(415, 'content type must be application/x-ndjson')
    const readLines = async () => {
      const bytes = await readBytes(request, maxExportBytes)
      if (!bytes) throw new Problem(413, `the file is longer than ${maxExportBytes} bytes`)
      return linesOf(bytes)
    }
    return success({ verification: toVerificationView(await audit.verifyExport(actor, readLines, head)) })
  }

/** Bytes whose lines are verified in one turn of the event loop. */
const lineBytesPerTurn = 65_536

async function* linesOf(bytes: Uint8Array): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for (let from = 0; from < bytes.length; from += lineBytesPerTurn) {
    const lines = (rest + decoder.decode(bytes.subarray(from, from + lineBytesPerTurn), { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > lineBytesPerTurn) throw new Problem(400, 'the file has a line that is too long')
    yield* lines
    await nextTurn()
  }
  if (rest !== '') yield rest
}

/** The routes of video tasks. */
export const videoTaskRoutes = (videos: VideoOperations, signer: TextSigner) =>
  ({
    async list({ actor, request }) {
      const query = readQuery(request, ['user', 'status', ...pageParameters])
      const page = readPage<string>(query, ['videos'], signer)
      const status = optional(query, 'status', readWord(['undecided', ...videoTaskStatuses]))
      const found = await videos.list(actor, { user: query.user, status }, { limit: page.limit, after: page.after })
      return pageResponse('videos', found, page, toVideoView)
    },

    async adopt({ actor, request, params }) {
      const { input } = await readInput(request)
      await videos.adopt(actor, pathId(params), input)
      return success()
    },

    async release({ actor, params }) {
      await videos.release(actor, pathId(params))
      return success()
    },
  }) satisfies Record<string, AdminHandler>

/** The routes of groups that are pending. */
export const groupRoutes = (groups: GroupOperations, signer: TextSigner) =>
  ({
    async pending({ actor, request }) {
      const page = readPage(readQuery(request, pageParameters), ['groups'], signer)
      const found = await groups.pending(actor, pageRequest(page))
      return pageResponse('pending', found, page, toPendingGroupView)
    },

    async adopt({ actor, request, params }) {
      const { input } = await readInput(request)
      await groups.adopt(actor, pathId(params), input)
      return success()
    },

    async release({ actor, params }) {
      await groups.release(actor, pathId(params))
      return success()
    },

    async give({ actor, request }) {
      const { input } = await readInput(request)
      await groups.give(actor, input)
      return success()
    },
  }) satisfies Record<string, AdminHandler>

/** Reads the page after a row. */
type ReadPage = (after: UsageSumKey | undefined) => Promise<UsagePage>

/** The whole report as CSV, read page by page as the client reads it. */
const usageCsv = (by: readonly UsageDimension[], readPage: ReadPage, ended: () => void): ByteSource => {
  const columns = usageColumns(by)
  let [started, cancelled] = [false, false]
  const lines = (rows: readonly UsageTotal[]) => rows.map((row) => `${usageLine(row, by, columns)}\r\n`).join('')
  return {
    async writeTo(write: Write) {
      started = true
      try {
        await write(encoder.encode(`${csvLine(columns)}\r\n`))
        for (let after: UsageSumKey | undefined, first = true; !cancelled && (first || after); first = false) {
          const page = await readPage(after)
          if (page.rows.length > 0) await write(encoder.encode(lines(page.rows)))
          after = page.next
        }
        // The reader must not take what it has for the whole report.
        if (cancelled) throw new Error('the report was interrupted')
      } finally {
        ended()
      }
    },
    async cancel() {
      if (!started && !cancelled) ended()
      cancelled = true
    },
  }
}

const encoder = new TextEncoder()

const sums = ['calls', 'unreported', 'input_tokens', 'cached_tokens', 'output_tokens', 'reasoning_tokens'] as const

/** The columns of a report by some properties. */
export const usageColumns = (by: readonly UsageDimension[]): readonly (keyof UsageRowView)[] => [
  ...(by.includes('day') ? (['day'] as const) : []),
  ...(by.includes('user') || by.includes('token') ? (['user', 'user_name'] as const) : []),
  ...(by.includes('team') ? (['team', 'team_name'] as const) : []),
  ...(by.includes('token') ? (['token', 'token_name', 'token_start'] as const) : []),
  ...(by.includes('model') ? (['model'] as const) : []),
  ...sums,
  'video_seconds',
  'cost',
]

/** A row of CSV. A cost is written without an exponent. */
export const usageLine = (
  total: UsageTotal,
  by: readonly UsageDimension[],
  columns: readonly (keyof UsageRowView)[] = usageColumns(by),
): string => {
  const row = { ...toUsageRowView(total, by), cost: total.cost === undefined ? null : decimal(total.cost) }
  return csvLine(columns.map((column) => row[column]))
}

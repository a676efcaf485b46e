import { gzipSync } from 'node:zlib'
import type { ActionRequest, ActionResult } from '../action.ts'
import { fieldsOf } from '../api/fields.ts'
import type { List } from '../library/list-pages.ts'
import { membersOf, objectOf } from '../shared/members.ts'
import type { FaultKind } from './faults.ts'
import { hostileHeaders, hostilePage } from './hostile-headers.ts'
import { leakingHeaders, leakingJson } from './leak.ts'

/** A complete HTTP response, ready to send. */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[]>>
  readonly body: Uint8Array
  /** number of body bytes to send before the connection closes; absent: all */
  readonly keep?: number
}

/** The default body of the fault `status` in the asset APIs. */
export const assetServerError =
  '{"ResponseMetadata":{"Error":{"Code":"InternalError","Message":"The service has an internal error."}}}'
/** The default body of the fault `not-json`. */
export const errorPage = '<html><body><h1>Bad gateway</h1></body></html>'

/** A reply with a JSON body. */
export const jsonReply = (status: number, text: string, headers: Reply['headers'] = {}): Reply => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
  body: Buffer.from(text),
})

/** The reply of a `status` or `redirect` fault. */
export const fixedReply = (fault: FaultKind, serverError: string): Reply | undefined => {
  if (fault.kind === 'status') return jsonReply(fault.status, fault.body ?? serverError, fault.headers)
  if (fault.kind !== 'redirect') return undefined
  return { status: fault.status ?? 302, headers: { location: fault.location }, body: Buffer.alloc(0) }
}

/** What replies of one API have in common. */
export interface ReplySource {
  /** the credential of the request */
  readonly secret: string
  /** the body of a `status` fault that has none */
  readonly serverError: string
}

/** Applies a fault to a finished reply. */
export const faultyReply = (fault: FaultKind, reply: Reply, { secret, serverError }: ReplySource): Reply => {
  switch (fault.kind) {
    case 'status':
      return fixedReply(fault, serverError) ?? reply
    case 'truncate':
      return { ...reply, keep: Math.min(fault.keep ?? reply.body.length >> 1, reply.body.length) }
    case 'not-json':
      return { ...reply, headers: { 'content-type': 'text/html' }, body: Buffer.from(fault.body ?? errorPage) }
    case 'empty':
      return { ...reply, status: 200, body: Buffer.alloc(0) }
    case 'gzip':
      return { ...reply, headers: { ...reply.headers, 'content-encoding': 'gzip' }, body: gzipSync(reply.body) }
    case 'headers':
      return { ...reply, headers: { ...reply.headers, ...fault.headers } }
    case 'hostile-headers': {
      const { status = reply.status, page } = fault
      const headers = { ...reply.headers, ...hostileHeaders, ...(page ? { 'content-type': 'text/html' } : {}) }
      return { ...reply, status, headers, body: page ? Buffer.from(hostilePage) : reply.body }
    }
    case 'leak': {
      const body = Buffer.from(leakingJson(Buffer.from(reply.body).toString(), fault, secret))
      return { ...reply, headers: { ...reply.headers, ...leakingHeaders(fault, secret) }, body }
    }
    default:
      return reply
  }
}

/** Applies a fault to a result before serialization. Only list faults change it. */
export const faultyResult = (fault: FaultKind, result: ActionResult, request: ActionRequest): ActionResult =>
  'list' in result ? { list: faultyList(fault, result.list, request) } : result

const faultyList = (fault: FaultKind, list: List, request: ActionRequest): List => {
  switch (fault.kind) {
    case 'foreign':
      return { ...list, items: [list.foreignItem(), ...list.items] }
    case 'missing-field':
      return { ...list, items: list.items.map((item) => without(item, fault.field)) }
    case 'no-data':
      return { ...list, items: [], next: undefined, counts: list.counts.map(withoutTotal) }
    case 'repeat-cursor':
      return list.mode === 'page' ? list : { ...list, next: fieldsOf(request.members).text('NextToken') || list.token }
    default:
      return list
  }
}

const without = (item: string, name: string): string =>
  objectOf((membersOf(item) ?? []).filter((member) => member.name !== name))

const withoutTotal = (count: { readonly raw: string }): { readonly raw: string } => ({
  raw: count.raw.replace(/("TotalCount":)\d+/, '$10'),
})

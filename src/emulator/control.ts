import type { Account } from './account.ts'
import type { OpenCall } from './calls.ts'
import { DECISIONS, type Sessions } from './face/sessions.ts'
import type { Fault, FaultKind, Faults } from './faults.ts'
import { jsonReply, type Reply } from './faulty-reply.ts'
import { fieldsOf } from './fields.ts'
import { membersOf } from './members.ts'
import { unescaped } from './paths.ts'
import type { Received } from './shape.ts'
import { type ObjectStock, PLANTED } from './text/objects.ts'
import { TEXT_NEEDED } from './text/scope.ts'

/** Where the emulator itself is controlled over HTTP; requests to it are not recorded and need no key. */
export const CONTROL_PATH = '/_emulator/'

/** What can be looked at and changed from outside. */
export interface Controls {
  readonly account: Account
  readonly calls: OpenCall[]
  readonly faults: Faults
}

/** The fields that each kind of fault cannot do without. */
const NEEDED: Readonly<Record<FaultKind['kind'], Readonly<Record<string, 'string' | 'number' | 'object'>>>> = {
  refuse: {},
  'reset-after': {},
  hang: {},
  delay: { ms: 'number' },
  hold: {},
  status: { status: 'number' },
  truncate: {},
  'not-json': {},
  empty: {},
  redirect: { location: 'string' },
  gzip: {},
  headers: { headers: 'object' },
  'hostile-headers': {},
  leak: {},
  foreign: {},
  'missing-field': { field: 'string' },
  'no-data': {},
  'repeat-cursor': {},
  ...TEXT_NEEDED,
}

/**
 * `GET|DELETE calls`, `GET|POST|DELETE faults`, `DELETE faults/{id}` (which also releases a hold), `GET groups`,
 * `GET assets` (also `?group=ID`), `GET|POST|DELETE objects`, `DELETE objects/{id}`, `GET face`, `POST face/{bytedToken}` with `{"do":"succeed"}` (or fail, close), which tells where the browser
 * would go. An object is posted as `{"kind":"file","name":"…"}` and answered with its id. A fault is posted as JSON; patterns are written `"/^List/"`, times for ever `"Infinity"`.
 */
export function controlled(request: Received, { account, calls, faults }: Controls): Reply {
  const url = new URL(request.target, 'http://emulator')
  const [what = '', id] = url.pathname.slice(CONTROL_PATH.length).split('/')
  switch (`${request.method} ${what}`) {
    case 'GET calls':
      return ok(calls)
    case 'DELETE calls':
      calls.length = 0
      return ok({})
    case 'GET faults':
      return ok(
        faults.list().map(({ id, hits, fault }) => ({ id, hits, ...fault, action: String(fault.action ?? '') })),
      )
    case 'POST faults':
      return added(request.body, faults)
    case 'DELETE faults':
      if (id === undefined) faults.clear()
      else
        faults
          .list()
          .find((fault) => String(fault.id) === id)
          ?.remove()
      return ok({})
    case 'GET groups':
      return ok(account.library.groups())
    case 'GET assets':
      return ok(account.library.assets(url.searchParams.get('group') ?? undefined))
    case 'GET objects':
      return ok(account.objects.stock.list())
    case 'POST objects':
      return planted(request.body, account.objects.stock)
    case 'DELETE objects':
      if (id === undefined) account.objects.stock.clear()
      else account.objects.stock.delete(unescaped(id))
      return ok({})
    case 'GET face':
      return ok(account.faces.sessions.list())
    case 'POST face':
      return finished(id, request.body, account.faces.sessions)
    default:
      return jsonReply(404, '{"error":"not found"}')
  }
}

function finished(bytedToken = '', body: string, sessions: Sessions): Reply {
  const decision = DECISIONS.find((one) => one === fieldsOf(membersOf(body) ?? []).value('do'))
  if (decision === undefined)
    return jsonReply(400, JSON.stringify({ error: `do must be one of ${DECISIONS.join(', ')}` }))
  const finish = sessions.finish(bytedToken, decision)
  if (finish.came === 'callback') return ok({ callback: finish.url })
  if (finish.came === 'closed') return ok({})
  return jsonReply(finish.came === 'unknown' ? 404 : 409, JSON.stringify({ error: finish.came }))
}

function planted(body: string, stock: ObjectStock): Reply {
  const fields = fieldsOf(membersOf(body) ?? [])
  const kind = PLANTED.find((one) => one === fields.value('kind'))
  if (kind === undefined) return jsonReply(400, JSON.stringify({ error: `kind must be one of ${PLANTED.join(', ')}` }))
  const text = (name: string) => (fields.value(name) === undefined ? undefined : String(fields.value(name)))
  return jsonReply(201, JSON.stringify({ id: stock.add({ kind, id: text('id'), name: text('name') }) }))
}

function added(body: string, faults: Faults): Reply {
  try {
    const { id } = faults.add(faultOf(JSON.parse(body)))
    return jsonReply(201, JSON.stringify({ id }))
  } catch (error) {
    return jsonReply(400, JSON.stringify({ error: error instanceof Error ? error.message : String(error) }))
  }
}

function faultOf(json: unknown): Fault {
  if (typeof json !== 'object' || json === null) throw new TypeError('a fault is a JSON object')
  const given = { ...json } as Record<string, unknown>
  const { kind, action, times } = given
  if (!isKind(kind)) throw new TypeError(`kind must be one of ${Object.keys(NEEDED).join(', ')}`)
  for (const [name, type] of Object.entries(NEEDED[kind])) {
    if (typeof given[name] !== type) throw new TypeError(`${kind} needs ${name}, a ${type}`)
  }
  const pattern = typeof action === 'string' ? action.match(/^\/(.+)\/([a-z]*)$/) : null
  if (pattern) given.action = new RegExp(pattern[1] ?? '', pattern[2])
  if (times === 'Infinity') given.times = Number.POSITIVE_INFINITY
  // the kind and its fields were looked at above; what is optional fails where it is used
  return given as unknown as Fault
}

function isKind(kind: unknown): kind is FaultKind['kind'] {
  return typeof kind === 'string' && Object.hasOwn(NEEDED, kind)
}

function ok(value: unknown): Reply {
  return jsonReply(200, JSON.stringify(value))
}

import { setImmediate as tick } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import type { FaultKind } from '../../faults/faults.ts'
import { errorPage } from '../../faults/faulty-reply.ts'
import { hostileHeaders, hostilePage } from '../../faults/hostile-headers.ts'
import type { AppliedFault } from '../../faults/registry.ts'
import { bytesOf, type Headers, type Steps } from '../output/steps.ts'

const bom = Buffer.from([0xef, 0xbb, 0xbf])

/** Applies a fault to the head and the bytes of a response. Its events must be encoded already. */
export function* faultyBytes(steps: Steps, { fault, hit }: AppliedFault): Steps {
  const changed = changedBytes(steps, fault)
  if (changed !== steps) hit()
  yield* changed
}

const changedBytes = (steps: Steps, fault: FaultKind): Steps => {
  switch (fault.kind) {
    case 'headers':
      return withHeaders(steps, fault.headers)
    case 'hostile-headers':
      return hostile(steps, fault)
    case 'no-content-type':
      return withHeaders(steps, { 'content-type': undefined })
    case 'not-json':
      return replaced(steps, fault.body ?? errorPage, { 'content-type': 'text/html' })
    case 'empty':
      return replaced(steps, '', {}, 200)
    case 'truncate':
      return truncated(steps, fault.keep)
    case 'gzip':
      return gzipped(steps)
    case 'bom':
      return withBom(steps)
    case 'crlf':
      return mapBytes(steps, (bytes) => withLineEnding(fault.ending ?? '\r\n', bytes))
    case 'split':
      return split(steps, fault.bytes ?? 3)
    default:
      return steps
  }
}

function* hostile(steps: Steps, { status, page }: Extract<FaultKind, { readonly kind: 'hostile-headers' }>): Steps {
  const body = page ? replaced(steps, hostilePage, { 'content-type': 'text/html' }) : steps
  for (const step of withHeaders(body, hostileHeaders)) {
    yield step.do === 'head' ? { ...step, status: status ?? step.status } : step
  }
}

/** Adds, replaces or removes (undefined) headers. */
function* withHeaders(steps: Steps, changes: { readonly [Name in string]?: string | string[] }): Steps {
  for (const step of steps) {
    if (step.do !== 'head') yield step
    else yield { ...step, headers: headersWith(step.headers, changes) }
  }
}

const headersWith = (headers: Headers, changes: { readonly [Name in string]?: string | string[] }): Headers => {
  const all = { ...headers, ...changes }
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}

/** Replaces the body and keeps the timing of the original one. */
function* replaced(steps: Steps, body: string | Uint8Array, headers: Headers, status?: number): Steps {
  const bytes = bytesOf(body)
  for (const step of steps) {
    if (step.do !== 'head') {
      if (step.do !== 'bytes') yield step
      continue
    }
    const length = { 'content-length': String(Buffer.byteLength(body)) }
    yield { ...step, status: status ?? step.status, headers: { ...step.headers, ...headers, ...length } }
    yield bytes
  }
}

/** Sends the first bytes of a body that announces more. It generates the whole body first, to know its length. */
function* truncated(steps: Steps, keep?: number): Steps {
  const { others, bytes } = collected(steps)
  const length = Math.min(keep ?? bytes.length >> 1, bytes.length)
  yield* withHeaders(others, { 'content-length': String(bytes.length + 1) })
  yield bytesOf(bytes.subarray(0, length))
  yield { do: 'end', how: 'cut' }
}

function* gzipped(steps: Steps): Steps {
  const { others, bytes } = collected(steps)
  const body = gzipSync(bytes)
  yield* withHeaders(others, { 'content-encoding': 'gzip', 'content-length': String(body.length) })
  yield bytesOf(body)
}

/** Joins all bytes of the body, and returns the other steps separately. */
const collected = (steps: Steps): { readonly others: Steps; readonly bytes: Uint8Array } => {
  const all = [...steps]
  return {
    others: all.filter((step) => step.do !== 'bytes'),
    bytes: Buffer.concat(all.flatMap((step) => (step.do === 'bytes' ? [step.bytes] : []))),
  }
}

function* withBom(steps: Steps): Steps {
  let first = true
  for (const step of steps) {
    const length = step.do === 'head' && step.headers['content-length']
    if (step.do === 'bytes' && first) {
      first = false
      yield bytesOf(bom)
    }
    if (step.do !== 'head' || !length) yield step
    else yield { ...step, headers: { ...step.headers, 'content-length': String(Number(length) + bom.length) } }
  }
}

const mapBytes = (steps: Steps, change: (bytes: Uint8Array) => Uint8Array): Steps =>
  (function* () {
    for (const step of steps) yield step.do === 'bytes' ? bytesOf(change(step.bytes)) : step
  })()

// works on bytes (latin1), because a `cut` can end within a character
const withLineEnding = (ending: string, bytes: Uint8Array): Uint8Array =>
  Buffer.from(Buffer.from(bytes).toString('latin1').replaceAll('\n', ending), 'latin1')

function* split(steps: Steps, maxBytes: number): Steps {
  let pieces = 0
  for (const step of steps) {
    if (step.do !== 'bytes') yield step
    for (let at = 0; step.do === 'bytes' && at < step.bytes.length; ) {
      const size = 1 + ((pieces++ * 7) % maxBytes)
      yield bytesOf(step.bytes.subarray(at, at + size))
      at += size
      // yields to the event loop, so that each piece is a separate write
      yield { do: 'wait', until: () => tick() }
    }
  }
}

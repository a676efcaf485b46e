/** Sends the bytes of a MiB and a half to an address, and prints the kinds of bodies that the runtime's `fetch` got. */
import { argv } from 'node:process'
import { fetchOnce } from '../../plugins/shared/upstream/fetch.ts'

const [url = ''] = argv.slice(2)
const kinds: string[] = []
const { fetch } = globalThis
globalThis.fetch = ((target: string, init: RequestInit) => {
  kinds.push(init.body instanceof Blob ? 'blob' : typeof init.body)
  return fetch(target, init)
}) as typeof globalThis.fetch

const body = Uint8Array.from({ length: 3 * 2 ** 19 }, (_, nth) => nth % 251)
const headers = { 'content-type': 'application/json' }
const statuses: number[] = []
for (const keepalive of [false, false]) {
  const response = await fetchOnce(url, { method: 'POST', headers, body, keepalive })
  statuses.push(response.status)
  await response.body?.cancel()
}
const aborted = fetchOnce(`${url}silent`, { method: 'POST', body, keepalive: false, signal: AbortSignal.timeout(1) })
console.log(JSON.stringify({ kinds, statuses, aborted: await aborted.catch(({ name }: Error) => name) }))

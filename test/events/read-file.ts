/** Reads files from hosts that misbehave, and prints what came of it as JSON. Runs on both runtimes. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import process from 'node:process'
import { createTargetRules, readFileAt } from '../../plugins/events/index.ts'

const requests: string[] = []
const server = createServer((request, response) => {
  requests.push(`${request.method} ${request.url} ${request.headers.host?.replace(/\d+$/, 'PORT')}`)
  const { url } = request
  if (url === '/file') response.end('some bytes')
  else if (url === '/large') response.end('x'.repeat(2_000_000))
  else if (url === '/redirect') response.writeHead(302, { location: '/file' }).end()
  else if (url === '/absent') response.writeHead(404).end('no such file')
  else if (url === '/short') {
    response.writeHead(200, { 'content-length': '100' }).write('ten bytes.')
    setTimeout(() => response.destroy(), 20)
  } else if (url === '/slow') response.write('a')
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address() as AddressInfo

interface ReadOptions {
  readonly signal?: AbortSignal
  /** Default: longer than a busy machine takes. */
  readonly deadlineMs?: number
}

const read = async (address: string, networks: readonly string[], options: ReadOptions = {}): Promise<string> => {
  let text = ''
  const receive = (piece: Uint8Array) => {
    text += new TextDecoder().decode(piece)
  }
  try {
    const rules = createTargetRules(networks)
    await readFileAt(address, { rules, maxBytes: 1_000_000, deadlineMs: 60_000, ...options, receive })
    return text
  } catch (error) {
    return `error: ${(error as Error).message}`
  }
}

const loopback = ['127.0.0.0/8']
const results: Record<string, string> = {}
for (const path of ['file', 'large', 'redirect', 'absent', 'short'])
  results[path] = await read(`http://127.0.0.1:${port}/${path}`, loopback)
results.slow = await read(`http://127.0.0.1:${port}/slow`, loopback, { deadlineMs: 400 })
results.private = await read(`http://127.0.0.1:${port}/file`, [])
results.name = await read(`http://localhost:${port}/file`, [])
results.scheme = await read('file:///etc/passwd', loopback)
results.credentials = await read(`http://a:b@127.0.0.1:${port}/file`, loopback)
results.refused = await read('http://127.0.0.1:1/file', loopback)
results.aborted = await read(`http://127.0.0.1:${port}/slow`, loopback, { signal: AbortSignal.abort() })
process.stdout.write(JSON.stringify({ results, requests }))
server.closeAllConnections()
server.close()

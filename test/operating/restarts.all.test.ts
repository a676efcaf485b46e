/** Runs with `--all`: restarts both processes of a gateway behind each proxy twice, under load. */

import { expect, test } from 'bun:test'
import { freePort } from '../support/free-port.ts'
import { describeIf } from '../support/run-if.ts'
import type { ServerProcess } from '../support/server.ts'
import { openServerFixture } from '../support/server-fixture.ts'
import { findProgram } from './fixture.ts'
import { type LoadKind, startLoad } from './load.ts'
import { proxies, startProxy } from './proxies.ts'

/** Requests that are sent at least. */
const minRequests = Number(process.env.SLUICE_RESTART_REQUESTS ?? 1_000)
const connections = 24
/** As many as are needed while the processes restart, which takes half a minute: the load itself must not keep the machine busy. */
const pauseMs = (connections * 25_000) / minRequests
const metricsToken = 'token-of-the-tests'

/** Until the proxy has sent requests to a process that has started: it knows then that the process is ready. */
const untilUsed = async (url: string) => {
  const headers = { authorization: `Bearer ${metricsToken}` }
  const createdCalls = async () => {
    const text = await (await fetch(`${url}/metrics`, { headers })).text()
    return /^sluice_requests_total\{method="POST",status="200"\} [1-9]/m.test(text)
  }
  while (!(await createdCalls())) await Bun.sleep(200)
}

const model = 'doubao-seed-emulated'
const chatPath = '/v1/chat/completions'

/** The kinds of requests of a load: lists, calls without and with a stream, deletions, and creations with a key. */
const kindsOf = (token: string): ((nth: number) => LoadKind) => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const chat = (tokens: number, stream: boolean) =>
    JSON.stringify({ model, stream, messages: [{ role: 'user', content: `${tokens} tokens` }] })
  const streamOf = (tokens: number): LoadKind => ({
    ...{ name: 'stream', method: 'POST', path: chatPath, headers, body: chat(tokens, true) },
    isRight: (status, body) => status === 200 && body.endsWith('data: [DONE]\n\n'),
  })
  const [shortStream, longStream] = [streamOf(3), streamOf(400)]
  const list: LoadKind = {
    ...{ name: 'list', method: 'GET', path: '/api/media/proxy/assets/groups?PageSize=5&PageNumber=1', headers },
    isRight: (status, body) => status === 200 && body.includes('"Items"'),
  }
  const call: LoadKind = {
    ...{ name: 'call', method: 'POST', path: chatPath, headers, body: chat(12, false) },
    isRight: (status, body) => status === 200 && body.includes('chat.completion'),
  }
  const deletion: LoadKind = {
    ...{ name: 'deletion', method: 'DELETE', path: '/api/media/proxy/assets/asset-unknown', headers },
    isRight: (status, body) => status === 403 && body.includes('asset not found'),
  }
  const creation = (nth: number): LoadKind => ({
    ...{ name: 'creation', method: 'POST', path: '/api/media/proxy/assets/groups' },
    headers: { ...headers, 'idempotency-key': `key-${nth}` },
    body: JSON.stringify({ Name: `group ${nth}` }),
    isRight: (status, body) => status === 200 && body.includes('"Id"'),
  })
  const usual = [list, call, list, deletion, call, list, shortStream, call]
  return (nth) => {
    if (nth % 100 === 7) return longStream
    return nth % 100 === 3 ? creation(nth) : (usual[nth % usual.length] ?? list)
  }
}

for (const proxy of proxies) {
  const installed = findProgram(proxy.program) !== undefined
  describeIf(installed, `${proxy.program} is not installed`)(`behind ${proxy.program}`, () => {
    // All proxies at once: most of the time is pauses.
    test.concurrent('no request is lost, and none is executed twice, while both processes restart twice', async () => {
      await using fixture = await openServerFixture('sqlite', { text: { msPerDelta: 4 } })
      const { token } = await fixture.addUser('ann')
      const started: ServerProcess[] = []
      const start = async (port: number) => {
        const server = await fixture.start({
          PORT: String(port),
          DRAIN_GRACE_SECONDS: undefined,
          TEXT_UPSTREAM_URL: fixture.emulator.text.url,
          TEXT_UPSTREAM_KEY: fixture.emulator.text.key,
          TRUSTED_PROXIES: '127.0.0.1',
          METRICS_TOKEN: metricsToken,
        })
        started.push(server)
        return server
      }
      const ports = [await freePort(), await freePort()] as const
      const servers = new Map(await Promise.all(ports.map(async (port) => [port, await start(port)] as const)))
      const front = await startProxy(proxy, ports)
      const begun = performance.now()
      const load = startLoad(front.url, { connections, pauseMs, next: kindsOf(token) })
      try {
        for (const [nth, port] of [...ports, ...ports].entries()) {
          await load.reaches((minRequests * (nth + 1)) / 5)
          expect(await servers.get(port)?.kill('SIGTERM')).toBe(0)
          const server = await start(port)
          servers.set(port, server)
          await untilUsed(server.url)
        }
        await load.reaches(minRequests)
      } finally {
        await load.end()
        if (load.lost.length > 0) console.log(front.log())
        await front.stop()
      }
      const seconds = Math.round((performance.now() - begun) / 1000)
      const { list = 0, call = 0, stream = 0, deletion = 0, creation = 0 } = load.counts()
      const sent = list + call + stream + deletion + creation
      console.log(`${proxy.program}: lost ${load.lost.length} of ${sent} requests in ${seconds} s`)
      if (load.lost.length > 0) console.log(started.map((server) => server.stderr()).join(''))
      expect(load.lost.slice(0, 10)).toEqual([])
      const executed = (name: string) => fixture.emulator.calls.filter(({ action }) => action === name).length
      expect(executed('CreateChatCompletion')).toBe(call + stream)
      expect(executed('CreateAssetGroup')).toBe(creation)
    }, 900_000)
  })
}

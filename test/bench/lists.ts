import { spawn } from 'node:child_process'
import { noLog } from '../../plugins/shared/problem.ts'
import { rest } from '../../plugins/upstream-proxy/index.ts'
import { createApp } from '../../src/app.ts'
import { openStore } from '../../src/store/index.ts'

const groupCounts = [1, 10, 100, 1_000]
const assetCounts = [1_000, 10_000, 100_000, 1_000_000]
const pages = [1, 2, 100, 1_000, 5_000]
const pageSize = 10

/** Upstream calls and CPU time for a page of 10 items, by the number of groups and assets, the depth of the page, and the paging mode. */
export const lists = async (): Promise<void> => {
  console.log('upstream calls (CPU ms of the gateway) a page of 10; "again": the same page once more\n')
  console.log(
    ['groups', 'assets', 'mode', ...pages.map((page) => `page ${page}`)].map((word) => word.padStart(12)).join(''),
  )
  for (const groupCount of groupCounts) {
    for (const assetCount of assetCounts) await measure(groupCount, assetCount)
  }
}

const measure = async (groupCount: number, assetCount: number): Promise<void> => {
  const upstream = await startUpstream(groupCount, assetCount)
  try {
    const ask = await openGateway(upstream)
    const last = Math.ceil(assetCount / pageSize)
    const row = (mode: string, costs: readonly (string | undefined)[]) =>
      console.log(
        [groupCount, assetCount, mode, ...costs.map((cost) => cost ?? '-')]
          .map((word) => String(word).padStart(12))
          .join(''),
      )

    const walked: (string | undefined)[] = []
    let token = ''
    let page = 0
    for (const wanted of pages) {
      let cost: string | undefined
      while (page < Math.min(wanted, last)) {
        const { next, told } = await ask(token ? `NextToken=${token}` : '')
        token = next
        cost = told
        page++
      }
      walked.push(wanted <= last ? cost : undefined)
    }
    row('token', walked)
    for (const mode of ['number', 'again']) {
      const costs: (string | undefined)[] = []
      for (const wanted of pages) costs.push(wanted <= last ? (await ask(`PageNumber=${wanted}`)).told : undefined)
      row(mode, costs)
    }
  } finally {
    upstream.end()
  }
}

interface BenchUpstream {
  readonly url: string
  readonly key: string
  readonly groups: readonly string[]
  end(): void
}

const startUpstream = (groupCount: number, assetCount: number): Promise<BenchUpstream> =>
  new Promise((resolve, reject) => {
    const script = new URL('./lists-upstream.ts', import.meta.url).pathname
    const child = spawn(process.execPath, [script, String(groupCount), String(assetCount)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let output = ''
    child.stdout.on('data', (chunk) => {
      output += chunk
      if (output.endsWith('\n')) resolve({ ...JSON.parse(output), end: () => child.kill() })
    })
    child.on('exit', () => reject(new Error('the upstream ended')))
  })

/** Requests a page of assets from a gateway in this process. */
const openGateway = async (upstream: BenchUpstream) => {
  const store = openStore('sqlite::memory:')
  await store.migrate()
  for (const id of upstream.groups) await store.adoptGroup({ id, user: 'ann', type: 'AIGC', name: id, createdAt: 0 })
  let calls = 0
  const handle = createApp({
    gateway: {
      kind: rest(upstream),
      store,
      identify: () => ({ user: 'ann' }),
      secrets: ['secret, a secret of the tests'],
      fetch: (url, init) => {
        calls++
        return fetch(url, init)
      },
    },
    text: { upstreams: [], identify: () => undefined },
    video: { store, identify: () => undefined },
    people: { store, secrets: ['secret, a secret of the tests'], publicUrl: 'http://localhost', face: {} },
    events: { store, identify: () => undefined },
    health: { database: () => store.ready(), draining: () => false },
    limits: {},
    metricsToken: undefined,
    log: noLog,
  })
  return async (query: string) => {
    calls = 0
    const before = process.cpuUsage()
    const response = await handle(new Request(`http://localhost/api/media/proxy/assets?PageSize=${pageSize}&${query}`))
    const { Result } = (await response.json()) as { Result: { NextToken: string } }
    const { user, system } = process.cpuUsage(before)
    return { next: Result.NextToken, told: `${calls} (${((user + system) / 1_000).toFixed(1)})` }
  }
}

/** The gateway as `bench front` measures it: `front-server.ts native|front UPSTREAM`. */
import type { AddressInfo } from 'node:net'
import { silent } from '../../plugins/shared/problem.ts'
import { rest } from '../../plugins/upstream-proxy/index.ts'
import { createApp } from '../../src/app.ts'
import { createFront } from '../../src/front.ts'
import { openStore } from '../../src/store/index.ts'

const [, , kind, upstream = ''] = process.argv
const store = openStore('sqlite::memory:')
await store.migrate()
await store.adoptGroup({ user: 'ann', id: 'group-1', type: 'AIGC', name: 'one', createdAt: 0 })
const app = createApp({
  gateway: { kind: rest({ url: upstream, key: 'key' }), store, identify: () => ({ user: 'ann' }), secrets: ['secret'] },
  text: { upstreams: [], identify: () => undefined },
  people: { store, secrets: ['secret'], publicUrl: 'http://localhost', face: { kind: 'rest' } },
  health: { database: () => store.ready(), draining: () => false },
  metricsToken: undefined,
  log: silent,
})
const handle = async (request: Request): Promise<Response> => {
  if (!request.url.endsWith('/cpu')) return app(request)
  const { user, system } = process.cpuUsage()
  return new Response(String(user + system))
}

if (kind === 'native') {
  console.log(`http://127.0.0.1:${Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: handle }).port}`)
} else {
  const server = createFront({ handle, maxQueryBodyBytes: 1024 })
  server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
}

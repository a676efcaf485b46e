/** The gateway with the sessions of your app. Its upstream is the emulator: `bun run emulator --port 4000`. */
import { Elysia } from 'elysia'
import { createNodeServer, gateway, type Identify } from 'sluice'
import { requireSameOrigin } from 'sluice/shared'
import { openStore } from 'sluice/store'
import { rest } from 'sluice/upstream-proxy'

/** The sessions of your app: cookie to user. */
const sessions = new Map([['s3cret', 'ann']])

const identify: Identify = (request) => {
  const session = /(?:^|; *)session=([^;]+)/.exec(request.headers.get('cookie') ?? '')?.[1]
  const user = session && sessions.get(session)
  return user ? { user } : undefined
}

const store = openStore('sqlite::memory:')
await store.migrate()

export const app = new Elysia().use(
  gateway({
    kind: rest({ url: 'http://127.0.0.1:4000/api/media/proxy', key: 'emulator-key' }),
    store,
    identify,
    // A browser sends the cookie also for pages of other sites, which must not change anything.
    requireSameOrigin: (request) => requireSameOrigin(request, 'http://localhost:3000'),
    secrets: [await store.secret('pages')],
  }),
)

if (import.meta.main) await createNodeServer(app).listen(3000)

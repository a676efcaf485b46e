import { expect, test } from 'bun:test'
import { createToken, hashToken } from '../../plugins/api-token/index.ts'
import { startEmulator } from '../../src/emulator/index.ts'
import { openStore } from '../../src/store/index.ts'
import { freshDatabase } from '../support/database.ts'
import { userAt } from '../support/gateway.ts'
import { startServer } from '../support/server.ts'

for (const kind of ['sqlite', 'postgres'] as const) {
  test(`of 50 parallel creations of one name in two processes on one database, one reaches the upstream (${kind})`, async () => {
    const database = await freshDatabase(kind)
    const emulator = await startEmulator({ limits: {} })
    const environment = {
      DATABASE_URL: database.url,
      MEDIA_UPSTREAM_KIND: 'ark',
      MEDIA_UPSTREAM_URL: emulator.ark.url,
      MEDIA_UPSTREAM_ACCESS_KEY: emulator.ark.accessKey,
      MEDIA_UPSTREAM_SECRET_KEY: emulator.ark.secretKey,
      MEDIA_UPSTREAM_REGION: emulator.ark.region,
      MEDIA_UPSTREAM_PROJECT: emulator.ark.project,
    }
    const servers = await Promise.all([startServer(environment), startServer(environment)])
    const store = openStore(database.url)
    try {
      const id = (await store.addUser({ name: 'ann', createdAt: Date.now() })) ?? ''
      const token = createToken()
      await store.addToken({ user: id, hash: hashToken(token), start: token.slice(0, 9), createdAt: Date.now() })
      const callers = servers.map((server) => userAt(server.url, id, token))
      const replies = await Promise.all(
        Array.from({ length: 50 }, (_, nth) => callers[nth % 2]?.ask('POST', '/assets/groups', { Name: 'one' })),
      )
      const statuses = replies.map((reply) => reply?.status)
      expect(statuses.filter((status) => status === 200)).toHaveLength(1)
      expect(statuses.filter((status) => status === 400)).toHaveLength(49)
      expect(emulator.calls.filter((call) => call.action === 'CreateAssetGroup')).toHaveLength(1)
    } finally {
      await Promise.all(servers.map((server) => server.kill('SIGKILL')))
      await store.close()
      await emulator.stop()
      await database.remove()
    }
  }, 30_000)
}

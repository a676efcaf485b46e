/** The asset library gateway as part of your app. The app listens through `node:http`, because Bun's own server drops JSON bodies of GET requests. */
import { Elysia } from 'elysia'
import { createNodeServer, gateway } from 'sluice'
import { identifyByToken } from 'sluice/api-token'
import { openStore } from 'sluice/store'
import { rest } from 'sluice/upstream-proxy'

const store = openStore('sqlite:data/embedded.db')
await store.migrate()

const app = new Elysia({ handler: { standardHostname: false } })
  .get('/', () => 'my own app')
  .use(
    gateway({
      kind: rest({ url: 'https://upstream.example/api/media/proxy', key: 'the account’s key' }),
      store,
      identify: identifyByToken({ store }),
      secrets: [await store.secret('pages')],
      background: true,
    }),
  )

await createNodeServer(app).listen(3000)

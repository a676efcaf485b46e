import { expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { account } from '../../plugins/account/index.ts'
import { gateway } from '../../plugins/asset-library/index.ts'
import { noLog } from '../../plugins/shared/problem.ts'
import { createUpstream, rest } from '../../plugins/upstream-proxy/index.ts'
import { documentation } from '../../src/documentation/index.ts'
import { openStore } from '../../src/store/index.ts'

// Elysia analyses the source of hooks to find the used parts of the context, and creates these for every route of the app: for cookies, for example,
// a second Response. A hook that passes on the whole context counts as one that uses all parts.
test('the hooks add no work to other routes: their Response is returned unchanged', async () => {
  const store = openStore('sqlite::memory:')
  const kind = rest({ url: 'http://upstream.invalid', key: 'upstream-key' })
  const secrets = ['a secret of the test suite'] as const
  const response = new Response('unchanged')
  const app = new Elysia()
    .use(documentation())
    .use(gateway({ kind, store, secrets, identify: () => undefined }))
    .use(
      account({
        ...{ store, secrets, publicUrl: () => 'http://localhost', log: noLog },
        face: { store, upstream: createUpstream({ kind }) },
      }),
    )
    .get('/sibling', () => response)
  await store.close()
  expect(await app.handle(new Request('http://localhost/sibling'))).toBe(response)
})

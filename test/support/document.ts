import { folderStorage } from '../../plugins/file-storage/index.ts'
import { oidcLogin } from '../../plugins/oidc-login/index.ts'
import { ark, rest } from '../../plugins/upstream-proxy/index.ts'
import { createApp } from '../../src/app.ts'
import type { Specification } from '../../src/documentation/specification.ts'
import { openStore } from '../../src/store/index.ts'

const documents = new Map<string, Promise<Specification>>()

/**
 * The OpenAPI document of the default server.
 *
 * @param segment the product word in the paths. Default `media`
 * @param hasCallback whether the asset upstream redirects the person of a face verification, as that of kind `ark` does. Default true
 */
export const documentOfServer = (segment = 'media', hasCallback = true): Promise<Specification> => {
  const key = `${segment} ${hasCallback}`
  const document = documents.get(key) ?? readDocument(segment, hasCallback)
  documents.set(key, document)
  return document
}

const readDocument = async (segment: string, hasCallback: boolean): Promise<Specification> => {
  const store = openStore('sqlite::memory:')
  const identify = () => undefined
  const secrets = ['a secret of the test suite'] as const
  const url = 'http://upstream.invalid'
  const kind = hasCallback
    ? ark({ url, accessKey: 'access-key', secretKey: 'secret-key', region: 'cn-beijing' })
    : rest({ url, key: 'upstream-key' })
  const log = { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore }
  const app = createApp({
    gateway: { kind, store, shares: { store }, identify, secrets, segment, batches: store, consents: { store } },
    text: { upstreams: [], identify },
    video: { store, identify },
    people: { store, secrets, publicUrl: 'http://localhost', face: { consents: { store, secrets } } },
    oidc: {
      create: (common) =>
        oidcLogin({
          ...{ issuer: 'https://provider.invalid', clientId: 'sluice', clientSecret: 'client-secret', store },
          ...{ beginSession: async () => undefined, secrets, publicUrl: 'http://localhost', ...common },
        }),
    },
    admin: { store, identify, secrets, publicUrl: 'http://localhost' },
    events: { store, identify, webhooks: { store, identify, publicUrl: 'http://localhost' } },
    files: { store, identify, secrets, publicUrl: 'http://localhost', storage: folderStorage('data/none') },
    mcp: { identify, secrets, publicUrl: 'http://localhost' },
    limits: {},
    health: { database: () => store.ready(), draining: () => false },
    metricsToken: undefined,
    log,
  })
  const response = await app(new Request('http://localhost/openapi/json'))
  await store.close()
  return JSON.parse(await response.text())
}

const ignore = () => {}

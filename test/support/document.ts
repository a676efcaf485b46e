import { ark } from '../../plugins/upstream-proxy/index.ts'
import { createApp } from '../../src/app.ts'
import type { Specification } from '../../src/documentation/specification.ts'
import { openStore } from '../../src/store/index.ts'

const documents = new Map<string, Promise<Specification>>()

/**
 * The OpenAPI document of the default server. Its asset upstream is of kind `ark`, which has one route more than the others.
 *
 * @param segment the product word in the paths
 */
export const documentOfServer = (segment = 'media'): Promise<Specification> => {
  const document = documents.get(segment) ?? readDocument(segment)
  documents.set(segment, document)
  return document
}

const readDocument = async (segment: string): Promise<Specification> => {
  const store = openStore('sqlite::memory:')
  const identify = () => undefined
  const secrets = ['a secret of the test suite'] as const
  const kind = ark({
    ...{ url: 'http://upstream.invalid', accessKey: 'access-key', secretKey: 'secret-key', region: 'cn-beijing' },
  })
  const log = { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore }
  const app = createApp({
    gateway: { kind, store, identify, secrets, segment },
    text: { upstreams: [], identify },
    people: { store, secrets, publicUrl: 'http://localhost', face: {} },
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

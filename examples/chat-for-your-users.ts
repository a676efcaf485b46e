/** Chat completions and responses from two upstreams, at ports 4001 and 4002 here, for the users of your app. Use any OpenAI client with http://localhost:3000/v1. */
import { Elysia } from 'elysia'
import { createNodeServer } from 'sluice'
import { textGeneration, type UsageEntry } from 'sluice/text-generation'

/** Output tokens of each user so far. */
export const spent = new Map<string, number>()

export const app = new Elysia({ handler: { standardHostname: false } }).use(
  textGeneration({
    upstreams: [
      { url: 'http://127.0.0.1:4001/v1', key: 'key-of-one', models: ['small', { id: 'strict', maxTemperature: 1 }] },
      // Supports chat completions only: the plugin bridges responses to it. It receives all models that no upstream lists.
      { url: 'http://127.0.0.1:4002/v1', key: 'key-of-two', chatOnly: true },
    ],
    identify: (request) => {
      const user = request.headers.get('authorization')?.replace(/^Bearer /i, '')
      return user ? { user } : undefined
    },
    usage: {
      recordUsage: async ({ user, tokens }: UsageEntry) => {
        spent.set(user, (spent.get(user) ?? 0) + (tokens?.output ?? 0))
      },
    },
    heartbeatMs: 15_000,
  }),
)

if (import.meta.main) await createNodeServer(app).listen(3000)

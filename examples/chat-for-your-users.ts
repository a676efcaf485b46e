/** Chat completions and responses for the users of your own app, from two upstreams. Point any OpenAI client at http://localhost:3000/v1. */
import { Elysia } from 'elysia'
import { textGeneration, type UsageEntry } from 'sluice/text-generation'

/** What each user has spent so far, in output tokens. */
export const spent = new Map<string, number>()

export const app = new Elysia({ handler: { standardHostname: false } }).use(
  textGeneration({
    upstreams: [
      { url: 'http://127.0.0.1:4001/v1', key: 'key-of-one', models: ['small', { id: 'strict', maxTemperature: 1 }] },
      // Has chat completions only: responses are bridged to it. Everything that nobody names goes here.
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

if (import.meta.main) app.listen({ port: 3000, idleTimeout: 0 })

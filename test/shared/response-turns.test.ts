import { describe, expect, test } from 'bun:test'
import { noteCurrentUser, runWithRequestId } from '../../plugins/shared/http/current-request.ts'
import { requestTurn, requestTurnCounts } from '../../plugins/shared/http/turn/request-turn.ts'
import { fetchOnce, fetchPooledPost } from '../../plugins/shared/upstream/fetch.ts'
import { until } from '../support/until.ts'

/** Its response needs no connection, so all responses arrive in the turn of their requests. */
const url = 'data:,x'

for (const [name, send] of [
  ['fetchOnce', () => fetchOnce(url, { method: 'GET' })],
  ['fetchOnce, without keep-alive', () => fetchOnce(url, { method: 'POST', keepalive: false })],
  ['fetchPooledPost', () => fetchPooledPost(url, { method: 'POST' })],
] as const) {
  describe(name, () => {
    test('a user’s response is handled before most of the earlier ones to a user who floods', async () => {
      const handled: string[] = []
      const ask = (user: string) =>
        runWithRequestId('id', async () => {
          noteCurrentUser(user)
          const response = await send()
          handled.push(user)
          expect(await response.text()).toBe('x')
        })
      await Promise.all([...Array.from({ length: 300 }, () => ask('flood')), ask('quiet')])
      expect(handled).toHaveLength(301)
      expect(handled.indexOf('quiet')).toBeLessThan(100)
    })

    test('a response to no user’s request does not wait', async () => {
      for (let nth = 0; nth < 100; nth++) void requestTurn(new Request('http://localhost/'), () => false)
      expect(requestTurnCounts().waiting).toBeGreaterThan(50)
      let turned = false
      setImmediate(() => {
        turned = true
      })
      await send()
      expect(turned).toBeFalse()
      await until(() => requestTurnCounts().waiting === 0)
    })
  })
}

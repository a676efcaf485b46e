import { expect, test } from 'bun:test'
import { createIdempotency, type IdempotencyStore } from 'sluice/idempotency'

test.each([[undefined], [null], [''], [5]])(
  'a request of the user %p with a key is an error, because its users would get the responses of each other',
  async (user) => {
    let used = 0
    const store = new Proxy({} as IdempotencyStore, {
      get() {
        used++
        throw new Error('the store was used')
      },
    })
    const { run } = createIdempotency({ store })
    const creation = { user: user as never, route: 'orders', body: new Uint8Array() }
    const running = async () =>
      run(new Request('http://localhost/', { headers: { 'idempotency-key': 'k' } }), creation, () => {
        used++
        return new Response()
      })
    expect(await running().catch((error: unknown) => error)).toBeInstanceOf(TypeError)
    expect(used).toBe(0)
  },
)

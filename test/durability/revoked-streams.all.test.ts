/** Runs with `--all`: servers on both runtimes and both databases. */
import { expect, test } from 'bun:test'
import { databaseNames } from '../support/database.ts'
import type { Runtime, ServerProcess } from '../support/server.ts'
import { openServerFixture } from '../support/server-fixture.ts'

const runtimes: readonly Runtime[] = ['bun', 'deno']

for (const kind of databaseNames) {
  test(`revoking a token ends its streams in every process, on both runtimes, and no others (${kind})`, async () => {
    await using fixture = await openServerFixture(kind)
    const environment = { TEXT_UPSTREAM_URL: fixture.emulator.text.url, TEXT_UPSTREAM_KEY: fixture.emulator.text.key }
    const servers = await Promise.all([
      ...runtimes.map((runtime) => fixture.start(environment, runtime)),
      fixture.start({ ...environment, GET_BODIES: 'off' }, 'bun'),
    ])
    const [ann, bob] = [await fixture.addUser('ann'), await fixture.addUser('bob')]
    const silence = fixture.emulator.faults.add({ kind: 'silence', events: 1, ms: 60_000, times: 10 })
    const open = async ({ url }: ServerProcess, { token }: { readonly token: string }) => {
      const { body } = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'emulated-wide', messages: [{ role: 'user', content: 'hi' }], stream: true }),
      })
      let [text, ended] = ['', false]
      const read = (async () => {
        for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) text += piece
        ended = true
        return text
      })()
      return { read, isOver: () => ended }
    }
    const revoked = await Promise.all(servers.map((server) => open(server, ann)))
    const others = await Promise.all(servers.map((server) => open(server, bob)))
    await silence.waitForHits(2 * servers.length)
    const [token] = await fixture.store.listTokens(ann.id)
    await fixture.store.revokeToken(token?.id ?? '', Date.now())
    for (const { read } of revoked) {
      const text = await read
      expect(text).toContain('"code":"invalid_api_key"')
      expect(text).not.toContain('[DONE]')
    }
    expect(others.map(({ isOver }) => isOver())).toEqual(servers.map(() => false))
    expect(await fixture.store.disableUser('bob', Date.now())).toBe(true)
    for (const { read } of others) expect(await read).toContain('"code":"invalid_api_key"')
  }, 300_000)
}

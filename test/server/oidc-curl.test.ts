import { expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProgram, run } from '../operating/fixture.ts'
import { describeIf } from '../support/run-if.ts'
import { openOidcServer } from './oidc.ts'

describeIf(findProgram('curl') !== undefined, 'curl is not installed')('a login at an identity provider', () => {
  test('works with curl and its cookies alone, at the address of PUBLIC_URL', async () => {
    await using it = await openOidcServer()
    await it.startProvider()
    const { url } = it.server
    const jar = join(tmpdir(), `sluice-oidc-${process.pid}.txt`)
    const curl = async (...args: readonly string[]) =>
      (await run(['curl', '-sS', '-b', jar, '-c', jar, ...args], { env: { NO_PROXY: '*' } })).output
    const login = (at: string) =>
      curl('-L', '-o', '/dev/null', '-w', '%{http_code} %{url_effective}', `${at}/api/session/oidc`)
    try {
      // The cookie of the login is that of another host.
      expect(await login(url.replace('127.0.0.1', 'localhost'))).toStartWith(`400 ${url}/api/session/oidc/callback?`)
      expect(await login(url)).toBe(`200 ${url}/console`)
      expect(JSON.parse(await curl(`${url}/api/session`))).toMatchObject({ user: { name: 'dora' } })
      const made = JSON.parse(await curl('-H', `Origin: ${url}`, '--json', '{}', `${url}/api/tokens`))
      expect(made.token.token).toStartWith('sk-')
      const models = await curl(
        '-H',
        `Authorization: Bearer ${made.token.token}`,
        `${url}/api/media/proxy/assets/groups`,
      )
      expect(JSON.parse(models)).toMatchObject({ Result: { Items: [] } })
    } finally {
      await rm(jar, { force: true })
    }
  })
})

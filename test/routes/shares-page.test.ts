import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { findProgram, run } from '../operating/fixture.ts'
import { commandsOf, differences, jsonValues } from '../operating/page.ts'
import { describeIf } from '../support/run-if.ts'
import { newAsset, newGroup, openFixture } from './fixture.ts'

const page = readFileSync(new URL('../../plugins/asset-library/README.md', import.meta.url), 'utf8')
const commands = commandsOf(page).filter(({ heading }) => heading === 'Shares')

const isInstalled = findProgram('curl') !== undefined && findProgram('bash') !== undefined
describeIf(isInstalled, 'curl or bash is not installed')('the page of shares', () => {
  test('works: each command prints what the page says', async () => {
    await using fixture = await openFixture()
    const { ann, bob } = fixture
    const group = await newGroup(ann, 'faces')
    await newAsset(ann, group)
    let env: Record<string, string> = {
      ...{ PATH: process.env.PATH ?? '', SLUICE: fixture.url, GROUP: group, BOB: bob.id },
      ...{ ANN: `Authorization: Bearer ${ann.token}`, BOBS: `Authorization: Bearer ${bob.token}` },
    }
    expect(commands.length).toBe(4)
    for (const { code, output, variables } of commands) {
      const result = await run(['bash', '-c', `exec 2>&1; ${code}`], { env })
      const found = jsonValues(result.output)
      expect([code, result.output, differences(jsonValues(output?.text ?? ''), found)]).toEqual([
        code,
        result.output,
        [],
      ])
      for (const [name] of variables) env = { ...env, [name]: (found[0] as { Result: { Id: string } }).Result.Id }
    }
  }, 300_000)
})

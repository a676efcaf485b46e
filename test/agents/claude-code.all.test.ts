/** Runs with `--all`: processes of a released agent. test/clients has what the agents send. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type AgentFixture, type AgentRun, models, openAgentFixture, timeoutMs, upstreams } from './fixture.ts'
import { describeAgent } from './released.ts'

/** The variables that can hold the token: it is sent in `x-api-key` or in `Authorization`. */
const tokenVariables = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'] as const

const written = { 'one.txt': 'one\n', 'two.txt': 'two\n', 'three.txt': 'three\n' }

/** One turn of Claude Code in which it writes files. */
const run = (baseUrl: string, token: string, variable: (typeof tokenVariables)[number]): AgentRun => ({
  args: ['--dangerously-skip-permissions', '-p', 'Write the three files.'],
  env: {
    ANTHROPIC_BASE_URL: baseUrl,
    ANTHROPIC_MODEL: models[0],
    [variable]: token,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    // The working folder is temporary: otherwise the agent refuses to work without permissions as root.
    IS_SANDBOX: '1',
  },
})

describeAgent('claude-code', () => {
  let fixture: AgentFixture
  beforeAll(async () => {
    fixture = await openAgentFixture()
    const command = (word: string) => ({ command: `echo ${word} > ${word}.txt`, description: word })
    fixture.play({
      when: 'three files',
      steps: [
        { reason: 'First the one.', say: 'I begin.', call: 'Bash', arguments: command('one') },
        {
          reason: 'Now the others.',
          calls: [
            { call: 'Bash', arguments: command('two') },
            { call: 'Bash', arguments: command('three') },
          ],
        },
        { reason: 'Enough.', say: 'All are written.' },
      ],
    })
  }, 300_000)
  afterAll(() => fixture[Symbol.asyncDispose]())

  for (const kind of upstreams) {
    describe(`with an upstream that is ${kind}`, () => {
      for (const variable of tokenVariables) {
        test(
          `works for three turns with tools, with the token in ${variable}`,
          async () => {
            const { said, files } = await fixture.run('claude-code', run(fixture.url(kind), fixture.token, variable))
            expect({ said, files }).toEqual({ said: expect.stringContaining('All are written.'), files: written })
          },
          timeoutMs,
        )
      }
    })
  }
})

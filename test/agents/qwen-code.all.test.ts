/** Runs with `--all`: processes of a released agent. test/clients has what the agents send. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type AgentFixture, type AgentRun, models, openAgentFixture, timeoutMs, upstreams } from './fixture.ts'
import { describeSlowAgent } from './released.ts'

const written = { 'one.txt': 'one\n', 'two.txt': 'two\n' }

/** One turn of qwen-code in which it writes files. */
const run = (baseUrl: string, token: string): AgentRun => ({
  args: ['--yolo', '-p', 'Write the two files.'],
  env: { OPENAI_BASE_URL: `${baseUrl}/v1`, OPENAI_API_KEY: token, OPENAI_MODEL: models[0] },
  files: {
    '.qwen/settings.json': JSON.stringify({
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
      general: { disableAutoUpdate: true },
      security: { auth: { selectedType: 'openai' } },
    }),
  },
})

describeSlowAgent('qwen-code', () => {
  let fixture: AgentFixture
  beforeAll(async () => {
    fixture = await openAgentFixture()
    const command = (word: string) => ({ command: `echo ${word} > ${word}.txt`, is_background: false })
    fixture.play({
      when: 'two files',
      steps: [
        { reason: 'First the one.', call: 'run_shell_command', arguments: command('one') },
        { reason: 'Now the two.', call: 'run_shell_command', arguments: command('two') },
        { reason: 'Enough.', say: 'Both are written.' },
      ],
    })
  }, 300_000)
  afterAll(() => fixture[Symbol.asyncDispose]())

  for (const kind of upstreams) {
    test(
      `works for three turns with tools, with an upstream that is ${kind}`,
      async () => {
        const { said, files } = await fixture.run('qwen-code', run(fixture.url(kind), fixture.token))
        expect({ said, files }).toEqual({ said: expect.stringContaining('Both are written.'), files: written })
      },
      timeoutMs,
    )
  }
})

/** Runs with `--all`: processes of a released agent. test/clients has what the agents send. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type AgentFixture, type AgentRun, models, openAgentFixture, timeoutMs, upstreams } from './fixture.ts'
import { describeSlowAgent } from './released.ts'

const reasoning = ['First the one.', 'Now the others.']

/** The protocols that opencode speaks, the library that it uses for each, and the reasoning that the model gets back. */
const protocols = [
  ['chat completions', '@ai-sdk/openai-compatible', { native: reasoning, 'chat only': reasoning }],
  ['responses', '@ai-sdk/openai', { native: ['encrypted', 'encrypted'], 'chat only': reasoning }],
  // It asks for none.
  ['messages', '@ai-sdk/anthropic', { native: [], 'chat only': [] }],
] as const

const written = { 'one.txt': 'one\n', 'two.txt': 'two\n', 'three.txt': 'three\n' }

/** One turn of opencode in which it writes files. */
const run = (baseUrl: string, token: string, npm: string): AgentRun => {
  const [model] = models
  const config = {
    autoupdate: false,
    share: 'disabled',
    permission: 'allow',
    model: `sluice/${model}`,
    small_model: `sluice/${model}`,
    provider: {
      sluice: {
        npm,
        options: { baseURL: `${baseUrl}/v1`, apiKey: token },
        models: { [model]: { reasoning: true, tool_call: true, limit: { context: 100_000, output: 16_000 } } },
      },
    },
  }
  return {
    args: ['run', 'Write the three files.'],
    env: { OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_LSP_DOWNLOAD: '1' },
    files: { '.config/opencode/opencode.json': JSON.stringify(config) },
  }
}

describeSlowAgent('opencode', () => {
  let fixture: AgentFixture
  beforeAll(async () => {
    fixture = await openAgentFixture()
    fixture.play({
      when: 'three files',
      steps: [
        { reason: 'First the one.', call: 'bash', arguments: { command: 'echo one > one.txt', description: 'one' } },
        {
          reason: 'Now the others.',
          calls: [
            { call: 'write', arguments: { filePath: 'two.txt', content: 'two\n' } },
            { call: 'bash', arguments: { command: 'echo three > three.txt', description: 'three' } },
          ],
        },
        { reason: 'Enough.', say: 'All are written.' },
      ],
    })
  }, 300_000)
  afterAll(() => fixture[Symbol.asyncDispose]())

  for (const kind of upstreams) {
    describe(`with an upstream that is ${kind}`, () => {
      for (const [protocol, npm, returned] of protocols) {
        test(
          `works for three turns with tools over ${protocol}`,
          async () => {
            const { said, files } = await fixture.run('opencode', run(fixture.url(kind), fixture.token, npm))
            expect({ said, files }).toEqual({ said: expect.stringContaining('All are written.'), files: written })
            expect(fixture.returnedReasoning()).toEqual([...returned[kind]])
          },
          timeoutMs,
        )
      }
    })
  }
})
